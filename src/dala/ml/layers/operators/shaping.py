"""Moving elements: reshapes, transposes, slices, padding, gathers, tiles."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dala.errors import ModelError
from dala.ml.layers.builder import MOST_ELEMENTS, Builder, Ref, plain_order
from dala.ml.layers.operators.attributes import (
    Lower,
    Refs,
    axis_of,
    checked_axis,
    given,
    listed,
    needed,
    real,
    text,
    whole,
    wholes,
)
from dala.ml.onnx.graph import Node

Array = npt.NDArray[Any]


def take(b: Builder, ref: Ref, tables: Mapping[int, Array], fill: float = 0) -> Ref:
    """The positions that tables name along axes of the file's order."""
    stored = {ref.order.index(axis): table for axis, table in tables.items()}
    lengths = b.values[ref.value].shape
    whole_axes = [a for a, t in stored.items() if np.array_equal(t, np.arange(lengths[a]))]
    stored = {axis: table for axis, table in stored.items() if axis not in whole_axes}
    if not stored:
        return ref
    options = {"axes": plain_order(len(ref.order)), "tables": stored, "fill": fill}
    return Ref(b.emit("take", [ref.value], options), ref.order)


def as_plain(b: Builder, ref: Ref, shape: Sequence[int]) -> Ref:
    """The elements in the file's order, in another shape."""
    return Ref(b.reshape(b.plain(ref), shape), plain_order(len(shape)))


def _shape(b: Builder, node: Node, refs: Refs) -> Ref:
    shape = b.shape(needed(refs, 0))
    part = shape[whole(node, "start", 0) : whole(node, "end", len(shape))]
    return b.constant(np.array(part, np.int64))


def _size(b: Builder, node: Node, refs: Refs) -> Ref:
    return b.constant(np.array(math.prod(b.shape(needed(refs, 0))), np.int64))


def _identity(b: Builder, node: Node, refs: Refs) -> Ref:
    return needed(refs, 0)


def _reshape(b: Builder, node: Node, refs: Refs) -> Ref:
    source = needed(refs, 0)
    old = b.shape(source)
    asked = listed(b, node, refs, 1, "shape")
    if asked is None:
        raise ModelError("no shape")
    wanted = list(asked)
    if not whole(node, "allowzero", 0):
        wanted = [old[k] if n == 0 and k < len(old) else n for k, n in enumerate(wanted)]
    if wanted.count(-1) == 1:
        rest = math.prod(n for n in wanted if n != -1)
        if rest < 1 or math.prod(old) % rest:
            raise ModelError(f"{old} cannot be seen as {asked}")
        wanted[wanted.index(-1)] = math.prod(old) // rest
    if min(wanted, default=0) < 0 or math.prod(wanted) != math.prod(old):
        raise ModelError(f"{old} cannot be seen as {asked}")
    return as_plain(b, source, wanted)


def _flatten(b: Builder, node: Node, refs: Refs) -> Ref:
    shape = b.shape(needed(refs, 0))
    axis = whole(node, "axis", 1)
    axis = axis + len(shape) if axis < 0 else axis
    return as_plain(b, needed(refs, 0), (math.prod(shape[:axis]), math.prod(shape[axis:])))


def _transpose(b: Builder, node: Node, refs: Refs) -> Ref:
    source = needed(refs, 0)
    rank = len(source.order)
    perm = wholes(node, "perm", tuple(reversed(range(rank))))
    if sorted(perm) != list(range(rank)):
        raise ModelError(f"perm {perm} of a value with {rank} axes")
    return Ref(source.value, tuple(perm.index(axis) for axis in source.order))


def _squeeze(b: Builder, node: Node, refs: Refs) -> Ref:
    source = needed(refs, 0)
    shape = b.shape(source)
    asked = listed(b, node, refs, 1, "axes")
    if asked is None:
        asked = tuple(k for k, n in enumerate(shape) if n == 1)
    axes = {checked_axis(a, len(shape)) for a in asked}
    if any(shape[a] != 1 for a in axes):
        raise ModelError(f"axes {sorted(axes)} of {shape} are not all of length 1")
    left = [axis for axis in source.order if axis not in axes]
    renumbered = {axis: k for k, axis in enumerate(sorted(left))}
    stored = b.reshape(source.value, [shape[a] for a in left])
    return Ref(stored, tuple(renumbered[a] for a in left))


def _unsqueeze(b: Builder, node: Node, refs: Refs) -> Ref:
    source = needed(refs, 0)
    asked = listed(b, node, refs, 1, "axes") or ()
    rank = len(source.order) + len(asked)
    axes = sorted({checked_axis(a, rank) for a in asked})
    if len(axes) != len(asked):
        raise ModelError(f"axes {asked} are named twice")
    old = [a for a in range(rank) if a not in axes]
    order = [old[a] for a in source.order]
    is_plain = source.order == plain_order(len(source.order))
    for axis in axes:
        order.insert(axis if is_plain else 0, axis)
    shape = b.shape(source)
    lengths = {**dict.fromkeys(axes, 1), **{a: shape[k] for k, a in enumerate(old)}}
    return Ref(b.reshape(source.value, [lengths[a] for a in order]), tuple(order))


def _concat(b: Builder, node: Node, refs: Refs) -> Ref:
    parts = [r for r in (needed(refs, k) for k in range(len(refs))) if 0 not in b.shape(r)]
    if not parts:
        return needed(refs, 0)
    rank = len(parts[0].order)
    if any(len(p.order) != rank for p in parts):
        raise ModelError("values with different numbers of axes cannot be joined")
    free = [p for p in parts if p.value not in b.constants] or parts
    order = max(free, key=lambda p: b.values[p.value].count).order
    axis = order.index(axis_of(node, rank, 0))
    values = [b.in_order(p, order) for p in parts]
    made = values[0] if len(values) == 1 else b.emit("concat", values, {"axis": axis})
    return Ref(made, order)


def _slice(b: Builder, node: Node, refs: Refs) -> Ref:
    source = needed(refs, 0)
    shape = b.shape(source)
    starts, ends = listed(b, node, refs, 1, "starts"), listed(b, node, refs, 2, "ends")
    axes, steps = listed(b, node, refs, 3, "axes"), listed(b, node, refs, 4, "steps")
    if starts is None or ends is None:
        raise ModelError("no starts or ends")
    axes = tuple(range(len(starts))) if axes is None else axes
    steps = (1,) * len(starts) if steps is None else steps
    if not len(starts) == len(ends) == len(axes) == len(steps) or 0 in steps:
        raise ModelError(f"starts {starts}, ends {ends}, axes {axes} and steps {steps} do not fit")
    tables = {}
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        place = checked_axis(axis, len(shape))
        everything = np.arange(shape[place])
        stop: int | None = max(end, -(1 << 40))
        if step < 0 and end < -shape[place]:
            stop = None
        tables[place] = everything[start:stop:step]
    return take(b, source, tables)


def _split(b: Builder, node: Node, refs: Refs) -> list[Ref]:
    source = needed(refs, 0)
    shape = b.shape(source)
    axis = axis_of(node, len(shape), 0)
    count = len(node.outputs)
    sizes = listed(b, node, refs, 1, "split")
    if sizes is None:
        each = -(-shape[axis] // count)
        sizes = tuple(min(each, shape[axis] - each * k) for k in range(count))
    if sum(sizes) != shape[axis] or len(sizes) != count or min(sizes) < 0:
        raise ModelError(f"{shape[axis]} cannot be split into {sizes}")
    ends = np.cumsum(sizes)
    return [
        take(b, source, {axis: np.arange(end - size, end)})
        for end, size in zip(ends, sizes, strict=True)
    ]


def _gather(b: Builder, node: Node, refs: Refs) -> Ref:
    source = needed(refs, 0)
    shape = b.shape(source)
    axis = axis_of(node, len(shape), 0)
    indices = np.asarray(b.require(needed(refs, 1), "which elements are gathered"), np.int64)
    if indices.size and not (-shape[axis] <= indices.min() and indices.max() < shape[axis]):
        raise ModelError(f"positions {indices.min()}..{indices.max()} of an axis of {shape[axis]}")
    found = take(b, source, {axis: np.where(indices < 0, indices + shape[axis], indices).ravel()})
    if indices.ndim == 1:
        return found
    return as_plain(b, found, (*shape[:axis], *indices.shape, *shape[axis + 1 :]))


def _pad(b: Builder, node: Node, refs: Refs) -> Ref:
    source = needed(refs, 0)
    shape = b.shape(source)
    pads, axes = listed(b, node, refs, 1, "pads"), listed(b, node, refs, 3, "axes")
    axes = tuple(range(len(shape))) if axes is None else axes
    if pads is None or len(pads) != 2 * len(axes):
        raise ModelError(f"{pads} are no pads for {shape}")
    value = given(refs, 2)
    fill = real(node, "value", 0.0) if value is None else b.require(value, "the padding").item()
    mode = text(node, "mode", "constant")
    tables = {}
    for number, axis in enumerate(axes):
        place = checked_axis(axis, len(shape))
        before, behind = pads[number], pads[number + len(axes)]
        if max(before, behind) > MOST_ELEMENTS or shape[place] + before + behind < 0:
            raise ModelError(f"{pads} are no pads for {shape}")
        tables[place] = _padded(np.arange(-before, shape[place] + behind), shape[place], mode)
    return take(b, source, tables, fill)


def _padded(at: Array, length: int, mode: str) -> Array:
    if mode == "constant":
        return np.where((at >= 0) & (at < length), at, -1)
    if mode == "edge":
        return np.clip(at, 0, length - 1)
    if mode == "reflect" and (length > 1 or at.size == length):
        around = np.mod(at, max(1, 2 * (length - 1)))
        return np.asarray(np.minimum(around, 2 * (length - 1) - around))
    raise ModelError(f"padding by {mode!r} of an axis of {length} is not supported")


def _tile(b: Builder, node: Node, refs: Refs) -> Ref:
    source = needed(refs, 0)
    shape = b.shape(source)
    repeats = listed(b, node, refs, 1, "repeats")
    if repeats is None or len(repeats) != len(shape) or min(repeats, default=1) < 0:
        raise ModelError(f"{repeats} are no repeats of {shape}")
    _bounded(math.prod(shape) * math.prod(repeats))
    return take(b, source, {k: np.tile(np.arange(shape[k]), n) for k, n in enumerate(repeats)})


def _expand(b: Builder, node: Node, refs: Refs) -> Ref:
    asked = listed(b, node, refs, 1, "shape") or ()
    shape = b.shape(needed(refs, 0))
    _bounded(math.prod(max(1, n) for n in (*asked, *shape)))
    try:
        whole_shape = np.broadcast_shapes(shape, asked)
    except ValueError:
        raise ModelError(f"{shape} cannot be expanded to {asked}") from None
    lacking = len(whole_shape) - len(shape)
    source = as_plain(b, needed(refs, 0), (1,) * lacking + shape)
    padded = (1,) * lacking + shape
    wider = {k: n for k, n in enumerate(whole_shape) if padded[k] != n}
    return take(b, source, {k: np.zeros(n, np.int64) for k, n in wider.items()})


def _constant_of_shape(b: Builder, node: Node, refs: Refs) -> Ref:
    shape = listed(b, node, refs, 0, "shape") or ()
    value = node.attributes.get("value", np.zeros(1, np.float32))
    if not isinstance(value, np.ndarray) or value.size != 1 or min(shape, default=0) < 0:
        raise ModelError(f"no value for {shape}")
    _bounded(math.prod(shape))
    return b.constant(np.full(shape, value.reshape(())[()], value.dtype))


def _constant(b: Builder, node: Node, refs: Refs) -> Ref:
    kinds: dict[str, Any] = {"value_float": np.float32, "value_floats": np.float32,
                             "value_int": np.int64, "value_ints": np.int64}  # fmt: skip
    for name, value in node.attributes.items():
        if name == "value" and isinstance(value, np.ndarray):
            return b.constant(value)
        if name in kinds:
            return b.constant(np.array(value, kinds[name]))
    raise ModelError("a constant of an unknown kind")


def _range(b: Builder, node: Node, refs: Refs) -> Ref:
    start, stop, step = (b.require(needed(refs, k), "a range") for k in range(3))
    if not step or abs(float(stop - start) / float(step)) > MOST_ELEMENTS:
        raise ModelError(f"a range from {start} to {stop} by {step}")
    return b.constant(np.arange(start.item(), stop.item(), step.item(), dtype=start.dtype))


def _bounded(count: int) -> None:
    if count > MOST_ELEMENTS:
        raise ModelError(f"{count} elements; {MOST_ELEMENTS} are allowed")


def _depth_to_space(b: Builder, node: Node, refs: Refs) -> Ref:
    source, size = needed(refs, 0), whole(node, "blocksize", 0)
    shape = b.shape(source)
    if len(shape) != 4 or size < 1 or shape[1] % (size * size):
        raise ModelError(f"blocks of {size} in {shape}")
    count, channels, height, width = shape
    left = channels // size**2
    if text(node, "mode", "DCR") == "DCR":
        cut, axes = (count, size, size, left, height, width), (0, 3, 4, 1, 5, 2)
    else:
        cut, axes = (count, left, size, size, height, width), (0, 1, 4, 2, 5, 3)
    return _blocks(b, source, cut, axes, (count, left, height * size, width * size))


def _space_to_depth(b: Builder, node: Node, refs: Refs) -> Ref:
    source, size = needed(refs, 0), whole(node, "blocksize", 0)
    shape = b.shape(source)
    if len(shape) != 4 or size < 1 or shape[2] % size or shape[3] % size:
        raise ModelError(f"blocks of {size} in {shape}")
    count, channels, height, width = shape
    cut = (count, channels, height // size, size, width // size, size)
    made = (count, channels * size * size, height // size, width // size)
    return _blocks(b, source, cut, (0, 3, 5, 1, 2, 4), made)


def _blocks(
    b: Builder, source: Ref, cut: Sequence[int], axes: Sequence[int], made: Sequence[int]
) -> Ref:
    value = as_plain(b, source, cut).value
    moved = b.emit("take", [value], {"axes": tuple(axes), "tables": {}, "fill": 0})
    return Ref(b.reshape(moved, made), plain_order(4))


SHAPING: dict[str, Lower] = {
    "Shape": _shape, "Size": _size, "Identity": _identity, "Dropout": _identity, "Reshape": _reshape,
    "Flatten": _flatten, "Transpose": _transpose, "Squeeze": _squeeze, "Unsqueeze": _unsqueeze,
    "Concat": _concat, "Slice": _slice, "Split": _split, "Gather": _gather, "Pad": _pad, "Tile": _tile,
    "Expand": _expand, "ConstantOfShape": _constant_of_shape, "Constant": _constant, "Range": _range,
    "DepthToSpace": _depth_to_space, "SpaceToDepth": _space_to_depth,
}  # fmt: skip
