"""Code as users write it; mypy (strict) and pyright read it, and it runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

import dala
from dala import compute, gpu, media
from dala.language import Image, Vec, luma, mix, rgb

Pixels = npt.NDArray[np.uint8]


@dala.kernel
def typed_duotone(
    src: Image, amount: float = dala.param(1.0, min=0, max=1, help="How much.")
) -> Vec:
    p = src[0, 0]
    shade = mix(rgb(0.1, 0.1, 0.4), rgb(1.0, 0.8, 0.5), luma(p))
    return mix(p.rgb, shade, amount).with_alpha(p.a)


def run_a_kernel(picture: Pixels) -> Pixels:
    source = compute.from_array(picture)
    out = compute.buffer_zeros(source.shape, "u8")
    compute.run_kernel(typed_duotone, [source], out, {"amount": 0.8})
    command = compute.run_kernel_async("invert", [out], out)
    command.wait(timeout=60)
    result: npt.NDArray[np.generic] = out.read()
    return result.astype(np.uint8)


def run_a_pipeline(picture: Pixels) -> str:
    source = compute.from_array(picture)
    soft = compute.scratch(source.shape, "u8")
    out = compute.buffer_zeros(source.shape, "u8")
    with compute.pipeline() as p:
        p.add({"kernel": "blur", "inputs": [source], "output": soft, "params": {"radius": 3}})
        p.add({"kernel": "sharpen", "inputs": [soft], "output": out})
        p.run()
        plan: str = p.explain()
    return plan


def filter_a_picture(picture: Pixels) -> Pixels:
    soft: Pixels = media.blur(picture, 3)
    film: Pixels = media.apply_filters(soft, "film")
    raw: bytes = media.saturation(film.tobytes(), film.shape[1], film.shape[0], 0.3, channels="rgb")
    assert len(raw) == film.size
    return film


def filter_frames(picture: Pixels) -> int:
    with media.start_pipeline(picture.shape[1], picture.shape[0]) as context:
        frame = media.process_frame(context, picture, [("blur", {"radius": 3}), "grayscale"])
    return len(frame)


def draw(path: Path) -> bytes:
    with gpu.create_surface(64, 48) as surface:
        surface.clear("midnightblue")
        surface.fill_circle(20, 20, 9, (255, 215, 0, 200))
        surface.present().wait()
        surface.save(path)
        return surface.get_pixels()


def name_the_mistake(picture: Pixels) -> str:
    try:
        media.apply_filter(picture, "blurr")
    except dala.DalaError as error:
        return str(error)
    return ""
