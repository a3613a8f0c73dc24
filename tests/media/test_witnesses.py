"""What exiftool says of the same kinds of photos, before and after: it knows nothing of dala or Pillow."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from photo_kinds import IPTC, KINDS, LOOK, NOTHING, through

EXIFTOOL = shutil.which("exiftool")
# what is told of how a file lies on disk, of the moment, and of what a JPEG or WebP was encoded with
OF_THE_FILE = (
    "SourceFile", "File:File", "File:Directory", "ExifTool:", "Composite:", "File:CurrentIPTCDigest",
    "EXIF:Strip", "EXIF:Tile", "EXIF:RowsPerStrip", "EXIF:PlanarConfiguration", "EXIF:SubfileType",
    "EXIF:DocumentName", "EXIF:Predictor", "EXIF:ImageLength",
    "EXIF:FillOrder", "EXIF:MinSampleValue", "EXIF:MaxSampleValue",
    "EXIF:Thumbnail", "EXIF:YCbCr", "File:ExifByteOrder",
    "EXIF:NewSubfileType", "EXIF:OldSubfileType", "EXIF:PageNumber", "Photoshop:", "QuickTime:Media",

)  # fmt: skip

# what is known to become something else: where and what
CHANGED = {
    "png bilevel": {"PNG:BitDepth"},
    "png palette": {"PNG:ColorType", "PNG:Palette"},
    "tiff metadata": {"EXIF:Orientation"},  # of 1, which is what it is without
    "png palette with alpha": {"PNG:ColorType", "PNG:Palette", "PNG:Transparency"},
    "tiff bilevel": {"EXIF:BitsPerSample", "EXIF:Compression"},
    "tiff lab": {"EXIF:PhotometricInterpretation"},
    "tiff cmyk 16": {"EXIF:BitsPerSample", "EXIF:PhotometricInterpretation", "EXIF:SamplesPerPixel"},
    "tiff rgb 16, 64-bit offsets": {"File:MIMEType"},
    "tiff grey 12": {"EXIF:BitsPerSample"},
    "tiff pages": {"EXIF:SampleFormat"},
    "pgm 16": {"File:Comment"},
    "ppm 16": {"File:Comment"},
    "tiff rgb half floats": {"EXIF:BitsPerSample"},
    "tiff cmyk": {"EXIF:BitsPerSample", "EXIF:PhotometricInterpretation", "EXIF:SamplesPerPixel"},
    **{name: {"File:ColorComponents", "File:YCbCrSubSampling", "APP14:ColorTransform",
              "APP14:DCTEncodeVersion", "APP14:APP14Flags0", "APP14:APP14Flags1"}
       for name in KINDS if name.startswith("jpeg cmyk")},
}  # fmt: skip


def told_by_exiftool(files: list[Path]) -> dict[Path, dict[str, Any]]:
    """Every tag of many files, in one run."""
    assert EXIFTOOL is not None
    words = [EXIFTOOL, "-j", "-G", "-n", "-struct", *map(str, files)]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=300)
    return {Path(tags["SourceFile"]): tags for tags in json.loads(done.stdout)}


def kept(tags: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in tags.items() if not k.startswith(OF_THE_FILE)}


@pytest.mark.skipif(EXIFTOOL is None, reason="exiftool is not installed")
@pytest.mark.parametrize("chain", [NOTHING, LOOK], ids=["as it is", "through a look"])
def test_exiftool_sees_the_same_before_and_after(chain: Any, tmp_path: Path) -> None:
    pairs = {}
    for number, (name, kind) in enumerate(KINDS.items()):
        source, target = (tmp_path / f"{number}{end}{kind.ending}" for end in ("_in", "_out"))
        kind.make(source)
        through(source, target, chain)
        pairs[name] = source, target
    told = told_by_exiftool([path for pair in pairs.values() for path in pair])
    for name, (source, target) in pairs.items():
        before, after = told[source], told[target]
        wrong = {k for k, v in kept(before).items() if after.get(k) != v}
        wrong = {
            k for k in wrong if not (KINDS[name].lost and k.startswith(("ICC_Profile", "MPF:")))
        }
        assert wrong <= CHANGED.get(name, set()), (name, wrong)
        assert "ExifTool:Warning" not in after or "ExifTool:Warning" in before, name


@pytest.mark.skipif(EXIFTOOL is None, reason="exiftool is not installed")
def test_exiftool_finds_what_other_formats_hold(tmp_path: Path) -> None:
    for name in ("jpeg metadata", "jpeg iptc"):
        KINDS[name].make(tmp_path / f"{name}.jpg")
    made = []
    for ending in (".jpg", ".tif", ".png", ".webp", ".avif"):
        for name in ("jpeg metadata", "jpeg iptc"):
            made.append(tmp_path / f"{name}{ending}")
            if ending != ".jpg":
                through(tmp_path / f"{name}.jpg", made[-1], LOOK)
    told = told_by_exiftool(made)
    for path, tags in told.items():
        density = [v for k, v in tags.items() if k.endswith((":XResolution", ":PixelsPerUnitX"))]
        assert density and all(round(v) in (300, 11811) for v in density), path.name
        if path.name.startswith("jpeg metadata"):
            assert (tags["EXIF:Make"], tags["EXIF:Copyright"]) == ("Maker", "Someone"), path.name
            assert tags["EXIF:ExposureTime"] == 0.02, path.name
            assert tags["ICC_Profile:ProfileDescription"] == "sRGB built-in", path.name
        elif path.suffix in (".jpg", ".tif"):
            assert tags["IPTC:Keywords"] == ["sea", "evening"], path.name
    assert b"sea" in IPTC
