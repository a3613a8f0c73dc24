"""Looks: the shipped ones are sound, files of users are read safely, and what is saved comes back."""

from __future__ import annotations

import contextlib
import functools
import itertools
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from searching import examples
from skimage import data

from dala import compute, media
from dala.errors import LookError
from dala.media import Chain, looks
from dala.media.lookfile import FOLDER

PHOTOS = [data.astronaut(), data.coffee(), data.chelsea()]


@pytest.fixture
def file(tmp_path: Path) -> Any:
    def write(text: str | bytes, name: str = "mine.look") -> Path:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


# -- the shipped ones --------------------------------------------------------------------------


def test_there_are_enough() -> None:
    assert {
        "portrait",
        "stream",
        "noir",
        "vintage",
        "warm",
        "cool",
        "cinematic",
        "vivid",
        "soft",
        "dramatic",
    } <= {*looks.names()}
    assert not {*looks.names()} & {*compute.kernels()}  # a name in a list means one thing


@pytest.mark.parametrize("name", looks.names())
def test_a_shipped_look(name: str) -> None:
    assert re.fullmatch(r"[A-Z].*\.", looks.about(name))
    chain = looks.load(name)
    for photo in PHOTOS:
        result = media.apply_filters(photo, chain)
        assert result.shape == photo.shape
        assert np.abs(result.astype(int) - photo).mean() > 1.5  # one sees it
        for end in (0, 255):  # and no detail is lost at either end
            before, after = (photo == end).any(axis=2).mean(), (result == end).any(axis=2).mean()
            assert after < before + 0.05
        greys = np.unique(media.grayscale(result)[..., 0]).size
        assert greys > 0.5 * np.unique(media.grayscale(photo)[..., 0]).size  # nothing posterised


@functools.cache
def looked_at(name: str) -> list[np.ndarray]:
    return [media.apply_filters(photo, name).astype(int) for photo in PHOTOS]


@pytest.mark.parametrize(("one", "other"), [*itertools.combinations(looks.names(), 2)])
def test_no_two_look_alike(one: str, other: str) -> None:
    """On every photo, a portrait, a table and an animal, one sees which of two looks it was."""
    for first, second in zip(looked_at(one), looked_at(other), strict=True):
        assert np.abs(first - second).mean() > 6.0


@pytest.mark.parametrize("name", looks.names())
def test_greys_stay_in_order(name: str) -> None:
    """A ramp stays a ramp: no look folds its tones over."""
    ramp = np.repeat(np.arange(256, dtype=np.uint8)[None, :, None], 3, axis=2).repeat(8, axis=0)
    steps = [
        s for s in looks.load(name).steps if s.name not in ("grain", "vignette", "glow", "sharpen")
    ]
    tones = media.grayscale(media.apply_filters(ramp, Chain(steps)))[4, :, 0].astype(int)
    assert (np.diff(tones) >= -1).all()


# -- files -------------------------------------------------------------------------------------


def test_a_file(file: Any) -> None:
    path = file(
        "\ufeff# Mine.\n#   It has two lines.\n\n  blur   radius=3 sigma=1.5  # soft\n"
        "chroma_key color=0,177,64 threshold=.2\r\nflip horizontal=no vertical=yes\n"
        "resize width=8 interpolation='area'\n# the end"
    )
    chain = looks.load(path)
    assert looks.about(path) == "Mine. It has two lines."
    assert [(s.name, dict(s.params)) for s in chain.steps] == [
        ("blur", {"radius": 3, "sigma": 1.5}),
        ("chroma_key", {"color": (0.0, 177.0, 64.0), "threshold": 0.2}),
        ("flip", {"horizontal": False, "vertical": True}),
        ("resize", {"width": 8, "interpolation": "area"}),
    ]
    for way in (path, str(path), [str(path)], [path, "invert"]):
        assert Chain.of(way).steps[0].values["radius"] == 3


def test_a_file_is_read_again_when_it_changes(file: Any, registry: None) -> None:
    path = file("invert")
    assert Chain.of(path) is Chain.of(path)  # one may name it for each frame
    file("invert\nsepia")
    assert len(Chain.of(path)) == 2
    path.unlink()
    with pytest.raises(LookError, match="cannot read the look"):
        Chain.of(path)
    for value in (0.25, 0.5):  # a kernel's name may mean another kernel by now
        text = f"def k(src):\n    p = src[0, 0]\n    return (p.rgb * {value}).with_alpha(p.a)"
        compute.register("my_own", text)
        result = media.apply_filters(np.full((1, 1), 200, np.uint8), file("my_own", "own.look"))
        assert result[0, 0] == 200 * value


def test_paths_are_relative_to_the_file(file: Any, tmp_path: Path) -> None:
    cube = "LUT_3D_SIZE 2\n" + "\n".join(
        f"{1 - r} {1 - g} {1 - b}" for b in (0, 1) for g in (0, 1) for r in (0, 1)
    )
    file(cube, "my grade.cube")
    photo = PHOTOS[0][:20, :20]
    result = media.apply_filters(photo, file('lut lut="my grade.cube"'))
    assert np.abs(result.astype(int) - (255 - photo)).max() <= 1


def test_a_folder_that_is_no_name(
    file: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file("invert", "noir.look")  # a shipped name stays the shipped look, a path is a path
    monkeypatch.chdir(tmp_path)
    assert len(Chain.of("noir")) > 1
    assert len(Chain.of("noir.look")) == 1 and len(Chain.of("./noir.look")) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "invert\nblurr radius=3",
            r"mine.look, line 2: no filter or look is named 'blurr'; did you mean 'blur'",
        ),
        ("blur radius=abc", "line 1: blur: radius must be a whole number in 0..100, got 'abc'"),
        ("blur radius=3.5", "line 1: blur: radius must be a whole number in 0..100, got 3.5"),
        ("blur radius=300", "line 1: blur: radius must be a whole number in 0..100, got 300"),
        ("blur 3", "line 1: blur: expected parameter=value, got '3'"),
        ("blur =3", "line 1: blur: expected parameter=value, got '=3'"),
        ("blur radius=1 radius=2", "line 1: blur: radius is given twice"),
        (
            "blur radios=1",
            "line 1: blur: unknown parameter 'radios'; it takes: radius, sigma; did you mean 'radius'",
        ),
        (
            "\n\nflip horizontal=maybe",
            "line 3: flip: horizontal must be true or false, got 'maybe'",
        ),
        ("resize interpolation=cubic", "line 1: resize: interpolation must be one of"),
        ("chroma_key color=1,2", "line 1: chroma_key: color must be 3 numbers, .*got"),
        ("brightness value=nan", "line 1: brightness: value must be a number in -1..1, got nan"),
        ("matmul", "line 1: matmul is no filter"),
        ("noir", "line 1: no filter or look is named 'noir'"),
        ("blur radius='3", "line 1: no closing quotation"),
        ("lut lut=nowhere.cube", "line 1: lut: lut: cannot read .*nowhere.cube"),
        ("blend top=nowhere.png", "line 1: blend: top: cannot read the picture .*nowhere.png"),
        (b"\xff\xfe\x00", "mine.look: a look is text in UTF-8, and this is not"),
        (b"#" * (2 << 20), "mine.look: a look is a few lines of text, and this is over 1 MiB"),
        ("__import__('os').system('true')", "no filter or look is named"),
    ],
)
def test_a_wrong_file(file: Any, text: str | bytes, message: str) -> None:
    with pytest.raises(LookError, match=message):
        Chain.of(file(text))


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(LookError, match=r"cannot read the look .*gone.look': No such file"):
        looks.load(tmp_path / "gone.look")
    with pytest.raises(LookError, match=r"cannot read the look .*: Is a directory"):
        looks.load(tmp_path)
    with pytest.raises(LookError, match="no look is named 'noire'; did you mean 'noir'"):
        looks.load("noire")
    with pytest.raises(LookError, match="no look is named 'zzzz'; there are cinematic"):
        looks.load("zzzz")


@settings(max_examples=examples(150))
@given(st.text(max_size=200) | st.binary(max_size=100).map(lambda b: b.decode("latin-1")))
def test_any_text_is_a_look_or_an_error(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.look"
    path.write_text(text, encoding="utf-8", errors="replace")
    with contextlib.suppress(LookError):  # nothing else may come out of it
        Chain.of(path)


# -- saving ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", looks.names())
def test_what_is_saved_comes_back(name: str, tmp_path: Path) -> None:
    path = looks.save(tmp_path / "copy.look", name, looks.about(name))
    assert looks.about(path) == looks.about(name)
    assert repr(looks.load(path)) == repr(looks.load(name))


def test_saving_every_kind_of_value(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a b.cube").write_text("LUT_1D_SIZE 2\n0 0 0\n1 1 1\n")
    chain = Chain.of(
        [
            ("flip", {"horizontal": False, "vertical": True}),
            ("blur", {"radius": np.int64(3), "sigma": 0.1 + 0.2}),
            ("warp_affine", {"matrix": np.array([[1, 0, 5.5], [0, 1, 0]])}),
            ("lut", {"lut": "sub/a b.cube"}),
            ("resize", {"interpolation": "area", "width": 8, "height": None}),
            ("chroma_key", {"color": [1, 2, 3]}),
        ]
    )
    for target in ("here.look", "sub/there.look"):
        again = looks.load(looks.save(target, chain, "Two\nlines."))
        assert [s.values for s in again.steps] == [s.values for s in chain.steps]
    assert "lut lut='a b.cube'" in (tmp_path / "sub" / "there.look").read_text()
    assert looks.about("here.look") == "Two lines."


def test_what_cannot_be_saved(tmp_path: Path) -> None:
    target = tmp_path / "x.look"
    with pytest.raises(
        LookError, match="lut: a look's file holds numbers, words and paths, not ndarray"
    ):
        looks.save(target, [("lut", {"lut": np.zeros((2, 3))})])
    with pytest.raises(LookError, match="no strength"):
        looks.save(target, Chain.of("noir").at(0.5))
    with pytest.raises(LookError, match=r"a look's file ends in .look, got 'x.txt'"):
        looks.save(tmp_path / "x.txt", "noir")
    with pytest.raises(LookError, match="cannot write the look"):
        looks.save(tmp_path / "nowhere" / "x.look", "noir")
    assert list(tmp_path.iterdir()) == []


def test_the_files_are_part_of_the_package() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == {*looks.names()}
