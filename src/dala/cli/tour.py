"""``dala tour``: a guided five minutes in the terminal; stops compute something and write pictures."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from dala import compute, gpu, media
from dala.cli import clip
from dala.cli.bench import Run, in_turns
from dala.cli.screen import say, say_columns, say_heading
from dala.media import Chain

Array = npt.NDArray[np.uint8]
SIZE = (960, 540)
MEASURE_S = 0.2
KERNEL = """def night(src, strength: float = 0.8):
    p = src[0, 0]
    moon = rgb(0.25, 0.35, 0.7) * luma(p) * 1.4
    sparks = step(0.9985, fract(sin(x * 12.9898 + y * 78.233) * 43758.5453))
    sky = step(y, 0.56 * height) * (1.0 - luma(p))
    return mix(p.rgb, moon + sparks * sky, strength).with_alpha(p.a)
"""


def run_tour(folder: Path, *, pauses: bool) -> None:
    """Walk from stop to stop; Enter goes on, where a person is there to press it."""
    folder.mkdir(parents=True, exist_ok=True)
    (photo,) = clip.dusk_frames(SIZE, 1, 1)
    for number, stop in enumerate(STOPS, 1):
        say_heading(f"{number} of {len(STOPS)}  {stop.__doc__}")
        say()
        stop(photo, folder)
        say()
        if pauses and number < len(STOPS) and sys.stdin.isatty():
            input("Enter goes on, Ctrl-C ends ")
            say()


def _show_device(photo: Array, folder: Path) -> None:
    """Where it computes"""
    info = compute.device_info()
    say_columns([("device", str(info["name"])), ("because", str(info["reason"]))])
    say("dala doctor says what is missing and the command that helps", "dim")


def _draw_picture(photo: Array, folder: Path) -> None:
    """A picture from nothing"""
    say("A kernel says what one pixel is; dala compiles it and runs it for all of them.")
    _write(photo, folder / "1_dusk.png")
    say(f"The code is {clip.__file__}: 20 lines of Python, no loop over pixels.", "dim")


def _filter_picture(photo: Array, folder: Path) -> None:
    """Five filters, one pass"""
    chain = Chain.of(
        [("blur", {"radius": 2}), ("sharpen", {"amount": 0.6}), ("tone", {"contrast": 0.3}),
         ("split_tone", {}), ("vignette", {"intensity": 0.5})]
    )  # fmt: skip
    source = compute.from_array(photo)
    fused, apart = Run.of(source, [chain]), Run.of(source, [Chain([s]) for s in chain.steps])
    fused()
    apart()
    say(fused.pipelines[0].explain())
    say()
    one, five = in_turns([fused, apart], MEASURE_S)
    say(f"{one:.2f} ms in one pass, {five:.2f} ms filter by filter; the same picture")
    _write(fused.result.read(), folder / "2_graded.png")
    say("dala filter photo.jpg out.jpg --blur 2 --sharpen 0.6 --vignette", "dim")


def _own_kernel(photo: Array, folder: Path) -> None:
    """Your own kernel"""
    from dala.language.kernel import make_kernel

    say(KERNEL.rstrip())
    say()
    say("This text was just parsed (never executed), traced, compiled and run:")
    out = compute.buffer_zeros(photo.shape, "u8")
    compute.run_kernel(make_kernel(KERNEL), [compute.from_array(photo)], out)
    _write(out.read(), folder / "3_night.png")
    say("dala new kernel night writes a file to begin from", "dim")


def _draw(photo: Array, folder: Path) -> None:
    """Drawing"""
    rng = np.random.default_rng(2)
    discs = np.column_stack(
        [rng.uniform(0, SIZE[0], 3000), rng.uniform(0, SIZE[1], 3000), rng.gamma(1.5, 1.5, 3000)]
    )
    colors = np.column_stack([rng.integers(120, 256, (3000, 3)), np.full(3000, 160)])
    with gpu.create_surface(*SIZE) as surface:
        surface.set_pixels(photo.tobytes())
        surface.fill_discs(discs, colors.astype(np.uint8))
        surface.present().wait()
        surface.save(folder / "4_confetti.png")
    say(f"3,000 smooth discs in one call: {folder / '4_confetti.png'}")
    say("surface.show() opens a window; dala live shows a camera through filters", "dim")


def _look_around(photo: Array, folder: Path) -> None:
    """Where to go from here"""
    names = media.looks.names()
    half = media.apply_filters(photo, "film")
    half[:, : SIZE[0] // 2] = photo[:, : SIZE[0] // 2]
    say("A look is a chain with a name. Left as it was, right through the look film:")
    _write(half, folder / "5_film.png")
    say()
    rows = [
        ("dala looks", f"{len(names)} looks: {', '.join(names[:6])} …"),
        ("dala kernels", f"{len(compute.kernels())} kernels, each with its parameters"),
        ("dala bench", "this machine by numbers; --share makes a table to paste"),
        ("dala new project NAME", "a folder with a kernel, a script and a test"),
        ("dala --install-completion", "the Tab key then knows filters and their values"),
    ]
    say_columns(rows)


def _write(pixels: Array, path: Path) -> None:
    media.save(np.ascontiguousarray(pixels[..., :3]), path)
    say(f"look at {path}", "bold")


STOPS: tuple[Callable[[Array, Path], None], ...] = (
    _show_device, _draw_picture, _filter_picture, _own_kernel, _draw, _look_around,
)  # fmt: skip
