"""Photos beyond what Pillow tells of them: pages, 64-bit offsets, netpbm, bits that are not read."""

from __future__ import annotations

import errno
import io
import os
import shutil
import stat
import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest
from photo_kinds import COLUMNS, F32, KINDS, LOOK, NOTHING, ROWS, U16, levels, through
from PIL import Image, PngImagePlugin

from dala import media
from dala.errors import LossError, MediaError, MediaFileError
from dala.media import Chain
from dala.media.files import deep_png, depth, netpbm, reading, tiff
from dala.media.files.reading import count_pixels


def test_pages_come_and_go_as_they_are(tmp_path: Path) -> None:
    import tifffile

    KINDS["tiff pages"].make(tmp_path / "in.tif")
    through(tmp_path / "in.tif", tmp_path / "out.tif", NOTHING)
    with (
        tifffile.TiffFile(tmp_path / "in.tif") as old,
        tifffile.TiffFile(tmp_path / "out.tif") as new,
    ):
        assert len(new.pages) == 3
        for before, after in zip(old.pages, new.pages, strict=True):
            np.testing.assert_array_equal(after.asarray(), before.asarray())
            assert after.dtype == before.dtype
    assert (
        repr(media.open(tmp_path / "out.tif"))
        == "<dala photo 36 × 24, 3 pages, rgb, 16 bits, TIFF>"
    )
    through(tmp_path / "in.tif", tmp_path / "look.tif", LOOK)
    for page, made in zip(
        media.open(tmp_path / "in.tif").frames,
        media.open(tmp_path / "look.tif").frames,
        strict=True,
    ):
        np.testing.assert_array_equal(made, media.apply_filters(page, LOOK))


def test_metadata_behind_offsets_of_64_bits(tmp_path: Path) -> None:
    """The exposure's time lies in a directory of its own."""
    import tifffile

    inner = struct.pack("<QHHQIIQ", 1, 0x829A, 5, 1, 1, 50, 0)
    extra = [(271, "s", 0, "Maker", True), (65000, "Q", 1, 0, True)]
    tifffile.imwrite(
        tmp_path / "in.tif", levels(3, U16), photometric="rgb", bigtiff=True, extratags=extra
    )
    data = bytearray((tmp_path / "in.tif").read_bytes())
    entry = data.index(struct.pack("<HHQ", 65000, 16, 1))
    struct.pack_into("<HHQQ", data, entry, 34665, 16, 1, len(data))
    (tmp_path / "in.tif").write_bytes(bytes(data) + inner)
    exif = Image.Exif()
    exif.load(media.open(tmp_path / "in.tif").metadata.exif or b"")
    assert exif[271] == "Maker"
    assert float(exif.get_ifd(34665)[0x829A]) == pytest.approx(0.02)


@pytest.mark.parametrize("kind", [b"Pf", b"PF"])
@pytest.mark.parametrize("order", "<>")
def test_floats_of_netpbm_are_opened(kind: bytes, order: str, tmp_path: Path) -> None:
    pixels = levels(1 if kind == b"Pf" else 3, F32)
    head = b"%s\n%d %d\n%s1.0\n" % (kind, COLUMNS, ROWS, b"-" if order == "<" else b"")
    (tmp_path / "in.pfm").write_bytes(head + pixels[::-1].astype(f"{order}f4").tobytes())
    photo = media.open(tmp_path / "in.pfm")
    np.testing.assert_array_equal(photo.pixels, pixels)
    (tmp_path / "short.pfm").write_bytes((tmp_path / "in.pfm").read_bytes()[:-1])
    with pytest.raises(MediaError, match="the file ends too early"):
        media.open(tmp_path / "short.pfm")
    (tmp_path / "bomb.pfm").write_bytes(b"PF\n99999 99999\n1.0\n")
    with pytest.raises(MediaError, match="could be a bomb"):
        media.open(tmp_path / "bomb.pfm")


def test_levels_of_ten_bits_are_spread(tmp_path: Path) -> None:
    ten = (levels(3, U16) >> 6).astype(">u2")
    (tmp_path / "in.ppm").write_bytes(b"P6 %d %d 1023\n" % (COLUMNS, ROWS) + ten.tobytes())
    (tmp_path / "white.ppm").write_bytes(b"P6 1 1 1023\n" + b"\x03\xff" * 3)
    found = media.open(tmp_path / "in.ppm").pixels
    assert np.abs(found.astype(int) - levels(3, U16)).max() <= 64
    assert media.open(tmp_path / "white.ppm").pixels.min() == 65535


def encoded(path: Path, codec: str, pixels: str, form: str | None = None) -> None:
    """A still by one of FFmpeg's encoders: alone, or in a file of that format."""
    av = pytest.importorskip("av")
    if codec not in av.codecs_available:
        pytest.skip(f"this PyAV cannot encode {codec}")
    frame = av.VideoFrame.from_ndarray(np.tile(levels(3), (4, 4, 1)), "rgb24").reformat(
        format=pixels
    )
    with av.open(str(path) if form else str(path.with_suffix(".nut")), "w", format=form) as out:
        stream = out.add_stream(codec, rate=1)
        stream.width, stream.height, stream.pix_fmt = frame.width, frame.height, pixels
        packets = [*stream.encode(frame), *stream.encode(None)]
        out.mux(packets)
    if not form:
        path.write_bytes(b"".join(bytes(p) for p in packets))


@pytest.mark.parametrize(
    ("name", "codec", "pixels", "form", "bits"),
    [
        ("a.avif", "libsvtav1", "yuv420p10le", "avif", 10),
        ("b.avif", "libsvtav1", "yuv420p", "avif", 8),
        ("c.j2k", "jpeg2000", "rgb48le", None, 16),
        ("d.j2k", "jpeg2000", "rgb24", None, 8),
    ],
)
def test_bits_that_are_not_read_are_said(
    name: str, codec: str, pixels: str, form: str | None, bits: int, tmp_path: Path
) -> None:
    encoded(tmp_path / name, codec, pixels, form)
    photo = media.open(tmp_path / name)
    assert photo.bits == 8
    said = through(tmp_path / name, tmp_path / "out.png", NOTHING)
    assert said == ("" if bits == 8 else f"{bits} bits (8 are read)")


@pytest.mark.parametrize(
    ("head", "bits"),
    [
        ("ff0af81ffc24141702001288020094d59886dbf985d14d91d7a97e05e212", 16),
        (
            "0000000c4a584c200d0a870a00000014667479706a786c20000000006a786c20"
            "000000126a786c7000000000ff0af81f1009000001e06a627264c06d03088220",
            8,
        ),
    ],
)
def test_bits_of_jpeg_xl_are_found(head: str, bits: int) -> None:
    """Heads as cjxl writes them: of 16 bits, and of 8 in a container."""
    assert depth.bits_in("JXL", io.BytesIO(bytes.fromhex(head)), None) == bits


@pytest.mark.parametrize("quality", [92, 80])
def test_webp_stays_without_loss_unless_a_quality_is_asked_for(
    quality: int, tmp_path: Path
) -> None:
    noise = np.random.default_rng(3).integers(0, 256, (20, 30, 3), np.uint8)
    Image.fromarray(noise).save(tmp_path / "in.webp", lossless=True)
    through(tmp_path / "in.webp", tmp_path / "out.webp", NOTHING, quality)
    same = bool((np.asarray(Image.open(tmp_path / "out.webp")) == noise).all())
    assert same == (quality == 92)


@pytest.mark.skipif(shutil.which("jpegtran") is None, reason="jpegtran is not installed")
def test_large_jpegs_with_arithmetic_coding_are_opened(tmp_path: Path) -> None:
    noise = np.random.default_rng(1).integers(0, 256, (300, 400, 3), np.uint8)
    Image.fromarray(noise).save(tmp_path / "usual.jpg", quality=98)
    words = [
        "jpegtran",
        "-arithmetic",
        "-outfile",
        str(tmp_path / "a.jpg"),
        str(tmp_path / "usual.jpg"),
    ]
    subprocess.run(words, check=True, timeout=300)
    assert (tmp_path / "a.jpg").stat().st_size > 1 << 16  # what Pillow reads at a time
    found = media.open(tmp_path / "a.jpg").pixels
    np.testing.assert_array_equal(found, media.open(tmp_path / "usual.jpg").pixels)


def test_what_nobody_reads_is_named_for_what_it_is(tmp_path: Path) -> None:
    import tifffile

    tifffile.imwrite(tmp_path / "lab.tif", levels(3, U16), photometric="cielab")
    with pytest.raises(MediaError, match="a TIFF of 3 × 16 bits, CieLAB, Uncompressed is not read"):
        media.open(tmp_path / "lab.tif")


def test_nothing_half_written_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    media.save(levels(3), tmp_path / "out.tif")
    before = (tmp_path / "out.tif").read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tiff, "_page", full)
    with pytest.raises(MediaFileError, match=r"out\.tif: No space left on device") as caught:
        media.save(levels(3), tmp_path / "out.tif")
    assert isinstance(caught.value, OSError) and caught.value.errno == 28
    assert [p.name for p in tmp_path.iterdir()] == ["out.tif"]
    assert (tmp_path / "out.tif").read_bytes() == before


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("no.jpg", "no.jpg: there is no such file"),
        ("no/a.jpg", "there is no folder"),
        ("", "a folder"),
    ],
)
def test_what_the_system_refuses(name: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(MediaFileError, match=words):
        media.open(tmp_path / name)
    if "/" in name:
        with pytest.raises(MediaFileError, match=words):
            media.save(levels(3), tmp_path / name)


@pytest.mark.skipif(os.name != "posix", reason="links and permissions of Unix")
def test_a_link_stays_one_and_a_file_leaves_its_permissions(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    real = tmp_path / "there" / "real.png"
    media.save(levels(3), real)
    real.chmod(0o600)
    (tmp_path / "link.png").symlink_to(real)
    media.save(levels(1), tmp_path / "link.png")
    assert (tmp_path / "link.png").is_symlink() and media.open(real).channels == "grey"
    assert real.stat().st_mode & 0o777 == 0o600
    assert [p.name for p in real.parent.iterdir()] == ["real.png"]


def test_pages_of_one_shape_are_measured_each_by_itself(tmp_path: Path) -> None:
    ramp = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
    dark, light = ramp + 10, 2 * ramp + 150
    first, second = (Image.fromarray(page) for page in (dark, light))
    first.save(tmp_path / "in.tif", save_all=True, append_images=[second])
    media.auto_levels(media.open(tmp_path / "in.tif")).save(tmp_path / "a.tif")
    through(tmp_path / "in.tif", tmp_path / "b.tif", Chain.of(["auto_levels"]))
    for name in ("a.tif", "b.tif"):
        for page, before in zip(media.open(tmp_path / name).frames, (dark, light), strict=True):
            np.testing.assert_array_equal(page, media.auto_levels(before))


@pytest.mark.parametrize("big", [False, True])
def test_deep_pages_lie_each_as_they_say(big: bool, tmp_path: Path) -> None:
    import tifffile

    pixels = levels(3, U16)
    with tifffile.TiffWriter(tmp_path / "in.tif", bigtiff=big) as out:
        for orientation in (1, 6, 3):
            out.write(pixels, photometric="rgb", extratags=[(274, "H", 1, orientation, True)])
    pages = media.open(tmp_path / "in.tif").frames
    for page, turned in zip(pages, (0, -1, 2), strict=True):
        np.testing.assert_array_equal(page, np.rot90(pixels, turned))


def test_inks_of_a_later_page_are_said(tmp_path: Path) -> None:
    plain, inks = Image.new("RGB", (8, 6)), Image.new("CMYK", (8, 6))
    plain.save(tmp_path / "in.tif", save_all=True, append_images=[inks, inks])
    photo = media.open(tmp_path / "in.tif")
    assert photo.unread == ("CMYK (it is RGB)",)
    with pytest.raises(LossError, match="CMYK"):
        photo.save(tmp_path / "out.tif", strict=True)


def test_pages_are_no_bomb_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each may be small, and all of them lie in the same bytes of the file."""
    page = Image.new("RGB", (40, 30))
    page.save(tmp_path / "in.tif", save_all=True, append_images=[page] * 3)
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 2 * 40 * 30)
    assert len(media.open(tmp_path / "in.tif").frames) == 4
    assert count_pixels(tmp_path / "in.tif") == 4 * 40 * 30
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 2 * 40 * 30 - 1)
    with pytest.raises(MediaError, match="4 pages of 4800 pixels; more than 4798 could be a bomb"):
        media.open(tmp_path / "in.tif")


@pytest.mark.skipif(os.name != "posix", reason="the words of Unix")
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("folder.png", "folder.png: a folder, expected a picture's file$"),
        ("file/x.png", "x.png: a part of its path is no folder$"),
        ("n" * 300 + ".png", "n.png: File name too long$"),
    ],
)
def test_where_no_file_can_be_is_said_of_the_name_that_was_given(
    name: str, words: str, tmp_path: Path
) -> None:
    (tmp_path / "folder.png").mkdir()
    (tmp_path / "file").touch()
    with pytest.raises(MediaFileError, match=words):
        media.save(levels(3), tmp_path / name)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "folder.png"]


def test_a_name_may_be_as_long_as_the_system_allows(tmp_path: Path) -> None:
    target = tmp_path / ("n" * 251 + ".png")
    media.save(levels(3), target)
    assert media.open(target).format == "PNG"


@pytest.fixture
def as_no_root(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system answers by a file's permissions alone, as it does to any other user."""

    def allowed(path: Path, mode: int) -> bool:
        return not mode & os.W_OK or bool(os.stat(path).st_mode & 0o200)

    monkeypatch.setattr(os, "access", allowed)


def test_a_file_that_is_not_to_be_written_to_is_not_replaced(
    as_no_root: None, tmp_path: Path
) -> None:
    target = tmp_path / "kept.png"
    media.save(levels(3), target)
    before = target.read_bytes()
    target.chmod(0o444)
    with pytest.raises(MediaFileError, match=r"kept\.png: no permission$") as caught:
        media.save(levels(1), target)
    target.chmod(0o644)
    assert caught.value.errno == errno.EACCES
    assert target.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["kept.png"]


@pytest.mark.skipif(os.name != "posix", reason="permissions of Unix")
def test_a_file_in_a_folder_one_may_not_write_to_is_written_where_it_is(
    as_no_root: None, tmp_path: Path
) -> None:
    target = tmp_path / "out.png"
    media.save(levels(3), target)
    before = target.stat().st_ino
    tmp_path.chmod(0o555)
    try:
        media.save(levels(1), target)
    finally:
        tmp_path.chmod(0o755)
    assert target.stat().st_ino == before and media.open(target).channels == "grey"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes of Unix")
def test_a_pipe_with_a_name_stays_one(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.png"
    os.mkfifo(pipe)
    end = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        media.save(levels(1), pipe)
        assert stat.S_ISFIFO(pipe.stat().st_mode)
        got = os.read(end, 1 << 16)
    finally:
        os.close(end)
    np.testing.assert_array_equal(np.array(Image.open(io.BytesIO(got))), levels(1))


@pytest.mark.parametrize(
    ("kind", "said"),
    [(b"gAMA", bytes(5)), (b"gAMA", bytes(8)), (b"cICP", b""), (b"cICP", b"\x09")],
)
def test_what_a_png_says_of_its_colours_counts_in_its_length_alone(
    kind: bytes, said: bytes, tmp_path: Path
) -> None:
    told = PngImagePlugin.PngInfo()
    told.add(kind, said)
    Image.fromarray(levels(3)).save(tmp_path / "in.png", pnginfo=told)
    assert kind in (tmp_path / "in.png").read_bytes()
    photo = media.open(tmp_path / "in.png")
    photo.save(tmp_path / "out.tif")
    np.testing.assert_array_equal(media.open(tmp_path / "out.tif").pixels, photo.pixels)


def test_a_png_keeps_what_it_says_of_the_screen_it_was_made_on(tmp_path: Path) -> None:
    said = {b"cICP": b"\x09\x10\0\1", b"mDCV": bytes(range(24)), b"cLLI": bytes(range(8))}
    whole = io.BytesIO()
    Image.fromarray(levels(3)).save(whole, "PNG")
    (tmp_path / "in.png").write_bytes(deep_png.with_chunks(whole.getvalue(), said))
    photo = media.open(tmp_path / "in.png")
    assert photo.metadata.color_chunks == said
    photo.save(tmp_path / "out.png")
    again = media.open(tmp_path / "out.png")
    assert again.metadata.color_chunks == said
    np.testing.assert_array_equal(again.pixels, photo.pixels)
    with Image.open(tmp_path / "out.png") as seen:
        seen.verify()


@pytest.mark.parametrize("kind", [b"P2", b"P4", b"P5", b"P6", b"Pf"])
def test_comments_of_netpbm_are_kept(kind: bytes, tmp_path: Path) -> None:
    most = {b"P4": b"", b"Pf": b"-1\n"}.get(kind, b"255\n")
    head = kind + b"\n# by a scanner\r\n8 # and\n#  a person\n2\n" + most
    data = b"7 " * 16 if kind == b"P2" else bytes(8 * 2 * 4)
    (tmp_path / "in.pnm").write_bytes(head + data)
    photo = media.open(tmp_path / "in.pnm")
    assert photo.metadata.comment == b"by a scanner\nand\n a person"
    if kind == b"Pf":
        return
    for name, depth_ in (("a.ppm", np.uint8), ("b.ppm", np.uint16)):
        made = photo.with_frames([photo.pixels.astype(depth_)])
        media.save(made, tmp_path / name, strict=True)
        again = media.open(tmp_path / name)
        assert again.metadata.comment == photo.metadata.comment
        np.testing.assert_array_equal(again.pixels, made.pixels)
    media.save(photo, tmp_path / "c.jpg", strict=True)
    with Image.open(tmp_path / "c.jpg") as opened:
        assert opened.info["comment"] == photo.metadata.comment


@pytest.mark.parametrize("form", ["gif", "webp", "png"])
def test_animations_have_a_place_in_memory_or_are_refused(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pixels = np.random.default_rng(3).integers(0, 255, (5, 30, 40, 3), np.uint8)
    frames = [Image.fromarray(p) for p in pixels]
    frames[0].save(tmp_path / f"a.{form}", save_all=True, append_images=frames[1:])
    assert count_pixels(tmp_path / f"a.{form}") == 5 * 30 * 40
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 30 * 40)
    assert len(media.open(tmp_path / f"a.{form}").frames) == 5
    monkeypatch.setattr(reading, "physical_memory", lambda: 4 * 12 * (5 * 30 * 40 - 1))
    with pytest.raises(MediaError, match="5 frames of 40 × 30 take too much memory; as a video"):
        media.open(tmp_path / f"a.{form}")


def test_a_long_comment_does_not_hide_that_a_ppm_is_deep(tmp_path: Path) -> None:
    pixels = np.full((2, 3, 3), 300, np.uint16)
    netpbm.write_netpbm(tmp_path / "said.ppm", pixels, b"word " * 12_000)
    photo = media.open(tmp_path / "said.ppm")
    assert photo.pixels.dtype == np.uint16 and (photo.pixels == 300).all()
