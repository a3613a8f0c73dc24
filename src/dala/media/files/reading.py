"""A file → a Photo: upright, in its own bit depth, with what else it says."""

from __future__ import annotations

import contextlib
import io
import os
import struct
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import numpy as np

from dala.backends.host import physical_memory
from dala.errors import MediaError, UnsupportedError
from dala.media.files import deep_png, depth, netpbm, tiff
from dala.media.files.content import Metadata, Pixels
from dala.media.files.formats import ANIMATED, RAW, READ, hint_for, pillow
from dala.media.files.lending import in_one_block, lend_pixels
from dala.media.files.metadata import (
    read_metadata,
    read_raw_metadata,
    read_tiff_metadata,
    turn_upright,
)
from dala.media.files.photo import Photo
from dala.media.files.place import system_refuses
from dala.media.packing import drop_alpha

Answer = TypeVar("Answer")
GREY = ("1", "L", "LA", "La", "I", "I;16", "I;16B", "I;16L", "I;16N", "F")
DAMAGE = (ValueError, TypeError, SyntaxError, LookupError, ArithmeticError, EOFError, struct.error)
SAVED_LATER = ("compression", "progressive")  # what Pillow's info says of how a file was written
RAW_WEIGHT = 2  # developing a raw photo takes the memory of twice its pixels
SHARE_OF_MEMORY, MOST_MEMORY = 4, 8 << 30  # an animation may take a quarter of it, and 8 GiB
BYTES_OF_FRAME = 3 * 4  # a pixel of an animation: read, filtered, and while it is written


def open_photo(path: str | os.PathLike[str], *, lent: bool = False) -> Photo:
    """What ``dala.media.open`` does. With ``lent``, an RGB picture may be opaque RGBA in Pillow's own
    memory (``Photo.opaque``), which saves a copy of it.
    """
    path = Path(path)
    image = pillow("open")
    try:
        with path.open("rb") as file, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what Pillow mumbles about EXIF and sizes
            return _read(path, file, image, lent)
    except image.UnidentifiedImageError as error:
        raise MediaError(f"{path}: {_why_unknown(path)}") from error
    except image.DecompressionBombError as error:
        raise MediaError(f"{path}: {error}") from error
    except (MediaError, UnsupportedError) as error:
        raise type(error)(f"{path}: {error}") from error
    except OSError as error:
        if error.errno is not None:
            raise system_refuses(error, path) from error
        raise MediaError(f"{path}: {_why_damaged(path, error)}") from error
    except DAMAGE as error:
        raise MediaError(f"{path}: {_why_damaged(path, error)}") from error


@contextlib.contextmanager
def _quietly(path: Path) -> Iterator[BinaryIO]:
    """A file that is wrong, to be asked why: what is not understood ends the asking."""
    with path.open("rb") as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with contextlib.suppress(OSError, *DAMAGE):
            yield file


def _why_unknown(path: Path) -> str:
    if path.stat().st_size == 0:
        return "the file is empty"
    with _quietly(path) as file:
        tags = tiff.read_tags(file)
        if tags is not None and tiff.WIDTH in tags:
            return f"{tiff.describe(tags)} is not read; convert it first, or save it as RGB"
    return hint_for(path) or "not a picture that can be read"


def _why_damaged(path: Path, error: Exception) -> str:
    """In what a decoder says, what it cannot do looks like damage."""
    with _quietly(path) as file:
        tags = tiff.read_tags(file)
        if tags is not None and (name := tiff.compression_of(tags)):
            return f"its compression, {name}, is not in this Pillow, or it is damaged: {error}"
    return f"the picture is damaged: {error}"


def _read(path: Path, file: BinaryIO, image: Any, lent: bool) -> Photo:
    if path.suffix.lower() in RAW:
        return _read_raw(path, file, _most_pixels(image))
    pages = tiff.read_pages(file)
    layouts = [tiff.layout_of(tags) for _, tags in pages]
    if len(pages) == 1 and layouts[0] is not None:
        return _read_deep_tiff(pages[0][1], layouts[0], file, image)
    if (deep := netpbm.read_deep(file, _most_pixels(image))) is not None:
        said = Metadata(comment=netpbm.read_comment(file))
        return Photo((deep,), said, "PPM", grey=deep.ndim == 2)
    file.seek(0)
    with (
        image.open(file, formats=[f for f in READ if f in image.OPEN]) as opened,
        in_one_block(image),
    ):
        if len(pages) > 1:
            return _read_pages(pages, layouts, opened, file, image)
        return _take(opened, path, file, lent)


def count_pixels(path: str | os.PathLike[str]) -> int:
    """How many pixels a file will be in memory, by its head: those of all pages and frames. 0 where that
    cannot be read; whoever opens it is told why."""
    path = Path(path)
    if path.suffix.lower() not in RAW:
        return _of_head(path, _pixels_of) or 0
    try:
        with _developing(path) as raw:
            return RAW_WEIGHT * _pixels_in(raw)
    except (OSError, MediaError, UnsupportedError):
        return 0


def is_animation(path: str | os.PathLike[str]) -> bool:
    """Whether a picture's file has several frames; pages and other views are none."""
    return bool(_of_head(Path(path), lambda opened: _frames_in(opened) > 1))


def _of_head(path: Path, ask: Callable[[Any], Answer]) -> Answer | None:
    """What an undecoded picture says; nothing of one that cannot be read."""
    image = pillow("open")
    formats = [f for f in READ if f in image.OPEN]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with image.open(path, formats=formats) as opened:
                return ask(opened)
    except (OSError, image.DecompressionBombError, *DAMAGE):
        return None


def _frames_in(opened: Any) -> int:
    return int(opened.n_frames) if opened.format in ANIMATED else 1


def _pixels_of(opened: Any) -> int:
    if opened.format == "TIFF" and len(pages := tiff.read_pages(opened.fp)) > 1:
        return tiff.pixels_of(pages)
    return int(_frames_in(opened) * opened.width * opened.height)


def _read_deep_tiff(tags: Any, layout: tiff.Layout, file: BinaryIO, image: Any) -> Photo:
    pixels = layout.size[0] * layout.size[1]
    if min(layout.size) < 1 or pixels > _most_pixels(image):
        raise MediaError(f"{pixels} pixels; more than {_most_pixels(image)} could be a bomb")
    metadata, orientation = read_tiff_metadata(tags, file)
    frame = turn_upright(tiff.read_deep(tags, layout, file), orientation)
    names = {number: name for name, number in tiff.NAMES.items()}
    settings = {"compression": names[layout.compression]}
    return Photo((frame,), metadata, "TIFF", settings, grey=layout.samples < 3)


def _most_pixels(image: Any) -> int:
    """More of them are a bomb; it is twice of what Pillow warns of."""
    return 2 * image.MAX_IMAGE_PIXELS if image.MAX_IMAGE_PIXELS else sys.maxsize


def _read_pages(
    pages: Sequence[tuple[int, Any]],
    layouts: Sequence[tiff.Layout | None],
    opened: Any,
    file: BinaryIO,
    image: Any,
) -> Photo:
    """The pages of a TIFF, each as deep as it is; what is said of all is that of the first."""
    if (pixels := tiff.pixels_of(pages)) > _most_pixels(image):  # they may all lie in one place
        raise MediaError(
            f"{len(pages)} pages of {pixels} pixels; more than {_most_pixels(image)} could be a bomb; "
            "split it into files of fewer pages"
        )
    made = []
    for (number, tags), layout in zip(pages, layouts, strict=True):
        if layout is not None:
            made.append(_read_deep_tiff(tags, layout, file, image))
        else:
            opened.seek(number)
            made.append(_take_one(opened, Path(), lent=False))
    grey = all(page.grey for page in made)
    unread = tuple(dict.fromkeys(word for page in made for word in page.unread))
    frames = tuple(page.pixels for page in made)
    return replace(made[0], frames=frames, grey=grey, unread=unread)


def _take(opened: Any, path: Path, file: BinaryIO, lent: bool) -> Photo:
    count = getattr(opened, "n_frames", 1)
    if opened.format in ANIMATED and count > 1:
        _check_frames(opened, count)
        lossless = opened.format == "WEBP" and depth.is_lossless_webp(file)
        return _read_frames(opened, count, {"lossless": True} if lossless else {})
    if deep_png.is_deep(opened):
        grey = deep_png.is_grey(opened)
        frame = deep_png.read_deep(opened, lambda: pillow("open").open(path, formats=("PNG",)))
        metadata, orientation = read_metadata(opened)
        photo = Photo((turn_upright(frame, orientation),), metadata, "PNG", grey=grey)
    else:
        if opened.format in ("JPEG", "MPO") and depth.is_arithmetic(file):
            opened.decodermaxblock = path.stat().st_size  # this decoder cannot wait for more
        photo = _take_one(opened, path, lent=lent)
    if opened.format == "PNG":
        said = replace(photo.metadata, color_chunks=deep_png.read_color_chunks(file))
        return replace(photo, metadata=said)
    if opened.format == "PPM":
        said = replace(photo.metadata, comment=netpbm.read_comment(file))
        return replace(photo, metadata=said)
    if opened.format == "WEBP" and depth.is_lossless_webp(file):
        return replace(photo, settings={**photo.settings, "lossless": True})
    unread = list(photo.unread)
    if count > 1 and opened.format != "TIFF":
        unread.append(
            "its second picture (a gain map, or another view)"
            if count == 2
            else f"its {count - 1} further pictures"
        )
    if photo.bits == 8 and (bits := depth.bits_in(opened.format, file, opened)) > 8:
        unread.append(f"{bits} bits (8 are read)")
    return replace(photo, unread=tuple(unread))


def _take_one(opened: Any, path: Path, *, lent: bool) -> Photo:
    """The picture that an opened file stands at."""
    settings = {key: opened.info[key] for key in SAVED_LATER if key in opened.info}
    settings |= _sampling(opened)
    opened.load()
    metadata, orientation = read_metadata(opened)
    grey = opened.mode in GREY
    if opened.mode == "CMYK":
        frame = turn_upright(_light_of_inks(opened, metadata.icc_profile), orientation)
        metadata = replace(metadata, icc_profile=None)  # its pixels are sRGB now
        return Photo((frame,), metadata, opened.format, settings, ("CMYK (it is RGB)",))
    frame, opaque = _frame_of(opened, path, lent)
    frame = turn_upright(frame, orientation)
    return Photo((frame,), metadata, opened.format, settings, grey=grey, opaque=opaque)


def _frame_of(opened: Any, path: Path, lent: bool) -> tuple[Pixels, bool]:
    """The pixels, and whether they are RGB that lies as opaque RGBA."""
    if opened.format == "HEIF" and opened.info.get("bit_depth", 8) > 8:
        return _deep_heif(path), False
    if lent and opened.mode == "RGB" and "transparency" not in opened.info:
        shared = lend_pixels(opened)
        if shared is not None:
            return shared, True
    return _pixels(opened), False


def _check_frames(opened: Any, count: int) -> None:
    """An animation is whole in memory; refuse one that has no place there."""
    room = min(physical_memory() // SHARE_OF_MEMORY, MOST_MEMORY) // BYTES_OF_FRAME
    most = max(_most_pixels(pillow("open")), room)
    if count * opened.width * opened.height > most:
        raise MediaError(
            f"{count} frames of {opened.width} × {opened.height} take too much memory; as a video "
            "(into .mp4, or by dala.video) they are read one by one"
        )


def _read_frames(opened: Any, count: int, settings: Mapping[str, Any]) -> Photo:
    frames, durations = [], []
    for number in range(count):
        opened.seek(number)
        opened.load()  # only then is the time of a WebP's frame known
        frames.append(np.asarray(opened.convert("RGBA")))
        durations.append(float(opened.info.get("duration", 100)))
    metadata, _ = read_metadata(opened)
    loop = opened.info.get("loop", 0 if opened.format != "GIF" else 1)
    kept = replace(metadata, durations=tuple(durations), loop=int(loop))
    if all((frame[..., 3] == 255).all() for frame in frames):
        frames = [np.ascontiguousarray(frame[..., :3]) for frame in frames]
    return Photo(tuple(frames), kept, opened.format, settings)


def _pixels(opened: Any) -> Pixels:
    """The pixels of a picture in one of Pillow's modes."""
    mode = opened.mode
    if mode.startswith("I;16"):
        levels = np.asarray(opened).astype(np.uint16)
        bits = opened.tag_v2.get(tiff.BITS, (16,))[0] if opened.format == "TIFF" else 16
        return levels if bits == 16 else _widened(levels, bits)
    if mode == "I":
        values = np.asarray(opened)
        if values.min() < 0 or values.max() > 65535:
            raise MediaError("its values have more than 16 bits")
        return values.astype(np.uint16)
    if mode == "F":
        return np.asarray(opened)
    if mode == "LAB":
        return _through_profiles(opened, "LAB")
    clear = "transparency" in opened.info or mode in ("LA", "La", "PA", "RGBA", "RGBa")
    working = "RGBA" if clear else "L" if mode in ("1", "L") else "RGB"
    opened = opened if mode == working else opened.convert(working)
    shared = lend_pixels(opened)
    if shared is None:
        return np.asarray(opened)
    return drop_alpha(shared) if working == "RGB" else shared


def _widened(levels: Pixels, bits: int) -> Pixels:
    """Levels of fewer bits as those of 16: white stays white."""
    widened: Pixels = np.rint(levels * np.float32(65535 / (2**bits - 1))).astype(np.uint16)
    return widened


def _sampling(opened: Any) -> dict[str, Any]:
    if opened.format not in ("JPEG", "MPO"):
        return {}
    from PIL import JpegImagePlugin

    found = JpegImagePlugin.get_sampling(opened)
    return {"subsampling": found} if found >= 0 else {}


# -- inks ---------------------------------------------------------------------------------------------


def _light_of_inks(opened: Any, profile: bytes | None) -> Pixels:
    """CMYK as sRGB: by its profile if that is one of inks, else by Pillow's plain rule."""
    from PIL import ImageCms

    if profile:
        try:
            inks = ImageCms.ImageCmsProfile(io.BytesIO(profile))
            if inks.profile.xcolor_space.strip() == "CMYK":
                light = ImageCms.profileToProfile(
                    opened, inks, ImageCms.createProfile("sRGB"), outputMode="RGB"
                )
                return np.asarray(light)
        except (ImageCms.PyCMSError, OSError):
            pass  # a profile that nobody can read is as good as none
    return np.asarray(opened.convert("RGB"))


def _through_profiles(opened: Any, space: Any) -> Pixels:
    from PIL import ImageCms

    source, target = ImageCms.createProfile(space), ImageCms.createProfile("sRGB")
    return np.asarray(ImageCms.profileToProfile(opened, source, target, outputMode="RGB"))


# -- with packages of their own -----------------------------------------------------------------------


def _deep_heif(path: Path) -> Pixels:
    """10 and 12 bits of a HEIC, as 16."""
    import pillow_heif

    opened = pillow_heif.open_heif(path, convert_hdr_to_8bit=False)
    bits = int(opened.info["bit_depth"])
    return _widened(np.asarray(opened) >> (16 - bits), bits)  # where it has them, the highest


def _read_raw(path: Path, file: BinaryIO, most_pixels: int) -> Photo:
    """A camera's raw photo as it was meant: its white balance, upright, sRGB of 16 bits."""
    with _developing(path) as raw:
        if (pixels := _pixels_in(raw)) > most_pixels:
            raise MediaError(f"{pixels} pixels; more than {most_pixels} could be a bomb")
        frame = raw.postprocess(use_camera_wb=True, output_bps=16)
    tags = tiff.read_tags(file)
    said = None if tags is None else read_raw_metadata(tags, file)
    unread = () if said and said.exif else ("its EXIF",)
    return Photo((np.ascontiguousarray(frame),), said or Metadata(), "RAW", unread=unread)


def _pixels_in(raw: Any) -> int:
    return int(raw.sizes.iwidth * raw.sizes.iheight)


@contextlib.contextmanager
def _developing(path: Path) -> Iterator[Any]:
    try:
        import rawpy
    except ImportError as error:
        raise UnsupportedError(hint_for(path)) from error
    if path.stat().st_size == 0:
        raise MediaError("the file is empty")
    try:
        with rawpy.imread(str(path)) as raw:
            yield raw
    except rawpy.LibRawIOError as error:
        raise MediaError("the picture is damaged: the file ends too early") from error
    except rawpy.LibRawFileUnsupportedError as error:
        raise MediaError("no raw photo that LibRaw knows") from error
    except rawpy.LibRawError as error:
        reason = error.args[0] if error.args else error
        words = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else reason
        raise MediaError(f"the picture is damaged: {words}") from error
