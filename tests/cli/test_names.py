"""Which files are read and where results go."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from dala.cli.mistakes import Failed, UsageMistake
from dala.cli.names import check_source, expand, plan_jobs, read_size


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("a.jpg", "b.jpg", "c.png", "deep/er/d.jpg", "odd[1].jpg"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(b"x")
    return tmp_path


def targets(inputs: list[str], output: str) -> list[str]:
    return [job.target.as_posix() for job in plan_jobs(inputs, output)]


def test_globs_and_names(folder: Path) -> None:
    assert [p.as_posix() for p in expand(["*.jpg"])] == ["a.jpg", "b.jpg", "odd[1].jpg"]
    assert [p.as_posix() for p in expand(["**/*.jpg", "c.png"])][-2:] == ["odd[1].jpg", "c.png"]
    assert "deep/er/d.jpg" in [p.as_posix() for p in expand(["**/*.jpg"])]
    assert [p.as_posix() for p in expand(["odd[1].jpg"])] == ["odd[1].jpg"]  # a name, not a glob
    assert [p.as_posix() for p in expand(["b.jpg", "a.jpg", "*.jpg"])][:2] == ["b.jpg", "a.jpg"]


def test_outputs(folder: Path) -> None:
    assert targets(["a.jpg"], "new.png") == ["new.png"]
    assert targets(["a.jpg", "c.png"], "out/") == ["out/a.jpg", "out/c.png"]
    assert targets(["a.jpg", "b.jpg"], "deep") == ["deep/a.jpg", "deep/b.jpg"]  # it exists
    assert targets(["a.jpg", "c.png"], "out/{name}_soft{ext}") == [
        "out/a_soft.jpg",
        "out/c_soft.png",
    ]
    assert targets(["b.jpg", "a.jpg"], "{n:03}.png") == ["001.png", "002.png"]
    assert targets(["deep/er/d.jpg"], "{folder}/{name}.png") == ["deep/er/d.png"]


@pytest.mark.parametrize(
    ("inputs", "output", "error", "words"),
    [
        (["*.gif"], "y.jpg", Failed, r"no file matches '\*.gif'"),
        (["a.jpg", "b.jpg"], "y.jpg", UsageMistake, "2 files cannot all become 'y.jpg'; give a folder"),
        (["a.jpg"], "a.jpg", UsageMistake, "a.jpg would be written over, and it is an input"),
        (["a.jpg"], "deep/../a.jpg", UsageMistake, "would be written over"),
        (["a.jpg", "b.jpg"], "{name}.jpg", UsageMistake, "would be written over"),
        (["a.jpg", "b.jpg"], "out/x{ext}", UsageMistake, "a.jpg and b.jpg would both become out/x.jpg"),
        (["a.jpg"], "{nam}.jpg", UsageMistake, r"no field {nam}; did you mean 'name'\?; there are"),
        (["a.jpg"], "{name", UsageMistake, "is no pattern of names"),
        (["a.jpg"], "{name!x}", UsageMistake, "is no pattern of names"),
        (["a.jpg"], "{}.jpg", UsageMistake, "no field {}"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant(
    folder: Path, inputs: list[str], output: str, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        plan_jobs(inputs, output)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("quite_another.jpg", "no file 'quite_another.jpg'$"),
        ("a.jp", r"no file 'a.jp'; did you mean 'a.jpg'\?"),
        ("deep/er/e.jpg", r"did you mean '.*d\.jpg'\?"),
        ("no/such/a.jpg", "a.jpg'$"),
    ],
)
def test_what_is_no_file(folder: Path, name: str, words: str) -> None:
    with pytest.raises(Failed, match=words):
        check_source(Path(name))
    check_source(Path("a.jpg"))


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_an_input_is_known_behind_links(folder: Path) -> None:
    os.symlink("a.jpg", "soft.jpg")
    os.link("a.jpg", "hard.jpg")
    for name in ("soft.jpg", "hard.jpg"):
        with pytest.raises(UsageMistake, match="would be written over"):
            plan_jobs(["a.jpg"], name)


def test_sizes() -> None:
    assert read_size("1920x1080") == read_size("1920×1080") == read_size("1920X1080")
    for wrong in ("1920", "x", "0x5", "-1x5", "1e3x5", "70000x2", "1x2x3"):
        with pytest.raises(UsageMistake, match=r"^a size is written as 1920x1080, got"):
            read_size(wrong)
