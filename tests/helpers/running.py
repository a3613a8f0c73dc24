"""Random programs on a device: fused and stage by stage, and whether devices agree."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from noise import RUNS, assert_within, disturbed
from programs import Array, Case
from user_kernels import define

import dala
from dala import compute
from dala.errors import DalaError, UnsupportedError
from dala.language.kernel import Kernel, make_kernel

NUMPY = {"f32": "f4", "f64": "f8", "s32": "i4", "s64": "i8", "u32": "u4", "u8": "u1"}
Outcome = np.ndarray | DalaError


def kernels_of(case: Case) -> list[Kernel]:
    """The kernels of a case; raises a DalaError if one of them is refused."""
    return [make_kernel(define(s.text) if s.traced else s.text) for s in case.stages]


def sources_of(case: Case) -> list[np.ndarray]:
    rng = np.random.default_rng(case.seed)
    return [_content(rng, a, case.domain == "image") for a in case.sources]


def _content(rng: np.random.Generator, array: Array, image: bool) -> np.ndarray:
    if image and array.dtype == "f32":
        return rng.normal(0.5, 0.4, array.shape).astype(np.float32)
    if array.dtype == "u8":
        return rng.integers(0, 256, array.shape, dtype=np.uint8)
    if array.dtype in ("f32", "f64"):
        return rng.normal(0, 9, array.shape).astype(NUMPY[array.dtype])
    low = 0 if array.dtype[0] == "u" else -200
    return rng.integers(low, 200, array.shape).astype(NUMPY[array.dtype])


def run_stage(
    case: Case, kernels: Sequence[Kernel], number: int, arrays: Sequence[np.ndarray]
) -> Outcome:
    """One stage on the device in use, from given arrays."""
    stage = case.stages[number]
    try:
        inputs = [compute.from_array(arrays[k]) for k in stage.inputs]
        out = compute.buffer_zeros(stage.output.shape, stage.output.dtype)
        compute.run_kernel(kernels[number], inputs, out, dict(stage.params))
        return out.read().copy()
    except DalaError as error:
        return error


def run_apart(case: Case, kernels: Sequence[Kernel]) -> list[Outcome]:
    """Each stage by itself, each on what the one before gave; up to the first that is refused."""
    arrays, results = sources_of(case), list[Outcome]()
    for number in range(len(case.stages)):
        results.append(run_stage(case, kernels, number, arrays))
        if isinstance(results[-1], DalaError):
            break
        arrays.append(results[-1])
    return results


def run_fused(case: Case, kernels: Sequence[Kernel]) -> dict[int, np.ndarray] | DalaError:
    """All stages as one pipeline: what the named buffers hold."""
    try:
        buffers: list = [compute.from_array(a) for a in sources_of(case)]
        pipeline = compute.pipeline()
        for stage, kernel in zip(case.stages, kernels, strict=True):
            make = compute.buffer_zeros if stage.named else compute.scratch
            buffers.append(make(stage.output.shape, stage.output.dtype))
            inputs = [buffers[k] for k in stage.inputs]
            call = {"kernel": kernel, "inputs": inputs, "output": buffers[-1]}
            pipeline.add({**call, "params": dict(stage.params)})
        pipeline.run()
        named = [k for k, s in enumerate(case.stages) if s.named]
        return {k: buffers[k + 2].read().copy() for k in named}
    except DalaError as error:
        return error


def same_bytes(a: np.ndarray, b: np.ndarray) -> bool:
    """Bit for bit; only that any NaN is as good as another (design/numerics.md)."""
    if a.dtype.kind == b.dtype.kind == "f":
        a, b = (np.where(np.isnan(v), v.dtype.type(np.nan), v) for v in (a, b))
    return a.dtype == b.dtype and a.tobytes() == b.tobytes()


def check_case(case: Case, device: str) -> str:
    """Whether a device does what the reference does; a word about how it went."""
    try:
        kernels = kernels_of(case)
    except DalaError:
        return "refused"
    with dala.use("reference"):
        wanted = run_apart(case, kernels)
        fused = run_fused(case, kernels)
    _check_fused(case, fused, wanted, exact=True)
    if device == "reference":
        return "ran"
    with dala.use(device):
        got = _check_stages(case, kernels, wanted, device)
        fused = run_fused(case, kernels)
    if any(isinstance(g, UnsupportedError) for g in got):
        return "unsupported"
    if device == "cpu":
        with dala.use(device):
            _check_fused(case, fused, run_apart(case, kernels), exact=True)
        return "ran"
    if isinstance(fused, dict) and not isinstance(wanted[-1], DalaError):
        _check_near(case, kernels, fused, wanted)
    else:
        assert isinstance(fused, DalaError) is isinstance(wanted[-1], DalaError), (
            f"{fused!r}\n{case}"
        )
    return "ran"


def _check_stages(
    case: Case, kernels: Sequence[Kernel], wanted: Sequence[Outcome], device: str
) -> list[Outcome]:
    """Each stage, on the reference's own arrays."""
    arrays, results = sources_of(case), list[Outcome]()
    for number, right in enumerate(wanted):
        with dala.use(device):
            got = run_stage(case, kernels, number, arrays)
        results.append(got)
        if isinstance(got, UnsupportedError):
            return results
        what = f"stage {number} on {device}\n{case}"
        if isinstance(right, DalaError) or isinstance(got, DalaError):
            assert type(got) is type(right), f"{_word(got)}; the reference: {_word(right)}\n{what}"
            return results
        noisy = []
        for run in range(RUNS):
            with disturbed(run), dala.use("reference"):
                noisy.append(run_stage(case, kernels, number, arrays))
        assert_within(got, right, noisy, what, image=case.domain == "image")  # type: ignore[arg-type]
        arrays.append(right)
    return results


def _word(outcome: Outcome) -> str:
    return repr(outcome) if isinstance(outcome, DalaError) else "it runs"


def _check_fused(
    case: Case, fused: dict[int, np.ndarray] | DalaError, apart: Sequence[Outcome], *, exact: bool
) -> None:
    if isinstance(fused, DalaError):
        assert isinstance(apart[-1], DalaError), f"only the pipeline is refused: {fused!r}\n{case}"
        return
    assert not isinstance(apart[-1], DalaError), f"only a stage is refused: {apart[-1]!r}\n{case}"
    for number, result in fused.items():
        right = apart[number]
        assert isinstance(right, np.ndarray)
        assert same_bytes(result, right), f"fused, stage {number} differs\n{case}"


def _check_near(
    case: Case, kernels: Sequence[Kernel], fused: dict[int, np.ndarray], wanted: Sequence[Outcome]
) -> None:
    """A pipeline on a GPU: each stage may be a level off, and what follows magnifies that."""
    noisy: list[dict[int, np.ndarray]] = []
    for run in range(RUNS):
        with disturbed(run, levels=0.75), dala.use("reference"):
            again = run_fused(case, kernels)
        assert isinstance(again, dict)
        noisy.append(again)
    for number, result in fused.items():
        right = wanted[number]
        assert isinstance(right, np.ndarray)
        runs, what = [n[number] for n in noisy], f"fused, stage {number}\n{case}"
        assert_within(result, right, runs, what, image=case.domain == "image")
