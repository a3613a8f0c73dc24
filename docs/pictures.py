"""The pictures of docs/kernels.md: each image kernel on a photo, before and after side by side."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image

from dala import compute
from dala.language.registry import find_kernel

HERE = Path(__file__).parent
PHOTO = HERE.parent / "examples" / "assets" / "astronaut.jpg"
SIDE = 288
SMALL = 192  # of a picture whose frame is SIDE high
HEAD = (slice(0, SIDE), slice(82, 82 + SIDE))  # head and shoulders; portrait_mask.png belongs to it
FACE = (slice(12, 12 + SIDE // 2), slice(152, 152 + SIDE // 2))
Pair = tuple[np.ndarray, np.ndarray]  # before and after; a frame is grey

# What a picture is made with, where the defaults would show nothing.
SHOWN: dict[str, dict[str, object]] = {
    "blur": {"radius": 6}, "sharpen": {"amount": 1.5}, "brightness": {"value": 0.2},
    "contrast": {"value": 0.6}, "saturation": {"value": 1.0}, "gamma": {"value": 1.8},
    "hue": {"degrees": 120}, "white_balance": {"temperature": 9000}, "exposure": {"stops": 0.8},
    "beauty": {"strength": 1.0, "radius": 4}, "denoise": {"strength": 0.6}, "median": {"radius": 3},
    "rotate": {"degrees": 20}, "vignette": {"intensity": 0.9}, "pixelate": {"size": 12},
    "warp_affine": {"matrix": (0.9, 0.25, 0, -0.15, 0.9, 40)},
    "warp_perspective": {"matrix": (1, 0.15, 0, 0.05, 1, 0, 0.0002, 0.0009, 1)},
    "tone": {"contrast": 0.6, "shadows": 0.4, "highlights": -0.3}, "vibrance": {"value": 1.0},
    "split_tone": {"shadows": (-0.1, 0.02, 0.12), "highlights": (0.1, 0.02, -0.1)},
    "grain": {"amount": 0.12}, "glow": {"amount": 0.9}, "background_blur": {"radius": 8},
    "crop": {"x": 88, "y": 8}, "resize": {"interpolation": "lanczos"},
}  # fmt: skip


def make_pictures() -> None:
    folder = HERE / "kernels"
    folder.mkdir(exist_ok=True)
    for name in compute.kernels():
        if find_kernel(name).domain != "image":
            continue
        before, after = SCENES.get(name, on_the_photo)(name)
        sheet = Image.new("RGB", (2 * SIDE + 4, SIDE), "white")
        sheet.paste(on_paper(before), (0, 0))
        sheet.paste(on_paper(after), (SIDE + 4, 0))
        sheet.save(folder / f"{name}.jpg", quality=82)
        print(name)


def on_paper(picture: np.ndarray) -> Image.Image:
    """In the middle of a white square; a checkerboard shows through what is transparent."""
    image = Image.fromarray(picture).convert("RGBA")
    squares = np.indices((image.height, image.width)) // 16
    checks = Image.fromarray((squares.sum(0) % 2 * 40 + 190).astype(np.uint8)).convert("RGBA")
    checks.alpha_composite(image)
    paper = Image.new("RGB", (SIDE, SIDE), "white")
    paper.paste(checks.convert("RGB"), ((SIDE - image.width) // 2, (SIDE - image.height) // 2))
    return paper


def apply(name: str, *inputs: np.ndarray, shape: tuple[int, ...], **more: object) -> np.ndarray:
    output = compute.buffer_zeros(shape, "u8")
    params = {**SHOWN.get(name, {}), **more}
    compute.run_kernel(name, [compute.from_array(each) for each in inputs], output, params)
    return output.read()


def photo(side: int = SIDE) -> np.ndarray:
    with Image.open(PHOTO) as opened:
        return np.asarray(opened.convert("RGBA").resize((side, side)))


def part(where: tuple[slice, slice]) -> np.ndarray:
    with Image.open(PHOTO) as opened:
        return np.ascontiguousarray(np.asarray(opened.convert("RGBA"))[where])


def enlarged(picture: np.ndarray, way: Image.Resampling = Image.Resampling.BICUBIC) -> np.ndarray:
    return np.asarray(Image.fromarray(picture).resize((SIDE, SIDE), way))


def portrait_mask() -> np.ndarray:
    with Image.open(HERE / "portrait_mask.png") as opened:
        return np.asarray(opened)


def gradient() -> np.ndarray:
    return apply("generate_gradient", shape=(SIDE, SIDE, 4))


# -- scenes ------------------------------------------------------------------------------------


def on_the_photo(name: str) -> Pair:
    source = photo()
    inputs = [source, gradient()][: find_kernel(name).inputs]
    return source, apply(name, *inputs, shape=source.shape)


def on_the_face(name: str) -> Pair:
    source = part(FACE)
    return enlarged(source), enlarged(apply(name, source, shape=source.shape))


def on_a_noisy_face(name: str) -> Pair:
    source = part(FACE)
    noise = np.random.default_rng(0).normal(0, 12, (*source.shape[:2], 3))
    source[..., :3] = np.clip(source[..., :3] + noise, 0, 255)
    return enlarged(source), enlarged(apply(name, source, shape=source.shape))


def before_a_screen(name: str) -> Pair:
    """The head before a green screen, brighter at the top, whose light falls on it too."""
    source, shown = part(HEAD), portrait_mask()[..., None] / 255
    light = np.linspace(1.1, 0.85, SIDE)[:, None, None]
    screen = np.array([0, 177, 64]) * light
    lit = source[..., :3] * 0.97 + screen * 0.03
    source[..., :3] = np.clip(lit * shown + screen * (1 - shown), 0, 255)
    return source, apply(name, source, shape=source.shape)


def out_of_focus(name: str) -> Pair:
    source = part(HEAD)
    return source, apply(name, source, portrait_mask(), shape=source.shape)


def before_a_gradient(name: str) -> Pair:
    source = part(HEAD)
    return source, apply(name, source, portrait_mask(), gradient(), shape=source.shape)


def to_half(name: str) -> Pair:
    source = photo()
    return source, apply(name, source, shape=(SIDE // 2, SIDE // 2, 4))


def from_few_pixels(name: str) -> Pair:
    source = part((slice(45, 117), slice(187, 259)))
    after = apply(name, source, shape=(SIDE, SIDE, 4))
    return enlarged(source, Image.Resampling.NEAREST), after


def through_a_look(name: str) -> Pair:
    """Teal shadows, warm lights, soft black and white: a cube of 17 nodes each way."""
    axis = np.linspace(0, 1, 17)
    color = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), -1)
    luma = (color @ [0.299, 0.587, 0.114])[..., None]
    s_curve = color * color * (3 - 2 * color)
    faded = 0.05 + 0.9 * (0.4 * color + 0.6 * s_curve)
    tint = (1 - luma) * np.array([-0.07, 0.02, 0.06]) + luma * np.array([0.06, 0.01, -0.08])
    cube = np.clip(luma + (faded - luma) * 0.85 + tint, 0, 1).astype(np.float32)
    source = photo()
    return source, apply(name, source, shape=source.shape, lut=cube)


def into_a_frame(name: str) -> Pair:
    source = photo(SMALL)
    return source, apply(name, source, shape=(SIDE, SMALL))


def out_of_a_frame(name: str) -> Pair:
    kind = name.removesuffix("_to_rgba")
    _, frame = into_a_frame(f"rgba_to_{kind}")
    return frame, apply(name, frame, shape=(SMALL, SMALL, 4))


SCENES: dict[str, Callable[[str], Pair]] = {
    "beauty": on_the_face, "denoise": on_a_noisy_face, "chroma_key": before_a_screen,
    "background_replace": before_a_gradient, "background_blur": out_of_focus,
    "segmentation": out_of_focus,
    "crop": to_half, "resize": from_few_pixels,
    "lut": through_a_look, "rgba_to_yuv420p": into_a_frame, "rgba_to_nv12": into_a_frame,
    "yuv420p_to_rgba": out_of_a_frame, "nv12_to_rgba": out_of_a_frame,
}  # fmt: skip
