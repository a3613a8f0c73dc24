"""For the curious: the tour, files to begin from, numbers to share."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from processes import environment

from dala.cli import main
from dala.cli.new import FILES
from dala.cli.tour import STOPS

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DALA_DEVICE", "cpu")

    def call(*arguments: str) -> tuple[int, str, str]:
        code = main(arguments)
        return code, *capfd.readouterr()

    return call


def python(*arguments: str, cwd: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", *arguments], cwd=cwd, env=environment(DALA_DEVICE="cpu"),
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.usefixtures("registry")
def test_the_tour_writes_its_pictures(run: Run, tmp_path: Path) -> None:
    code, out, err = run("tour", "--out", "pictures", "--device", "cpu")  # no terminal: no pauses
    assert (code, err) == (0, "")
    assert f"{len(STOPS)} of {len(STOPS)}" in out and "→ 1 pass" in out and "def night" in out
    names = sorted(p.name for p in (tmp_path / "pictures").iterdir())
    assert [n[0] for n in names] == ["1", "2", "3", "4", "5"]
    assert [n for n in names if n not in out.replace("\n", "")] == ["5_film.png"][:0]


@pytest.mark.parametrize("kind", ["kernel", "scene"])
def test_what_is_new_runs(kind: str, run: Run, tmp_path: Path) -> None:
    pytest.importorskip("uharfbuzz")
    code, out, _ = run("new", kind, "mine")
    assert code == 0 and out.startswith("mine.py\n")
    python("mine.py", cwd=tmp_path)
    assert (tmp_path / "mine.png").read_bytes().startswith(b"\x89PNG")


def test_a_new_project_passes_its_tests(run: Run, tmp_path: Path) -> None:
    assert run("new", "project", "mine")[0] == 0
    assert {str(p.relative_to(tmp_path)) for p in (tmp_path / "mine").iterdir()} == {
        name.replace("NAME", "mine") for name in FILES["project"]
    }
    said = python(
        "-m", "pytest", "-q", "-p", "no:randomly", "-p", "no:cacheprovider", cwd=tmp_path / "mine"
    )
    assert "2 passed" in said


def test_nothing_is_written_over(run: Run, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("precious")
    code, _, err = run("new", "kernel", "mine")
    assert code == 1 and "mine.py exists" in err
    assert (tmp_path / "mine.py").read_text() == "precious"


@pytest.mark.parametrize(
    ("kind", "name", "words"),
    [("thing", "mine", "kernel, scene or project"), ("kernel", "my-kernel", "no name"),
     ("kernel", "blur", "kernel of dala"), ("project", "class", "no name"), ("kernel", "../up", "no name")],
)  # fmt: skip
def test_wrong_names_are_refused(
    kind: str, name: str, words: str, run: Run, tmp_path: Path
) -> None:
    code, _, err = run("new", kind, name)
    assert code == 2 and words in " ".join(err.split())
    assert list(tmp_path.iterdir()) == []


def test_numbers_to_share_are_a_table(run: Run) -> None:
    code, out, err = run(
        "bench", "--share", "--size", "64x48", "--seconds", "0.01", "--device", "cpu"
    )
    assert (code, err) == (0, "")
    head, empty, titles, line, *rows = out.rstrip().splitlines()
    assert head.startswith("dala ") and "64×48" in head and empty == ""
    assert titles.count("|") == line.count("|") == rows[0].count("|") and len(rows) > 4
