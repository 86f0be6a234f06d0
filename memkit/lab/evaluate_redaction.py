"""Measure redaction on labelled text: how much of what must vanish does vanish, and how much of what must stay does stay.

The text is the project's own corpus, made from `data/redaction/`, or a file of JSON lines. A secret has vanished when no run of its
characters is left that would help to use it. Left out: making the corpus (`redaction_corpus.py`), and whether the right kind was named.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from memkit.errors import Refused
from memkit.lab.redaction_corpus import CREDENTIAL, GROUPS, LOOK_ALIKE, Sample, samples
from memkit.write.redact import redact

SEEDS = (1, 2, 3)
LEFT = 12  # characters of a long secret that may not stay together


@dataclass(frozen=True, slots=True)
class Row:
    """One kind of text: how many samples, and how many were handled rightly."""

    group: str
    kind: str
    samples: int
    right: int


def read_samples(path: Path) -> Iterator[Sample]:
    """Yield the samples of a file of JSON lines with `kind`, `text`, `secret` (null for a look-alike) and, if it likes, `group`.

    Raises Refused for a line that is something else, and for a folder.
    """
    if not path.is_file():
        raise Refused("NO_FILE", f"{path.name!r} is no file; expected one with a JSON object on each line")
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if line.strip():
            try:
                found = json.loads(line)
                group = found.get("group", LOOK_ALIKE if found["secret"] is None else CREDENTIAL)
                yield Sample(str(group), str(found["kind"]), str(found["text"]), found["secret"])
            except (ValueError, KeyError, TypeError, AttributeError):
                raise Refused("BAD_SAMPLE", f"line {number} is no sample; expected JSON with kind, text, and secret or null") from None


def vanished(text: str, secret: str) -> bool:
    """Return whether no telling part of a secret is left: of a long one no 12 characters in a row, of a short one no three quarters.

    >>> vanished("key [redacted:x]", "hunter22"), vanished("key hunter2", "hunter22")
    (True, False)
    """
    width = LEFT if len(secret) >= 16 else max(1, -(-len(secret) * 3 // 4))
    return not any(secret[at : at + width] in text for at in range(len(secret) - width + 1))


def right(sample: Sample, masked: str) -> bool:
    """Return whether a masked text is what it should be: without the secret, or unchanged where there is none."""
    return masked == sample.text if sample.secret is None else vanished(masked, sample.secret)


def measure(corpus: Iterable[Sample], mask: Callable[[str], str] = lambda text: redact(text).text) -> list[Row]:
    """Return a row for each kind, in the order of the corpus; another `mask` may be measured beside memkit's.

    >>> [(row.samples, row.right) for row in measure([Sample("credential", "x", "PIN: 4821", "4821")])]
    [(1, 1)]
    """
    counts: dict[tuple[str, str], list[int]] = {}
    for sample in corpus:
        count = counts.setdefault((sample.group, sample.kind), [0, 0])
        count[0] += 1
        count[1] += right(sample, mask(sample.text))
    return [Row(*place, *count) for place, count in counts.items()]


def own_corpus(*seeds: int) -> Iterator[Sample]:
    """Yield the project's own corpus, made anew from these seeds, or from a few where none is given."""
    return (sample for seed in seeds or SEEDS for sample in samples(seed))


def as_table(rows: Iterable[Row]) -> str:
    """Return the confusion matrix for people: what each group is, against what became of it, and the kinds that slipped."""
    rows = list(rows)
    head = f"{'what it is':<14}{'kinds':>6}{'samples':>9}{'masked':>9}{'left':>8}{'right':>9}"
    body = [_line(group, [row for row in rows if row.group == group]) for group in (*GROUPS, *_others(rows))]
    slipped = sorted((row for row in rows if row.right < row.samples), key=lambda row: (row.right / row.samples, row.kind))
    tail = [f"  {row.group}: {row.kind} ({row.samples - row.right} of {row.samples})" for row in slipped]
    return "\n".join([head, *filter(None, body), "", *(["not handled rightly:", *tail] if tail else ["nothing slipped"])])


def _others(rows: list[Row]) -> list[str]:
    return sorted({row.group for row in rows} - set(GROUPS))


def _line(group: str, rows: list[Row]) -> str:
    total, good = sum(row.samples for row in rows), sum(row.right for row in rows)
    masked = total - good if group == LOOK_ALIKE else good
    kinds = len({row.kind for row in rows})
    return f"{group:<14}{kinds:>6}{total:>9}{masked:>9}{total - masked:>8}{good / total:>9.1%}" if total else ""


def as_json(rows: Iterable[Row]) -> str:
    """Return the rows for a program: one object a kind, without any text of the corpus."""
    return json.dumps([{"group": row.group, "kind": row.kind, "samples": row.samples, "right": row.right} for row in rows], indent=2)


def report(data: Path | None, *, for_program: bool) -> str:
    """Do what `memkit eval redaction` does: measure the project's own corpus, or the file `data`, and show it."""
    rows = measure(own_corpus() if data is None else read_samples(data))
    return as_json(rows) if for_program else as_table(rows)
