"""Claims about the hunt and its panel: what is found is shown as a gap, and a form that slips through becomes a test without the secret."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import memkit
from memkit import lab
from memkit.errors import Refused
from memkit.lab import hunt
from memkit.lab.checks_redaction import LINES
from memkit.widgets.redaction import RedactionLab
from memkit.write.redact import Redacted

PASSWORD = "q7Zp" + "0aLm!"
TEXT = f"mail ann@example.test, the password is {PASSWORD} <b>今天</b>"
PHRASE = "tulip-garden"
TOKEN = "acme_" + "q7zp0almx2vb9tk4"


def run(test: str, redact: object) -> None:
    """Run a reported test, with a redactor in the place of memkit's."""
    names: dict[str, object] = {"lab": lab, "memkit": SimpleNamespace(redact=redact)}
    exec(test, names)
    names["test_what_slipped_through_is_masked"]()  # type: ignore[operator]


def test_looking_shows_gaps_and_what_every_policy_keeps():
    looked = hunt.look(TEXT)
    assert looked.pieces == (
        ("", "mail "),
        ("email", "16 characters"),
        ("", ", the password is "),
        ("password", "9 characters"),
        ("", " <b>今天</b>"),
    )
    assert dict(looked.kept) == {
        "mask": "mail [redacted:email], the password is [redacted:password] <b>今天</b>",
        "refuse": "nothing: SECRET_FOUND",
        "leave e-mail and phone": "mail ann@example.test, the password is [redacted:password] <b>今天</b>",
        "refer to a secret store": "mail [redacted:email](drawer:1), the password is [redacted:password](drawer:2) <b>今天</b>",
    }


def test_a_reported_test_fails_now_passes_when_the_form_is_masked_and_holds_no_secret():
    test = hunt.report(f"the door opens with {PHRASE}", PHRASE)
    assert "tulip" not in test and "garden" not in test and "lab.hunt.alike('', 'aaaaa-aaaaaa')" in test
    assert "lab.hunt.alike('acme_', 'a9aa9aaaa9aa9aa9')" in hunt.report(f"we use {TOKEN} here", TOKEN)
    with pytest.raises(AssertionError):
        run(test, memkit.redact)
    run(test, lambda text: Redacted("the door opens with [redacted:x]", ()))


@pytest.mark.parametrize(
    ("text", "secret", "reason"),
    [
        ("the door is open", PHRASE, "NOT_IN_THE_TEXT"),
        ("the door is open", "", "NOT_IN_THE_TEXT"),
        (f"password: {PASSWORD}", PASSWORD, "MASKED_ALREADY"),
        (f"ask ann@example.test for {PHRASE}", PHRASE, "MORE_SECRETS"),
        ('password="changeme"', "changeme", "ONLY_THIS_ONE"),
    ],
)
def test_what_did_not_slip_through_as_a_form_is_not_reported(text, secret, reason):
    with pytest.raises(Refused) as caught:
        hunt.report(text, secret)
    assert caught.value.reason == reason
    assert not secret or secret not in str(caught.value)


@given(st.text(alphabet="abcXYZ019_-.!密", min_size=1, max_size=30), st.integers(0, 99))
def test_another_value_of_a_shape_has_that_shape(value, seed):
    start, rest = hunt.shape(value)
    assert len(start + rest) == len(value) and value.startswith(start)
    assert hunt.shape(start + hunt.alike("", rest, seed))[1][-1:] == rest[-1:]
    assert len(hunt.alike(start, rest, seed)) == len(value)


def test_the_panel_shows_gaps_and_never_the_find():
    panel = RedactionLab(TEXT)
    for shown in (panel.snapshot(), panel.as_text(), panel.spans.value, panel.verdict.value):
        assert PASSWORD not in shown
    assert "2 found: email, password." in panel.verdict.value
    assert "password, 9 characters" in panel.spans.value and "&lt;b&gt;今天" in panel.spans.value and "<b>今天" not in panel.snapshot()
    assert "nothing: SECRET_FOUND" in panel.kept.value
    assert panel.call.startswith("memkit.redact(text).findings")


def test_typing_reporting_and_clearing_go_through_the_controls():
    panel = RedactionLab()
    assert "Nothing was found" in panel.verdict.value
    panel.text.value = f"the door opens with {PHRASE}"
    panel.missed.value = PHRASE
    panel.reporting.click()
    assert panel.error == "" and "def test_what_slipped_through_is_masked" in panel.tested.value and "garden" not in panel.test
    assert panel.call == "lab.hunt.report(text, secret)"
    panel.text.value = TEXT
    assert panel.test == "" and "2 found" in panel.verdict.value
    panel.missed.value = PASSWORD
    panel.reporting.click()
    assert panel.error.startswith("Refused: the secret is masked already") and PASSWORD not in panel.error_area.value
    panel.clearing.click()
    assert (panel.text.value, panel.missed.value, panel.error) == ("", "", "")
    assert PASSWORD not in panel.snapshot() + panel.as_text() + panel.call


def test_nothing_that_is_looked_at_reaches_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    panel = RedactionLab(f"{PHRASE} and {PASSWORD}")
    panel.report(PHRASE)
    panel.close()
    assert list(tmp_path.iterdir()) == []


def test_the_checks_compute_what_they_say():
    found = {letter for letter, line in LINES.items() if memkit.redact(line).findings}
    assert found == {"b", "e"}
    assert lab.check.redaction_1(found) and not lab.check.redaction_1({"a"}) and not lab.check.redaction_1(...)
    assert "b: password" in repr(lab.check.redaction_1({"e"}))
    assert lab.check.redaction_2("say tulip-garden") and not lab.check.redaction_2("say roses") and not lab.check.redaction_2(...)
    assert not lab.check.redaction_2("password = 'tulip-garden'")
    assert lab.check.redaction_3(memkit.RedactionPolicy(leave=["email"])) and not lab.check.redaction_3(...)
    assert not lab.check.redaction_3(memkit.RedactionPolicy()) and not lab.check.redaction_3(memkit.RedactionPolicy(refuse=True))


def test_a_kind_that_is_not_there_is_refused_by_name():
    assert hunt.secret("github", 1) == hunt.secret("github", 1) != hunt.secret("github", 2)
    with pytest.raises(Refused, match="no kind 'nothing'"):
        hunt.secret("nothing")
