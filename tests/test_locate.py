"""The digest of each kind of part is of exactly the bytes that are documented, as other tools confirm."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memkit.record.evidence import Reader, locate, observe
from memkit.record.locator import Locator
from memkit.record.sources import Folder, Texts

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def sha(text: str | bytes) -> str:
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()


@pytest.mark.parametrize(
    ("cite", "data", "hashed"),
    [
        ("a.txt", b"\xef\xbb\xbfone\r\ntwo", b"\xef\xbb\xbfone\r\ntwo"),
        ("a.txt", b"", b""),
        ("a.txt#lines=2-3", b"one\r\ntwo\rthree\nfour", b"two\nthree\n"),
        ("a.txt#lines=2", "\ufeff一\n二".encode("utf-16-le"), "二\n".encode()),
        ("a.txt#lines=1", b"one\x0cstill\x1done\xe2\x80\xa8\ntwo", b"one\x0cstill\x1done\xe2\x80\xa8\n"),
        ("a.txt#quote=two%0Athree", b"one\r\ntwo\r\nthree\r\n", b"two\nthree"),
        ("a.toml#key=s", b's = {b = 1, a = ["\xe8\xb6\x85", true, 1.5]}', '{"a":["超",true,1.5],"b":1}'.encode()),
        ("a.toml#key=d", b"d = 2026-01-02", b'{"$date":"2026-01-02"}'),
        ("a.toml#key=d", b'd = "2026-01-02"', b'"2026-01-02"'),
        ("a.json#key=d", b'{"d": null}', b"null"),
        ("a.json#key=d.1", b'{"d": [1, NaN]}', b"NaN"),
        ("a.ini#key=s.k", b"[s]\nk = 1\n", b'"1"'),
        (".env#key=K", b"export K='a b' # c\n", b'"a b"'),
    ],
)
def test_a_digest_is_of_exactly_the_bytes_documented(cite: str, data: bytes, hashed: bytes) -> None:
    assert locate(Locator.parse(cite), data).digest == sha(hashed)


@pytest.mark.skipif(not (shutil.which("sed") and shutil.which("sha256sum")), reason="this system has no sed or no sha256sum")
def test_sed_and_sha256sum_give_the_same_digests(tmp_path: Path) -> None:
    (tmp_path / "prod.cfg").write_bytes("a\n二\nc\nd\n".encode())
    reader = Reader(Folder(tmp_path))
    for cite, command in (("prod.cfg#lines=2-3", "sed -n 2,3p prod.cfg | sha256sum"), ("prod.cfg", "sha256sum prod.cfg")):
        output = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
        assert observe(cite, reader, NOW).digest == output.split()[0]


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=["Cs"])),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner),
        max_leaves=8,
    )
)
def test_a_json_value_is_hashed_as_json_itself_writes_it(tree: object) -> None:
    found = locate(Locator("a.json", "key", "k"), json.dumps({"k": tree}, indent=3).encode())
    assert found.digest == sha(json.dumps(tree, sort_keys=True, ensure_ascii=False, separators=(",", ":")))


def test_the_bytes_hashed_are_the_bytes_parsed() -> None:
    class Changing(Texts):
        def read(self, name: str) -> bytes:
            data = super().read(name)
            self[name] = "a = 2"
            return data

    evidence = observe("a.toml#key=a", Reader(Changing({"a.toml": "a = 1"})), NOW)
    assert (evidence.quote, evidence.digest, evidence.source_version) == ("1", sha("1"), sha("a = 1"))
