"""Every command through typer's own runner: what it answers, and with which exit code."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from PIL import Image

import dala
from dala import compute
from dala.cli import main


class Said(NamedTuple):
    """What a command line did."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Said]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """``run("filter", "in.jpg", …)`` in an empty folder; nothing the command chose stays chosen."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("DALA_DEVICE", raising=False)

    def call(*arguments: object) -> Said:
        with dala.use("cpu"):
            code = main([str(a) for a in arguments])
        out, err = capfd.readouterr()
        return Said(code, out, err)

    return call


def picture(name: str, width: int = 48, height: int = 32) -> np.ndarray:
    pixels = np.random.default_rng(len(name)).integers(0, 256, (height, width, 3), np.uint8)
    Image.fromarray(pixels).save(name)
    return pixels


def read(name: str | Path) -> np.ndarray:
    with Image.open(name) as opened:
        return np.asarray(opened)


# -- what there is -----------------------------------------------------------------------------------


HELP = """\
Usage: dala [OPTIONS] COMMAND
Pictures, videos and cameras through fused filters, on the GPU or the CPU.

Commands
  filter   Filter pictures and videos; a video keeps its sound and timing.
  concat   Videos one after the other, as one file.
  render   A scene file as a video, or as a picture at a time.
  play     A scene file in a window.
  live     A camera through filters into a window; keys turn filters on.
  detect   What a model sees: things, faces, people, classes.
  models   Models by name: their licences, and whether their weights are here.
  looks    The looks that come with dala, or one with its filters.
  kernels  All kernels, or one with its parameters, ranges and defaults.
  bench    Speed of this machine, beside OpenCV; or of the filters you give.
  demo     A clip before and after: videos, a contact sheet, plan and speed.
  tour     A guided five minutes: what dala is, with pictures as it goes.
  new      Files to begin from: a kernel, a scene, a project.
  info     Version, devices and installed extras.
  doctor   What works here, what is missing, and the command that helps.
  fleet    Long videos, scenes and many files, by all cores or a Ray cluster.
  scene    Files of scenes: check them; their schema.

Options
"""


def test_help_lists_every_command(run: Run) -> None:
    said = run("--help")
    assert said.code == 0
    assert said.out.startswith(HELP)
    assert "Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted." in said.out
    assert run().code == 2  # nothing asked for: the help all the same
    assert run("-h").out == said.out


@pytest.mark.parametrize(
    "command",
    [
        "info",
        "doctor",
        "kernels",
        "looks",
        "filter",
        "concat",
        "bench",
        "live",
        "demo",
        "render",
        "play",
        "tour",
        "new",
    ],
)
def test_every_command_has_help(command: str, run: Run) -> None:
    said = run(command, "--help")
    assert said.code == 0
    assert said.out.startswith(f"Usage: dala {command}")
    assert said.err == ""


def test_flags_in_the_help_are_what_the_kernels_declare(run: Run) -> None:
    said = run("filter", "--help")
    line = next(li for li in said.out.splitlines() if li.startswith("  --blur "))
    assert line.endswith("radius=3 sigma=…")
    assert compute.find_kernel("blur").doc.splitlines()[0] in line
    assert "  --white-balance " in said.out
    assert "rgba-to-nv12" not in said.out


def test_version_and_info(run: Run) -> None:
    assert run("--version").out == f"dala {dala.__version__}\n"
    said = run("info", "--json")
    assert said.data["version"] == dala.__version__
    assert "cpu" in said.data["devices"]
    assert said.data["extras"]["cli"]["missing"] == []
    text = run("info").out
    assert text.startswith(f"dala {dala.__version__}\n")
    assert "auto is " in text


def test_kernels(run: Run) -> None:
    everything = run("kernels", "--json").data
    assert [k["name"] for k in everything] == compute.kernels()
    blur = run("kernels", "blur", "--json").data
    radius = blur["params"][0]
    assert (radius["name"], radius["default"], radius["min"], radius["max"]) == (
        "radius",
        3,
        0,
        100,
    )
    text = run("kernels", "blur").out
    assert "radius" in text
    assert "A whole number in 0..100." in text
    assert run("kernels", "white-balance").code == 0
    wrong = run("kernels", "blurr")
    assert (wrong.code, wrong.out) == (1, "")
    assert wrong.err == "dala kernels: no kernel is named 'blurr'; did you mean 'blur'?\n"


def test_unknown_commands_name_the_nearest(run: Run) -> None:
    assert run("kernel") == (2, "", "dala: no command 'kernel'; did you mean 'kernels'?\n")
    said = run("edge-detect", "in.jpg", "out.jpg")
    assert said.code == 2
    assert said.err == "dala: edge-detect is a filter: dala filter IN... OUT --edge-detect\n"


def test_looks(run: Run) -> None:
    assert "noir" in run("looks").out
    shown = run("looks", "noir", "--json").data
    assert shown["filters"][0]["name"] == "grayscale"
    Path("mine.look").write_text("# Mine.\nblur radius=2\n")
    assert "blur  radius=2" in run("looks", "mine.look").out
    assert run("looks", "nor").err == "dala looks: no look is named 'nor'; did you mean 'noir'?\n"


# -- filter ------------------------------------------------------------------------------------------


def test_one_picture(run: Run) -> None:
    pixels = picture("in.png")
    said = run("filter", "in.png", "out.png", "--invert")
    assert said.code == 0
    assert said.out.startswith("in.png → out.png  48×32, ")
    assert said.err == ""
    assert (read("out.png") == 255 - pixels).all()


@pytest.mark.parametrize("device", ["cpu", "webgpu"])
def test_the_chain_is_what_the_library_makes(run: Run, device: str) -> None:
    picture("in.png")
    filters = ["--sharpen", "0.7", "--blur", "radius=2", "--look", "noir"]
    run("filter", "in.png", "out.png", *filters, "--device", device)
    from dala import media

    chain = [("sharpen", {"amount": 0.7}), ("blur", {"radius": 2}), "noir"]
    expected = media.apply_filters(read("in.png"), chain, device=device)
    assert (read("out.png") == expected).all()


def test_globs_folders_and_patterns(run: Run) -> None:
    for name in ("a.png", "b.png", "c.jpg"):
        picture(name)
    assert run("filter", "*.png", "out/", "--blur").code == 0
    assert sorted(p.name for p in Path("out").iterdir()) == ["a.png", "b.png"]
    said = run("filter", "a.png", "c.jpg", "new/{n}_{name}.webp", "--blur", "--json")
    assert [f["output"] for f in said.data["files"]] == [
        str(Path("new/1_a.webp")),
        str(Path("new/2_c.webp")),
    ]
    assert said.data["filters"] == ["blur"]
    assert Path("new/2_c.webp").exists()


def test_quiet_says_nothing(run: Run) -> None:
    picture("in.png")
    assert run("filter", "-q", "in.png", "out.png", "--blur") == (0, "", "")


def test_what_exists_is_kept_unless_told(run: Run) -> None:
    picture("in.png")
    Path("out.png").write_bytes(b"precious")
    said = run("filter", "in.png", "out.png", "--blur")
    assert (said.code, said.err) == (1, "dala filter: out.png exists; --overwrite replaces it\n")
    assert Path("out.png").read_bytes() == b"precious"
    assert run("filter", "in.png", "out.png", "--blur", "--overwrite").code == 0
    assert read("out.png").shape == (32, 48, 3)


def test_one_bad_file_does_not_stop_the_others(run: Run) -> None:
    picture("a.png")
    Path("b.png").write_bytes(b"no picture")
    picture("c.png")
    said = run("filter", "a.png", "b.png", "no.png", "c.png", "out/", "--blur")
    assert said.code == 1
    assert said.err.splitlines() == [
        "dala filter: b.png: not a picture that can be read",
        "dala filter: no file 'no.png'",
        "dala filter: 2 of 4 files failed",
    ]
    assert sorted(p.name for p in Path("out").iterdir()) == ["a.png", "c.png"]
    data = run("filter", "b.png", "x/", "--blur", "--json").data
    assert data["files"][0]["error"] == "b.png: not a picture that can be read"


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["in.png", "out.png", "--blurr"], 2, "no option '--blurr'; did you mean '--blur'"),
        (["in.png", "out.png", "--blur", "radius=500"], 2, "--blur: radius must be a whole number"),
        (["in.png", "out.png", "--device", "gpu"], 1, "no device 'gpu'; expected one of"),
        (["in.png", "out.png", "--quality", "200"], 2, "--quality must be at most 100|not in the range"),
        (["in.png"], 2, r"in.png shall become what\? dala filter IN... OUT"),
        ([], 2, "missing argument"),
        (["in.png", "out.png", "blur"], 2, "'blur' is a filter, and filters are flags: --blur"),
        (["no.png", "out.png"], 1, "no file 'no.png'"),
        (["in.png", "in.png"], 2, "in.png would be written over, and it is an input"),
        (["in.png", "no/such/out.png"], 1, "no folder 'no/such' for out.png"),
        (["in.png", "out.xyz"], 1, "no picture format is called '.xyz'"),
        (["in.png", "out.png", "--strength", "2"], 2, "--strength: .* number in 0..1"),
        (["in.png", "out.png", "--crop", "x=100"], 1, "in.png: crop: .* does not fit into 48 × 32"),
    ],
)  # fmt: skip
def test_mistakes_are_one_line(arguments: list[str], code: int, words: str, run: Run) -> None:
    picture("in.png")
    before = sorted(os.listdir())
    said = run("filter", *arguments)
    assert said.code == code, said
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert re.search(words, said.err), said.err
    assert sorted(os.listdir()) == before  # nothing half written


def test_what_is_missing_is_said_with_what_it_is(run: Run) -> None:
    said = run("new")
    assert said.code == 2
    assert said.err == "dala new: missing argument 'KIND': kernel, scene or project\n"


def test_a_full_disk_leaves_nothing(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    picture("in.png")
    real = Image.Image.save

    def fail(self: Any, path: Any, *args: Any, **kwargs: Any) -> None:
        real(self, path, *args, **kwargs)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Image.Image, "save", fail)
    said = run("filter", "in.png", "out.png", "--blur")
    assert (said.code, said.err) == (1, "dala filter: out.png: No space left on device\n")
    assert os.listdir() == ["in.png"]


# -- bench, completion -----------------------------------------------------------------------------------


def test_bench(run: Run) -> None:
    said = run("bench", "--size", "160x90", "--seconds", "0.01", "--json")
    assert said.code == 0
    names = [row["name"] for row in said.data["rows"]]
    assert names[-1] == "chain of five"
    assert all(row["ms"] > 0 for row in said.data["rows"])
    if said.data["opencv"]:
        assert all(row["opencv_agrees"] for row in said.data["rows"]), said.data
    text = run("bench", "--size", "160x90", "--seconds", "0.01").out
    assert text.startswith("160×90 RGBA on ")
    mine = run("bench", "--size", "64x64", "--seconds", "0.01", "--look", "noir", "--json").data
    assert [row["name"] for row in mine["rows"]] == ["fused", "stage by stage"]
    words = ("bench", "--size", "64x64", "--seconds", "0.01", "--look", "noir")
    assert "→ 1 pass on cpu" in run(*words, "--device", "cpu").out
    assert run("bench", "--size", "big").code == 2


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("dala ", "filter"),
        ("dala kernels gr", "grayscale"),
        ("dala filter a.jpg --bl", "--blur"),
        ("dala filter a.jpg --blur ", "radius=3"),
        ("dala filter a.jpg --blur 3 --look ", "noir"),
        ("dala filter a.jpg --device ", "webgpu"),
    ],
)
def test_the_tab_key(
    line: str,
    expected: str,
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("_DALA_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
    with pytest.raises(SystemExit):
        run()
    assert expected in capfd.readouterr().out.split()
