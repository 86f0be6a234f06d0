"""Read what a candidate cites, before anything is kept: refuse secrets, and say whether the sources bear the candidate out.

What a citation means, and how it is hashed, is in `record/`; what becomes of a candidate is decided in `admission.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from memkit.errors import BadLocator, NotFound, Refused, UnsafePath
from memkit.record.evidence import Reader, check, decided, find, mentions, observe
from memkit.record.locator import Locator
from memkit.record.model import Candidate, Evidence, Kind
from memkit.write.firsthand import original, retold
from memkit.write.policy import MASK, RedactionPolicy
from memkit.write.redact import clean, clean_cited, marks

MOST_CITES = 50


def cites_of(cite: str | Sequence[str]) -> tuple[str, ...]:
    """Return one citation or several as a tuple of texts. Raises BadLocator for what is no text, and Refused for too many.

    >>> cites_of("prod.cfg"), cites_of(["prod.cfg", "test.cfg"])
    (('prod.cfg',), ('prod.cfg', 'test.cfg'))
    """
    cites = tuple(cite) if isinstance(cite, (list, tuple)) else (cite,)
    if len(cites) > MOST_CITES:
        raise Refused("MANY_CITATIONS", f"{len(cites):,} citations were given; at most {MOST_CITES} are kept")
    for text in cites:
        if not isinstance(text, str):
            Locator.parse(text)  # raises, and says what it is
    return cites


def observed(cite: str | Sequence[str], reader: Reader, now: datetime, policy: RedactionPolicy = MASK) -> tuple[Evidence, ...]:
    """Read and hash what is cited, one citation or several. Raises what `observe` raises, and Refused for a secret in it.

    What the policy leaves alone is none; whatever else it says, a citation is never masked.
    """
    cites = cites_of(cite)
    try:
        for text in cites:
            if not clean_cited(text, find(text, reader).text, leave=policy.leave):
                raise Refused("SECRET_IN_CITATION", "the citation, or what it cites, holds what looks like a secret; cite a narrower part")
        return tuple(observe(text, reader, now) for text in cites)
    except BadLocator as error:  # it may name what stands beside the citation
        raise BadLocator(policy.mask(error.text), policy.mask(str(error))) from None
    except (NotFound, UnsafePath, Refused) as error:
        if not clean(str(error), leave=policy.leave):
            raise Refused("SECRET_IN_CITATION", "the citation holds what looks like a secret; cite by lines or by key instead") from None
        raise


def first_hand(evidence: Sequence[Evidence], reader: Reader, kind: Kind, *, declared: bool = False) -> bool:
    """Return whether all that is cited is first-hand. A fact may rest on nothing else: for it, raise Refused, naming the original.

    `declared`: the caller says that it is not.
    """
    for piece in evidence:
        if sign := "it was declared second-hand" if declared else retold(piece.cite, reader):
            if kind is Kind.FACT:
                known = original(piece.cite, reader)
                way = (
                    f"cite {known!r} instead, which it names"
                    if known
                    else "cite the source it was made from, or propose it as an inference"
                )
                raise Refused("SECOND_HAND", f"{piece.source!r} is no evidence for a fact, because {sign}: {way}")
            return False
    return True


def repeats(content: str, evidence: Sequence[Evidence], reader: Reader) -> bool:
    """Return whether the content states what was read at every citation; the mark of a secret, on either side, states nothing."""
    located = [find(piece.cite, reader) for piece in evidence]
    return bool(located) and not any(marks(found.text) for found in located) and all(mentions(content, found) for found in located)


def require_evidence(candidate: Candidate, reader: Reader) -> None:
    """Raise Refused, for the reason a memory would be withheld for, unless what the candidate rests on still holds."""
    checks = [check(piece, reader) for piece in candidate.evidence]
    if not (verdict := decided(checks, candidate.support)).holds:
        why = next(piece.why for piece in checks if piece.verdict is verdict)
        raise Refused(verdict.withheld_as, f"{why}; reject this proposal and propose anew from the source")
