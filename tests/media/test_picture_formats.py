"""Only formats that Pillow decodes itself are opened, whatever a file is called."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import EpsImagePlugin, Image

from dala import media
from dala.cli import main
from dala.errors import MediaError
from dala.media.files.formats import READ

PICTURE = np.full((36, 32, 3), 90, np.uint8)  # some Pillows make no icon of less than 16
PROGRAM = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 8 8\n%%EndComments\nshowpage\n%%EOF\n"


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A picture that is a program, in a file that is called otherwise; nobody may run it."""

    def run(*_: object, **__: object) -> None:
        pytest.fail("Ghostscript was called")

    monkeypatch.setattr(EpsImagePlugin, "Ghostscript", run)
    path = tmp_path / "photo.png"
    path.write_bytes(PROGRAM)
    with Image.open(path) as known:
        assert known.format == "EPS"  # Pillow would
    return path


def test_programs_are_not_opened(program: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(MediaError):
        media.open(program)
    with pytest.raises(MediaError, match="cannot read the picture"):
        media.replace_background(PICTURE, np.zeros(PICTURE.shape[:2], np.uint8), program)
    target = program.with_name("out.png")
    assert main(["filter", str(program), str(target), "--invert"]) == 1
    assert "picture" in capfd.readouterr().err
    assert not target.exists()


@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP", "GIF", "TIFF", "BMP", "PPM", "TGA", "ICO"])
def test_what_people_have_is_opened(form: str, tmp_path: Path) -> None:
    path = tmp_path / "photo"
    Image.fromarray(PICTURE).save(path, form)
    photo = media.open(path)
    assert photo.format == form
    assert photo.pixels.dtype == np.uint8


def test_no_format_is_handed_on() -> None:
    handed_on = {"EPS", "WMF", "BUFR", "GRIB", "HDF5", "MPEG"}  # to programs, or to nobody
    assert not handed_on & set(READ)
