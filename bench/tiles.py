"""Drawing on a GPU, and the CPU beside it: many primitives in one frame.

    python bench/tiles.py [--count 100000] [--size 3840x2160] [--rounds 5] [--jobs WORD] [--host]
                          [--variants]

For each job, the best of the rounds in milliseconds: what the host takes to gather the primitives, to
order them into bins, to send them (with the bins' lists), and altogether; the processor time of that,
of all threads; what the GPU takes to paint them (its own timestamps, where it has them; all
dispatches); both together from the bytes to the finished frame; then the CPU's time for the same bytes,
with all cores; in how many dispatches; how many levels the two frames are apart, and in how many
pixels. Bytes are encoded before. A software GPU says nothing about real ones: with ``--host`` nothing
is painted, and only the host's part means something. ``--variants`` paints the same once more with
parts of the shader left out (median and least of twenty): "nothing" is the frame alone, "lists" finds
what touches a tile, "heads" goes through it, "uncovered" paints without coverage, "unpainted" computes
coverage alone, "unchecked" is the whole shader without the checks that wgpu adds.
"""

from __future__ import annotations

import argparse
import functools
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from dala.backends.webgpu.device import WebGpuDevice
from dala.compute.default import device as find_device
from dala.gpu import Recorder
from dala.gpu.canvas import Canvas, Outcome
from dala.gpu.shaders import ShaderSet
from dala.gpu.tiles.canvas import TileCanvas
from dala.gpu.tiles.painter import TilePainter
from dala.gpu.tiles.shader import BINDINGS, WRITTEN, pipeline, shader_text

SIDE = 32
COLUMNS = (
    "gather",
    "_bins",
    "_send",
    "host",
    "work",
    "GPU",
    "both",
    "CPU",
    "runs",
    "levels",
    "pixels",
)
WHOLE = ("runs", "levels", "pixels")
Job = Callable[[Recorder], None]


def make_jobs(count: int, width: int, height: int) -> dict[str, Job]:
    """Seeded places and colours."""
    rng = np.random.default_rng(7)
    at = rng.uniform((0, 0), (width, height), (count, 2))
    whole = at.astype(np.int64)
    colors = rng.integers(0, 256, (count, 4), dtype=np.uint8)
    radii = rng.uniform(3, 20, (count, 1))
    ends = at + rng.uniform(-30, 30, (count, 2))
    ids = np.ones(count, np.int64)
    return {
        "sprites 32×32, alpha": lambda r: r.blits(ids, whole - SIDE // 2),
        "sprites turned": lambda r: r.draw_sprites(ids, at, rotation=radii[:, 0]),
        "discs, anti-aliased, radius 3-20": lambda r: r.fill_discs(
            np.concatenate([at, radii], 1), colors
        ),
        "lines, anti-aliased, width 3": lambda r: r.stroke_lines(
            np.concatenate([at, ends], 1), colors, 3
        ),
        "triangles, anti-aliased": lambda r: r.fill_polygons(
            np.stack([at, ends, ends + radii], 1), colors
        ),
        "circles": lambda r: r.fill_circles(
            np.concatenate([whole, radii.astype(np.int64)], 1), colors
        ),
        "rectangles": lambda r: r.fill_rects(
            np.concatenate([np.maximum(whole, 0), np.full((count, 2), 24)], 1), colors
        ),
    }


def load_sprite(canvas: Canvas) -> None:
    canvas.sprites.load(
        1, np.random.default_rng(3).integers(0, 256, (SIDE, SIDE, 4), dtype=np.uint8)
    )


def apply(canvas: Canvas, data: bytes) -> None:
    outcome = Outcome()
    canvas.apply(data, outcome)
    assert not outcome.errors, outcome.errors


class Watch:
    """What a painter does, and how long the host and the GPU take for it."""

    def __init__(self, painter: TilePainter, *, host: bool) -> None:
        self.painter = painter
        self.steps: dict[str, float] = {}
        self.runs: list[int] = []
        self.last: tuple[Any, Any, tuple[int, int]] | None = None
        painter.timed = painter.device.timers is not None and not host
        self._paint = painter._dispatch
        painter._dispatch = self._skip if host else self._dispatch  # type: ignore[method-assign]
        for name in ("gather", "_bins", "_send"):
            setattr(painter, name, self._timed(name, getattr(painter, name)))

    def begin(self) -> None:
        self.steps, self.runs = dict.fromkeys(("gather", "_bins", "_send"), 0.0), []

    def _skip(self, *_: Any) -> None:
        pass

    def _dispatch(self, made: Any, group: Any, size: tuple[int, int]) -> None:
        self._paint(made, group, size)
        self.runs.append(self.painter.run)
        self.last = made, group, size

    def _timed(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any) -> Any:
            begun = time.perf_counter()
            try:
                return call(*args)
            finally:
                self.steps[name] += (time.perf_counter() - begun) * 1e3

        return timed

    def gpu_ms(self) -> float:
        """Of all dispatches of this round: there are several if not all fits into one."""
        timers = self.painter.device.timers
        if timers is None or not self.runs:
            return float("nan")
        return sum(timers.read_ms(run) or float("nan") for run in self.runs)

    def wake(self) -> None:
        """Have the GPU work: one that waited for the CPU's turn to end is slow for some milliseconds."""
        if self.last is not None and self.painter.device.is_gpu:
            self.again(self.last[0], 20)

    def again(self, made: Any, times: int) -> list[float]:
        """The last dispatch once more, one right after the other, by another pipeline."""
        timers = self.painter.device.timers
        assert self.last is not None and timers is not None
        runs = []
        for _ in range(times):
            self._paint(made, *self.last[1:])
            runs.append(self.painter.run)
        self.painter.device.wait()
        return [timers.read_ms(run) or float("nan") for run in runs]


def race(
    gpu: WebGpuDevice, size: tuple[int, int], data: bytes, rounds: int, *, host: bool
) -> tuple[Watch, dict[str, float]]:
    """Milliseconds of each part, and how far apart the frames are."""
    tiles = TileCanvas(*size, replace=False, shaders=ShaderSet(gpu))
    cpu = Canvas(*size, replace=False, shaders=None)
    for canvas in (tiles, cpu):
        load_sprite(canvas)
    watch, best = Watch(tiles.tiles, host=host), dict[str, float]()
    for _ in range(rounds + 1):  # the first compiles
        watch.wake()
        watch.begin()
        begun, worked = time.perf_counter(), time.process_time()
        apply(tiles, data)
        tiles.flush()
        sent, worked = time.perf_counter(), time.process_time() - worked
        gpu.wait()
        done = time.perf_counter()
        apply(cpu, data)
        ended = time.perf_counter()
        parts = [sent - begun, done - begun, ended - done]
        times = dict(zip(("host", "both", "CPU"), (part * 1e3 for part in parts), strict=True))
        times |= watch.steps | {
            "work": worked * 1e3,
            "GPU": watch.gpu_ms(),
            "runs": float(len(watch.runs)),
        }
        best = {name: min(took, best.get(name, took)) for name, took in times.items()}
    apart = np.abs(tiles.read(0, 0, *size).astype(int) - cpu.read(0, 0, *size)).max(2)
    return watch, best | {"levels": float(apart.max()), "pixels": float(np.count_nonzero(apart))}


# -- where the GPU's time goes: the shader with parts of it left out -----------------------------------

_COVER = ("cover_of(head.x, shape_area(head.x, at_prim, at))", "255u")
_PLAIN = ("pixel = paint_plain(head, at_prim, at, pixel);", "pixel ^= head.w;")
_INK = ("pixel = paint_ink(head, at_prim, at, cover, pixel);", "pixel ^= head.w + cover;")
_LISTS = ("var left = atomicLoad(&hits[word]);", "var left = 0u * atomicLoad(&hits[word]);")
_LOOK = ("if (meets(number, tile))", "if (false)")
VARIANTS: dict[str, tuple[tuple[str, str], ...]] = {
    "all": (),
    "uncovered": (_COVER,),
    "unpainted": (_PLAIN, _INK),
    "heads": (_COVER, _PLAIN, _INK),
    "lists": (_LISTS,),
    "nothing": (_LISTS, _LOOK),
}


def unchecked(gpu: WebGpuDevice, text: str, bindings: int) -> Any:
    """A pipeline without the checks that wgpu adds: bounds of arrays, and of loops."""
    from wgpu.backends.wgpu_native import _api

    library: Any = _api.libf  # type: ignore[attr-defined]
    checked = library.wgpuDeviceCreateShaderModule
    library.wgpuDeviceCreateShaderModule = lambda *args: (
        library.wgpuDeviceCreateShaderModuleTrusted(*args, 0)
    )
    try:
        return compiled(gpu, text, bindings)
    finally:
        library.wgpuDeviceCreateShaderModule = checked


def compiled(gpu: WebGpuDevice, text: str, bindings: int) -> Any:
    return gpu.pipelines.compile("drawing", text, [n in WRITTEN for n in range(bindings)]).pipeline


@functools.cache
def variants(gpu: WebGpuDevice, form: int) -> dict[str, Any]:
    """Pipelines by name."""
    made = {}
    for name, changes in VARIANTS.items():
        text = shader_text(form)
        for old, new in changes:
            text = text.replace(old, new)
        made[name] = compiled(gpu, text, BINDINGS[form])
    return made | {"unchecked": unchecked(gpu, shader_text(form), BINDINGS[form])}


def show_variants(gpu: WebGpuDevice, watch: Watch) -> None:
    """The median and the least of twenty, for each."""
    assert watch.last is not None
    form = next(f for f in range(3) if pipeline(gpu, f)[0] is watch.last[0])
    for name, variant in variants(gpu, form).items():
        watch.again(variant, 5)
        took = watch.again(variant, 20)
        print(f"    {name:30}{np.median(took):9.2f}{min(took):9.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--size", default="3840x2160")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--jobs", default="")
    parser.add_argument("--host", action="store_true", help="gather and send, but paint nothing")
    parser.add_argument("--variants", action="store_true", help="where the GPU's time goes")
    args = parser.parse_args()
    width, height = (int(side) for side in args.size.split("x"))
    gpu = find_device("webgpu")
    assert isinstance(gpu, WebGpuDevice)
    print(f"{gpu.adapter}, {args.count:,} of each at {width}×{height}, ms")
    print(f"{'':34}" + "".join(f"{column.strip('_'):>8}" for column in COLUMNS))
    for name, draw in make_jobs(args.count, width, height).items():
        if args.jobs not in name:
            continue
        recorder = Recorder()
        recorder.clear("black")
        draw(recorder)
        watch, found = race(gpu, (width, height), bytes(recorder), args.rounds, host=args.host)
        cells = (f"{found[c]:8.0f}" if c in WHOLE else f"{found[c]:8.2f}" for c in COLUMNS)
        print(f"{name:34}" + "".join(cells), flush=True)
        if args.variants and not args.host:
            show_variants(gpu, watch)


if __name__ == "__main__":
    main()
