"""Held images in planes (planes.py, dot_planes.py): where they are, and that no byte differs for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from machines import machine_with
from several_threads import use_threads

import dala
from dala import compute
from dala.backends.cpu.device import CpuDevice
from dala.backends.cpu.llvm.jit import Host
from dala.backends.cpu.run import launch
from dala.backends.cpu.schedule.rows import schedule_rows
from dala.backends.cpu.schedule.sweep import Sweep
from dala.compute import default
from dala.compute.engine import Engine
from dala.plan.fuse import FusedPass
from dala.plan.planner import Plan

Call = tuple[str, dict[str, object]]
SIZES = [(2, 2), (4, 6), (10, 62), (16, 64), (22, 66), (30, 130), (38, 194)]
FROM = {"yuv420p": "yuv420p_to_rgba", "nv12": "nv12_to_rgba"}
INTO = {"yuv420p": "rgba_to_yuv420p", "nv12": "rgba_to_nv12"}
FULL: dict[str, object] = {"matrix": "bt601", "range": "full"}
BLUR: Call = ("blur", {"radius": 3})
SHARPEN: Call = ("sharpen", {"amount": 1.3})
CURVES: list[Call] = [("contrast", {"value": 0.3}), ("brightness", {"value": 0.1})]
CHAINS: dict[str, list[Call]] = {
    "nothing": [],
    "blur": [BLUR],
    "narrow": [("blur", {"radius": 1, "sigma": 5.0})],
    "largest": [("blur", {"radius": 7})],
    "wide": [("blur", {"radius": 9})],
    "sharpen": [SHARPEN],
    "curves": CURVES,
    "all": [BLUR, SHARPEN, *CURVES],
    "twice": [BLUR, ("saturation", {"value": 0.4}), SHARPEN, BLUR],
    "a median between": [BLUR, ("median", {"radius": 1}), SHARPEN],
    "grey": [BLUR, ("grayscale", {}), SHARPEN],
    "channels differ": [BLUR, ("white_balance", {"temperature": 4000.0}), SHARPEN],
    "alpha for what differs": [
        SHARPEN,
        ("saturation", {"value": 0.4}),
        ("white_balance", {"temperature": 4000.0}),
    ],
    "f32 stencil": [SHARPEN, ("denoise", {"strength": 0.5})],
}
# one channel of what comes before, and nothing else of it
PROBES = {
    f"probe_{name}": f"""
def probe_{name}(src):
    level = (src[0, 0].{name[0]} + src[1, 0].{name[0]}) * 0.5
    return rgba(level, level, level, 1.0)
"""
    for name in ("red", "green", "blue")
}


@pytest.fixture(scope="module", autouse=True)
def _probe_kernels() -> Iterator[None]:
    for name, text in PROBES.items():
        compute.register(name, text)
    yield
    for name in PROBES:
        compute.unregister(name)


def frame(size: tuple[int, int]) -> np.ndarray:
    """Noise, half of it black or white."""
    rng = np.random.default_rng(7)
    shape = (size[0] * 3 // 2, size[1])
    noise = rng.integers(0, 256, shape, dtype=np.uint8)
    return np.where(rng.random(shape) < 0.5, noise, noise // 128 * 255).astype(np.uint8)


def pipeline_of(
    source: np.ndarray, size: tuple[int, int], calls: Sequence[Call]
) -> tuple[compute.Pipeline, compute.Buffer]:
    chain, here = compute.pipeline(), compute.from_array(source)
    last: compute.Buffer | compute.Scratch = here
    for number, (kernel, params) in enumerate(calls):
        into_frame = kernel in INTO.values()
        shape = (size[0] * 3 // 2, size[1]) if into_frame else (*size, 4)
        ends = number == len(calls) - 1
        target = compute.buffer_zeros(shape, "u8") if ends else compute.scratch(shape, "u8")
        chain.add({"kernel": kernel, "inputs": [last], "output": target, "params": params})
        last = target
    assert isinstance(last, compute.Buffer)
    return chain, last


def run(source: np.ndarray, size: tuple[int, int], calls: Sequence[Call]) -> np.ndarray:
    chain, result = pipeline_of(source, size, calls)
    chain.run()
    return result.read().copy()


def one_by_one(source: np.ndarray, size: tuple[int, int], calls: Sequence[Call]) -> np.ndarray:
    for call in calls:
        source = run(source, size, [call])
    return source


def calls_of(name: str, source: str, target: str) -> list[Call]:
    """A chain from frame to frame; or to RGBA, or to grey RGBA."""
    ends: dict[str, list[Call]] = {"rgba": [], "gray": [("grayscale", {})]}
    ends |= {form: [(kernel, FULL)] for form, kernel in INTO.items()}
    return [(FROM[source], {}), *CHAINS[name], *ends[target]]


@pytest.mark.parametrize("target", ["yuv420p", "nv12", "rgba", "gray"])
@pytest.mark.parametrize("name", CHAINS)
def test_fused_is_unfused(name: str, target: str) -> None:
    with dala.use("cpu"):
        for number, size in enumerate(SIZES):
            calls = calls_of(name, ("yuv420p", "nv12")[number % 2], target)
            source = frame(size)
            np.testing.assert_array_equal(
                run(source, size, calls), one_by_one(source, size, calls), str(size)
            )


@pytest.mark.parametrize(
    ("vector_bytes", "x86"), [(64, False), (32, True), (32, False), (16, True)]
)
def test_other_machines_give_the_same_bytes(vector_bytes: int, x86: bool) -> None:
    size = (38, 194)
    names = ["nothing", "blur", "largest", "sharpen", "grey"]  # in integers, on all machines
    chosen = [
        calls_of(n, s, t) for n in names for s, t in (("nv12", "yuv420p"), ("yuv420p", "nv12"))
    ]
    source = frame(size)
    with dala.use("cpu"):
        wanted = [run(source, size, calls) for calls in chosen]
    with pytest.MonkeyPatch.context() as patch:
        host = machine_with(vector_bytes, x86)
        patch.setattr(launch, "_band_rows", lambda *_: 6)
        use_threads(patch, 4)
        patch.setattr(default, "_default", Engine(CpuDevice(host)))
        got = [run(source, size, calls) for calls in chosen]
        everything = calls_of("all", "nv12", "nv12")
        got.append(run(source, size, everything))
        wanted.append(one_by_one(source, size, everything))  # curves in f32, if there are no tables
    for a, b in zip(got, wanted, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", ["nothing", "blur", "sharpen", "curves", "all"])
def test_near_the_reference(name: str) -> None:
    """Each stage may be a level off, and what follows may enlarge that."""
    size, calls = (38, 130), calls_of(name, "yuv420p", "yuv420p")
    grown = {"sharpen": 2 + 8 * 1.3, "all": 4 + 16 * 1.3}.get(name, len(calls))
    results = []
    source = frame(size)
    for device in ("cpu", "reference"):
        with dala.use(device):
            results.append(run(source, size, calls).astype(int))
    assert np.abs(results[0] - results[1]).max() <= grown
    assert np.abs(results[0] - results[1]).mean() < 0.5


@pytest.mark.parametrize("columns", [1, 2, 3, 63, 64, 65, 127, 128, 129, 131])
@pytest.mark.parametrize("radius", [1, 3, 7, 9])
def test_grey_is_a_channel(columns: int, radius: int) -> None:
    """A grey image, by pairs of columns, is blurred like the channels of a colour one."""
    rng = np.random.default_rng(7)
    grey = rng.integers(0, 256, (9, columns), dtype=np.uint8)
    colour = np.repeat(grey[..., None], 4, axis=2)
    with dala.use("cpu"):
        outputs = []
        for image in (grey, colour):
            target = compute.buffer_zeros(image.shape, "u8")
            compute.run_kernel("blur", [compute.from_array(image)], target, {"radius": radius})
            outputs.append(target.read().copy())
    if radius == 9:  # words are summed up as they are: the odd channels may differ
        np.testing.assert_array_equal(outputs[1][..., 0], outputs[0])
        return
    for channel in range(4):
        np.testing.assert_array_equal(outputs[1][..., channel], outputs[0])


# --- what is held how -----------------------------------------------------------------------------


class Planner(CpuDevice):
    """Plans only, so that it can do so for a machine that is not there."""

    def compile(self, plan: Plan) -> Any:
        return SimpleNamespace(plan=plan)


def sweep_of(calls: Sequence[Call], colour: bool = False) -> Sweep:
    """As it is planned for a machine with tables of bytes: what is held how depends on those."""
    size = (64, 128)
    source = np.zeros((*size, 4) if colour else (96, 128), np.uint8)
    host = Host("", "", 64, fma=True, x86=True, permutes_bytes=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(default, "_default", Engine(Planner(host)))
        chain, _ = pipeline_of(source, size, calls)
        plan = chain.engine.prepare(chain._stages).executable.plan  # type: ignore[attr-defined]
    (work,) = plan.passes
    assert isinstance(work, FusedPass)
    return schedule_rows(work)


def planes_held(sweep: Sweep) -> list[int]:
    """For each held image in planes, their number."""
    return [b.ring.channels for b in sweep.bodies if b.ring is not None and b.ring.planar]


def test_alpha_is_not_held_if_nobody_reads_it() -> None:
    sweep = sweep_of(calls_of("all", "yuv420p", "nv12"))
    held = [b for b in sweep.bodies if b.ring is not None]
    assert planes_held(sweep) == [3] * len(held)
    assert len(held) >= 4  # the frame, two parts of the blur, what is sharpened
    assert {b.turns for b in held} == {1, 3}  # from the frame all at once, then one after the other


@pytest.mark.parametrize("target", ["rgba", "gray"])
def test_what_leaves_with_alpha_stays_interleaved(target: str) -> None:
    assert planes_held(sweep_of(calls_of("all", "yuv420p", target))) == []


def test_pixels_from_memory_stay_interleaved() -> None:
    assert planes_held(sweep_of([BLUR, SHARPEN, ("rgba_to_nv12", {})], colour=True)) == []


def test_functions_that_differ_stay_interleaved() -> None:
    sweep = sweep_of([("nv12_to_rgba", {}), *CHAINS["channels differ"], ("rgba_to_nv12", {})])
    assert planes_held(sweep) == []


def test_only_the_channel_that_is_read() -> None:
    """Its weights are rounded as beside the others: those of blue are the largest ones."""
    for name in ("blue", "green", "red"):
        calls: list[Call] = [("nv12_to_rgba", {}), BLUR, (f"probe_{name}", {})]
        assert planes_held(sweep_of(calls)) == [1, 1, 1]
        source = frame((22, 66))
        with dala.use("cpu"):
            got, wanted = (f(source, (22, 66), calls) for f in (run, one_by_one))
        np.testing.assert_array_equal(got, wanted)


def test_readers_of_different_channels() -> None:
    """One reads the frame, another one only the blue of what is made of it."""
    size = (22, 66)
    source = frame(size)
    shapes = [(*size, 4), (*size, 4), (size[0] * 3 // 2, size[1]), (*size, 4)]
    results = []
    with dala.use("cpu"):
        for fused in (True, False):
            make = compute.scratch if fused else compute.buffer_zeros
            colour, soft = (make(shape, "u8") for shape in shapes[:2])
            frame_out, blue = (compute.buffer_zeros(shape, "u8") for shape in shapes[2:])
            wiring = [("nv12_to_rgba", compute.from_array(source), colour), ("blur", colour, soft)]
            wiring += [("rgba_to_nv12", colour, frame_out), ("probe_blue", soft, blue)]
            chain = compute.pipeline()
            for kernel, read, written in wiring:
                if not fused:
                    chain = compute.pipeline()
                chain.add({"kernel": kernel, "inputs": [read], "output": written})
                if not fused:
                    chain.run()
            chain.run()
            results.append((frame_out.read().copy(), blue.read().copy()))
    for a, b in zip(*results, strict=True):
        np.testing.assert_array_equal(a, b)


def test_results_of_one_size_share_a_loop() -> None:
    sweep = sweep_of([BLUR, ("rgba_to_yuv420p", {})], colour=True)
    assert sorted(len(b.stores) for b in sweep.bodies if b.stores) == [1, 2]
