"""What becomes of a secret that was found in what is to be kept: masked, refused, or handed to a separate store.

The default masks everything. E-mail addresses and telephone numbers, and nothing else, may be left alone, because some designs need them.
What a policy says holds wherever words are kept or given back: memories, proposals, episodes, task state, reasons. Names (keys, scopes,
sessions) and citations are never masked but refused. Left out: any secret store; here is only where one attaches.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from memkit.errors import Refused, shown
from memkit.write.redact import Redacted, redact

LEAVABLE = frozenset({"email", "phone"})
REFERENCE = re.compile(r"[A-Za-z0-9][A-Za-z0-9:._/-]{0,63}")


@runtime_checkable
class SecretStore(Protocol):
    """Where secrets may live instead of in memory. It is told each secret before the write, and again when the write is repeated."""

    def keep(self, kind: str, secret: str) -> str:
        """Keep a secret somewhere else and return a reference to it: at most 64 letters, digits and `:._/-`, itself no secret."""


@dataclass(frozen=True, slots=True)
class RedactionPolicy:
    """Mask what is found (the default), or refuse the write, or leave a reference into a secret store beside the mark.

    `leave`: kinds not to look for, of "email" and "phone". Raises Refused for anything else, or for both `refuse` and `store`.
    """

    refuse: bool = False
    leave: Iterable[str] = ()
    store: SecretStore | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.refuse, bool) or not isinstance(self.leave, Iterable):
            raise Refused("BAD_POLICY", f"refuse is {shown(self.refuse)}, leave {shown(self.leave)}; pass True or False, and kinds")
        object.__setattr__(self, "leave", frozenset([self.leave] if isinstance(self.leave, str) else map(str, self.leave)))
        if not LEAVABLE.issuperset(self.leave):
            raise Refused("BAD_POLICY", f"leave is {shown(sorted(self.leave))}; only email and phone may be left alone")
        if (self.refuse and self.store is not None) or not isinstance(self.store, SecretStore | None):
            raise Refused("BAD_POLICY", "pass either refuse=True or a store that has keep(kind, secret), or neither")

    def apply(self, text: str) -> str:
        """Return the text as it may be kept. Raises Refused where a secret was found and the policy refuses, or its store fails.

        >>> RedactionPolicy().apply("ask ann@example.test"), RedactionPolicy(leave=["email"]).apply("ask ann@example.test")
        ('ask [redacted:email]', 'ask ann@example.test')
        """
        found = redact(text, leave=self.leave)
        if self.refuse and found.findings:
            kinds = ", ".join(sorted({finding.kind for finding in found.findings}))
            raise Refused(
                "SECRET_FOUND", f"the text holds what looks like a secret ({kinds}): take it out, and name where it is kept instead"
            )
        return found.text if self.store is None else self._referred(text, found, self.store)

    def mask(self, text: str) -> str:
        """Return the text as it may be shown and is not kept: masked, but for what is left alone."""
        return redact(text, leave=self.leave).text

    def _referred(self, text: str, found: Redacted, store: SecretStore) -> str:
        """Put the store's reference after each mark; what comes out must itself be free of secrets."""
        pieces, at = [], 0
        for finding in found.findings:
            reference = _reference(store, finding.kind, text[finding.start : finding.end])
            pieces += [text[at : finding.start], f"[redacted:{finding.kind}]({reference})"]
            at = finding.end
        kept = "".join([*pieces, text[at:]])
        if redact(kept, leave=self.leave).findings:
            raise Refused("BAD_REFERENCE", "a reference of the secret store looks like a secret itself; return a plain number or path")
        return kept


def _reference(store: SecretStore, kind: str, secret: str) -> str:
    try:
        reference = store.keep(kind, secret)
    except Exception:  # its message may hold the secret
        raise Refused("SECRET_NOT_KEPT", f"the secret store could not keep what looks like {kind}, so nothing was kept") from None
    if not isinstance(reference, str) or not REFERENCE.fullmatch(reference):
        raise Refused("BAD_REFERENCE", "the secret store returned no reference; expected 1 to 64 letters, digits and :._/-")
    return reference


MASK = RedactionPolicy()
