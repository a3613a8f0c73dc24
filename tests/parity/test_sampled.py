"""Bilinear samples of bytes in 16 bits: within a level of NumPy wherever a position may fall."""

from __future__ import annotations

import numpy as np
import pytest
from machines import machine_with
from sampling import pixels, run, run_here
from several_threads import use_threads

from dala import compute
from dala.backends.cpu.arithmetic.sampled import SAMPLED
from dala.backends.cpu.device import CpuDevice
from dala.backends.cpu.run import launch
from dala.backends.cpu.schedule.prepare import prepare_program
from dala.compute import default
from dala.compute.engine import Engine
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import F32, U8
from dala.ir.graph import Arithmetic, Program
from dala.language.kernel import Kernel, make_kernel
from dala.language.registry import find_kernel
from dala.language.values import Image, Scalar, Vec
from dala.language.vocabulary import clamp, log, rgb, where, x, y

SOURCES = [(1, 1), (1, 6), (6, 1), (2, 2), (3, 17), (33, 40)]
TARGETS = [(1, 1), (7, 9), (21, 50)]
COLOURS = ArrayType((64, 48, 4), U8)


def at(src: Image, u: float = 0.0, v: float = 0.0, k: float = 1.0) -> Vec:
    return src.sample(x * k + u, y * k + v)


def wild(src: Image) -> Vec:
    """Positions that are infinite, and not numbers."""
    return src.sample(1.0 / (x - 3.0), log(y - 4.0))


def one_place(src: Image, u: float = 1.5, v: float = 0.25) -> Vec:
    return src.sample(u, v)


def faded(src: Image, by: float = 0.5) -> Vec:
    p, share = src.sample(x * 0.7, y * 1.1), clamp(x * 0.05 * by, 0.0, 1.0)
    mixed = (share * p.rgb).with_alpha(p.a)
    assert isinstance(mixed, Vec)
    return mixed


def where_it_is_right(src: Image, k: float = 1.0) -> Vec:
    """A condition that says nothing about the position."""
    chosen = where(x > 5, src.sample(1.0 / (x - 8.0) * k, y * 0.5), 0.0)
    assert isinstance(chosen, Vec)
    return chosen


def turned_colours(src: Image) -> Vec:
    p = src.sample(x * 0.5, y * 0.5)
    return rgb(p.b, p.g, p.r).with_alpha(p.a)


def doubled(src: Image) -> Vec:
    p = src.sample(x * 0.5, y * 0.5)
    return (p.rgb * 2.0).with_alpha(p.a)


OURS = {f.__name__: make_kernel(f) for f in (at, wild, one_place, faded, where_it_is_right)}
OTHERS = [make_kernel(f) for f in (turned_colours, doubled)]


def arithmetic_of(
    kernel: str | Kernel, source: ArrayType, target: ArrayType, **params: object
) -> Arithmetic:
    found = find_kernel(kernel) if isinstance(kernel, str) else kernel
    special = found.specialize([source], target, found.bind(params))
    assert isinstance(special.work, Program)
    return prepare_program(special.work, [source], target, fma=True).stages[-1].arithmetic


def cases(
    source: tuple[int, int], target: tuple[int, int]
) -> list[tuple[str | Kernel, dict[str, object]]]:
    rng = np.random.default_rng(7)
    found: list[tuple[str | Kernel, dict[str, object]]] = []
    angles = (0.0, 13.0, 90.0, -37.5)  # but not where whole pixels move
    found += [("rotate", {"degrees": d}) for d in angles if d != 90 or target != source[::-1]]
    for matrix in (
        (1, 0, 0, 0, 1, 0),
        (1, 0, 0.25, 0, 1, 0.5),
        (0, 0, 0, 0, 0, 0),
        (1, 0, 1e30, 0, 1, -1e30),
    ):
        found.append(("warp_affine", {"matrix": tuple(matrix)}))
    found.append(("warp_affine", {"matrix": tuple(rng.normal(0, 1, 6).tolist())}))
    found.append(("warp_perspective", {"matrix": tuple(rng.normal(0, 0.5, 9).tolist())}))
    found.append(("warp_perspective", {"matrix": (1.0, 0.1, 2.0, 0.0, 1.0, 1.0, -0.1, 0.02, 1.0)}))
    doubled = target in ((2 * source[0], 2 * source[1]), (source[0] // 2, source[1] // 2))
    if source != target and not doubled:
        found.append(("resize", {}))
    for u in (0.0, -3.5, 1e9, -1e9, 3e38):
        found += [(OURS["at"], {"u": u, "v": 1.5, "k": k}) for k in (0.37, -1.2, 3e38)]
    found += [(OURS["wild"], {}), (OURS["where_it_is_right"], {"k": 1.0})]
    found += [(OURS["faded"], {"by": b}) for b in (0.5, 3.0)] + [(OURS["one_place"], {})]
    return found


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("target", TARGETS)
def test_within_a_level(source: tuple[int, int], target: tuple[int, int]) -> None:
    image = pixels(source)
    for kernel, params in cases(source, target):
        assert (
            arithmetic_of(
                kernel, ArrayType((*source, 4), U8), ArrayType((*target, 4), U8), **params
            )
            == SAMPLED
        )
        got, wanted = (run(d, kernel, image, target, **params) for d in ("cpu", "reference"))
        assert np.abs(got - wanted).max() <= 1, (kernel, params)


def test_hardly_a_pixel_is_off() -> None:
    rng = np.random.default_rng(7)
    image = rng.integers(0, 256, (97, 131, 4), dtype=np.uint8)
    for kernel, params in (("rotate", {"degrees": 20.0}), ("resize", {})):
        got, wanted = (run(d, kernel, image, (80, 90), **params) for d in ("cpu", "reference"))
        assert (got != wanted).mean() < 0.02


def test_whole_positions_are_exact() -> None:
    image = pixels((33, 40))
    got = run("cpu", OURS["at"], image, (33, 40), u=-3.0, v=2.0)
    rows, columns = np.clip(np.arange(33) + 2, 0, 32), np.clip(np.arange(40) - 3, 0, 39)
    assert (got == image[rows][:, columns]).all()


@pytest.mark.parametrize(
    ("vector_bytes", "x86"), [(64, False), (32, True), (32, False), (16, True)]
)
def test_other_machines_give_the_same_bytes(vector_bytes: int, x86: bool) -> None:
    image = pixels((33, 40))
    chosen = cases((33, 40), (21, 50))
    wanted = [run("cpu", k, image, (21, 50), **p) for k, p in chosen]
    with pytest.MonkeyPatch.context() as patch:
        host = machine_with(vector_bytes, x86)
        patch.setattr(launch, "_band_rows", lambda *_: 5)
        use_threads(patch, 4)
        patch.setattr(default, "_default", Engine(CpuDevice(host)))
        got = [run_here(k, image, (21, 50), **p) for k, p in chosen]
    for a, b in zip(got, wanted, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("after", ["blur", "brightness", "grayscale", "median"])
def test_fused_is_unfused(after: str) -> None:
    image = compute.from_array(pixels((61, 77)))
    shape = (50, 66, 4)
    between, apart, together = (compute.buffer_zeros(shape, "u8") for _ in range(3))
    compute.run_kernel("rotate", [image], between, {"degrees": 11.0})
    compute.run_kernel(after, [between], apart)
    scratch = compute.scratch(shape)
    p = compute.pipeline().add(
        {"kernel": "rotate", "inputs": [image], "output": scratch, "params": {"degrees": 11.0}}
    )
    p.add({"kernel": after, "inputs": [scratch], "output": together}).run()
    assert (apart.read() == together.read()).all()


def test_what_is_no_sample_of_bytes() -> None:
    floats, greys = ArrayType((64, 48, 4), F32), ArrayType((64, 48), U8)
    for source, target in ((floats, COLOURS), (COLOURS, floats), (greys, COLOURS)):
        assert arithmetic_of(OURS["at"], source, target) != SAMPLED
    for kernel in OTHERS:
        assert arithmetic_of(kernel, COLOURS, COLOURS) != SAMPLED


def test_a_factor_that_is_not_clamped() -> None:
    def brighter(src: Image, by: float = 1.5) -> Vec:
        p: Vec = src.sample(x * 0.7, y * 1.1)
        factor: Scalar = by * 1.0
        return (p.rgb * factor).with_alpha(p.a)

    kernel = make_kernel(brighter)
    assert arithmetic_of(kernel, COLOURS, COLOURS) != SAMPLED
    image = pixels((20, 20))
    got, wanted = (run(d, kernel, image, (20, 20), by=1.7) for d in ("cpu", "reference"))
    assert np.abs(got - wanted).max() <= 1
