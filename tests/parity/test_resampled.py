"""Blocks mixed by columns and rows in 16 bits: within a level of NumPy, at any size, on any machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from machines import machine_with
from sampling import pixels, run, run_here
from searching import examples
from several_threads import use_threads

import dala
from dala import compute
from dala.backends.cpu.arithmetic.resampled import RESAMPLED
from dala.backends.cpu.device import CpuDevice
from dala.backends.cpu.run import launch
from dala.backends.cpu.schedule.prepare import prepare_program
from dala.compute import default
from dala.compute.engine import Engine
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import F32, U8, parse_dtype
from dala.ir.graph import Arithmetic, Program
from dala.kernels.halves import cubic_weights, lanczos_weights
from dala.kernels.resize import mix_taps
from dala.language.kernel import Kernel, make_kernel
from dala.language.registry import find_kernel
from dala.language.values import Image, Operand, Value, Vec
from dala.language.vocabulary import abs, floor, log, rgb, s32, where, x, y

WAYS = ["bilinear", "bicubic", "lanczos"]
SOURCES = [(1, 1), (1, 6), (6, 1), (2, 3), (3, 17), (5, 9), (33, 40), (400, 3)]
TARGETS = [(1, 1), (7, 9), (21, 50), (3, 301)]
COLOURS = ArrayType((64, 48, 4), U8)
OTHER_SIZE = ArrayType((50, 31, 4), U8)

Weigh = Callable[[Operand], Sequence[Operand]]


def taps(position: Value, weigh: Weigh = cubic_weights) -> list[tuple[Value, Operand]]:
    left = floor(position)
    weights = weigh(position - left)
    first = s32(left) - (len(weights) // 2 - 1)
    return [(first + k, weight) for k, weight in enumerate(weights)]


def turned(src: Image, k: float = 0.7, far: float = 60.0) -> Vec:
    """Rows from the last one upwards, columns from the right, and both beyond the border."""
    return mix_taps(src, taps(far - x * k), taps(far - y * k, lanczos_weights))


def wild(src: Image) -> Vec:
    """Positions that are infinite, and not numbers."""
    return mix_taps(src, taps(1.0 / (x - 3.0)), taps(log(y - 4.0)))


def jumping(src: Image) -> Vec:
    """Rows in an order of their own."""
    return mix_taps(src, taps((x * 7) % 13 + 0.3), taps((y * 5) % 11 + 0.6))


OURS: dict[str, Kernel] = {f.__name__: make_kernel(f) for f in (turned, wild, jumping)}


def sheared(src: Image) -> Vec:
    return mix_taps(src, taps(x * 0.5 + y * 0.1), taps(y * 0.5))


def swapped(src: Image) -> Vec:
    p = mix_taps(src, taps(x * 0.5), taps(y * 0.5))
    return rgb(p.b, p.g, p.r).with_alpha(p.a)


def brighter(src: Image) -> Vec:
    return mix_taps(src, taps(x * 0.5), taps(y * 0.5)) + 0.1


def too_heavy(src: Image) -> Vec:
    def weigh(t: Operand) -> Sequence[Operand]:
        return [w * 2.0 for w in cubic_weights(t)]

    return mix_taps(src, taps(x * 0.5, weigh), taps(y * 0.5))


def by_position(src: Image) -> Vec:
    """Weights that are not made of a fraction."""
    columns = [(s32(x) + k, x * 0.01) for k in range(4)]
    return mix_taps(src, columns, taps(y * 0.5))


def jumpy(src: Image) -> Vec:
    """Weights that are large between two fractions."""

    def weigh(t: Operand) -> Sequence[Operand]:
        return [w * where(abs(t - 0.1) < 1e-4, 99.0, 1.0) for w in cubic_weights(t)]

    return mix_taps(src, taps(x * 0.5, weigh), taps(y * 0.5))


def with_a_gap(src: Image) -> Vec:
    return mix_taps(
        src, [(c + (k > 1), w) for k, (c, w) in enumerate(taps(x * 0.5))], taps(y * 0.5)
    )


def twice(src: Image) -> Vec:
    columns = taps(x * 0.5)
    return mix_taps(src, [*columns[:3], (columns[0][0], columns[3][1])], taps(y * 0.5))


OTHERS = [
    make_kernel(f)
    for f in (sheared, swapped, brighter, too_heavy, by_position, jumpy, with_a_gap, twice)
]


def arithmetic_of(
    kernel: str | Kernel,
    source: ArrayType = COLOURS,
    target: ArrayType = OTHER_SIZE,
    **params: object,
) -> Arithmetic:
    found = find_kernel(kernel) if isinstance(kernel, str) else kernel
    special = found.specialize([source], target, found.bind(params))
    assert isinstance(special.work, Program)
    return prepare_program(special.work, [source], target, fma=True).stages[-1].arithmetic


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("source", SOURCES, ids=str)
@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_within_a_level(way: str, source: tuple[int, int], target: tuple[int, int]) -> None:
    image = pixels(source)
    got, wanted = (run(d, "resize", image, target, interpolation=way) for d in ("cpu", "reference"))
    assert np.abs(got - wanted).max() <= 1


@settings(max_examples=examples(60))
@given(
    st.tuples(st.integers(1, 70), st.integers(1, 150)),
    st.tuples(st.integers(1, 70), st.integers(1, 150)),
    st.sampled_from(WAYS),
    st.integers(0, 2**16),
)
def test_any_size(source: tuple[int, int], target: tuple[int, int], way: str, seed: int) -> None:
    image = pixels(source, seed)
    got, wanted = (run(d, "resize", image, target, interpolation=way) for d in ("cpu", "reference"))
    assert np.abs(got - wanted).max() <= 1


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("source", SOURCES, ids=str)
@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_grey_is_a_channel(way: str, source: tuple[int, int], target: tuple[int, int]) -> None:
    image = pixels(source)
    colour = run("cpu", "resize", image, target, interpolation=way)
    for channel in range(4):
        grey = np.ascontiguousarray(image[..., channel])
        got = run("cpu", "resize", grey, target, interpolation=way)
        np.testing.assert_array_equal(got, colour[..., channel])


@pytest.mark.parametrize("kernel", OURS)
@pytest.mark.parametrize("source", SOURCES, ids=str)
def test_any_position(kernel: str, source: tuple[int, int]) -> None:
    image = pixels(source)
    got, wanted = (run(d, OURS[kernel], image, (61, 47)) for d in ("cpu", "reference"))
    assert np.abs(got - wanted).max() <= 1


@pytest.mark.parametrize("far", [-1e3, 1e3, -3e9, 3e9, -1e30, 1e30])
def test_positions_far_outside(far: float) -> None:
    image = pixels((33, 40))
    got, wanted = (run(d, OURS["turned"], image, (9, 47), far=far) for d in ("cpu", "reference"))
    assert np.abs(got - wanted).max() <= 1


@pytest.mark.parametrize("way", WAYS)
def test_hardly_a_pixel_is_off(way: str) -> None:
    rng = np.random.default_rng(11)
    image = rng.integers(0, 256, (97, 131, 4), dtype=np.uint8)
    got, wanted = (
        run(d, "resize", image, (80, 90), interpolation=way) for d in ("cpu", "reference")
    )
    assert (got != wanted).mean() < 0.03


@pytest.mark.parametrize("level", [0, 1, 127, 254, 255])
@pytest.mark.parametrize("way", WAYS)
def test_even_images_stay_even(way: str, level: int) -> None:
    image = np.full((23, 37, 4), level, np.uint8)
    for shape in ((31, 80), (9, 11), (1, 1)):
        assert (run("cpu", "resize", image, shape, interpolation=way) == level).all()


@pytest.mark.parametrize(
    ("vector_bytes", "x86"), [(64, False), (32, True), (32, False), (16, True), (16, False)]
)
def test_other_machines_give_the_same_bytes(vector_bytes: int, x86: bool) -> None:
    image = pixels((33, 40))
    chosen: list[tuple[str | Kernel, dict[str, object]]] = [
        *(("resize", {"interpolation": way}) for way in WAYS),
        *((kernel, {}) for kernel in OURS.values()),
    ]
    grey = np.ascontiguousarray(image[..., 1])
    wanted = [run("cpu", k, image, (21, 50), **p) for k, p in chosen]
    wanted += [run("cpu", k, grey, (21, 50), **p) for k, p in chosen[: len(WAYS)]]
    with pytest.MonkeyPatch.context() as patch:
        host = machine_with(vector_bytes, x86)
        patch.setattr(launch, "_band_rows", lambda *_: 5)
        use_threads(patch, 4)
        patch.setattr(default, "_default", Engine(CpuDevice(host)))
        got = [run_here(k, image, (21, 50), **p) for k, p in chosen]
        got += [run_here(k, grey, (21, 50), **p) for k, p in chosen[: len(WAYS)]]
    for a, b in zip(got, wanted, strict=True):
        np.testing.assert_array_equal(a, b)


Stage = tuple[str, dict[str, object], tuple[int, int]]  # kernel, parameters, size of what it makes


def apart_and_fused(device: str, image: np.ndarray, stages: Sequence[Stage]) -> list[np.ndarray]:
    """What a chain makes stage by stage, and as one pipeline."""
    with dala.use(device):
        source = one = compute.from_array(image)
        pipeline = compute.pipeline()
        for number, (kernel, params, size) in enumerate(stages, 1):
            apart = compute.buffer_zeros((*size, *image.shape[2:]), "u8")
            compute.run_kernel(kernel, [source], apart, params)
            last = number == len(stages)
            fused = (
                compute.buffer_zeros(apart.shape, "u8") if last else compute.scratch(apart.shape)
            )
            pipeline.add({"kernel": kernel, "inputs": [one], "output": fused, "params": params})
            source, one = apart, fused
        pipeline.run()
        return [source.read().astype(int), one.read().astype(int)]


@pytest.mark.parametrize("kind", ["u8", "f32", "u16"])
def test_grey_bytes_alone_are_in_sixteen_bits(kind: str) -> None:
    grey, target = ArrayType((64, 48), parse_dtype(kind)), ArrayType((50, 31), parse_dtype(kind))
    found = arithmetic_of("resize", grey, target, interpolation="bicubic")
    assert (found == RESAMPLED) == (kind == "u8")


@pytest.mark.parametrize("size", [(50, 66), (122, 154), (30, 38)], ids=str)
@pytest.mark.parametrize("after", ["blur", "brightness", "sharpen"])
def test_grey_fused_is_unfused(after: str, size: tuple[int, int]) -> None:
    image = np.ascontiguousarray(pixels((61, 77))[..., 2])
    for way in WAYS:
        stages: list[Stage] = [("resize", {"interpolation": way}, size), (after, {}, size)]
        apart, fused = apart_and_fused("cpu", image, stages)
        np.testing.assert_array_equal(apart, fused)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("after", ["blur", "brightness", "grayscale", "median", "sharpen"])
@pytest.mark.parametrize("size", [(50, 66), (90, 131), (122, 154), (30, 38)], ids=str)
def test_fused_is_unfused(way: str, after: str, size: tuple[int, int]) -> None:
    stages: list[Stage] = [("resize", {"interpolation": way}, size), (after, {}, size)]
    apart, fused = apart_and_fused("cpu", pixels((61, 77)), stages)
    assert (apart == fused).all()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("before", ["brightness", "blur", "grayscale", "rotate"])
@pytest.mark.parametrize("old", [(2, 2), (2, 34), (34, 2), (6, 8), (62, 78)], ids=str)
@pytest.mark.parametrize("by", [0.5, 2.0])
def test_fused_with_what_comes_before(
    way: str, before: str, old: tuple[int, int], by: float
) -> None:
    size = (int(old[0] * by), int(old[1] * by))
    resize: Stage = ("resize", {"interpolation": way}, size)
    apart, fused = apart_and_fused(
        "cpu", pixels(old), [(before, {}, old), resize, ("sharpen", {}, size)]
    )
    assert (apart == fused).all()


@pytest.mark.webgpu
def test_on_a_gpu_they_differ_behind_ties_alone() -> None:
    """Twice the size makes sixteenths of levels: a sum that lies between two levels may be rounded to
    either, as a driver contracts it, and what sharpens it enlarges that."""
    size = (122, 154)
    image = pixels((61, 77))
    amount = 0.5
    stages: list[Stage] = [("resize", {}, size), ("sharpen", {"amount": amount}, size)]
    apart, fused = apart_and_fused("webgpu", image, stages)
    ties = _sixteenths_of_double(image) % 16 == 8
    around = np.pad(ties, ((1, 1), (1, 1), (0, 0)), "edge")
    center, rows, columns = np.s_[1:-1], (np.s_[:-2], np.s_[2:]), (np.s_[:-2], np.s_[2:])
    reached = around[center, center].copy()
    for side in rows:
        reached |= around[side, center]
    for side in columns:
        reached |= around[center, side]
    off = np.abs(apart - fused)
    assert not off[~reached].any()
    assert off.max() <= 1 + 8 * amount  # four neighbours and the pixel's own four, and a rounding


def _sixteenths_of_double(image: np.ndarray) -> np.ndarray:
    """An image of twice the size, bilinear, exactly."""
    padded = np.pad(image.astype(int), ((1, 1), (1, 1), (0, 0)), "edge")
    rows = np.repeat(padded[1:-1], 2, 0) * 3
    rows[0::2] += padded[:-2]
    rows[1::2] += padded[2:]
    exact = np.repeat(rows[:, 1:-1], 2, 1) * 3
    exact[:, 0::2] += rows[:, :-2]
    exact[:, 1::2] += rows[:, 2:]
    return exact


def test_half_the_size_is_one_pass_with_what_comes_before() -> None:
    image, out = compute.from_array(pixels((40, 60))), compute.buffer_zeros((20, 30, 4), "u8")
    scratch = compute.scratch((40, 60, 4))
    p = compute.pipeline().add({"kernel": "brightness", "inputs": [image], "output": scratch})
    p.add(
        {
            "kernel": "resize",
            "inputs": [scratch],
            "output": out,
            "params": {"interpolation": "bicubic"},
        }
    )
    assert "1 pass" in p.explain()


def test_from_several_threads() -> None:
    image = pixels((300, 411))
    sizes = [(200 + 13 * k, 150 + 29 * k) for k in range(8)] * 3
    wanted = {size: run_here("resize", image, size, interpolation="bicubic") for size in sizes}
    with ThreadPoolExecutor(6) as pool:
        got = pool.map(lambda s: run_here("resize", image, s, interpolation="bicubic"), sizes)
        for size, result in zip(sizes, got, strict=True):
            np.testing.assert_array_equal(result, wanted[size])


def test_what_is_resampled() -> None:
    for way in WAYS:
        assert arithmetic_of("resize", interpolation=way) == RESAMPLED
    for way in ("bicubic", "lanczos"):  # of bilinear ones, half is a mean of four
        for shape in ((32, 24, 4), (128, 96, 4)):
            target = ArrayType(shape, U8)
            assert arithmetic_of("resize", target=target, interpolation=way) == RESAMPLED
    for kernel in OURS.values():
        assert arithmetic_of(kernel) == RESAMPLED
    floats, greys = ArrayType((64, 48, 4), F32), ArrayType((64, 48), U8)
    for source, target in ((floats, OTHER_SIZE), (COLOURS, floats), (greys, OTHER_SIZE)):
        assert arithmetic_of(OURS["turned"], source, target) != RESAMPLED


def test_half_and_double_of_floats_have_their_own_programs() -> None:
    for shape in ((32, 24, 4), (128, 96, 4)):
        kernel, source = find_kernel("resize"), ArrayType((64, 48, 4), F32)
        values = kernel.bind({"interpolation": "lanczos"})
        special = kernel.specialize([source], ArrayType(shape, F32), values)
        assert isinstance(special.work, Program)
        prepared = prepare_program(special.work, [source], ArrayType(shape, F32), fma=True)
        assert not prepared.has_one_size
        assert kernel.specialize([source], ArrayType(shape, F32), values) is special


@pytest.mark.parametrize("kernel", OTHERS, ids=lambda k: k.name)
def test_what_only_looks_like_it(kernel: Kernel) -> None:
    assert arithmetic_of(kernel) != RESAMPLED
    image = pixels((20, 20))
    got, wanted = (run(d, kernel, image, (20, 20)) for d in ("cpu", "reference"))
    assert np.abs(got - wanted).max() <= 1
