"""A file → a Photo: upright, in its own bit depth, with what else it says."""

from __future__ import annotations

import io
import os
import struct
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from dala.errors import MediaError, UnsupportedError
from dala.media.files import deep_png, tiff
from dala.media.files.content import Pixels
from dala.media.files.formats import ANIMATED, RAW, READ, hint_for, pillow
from dala.media.files.lending import in_one_block, lend_pixels
from dala.media.files.metadata import read_metadata, read_tiff_metadata, turn_upright
from dala.media.files.photo import Photo
from dala.media.packing import drop_alpha

GREY = ("1", "L", "LA", "La", "I", "I;16", "I;16B", "I;16L", "I;16N", "F")
DAMAGE = (ValueError, TypeError, SyntaxError, LookupError, ArithmeticError, EOFError, struct.error)
SAVED_LATER = ("compression", "progressive")  # what Pillow's info says of how a file was written


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
        if error.filename is not None:
            raise
        raise MediaError(f"{path}: the picture is damaged: {error}") from error
    except DAMAGE as error:
        raise MediaError(f"{path}: the picture is damaged: {error}") from error


def _why_unknown(path: Path) -> str:
    if path.stat().st_size == 0:
        return "the file is empty"
    return hint_for(path) or "not a picture that can be read"


def _read(path: Path, file: BinaryIO, image: Any, lent: bool) -> Photo:
    if path.suffix.lower() in RAW:
        return _read_raw(path)
    tags = tiff.read_tags(file)
    layout = None if tags is None else tiff.layout_of(tags)
    if layout is not None:
        return _read_deep_tiff(tags, layout, file, image)
    file.seek(0)
    with (
        image.open(file, formats=[f for f in READ if f in image.OPEN]) as opened,
        in_one_block(image),
    ):
        return _take(opened, path, lambda: image.open(path, formats=("PNG",)), lent)


def _read_deep_tiff(tags: Any, layout: tiff.Layout, file: BinaryIO, image: Any) -> Photo:
    pixels = layout.size[0] * layout.size[1]
    if min(layout.size) < 1 or (image.MAX_IMAGE_PIXELS and pixels > 2 * image.MAX_IMAGE_PIXELS):
        raise MediaError(f"{pixels} pixels; more than {2 * image.MAX_IMAGE_PIXELS} could be a bomb")
    if tags.next:
        raise MediaError("several pages; split them into files first")
    metadata, orientation = read_tiff_metadata(tags, file)
    frame = turn_upright(tiff.read_deep(tags, layout, file), orientation)
    names = {number: name for name, number in tiff.NAMES.items()}
    settings = {"compression": names[layout.compression]}
    return Photo((frame,), metadata, "TIFF", settings, grey=layout.samples < 3)


def _take(opened: Any, path: Path, reopen: Callable[[], Any], lent: bool) -> Photo:
    count = getattr(opened, "n_frames", 1)
    if opened.format == "TIFF" and count > 1:
        raise MediaError(f"{count} pages; split them into files first")
    if opened.format in ANIMATED and count > 1:
        return _read_frames(opened, count)
    settings = {key: opened.info[key] for key in SAVED_LATER if key in opened.info}
    settings |= _sampling(opened)
    if deep_png.is_deep(opened):
        grey, opaque = deep_png.is_grey(opened), False
        frame = deep_png.read_deep(opened, reopen)
        metadata, orientation = read_metadata(opened)
    else:
        opened.load()
        metadata, orientation = read_metadata(opened)
        grey = opened.mode in GREY
        if opened.mode == "CMYK":
            frame = turn_upright(_light_of_inks(opened, metadata.icc_profile), orientation)
            metadata = replace(metadata, icc_profile=None)  # its pixels are sRGB now
            return Photo((frame,), metadata, opened.format, settings, inks=True)
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


def _read_frames(opened: Any, count: int) -> Photo:
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
    return Photo(tuple(frames), kept, opened.format)


def _pixels(opened: Any) -> Pixels:
    """The pixels of a picture in one of Pillow's modes."""
    mode = opened.mode
    if mode.startswith("I;16"):
        return np.asarray(opened).astype(np.uint16)
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
    return np.asarray(opened).astype(np.uint16)


def _read_raw(path: Path) -> Photo:
    try:
        import rawpy
    except ImportError as error:
        raise UnsupportedError(hint_for(path)) from error
    try:
        with rawpy.imread(str(path)) as raw:
            pixels = raw.postprocess(use_camera_wb=True, output_bps=16)
    except rawpy.LibRawError as error:
        reason = error.args[0] if error.args else error
        words = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else reason
        raise MediaError(f"the picture is damaged: {words}") from error
    return Photo((np.ascontiguousarray(pixels),), format="RAW")
