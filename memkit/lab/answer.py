"""What a check of an exercise says: right or not yet, and why. Not here: any check."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, repr=False)
class Answer:
    """Whether an answer is right, and why or why not, in words."""

    right: bool
    why: str

    def __bool__(self) -> bool:
        return self.right

    def __repr__(self) -> str:
        return f"{'Right' if self.right else 'Not yet'}: {self.why}"
