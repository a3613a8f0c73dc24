"""A Photo → a file, and what that file cannot hold."""

from __future__ import annotations

import io
import os
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dala.errors import MediaError
from dala.media.files import deep_png, netpbm, tiff
from dala.media.files.content import Content, Metadata, Pixels
from dala.media.files.formats import ANIMATED, DEEP, HOLDS, LOSSY, OPAQUE, format_of, pillow
from dala.media.files.metadata import (
    SEGMENT,
    XMP_KEY,
    dpi_in,
    exif_with_density,
    photoshop_segments,
    tiff_tags,
)
from dala.media.files.place import moved_into_place, system_refuses
from dala.media.losses import report_losses
from dala.media.packing import drop_alpha

QUALITY = 92
KEPT = {
    "icc_profile": "its colour profile",
    "exif": "its EXIF",
    "xmp": "its XMP",
    "comment": "its comment",
    "iptc": "its IPTC",
}
USUAL_DPI = (72.0, 96.0)  # what files say that were never meant for paper
IN_EXIF = ("WEBP", "AVIF", "HEIF", "JXL")  # have no place for dpi but that
SRGB_CICP, USUAL_GAMMA = b"\x01\x0d", 45_455  # as a PNG writes them
WHITE = {1: 255, 2: 65535, 4: 1}  # by the bytes of a value


def save_photo(
    photo: Content,
    path: str | os.PathLike[str],
    *,
    quality: int = QUALITY,
    strict: bool = False,
    write_to: Path | None = None,
    tell: Callable[[str], None] | None = None,
) -> None:
    """What ``dala.media.save`` does; ``write_to`` is another name for the file, and ``tell`` gets the line
    of what it cannot hold instead of a warning.
    """
    path = Path(path)
    form = format_of(path)
    check_frames(photo, path)
    report_losses(path, list(find_losses(photo, form)), strict=strict, tell=tell)
    if _has_grey_profile(photo):
        photo = replace(photo, metadata=replace(photo.metadata, icc_profile=None))
    if photo.opaque and form != "JPEG":  # which alone takes them as they lie
        photo = replace(photo, frames=tuple(map(drop_alpha, photo.frames)), opaque=False)
    frames = photo.frames if photo.opaque else [_fitting(frame, form) for frame in photo.frames]
    with ExitStack() as places:
        unfinished = write_to or places.enter_context(moved_into_place(path))
        try:
            _write(replace(photo, frames=tuple(frames)), unfinished, form, quality)
        except (OSError, ValueError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise system_refuses(error, path) from error
            raise MediaError(f"{path}: {error}") from error  # Pillow's own: a mode it has not


def check_frames(photo: Content, path: Path) -> None:
    """Refuse several frames where there is room for one. Pages are not frames of an animation."""
    count, form = len(photo.frames), format_of(path)
    are_pages = photo.format == "TIFF"
    if count > 1 and (form != "TIFF" if are_pages else form not in ANIMATED):
        what = "pages" if are_pages else "frames"
        room = ".tif has" if are_pages else ".gif, .png, .webp and videos have"
        raise MediaError(
            f"{path}: {count} {what}; {path.suffix} files have only one, {room} room for all"
        )


def find_losses(photo: Content, form: str) -> Iterator[str]:
    """What a format cannot hold of a photo, in words."""
    bits = DEEP.get(form, 8)
    if photo.bits > bits:
        yield f"{'floats' if photo.bits == 32 else f'{photo.bits} bits'} ({bits} bits are kept)"
    if photo.channels == "rgba" and form in OPAQUE and _shows_through(photo):
        yield "alpha (it lies on black)"
    if form == "GIF" and photo.format != "GIF":
        yield "more than 256 colours"
    yield from photo.unread
    metadata = photo.metadata
    for name, words in KEPT.items():
        as_text = name == "comment" and form == "PNG"
        value = getattr(metadata, name)
        if value and form not in HOLDS[name] and not as_text:
            yield words
        elif value and _is_too_long(name, value, form):
            yield f"{words} (of {len(value):,} bytes)"
    if metadata.dpi and not _keeps_dpi(metadata, form):
        yield f"{metadata.dpi[0]:g} dpi"
    if _has_grey_profile(photo):
        yield "its profile (it is of greys)"
    if metadata.text and form != "PNG":
        yield f"its texts ({', '.join(metadata.text)})"
    if form != "PNG" and (colors := _unusual_colors(metadata)):
        yield colors


def _unusual_colors(metadata: Metadata) -> str:
    """What a PNG alone can say of its colours, if they are not sRGB's anyway."""
    chunks = metadata.color_chunks
    if b"cICP" in chunks and chunks[b"cICP"][:2] != SRGB_CICP:
        return "its colours (cICP {}/{})".format(*chunks[b"cICP"][:2])
    if b"gAMA" in chunks and b"sRGB" not in chunks and not metadata.icc_profile:
        (gamma,) = struct.unpack(">I", chunks[b"gAMA"])
        if abs(gamma - USUAL_GAMMA) > 0.02 * USUAL_GAMMA:
            return f"its gamma of {gamma / 100_000:g}"
    return ""


def _is_too_long(name: str, value: bytes, form: str) -> bool:
    """Whether it is too long for a part of a JPEG's head; profiles may take several."""
    return form == "JPEG" and name != "icc_profile" and len(value) > SEGMENT


def _keeps_dpi(metadata: Metadata, form: str) -> bool:
    if form in HOLDS["dpi"] or all(round(v, 2) in USUAL_DPI for v in metadata.dpi or ()):
        return True
    return form in IN_EXIF and dpi_in(exif_with_density(metadata)) is not None


def _shows_through(photo: Content) -> bool:
    white = WHITE[photo.pixels.itemsize]
    return any(bool((frame[..., 3] != white).any()) for frame in photo.frames)


def _has_grey_profile(photo: Content) -> bool:
    """Whether its profile is of greys, and it has become coloured."""
    return bool(photo.metadata.icc_profile and photo.grey) and not _is_grey(photo.pixels)


def _fitting(frame: Pixels, form: str) -> Pixels:
    """A frame as the format has it: no deeper, and on black if it has no alpha."""
    bits = DEEP.get(form, 8)
    if form in OPAQUE and frame.ndim == 3 and frame.shape[2] == 4:
        white = WHITE[frame.itemsize]
        lit = frame[..., :3] * (frame[..., 3:] / np.float32(white))
        frame = (lit if frame.dtype.kind == "f" else np.rint(lit)).astype(frame.dtype)
    if frame.itemsize * 8 <= bits:
        return frame
    unit = frame if frame.dtype.kind == "f" else frame / np.float32(65535)
    most, kind = (65535, np.uint16) if bits == 16 else (255, np.uint8)
    levels: Pixels = np.rint(np.nan_to_num(np.clip(unit, 0, 1)) * most).astype(kind)
    return levels


# -- by format ----------------------------------------------------------------------------------------


def _write(photo: Content, path: Path, form: str, quality: int) -> None:
    if form == "TIFF":
        compression = photo.settings.get("compression", "tiff_adobe_deflate")
        pages = [_with_few_channels(replace(photo, frames=(frame,))) for frame in photo.frames]
        tiff.write_tiff(path, pages, compression, tiff_tags(photo.metadata))
    elif form == "PPM":
        netpbm.write_netpbm(path, photo.pixels, photo.metadata.comment)
    elif form == "PNG" and photo.bits == 16:
        deep_png.write_deep(path, _with_few_channels(photo), _png_chunks(photo.metadata))
    else:
        _write_with_pillow(photo, path, form, quality)


def _with_few_channels(photo: Content) -> Pixels:
    """Grey with alpha as two channels."""
    pixels = photo.pixels
    if photo.grey and pixels.ndim == 3 and pixels.shape[2] == 4 and _is_grey(pixels):
        return np.ascontiguousarray(pixels[..., 2:])
    return pixels


def _is_grey(pixels: Pixels) -> bool:
    if pixels.ndim == 2:
        return True
    red = pixels[..., 0]
    return bool((pixels[..., 1] == red).all() and (pixels[..., 2] == red).all())


def _write_with_pillow(photo: Content, path: Path, form: str, quality: int) -> None:
    image = pillow("save")
    images = [_as_pillow(image, frame, photo.opaque) for frame in photo.frames]
    if form == "PNG" and photo.grey and photo.channels == "rgba" and _is_grey(photo.pixels):
        images = [made.convert("LA") for made in images]
    if form == "WEBP":
        images = [made.convert("RGB") if made.mode == "L" else made for made in images]
    options: dict[str, Any] = dict(_metadata_options(photo.metadata, form))
    if form in LOSSY:
        options["quality"] = quality
    if form == "JPEG":
        options |= _jpeg_options(photo.settings, quality)
    if form == "WEBP" and photo.settings.get("lossless") and quality in (QUALITY, 100):
        options |= {"lossless": True, "exact": True}  # unless another quality is asked for
    if len(images) > 1:
        options |= _animation_options(photo.metadata, form, images)
    light = {k: v for k, v in photo.metadata.color_chunks.items() if k in deep_png.LIGHT_CHUNKS}
    if form == "PNG" and light:
        made = io.BytesIO()
        images[0].save(made, form, **options)
        path.write_bytes(deep_png.with_chunks(made.getvalue(), light))
    else:
        images[0].save(path, form, **options)


def _as_pillow(image: Any, frame: Pixels, opaque: bool) -> Any:
    """A frame for Pillow; what it can read where it lies is not copied."""
    frame = np.ascontiguousarray(frame)
    if opaque:
        size = frame.shape[1], frame.shape[0]
        return image.frombuffer("RGBX", size, frame, "raw", "RGBX", 0, 1)
    return image.fromarray(frame)


def _metadata_options(metadata: Metadata, form: str) -> Iterator[tuple[str, Any]]:
    if form in IN_EXIF:
        metadata = replace(metadata, exif=exif_with_density(metadata))
    for name in HOLDS:
        value = getattr(metadata, name)
        if not value or form not in HOLDS[name] or (form == "PNG" and name == "xmp"):
            continue
        if name != "dpi" and _is_too_long(name, value, form):
            continue
        yield ("extra", photoshop_segments(value)) if name == "iptc" else (name, value)
    texts, colors = _texts(metadata), metadata.color_chunks
    if form == "PNG" and (texts or colors):
        from PIL import PngImagePlugin

        written = PngImagePlugin.PngInfo()
        for kind, data in colors.items():
            written.add(kind, data)
        for key, text in texts.items():
            written.add_itxt(key, text)
        yield "pnginfo", written


def _texts(metadata: Metadata) -> dict[str, str]:
    """What a PNG holds as text."""
    texts = dict(metadata.text)
    if metadata.comment:
        texts.setdefault("Comment", metadata.comment.decode("utf-8", "replace"))
    if metadata.xmp:
        texts[XMP_KEY] = metadata.xmp.decode("utf-8", "replace")
    return texts


def _jpeg_options(settings: Mapping[str, Any], quality: int) -> dict[str, Any]:
    options = {key: settings[key] for key in ("subsampling", "progressive") if key in settings}
    return options | ({"subsampling": 0} if quality == 100 else {})


def _animation_options(metadata: Metadata, form: str, images: list[Any]) -> dict[str, Any]:
    times = [int(t) if t == int(t) else t for t in metadata.durations] or [100] * len(images)
    if form != "PNG":
        times = [round(t) for t in times]
    options: dict[str, Any] = {"save_all": True, "append_images": images[1:], "duration": times}
    if form != "AVIF":
        options["loop"] = metadata.loop
    if form in ("GIF", "PNG"):
        options["disposal"] = 2
    return options


def _png_chunks(metadata: Metadata) -> Iterator[tuple[bytes, bytes]]:
    yield from metadata.color_chunks.items()
    if metadata.icc_profile:
        yield b"iCCP", b"ICC Profile\0\0" + zlib.compress(metadata.icc_profile)
    if metadata.dpi:
        across, down = (round(value / 0.0254) for value in metadata.dpi)
        yield b"pHYs", struct.pack(">2IB", across, down, 1)
    for key, text in _texts(metadata).items():
        yield b"iTXt", key.encode("latin-1", "replace")[:79] + b"\0\0\0\0\0" + text.encode()
    if metadata.exif:
        yield b"eXIf", metadata.exif.removeprefix(b"Exif\0\0")
