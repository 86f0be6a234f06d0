"""Claims about policies: what is found is masked, refused, or referred to; nothing of it is kept, and a mark is never read as content."""

from __future__ import annotations

import pytest

import memkit
from memkit.errors import Refused
from memkit.write.policy import MASK, RedactionPolicy
from memkit.write.redact import Finding, redact

SHOP = memkit.Scope(workspace="shop")
PASSWORD = "q7Zp" + "0aLm!"
SAID = f"mail ann@example.test, the password is {PASSWORD}"


class Drawer:
    """A secret store of a few lines: it numbers what it is given."""

    def __init__(self) -> None:
        self.kept: dict[str, str] = {}

    def keep(self, kind: str, secret: str) -> str:
        self.kept[f"drawer:{len(self.kept) + 1}"] = secret
        return f"drawer:{len(self.kept)}"


@pytest.mark.parametrize(
    ("policy", "kept"),
    [
        (MASK, "mail [redacted:email], the password is [redacted:password]"),
        (RedactionPolicy(leave=["email"]), "mail ann@example.test, the password is [redacted:password]"),
        (RedactionPolicy(leave="email"), "mail ann@example.test, the password is [redacted:password]"),
        (RedactionPolicy(store=Drawer()), "mail [redacted:email](drawer:1), the password is [redacted:password](drawer:2)"),
    ],
)
def test_a_policy_says_what_a_memory_keeps(policy, kept):
    assert policy.apply(SAID) == kept
    with memkit.open(redaction=policy) as kit:
        assert (
            kit.remember("access", SAID, scope=SHOP).memory.content.replace("drawer:3", "drawer:1").replace("drawer:4", "drawer:2") == kept
        )
        assert kit.propose("access2", SAID, scope=SHOP).content.startswith("mail ")
        assert kit.admin.sweep(PASSWORD) == dict.fromkeys(kit.admin.sweep(PASSWORD), 0)


def test_what_is_left_alone_does_not_shield_a_secret_beside_it():
    address = f"postgres://ann:{PASSWORD}@example.test/x"
    assert redact(address, leave=["email", "phone"]).text == "postgres://ann:[redacted:url-password]@example.test/x"
    assert (
        redact("ask ann@example.test", leave=["email"]) == redact("ask nobody")
        or redact("ask ann@example.test", leave=["email"]).findings == ()
    )
    assert redact("ask ann@example.test").findings == (Finding("email", 4, 20),)


def test_a_refusing_policy_writes_nothing_and_names_only_the_kinds():
    with memkit.open(redaction=RedactionPolicy(refuse=True)) as kit:
        with pytest.raises(Refused) as caught:
            kit.remember("access", SAID, scope=SHOP)
        assert caught.value.reason == "SECRET_FOUND"
        assert "(email, password)" in str(caught.value) and PASSWORD not in str(caught.value)
        assert kit.history("access", scope=SHOP) == []
        assert kit.acting_as(memkit.Principal()).remember("access", "the door is blue", scope=SHOP).op == "ADD"
        with pytest.raises(Refused, match="password"):
            kit.acting_as(memkit.Principal()).remember("other", SAID, scope=SHOP)


def test_a_secret_store_gets_the_kind_and_the_secret_and_its_reference_is_kept():
    drawer = Drawer()
    assert RedactionPolicy(store=drawer).apply(SAID) == "mail [redacted:email](drawer:1), the password is [redacted:password](drawer:2)"
    assert drawer.kept == {"drawer:1": "ann@example.test", "drawer:2": PASSWORD}
    again = RedactionPolicy(store=drawer).apply("mail [redacted:email](drawer:1), the password is [redacted:password](drawer:2)")
    assert again == "mail [redacted:email](drawer:1), the password is [redacted:password](drawer:2)" and len(drawer.kept) == 2


@pytest.mark.parametrize("answer", [None, "", "two words", "x" * 65, "(", PASSWORD, 3])
def test_a_store_that_answers_with_anything_but_a_reference_is_refused(answer):
    class Odd:
        def keep(self, kind: str, secret: str) -> str:
            return answer

    with pytest.raises(Refused) as caught:
        RedactionPolicy(store=Odd()).apply(SAID)
    assert caught.value.reason == "BAD_REFERENCE" and PASSWORD not in str(caught.value)


def test_a_reference_that_looks_like_a_secret_is_refused():
    class Echo:
        def keep(self, kind: str, secret: str) -> str:
            return "AK" + "IA" + "ABCDEFGH23456723"

    with pytest.raises(Refused, match="looks like a secret itself"):
        RedactionPolicy(store=Echo()).apply(SAID)


def test_a_store_that_fails_keeps_nothing_and_its_words_are_not_repeated():
    class Broken:
        def keep(self, kind: str, secret: str) -> str:
            raise OSError(f"no room for {secret}")

    with memkit.open(redaction=RedactionPolicy(store=Broken())) as kit:
        with pytest.raises(Refused) as caught:
            kit.remember("access", SAID, scope=SHOP)
        assert caught.value.reason == "SECRET_NOT_KEPT" and PASSWORD not in str(caught.value) and caught.value.__suppress_context__
        assert kit.history("access", scope=SHOP) == []


@pytest.mark.parametrize("given", [{"leave": ["password"]}, {"leave": "card"}, {"store": "a path"}, {"refuse": True, "store": Drawer()}])
def test_a_policy_that_would_leave_secrets_or_is_two_things_is_refused(given):
    with pytest.raises(Refused) as caught:
        RedactionPolicy(**given)
    assert caught.value.reason == "BAD_POLICY"


def test_open_takes_nothing_but_a_policy():
    with pytest.raises(Refused, match=r"memkit\.RedactionPolicy"):
        memkit.open(redaction="mask")


def test_only_a_mark_of_a_known_kind_is_a_mark():
    token = "gl" + "pat-a1b2c3d4e5f6g7h8i9j0"
    assert redact(f"[redacted:{token}]").text == "[redacted:[redacted:gitlab-token]]"
    assert redact("[redacted:gitlab-token]").findings == ()


def test_a_mark_in_a_source_bears_nothing_out():
    """An agent learns from a file that holds a mark, written there by whoever: it stays an inference, where other text is verified."""
    agent = memkit.Principal(actor="agent")
    sources = {"a.cfg": "door=[redacted:password]\nwait=30 seconds"}
    with memkit.open(sources=sources, principal=agent) as kit:
        assert kit.learn("door", "the door is [redacted:password]", scope=SHOP, cite="a.cfg#key=door").op == "PROPOSED"
        assert kit.learn("wait", "the wait is 30 seconds", scope=SHOP, cite="a.cfg#key=wait").op == "ADD"


def test_forgetting_one_masked_secret_does_not_bury_every_other():
    with memkit.open() as kit:
        for key in ("front", "back"):
            kit.remember(key, f"password: {PASSWORD}{key}", scope=SHOP)
        kit.forget("front", scope=SHOP, expected=1, reason="asked")
        assert kit.remember("side", f"password: {PASSWORD}side", scope=SHOP).op == "ADD"
        kit.remember("plain", "the door at the side is blue", scope=SHOP)
        kit.forget("plain", scope=SHOP, expected=1, reason="asked")
        assert kit.remember("other", "the door at the side is blue", scope=SHOP).reason == "TOMBSTONED"
