"""One picture file through filters: EXIF orientation applied, alpha, ICC profile, EXIF and 16 bits kept
where the format can."""

from __future__ import annotations

import functools
import io
import warnings
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageCms, ImageOps, ImageSequence, UnidentifiedImageError

from dala.cli.captions import Caption
from dala.cli.mistakes import Failed, UsageMistake
from dala.errors import suggest
from dala.media import Chain, start_pipeline

Pixels = npt.NDArray[Any]  # (height, width, 4), u8, or f32 for pictures of 16 bits
OPAQUE = ("JPEG", "MPO", "PPM", "BMP", "PCX", "EPS", "PDF")  # formats that drop alpha
ANIMATED = ("GIF", "WEBP", "PNG", "AVIF")  # several frames are a film; in an MPO, other views
LOSSY = ("JPEG", "MPO", "WEBP", "AVIF")
DEEP = ("I;16", "I;16B", "I;16L", "I")
DEEP_WHITE = 65_535


@dataclass
class Photo:
    """A picture as it lies in a file, turned upright."""

    frames: list[Pixels]
    grey: bool
    alpha: bool
    deep: bool  # 16 bits per value
    kept: dict[str, Any] = field(default_factory=dict)  # what Pillow's save takes besides

    @property
    def size(self) -> tuple[int, int]:
        """Width and height."""
        height, width, _ = self.frames[0].shape
        return width, height


def load_photo(path: Path) -> Photo:
    """Read a picture; a damaged one is refused whole."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            with Image.open(path) as opened:
                return _take(opened, path)
    except UnidentifiedImageError as error:
        raise Failed(f"{path}: {_why_unknown(path)}") from error
    except Image.DecompressionBombError as error:
        raise Failed(f"{path}: {error}") from error
    except OSError as error:
        if error.filename is not None:
            raise
        raise Failed(f"{path}: the picture is damaged: {error}") from error
    except (ValueError, SyntaxError, IndexError, OverflowError) as error:  # as Pillow's readers do
        raise Failed(f"{path}: the picture is damaged: {error}") from error


def _why_unknown(path: Path) -> str:
    if path.stat().st_size == 0:
        return "the file is empty"
    return "not a picture that Pillow can read"


def _take(opened: Image.Image, path: Path) -> Photo:
    frames_in_file = getattr(opened, "n_frames", 1)
    animated = opened.format in ANIMATED and frames_in_file > 1
    if opened.format == "TIFF" and frames_in_file > 1:
        raise Failed(f"{path}: {frames_in_file} pages; split them into files first")
    kept = {key: opened.info[key] for key in ("icc_profile", "dpi") if opened.info.get(key)}
    if animated:
        kept |= {"duration": [], "loop": opened.info.get("loop", 0), "save_all": True}
        frames = []
        for frame in ImageSequence.Iterator(opened):
            kept["duration"].append(frame.info.get("duration", 100))
            frames.append(np.asarray(frame.convert("RGBA")))
        return Photo(frames, grey=False, alpha=True, deep=False, kept=kept)
    opened.load()
    upright = ImageOps.exif_transpose(opened)
    if exif := upright.getexif():
        kept["exif"] = exif.tobytes()
    if upright.mode == "CMYK":
        upright = _cmyk_to_rgb(upright, kept.pop("icc_profile", None))
    deep = upright.mode in DEEP
    return Photo(
        [_deep_pixels(upright) if deep else np.asarray(upright.convert("RGBA"))],
        grey=deep or upright.mode in ("1", "L", "LA", "La"),
        alpha="A" in upright.getbands() or "a" in upright.getbands()
        or "transparency" in upright.info,
        deep=deep,
        kept=kept,
    )  # fmt: skip


def _deep_pixels(image: Image.Image) -> Pixels:
    values = np.asarray(image).astype(np.float32)
    if values.max(initial=0) > DEEP_WHITE or values.min(initial=0) < 0:
        raise ValueError("its values have more than 16 bits")
    opaque = np.ones((*values.shape, 4), np.float32)
    opaque[..., :3] = (values / DEEP_WHITE)[..., None]
    return opaque


def _cmyk_to_rgb(image: Image.Image, profile: bytes | None) -> Image.Image:
    """Inks as light: by the profile if there is one, else by Pillow's plain rule."""
    if not profile:
        return image.convert("RGB")
    inks = ImageCms.ImageCmsProfile(io.BytesIO(profile))
    light = ImageCms.profileToProfile(image, inks, ImageCms.createProfile("sRGB"), outputMode="RGB")
    assert light is not None
    return light


# -- writing -------------------------------------------------------------------------------------------


def format_of(path: Path) -> str:
    """Pillow's name of the format that a file's ending asks for."""
    endings = {e: f for e, f in Image.registered_extensions().items() if f in Image.SAVE}
    form = endings.get(path.suffix.lower())
    if form is None:
        near = suggest(path.suffix.lower(), endings) or "; .png and .jpg always work"
        raise UsageMistake(
            f"{path}: no picture format is called {path.suffix or 'nothing'!r}{near}"
        )
    return form


def save_photo(photo: Photo, frames: list[Pixels], path: Path, form: str, quality: int) -> None:
    """Write what was made of a photo, with what belongs to it."""
    kept = dict(photo.kept)
    grey = photo.grey and all(_is_grey(f) for f in frames)
    images = [_as_image(photo, f, form, grey=grey) for f in frames]
    if photo.grey != grey:
        kept.pop("icc_profile", None)  # a profile of greys does not fit colours
    if form in LOSSY:
        kept["quality"] = quality
    if len(images) == 1 or form not in ANIMATED:
        kept = {k: v for k, v in kept.items() if k not in ("duration", "loop", "save_all")}
    else:
        kept["append_images"] = images[1:]
        kept["disposal"] = 2
    images[0].save(path, form, **kept)


def _is_grey(pixels: Pixels) -> bool:
    red = pixels[..., 0]
    return bool((pixels[..., 1] == red).all() and (pixels[..., 2] == red).all())


def _as_image(photo: Photo, pixels: Pixels, form: str, *, grey: bool) -> Image.Image:
    if photo.deep:
        if grey and form in ("PNG", "TIFF"):
            levels = np.rint(np.clip(pixels[..., 0], 0, 1) * DEEP_WHITE)
            return Image.fromarray(levels.astype(np.uint16))
        pixels = np.rint(np.clip(pixels, 0, 1) * 255).astype(np.uint8)
    image = Image.fromarray(np.ascontiguousarray(pixels))
    clear = photo.alpha or bool((pixels[..., 3] != 255).any())
    if clear and form in OPAQUE:  # on black, as a surface is saved
        image = Image.alpha_composite(Image.new("RGBA", image.size, (0, 0, 0, 255)), image)
        clear = False
    if clear:
        return image.convert("LA") if grey and form == "PNG" else image
    return image.convert("L" if grey else "RGB")


@functools.cache
def picture_endings() -> frozenset[str]:
    """Endings of files that Pillow reads."""
    Image.init()
    return frozenset(e for e, f in Image.registered_extensions().items() if f in Image.OPEN)


def _captioned(photo: Photo, frames: list[Pixels], caption: Caption) -> list[Pixels]:
    """A text on every frame; of an animation each at its time."""
    durations = photo.kept.get("duration", 0)
    steps = durations if isinstance(durations, list | tuple) else [durations] * len(frames)
    drawn, time = [], Fraction(0)
    for number, frame in enumerate(frames):
        pixels = np.array(frame)
        caption.draw(pixels, number, time)
        drawn.append(pixels)
        time += Fraction(int(steps[number] if number < len(steps) else 0), 1000)
    return drawn


def filter_photo(
    source: Path,
    write: Path,
    target: Path,
    chain: Chain,
    quality: int,
    caption: Caption | None = None,
) -> tuple[int, int]:
    """Read ``source``, filter it, and write it to ``write`` in the format of ``target``; the new size."""
    form = format_of(target)
    photo = load_photo(source)
    if len(photo.frames) > 1 and form not in ANIMATED:
        raise Failed(
            f"{source} has {len(photo.frames)} frames; {target.suffix} files have only one"
        )
    with start_pipeline(*photo.size) as pipeline:
        frames = list(pipeline.map(photo.frames, chain))
    if caption is not None:
        frames = _captioned(photo, frames, caption)
    try:
        save_photo(photo, frames, write, form, quality)
    except OSError as error:
        if error.errno is not None:
            raise
        raise Failed(f"{target}: {error}") from error  # Pillow's own: a mode the format has not
    height, width, _ = frames[0].shape
    return width, height
