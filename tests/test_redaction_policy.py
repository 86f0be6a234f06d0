"""Claims about policies: what is found is masked, refused, or referred to; nothing of it is kept, and a mark is never read as content."""

from __future__ import annotations

import re

import pytest

import memkit
from memkit.errors import Refused
from memkit.record.model import Kind
from memkit.write.extract import Extracted, Extraction
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


# --- every verb under every policy

SOURCES = {"a.cfg": "wait=30\n", "door.txt": "the desk is ann@example.test"}
REFUSING = RedactionPolicy(refuse=True)
KEPT = {
    "mask": (MASK, "mail [redacted:email], the password is [redacted:password]"),
    "leave": (RedactionPolicy(leave=["email"]), "mail ann@example.test, the password is [redacted:password]"),
    "store": (RedactionPolicy(store=Drawer()), "mail [redacted:email](drawer:N), the password is [redacted:password](drawer:N)"),
}


def _waiting(kit):
    return kit.propose("cache", "the cache is cold on Mondays", scope=SHOP)


def _known(kit):
    return kit.remember("tone", "Answer in short sentences.", scope=SHOP).memory


SINKS = {
    "record": lambda kit: kit.record("s", "user", SAID, scope=SHOP).text,
    "record of a tool": lambda kit: kit.record("s", "tool", SAID, scope=SHOP, visible=False).text,
    "remember": lambda kit: kit.remember("access", SAID, scope=SHOP).memory.content,
    "remember a task": lambda kit: kit.remember("x", "x", scope=SHOP, kind="experience", task=SAID, verification="x").memory.task,
    "learn": lambda kit: kit.learn("access", SAID, scope=SHOP, cite="a.cfg#key=wait").memory.content,
    "propose": lambda kit: kit.propose("access", SAID, scope=SHOP).content,
    "state.plan": lambda kit: kit.state.plan("step", SAID, scope=SHOP).value,
    "state.done": lambda kit: kit.state.done("step", SAID, scope=SHOP, proof="a.cfg#key=wait").value,
    "reject": lambda kit: kit.reject(_waiting(kit), why=SAID).why,
    "contradict": lambda kit: kit.contradict(_known(kit), SAID).why.rpartition(": ")[0],
    "forget": lambda kit: kit.forget(_known(kit).key, scope=SHOP, expected=1, reason=SAID).reason,
}


@pytest.mark.parametrize("verb", SINKS)
@pytest.mark.parametrize("name", KEPT)
def test_the_policy_of_the_store_holds_in_every_verb(verb, name):
    policy, kept = KEPT[name]
    with memkit.open(sources=dict(SOURCES), redaction=policy) as kit:
        assert re.sub(r"drawer:\d+", "drawer:N", SINKS[verb](kit)) == kept
        assert set(kit.admin.sweep(PASSWORD).values()) == {0}


@pytest.mark.parametrize("verb", SINKS)
def test_where_the_policy_refuses_every_verb_refuses_and_nothing_is_kept(verb):
    with memkit.open(sources=dict(SOURCES), redaction=REFUSING) as kit:
        with pytest.raises(Refused, match=r"what looks like a secret \(email, password\): take it out") as caught:
            SINKS[verb](kit)
        assert caught.value.reason == "SECRET_FOUND" and PASSWORD not in str(caught.value)
        for word in (PASSWORD, "ann@example.test"):
            assert set(kit.admin.sweep(word).values()) == {0}
        assert kit.state.get("step", scope=SHOP) is None
        with pytest.raises(memkit.NotFound):
            kit.episodes("s", scope=SHOP)
        assert kit.record("s", "user", "We use pnpm.", scope=SHOP).number == 1


@pytest.mark.parametrize("policy", [MASK, RedactionPolicy(leave=["email"]), REFUSING])
def test_why_a_tombstone_is_lifted_is_asked_by_the_policy(policy):
    with memkit.open(redaction=policy) as kit:
        kit.forget(_known(kit).key, scope=SHOP, expected=1, reason="asked")
        if policy.refuse:
            with pytest.raises(Refused, match="what looks like a secret"):
                kit.restore_right("tone", scope=SHOP, reason=SAID)
        assert kit.restore_right("tone", scope=SHOP, reason="she asked" if policy.refuse else SAID) == 2


TOLD = "Our support address is ann@example.test."


@pytest.mark.parametrize("name", ["mask", "leave"])
def test_extraction_keeps_what_the_policy_leaves_and_a_question_finds_it(name):
    """An address that the store was told to leave alone is content; a mask is none."""
    with memkit.open(redaction=KEPT[name][0]) as kit:
        kit.record("s", "user", TOLD, scope=SHOP)
        drawn = kit.extract("s", scope=SHOP)
        for waiting in drawn:
            kit.admit(waiting)
        found = kit.recall("ann@example.test", scope=SHOP, budget=200)
        left = name == "leave"
        assert [waits.content for waits in drawn] == (["Our support address is ann@example.test"] if left else [])
        assert [hit.memory.trust for hit in found.hits] == (["STATED"] if left else [])
        assert found.query == ("ann@example.test" if left else "[redacted:email]")


class Adds:
    """An extractor that says more than was said, as a model may: a proof with an address and a password in it."""

    def extract(self, episodes):
        said = episodes[-1].text
        proof = f"it ran; {SAID}"
        return Extraction((Extracted("npm", said, Kind.EXPERIENCE, 0.8, 1, said, "npm", task="building", verification=proof),))


@pytest.mark.parametrize("name", KEPT)
def test_what_an_extractor_adds_is_redacted_by_the_policy(name):
    policy, kept = KEPT[name]
    with memkit.open(redaction=policy) as kit:
        kit.record("s", "user", "npm ci failed until the cache was cleared", scope=SHOP)
        (waiting,) = kit.extract("s", scope=SHOP, extractor=Adds())
        assert re.sub(r"drawer:\d+", "drawer:N", waiting.candidate.verification) == f"it ran; {kept}"


def test_what_an_extractor_adds_is_refused_where_the_policy_refuses():
    with memkit.open(redaction=REFUSING) as kit:
        kit.record("s", "user", "npm ci failed until the cache was cleared", scope=SHOP)
        (turned_down,) = kit.extract("s", scope=SHOP, extractor=Adds())
        assert (turned_down.id, turned_down.reason, turned_down.content) == (0, "SECRET_FOUND", None)
        assert kit.inbox(scope=SHOP) == []


@pytest.mark.parametrize(("name", "refused"), [("mask", True), ("leave", False)])
def test_a_citation_may_hold_only_what_is_left_alone(name, refused):
    def cited(kit, cite):
        return kit.learn("desk", "whom to ask is written down", scope=SHOP, cite=cite).op

    with memkit.open(sources=dict(SOURCES) | {"b.txt": f"password={PASSWORD}"}, redaction=KEPT[name][0]) as kit:
        for cite in ["b.txt", *(["door.txt"] if refused else [])]:
            with pytest.raises(Refused) as caught:
                cited(kit, cite)
            assert caught.value.reason == "SECRET_IN_CITATION"
        assert refused or cited(kit, "door.txt") == "ADD"
        with memkit.open(sources=dict(SOURCES)) as other, pytest.raises(Refused):  # what one store leaves, another one does not
            cited(other, "door.txt")
