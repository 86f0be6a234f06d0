"""Count what is left of some text in the raw bytes of files: code that trusts neither SQLite nor whoever erased.

It runs as a process of its own and imports nothing of memkit: closing a database file that this process also has open through SQLite
would drop SQLite's locks on POSIX systems. A text is looked for as UTF-8, as UTF-16 and as a JSON escape; one longer than 32 bytes is
cut into pieces, because SQLite splits long values over pages. What the file system keeps of deleted files, and what another program
copied, is out of reach.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

PIECE = 32  # bytes
MOST_PIECES = 64  # of one text, evenly spread
AT_ONCE = 16 * 1024 * 1024  # bytes of a file that are read at once


def pieces(text: str) -> list[bytes]:
    """Return what to look for: the whole text where it is short, else pieces of it, in each encoding.

    >>> pieces("timeout=30")
    [b'timeout=30', b't\\x00i\\x00m\\x00e\\x00o\\x00u\\x00t\\x00=\\x003\\x000\\x00']
    """
    forms = dict.fromkeys(
        [text.encode("utf-8", "surrogatepass"), text.encode("utf-16-le", "surrogatepass"), json.dumps(text)[1:-1].encode()]
    )
    return [piece for form in forms for piece in _cut(form)]


def is_sampled(text: str) -> bool:
    """Return whether a text is too long for its pieces to cover all of it."""
    return len(text.encode("utf-8", "surrogatepass")) > PIECE * MOST_PIECES


def count(data: bytes, piece: bytes) -> int:
    """Return how often a piece occurs, overlaps not counted."""
    return data.count(piece) if piece else 0


def sweep(files: Iterable[Path], wanted: Sequence[bytes]) -> dict[str, list[int]]:
    """Return, for each file, how often each piece occurs in its raw bytes; a file that went away meanwhile holds nothing."""
    order = json.dumps({"files": [str(file) for file in files], "pieces": [piece.hex() for piece in wanted]})
    command = [sys.executable, "-I", "-S", __file__]
    done = subprocess.run(command, input=order, capture_output=True, text=True, encoding="utf-8", check=True)
    return {str(name): list(counts) for name, counts in json.loads(done.stdout).items()}


def _cut(form: bytes) -> list[bytes]:
    if len(form) <= PIECE:
        return [form]
    starts = range(0, len(form) - PIECE + 1, max(PIECE, (len(form) - PIECE) // (MOST_PIECES - 1)))
    return list(dict.fromkeys([*(form[at : at + PIECE] for at in starts), form[-PIECE:]]))


def _count_file(name: str, wanted: Sequence[bytes]) -> list[int]:
    """Count in what can be read. Subtle: no memory map, since whoever cuts the file short meanwhile would kill this process."""
    counts, at, base, window = [0] * len(wanted), [0] * len(wanted), 0, b""  # at: where to look on, as `base`, from the file's beginning
    longest = max(map(len, wanted), default=0)
    with suppress(FileNotFoundError), open(name, "rb") as file:
        while more := file.read(AT_ONCE):
            kept = window[max(0, len(window) - longest) :]  # a piece may lie over the end
            base, window = base + len(window) - len(kept), kept + more
            for n, piece in enumerate(wanted):
                while piece and (found := window.find(piece, at[n] - base)) >= 0:
                    counts[n], at[n] = counts[n] + 1, base + found + len(piece)
                at[n] = max(at[n], base + len(window) - len(piece) + 1)
    return counts


def _main() -> None:
    order = json.loads(sys.stdin.read())
    wanted = [bytes.fromhex(piece) for piece in order["pieces"]]
    json.dump({name: _count_file(name, wanted) for name in order["files"]}, sys.stdout)


if __name__ == "__main__":
    _main()
