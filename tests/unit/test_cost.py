"""How much work a pass is taken for, and how many threads it gets."""

from __future__ import annotations

import pytest

from dala.backends.cpu.device import CpuDevice
from dala.backends.cpu.emit.function import NativePass, emit_pass
from dala.backends.cpu.llvm.jit import Host
from dala.backends.cpu.run import cores, launch, pool
from dala.backends.cpu.schedule.prepare import prepare_program
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import F32, U8
from dala.ir.graph import Program
from dala.language.kernel import Kernel, make_kernel
from dala.language.registry import find_kernel
from dala.plan.fuse import FusedPass
from dala.plan.planner import Plan, plan_calls
from dala.plan.steps import Call, Slot

WIDE = Host("", "", 64, fma=True, permutes_bytes=True)
NARROW = Host("", "", 16, fma=True)


def image(height: int, width: int) -> ArrayType:
    return ArrayType((height, width, 4), U8)


def planned(kernel: Kernel, type_: ArrayType, params: dict[str, object], host: Host) -> Plan:
    special = kernel.specialize([type_], type_, kernel.bind(params))
    assert isinstance(special.work, Program)
    program = prepare_program(special.work, [type_], type_, fma=True, least_table=host.least_table)
    return plan_calls([Call(program, (0,), 1)], [Slot(type_)] * 2)


def native(
    kernel: str | Kernel, type_: ArrayType, host: Host = WIDE, **params: object
) -> NativePass:
    work = planned(find_kernel(kernel), type_, params, host).passes[0]
    assert isinstance(work, FusedPass)
    return emit_pass(work, host)


def cost(kernel: str | Kernel, host: Host = WIDE, **params: object) -> float:
    return native(kernel, image(64, 64), host, **params).cost


def test_order() -> None:
    kernels = ["invert", "grayscale", "median", "sharpen", "denoise"]
    costs = [cost(k) for k in kernels]
    assert costs == sorted(costs)
    assert len(set(costs)) == len(kernels)
    assert cost("rotate") > 3 * cost("sharpen")  # gathers


def test_gathers_that_are_loads_weigh_as_much() -> None:
    assert 2 * max(cost("flip"), cost("crop")) < cost("pixelate") < cost("rotate")


def test_a_look_up_costs_the_same_whatever_is_in_it() -> None:
    assert cost("gamma") == cost("invert")
    assert cost("gamma", NARROW) > 2 * cost("invert", NARROW)


def test_narrow_vectors_take_more_of_them() -> None:
    assert cost("sepia", NARROW) == pytest.approx(4 * cost("sepia"))


def test_what_is_the_same_for_all_elements_costs_nothing() -> None:
    plain = make_kernel("def plain(src, k: float = 1.0):\n    return src[0, 0] * k")
    heavy = make_kernel("def heavy(src, k: float = 1.0):\n    return src[0, 0] * sin(exp(k) / 3)")
    assert cost(plain, NARROW) == cost(heavy, NARROW)


def test_no_pass_is_lighter_than_its_memory_traffic() -> None:
    tensor = ArrayType((1024,), F32)
    bytes_moved = 2 * 4
    assert native("scalar_mul", tensor, scalar=2).cost >= bytes_moved / 16


@pytest.mark.parametrize(
    ("kernel", "height", "width", "several"),
    [
        ("grayscale", 224, 224, False),
        ("sharpen", 224, 224, False),
        ("gamma", 480, 640, False),
        ("sharpen", 480, 640, False),
        ("blur", 480, 640, True),
        ("gamma", 2160, 3840, True),
        ("denoise", 224, 224, True),
    ],
)
def test_threads(
    monkeypatch: pytest.MonkeyPatch, kernel: str, height: int, width: int, several: bool
) -> None:
    from dala.backends.cpu.llvm import jit

    if not jit.detect_host().permutes_bytes:
        pytest.skip("fitted to AVX-512; elsewhere vectors are narrower and the borders lower")
    monkeypatch.setattr(cores, "machine_threads", lambda: 4)
    monkeypatch.setattr(pool, "latest_arrivals", lambda _work_ns: [70_000] * 3)
    plan = planned(find_kernel(kernel), image(height, width), {}, jit.detect_host())
    (run,) = CpuDevice().compile(plan).passes
    assert isinstance(run, launch.PassLauncher)
    assert (run.helpers > 0) == several
