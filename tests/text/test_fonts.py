"""Fonts: from files, bytes, families; weights, features, colours; the default that is always there."""

from __future__ import annotations

import logging
import shutil
from pathlib import Path

import numpy as np
import pytest
from made_fonts import color_font, plain_font, variable_font

from dala import text
from dala.errors import ArgumentError, FontError, FontNotFoundError, ParameterError
from dala.text import fallback, system
from dala.text.font import Font


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine whose only fonts lie in a folder of the test."""
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "boxes.ttf").write_bytes(plain_font())
    (tmp_path / "variable.TTF").write_bytes(variable_font())
    (tmp_path / "broken.otf").write_bytes(b"OTTO\xff\xff rubbish")
    (tmp_path / "empty.ttf").write_bytes(b"")
    (tmp_path / "readme.txt").write_text("no font")
    found = [face for file in system.font_files(tmp_path) for face in system.faces_of(file)]
    monkeypatch.setattr(system, "_index", lambda: tuple(found))
    return tmp_path


def test_the_default_is_always_there() -> None:
    font = Font.default()
    assert font is Font.default() and not font.has("漢")
    assert font.has("Hello, Grüße, œuvre, žluťoučký, Ελληνικά, кириллица, Tiếng Việt, € № ½ … “—”")
    assert 0.5 < font.ascent < 1.5 and 0 < font.descent < 1
    assert repr(Font.default(700, True)) == "Font('Noto Sans', weight=700, italic=True)"


def test_the_default_has_a_bold_of_its_own_whatever_this_machine_has(machine: Path) -> None:
    regular, bold = Font.default(), Font.default(700)
    assert regular.styled(700, False) is bold and bold.styled(400, False) is regular
    assert (
        not bold.harfbuzz.synthetic_bold[0] and regular.styled(400, True).harfbuzz.synthetic_slant
    )


def test_files_bytes_and_families(machine: Path) -> None:
    path = machine / "deep" / "boxes.ttf"
    for source in (path, str(path), plain_font(), "Dala Boxes", "dala boxes"):
        assert Font.load(source).family == "Dala Boxes"
    assert Font.load("Dala Boxes") is Font.load(path)  # read once
    families = {face.family: face.variable for face in text.fonts()}
    assert families == {"Dala Boxes": False, "Dala Variable": True}
    assert Font.load(text.fonts()[0]).family == text.fonts()[0].family


def test_a_changed_file_is_read_again(machine: Path) -> None:
    path = machine / "deep" / "boxes.ttf"
    before = Font.load(path)
    path.write_bytes(variable_font())
    import os

    os.utime(path, ns=(1, 1))
    assert Font.load(path).family == "Dala Variable" and before.family == "Dala Boxes"


def test_what_is_no_font_is_said(machine: Path) -> None:
    with pytest.raises(
        FontNotFoundError, match=r"no font of this machine is called 'Dala Box'; did you"
    ):
        Font.load("Dala Box")
    with pytest.raises(FontNotFoundError, match="there is no such file"):
        Font.load(machine / "missing.ttf")
    with pytest.raises(FontError, match="expected a font"):
        Font.load(machine / "readme.txt")
    with pytest.raises(FontError, match="WOFF"):
        Font.load(b"wOF2" + bytes(100))
    with pytest.raises(FontError, match="no glyphs"):
        Font.load(machine / "broken.otf")
    with pytest.raises(FontError):
        Font.load(b"")
    with pytest.raises(ArgumentError, match="got int"):
        Font.load(7)  # type: ignore[arg-type]
    for weight in (0, 1001, float("nan"), True, "bold"):
        with pytest.raises(ParameterError, match="weight is 1 to 1000"):
            Font.load("Dala Boxes", weight=weight)  # type: ignore[arg-type]


def test_a_variable_font_has_every_weight() -> None:
    widths = {
        w: text.layout("A", Font.load(variable_font(), weight=w)).width for w in (400, 650, 900)
    }
    assert widths[400] == pytest.approx(600 * 32 / 1000)
    assert widths[650] == pytest.approx(700 * 32 / 1000)
    assert widths[900] == pytest.approx(800 * 32 / 1000)
    (tile,) = text.rasterise(text.layout("A", Font.load(variable_font(), weight=900), 100))
    assert tile.tile.pixels.shape == (70, 80)


def test_what_a_font_lacks_is_made(machine: Path) -> None:
    plain = Font.load(plain_font())
    bold = text.rasterise(text.layout("A", plain.styled(700, False), 100))[0].tile.pixels
    slanted = text.rasterise(text.layout("A", plain.styled(400, True), 100))[0].tile.pixels
    regular = text.rasterise(text.layout("A", plain, 100))[0].tile.pixels
    assert regular.shape == (70, 40) and (regular == 255).all()
    assert bold.shape[1] > 40 and slanted.shape[1] > 45
    assert plain.styled(400, False) is plain


def test_the_nearest_face_of_a_family() -> None:
    faces = [
        system.FontFace("X", weight, italic, Path(f"{weight}{italic}"))
        for weight in (300, 400, 700)
        for italic in (False, True)
        if (weight, italic) != (300, True)
    ]
    assert system.nearest(faces, 600, False).weight == 700
    assert system.nearest(faces, 100, True) == faces[2]
    assert system.nearest(faces, 320, False).weight == 300


def test_features_ligatures_and_kerning() -> None:
    font = Font.load(plain_font())

    def ids(string: str, **options: object) -> list[int]:
        return [glyph.id for glyph in text.layout(string, font, **options).glyphs]  # type: ignore[arg-type]

    assert len(ids("fi")) == 1 and len(ids("fi", features={"liga": False})) == 2
    assert len(ids("fi", features=["-liga"])) == 2 and len(ids("fi", letter_spacing=2)) == 2
    assert ids("A", features=["ss01"]) == ids("B") == ids("A", features={"ss01": 1})
    assert text.layout("AV", font, 100).width == pytest.approx(100)
    assert text.layout("AV", font, 100, features=["-kern"]).width == pytest.approx(120)
    for wrong in ("liga", ["ligatures"], {"liga": 70000}, [3]):
        with pytest.raises((ArgumentError, ParameterError)):
            text.layout("A", font, features=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("version", [0, 1])
def test_fonts_in_colour(version: int) -> None:
    font = Font.load(color_font(version))
    assert font.is_colored
    (tile,) = text.rasterise(text.layout("A", font, 100), color="green")
    assert tile.tile.pixels.shape == (70, 40, 4)
    assert tile.tile.pixels[10, 20].tolist() == [0, 0, 255, 255]  # blue above
    assert tile.tile.pixels[60, 20].tolist() == [255, 0, 0, 255]
    (plain,) = text.rasterise(
        text.layout("B", font, 100), color="green"
    )  # has no colours of its own
    canvas = np.zeros((120, 80, 3), np.uint8)
    text.paint(canvas, text.layout("B", font, 100), (0, 0), color="red")
    assert canvas[60, 30].tolist() == [255, 0, 0], plain


def test_fallback_takes_fonts_in_order(machine: Path) -> None:
    boxes = Font.load(plain_font())
    made = text.layout("Az", [boxes, Font.default()])
    assert [glyph.font for glyph in made.glyphs] == [boxes, Font.default()]
    assert text.layout("A\u0301", [boxes]).glyphs[1].cluster == 0


def test_a_missing_glyph_is_a_box_and_told_once(
    machine: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fallback, "_told", set())
    monkeypatch.setattr(fallback, "_misses", [])
    fallback._found.clear()
    fallback._families.clear()
    font = Font.load(plain_font())
    with caplog.at_level(logging.WARNING, "dala.text"):
        for size in (20, 30, 100):
            made = text.layout("A\u4e00", font, size)
            assert [glyph.id for glyph in made.glyphs] == [2, 0]
    fallback._found.clear()
    fallback._families.clear()
    assert len(text.rasterise(made)) == 2
    (record,) = caplog.records
    assert "U+4E00" in record.getMessage() and "CJK UNIFIED IDEOGRAPH-4E00" in record.getMessage()


def test_folders_of_every_system(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    for platform, name in (("linux", "fonts"), ("darwin", "Fonts"), ("win32", "Fonts")):
        monkeypatch.setattr(system.sys, "platform", platform)
        folders = system.font_folders()
        assert folders and all(
            folder.name.lower() == name.lower() or folder.name == ".fonts" for folder in folders
        )


def test_files_are_looked_for_only_so_deep(tmp_path: Path) -> None:
    folder = tmp_path
    for depth in range(system.DEEPEST + 3):
        (folder / f"{depth}.ttf").write_bytes(b"x")
        folder = folder / "in"
        folder.mkdir()
    (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
    assert len(list(system.font_files(tmp_path))) == system.DEEPEST + 1
    assert list(system.font_files(tmp_path / "nowhere")) == []
    shutil.rmtree(tmp_path / "in")
