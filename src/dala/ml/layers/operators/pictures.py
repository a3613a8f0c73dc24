"""Convolutions, pooling, resizing: pictures in ONNX's (count, channels, height, width)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dala.errors import ModelError
from dala.ml.layers.builder import NHWC, Builder, Ref
from dala.ml.layers.operators.attributes import (
    Lower,
    Refs,
    given,
    needed,
    real,
    text,
    whole,
    wholes,
)
from dala.ml.onnx.graph import Node

Array = npt.NDArray[Any]
LONGEST = 1 << 20  # side of a resized picture


def _pads(
    node: Node,
    size: Sequence[int],
    window: Sequence[int],
    strides: Sequence[int],
    far: Sequence[int],
) -> tuple[int, ...]:
    """Rows and columns before, then behind: as told, or as many as keep the size."""
    kind = text(node, "auto_pad", "NOTSET")
    if kind in ("NOTSET", ""):
        found = wholes(node, "pads", (0, 0, 0, 0))
    elif kind == "VALID":
        found = (0, 0, 0, 0)
    elif kind in ("SAME_UPPER", "SAME_LOWER"):
        before, behind = [], []
        for n, w, s, d in zip(size, window, strides, far, strict=True):
            lack = max(0, (-(-n // s) - 1) * s + (w - 1) * d + 1 - n)
            half = lack // 2 if kind == "SAME_UPPER" else lack - lack // 2
            before.append(half)
            behind.append(lack - half)
        found = (*before, *behind)
    else:
        raise ModelError(f"auto_pad {kind!r} is not known")
    if len(found) != 4 or min(found) < 0 or max(found) > 1 << 15:
        raise ModelError(f"pads are four lengths, got {found}")
    return found


def _pair(node: Node, name: str, default: tuple[int, ...] = (1, 1)) -> tuple[int, ...]:
    found = wholes(node, name, default)
    if len(found) != 2 or min(found) < 1 or max(found) > 1 << 15:
        raise ModelError(f"{name} are two lengths, got {found}; only pictures are supported")
    return found


def _weights(b: Builder, refs: Refs) -> tuple[Array, Array | None]:
    weight = b.require(needed(refs, 1), "its weight")
    if weight.ndim != 4:
        raise ModelError(f"a weight with {weight.ndim} axes; only pictures (4 axes) are supported")
    bias = given(refs, 2)
    return weight, None if bias is None else b.require(bias, "its bias")


def _conv(b: Builder, node: Node, refs: Refs) -> Ref:
    source = b.picture(given(refs, 0), "Conv")
    weight, bias = _weights(b, refs)
    groups = whole(node, "group", 1)
    made, taken, *window = weight.shape
    if wholes(node, "kernel_shape", window) != tuple(window):
        raise ModelError(f"kernel_shape differs from the weight's {tuple(window)}")
    strides, far = _pair(node, "strides"), _pair(node, "dilations")
    _, height, width, channels = b.values[source].shape
    pads = _pads(node, (height, width), window, strides, far)
    if groups < 1:
        raise ModelError(f"{groups} groups")
    single = tuple(window) == (1, 1) and strides == (1, 1) and not any(pads)
    if groups == channels == made and taken == 1 and groups > 1:
        kind = "depthwise"
    else:
        kind = "pointwise" if single and groups == 1 else "conv"
    options = {"groups": groups, "strides": strides, "pads": pads, "dilations": far}
    arrays = (np.ascontiguousarray(weight.transpose(2, 3, 1, 0)), _bias(bias, made, weight.dtype))
    return Ref(b.emit(kind, [source], options, arrays), NHWC)


def _bias(bias: Array | None, made: int, dtype: np.dtype[Any]) -> Array:
    found = np.zeros(made, dtype) if bias is None else bias
    if found.shape != (made,):
        raise ModelError(f"a bias of {found.shape} for {made} channels")
    return found


def _transposed(b: Builder, node: Node, refs: Refs) -> Ref:
    source = b.picture(given(refs, 0), "ConvTranspose")
    weight, bias = _weights(b, refs)
    groups = whole(node, "group", 1)
    taken, made, *window = weight.shape
    strides, far = _pair(node, "strides"), _pair(node, "dilations")
    extra = wholes(node, "output_padding", (0, 0))
    if (
        text(node, "auto_pad", "NOTSET") not in ("NOTSET", "", "VALID")
        or "output_shape" in node.attributes
    ):
        raise ModelError("auto_pad and output_shape of a transposed convolution are not supported")
    if groups < 1 or taken % groups or len(extra) != 2:
        raise ModelError(f"{groups} groups of {taken} channels, output_padding {extra}")
    pads = _pads(node, (1, 1), window, strides, far)
    # (taken, made in a group, …) → (rows, columns, taken in a group, made)
    grouped = weight.reshape(groups, taken // groups, made, *window).transpose(3, 4, 1, 0, 2)
    arrays = (
        np.ascontiguousarray(grouped.reshape(*window, taken // groups, groups * made)),
        _bias(bias, groups * made, weight.dtype),
    )
    options = {"groups": groups, "strides": strides, "pads": pads, "dilations": far, "extra": extra}
    return Ref(b.emit("transposed", [source], options, arrays), NHWC)


def _pool(mode: str) -> Lower:
    def lower(b: Builder, node: Node, refs: Refs) -> Ref:
        source = b.picture(given(refs, 0), node.op)
        if len([o for o in node.outputs if o]) > 1 or whole(node, "storage_order", 0):
            raise ModelError("positions of the largest are not supported")
        window, strides = _pair(node, "kernel_shape", ()), _pair(node, "strides")
        far = _pair(node, "dilations")
        size = b.values[source].shape[1:3]
        pads = _pads(node, size, window, strides, far)
        include = bool(whole(node, "count_include_pad", 0))
        if whole(node, "ceil_mode", 0):
            if mode == "average" and include:
                raise ModelError("ceil_mode with count_include_pad is not supported")
            pads = _longer(size, pads, window, strides, far)
        options = {
            "mode": mode, "window": window, "strides": strides, "pads": pads, "dilations": far,
            "include_pad": include,
        }  # fmt: skip
        whole_picture = window == size and not any(pads) and far == (1, 1)
        if whole_picture:
            name = "mean" if mode == "average" else "max"
            return Ref(b.emit("reduce", [source], {"axes": (1, 2), "mode": name}), NHWC)
        return Ref(b.emit("pool", [source], options), NHWC)

    return lower


def _longer(
    size: Sequence[int], pads: Sequence[int], window: Sequence[int], strides: Sequence[int],
    far: Sequence[int],
) -> tuple[int, ...]:  # fmt: skip
    """Pads with which the last window, though not whole, has its place; it begins within the picture."""
    found = list(pads)
    for axis in (0, 1):
        span = (window[axis] - 1) * far[axis] + 1
        whole_length = size[axis] + pads[axis] + pads[2 + axis]
        places = -(-(whole_length - span) // strides[axis]) + 1
        if (places - 1) * strides[axis] >= size[axis] + pads[axis]:
            places -= 1
        found[2 + axis] += max(0, (places - 1) * strides[axis] + span - whole_length)
    return tuple(found)


def _global_pool(mode: str) -> Lower:
    def lower(b: Builder, node: Node, refs: Refs) -> Ref:
        source = b.picture(given(refs, 0), node.op)
        return Ref(b.emit("reduce", [source], {"axes": (1, 2), "mode": mode}), NHWC)

    return lower


def _batch_norm(b: Builder, node: Node, refs: Refs) -> Ref:
    source = needed(refs, 0)
    scale, bias, mean, variance = (b.require(given(refs, k), "a statistic") for k in (1, 2, 3, 4))
    factor = scale / np.sqrt(variance + scale.dtype.type(real(node, "epsilon", 1e-5)))
    shape = (-1, *([1] * (len(source.order) - 2)))
    value = b.combine([source, b.constant(factor.reshape(shape))], "mul")
    return b.combine([value, b.constant((bias - mean * factor).reshape(shape))], "add")


# -- resizing --------------------------------------------------------------------------------------


def _resize(b: Builder, node: Node, refs: Refs) -> Ref:
    source = needed(refs, 0)
    shape = b.shape(source)
    if "axes" in node.attributes or text(node, "keep_aspect_ratio_policy", "stretch") != "stretch":
        raise ModelError("axes and keep_aspect_ratio_policy are not supported")
    if whole(node, "antialias", 0) or whole(node, "exclude_outside", 0):
        raise ModelError("antialias and exclude_outside are not supported")
    old = node.op == "Upsample" or b.opset < 11
    scales_ref = given(refs, 1 if old else 2)
    scales = np.empty(0, np.float32) if scales_ref is None else b.require(scales_ref, "scales")
    sizes_ref = None if old else given(refs, 3)
    if scales.size:
        scale = [np.float32(s) for s in scales.ravel()]
        if not all(0 < s < LONGEST for s in scale):
            raise ModelError(f"scales of {[float(s) for s in scale]}")
        made = [int(np.floor(np.float32(n) * s)) for n, s in zip(shape, scale, strict=False)]
    else:
        made = [int(n) for n in b.require(sizes_ref, "sizes").ravel()]
        scale = [np.float32(m) / np.float32(n) for m, n in zip(made, shape, strict=False)]
    if len(made) != len(shape) or len(shape) != 4 or made[:2] != list(shape[:2]):
        raise ModelError(
            f"from {shape} to {tuple(made)}: only rows and columns of pictures are resized"
        )
    if min(made) < 1 or max(made) > LONGEST:
        raise ModelError(f"a size of {tuple(made)}")
    value = b.picture(source, node.op)
    if list(shape) == made and all(s == 1 for s in scale):
        return Ref(value, NHWC)
    mode = text(node, "mode", "nearest")
    way = "asymmetric" if old else text(node, "coordinate_transformation_mode", "half_pixel")
    near = "floor" if old else text(node, "nearest_mode", "round_prefer_floor")
    tables = [_table(shape[k], made[k], scale[k], mode, way, near) for k in (2, 3)]
    return Ref(b.emit("resize", [value], {"mode": mode}, tables), NHWC)


def _table(length: int, made: int, scale: np.float32, mode: str, way: str, near: str) -> Array:
    """For each place of the result: the place before it, the one behind it, and the part of that."""
    at = np.arange(made, dtype=np.float32)
    one, half = np.float32(1), np.float32(0.5)
    if way == "align_corners":
        found = at * np.float32(length - 1) / np.float32(made - 1) if made > 1 else at * 0
    elif way == "asymmetric":
        found = at / scale
    elif way == "half_pixel" or (way == "pytorch_half_pixel" and made > 1):
        found = (at + half) / scale - half
    elif way == "pytorch_half_pixel":
        found = at * 0
    else:
        raise ModelError(f"coordinate_transformation_mode {way!r} is not supported")
    last = np.float32(length - 1)
    if mode in ("linear", "bilinear"):
        inside = np.clip(found, 0, last)
        first = np.floor(inside)
        return np.stack([first, np.minimum(first + one, last), inside - first], axis=1)
    rounded = {
        "floor": np.floor(found),
        "ceil": np.ceil(found),
        "round_prefer_floor": np.ceil(found - half),
        "round_prefer_ceil": np.floor(found + half),
    }
    if mode != "nearest" or near not in rounded:
        raise ModelError(f"mode {mode!r} with nearest_mode {near!r} is not supported")
    chosen = np.clip(rounded[near], 0, last)
    return np.stack([chosen, chosen, np.zeros_like(chosen)], axis=1)


PICTURES: dict[str, Lower] = {
    "Conv": _conv,
    "ConvTranspose": _transposed,
    "MaxPool": _pool("max"),
    "AveragePool": _pool("average"),
    "GlobalAveragePool": _global_pool("mean"),
    "GlobalMaxPool": _global_pool("max"),
    "BatchNormalization": _batch_norm,
    "Resize": _resize,
    "Upsample": _resize,
}
