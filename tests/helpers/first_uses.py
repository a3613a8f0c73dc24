"""Every public way into dala, as the first thing that a process does with it.

``python first_uses.py NAME DEVICE``: four threads begin at once, two with a large picture and two with a
small one. What they get must be what later calls get, and the small ones' what the reference says.
"""

from __future__ import annotations

import functools
import os
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from in_threads import in_threads

Array = npt.NDArray[Any]
Use = Callable[[int, int], Array]  # of width and height

SMALL = (62, 36)
LARGE = (1920, 1080)  # enough for several threads of every kind
# A picture's values may differ by a level between devices; a jump may move one value in 200 further.
LEVELS, MOST_BEYOND = 1, 1 / 200
SEVERAL_LEVELS = 4  # after several stages, or in RGB for one level of Y, U and V
SEVERAL = {"video", "merged_video", "pipeline", "bgr_chain", "frames", "looks"}


@functools.cache  # made before the threads begin: they should meet in dala, not here
def photo(width: int, height: int) -> Array:
    """Slopes with an edge, RGB."""
    x, y = np.arange(width, dtype=np.uint8), np.arange(height, dtype=np.uint8)
    picture = np.stack([np.add.outer(y // 7, x), np.add.outer(y, x // 3), np.add.outer(y, x)], -1)
    picture[height // 3 :, width // 2 :] //= 2
    return picture


@functools.cache
def mask(width: int, height: int) -> Array:
    return np.ascontiguousarray(photo(width, height)[..., 0])


# -- media: what a filter needs beyond the picture -------------------------------------------------------

VALUES: dict[str, dict[str, Any]] = {
    "brightness": {"value": 0.2},
    "contrast": {"value": 0.3},
    "crop": {"x": 3, "y": 2, "width": 40, "height": 30},
    "exposure": {"stops": 0.7},
    "gamma": {"value": 1.7},
    "hue": {"degrees": 30},
    "lut": {"lut": np.linspace(1, 0, 256, dtype=np.float32)},
    "resize": {"width": 50, "height": 40},
    "rotate": {"degrees": 20},
    "saturation": {"value": 0.4},
    "tone": {"contrast": 0.2, "shadows": 0.1},
    "vibrance": {"value": 0.4},
    "warp_affine": {"matrix": [[0.9, 0.1, 3], [-0.1, 0.9, 2]]},
    "warp_perspective": {"matrix": [[1, 0.1, 0], [0, 1, 0], [0.0001, 0, 1]]},
    "white_balance": {"temperature": 5000.0},
}
FURTHER: dict[str, Callable[[int, int], tuple[Any, ...]]] = {
    "background_blur": lambda w, h: (mask(w, h),),
    "background_replace": lambda w, h: (mask(w, h), photo(w, h)[::-1]),
    "blend": lambda w, h: (photo(w, h)[::-1],),
    "overlay": lambda w, h: (photo(w, h)[::-1],),
    "segmentation": lambda w, h: (mask(w, h),),
    "replace_background": lambda w, h: (mask(w, h), photo(w, h)[::-1]),
}
NOT_FILTERS = {
    "Chain", "Frame", "FramePipeline", "Photo", "Step", "annotate", "apply_filter", "apply_filters",
    "looks", "open", "process_frame", "save", "start_pipeline", "stop_pipeline",
}  # fmt: skip


def filter_use(name: str) -> Use:
    """A function of ``dala.media``."""

    def use(width: int, height: int) -> Array:
        from dala import media

        function = getattr(media, name)
        if name in ("generate_gradient", "generate_noise", "test_pattern"):
            return array_of(function(width, height), width, height)
        if name in ("nv12_to_rgba", "yuv420p_to_rgba"):
            frame = np.resize(mask(width, height), (height * 3 // 2, width))
            return np.asarray(function(frame))
        image, further = photo(width, height), FURTHER.get(name, lambda _w, _h: ())(width, height)
        if name in ("rgba_to_nv12", "rgba_to_yuv420p"):
            image = rgba(width, height)
        return np.asarray(function(image, *further, **VALUES.get(name, {})))

    return use


def array_of(pixels: Any, width: int, height: int) -> Array:
    """What a generator gave, as an array."""
    if isinstance(pixels, bytes):
        return np.frombuffer(pixels, np.uint8).reshape(height, width, -1)
    return np.asarray(pixels)


def use_looks(width: int, height: int) -> Array:
    from dala import media

    return np.asarray(media.apply_filters(photo(width, height), media.looks.load("film")))


def use_apply_filter(width: int, height: int) -> Array:
    from dala import media

    return np.asarray(media.apply_filter(photo(width, height), "sharpen", amount=0.7))


def use_bgr_chain(width: int, height: int) -> Array:
    from dala import media

    chain = [("blur", {"radius": 2}), "sharpen", ("contrast", {"value": 0.2})]
    return np.asarray(media.apply_filters(photo(width, height), chain, channels="bgr"))


def use_frames(width: int, height: int) -> Array:
    from dala import media

    with media.FramePipeline(width, height) as frames:
        images = [photo(width, height), photo(width, height)[::-1].copy()]
        return np.stack([np.asarray(f) for f in frames.map(images, ["blur", "invert"])])


# -- compute ---------------------------------------------------------------------------------------------


@functools.cache
def rgba(width: int, height: int) -> Array:
    return np.dstack([photo(width, height), mask(width, height)])


def use_run_kernel(width: int, height: int) -> Array:
    from dala import compute

    source = compute.from_array(rgba(width, height))
    out = compute.buffer_zeros((height, width, 4), "u8")
    for _ in range(3):  # short runs become one function the second time
        compute.run_kernel("sepia", [source], out, {"intensity": 0.6})
    return out.read()


def use_async_kernels(width: int, height: int) -> Array:
    from dala import compute

    source = compute.from_array(rgba(width, height))
    outs = [compute.buffer_zeros((height, width, 4), "u8") for _ in range(3)]
    commands = [
        compute.run_kernel_async("blur", [source], out, {"radius": r})
        for r, out in enumerate(outs, 1)
    ]
    for command in commands:
        command.wait()
    return np.stack([out.read() for out in outs])


def use_pipeline(width: int, height: int) -> Array:
    from dala import compute

    source = compute.from_array(rgba(width, height))
    out = compute.buffer_zeros((height, width, 4), "u8")
    between = compute.scratch((height, width, 4))
    chain = compute.pipeline()
    chain.add({"kernel": "blur", "inputs": [source], "output": between, "params": {"radius": 3}})
    chain.add({"kernel": "sharpen", "inputs": [between], "output": out})
    chain.run()
    return out.read()


def use_kernel_text(width: int, height: int) -> Array:
    from dala import compute

    name = f"first_{threading.get_ident()}_{width}"
    text = f"def {name}(src):\n p = src[0, 0]\n return (p.rgb * 0.5 + src[1, 0].rgb * 0.25).with_alpha(p.a)"
    compute.register(name, text)
    source = compute.from_array(rgba(width, height))
    out = compute.buffer_zeros((height, width, 4), "u8")
    compute.run_kernel(name, [source], out)
    compute.unregister(name)
    return out.read()


def use_tensors(width: int, height: int) -> Array:
    from dala import compute

    a = compute.from_array(np.arange(width * 64, dtype=np.float32).reshape(width, 64) % 17)
    b = compute.from_array(np.arange(64 * 48, dtype=np.float32).reshape(64, 48) % 5)
    product = compute.buffer_zeros((width, 48))
    compute.matmul(a, b, product)
    positive = compute.buffer_zeros((width, 48))
    compute.relu(product, positive)
    total = compute.buffer_zeros((width, 48))
    compute.add(positive, product, total)
    return total.read()


# -- surfaces --------------------------------------------------------------------------------------------


def use_surface(width: int, height: int) -> Array:
    from dala import gpu

    with gpu.create_surface(width, height) as surface:
        gpu.clear(surface, "navy")
        for k in range(50):
            gpu.draw_circle(surface, k * 7 % width, k * 5 % height, 4 + k % 9, "red")
            gpu.fill_circle(surface, k * 11 % width, k * 3 % height, k % 13, (0, 255, 0, 128))
        gpu.load_sprite(surface, 1, rgba(16, 16).tobytes(), 16, 16)
        gpu.blit(surface, 1, 5, 5)
        gpu.draw_line(surface, 0, 0, width - 1, height - 1, "white")
        gpu.present(surface).wait()
        return np.frombuffer(gpu.get_pixels(surface), np.uint8).reshape(height, width, 4).copy()


def use_run_to_surface(width: int, height: int) -> Array:
    from dala import compute, gpu

    with gpu.create_surface(width, height) as surface:
        source = compute.from_array(rgba(width, height))
        compute.run_to_surface("invert", [source], None, surface)
        gpu.present(surface).wait()
        return np.asarray(surface).copy()


def use_ink(width: int, height: int) -> Array:
    from dala import gpu

    with gpu.create_surface(width, height) as surface:
        path = gpu.Path("M 4 4 C 40 0 60 50 90 20 L 20 60 Z")
        gpu.fill_path(surface, path, (255, 160, 0, 200))
        gpu.stroke_path(surface, path, "white", 2.5)
        gpu.fill_ellipse(surface, 40.5, 30.25, 20.0, 9.0, "teal")
        gpu.draw_text(surface, 6, 8, "first: öß", color="gold")
        gpu.present(surface).wait()
        return np.asarray(surface).copy()


# -- text and scenes -------------------------------------------------------------------------------------


def use_text(width: int, height: int) -> Array:
    from dala import text

    return np.asarray(text.draw(photo(width, height), "first: öß", (4, 4), size=18, color="gold"))


def use_scene(width: int, height: int) -> Array:
    """Every kind of layer at once: turned, filtered, on its way from one to the other."""
    from dala import scene

    made = scene.Scene(width, height, background="navy")
    low = made.add_image(photo(64, 48), size=(width, height))
    made.add_image(rgba(32, 24), position=(5.5, 3.25), size=(40, 30), rotation=20, opacity=0.7)
    high = made.add_image(photo(48, 48), size=(width, height))
    made.transition(low, high, kind="wipeleft", duration_ms=1000, at=0)
    made.add_text("first: öß", position=(8, 8), color="gold", font_size=18)
    made.add_shape("ellipse", position=(20, 10), size=(30, 20), fill="tomato")
    made.add_effect("contrast", value=0.2)
    try:
        return made.render(0.25).to_array().copy()
    finally:
        made.destroy()


# -- video -----------------------------------------------------------------------------------------------


def through_files(width: int, height: int, make: Callable[[Path, Path], object]) -> Array:
    """The frames of what ``make`` makes of a clip, from file to file."""
    from dala import video

    with tempfile.TemporaryDirectory() as folder:
        clip, made = Path(folder, "a.mkv"), Path(folder, "b.mkv")
        with video.Writer(clip, fps=25, codec="ffv1") as writer:
            for number in range(3):
                writer.write(np.roll(photo(width, height), number, 1))
        make(clip, made)
        with video.Reader(made) as reader:
            return np.stack([frame.rgb for frame in reader])


def use_video(width: int, height: int) -> Array:
    from dala import video

    chain = [("blur", {"radius": 2}), "sharpen"]

    def make(clip: Path, made: Path) -> None:
        video.probe(clip)
        video.transcode(clip, made, chain, codec="ffv1")

    return through_files(min(width, 1280), min(height, 720), make)


def use_merged_video(width: int, height: int) -> Array:
    from dala import video

    def make(clip: Path, made: Path) -> None:
        video.side_by_side(clip, clip, made, codec="ffv1")

    return through_files(min(width, 640), min(height, 360), make)


def filter_names() -> list[str]:
    from dala import media

    return sorted(set(media.__all__) - NOT_FILTERS)


OTHERS: dict[str, Use] = {
    name.removeprefix("use_"): use
    for name, use in list(globals().items())
    if name.startswith("use_")
}


def find_use(name: str) -> Use:
    return OTHERS[name] if name in OTHERS else filter_use(name)


def try_first(name: str, device: str, large: tuple[int, int] = LARGE) -> None:
    """All of it; raises where something is not as it should be."""
    import dala

    use = find_use(name)
    got: dict[int, Array] = {}
    sizes = (large, SMALL, large, SMALL)
    for size in sizes:
        rgba(*size)
    os.environ["DALA_DEVICE"] = device  # choosing it is part of the first use

    def begin(number: int) -> None:
        got[number] = use(*sizes[number])

    in_threads(4, begin)
    for first, second in ((0, 2), (1, 3)):
        assert np.array_equal(got[first], got[second]), f"{sizes[first]}: two threads differ"
        later = use(*sizes[first])
        assert np.array_equal(got[first], later), (
            f"{sizes[first]}: the first use differs from later ones"
        )
    with dala.use("reference"):
        check_close(got[1], use(*SMALL), SEVERAL_LEVELS if name in SEVERAL else LEVELS)


def check_close(got: Array, wanted: Array, levels: int) -> None:
    """Pictures within a level; a jump in a kernel may move a few values further."""
    if got.dtype != np.uint8:
        np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-3)
        return
    beyond = np.abs(got.astype(int) - wanted) > levels
    assert beyond.mean() <= MOST_BEYOND, f"{beyond.sum()} of {beyond.size} values are far off"


if __name__ == "__main__":
    try_first(*sys.argv[1:3], large=(3840, 2160))


def unexpected(errors: str) -> str:
    """What a process wrote to stderr, without the lines which say that a slow GPU is being waited for."""
    said = [line for line in errors.splitlines() if "waiting for the GPU, for " not in line]
    return "\n".join(said)
