"""Pictures and frames through filters: blur a photo in one line, or grade a thousand frames a second.

    filters/        one function per filter    apply.py     filters on one picture
    frames.py       picture after picture      chain.py     what filters a user wants, checked
    program.py      a chain made ready         looks.py     chains with a name (lookfile.py: their files)
    pictures.py     NumPy, PIL, bytes, …       backgrounds.py, planar.py, generate.py

    image → take → (upload) → chain, fused → (download) → give back: the caller's kind and channels

Pictures are NumPy arrays, PIL images, bytes with a width and a height, DLPack (torch) or buffers; grey,
RGB or RGBA, with ``channels="bgr"`` BGR(A); of uint8 or float32 (0..1; values beyond go through as they
are, and are not clipped). What comes back is of the same kind. The picture itself is not changed.
"""

from __future__ import annotations

from dala.media import looks
from dala.media.apply import apply_filter, apply_filters
from dala.media.backgrounds import blur_background, replace_background
from dala.media.chain import Chain, Step
from dala.media.chain import Filters as Filters
from dala.media.filters import (
    background_blur,
    background_replace,
    beauty,
    blend,
    blur,
    brightness,
    chroma_key,
    contrast,
    crop,
    denoise,
    edge_detect,
    exposure,
    flip,
    gamma,
    glow,
    grain,
    grayscale,
    hdr,
    hue,
    invert,
    lut,
    median,
    pixelate,
    posterize,
    resize,
    rotate,
    saturation,
    sepia,
    sharpen,
    split_tone,
    threshold,
    tone,
    vibrance,
    vignette,
    warp_affine,
    warp_perspective,
    white_balance,
)
from dala.media.frames import Frame, FramePipeline
from dala.media.generate import generate_gradient, generate_noise, test_pattern
from dala.media.pictures import Channels as Channels
from dala.media.planar import nv12_to_rgba, rgba_to_nv12, rgba_to_yuv420p, yuv420p_to_rgba

__all__ = [
    "Chain", "Frame", "FramePipeline", "Step", "apply_filter", "apply_filters",
    "background_blur", "background_replace", "beauty", "blend", "blur", "blur_background",
    "brightness", "chroma_key", "contrast", "crop", "denoise", "edge_detect", "exposure",
    "flip", "gamma", "generate_gradient", "generate_noise", "glow", "grain", "grayscale", "hdr",
    "hue", "invert", "looks", "lut", "median", "nv12_to_rgba", "pixelate", "posterize",
    "process_frame", "replace_background", "resize", "rgba_to_nv12", "rgba_to_yuv420p",
    "rotate", "saturation", "sepia", "sharpen", "split_tone", "start_pipeline", "stop_pipeline",
    "test_pattern", "threshold", "tone", "vibrance", "vignette", "warp_affine",
    "warp_perspective", "white_balance", "yuv420p_to_rgba",
]  # fmt: skip

process_frame = FramePipeline.process
stop_pipeline = FramePipeline.stop


def start_pipeline(
    width: int,
    height: int,
    *,
    channels: Channels | None = None,
    device: str | None = None,
    depth: int = 3,
    background: bool = False,
) -> FramePipeline:
    """Filters on frames of one size; see FramePipeline.

    >>> from dala import media
    >>> frames = media.start_pipeline(4, 2)
    >>> media.process_frame(frames, bytes(4 * 2 * 4), ["invert"])[:4]
    b'\\xff\\xff\\xff\\x00'
    >>> media.stop_pipeline(frames)
    """
    return FramePipeline(
        width, height, channels=channels, device=device, depth=depth, background=background
    )
