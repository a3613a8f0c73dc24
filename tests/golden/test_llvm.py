"""The LLVM text of kernels and chains, for machines of every kind. ``DALA_UPDATE_GOLDEN=1 pytest
tests/golden`` rewrites what is kept of it: of each text its lines and its hash, and a few as they are.

    DALA_LLVM_TEXTS=FOLDER pytest tests/golden/test_llvm.py

writes all texts below a folder: those of two trees are compared by ``diff -r``.

Nothing is compiled, so these run everywhere.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from llvm_cases import all_cases
from llvm_texts import HOSTS, Case, write_case

from golden import UPDATE, assert_golden

FOLDER = Path(__file__).parent / "llvm"
TEXTS = os.environ.get("DALA_LLVM_TEXTS")
WHOLE = ["brightness, u8", "grayscale, u8", "blur 1, u8", "resize bilinear to half, u8", "add, f32"]
SHOWN = 12  # names of texts that differ


@functools.cache
def cases() -> dict[str, Case]:
    return all_cases()


def file_name(case: str) -> str:
    return re.sub(r"\W+", "_", case) + ".ll"


def summarise(texts: Mapping[str, str]) -> str:
    """A line for each text: its lines, its hash, its name."""
    hashes = {name: hashlib.sha256(text.encode()).hexdigest()[:16] for name, text in texts.items()}
    return "".join(f"{texts[n].count(chr(10)):5} {hashes[n]} {n}\n" for n in texts)


def differing(kept: str, found: str) -> list[str]:
    """The names of texts that are not in both summaries."""
    lines = {*kept.splitlines()} ^ {*found.splitlines()}
    return sorted({line.split(maxsplit=2)[2] for line in lines})


@pytest.mark.parametrize("host", HOSTS)
def test_the_text_for_a_machine(host: str) -> None:
    texts = {name: write_case(case, HOSTS[host]) for name, case in cases().items()}
    if TEXTS:
        folder = Path(TEXTS) / host
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (folder / file_name(name)).write_text(text, encoding="utf-8", newline="\n")
    path, found = FOLDER / f"{host}.txt", summarise(texts)
    if not UPDATE:
        others = differing(path.read_text(encoding="utf-8"), found)
        shown = "; ".join(others[:SHOWN]) + " …" * (len(others) > SHOWN)
        assert not others, (
            f"{len(others)} texts are not those of {path.name}: {shown}\n"
            "To see them: DALA_LLVM_TEXTS=FOLDER pytest tests/golden/test_llvm.py, here and in a tree "
            "whose text is right, and diff -r both folders. If they are meant: DALA_UPDATE_GOLDEN=1."
        )
    assert_golden(found, path)


@pytest.mark.parametrize("name", WHOLE)
def test_a_text_as_it_is(name: str) -> None:
    assert_golden(write_case(cases()[name], HOSTS["avx2"]), FOLDER / f"avx2_{file_name(name)}")


def test_every_file_belongs_to_a_machine_or_a_case() -> None:
    summaries = {f"{host}.txt" for host in HOSTS}
    assert {p.name for p in FOLDER.iterdir()} == summaries | {f"avx2_{file_name(n)}" for n in WHOLE}


def test_every_case_has_a_file_name_of_its_own() -> None:
    assert len({file_name(name) for name in cases()}) == len(cases())


def test_what_differs_is_named() -> None:
    texts = {"one": "a\n", "two": "b\nc\n", "three": "d\n"}
    kept, found = summarise(texts), summarise({**texts, "two": "b\n", "four": "e\n"})
    assert differing(kept, found) == ["four", "two"]
    assert differing(kept, kept) == []
