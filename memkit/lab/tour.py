"""The tour in the terminal: the story of one fact, from its source to its tombstone.

Each scene prints the memkit call it makes, what came back, and what that means. The call is evaluated from the very text that is printed,
and every figure in a claim is taken from what came back, so nothing here can say what did not happen. Everything lives in a temporary
folder that is removed at the end. Not here: the widget, which is the tour's second half in JupyterLab.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from textwrap import TextWrapper, indent
from typing import TypeVar

import click

import memkit
from memkit.govern.forget import Receipt
from memkit.lab.sandbox import reset
from memkit.lab.story import clock, ids
from memkit.lab.workspace import Workspace
from memkit.read.recall import Recall
from memkit.record.model import Memory, Outcome, Proposal

T = TypeVar("T")

PROD, TEST = memkit.Scope(workspace="shop", env="prod"), memkit.Scope(workspace="shop", env="test")
START = "2026-03-02T09:00+00:00"
ASK = 'kit.recall("how long does a payment call wait?", scope=prod, budget=200)'


def main() -> None:
    """Tell the whole story; it takes a second or two and leaves nothing behind."""
    with tempfile.TemporaryDirectory(prefix="memkit-tour-", ignore_cleanup_errors=True) as folder:
        shop = Workspace(reset("shop", to=Path(folder) / "_work"))
        store, now = Path(folder) / "story.db", clock(START)
        with memkit.open(store, root=shop.folder, clock=now, ids=ids()) as kit, memkit.open(store, root=shop.folder, clock=now) as other:
            agent = kit.acting_as(memkit.Principal(actor="agent"))
            stage = Stage(shop, {"kit": kit, "session_b": other, "agent": agent, "memkit": memkit, "prod": PROD, "test": TEST})
            stage.note("What happens to a memory when its source changes? The story of one fact, in a private copy of a small shop.")
            for number, scene in enumerate(SCENES, 1):
                stage.title(f"{number}. {scene.__doc__}")
                scene(stage)
    stage.note("\nNow touch it yourself: `memkit lab` opens the same story in JupyterLab, with the sources in your hands.")


class Stage:
    """Where a scene is played: the learner's copy of the shop, the names its calls may use, and the terminal."""

    def __init__(self, shop: Workspace, names: dict[str, object]) -> None:
        self.shop, self._names = shop, names

    def call(self, kind: type[T], call: str) -> T:
        """Print a call, make it, print what came back, and return it; raises TypeError where that is of another kind."""
        self._say(indent(call, "  ... ").replace("  ... ", "  >>> ", 1), fg="cyan")
        try:
            came_back = eval(call, dict(self._names))
        except memkit.MemkitError as error:
            came_back = error
            self._say(indent(f"{type(error).__name__}: {error}", "  "), fg="yellow")
        else:
            shown = came_back if isinstance(came_back, list) else [came_back]
            self._say("\n".join(indent(str(item), "  ") for item in shown))
        if not isinstance(came_back, kind):
            raise TypeError(f"{call} gave {type(came_back).__name__}, and the story needs {kind.__name__}")
        return came_back

    def edit(self, name: str, old: str, new: str) -> None:
        """Change a source as a person would, and say so."""
        self.shop.write(name, self.shop.read(name).replace(old, new))
        self._say(f"  ({name} is edited: {old!r} becomes {new!r})", fg="magenta")

    def delete(self, name: str) -> None:
        """Remove a source, and say so."""
        self.shop.delete(name)
        self._say(f"  ({name} is deleted)", fg="magenta")

    def restore(self) -> None:
        """Bring every source back to what it was at first."""
        self.shop.restore()

    def title(self, text: str) -> None:
        self._say(f"\n{text}", bold=True)

    def claim(self, text: str) -> None:
        self._say(f"  = {text}", fg="green")

    def note(self, text: str) -> None:
        self._say(text)

    def _say(self, text: str, *, fg: str | None = None, bold: bool = False) -> None:
        """Print in colour where a person sees it; a character that the terminal's encoding lacks becomes a question mark."""
        encoding = sys.stdout.encoding or "ascii"
        plain = fit(text).encode(encoding, "replace").decode(encoding)
        click.echo(click.style(plain, fg=fg, bold=bold or None), color=False if os.environ.get("NO_COLOR") else None)


def fit(text: str) -> str:
    """Break lines that are wider than the terminal between words; where no terminal is, leave them whole."""
    if not sys.stdout.isatty():
        return text
    width = shutil.get_terminal_size().columns
    wrap = TextWrapper(width, subsequent_indent=" " * 6, break_on_hyphens=False, break_long_words=False)
    return "\n".join("\n".join(wrap.wrap(line)) for line in text.split("\n"))


def learned(stage: Stage) -> None:
    """A fact is learned from its source"""
    call = 'kit.learn("timeout", "In production a payment call waits 30 seconds.",\n          scope=prod, cite="prod.cfg#key=timeout")'
    memory = _kept(stage.call(Outcome, call))
    piece = memory.evidence[0]
    stage.claim(f"It rests on {piece.cite}, which reads {piece.quote!r}; the SHA-256 of that part is kept: {piece.digest[:12]}...")


def unchanged(stage: Stage) -> None:
    """The source is unchanged"""
    found = stage.call(Recall, ASK)
    stage.claim(_summary(found))


def value_changed(stage: Stage) -> None:
    """The value changes"""
    stage.edit("prod.cfg", "timeout=30", "timeout=45")
    found = stage.call(Recall, ASK)
    stage.claim(_summary(found))
    check = found.skipped[0].check
    for piece in check.evidence if check else ():
        stage.claim(f"{'when it was learned':<22}| now")
        stage.claim(f"{piece.evidence.quote:<22}| {piece.found}")
    stage.restore()


def elsewhere(stage: Stage) -> None:
    """Other lines change, and the value moves"""
    stage.edit("prod.cfg", "timeout=30\nretries=3", "retries=5\n\n# seconds\ntimeout = 30")
    stage.claim(_summary(stage.call(Recall, ASK)))
    stage.restore()


def deleted(stage: Stage) -> None:
    """The file is deleted"""
    stage.delete("prod.cfg")
    stage.claim(_summary(stage.call(Recall, ASK)))
    stage.restore()


def switched(stage: Stage) -> None:
    """The environment is switched"""
    found = stage.call(Recall, ASK.replace("scope=prod", "scope=test"))
    stage.claim(f"{_summary(found)} In test, {len(found.hits) + len(found.skipped)} memories are visible at all.")


def relearned(stage: Stage) -> None:
    """The fact is learned again, from the source as it is now"""
    stage.edit("prod.cfg", "timeout=30", "timeout=45")
    call = (
        'kit.learn("timeout", "In production a payment call waits 45 seconds.",\n'
        '          scope=prod, cite="prod.cfg#key=timeout", expected=1)'
    )
    stage.call(Outcome, call)
    history = stage.call(list, 'kit.history("timeout", scope=prod)')
    stage.claim("; ".join(f"revision {memory.revision} is {memory.status}" for memory in history) + ".")


def conflict(stage: Stage) -> None:
    """Two sessions correct the same memory"""
    call = '{}.remember("deploys", "{}", scope=prod, expected={})'
    stage.call(Outcome, call.format("kit", "Deployments go out on Tuesday.", 0))
    stage.call(Outcome, call.format("kit", "Deployments go out on Tuesday and Thursday.", 1))
    error = stage.call(memkit.Conflict, call.format("session_b", "Deployments go out on Monday.", 1))
    kept = stage.call(Memory, 'kit.current("deploys", scope=prod)')
    stage.claim(f"Session B had seen revision {error.expected} and is told of {error.actual}; what is kept is {kept.content!r}")


def proposed(stage: Stage) -> None:
    """An agent proposes what it infers"""
    call = 'agent.propose("provider", "The payment provider is slow in the morning.",\n              scope=prod, confidence=0.7)'
    proposal = stage.call(Proposal, call)
    found = stage.call(Recall, 'kit.recall("is the payment provider slow?", scope=prod, budget=200)')
    mine = [hit for hit in found.hits if hit.memory.key == proposal.key]
    stage.claim(f"The proposal is {proposal.status}, and recall returns it {len(mine)} times.")
    refusal = stage.call(memkit.AccessDenied, f"agent.admit({proposal.id})")
    memory = _kept(stage.call(Outcome, f"kit.admit({proposal.id})"))
    stage.claim(f"Admitting needs a {refusal.needed}; admitted by one, it stays {memory.trust}.")


def masked(stage: Stage) -> None:
    """Somebody tells it a secret"""
    secret = "ghp_" + "Ab3dEf6h" * 4 + "Zz19"  # made up here, in the shape of a real one
    memory = _kept(stage.call(Outcome, f'kit.remember("ci", "The build logs in with {secret}", scope=prod)'))
    swept = stage.call(dict, f'kit.admin.sweep("{secret}")')
    stage.claim(f"Kept is {memory.content!r}; copies of the secret on disk: {sum(swept.values())}.")


def forgotten(stage: Stage) -> None:
    """A person asks to forget"""
    sweep = 'kit.admin.sweep("payment call waits 45 seconds")'
    before = stage.call(dict, sweep)
    receipt = stage.call(Receipt, 'kit.forget("timeout", scope=prod, expected=2, reason="asked to")')
    stage.claim(f"{sum(copy.before for copy in receipt.copies)} copies before, {receipt.residue} left; verified: {receipt.verified}.")
    after = stage.call(dict, sweep)
    stage.claim(f"Copies of it in the raw bytes of {len(after)} files: {sum(before.values())} before, {sum(after.values())} now.")
    call = 'agent.propose("timeout", "In production a payment call waits 45 seconds.",\n              scope=prod, confidence=0.9)'
    again = stage.call(Proposal, call)
    stage.claim(f"Told again, it is {again.op} {again.reason}: {again.why}.")


SCENES: tuple[Callable[[Stage], None], ...] = (
    learned,
    unchanged,
    value_changed,
    elsewhere,
    deleted,
    switched,
    relearned,
    conflict,
    proposed,
    masked,
    forgotten,
)


def _summary(found: Recall) -> str:
    """Return what a recall gave, in words: how many are recalled, and each that was withheld with its reason."""
    recalled = ", ".join(f"{hit.memory.key} ({hit.verdict})" for hit in found.hits) or "nothing"
    withheld = ", ".join(f"{skip.memory.key} ({skip.reason})" for skip in found.skipped) or "nothing"
    return f"Recalled: {recalled}. Withheld: {withheld}."


def _kept(outcome: Outcome) -> Memory:
    if outcome.memory is None:
        raise TypeError(f"nothing was kept: {outcome}")
    return outcome.memory
