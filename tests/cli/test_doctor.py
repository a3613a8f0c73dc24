"""The doctor: what is said about every kind of machine."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from dala.backends.webgpu.doctor import Found
from dala.cli.doctor import Patient, examine, prescription
from dala.cli.facts import ADDS, EXTRAS, find_extras

HEALTHY = Patient(
    gpu=Found("linux", wgpu=True, adapters=(("Card", False),), display=True),
    auto=("webgpu", "Card is the best GPU here"),
    pillow="12.0",
    pictures=("jpg", "png"),
    plugins=("pillow-heif", "pillow-jxl-plugin", "rawpy"),
    av="18.0",
    codecs=("h264", "av1"),
    cameras=("/dev/video0",),
)
CASES: dict[str, tuple[Patient, list[str]]] = {
    "no pillow": (replace(HEALTHY, pillow="", pictures=()), ["pip install 'dala-gpu[image]'"]),
    "no av": (replace(HEALTHY, av="", codecs=()), ["pip install 'dala-gpu[video]'"]),
    "av broken": (
        replace(HEALTHY, broken="libavcodec.so is missing", codecs=()),
        ["PyAV 18.0 cannot be loaded", "libavcodec.so is missing", "--force-reinstall av"],
    ),
    "no h264": (replace(HEALTHY, codecs=("vp9",)), ["has no H.264 encoder"]),
    "no window": (
        replace(HEALTHY, window=("rendercanvas", "glfw")),
        ["rendercanvas and glfw missing", "pip install 'dala-gpu[window]'"],
    ),
    "no screen": (
        replace(HEALTHY, gpu=replace(HEALTHY.gpu, display=False)),
        ["no screen", "xvfb-run -a dala live"],
    ),
    "no camera": (replace(HEALTHY, cameras=()), ["none at /dev/video*"]),
    "no wgpu": (
        replace(HEALTHY, gpu=Found("linux", wgpu=False, display=True)),
        ["To use a GPU:", "pip install 'dala-gpu[webgpu]'"],
    ),
}


def test_a_healthy_machine_gets_no_advice() -> None:
    text = prescription(HEALTHY)
    assert "A GPU is ready." in text
    assert "pip" not in text
    assert "writes h264, av1" in text
    assert "/dev/video0" in text


@pytest.mark.parametrize("name", CASES)
def test_what_is_missing_is_named_with_its_cure(name: str) -> None:
    patient, words = CASES[name]
    text = prescription(patient)
    for part in words:
        assert part in text


def test_lines_fit_a_terminal_but_commands_stay_whole() -> None:
    patient = replace(HEALTHY, auto=("cpu", "because " * 30), av="")
    lines = prescription(patient, 60).splitlines()
    assert max(map(len, lines)) <= 60
    assert "    pip install 'dala-gpu[video]'" in lines


def test_this_machine_is_examined() -> None:
    patient = examine()
    assert patient.auto[0]
    assert "png" in patient.pictures
    assert "h264" in patient.codecs


def test_extras_are_those_of_the_package() -> None:
    tomllib = pytest.importorskip("tomllib")  # from Python 3.11 on
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    declared = tomllib.loads(text)["project"]["optional-dependencies"]
    for extra, packages in EXTRAS.items():
        assert tuple(re.split("[>=<]", p)[0] for p in declared[extra]) == packages
    others = {"all", "bench", "dev", "docs", "package"}
    assert set(declared) == {*EXTRAS, *others}
    assert set(ADDS) == {*EXTRAS, "all"}


def test_extras_know_their_packages() -> None:
    extras = {e.name: e for e in find_extras()}
    assert extras["cli"].missing == ()
    assert extras["video"].command == "pip install 'dala-gpu[video]'"


def test_it_tells_which_kinds_of_photos_need_a_package() -> None:
    said = prescription(replace(HEALTHY, plugins=("pillow-heif",)), 0)
    assert (
        "HEIC; JPEG XL needs pip install pillow-jxl-plugin; camera raw needs pip install rawpy"
        in said
    )
