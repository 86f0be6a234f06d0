"""A conversation that plays turn by turn, and the inbox it fills: a person admits or rejects, and sees what came of it and what was missed.

The conversation may be the scripted one, or what the learner says. It looks again after every cell. Not here: HTML (`inbox_view.py`), the
script (`lab/conversations.py`), or any decision; every answer comes from the package.
"""

from __future__ import annotations

from collections.abc import Callable

import ipywidgets as widgets  # type: ignore[import-untyped]

from memkit.errors import MemkitError, NotFound, Refused
from memkit.lab import conversation
from memkit.record.model import Outcome, Proposal
from memkit.record.scope import Scope
from memkit.widgets import inbox_view as view
from memkit.widgets.calls import scope_code
from memkit.widgets.controls import button, column, heading, row
from memkit.widgets.markup import LIVE, STATIC, plain
from memkit.widgets.panel import Panel
from memkit.widgets.tables import status
from memkit.write.redact import redact

SPEAKERS = ["user", "assistant", "tool"]


class Inbox(Panel):
    """An inbox over a conversation.

    `talk` is a `lab.conversation.Conversation`; `scopes` holds its scope, by the name of the variable it is in, for the code that is
    shown. Raises Refused for another scope.
    """

    def __init__(self, talk: conversation.Conversation, scopes: dict[str, Scope] | None = None, *, name: str = "inbox") -> None:
        named = scopes or {}
        if named and talk.scope not in named.values():
            raise Refused("OTHER_SCOPE", "scopes does not hold the scope of this conversation; pass {'shop': shop}, or leave it out")
        super().__init__(name)
        self.talk, self.kit = talk, talk.kit
        self._code = scope_code(talk.scope, named)
        self.said, self._good = "", True
        self.asked: conversation.Asked | None = None
        self.outcomes: dict[int, Outcome] = {}
        self._book: view.Book | None = None
        self._seen = 0
        self._make_controls()
        self._connect()
        self._update()
        self.follow(self._look_again)

    # --- what a person does, as calls

    def play(self, turns: int = 1) -> list[conversation.Turn]:
        """Play the next turns of the script. Raises NotFound at its end."""
        played = self.talk.play(turns)
        self.said, self._good = _heard(played), True
        self._update(*(line for turn in played[-2:] for line in self._record_code(turn)))
        return played

    def say(self, role: str, text: str) -> conversation.Turn:
        """Say something that is not in the script."""
        turn = self.talk.say(role, text)
        self.said, self._good = _heard([turn]), True
        self._update(*self._record_code(turn))
        with self.quietly():
            self.words.value = ""
        return turn

    def admit(self, number: int) -> Outcome:
        """Admit a candidate. Raises Conflict where the value it was proposed against has changed."""
        return self._decide(number, lambda: self.kit.admit(number), f"kit.admit({number})")

    def reject(self, number: int, why: str = "") -> Outcome:
        """Turn a candidate down."""
        shown = f", {redact(why).text!r}" if why else ""
        outcome = self._decide(number, lambda: self.kit.reject(number, why), f"kit.reject({number}{shown})")
        with self.quietly():
            self.why.value = ""
        return outcome

    def ask(self, query: str) -> conversation.Asked:
        """Ask a question: memories answer, and candidates that would have are counted."""
        self.asked = self.talk.ask(query)
        self.said, self._good = f"{len(self.asked.context.hits)} returned, {len(self.asked.counted)} counted.", True
        self._update(f"kit.context({query!r}, scope={self._code}, budget=300)")
        return self.asked

    def refresh(self) -> None:
        """Read the record again."""
        self._update()

    def _decide(self, number: int, act: Callable[[], Outcome], call: str) -> Outcome:
        self.said, self._good = "Nothing was written.", False
        try:
            outcome = act()
        except MemkitError:
            self._update(call)
            raise
        self.outcomes[number] = outcome
        self.said, self._good = view.outcome(outcome, number), True
        self._update(call)
        return outcome

    # --- showing

    def _update(self, *calls: str) -> None:
        """Read the record and show it."""
        self.talk.look_again()
        waiting = self.kit.inbox(scope=self.talk.scope)
        decided = conversation.decided(self.kit, self.talk.scope)
        self._seen = self._events()
        self._book = view.Book(
            tuple(self.talk.turns),
            self.talk.left,
            tuple(view.Waiting(one, self.talk.held(one), _rivals(one, waiting)) for one in waiting),
            tuple(view.Decided(one, self.outcomes.get(one.id)) for one in decided),
            tuple(self.talk.marks()),
            self.asked,
            self.said or self._opening(),
            redact("\n".join(calls)).text,
        )
        self.show_call(*self._book.call.splitlines())
        self.status.value = status(self._book.said, LIVE, good=self._good, live=True)
        for area, draw in self._areas.items():
            _set(area, draw(self._book, LIVE))
        self._set_controls(waiting)

    def _set_controls(self, waiting: list[Proposal]) -> None:
        chosen = self.chooser.value
        options = [(f"{one.id} · {plain(one.key, 40)}", one.id) for one in waiting]
        with self.quietly():
            self.chooser.options = options or [("nothing waits", 0)]
            self.chooser.value = chosen if chosen in [number for _, number in options] else self.chooser.options[0][1]
        for each in (self.yes, self.no):
            each.disabled = not waiting
        for each in (self.next, self.rest):
            each.disabled = not self.talk.left

    def _opening(self) -> str:
        return f"{self.talk.left} turns of the script are to come, and {len(self.kit.inbox(scope=self.talk.scope))} candidates wait."

    def _record_code(self, turn: conversation.Turn) -> list[str]:
        episode, name = turn.episode, self.talk.session
        recorded = f"kit.record({name!r}, {episode.role.value!r}, {episode.text!r}, scope={self._code})"
        return [recorded, f"kit.extract({name!r}, scope={self._code})"]

    def snapshot(self) -> str:
        """Return the static HTML view."""
        return view.page(self._shown(), STATIC)

    def as_text(self) -> str:
        """Return the plain text view."""
        return view.as_text(self._shown())

    def _shown(self) -> view.Book:
        if self._book is None:
            raise NotFound("this inbox shows nothing yet")
        return self._book

    # --- living

    def _events(self) -> int:
        log = self.kit.events(scope=self.talk.scope)
        return log[-1].seq if log else 0

    def _look_again(self) -> None:
        """Show what other cells did, if they did anything; a store that was closed ends the following."""
        try:
            changed = self._events() != self._seen
        except MemkitError:
            self.stop_following()
            return
        if changed:
            self.said, self._good, self.asked = "The record was changed outside this widget.", True, None  # what was asked may be forgotten
            self._update()

    # --- making

    def _make_controls(self) -> None:
        self.next = button("Next turn", "step-forward", "record the next turn of the script, and extract")
        self.rest = button("Play the rest", "fast-forward", "play all turns that are still to come")
        self.speaker = widgets.Dropdown(options=SPEAKERS, tooltip="who says it", layout=widgets.Layout(width="9em"))
        self.words = _field("or say something yourself, then press Say", "words of your own")
        self.send = button("Say", "comment", "record your words in this session, and extract")
        self.chooser = widgets.Dropdown(
            options=[("nothing waits", 0)], description="Candidate", tooltip="the candidate to decide about", layout=_wide("22em")
        )
        self.yes = button("Admit", "check", "write this candidate into the record")
        self.no = button("Reject", "times", "turn this candidate down")
        self.why = _field("why not (returned, and not kept)", "why you turn it down")
        self.query = _field("ask a question, then press Ask", "a question that memory answers")
        self.search = button("Ask", "search", "assemble a context; candidates that would have answered are counted")
        self.status, *areas = (widgets.HTML() for _ in range(6))
        self._areas = dict(zip(areas, (view.turns, view.inbox, view.decisions, view.marks, view.asked), strict=True))
        talk, waits, done, marks, answer = areas
        said = [row(self.next, self.rest), row(self.speaker, self.words, self.send), talk]
        decide = [row(self.chooser, self.yes, self.no, self.why), waits]
        left = [heading("The conversation"), *said, heading("Beside a person's marks"), marks]
        right = [heading("Waiting for a person"), *decide, heading("Decided"), done, heading("Ask"), row(self.query, self.search), answer]
        columns = [widgets.VBox(left, layout=column("1 1 420px")), widgets.VBox(right, layout=column("1 1 420px"))]
        both = widgets.HBox(columns, layout=widgets.Layout(flex_flow="row wrap", align_items="flex-start"))
        self.children = (self.status, self.error_area, both, self.call_area)

    def _connect(self) -> None:
        self.on_click(self.next, self.play)
        self.on_click(self.rest, lambda: self.play(self.talk.left or 1))
        self.on_click(self.send, lambda: self.say(self.speaker.value, self.words.value))
        self.on_click(self.yes, lambda: self.admit(self.chooser.value))
        self.on_click(self.no, lambda: self.reject(self.chooser.value, self.why.value))
        self.on_click(self.search, lambda: self.ask(self.query.value))


def _heard(turns: list[conversation.Turn]) -> str:
    kept = {one.id for turn in turns for one in turn.proposals if one.id}
    refused = [one for turn in turns for one in turn.refused] + [one for turn in turns for one in turn.proposals if not one.id]
    spoken = f"Turn {turns[0].episode.number}" if len(turns) == 1 else f"Turns {turns[0].episode.number} to {turns[-1].episode.number}"
    return f"{spoken}: candidates {', '.join(map(str, sorted(kept))) or 'none'}; refused {len(refused)}."


def _rivals(proposal: Proposal, waiting: list[Proposal]) -> tuple[int, ...]:
    """Return the other candidates that wait under the same key: what says the same is one candidate, so these say something else."""
    return tuple(one.id for one in waiting if (one.key, one.scope) == (proposal.key, proposal.scope) and one.id != proposal.id)


def _set(area: widgets.HTML, shown: str) -> None:
    if area.value != shown:  # subtle: drawn anew it would scroll back to its top
        area.value = shown


def _field(placeholder: str, tooltip: str) -> widgets.Text:
    return widgets.Text(placeholder=placeholder, tooltip=tooltip, layout=widgets.Layout(flex="1 1 12em", width="auto", min_width="10em"))


def _wide(width: str) -> widgets.Layout:
    return widgets.Layout(width=width, max_width="100%")
