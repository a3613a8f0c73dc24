"""Kinds of photos as people have them, through an identity chain and through a look: what is kept, and the
one line where something is not. Pillow (and tifffile for TIFF) say what the files are.
"""

from __future__ import annotations

import gc
import struct
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from photo_kinds import (
    COLUMNS,
    F32,
    KINDS,
    LOOK,
    METADATA,
    NOTHING,
    ROWS,
    SRGB,
    U16,
    XMP,
    Array,
    exif_bytes,
    levels,
    png16,
    through,
)
from PIL import Image, JpegImagePlugin, PngImagePlugin
from raw_files import write_dng

from dala import media
from dala.errors import LossError, LossWarning, MediaError, UnsupportedError
from dala.media.files import formats, lending, open_photo, save_photo, tiff
from dala.media.files.reading import count_pixels


def comparable(metadata: media.files.Metadata) -> dict[str, Any]:
    """Metadata with EXIF as values: its bytes may come in either order."""
    values = {
        name: getattr(metadata, name) for name in ("icc_profile", "xmp", "comment", "text", "iptc")
    }
    exif = Image.Exif()
    exif.load(metadata.exif or b"")
    parts = {tag: dict(exif.get_ifd(tag)) for tag in (0x8769, 0x8825)}
    return {
        **values,
        "dpi": metadata.dpi,
        "exif": {t: v for t, v in exif.items() if t not in parts},
        **parts,
    }


@pytest.mark.parametrize("name", KINDS)
def test_a_file_stays_what_it_is(name: str, tmp_path: Path) -> None:
    kind = KINDS[name]
    source, target = tmp_path / f"in{kind.ending}", tmp_path / f"out{kind.ending}"
    kind.make(source)
    before = media.open(source)
    assert (before.channels, before.bits) == (kind.channels, kind.bits)
    assert through(source, target, NOTHING) == kind.lost
    after = media.open(target)
    assert (after.channels, after.bits) == (kind.channels, kind.bits)
    assert comparable(after.metadata) == comparable(before.metadata)
    scale = {8: 255, 16: 65535, 32: 1}[kind.bits]
    off = np.abs(after.pixels.astype(float) - before.pixels).max() / scale
    assert off <= (0.06 if kind.lossy else 0)


@pytest.mark.parametrize("name", KINDS)
def test_a_file_stays_what_it_is_through_a_look(name: str, tmp_path: Path) -> None:
    kind = KINDS[name]
    source, target = tmp_path / f"in{kind.ending}", tmp_path / f"out{kind.ending}"
    kind.make(source)
    before = media.open(source)
    assert through(source, target, LOOK) == kind.lost
    after = media.open(target)
    assert (after.channels, after.bits) == (kind.channels, kind.bits)
    assert comparable(after.metadata) == comparable(before.metadata)
    want = np.asarray(media.apply_filters(before.pixels, LOOK, device="reference"))
    scale = {8: 255, 16: 65535, 32: 1}[kind.bits]
    off = np.abs(after.pixels.astype(float) - want).max() / scale
    assert off <= (0.08 if kind.lossy else 2.01 / scale if kind.bits < 32 else 1e-5)  # two stages


INTO = [(name, ending) for name, kind in KINDS.items() for ending in kind.into]


@pytest.mark.parametrize(("name", "ending"), INTO)
def test_what_another_format_cannot_hold_is_one_line(
    name: str, ending: str, tmp_path: Path
) -> None:
    kind = KINDS[name]
    source, target = tmp_path / f"in{kind.ending}", tmp_path / f"out{ending}"
    kind.make(source)
    assert through(source, target, NOTHING) == kind.into[ending]
    with Image.open(target) as opened:
        opened.load()
    target.unlink()
    if kind.into[ending]:
        with pytest.raises(LossError, match="does not hold"):
            through(source, target, NOTHING, strict=True)
        assert not target.exists()
    else:
        through(source, target, NOTHING, strict=True)


# -- what other programs see --------------------------------------------------------------------------


def test_pillow_reads_the_same_metadata(tmp_path: Path) -> None:
    source = tmp_path / "in.jpg"
    image = Image.fromarray(levels(3))
    image.save(source, quality=95, xmp=XMP, comment=b"hello", dpi=(300, 300), **METADATA)
    for ending in (".jpg", ".png", ".tif", ".webp", ".avif"):
        through(source, tmp_path / f"out{ending}", LOOK)
        with Image.open(tmp_path / f"out{ending}") as opened:
            assert opened.info["icc_profile"] == SRGB, ending
            exif = opened.getexif()
            assert (exif[0x010F], exif[0x8298]) == ("Maker", "Someone"), ending
            assert float(exif.get_ifd(0x8769)[0x829A]) == pytest.approx(0.02), ending
            assert exif.get_ifd(0x8825)[1] == "N", ending
            xmp = opened.info.get("xmp") or opened.info.get("XML:com.adobe.xmp")
            assert (xmp.encode() if isinstance(xmp, str) else xmp) == XMP, ending
            if ending in (".jpg", ".png", ".tif"):
                assert opened.info["dpi"] == pytest.approx((300, 300), abs=0.02), ending


def test_deep_files_have_the_metadata_too(tmp_path: Path) -> None:
    photo = media.Photo(
        (levels(3, U16),), media.files.Metadata(SRGB, exif_bytes(), XMP, dpi=(300, 300))
    )
    for ending in (".png", ".tif"):
        media.save(photo, tmp_path / f"deep{ending}")
        with Image.open(tmp_path / f"deep{ending}") as opened:
            opened.load()
            assert opened.info["icc_profile"] == SRGB
            assert opened.getexif()[0x010F] == "Maker"
            assert float(opened.getexif().get_ifd(0x8769)[0x829A]) == pytest.approx(0.02)
            assert opened.info["dpi"] == pytest.approx((300, 300), abs=0.02)
            assert np.abs(np.asarray(opened).astype(int) - (photo.pixels >> 8)).max() <= 1
        again = media.open(tmp_path / f"deep{ending}")
        np.testing.assert_array_equal(again.pixels, photo.pixels)
        assert again.metadata.xmp == XMP


@pytest.mark.parametrize("compression", ["raw", "tiff_lzw", "tiff_adobe_deflate", "packbits"])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_the_compression_of_a_tiff_is_kept(compression: str, dtype: type, tmp_path: Path) -> None:
    pixels = levels(3, dtype)
    tiff.write_tiff(tmp_path / "in.tif", [pixels], compression, {})
    through(tmp_path / "in.tif", tmp_path / "out.tif", NOTHING)
    with (tmp_path / "out.tif").open("rb") as file:
        assert tiff.read_tags(file)[tiff.COMPRESSION] == tiff.NAMES[compression]
    np.testing.assert_array_equal(media.open(tmp_path / "out.tif").pixels, pixels)


def test_tifffile_reads_what_is_written(tmp_path: Path) -> None:
    import tifffile

    for dtype in (np.uint8, np.uint16, np.float32):
        for channels in (1, 3, 4):
            pixels = levels(channels, dtype)
            media.save(pixels, tmp_path / "out.tif")
            np.testing.assert_array_equal(tifffile.imread(tmp_path / "out.tif"), pixels)


def test_floats_with_the_predictor_of_floats_are_read(tmp_path: Path) -> None:
    """Made by hand: bytes of a row by significance, each as the difference to the one before."""
    pixels = levels(3, F32)
    big = pixels.astype(">f4").reshape(ROWS, -1).view(np.uint8).reshape(ROWS, -1, 4)
    planes = np.ascontiguousarray(big.transpose(0, 2, 1)).reshape(ROWS, -1, 3)
    planes[:, 1:] = planes[:, 1:] - planes[:, :-1]
    layout = tiff.Layout((ROWS, COLUMNS), 3, np.dtype("<f4"), 8, 3, planar=False)
    got = tiff._samples(planes.reshape(ROWS, -1), layout, COLUMNS, 3)
    np.testing.assert_array_equal(got, pixels)


def test_the_subsampling_of_a_jpeg_is_kept(tmp_path: Path) -> None:
    for sampling in (0, 1, 2):
        Image.fromarray(levels(3)).save(tmp_path / "in.jpg", subsampling=sampling)
        for quality, wanted in ((90, sampling), (100, 0)):
            through(tmp_path / "in.jpg", tmp_path / "out.jpg", NOTHING, quality)
            with Image.open(tmp_path / "out.jpg") as opened:
                assert JpegImagePlugin.get_sampling(opened) == wanted
    png = tmp_path / "in.png"
    Image.fromarray(levels(3)).save(png)
    through(png, tmp_path / "out.jpg", NOTHING, 100)
    with Image.open(tmp_path / "out.jpg") as opened:
        assert JpegImagePlugin.get_sampling(opened) == 0


def test_the_rest_of_exif_does_not_move(tmp_path: Path) -> None:
    """Makers' notes point to places in it, so only the orientation's own bytes may change."""
    for endian in "<>":
        exif = Image.Exif()
        exif.endian = endian
        exif[0x010F], exif[0x0112] = "Maker", 6
        exif.get_ifd(0x8769)[0x927C] = bytes(range(200))  # the notes
        data = exif.tobytes()
        Image.fromarray(levels(3)).save(tmp_path / "in.jpg", exif=data)
        kept = media.open(tmp_path / "in.jpg").metadata.exif
        assert kept is not None and len(kept) == len(data)
        assert sum(a != b for a, b in zip(kept, data, strict=True)) == 1
        through(tmp_path / "in.jpg", tmp_path / "out.jpg", LOOK)
        assert media.open(tmp_path / "out.jpg").metadata.exif == kept


@pytest.mark.parametrize("orientation", range(1, 9))
def test_every_orientation_is_turned_upright_once(orientation: int, tmp_path: Path) -> None:
    from PIL import ImageOps

    source = tmp_path / "in.png"
    Image.fromarray(levels(3)).save(source, exif=exif_bytes(orientation))
    with Image.open(source) as opened:
        want = np.asarray(ImageOps.exif_transpose(opened))
    photo = media.open(source)
    np.testing.assert_array_equal(photo.pixels, want)
    media.save(photo, tmp_path / "out.jpg", quality=100)
    with Image.open(tmp_path / "out.jpg") as opened:
        assert opened.getexif().get(0x0112, 1) == 1
        assert opened.size == (want.shape[1], want.shape[0])


def test_the_orientation_in_xmp_is_corrected_too(tmp_path: Path) -> None:
    Image.fromarray(levels(3)).save(
        tmp_path / "in.jpg",
        exif=exif_bytes(6),
        xmp=XMP.replace(b'Orientation="1"', b'Orientation="6"'),
    )
    assert media.open(tmp_path / "in.jpg").metadata.xmp == XMP


@pytest.mark.parametrize("ending", [".webp", ".gif", ".png", ".avif"])
def test_the_times_of_an_animation_are_exact(ending: str, tmp_path: Path) -> None:
    frames = [Image.new("RGB", (16, 16), (level, 255 - level, 40)) for level in (0, 100, 200)]
    times = [80, 120, 40]
    frames[0].save(
        tmp_path / f"in{ending}", save_all=True, append_images=frames[1:], duration=times, loop=3
    )
    through(tmp_path / f"in{ending}", tmp_path / f"out{ending}", LOOK)
    photo = media.open(tmp_path / f"out{ending}")
    assert photo.metadata.durations == (80, 120, 40)
    assert len(photo.frames) == 3
    if ending != ".avif":
        assert photo.metadata.loop == 3


def test_the_texts_of_a_png_are_kept(tmp_path: Path) -> None:
    info = PngImagePlugin.PngInfo()
    info.add_text("Title", "A photo")
    Image.fromarray(levels(3)).save(tmp_path / "in.png", pnginfo=info)
    assert through(tmp_path / "in.png", tmp_path / "out.png", LOOK) == ""
    assert media.open(tmp_path / "out.png").metadata.text == {"Title": "A photo"}
    assert through(tmp_path / "in.png", tmp_path / "out.jpg", LOOK) == "its texts (Title)"


# -- in Python ----------------------------------------------------------------------------------------


def test_every_function_takes_a_photo_and_gives_one_back(tmp_path: Path) -> None:
    png16(tmp_path / "in.png", levels(3, U16))
    photo = media.open(tmp_path / "in.png")
    made = media.blur(media.sepia(photo))
    assert isinstance(made, media.Photo)
    want = media.blur(media.sepia(photo.pixels))
    np.testing.assert_array_equal(made.pixels, want)
    assert np.asarray(made).dtype == np.uint16


def test_losses_are_warnings_in_python(tmp_path: Path) -> None:
    with pytest.warns(LossWarning, match=r"out\.jpg does not hold 16 bits \(8 bits are kept\)"):
        media.save(levels(3, U16), tmp_path / "out.jpg")
    assert (tmp_path / "out.jpg").exists()
    with pytest.raises(LossError):
        media.save(levels(3, U16), tmp_path / "strict.jpg", strict=True)
    assert not (tmp_path / "strict.jpg").exists()


def test_arrays_and_pil_images_are_saved(tmp_path: Path) -> None:
    for picture in (
        levels(1),
        levels(3),
        levels(4),
        Image.fromarray(levels(3)),
        levels(1)[..., None],
    ):
        media.save(picture, tmp_path / "out.png")
        got = media.open(tmp_path / "out.png").pixels
        np.testing.assert_array_equal(got, np.asarray(picture).reshape(got.shape))


# -- what is not opened -------------------------------------------------------------------------------


def test_only_pictures_are_opened(tmp_path: Path) -> None:
    for name, data, words in [
        ("a.eps", b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\nshowpage\n", "is a drawing"),
        (
            "a.jpg",
            b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n",
            "not a picture that can be read",
        ),
        ("a.png", b"", "the file is empty"),
        ("a.tif", b"II*\0\x08\0\0\0\0\0", "not a picture|damaged"),
    ]:
        (tmp_path / name).write_bytes(data)
        with pytest.raises(MediaError, match=words):
            media.open(tmp_path / name)


def test_bombs_are_refused(tmp_path: Path) -> None:
    import tifffile

    tifffile.imwrite(tmp_path / "bomb.tif", np.zeros((2, 2, 3), np.uint16), photometric="rgb")
    data = bytearray((tmp_path / "bomb.tif").read_bytes())
    for tag in (256, 257):  # width and height
        at = data.index(struct.pack("<HHI", tag, 3, 1) if struct.pack("<HHI", tag, 3, 1) in data
                        else struct.pack("<HHI", tag, 4, 1))  # fmt: skip
        data[at : at + 12] = struct.pack("<HHII", tag, 4, 1, 60_000)
    (tmp_path / "bomb.tif").write_bytes(data)
    with pytest.raises(MediaError, match="could be a bomb"):
        media.open(tmp_path / "bomb.tif")


def test_damaged_deep_files_are_one_error_or_a_picture(tmp_path: Path) -> None:
    """Whatever is wrong with the bytes: no other exception, and no pixels out of nowhere."""
    media.save(levels(3, U16), tmp_path / "a.tif")
    png16(tmp_path / "a.png", levels(3, U16))
    outcomes = set()
    for ending in (".tif", ".png"):
        good = (tmp_path / f"a{ending}").read_bytes()
        for seed in range(80):
            rng = np.random.default_rng(seed)
            data = bytearray(good[: len(good) if seed % 4 else int(rng.integers(len(good)))])
            for place in rng.integers(0, min(len(data), 400), 1 + seed % 5):
                data[place] ^= 1 << int(rng.integers(8))
            (tmp_path / f"b{ending}").write_bytes(data)
            try:
                media.open(tmp_path / f"b{ending}")
                outcomes.add("picture")
            except MediaError:
                outcomes.add("error")
    assert outcomes == {"picture", "error"}


def test_whoever_lacks_a_plugin_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "_register", frozenset)
    monkeypatch.setitem(__import__("sys").modules, "rawpy", None)
    for name, words in [
        ("a.heic", "pip install pillow-heif"),
        ("a.jxl", "pip install pillow-jxl-plugin"),
    ]:
        (tmp_path / name).write_bytes(b"not really" * 20)
        with pytest.raises(MediaError, match=words):
            media.open(tmp_path / name)
    (tmp_path / "a.dng").write_bytes(b"II*\0" * 9)
    with pytest.raises(UnsupportedError, match="camera raw and needs rawpy"):
        media.open(tmp_path / "a.dng")


def test_strips_that_lie_about_their_size_are_refused(tmp_path: Path) -> None:
    media.save(levels(3, U16), tmp_path / "a.tif")
    with (tmp_path / "a.tif").open("rb") as file:
        (count,) = tiff.read_tags(file)[tiff.COUNTS]
    data = (tmp_path / "a.tif").read_bytes()
    tag = struct.pack("<HHII", tiff.COUNTS, 4, 1, count)
    assert data.count(tag) == 1
    (tmp_path / "a.tif").write_bytes(
        data.replace(tag, struct.pack("<HHII", tiff.COUNTS, 4, 1, 2**31))
    )
    with pytest.raises(MediaError, match="the file ends too early"):
        media.open(tmp_path / "a.tif")


# -- with packages that may be there ------------------------------------------------------------------


@pytest.mark.parametrize(("module", "ending"), [("pillow_heif", ".heic"), ("pillow_jxl", ".jxl")])
def test_plugins_that_are_installed_are_used(module: str, ending: str, tmp_path: Path) -> None:
    pytest.importorskip(module)
    pixels = np.repeat(np.repeat(levels(3), 4, 0), 4, 1)
    photo = media.Photo((pixels,), media.files.Metadata(SRGB, exif_bytes()))
    media.save(photo, tmp_path / f"a{ending}", quality=95)
    again = media.open(tmp_path / f"a{ending}")
    assert np.abs(again.pixels.astype(int) - pixels).max() <= 16
    assert again.metadata.icc_profile  # JPEG XL writes sRGB in its own words
    assert comparable(again.metadata)["exif"][0x010F] == "Maker"


def test_ten_bits_of_a_heic_stay(tmp_path: Path) -> None:
    heif = pytest.importorskip("pillow_heif")
    pixels = np.repeat(np.repeat(levels(3, U16), 4, 0), 4, 1)
    made = heif.from_bytes("RGB;16", (COLUMNS * 4, ROWS * 4), pixels.tobytes())
    made.save(tmp_path / "a.heic", quality=100)
    photo = media.open(tmp_path / "a.heic")
    assert photo.bits == 16
    assert np.abs(photo.pixels.astype(int) - pixels).max() < 65535 * 0.03


GREY = np.full((48, 64, 3), 0.18) * np.linspace(1, 4, 64)[None, :, None]


class Raw:
    """What rawpy makes of a file."""

    sizes = SimpleNamespace(iwidth=COLUMNS, iheight=ROWS)
    pixels = levels(3, U16)

    def __enter__(self) -> Raw:
        return self

    def __exit__(self, *_: object) -> None: ...

    def postprocess(self, *, use_camera_wb: bool, output_bps: int) -> Array:
        assert use_camera_wb and output_bps == 16
        return self.pixels


@pytest.fixture
def rawpy(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The call of rawpy, where it is not."""

    class Rawpy:
        class LibRawError(Exception): ...

        class LibRawFileUnsupportedError(LibRawError): ...

        class LibRawIOError(LibRawError): ...

        @staticmethod
        def imread(path: str) -> Raw:
            return Raw()

    monkeypatch.setitem(__import__("sys").modules, "rawpy", Rawpy)
    return Rawpy


def test_raw_photos_are_developed_to_16_bits(rawpy: Any, tmp_path: Path) -> None:
    (tmp_path / "a.NEF").write_bytes(b"x")
    photo = media.open(tmp_path / "a.NEF")
    np.testing.assert_array_equal(photo.pixels, Raw.pixels)
    assert photo.unread == ("its EXIF",)
    assert count_pixels(tmp_path / "a.NEF") == 2 * ROWS * COLUMNS


def test_raw_photos_keep_what_still_holds(rawpy: Any, tmp_path: Path) -> None:
    write_dng(tmp_path / "a.dng", GREY, orientation=6)
    photo = media.open(tmp_path / "a.dng")
    exif = Image.Exif()
    exif.load(photo.metadata.exif or b"")
    assert (exif[271], exif[272]) == ("Maker", "Camera") and 274 not in exif
    assert dict(exif.get_ifd(0x8769)) == {33434: pytest.approx(1 / 50)}
    assert photo.unread == () and photo.metadata.icc_profile is None


def test_what_is_wrong_with_raw_photos(
    rawpy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_dng(tmp_path / "a.dng", GREY)
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 20)
    with pytest.raises(MediaError, match=r"a\.dng: \d+ pixels; more than 40 could be a bomb"):
        media.open(tmp_path / "a.dng")
    for error, told in [
        (rawpy.LibRawFileUnsupportedError(b"no"), "no raw photo that LibRaw knows"),
        (rawpy.LibRawError(b"Data error"), "the picture is damaged: Data error"),
        (
            rawpy.LibRawIOError(b"Input/output error"),
            "the picture is damaged: the file ends too early",
        ),
    ]:
        monkeypatch.setattr(rawpy, "imread", Mock(side_effect=error))
        with pytest.raises(MediaError, match=f"a.dng: {told}"):
            media.open(tmp_path / "a.dng")
        assert count_pixels(tmp_path / "a.dng") == 0


@pytest.mark.parametrize("orientation", [1, 6])
def test_libraw_develops_a_photo(orientation: int, tmp_path: Path) -> None:
    pytest.importorskip("rawpy")
    write_dng(tmp_path / "a.dng", GREY, orientation)
    photo = media.open(tmp_path / "a.dng")
    upright = np.rot90(photo.pixels) if orientation == 6 else photo.pixels
    assert upright.shape == (48, 64, 3) and upright.dtype == np.uint16
    inner = upright[8:-8, 8:-8].astype(float)
    assert (inner.max(2) - inner.min(2)).max() < 0.02 * 65535  # a grey card is grey
    assert (np.diff(inner.mean((0, 2))) > 0).all() and (inner % 257 != 0).mean() > 0.9
    assert count_pixels(tmp_path / "a.dng") == 2 * 48 * 64
    (tmp_path / "b.dng").write_bytes((tmp_path / "a.dng").read_bytes()[:-3000])
    (tmp_path / "c.dng").write_bytes(b"a letter to a friend " * 40)
    (tmp_path / "d.dng").write_bytes(b"")
    for name, told in [
        ("b", "damaged: the file ends too early"),
        ("c", "no raw photo that LibRaw knows"),
        ("d", "the file is empty"),
    ]:
        with pytest.raises(MediaError, match=told):
            media.open(tmp_path / f"{name}.dng")


MODES = ["L", "RGB", "RGBA"]


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("mode", MODES)
def test_pixels_in_one_block_and_in_several(
    mode: str, whole: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lending, "WHOLE", 1 << 30 if whole else 4096)
    usual = Image.core.get_block_size()
    shape = (77, 53, *[len(mode)][: mode != "L"])
    pixels = np.random.default_rng(5).integers(0, 256, shape, np.uint8)
    Image.fromarray(pixels).save(tmp_path / "photo.png")
    assert np.array_equal(media.open(tmp_path / "photo.png").pixels, pixels)
    lent = open_photo(tmp_path / "photo.png", lent=True)
    assert lent.opaque == (whole and mode == "RGB")
    assert lent.channels == {"L": "grey"}.get(mode, mode.lower())
    assert np.array_equal(lent.pixels[..., : len(mode)] if lent.opaque else lent.pixels, pixels)
    assert Image.core.get_block_size() == usual


@pytest.mark.parametrize("ending", ["jpg", "png", "webp"])
def test_lent_pixels_are_written_as_others_are(ending: str, tmp_path: Path) -> None:
    pixels = np.random.default_rng(6).integers(0, 256, (40, 64, 3), np.uint8)
    exif = Image.Exif()
    exif[274] = 6  # turned
    Image.fromarray(pixels).save(tmp_path / "photo.jpg", exif=exif)
    save_photo(open_photo(tmp_path / "photo.jpg", lent=True), tmp_path / f"lent.{ending}")
    media.save(media.open(tmp_path / "photo.jpg"), tmp_path / f"own.{ending}")
    assert (tmp_path / f"lent.{ending}").read_bytes() == (tmp_path / f"own.{ending}").read_bytes()


def test_lent_pixels_outlive_their_file(tmp_path: Path) -> None:
    Image.new("RGB", (64, 64), (10, 20, 30)).save(tmp_path / "photo.png")
    pixels = open_photo(tmp_path / "photo.png", lent=True).pixels
    for _ in range(20):  # whose memory would be taken if it were free
        media.open(tmp_path / "photo.png")
    gc.collect()
    assert (pixels == (10, 20, 30, 255)).all()
    with pytest.raises(ValueError, match="read-only"):
        pixels[0, 0] = 0


def test_camera_raw_is_never_written(tmp_path: Path) -> None:
    with pytest.raises(MediaError, match=r"never written; name another ending: '\{name\}\.jpg'"):
        media.save(levels(3), tmp_path / "photo.nef")
