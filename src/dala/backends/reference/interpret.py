"""A FusedPass on whole NumPy arrays: what every program means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dala.backends.host import HostArray, HostMemory
from dala.ir.dtypes import DType, parse_dtype
from dala.ir.graph import OUTPUT, Access, Extent, Gather, Node, walk
from dala.ir.ops import OPS, cast_array
from dala.ir.planes import shrink
from dala.ir.rewrite import LEVELS
from dala.plan.fuse import FusedPass

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Geometry:
    """How the images that a body reads relate to the one it computes."""

    margin: int  # of its own
    steps: Sequence[int]  # how many doublings larger each source is
    margins: Sequence[int]  # of the sources
    picture: tuple[int, ...]  # the size of the images of mip level 0


def interpret_pass(
    work: FusedPass,
    reads: Sequence[HostMemory],
    writes: Sequence[HostArray],
    params: Sequence[float | int],
) -> None:
    """Compute every body on whole arrays, then write what is to be stored."""
    image = work.domain == "image"
    arrays = [r.plane(a) for r, a in zip(reads, work.reads, strict=True)]
    sources = [_channels(a, image) for a in arrays]
    mips, margins = [a.mip for a in work.reads], [0] * len(arrays)
    shapes = [a.shape for a in arrays]
    results: list[tuple[int, list[Array]]] = []
    for body in work.bodies:
        shape = tuple(shrink(n, body.mip) for n in work.shape[:2]) if image else work.shape
        shape = tuple(n + 2 * body.margin for n in shape)
        geometry = Geometry(body.margin, [body.mip - g for g in mips], margins, work.shape)
        values = _evaluate(body.roots, shape, sources, shapes, params, geometry)
        sources.append([values[id(n)] for n in body.buffered])
        mips.append(body.mip)
        margins.append(body.margin)
        results += [(s.write, [values[id(n)] for n in s.values]) for s in body.stores]
    for write, channels in results:  # only now: a pass may overwrite what it has read
        _store(writes[write].plane(work.writes[write]), channels, image)


def _channels(array: Array, image: bool) -> list[Array]:
    """An array as the values a kernel sees: f32 channels in 0..1 for an image."""
    if not image:
        return [array]
    planes = [array[..., c] for c in range(array.shape[2])] if array.ndim == 3 else [array]
    dtype = parse_dtype(array.dtype)
    if dtype in LEVELS:
        _, inverse = LEVELS[dtype]
        return [p.astype(np.float32) * np.float32(inverse) for p in planes]
    return [p.astype(np.float32) for p in planes]


def _store(target: Array, channels: list[Array], image: bool) -> None:
    if not image:
        target[...] = channels[0]
        return
    planes = [target[..., c] for c in range(target.shape[2])] if target.ndim == 3 else [target]
    for plane, values in zip(planes, channels, strict=True):
        plane[...] = cast_array(values, parse_dtype(target.dtype))


def _evaluate(
    roots: Sequence[Node],
    shape: tuple[int, ...],
    sources: Sequence[Sequence[Array]],
    shapes: Sequence[tuple[int, ...]],
    params: Sequence[float | int],
    geometry: Geometry | None = None,
) -> dict[int, Array]:
    geometry = geometry or Geometry(0, [0] * len(sources), [0] * len(sources), shape)
    values: dict[int, Array] = {}
    for node in walk(roots):
        args = [values[id(a)] for a in node.args]
        match node.op, node.attr:
            case "const", value:
                result = np.full(shape, value, node.dtype.numpy)
            case "param", int(index):
                result = np.full(shape, _number(params[index], node.dtype), node.dtype.numpy)
            case "coord", int(axis):
                result = np.broadcast_to(_positions(shape, axis) - geometry.margin, shape)
            case "extent", Extent(source, axis, mip):
                if source == OUTPUT:
                    size = shrink(geometry.picture[axis], mip)
                else:
                    size = shapes[source][axis]
                result = np.full(shape, size, np.int32)
            case "load", Access(source, channel, dx, dy):
                result = _shifted(sources[source][channel], dx, dy, source, geometry, shape)
            case "gather", Gather(source, channel):
                plane = sources[source][channel]
                where = [np.clip(i, 0, n - 1) for i, n in zip(args, plane.shape, strict=True)]
                result = plane[tuple(where)]
            case "cast", _:
                result = cast_array(args[0], node.dtype)
            case op, _:
                meaning = OPS[op].numpy
                assert meaning is not None
                result = meaning(*args)
        values[id(node)] = np.asarray(result, node.dtype.numpy)
    return values


def _number(value: float | int, dtype: DType) -> Any:
    with np.errstate(over="ignore"):
        return dtype.numpy.type(value)


def _positions(shape: tuple[int, ...], axis: int) -> Array:
    line = np.arange(shape[axis], dtype=np.int32)
    return line.reshape([-1 if a == axis else 1 for a in range(len(shape))])


def _shifted(
    plane: Array, dx: int, dy: int, source: int, geometry: Geometry, shape: tuple[int, ...]
) -> Array:
    """The pixel at an offset, in an image that is 2**step times as large."""
    step, margin = geometry.steps[source], geometry.margins[source]
    if dx == 0 and dy == 0 and step == 0 and margin == geometry.margin:
        return plane.reshape(shape)
    rows, columns = (
        np.clip(
            (np.arange(-geometry.margin, n - geometry.margin) << max(step, 0) >> max(-step, 0))
            + d
            + margin,
            0,
            last - 1,
        )
        for n, d, last in zip(shape, (dy, dx), plane.shape, strict=True)
    )
    result: Array = plane[rows[:, None], columns[None, :]]
    return result
