"""The pictures of docs/kernels.md: each image kernel on a photo that suits it, before and after.

Photos are those of scikit-image and one of scikit-learn, cut to what shows the kernel; photos.py names
their sources and licences, shown.py says which of them shows what.
``DALA_MODELS=~/models python docs/pictures.py --mask`` makes portrait_mask.png anew (the model ``selfie``).
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image
from scipy import ndimage
from shown import SHOWN
from skimage import data

from dala import compute, media
from dala.language.registry import find_kernel
from photos import load_photo

HERE = Path(__file__).parent
WIDTH, HEIGHT, GAP = 400, 320, 6  # of each half; between them
QUALITY = 80
Pair = tuple[np.ndarray, np.ndarray]  # before and after; a frame is grey
Box = tuple[int, int, int, int]  # left, top, right, bottom

CUTS: dict[str, Box] = {  # what is shown of a photo, if not its middle
    "astronaut": (0, 0, 512, 410),
    "head": (60, 0, 380, 256),
    "face": (170, 50, 300, 154),
    "eyes": (60, 60, 210, 180),
    "against_the_sky": (200, 40, 420, 216),
    "rocket": (160, 60, 540, 364),
    "tower": (50, 0, 583, 426),
}
OF = {  # parts of photos
    "head": "astronaut", "face": "astronaut", "eyes": "chelsea", "against_the_sky": "camera",
    "tower": "china",
}  # fmt: skip


def make_pictures() -> None:
    folder = HERE / "kernels"
    folder.mkdir(exist_ok=True)
    for name in compute.kernels():
        if find_kernel(name).domain != "image":
            continue
        if not find_kernel(name).inputs:  # there is nothing before
            sheet = Image.fromarray(apply(name, shape=(HEIGHT, WIDTH, 4))).convert("RGB")
        else:
            before, after = SCENES.get(name, on_its_photo)(name)
            sheet = Image.new("RGB", (2 * WIDTH + GAP, HEIGHT), "white")
            sheet.paste(on_paper(before), (0, 0))
            sheet.paste(on_paper(after), (WIDTH + GAP, 0))
        save(sheet, folder / f"{name}.jpg")
        print(name)


def save(sheet: Image.Image, path: Path) -> None:
    sheet.save(path, quality=QUALITY, optimize=True, progressive=True)


def on_paper(picture: np.ndarray) -> Image.Image:
    """In the middle of a white page; a checkerboard shows through what is transparent."""
    image = Image.fromarray(picture).convert("RGBA")
    squares = np.indices((image.height, image.width)) // 16
    checks = Image.fromarray((squares.sum(0) % 2 * 40 + 190).astype(np.uint8)).convert("RGBA")
    checks.alpha_composite(image)
    paper = Image.new("RGB", (WIDTH, HEIGHT), "white")
    paper.paste(checks.convert("RGB"), ((WIDTH - image.width) // 2, (HEIGHT - image.height) // 2))
    return paper


def apply(name: str, *inputs: np.ndarray, shape: tuple[int, ...], **params: object) -> np.ndarray:
    output = compute.buffer_zeros(shape, "u8")
    compute.run_kernel(name, [compute.from_array(each) for each in inputs], output, params)
    return output.read()


@functools.cache
def photo(name: str) -> np.ndarray:
    """A photo, or a part of one, as large as a half of a picture, RGBA."""
    return np.asarray(cut(name).resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS))


def cut(name: str) -> Image.Image:
    """A part with the proportions of the page, in the photo's own pixels."""
    pixels = Image.fromarray(load_photo(OF.get(name, name))).convert("RGBA")
    if name in CUTS:
        return pixels.crop(CUTS[name])
    wide = min(pixels.width, pixels.height * WIDTH // HEIGHT)
    high = wide * HEIGHT // WIDTH
    left, top = (pixels.width - wide) // 2, (pixels.height - high) // 2
    return pixels.crop((left, top, left + wide, top + high))


def enlarged(picture: np.ndarray, way: Image.Resampling = Image.Resampling.BICUBIC) -> np.ndarray:
    return np.asarray(Image.fromarray(picture).resize((WIDTH, HEIGHT), way))


# -- the portrait and its mask -------------------------------------------------------------------


def make_mask() -> None:
    """Who is in front in the photo of the astronaut, as the model ``selfie`` sees it, less the flecks."""
    from dala import ml

    with ml.load_model("selfie") as selfie:
        found = media.segmentation(data.astronaut(), selfie)[..., 3]
    Image.fromarray(of_one_piece(found)).save(HERE / "portrait_mask.png", optimize=True)


def of_one_piece(mask: np.ndarray) -> np.ndarray:
    """The largest piece of what is surely in front, without holes, with the mask's own soft edge."""
    sure = np.pad(
        mask >= 200, ((0, 1), (0, 0)), constant_values=True
    )  # she goes on below the photo
    solid = ndimage.binary_opening(ndimage.binary_fill_holes(sure), iterations=8, border_value=0)
    pieces, _ = ndimage.label(solid[:-1])
    body = pieces == np.bincount(pieces[pieces > 0]).argmax()
    inside = ndimage.binary_erosion(body, iterations=3, border_value=1)
    near = ndimage.binary_dilation(body, iterations=3)
    return np.where(inside, 255, np.where(near, mask, 0)).astype(np.uint8)


@functools.cache
def portrait_mask(about: str = "astronaut") -> np.ndarray:
    """Of the same part of the photo as ``photo(about)``."""
    with Image.open(HERE / "portrait_mask.png") as opened:
        part = opened.crop(CUTS[about]).resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS)
    return np.asarray(part)


# -- scenes ----------------------------------------------------------------------------------------


def on_its_photo(name: str) -> Pair:
    about, params = SHOWN[name]
    source = photo(about)
    inputs = [source, photo("hubble_deep_field")][: find_kernel(name).inputs]
    return source, apply(name, *inputs, shape=source.shape, **params)


def in_its_own_pixels(name: str) -> Pair:
    """Filtered as the photo has them, then both enlarged."""
    about, params = SHOWN[name]
    source = np.asarray(cut(about))
    return enlarged(source), enlarged(apply(name, source, shape=source.shape, **params))


def noisy_eyes(name: str) -> Pair:
    source = np.asarray(cut("eyes")).copy()
    noise = np.random.default_rng(0).normal(0, 22, (*source.shape[:2], 3))
    source[..., :3] = np.clip(source[..., :3] + noise, 0, 255)
    return enlarged(source), enlarged(
        apply(name, source, shape=source.shape, **SHOWN[name][1], spacing=1)
    )


def peppered(name: str) -> Pair:
    """Salt and pepper, which no average removes."""
    source = np.asarray(cut("coins")).copy()
    dice = np.random.default_rng(0).random(source.shape[:2])
    source[dice < 0.06, :3] = 0
    source[dice > 0.94, :3] = 255
    return enlarged(source), enlarged(apply(name, source, shape=source.shape, **SHOWN[name][1]))


def before_a_screen(name: str) -> Pair:
    """Before a green screen, brighter at the top, whose light falls on her too."""
    source, shown = photo("astronaut").copy(), portrait_mask()[..., None] / 255
    light = np.linspace(1.1, 0.85, HEIGHT)[:, None, None]
    screen = np.array([0, 177, 64]) * light
    lit = source[..., :3] * 0.97 + screen * 0.03
    source[..., :3] = np.clip(lit * shown + screen * (1 - shown), 0, 255)
    return source, apply(name, source, shape=source.shape)


def out_of_focus(name: str) -> Pair:
    source = photo("astronaut")
    return source, apply(
        name, source, portrait_mask(), shape=source.shape, **SHOWN.get(name, ("", {}))[1]
    )


def before_the_sky(name: str) -> Pair:
    """A bright sky with clouds: light hair at its edge is as bright as what it was taken before."""
    source = photo("head")
    down = np.linspace(0, 1, HEIGHT)[:, None, None]
    sky = (1 - down) * np.array([120, 170, 225]) + down * np.array([235, 238, 240])
    rng = np.random.default_rng(5)
    small = rng.random((6, 5)).astype(np.float32)
    clouds = np.asarray(Image.fromarray(small).resize((WIDTH, HEIGHT), Image.Resampling.BICUBIC))
    white = np.clip(clouds * 2.2 - 0.9, 0, 1)[..., None] * 0.75
    back = np.full((HEIGHT, WIDTH, 4), 255, np.uint8)
    back[..., :3] = sky * (1 - white) + 250 * white
    return source, apply(name, source, portrait_mask("head"), back, shape=source.shape)


def to_a_part(name: str) -> Pair:
    source = photo("coffee")
    return source, apply(name, source, shape=(200, 240, 4), x=90, y=40)


def from_few_pixels(name: str) -> Pair:
    source = np.asarray(Image.fromarray(photo("face")).resize((50, 40)))
    after = apply(name, source, shape=(HEIGHT, WIDTH, 4), interpolation="lanczos")
    return enlarged(source, Image.Resampling.NEAREST), after


def through_a_look(name: str) -> Pair:
    """Teal shadows, orange lights, soft black and white: a cube of 17 nodes each way."""
    axis = np.linspace(0, 1, 17)
    color = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), -1)
    luma = (color @ [0.299, 0.587, 0.114])[..., None]
    s_curve = color * color * (3 - 2 * color)
    faded = 0.05 + 0.9 * (0.4 * color + 0.6 * s_curve)
    tint = (1 - luma) * np.array([-0.14, 0.03, 0.12]) + luma * np.array([0.1, 0.02, -0.12])
    cube = np.clip(luma + (faded - luma) * 0.85 + tint, 0, 1).astype(np.float32)
    source = photo("astronaut")
    return source, apply(name, source, shape=source.shape, lut=cube)


def into_a_frame(name: str) -> Pair:
    source = np.asarray(Image.fromarray(photo("coffee")).resize((264, 212)))
    return source, apply(name, source, shape=(318, 264))


def out_of_a_frame(name: str) -> Pair:
    kind = name.removesuffix("_to_rgba")
    _, frame = into_a_frame(f"rgba_to_{kind}")
    return frame, apply(name, frame, shape=(212, 264, 4))


def faded(name: str) -> Pair:
    """A photo that has lost much of its colour."""
    source = media.saturation(photo(SHOWN[name][0]), -0.5)
    return source, apply(name, source, shape=source.shape, **SHOWN[name][1])


SCENES: dict[str, Callable[[str], Pair]] = {
    "beauty": in_its_own_pixels, "sharpen": in_its_own_pixels, "glow": in_its_own_pixels,
    "denoise": noisy_eyes, "median": peppered, "vibrance": faded,
    "chroma_key": before_a_screen, "background_replace": before_the_sky,
    "background_blur": out_of_focus, "segmentation": out_of_focus,
    "crop": to_a_part, "resize": from_few_pixels, "lut": through_a_look,
    "rgba_to_yuv420p": into_a_frame, "rgba_to_nv12": into_a_frame,
    "yuv420p_to_rgba": out_of_a_frame, "nv12_to_rgba": out_of_a_frame,
}  # fmt: skip


if __name__ == "__main__":
    make_mask() if "--mask" in sys.argv else make_pictures()
