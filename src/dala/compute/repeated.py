"""Calls of kernels, recognised when they come again.

All checks of a call look at its kernel, the types of its arrays, which of them are the same, and the
values of its parameters. Where all of that is as it was in a call that passed, it passes. What is
kept is what the checks came to, recipe and numbers, and no buffer.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, TypeAlias

from dala.compute.buffers import Buffer, Owner, Scratch
from dala.compute.engine import CACHED_PLANS, Prepared, owner_of
from dala.compute.recipe import Known
from dala.compute.stages import Stage, kernel_stage
from dala.language.kernel import Kernel
from dala.language.registry import find_kernel

PLAIN = (float, int, bool, str, type(None))  # one value if of one type and equal; but for -0.0

# what the checks came to when the call was made before, its buffers, and what it is recognised by
Found: TypeAlias = "tuple[Known | None, tuple[Buffer, ...], Hashable]"


def run_call(
    name: str | Kernel,
    inputs: Sequence[Buffer],
    output: Buffer,
    params: Mapping[str, object] | None,
) -> None:
    """One kernel on buffers, checked, run and waited for."""
    kernel = find_kernel(name)
    known, slots, _ = found = _recognise(kernel, inputs, output, params)
    if known is not None:  # spelled out: of a short run, each call of a function is a hundredth
        quick = known.recipe.quick
        if quick is not None and quick(*slots, *known.numbers):
            return
    ready = _make_ready(kernel, inputs, output, params, found)  # before the output is trusted
    owner_of(output).finish(ready)


def prepare_call(
    name: str | Kernel,
    inputs: Sequence[Buffer],
    output: Buffer,
    params: Mapping[str, object] | None,
) -> Prepared:
    """One kernel on buffers, checked and made ready."""
    kernel = find_kernel(name)
    found = _recognise(kernel, inputs, output, params)
    return _make_ready(kernel, inputs, output, params, found)


def recall(owner: Owner, sign: Hashable, stages: Callable[[], Sequence[Stage]]) -> Known:
    """How to run stages that are the same wherever ``sign`` is, which tells the types of their buffers,
    too; slots are in the order in which the stages come to them."""
    known = owner.known.get(sign)
    if known is None:
        made = stages()
        assert isinstance(made[-1].output, Buffer)
        ready = owner_of(made[-1].output).prepare(made)
        known = Known(ready.recipe, ready.numbers, ())
        _keep(owner, sign, known)
    return known


def _recognise(
    kernel: Kernel,
    inputs: Sequence[Buffer],
    output: Buffer,
    params: Mapping[str, object] | None,
) -> Found:
    """What a call is recognised by; nothing, if something about it is strange."""
    try:
        engine = output.engine
        slots = (*inputs, output)
        if slots[0] is output if len(slots) == 2 else len({*slots}) < len(slots):
            slots = tuple(dict.fromkeys(slots))  # one that is written, say
        signs: list[Any] = [kernel, type(inputs), len(inputs)]
        for buffer in slots:
            signs.append(id(buffer.type) if buffer.engine is engine else None)
        if params:
            for item in params.items():
                signs += (item, type(item[1]))
        call = tuple(signs)
        return engine.known.get(call), slots, call
    except (AttributeError, TypeError):  # something is not what it should be: the checks say what
        return None, (), None


def _make_ready(
    kernel: Kernel,
    inputs: Sequence[Buffer],
    output: Buffer,
    params: Mapping[str, object] | None,
    found: Found,
) -> Prepared:
    known, slots, call = found
    if known is not None:
        return Prepared(known.recipe, slots, known.numbers)
    stage, ready = _check(kernel, inputs, output, params)
    if call is not None and _is_recognisable(stage, slots, params):
        types = tuple(b.type for b in slots)
        _keep(output.engine, call, Known(ready.recipe, ready.numbers, types))
    return ready


def _check(
    kernel: Kernel, inputs: object, output: Buffer, params: object
) -> tuple[Stage, Prepared]:
    stage = kernel_stage(kernel, inputs, output, params, allow_scratch=False)
    return stage, owner_of(output).prepare([stage])


def _is_recognisable(
    stage: Stage, slots: Sequence[Buffer | Scratch], params: Mapping[str, object] | None
) -> bool:
    """Whether another call that looks the same is the same."""
    values = params.values() if params else ()
    plain = all(type(v) in PLAIN and not (type(v) is float and v == 0) for v in values)
    one_way = len(stage.inputs) == 1 or len(slots) == len(stage.inputs) + 1  # to share buffers
    return plain and one_way and not stage.tables


def _keep(engine: Owner, call: Hashable, known: Known) -> None:
    if len(engine.known) >= CACHED_PLANS:
        engine.known.clear()
    engine.known[call] = known
