"""Rows of images of 16 bits (interleave.py, deep.py): how they are held; no level differs for it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from machines import machine_with
from several_threads import use_threads

import dala
from dala import compute
from dala.backends.cpu.device import CpuDevice
from dala.backends.cpu.run import launch
from dala.backends.cpu.schedule.rows import schedule_rows
from dala.backends.cpu.schedule.sweep import Sweep
from dala.compute import default
from dala.compute.engine import Engine
from dala.language.kernel import Kernel, make_kernel
from dala.plan.fuse import FusedPass

Call = tuple[str | Kernel, dict[str, object]]
BITS: dict[str, object] = {"bits": 10}
BLUR: Call = ("blur", {"radius": 3})
SHARPEN: Call = ("sharpen", {"amount": 0.7})
CURVES: list[Call] = [("contrast", {"value": 0.3}), ("brightness", {"value": 0.1})]
OPAQUE = make_kernel(
    "def opaque(src):\n    return rgba(src[1, 0].r, src[1, 0].g, src[1, 0].b, 1.0)\n"
)
CROSSED = make_kernel(
    "def crossed(src):\n    p = src[0, 0]\n    return rgba(p.b, p.g, p.r, p.a * 0.5)\n"
)
NO_NUMBERS = make_kernel("def odd(src):\n    p = src[-1, 0]\n    return (p / (p - p)) * 0.3\n")
CHAINS: dict[str, list[Call]] = {
    "blur": [BLUR],
    "narrow": [("blur", {"radius": 1})],
    "wide": [("blur", {"radius": 9})],
    "widest": [("blur", {"radius": 30})],
    "sharpen": [SHARPEN],
    "curves": CURVES,
    "all": [BLUR, SHARPEN, *CURVES],
    "mixed after": [BLUR, ("saturation", {"value": 0.4})],
    "mixed between": [BLUR, ("saturation", {"value": 0.4}), SHARPEN, BLUR],
    "a median between": [BLUR, ("median", {"radius": 1}), SHARPEN],
    "grey": [BLUR, ("grayscale", {}), SHARPEN],
    "functions": [SHARPEN, ("gamma", {"value": 1.4})],
    "opaque": [BLUR, (OPAQUE, {}), SHARPEN],
    "crossed": [BLUR, (CROSSED, {}), BLUR],
    "no numbers": [(NO_NUMBERS, {}), SHARPEN],
    "by position": [SHARPEN, ("vignette", {}), BLUR],
    "denoise": [SHARPEN, ("denoise", {"strength": 0.5})],
    "turned": [BLUR, ("rotate", {"degrees": 11.0}), SHARPEN],
}
SIZES = [(1, 1), (3, 2), (5, 7), (8, 16), (12, 33), (19, 130)]
FRAMES = [(2, 2), (4, 6), (10, 62), (22, 66), (30, 130)]


def picture(shape: tuple[int, ...], most: int = 65536, seed: int = 3) -> np.ndarray:
    """Noise, half of it black or white."""
    rng = np.random.default_rng(seed)
    noise = rng.integers(0, most, shape)
    return np.where(rng.random(shape) < 0.5, noise, noise * 2 // most * (most - 1)).astype(
        np.uint16
    )


def pipeline_of(
    source: np.ndarray, shapes: Sequence[tuple[int, ...]], calls: Sequence[Call]
) -> tuple[compute.Pipeline, compute.Buffer]:
    chain = compute.pipeline()
    last: compute.Buffer | compute.Scratch = compute.from_array(source)
    for number, ((kernel, params), shape) in enumerate(zip(calls, shapes, strict=True), 1):
        ends = number == len(calls)
        target = compute.buffer_zeros(shape, "u16") if ends else compute.scratch(shape, "u16")
        chain.add({"kernel": kernel, "inputs": [last], "output": target, "params": params})
        last = target
    assert isinstance(last, compute.Buffer)
    return chain, last


def run(source: np.ndarray, shapes: Sequence[tuple[int, ...]], calls: Sequence[Call]) -> np.ndarray:
    chain, result = pipeline_of(source, shapes, calls)
    chain.run()
    return result.read().copy()


def one_by_one(
    source: np.ndarray, shapes: Sequence[tuple[int, ...]], calls: Sequence[Call]
) -> np.ndarray:
    for shape, call in zip(shapes, calls, strict=True):
        source = run(source, [shape], [call])
    return source


def frame_calls(name: str, size: tuple[int, int]) -> tuple[list[tuple[int, ...]], list[Call]]:
    """A chain between planes of ten bits."""
    calls: list[Call] = [("yuv420p_to_rgba", BITS), *CHAINS[name], ("rgba_to_yuv420p", BITS)]
    return [(*size, 4)] * (len(calls) - 1) + [(size[0] * 3 // 2, size[1])], calls


@pytest.mark.parametrize("channels", [(4,), ()], ids=["colour", "grey"])
@pytest.mark.parametrize("name", CHAINS)
def test_fused_is_unfused(name: str, channels: tuple[int, ...]) -> None:
    calls = CHAINS[name]
    if not channels and name in ("opaque", "crossed"):
        pytest.skip("makes colours")
    with dala.use("cpu"):
        for size in SIZES:
            shapes = [(*size, *channels)] * len(calls)
            source = picture(shapes[0])
            together, apart = run(source, shapes, calls), one_by_one(source, shapes, calls)
            np.testing.assert_array_equal(together, apart, str(size))


@pytest.mark.parametrize("name", CHAINS)
def test_frames_of_ten_bits_fused_are_those_unfused(name: str) -> None:
    with dala.use("cpu"):
        for size in FRAMES:
            shapes, calls = frame_calls(name, size)
            source = picture(shapes[-1], 1024)
            together, apart = run(source, shapes, calls), one_by_one(source, shapes, calls)
            np.testing.assert_array_equal(together, apart, str(size))


@pytest.mark.parametrize("calls", [[BLUR, SHARPEN, BLUR], CURVES * 2], ids=["blur", "curves"])
@pytest.mark.parametrize("first", ["u8", "u16", "f32"])
@pytest.mark.parametrize("between", [("u16", "u8"), ("u8", "u16"), ("f32", "u16"), ("u16", "f32")])
def test_images_of_other_types_between(
    first: str, between: tuple[str, str], calls: list[Call]
) -> None:
    """What is a level depends on the type of each image."""
    types = [first, *between * 2][: len(calls)] + ["u16"]
    source = picture((9, 21, 4)) >> (8 if first == "u8" else 0)
    with dala.use("cpu"):
        start = compute.buffer_zeros(source.shape, first)
        start.write(source / 65535 if first == "f32" else source.astype(first.replace("u", "uint")))
        fused, last, apart = compute.pipeline(), start, start
        for number, ((kernel, params), type_) in enumerate(zip(calls, types[1:], strict=True), 1):
            own = compute.buffer_zeros(source.shape, type_)
            compute.run_kernel(kernel, [apart], own, params)
            make = compute.buffer_zeros if number == len(calls) else compute.scratch
            target = make(source.shape, type_)
            fused.add({"kernel": kernel, "inputs": [last], "output": target, "params": params})
            last, apart = target, own
        fused.run()
        np.testing.assert_array_equal(last.read(), apart.read())


@pytest.mark.parametrize(
    ("vector_bytes", "x86"), [(64, False), (32, True), (32, False), (16, True), (16, False)]
)
def test_other_machines_give_the_same_levels(vector_bytes: int, x86: bool) -> None:
    names = ["blur", "wide", "sharpen", "curves", "all", "mixed between", "opaque", "no numbers"]
    size = (38, 130)
    jobs = [(picture((*size, 4)), [(*size, 4)] * len(CHAINS[n]), CHAINS[n]) for n in names]
    jobs += [(picture((57, 130), 1024), *frame_calls(n, size)) for n in names]
    with dala.use("cpu"):
        wanted = [run(*job) for job in jobs]
    with pytest.MonkeyPatch.context() as patch:
        host = machine_with(vector_bytes, x86)
        patch.setattr(launch, "_band_rows", lambda *_: 6)
        use_threads(patch, 4)
        patch.setattr(default, "_default", Engine(CpuDevice(host)))
        got = [run(*job) for job in jobs]
    for a, b in zip(got, wanted, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", ["blur", "wide", "sharpen", "curves", "all"])
def test_colours_are_four_grey_images(name: str) -> None:
    """Alpha aside, where it passes through: side by side or apart, the operations are the same."""
    colour = picture((21, 50, 4))
    with dala.use("cpu"):
        got = run(colour, [colour.shape] * len(CHAINS[name]), CHAINS[name])
        for channel in range(3):
            grey = np.ascontiguousarray(colour[..., channel])
            wanted = run(grey, [grey.shape] * len(CHAINS[name]), CHAINS[name])
            np.testing.assert_array_equal(got[..., channel], wanted)


@pytest.mark.parametrize("radius", [1, 2, 3, 5, 10, 25])
def test_a_blur_is_within_a_level_of_what_it_means(radius: int) -> None:
    image = picture((40, 70, 4))
    reach = np.arange(-radius, radius + 1)
    weights = np.exp(-0.5 / (radius / 2) ** 2 * reach**2.0)
    weights /= weights.sum()
    exact = image.astype(np.float64)
    for axis in (0, 1):
        pads = [(radius, radius) if k == axis else (0, 0) for k in range(3)]
        padded, size = np.pad(exact, pads, "edge"), exact.shape[axis]
        parts = [np.take(padded, range(k, k + size), axis) for k in range(len(weights))]
        exact = sum(w * part for w, part in zip(weights, parts, strict=True))
    with dala.use("cpu"):
        got = run(image, [image.shape], [("blur", {"radius": radius})])
    assert np.abs(got - exact).max() < 0.6


def test_levels_survive_being_held() -> None:
    """All 65536 of them, through rows of f32 and of 16 bits, by stages that change nothing."""
    ramp = np.arange(1 << 16, dtype=np.uint16).reshape(64, 256, 4)
    nothing: list[Call] = [("sharpen", {"amount": 0.0}), ("brightness", {"value": 0.0})]
    with dala.use("cpu"):
        np.testing.assert_array_equal(run(ramp, [ramp.shape] * 4, nothing * 2), ramp)


# -- what is held how ---------------------------------------------------------------------------------


def sweep_of(source: np.ndarray, shapes: Sequence[tuple[int, ...]], calls: Sequence[Call]) -> Sweep:
    with dala.use("cpu"):
        chain, _ = pipeline_of(source, shapes, calls)
        plan = chain.engine.prepare(chain._stages).executable.plan  # type: ignore[attr-defined]
    (work,) = plan.passes
    assert isinstance(work, FusedPass)
    return schedule_rows(work)


def picture_sweep(name: str) -> Sweep:
    calls = CHAINS[name]
    return sweep_of(picture((16, 20, 4)), [(16, 20, 4)] * len(calls), calls)


@pytest.mark.parametrize("name", ["blur", "wide", "sharpen", "curves", "all", "opaque"])
def test_channels_that_are_alike_stay_side_by_side(name: str) -> None:
    assert all(b.interleaved for b in picture_sweep(name).bodies)


@pytest.mark.parametrize("name", ["mixed after", "grey", "crossed", "by position"])
def test_channels_that_are_mixed_lie_apart(name: str) -> None:
    assert not all(b.interleaved for b in picture_sweep(name).bodies)


def test_a_blur_reads_many_rows_in_sixteen_bits() -> None:
    shapes, calls = frame_calls("all", (16, 20))
    rings = [b.ring for b in sweep_of(picture(shapes[-1], 1024), shapes, calls).bodies if b.ring]
    assert [ring.form for ring in rings] == ["level16", "f32", "f32", "f32"]
    assert not any(ring.blocked for ring in rings)
    (below,) = (b for b in picture_sweep("blur").bodies if b.ring)
    assert below.label == "blur.1", "its rows come from memory"
