"""Make the project's labelled redaction corpus from recipes and a seed: text, kind, and the exact words that must vanish.

The recipes and sentences are in `data/redaction/`; no file holds anything that looks like a credential, because halves of a prefix are
joined and alphabets drawn from only here, at run time. Left out: judging a redactor (`evaluate_redaction.py`).
"""

from __future__ import annotations

import base64
import json
import random
import re
import string
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import quote

from memkit.errors import Refused
from memkit.lab.sandbox import data_folder

CREDENTIAL, PERSONAL, DISGUISED, LOOK_ALIKE = "credential", "personal", "disguised", "look-alike"
GROUPS = (CREDENTIAL, PERSONAL, DISGUISED, LOOK_ALIKE)
SENTENCES_EACH = 4  # sentences of sentences.toml that each kind known by its form is put into

_UP, _LOW, _DIG = string.ascii_uppercase, string.ascii_lowercase, string.digits
_AN = _UP + _LOW + _DIG
_ALPHABETS = {
    "an": _AN, "up": _UP, "low": _LOW, "dig": _DIG, "dig1": _DIG[1:], "ud": _UP + _DIG, "ld": _LOW + _DIG, "hex": _DIG + "abcdef",
    "uhex": _DIG + "ABCDEF", "url": _AN + "-_", "b64": _AN + "+/", "crypt": _AN + "./", "b32": _UP + "234567",
    "b58": "".join(c for c in _AN if c not in "0OIl"), "bech": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
    "bechlow": "qpzry9x8gf2tvdw0s3jn54khce6mua7l", "ud9": "ABCDEFGHJKLMNPQRTUWXY" + _DIG,
}  # fmt: skip
_WORDS = (
    "apple",
    "brave",
    "coral",
    "draft",
    "eagle",
    "fancy",
    "grain",
    "hotel",
    "ivory",
    "jelly",
    "kneel",
    "lemon",
    "magic",
    "noble",
    "ocean",
)


@dataclass(frozen=True, slots=True)
class Sample:
    """One text: its group and kind, and the words that must vanish from it; None where all must stay."""

    group: str
    kind: str
    text: str
    secret: str | None


def samples(seed: int) -> Iterator[Sample]:
    """Yield the whole corpus of one seed, always the same.

    >>> len({sample.kind for sample in samples(1) if sample.secret}) >= 160
    True
    """
    r = random.Random(seed)
    credentials, free = _read("credentials"), _read("sentences")["free"]
    for kind, recipes in credentials["shaped"].items():
        for sentence in r.sample(free, SENTENCES_EACH):
            yield _sample(CREDENTIAL, kind, sentence, make(r.choice(recipes), r))
    for group, framed in ((CREDENTIAL, credentials["framed"]), (PERSONAL, _read("personal")["framed"])):
        for kind, row in framed.items():
            for sentence in row["in"]:
                yield _sample(group, kind, sentence, make(r.choice(row["secret"]), r))
    yield from _disguised(r, credentials["shaped"])
    for text in _read("look_alikes")["texts"]:
        yield Sample(LOOK_ALIKE, text[:24], make(text, r), None)


def recipes(kind: str) -> list[str]:
    """Return how values of a kind are made. Raises Refused for a kind that is not there."""
    credentials, personal = _read("credentials"), _read("personal")
    framed = {name: row["secret"] for name, row in (credentials["framed"] | personal["framed"]).items()}
    known: dict[str, list[str]] = credentials["shaped"] | framed
    if kind not in known:
        raise Refused("NO_SUCH_KIND", f"there is no kind {kind!r}; there are {', '.join(sorted(known))}")
    return known[kind]


def make(recipe: str, r: random.Random) -> str:
    """Follow a recipe: `<an:36>` is 36 characters of an alphabet, `<uuid>` what a maker makes; `|` joins the halves of a prefix.

    >>> make("pre|fix-<hex:4>", random.Random(1))
    'prefix-2dc4'
    """
    joined = re.sub(r"(?<=[\w$-])\|(?=[\w.$<-])", "", recipe)
    return re.sub(r"<([a-z]\w*)(?::([^<>]*))?>", lambda found: _made(found, r), joined)


def _made(found: re.Match[str], r: random.Random) -> str:
    name, argument = found[1], found[2]
    if name in _ALPHABETS and argument:
        return "".join(r.choices(_ALPHABETS[name], k=int(argument)))
    known = name in _MAKERS and (argument is not None or name in _BARE)
    return _MAKERS[name](r, *(argument or "").split(",")) if known else str(found[0])


def _sample(group: str, kind: str, sentence: str, secret: str) -> Sample:
    return Sample(group, kind, sentence.replace("{}", secret), secret)


@cache
def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((data_folder() / "redaction" / f"{name}.toml").read_text(encoding="utf-8"))


def _strong(r: random.Random, length: str, symbols: str = "") -> str:
    """A password people call strong: both cases, a digit, perhaps symbols inside, and a letter or digit at each end."""
    body = [r.choice(_UP), r.choice(_LOW), r.choice(_DIG), *symbols[:1], *r.choices(_AN + symbols, k=int(length) - 5 - bool(symbols))]
    r.shuffle(body)
    return r.choice(_LOW) + "".join(body) + r.choice(_AN)


def _luhn(r: random.Random, prefix: str, length: str, by: str = "") -> str:
    body = prefix + "".join(r.choices(_DIG, k=int(length) - len(prefix) - 1))
    total = sum(int(c) if at % 2 else int(c) * 2 - 9 * (int(c) > 4) for at, c in enumerate(reversed(body)))
    return _grouped(body + str(-total % 10), by)


def _grouped(text: str, by: str) -> str:
    return by.join(text[at : at + 4] for at in range(0, len(text), 4))


def _china(r: random.Random) -> str:
    day = f"{r.randrange(1955, 2008)}{r.randrange(1, 13):02}{r.randrange(1, 29):02}"
    body = r.choice(["310104", "440305", "510107", "110108"]) + day + f"{r.randrange(1000):03}"
    return body + "10X98765432"[sum(int(c) * pow(2, 17 - at, 11) for at, c in enumerate(body)) % 11]


def _iban(r: random.Random, country: str, pattern: str, by: str = "") -> str:
    body = "".join(r.choice({"n": _DIG, "a": _UP, "c": _UP + _DIG}[c]) for c in pattern)
    number = int("".join(str(int(c, 36)) for c in body + country + "00"))
    return _grouped(f"{country}{98 - number % 97:02}{body}", by)


def _dni(r: random.Random) -> str:
    number = r.randrange(10**7, 10**8)
    return f"{number:08}" + "TRWAGMYFPDXBNJZSQVHLCKE"[number % 23]


def _nir(r: random.Random) -> str:
    body = f"{r.choice('12')}{r.randrange(40, 99)}{r.randrange(1, 13):02}75{r.randrange(1, 999):03}{r.randrange(1, 999):03}"
    return f"{body}{97 - int(body) % 97:02}"


def _encoded(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def _jwt(r: random.Random) -> str:
    head, body = {"alg": "RS256", "typ": "JWT"}, {"sub": f"u{r.randrange(99)}", "exp": r.randrange(10**9)}
    return ".".join([_encoded(head), _encoded(body), make("<url:86>", r)])


def _block(r: random.Random, name: str, lines: int = 5) -> str:
    body = "\n".join(make("<b64:64>", r) for _ in range(lines))
    return f"-----BEGIN {name}-----\n{body}\n-----END {name}-----"


def _ssn(r: random.Random) -> str:
    return f"{r.randrange(100, 665)}-{r.randrange(10, 99)}-{r.randrange(1000, 9999)}"


_MAKERS: dict[str, Callable[..., str]] = {
    "strong": _strong,
    "symbols": lambda r, length: _strong(r, length, "!@#%"),
    "text": lambda r, text: text,
    "uuid": lambda r, *_: make("<hex:8>-<hex:4>-4<hex:3>-9<hex:3>-<hex:12>", r),
    "jwt": lambda r, *_: _jwt(r),
    "jwe": lambda r, *_: ".".join([_encoded({"alg": "dir", "enc": "A256GCM"}), "", *(make(f"<url:{n}>", r) for n in (16, 60, 22))]),
    "pem": lambda r, name: _block(r, f"{name}PRIV" + "ATE KEY"),
    "pgp": lambda r, *_: _block(r, "PGP PRIV" + "ATE KEY BLOCK"),
    "ovpn": lambda r, *_: _block(r, "OpenVPN Sta" + "tic key V1"),
    "ppk": lambda r, *_: make("PuTTY-User-|Key-File-3: ssh-rsa\nPrivate-Lines: 1\n<b64:64>\nPrivate-MAC: <hex:64>", r),
    "basic": lambda r, *_: base64.b64encode(f"svc:{_strong(r, '12')}".encode()).decode(),
    "card": _luhn,
    "luhn9": lambda r, *_: _luhn(r, "4", "9"),
    "iban": _iban,
    "china": lambda r, *_: _china(r),
    "dni": lambda r, *_: _dni(r),
    "nir": lambda r, *_: _nir(r),
    "ssn": lambda r, *_: _ssn(r),
    "month": lambda r, *_: r.choice("ABCDEHLMPRST"),
    "md": lambda r, *_: f"{r.randrange(1, 13):02}{r.randrange(1, 29):02}",
    "words": lambda r, count: " ".join(r.choices(_WORDS, k=int(count))),
    "codejson": lambda r, *_: base64.b64encode(b'{"version":3,"sources":["app.ts"],"mappings":"AAAA"}').decode(),
}
_BARE = frozenset(_MAKERS) - {"strong", "symbols", "text", "pem", "card", "iban", "words"}


def _disguised(r: random.Random, shaped: dict[str, list[str]]) -> Iterator[Sample]:
    """Yield credentials as somebody would write them to get past a filter; what must vanish is the disguised form."""
    kinds = [kind for kind, recipes in shaped.items() if all("<pem" not in recipe and len(recipe) < 60 for recipe in recipes)]
    for name, (frame, disguise) in _DISGUISES.items():
        for kind in r.sample(kinds, 6):
            yield _sample(DISGUISED, name, frame, disguise(make(r.choice(shaped[kind]), r)))
        password = disguise(_strong(r, "14"))
        yield Sample(DISGUISED, f"{name} password", f"password = {password}", password)


def _wide(text: str) -> str:
    return "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)


def _halved(text: str, joint: str) -> str:
    return f'"{text[: len(text) // 2]}{joint}{text[len(text) // 2 :]}"'


_DISGUISES: dict[str, tuple[str, Callable[[str], str]]] = {
    "full width": ("现在用 {} 登录", _wide),
    "zero width": ("the value {} goes here", lambda text: "\u200b".join([text[:3], text[3:9], text[9:]])),
    "soft hyphens": ("use {} now", "\u00ad".join),
    "word joiners": ("它是 {}", lambda text: text[:2] + "\u2060\ufeff" + text[2:]),
    "tag characters": ("note {} ok", lambda text: text[:4] + "\U000e0041\U000e0042" + text[4:]),
    "base64": ("data: {} (encoded)", lambda text: base64.b64encode(f"token={text}".encode()).decode()),
    "base64 alone": ("blob {}", lambda text: base64.b64encode(text.encode()).decode()),
    "base64 for addresses": ("?state={}", lambda text: base64.urlsafe_b64encode(f'{{"key":"{text}"}}'.encode()).decode().rstrip("=")),
    "base64 in lines": ("-\n{}\n-", lambda text: "\n".join(re.findall(".{1,20}", base64.b64encode(f"secret={text}".encode()).decode()))),
    "hex": ("bytes {}", lambda text: text.encode().hex()),
    "hex escapes": ("b'{}'", lambda text: "".join(f"\\x{ord(c):02x}" for c in text)),
    "percent": ("https://x.example.test/?q={}", lambda text: "".join(f"%{ord(c):02X}" for c in text)),
    "percent, some": ("https://x.example.test/?q={}", lambda text: quote(text[:2], safe="") + f"%{ord(text[2]):02x}" + text[3:]),
    "unicode escapes": ('"{}"', lambda text: "".join(f"\\u{ord(c):04x}" for c in text)),
    "character references": ("<b>{}</b>", lambda text: "".join(f"&#{ord(c)};" for c in text)),
    "spaced": ("it reads {} in full", " ".join),
    "spaced by dots": ("it reads {} in full", ".".join),
    "spaced by dashes": ("it reads {} in full", "-".join),
    "two literals": ("key = {};", lambda text: _halved(text, '" + "')),
    "neighbouring literals": ("key = ({})", lambda text: _halved(text, '" "')),
    "concatenation": ("key = {};", lambda text: _halved(text, '" . "')),
    "literals over lines": ("key = ({})", lambda text: _halved(text, '"\n    "')),
    "continued line": ("key={}", lambda text: text[:10] + "\\\n" + text[10:]),
    "broken line": ("the key:\n{}\nends", lambda text: text[:12] + "\n" + text[12:]),
    "homoglyphs": ("value {}", lambda text: text.translate(str.maketrans("asAoeK", "\u0430\u0455\u0410\u043e\u0435\u041a"))),
    "combining marks": ("value {}", lambda text: text[:4] + "\u0332" + text[4:]),
    "mathematical letters": ("value {}", lambda text: "".join(chr(0x1D7F6 + int(c)) if c in _DIG else c for c in text)),
    "markup inside": ("<p>{}</p>", lambda text: text[:6] + "<b></b>" + text[6:]),
    "emphasis inside": ("note {} ok", lambda text: f"**{text[:6]}**{text[6:]}"),
    "quoted-printable": ("mail: {}", lambda text: text[:8] + "=\n" + text[8:]),
    "reversed": ("read backwards: {}", lambda text: text[::-1]),
    "in brackets": ("key [{}]", lambda text: "][".join([text[:8], text[8:]])),
}
"""Name of a disguise -> the sentence it stands in, and how it is put on."""
