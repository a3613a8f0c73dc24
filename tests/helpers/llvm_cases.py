"""Kernels and chains whose LLVM text is kept: every kernel of the catalogue, every arithmetic.

Sizes are no part of the text, but for ratios: how often two images' sizes go into each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise, product

import numpy as np
from llvm_kernels import image_kernels, kernel_of, tensor_kernel, tensor_kernels
from llvm_texts import Case, Step

import dala
from dala import compute
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import BUFFER_DTYPES, F32, F64, S32, U8, U16
from dala.language.kernel import Kernel
from dala.language.registry import find_kernel

Call = tuple[str | Kernel, dict[str, object]]

COLOURS, GREYS = ArrayType((48, 64, 4), U8), ArrayType((48, 64), U8)
FLOATS, GREY_FLOATS = ArrayType((48, 64, 4), F32), ArrayType((48, 64), F32)
FRAME = ArrayType((72, 64), U8)  # yuv420p or nv12, of 48 × 64 pixels
KINDS = {"u8": COLOURS, "grey u8": GREYS, "f32": FLOATS, "grey f32": GREY_FLOATS}

CURVE = np.linspace(0, 1, 9)[:, None] ** [0.5, 1, 2]
CUBE = np.stack(np.meshgrid(*[np.linspace(0, 1, 3)] * 3, indexing="ij"), -1)
REQUIRED: dict[str, dict[str, object]] = {
    "lut": {"lut": CURVE},
    "scalar_add": {"scalar": 2},
    "scalar_mul": {"scalar": 3},
    "warp_affine": {"matrix": (0.9, 0.1, 2.0, -0.1, 0.9, 1.0)},
    "warp_perspective": {"matrix": (0.9, 0.1, 2.0, -0.1, 0.9, 1.0, 0.001, 0.002, 1.0)},
}
COLOURFUL = {"lut", "a look"}  # they make colours of greys


def lone(
    kernel: str | Kernel, source: ArrayType, target: ArrayType | None = None, **params: object
) -> Case:
    """One kernel on inputs of one type."""
    names = [f"i{k}" for k in range(find_kernel(kernel).inputs)]
    arrays = {**dict.fromkeys(names, source), "out": target or source}
    return Case([Step(kernel, tuple(names), "out", params)], arrays)


def chain(calls: Sequence[Call], *types: ArrayType, in_place: bool = False) -> Case:
    """Calls one after the other on the types that lie between them; the last type is that of the rest.

    In place the last one writes what the first one reads.
    """
    between = [f"~{number}" for number in range(1, len(calls))]
    names = ["source", *between, "source" if in_place else "target"]
    filled = (*types, *[types[-1]] * (len(names) - len(types)))
    steps = [
        Step(kernel, (before,), after, params)
        for (kernel, params), (before, after) in zip(calls, pairwise(names), strict=True)
    ]
    return Case(steps, dict(zip(names, filled, strict=True)))


# -- the catalogue -----------------------------------------------------------------------------------


def catalogue() -> Iterator[tuple[str, Case]]:
    """Every kernel as it is, on every kind of array that it takes."""
    for name in compute.kernels():
        kernel = find_kernel(name)
        if kernel.domain == "image" and not _is_conversion(kernel):
            params = REQUIRED.get(name, {})
            for kind, type_ in KINDS.items():
                if type_.channels == 4 or name not in COLOURFUL:
                    yield f"{name}, {kind}", lone(name, type_, **params)
            yield f"{name}, u8 to f32", lone(name, COLOURS, FLOATS, **params)


def _is_conversion(kernel: Kernel) -> bool:
    return bool(kernel.geometry.input_planes or kernel.geometry.output_planes)


def parameters() -> Iterator[tuple[str, Case]]:
    """Values that choose other code."""
    for radius, kind in product((0, 1, 2, 7, 9, 20, 30, 60, 100), ("u8", "grey u8", "f32")):
        yield f"blur {radius}, {kind}", lone("blur", KINDS[kind], radius=radius)
    for radius, kind in product((1, 20, 60), ("u8", "f32")):
        yield f"blur {radius} by sigma, {kind}", lone("blur", KINDS[kind], radius=radius, sigma=4.0)
    for radius, kind in product((2, 3), KINDS):
        yield f"median {radius}, {kind}", lone("median", KINDS[kind], radius=radius)
    for mode, kind in product(find_param("blend", "mode").choices, ("u8", "f32")):
        yield f"blend {mode}, {kind}", lone("blend", KINDS[kind], mode=mode)
    for across, down in ((False, False), (False, True), (True, True)):
        case = lone("flip", COLOURS, horizontal=across, vertical=down)
        yield f"flip {across} {down}", case
    for radius in (1, 20):
        yield f"beauty {radius}", lone("beauty", COLOURS, radius=radius)
        yield f"glow {radius}", lone("glow", COLOURS, radius=radius)
    for kind, type_ in (("u8", COLOURS), ("f32", FLOATS)):
        yield f"lut of 3 dimensions, {kind}", lone("lut", type_, lut=CUBE)
    masked = {"image": COLOURS, "mask": GREYS, "other": COLOURS, "out": COLOURS}
    for kernel, count in (("blur", 2), ("replace", 2), ("replace", 3)):
        step = Step(f"background_{kernel}", ("image", "mask", "other")[:count], "out")
        yield f"background_{kernel} of {count} by a grey mask", Case([step], masked)
    yield "invert, grey to colours", lone("invert", GREYS, COLOURS)


def find_param(kernel: str, name: str) -> dala.Param:
    (found,) = [p for p in find_kernel(kernel).params if p.name == name]
    return found


def resizes() -> Iterator[tuple[str, Case]]:
    sizes = {"half": (24, 32), "double": (96, 128), "less": (30, 50)}
    further = {"more": (70, 75), "a quarter": (12, 16), "tiny": (3, 4)}
    kinds = {"u8": COLOURS, "grey u8": GREYS, "f32": FLOATS}
    for way, (kind, type_) in product(find_param("resize", "interpolation").choices, kinds.items()):
        for ratio, size in (sizes | (further if way == "area" else {})).items():
            target = ArrayType((*size, *type_.shape[2:]), type_.dtype)
            case = lone("resize", type_, target, interpolation=way)
            yield f"resize {way} to {ratio}, {kind}", case


# -- frames of video ---------------------------------------------------------------------------------

FULL: dict[str, object] = {"matrix": "bt601", "range": "full"}
BLUR: Call = ("blur", {"radius": 3})
SHARPEN: Call = ("sharpen", {"amount": 1.3})
CURVES: list[Call] = [("contrast", {"value": 0.3}), ("brightness", {"value": 0.1})]
BETWEEN_FRAMES: dict[str, list[Call]] = {
    "nothing": [],
    "blur": [BLUR],
    "narrow blur": [("blur", {"radius": 1, "sigma": 5.0})],
    "largest blur": [("blur", {"radius": 7})],
    "wide blur": [("blur", {"radius": 9})],
    "sharpen": [SHARPEN],
    "curves": CURVES,
    "all": [BLUR, SHARPEN, *CURVES],
    "twice": [BLUR, ("saturation", {"value": 0.4}), SHARPEN, BLUR],
    "a median": [BLUR, ("median", {"radius": 1}), SHARPEN],
    "grey": [BLUR, ("grayscale", {}), SHARPEN],
    "other channels": [BLUR, ("white_balance", {"temperature": 4000.0}), SHARPEN],
    "crossed channels": [(kernel_of("rgba(p.b, p.r * 0.5 + p.g * gain, 0.5, 1.0)"), {}), BLUR],
    "denoise": [SHARPEN, ("denoise", {"strength": 0.5})],
}


def frames() -> Iterator[tuple[str, Case]]:
    """Conversions between pictures and frames in planes, and what is fused with them."""
    forms = ("yuv420p", "nv12")
    for form, matrix, range_ in product(forms, ("bt601", "bt709", "bt2020"), ("limited", "full")):
        choice: dict[str, object] = {"matrix": matrix, "range": range_}
        name = f"{matrix} {range_}"
        yield f"{form} to rgba, {name}", lone(f"{form}_to_rgba", FRAME, COLOURS, **choice)
        yield f"rgba to {form}, {name}", lone(f"rgba_to_{form}", COLOURS, FRAME, **choice)
    for form in forms:
        yield f"f32 to {form}", lone(f"rgba_to_{form}", FLOATS, FRAME)
        yield f"{form} to f32", lone(f"{form}_to_rgba", FRAME, FLOATS)
    for (name, calls), form in product(BETWEEN_FRAMES.items(), forms):
        other = forms[form == "yuv420p"]
        down = [(f"{form}_to_rgba", {}), *calls]
        pictures = [COLOURS] * len(down)
        up: list[Call] = [*down, (f"rgba_to_{other}", FULL)]
        yield f"{form}, {name}, {other}", chain(up, FRAME, *pictures, FRAME)
        yield f"{form}, {name}, rgba", chain(down, FRAME, *pictures)


# -- chains ------------------------------------------------------------------------------------------

FIVE: list[Call] = [
    ("blur", {"radius": 3, "sigma": 1.5}), ("sharpen", {"amount": 0.5}), ("contrast", {"value": 0.2}),
    ("brightness", {"value": 0.05}), ("grayscale", {}),
]  # fmt: skip
CHAINS: dict[str, list[Call]] = {
    "five": FIVE,
    "tones": [("exposure", {"stops": 0.5}), ("gamma", {"value": 1.4}), *CURVES, ("invert", {})],
    "blur, median, sharpen": [("blur", {}), ("median", {"radius": 2}), ("sharpen", {})],
    "median, invert": [("median", {}), ("invert", {})],
    "invert, median": [("invert", {}), ("median", {"radius": 3})],
    "median, median": [("median", {"radius": 1}), ("median", {"radius": 2})],
    "mixes": [("saturation", {"value": 0.4}), ("hue", {"degrees": 40.0}), ("sepia", {})],
    "mixes and others": [
        ("saturation", {"value": 0.4}), ("vignette", {}), ("hue", {"degrees": 40.0}),
        ("contrast", {"value": 0.2}), ("threshold", {"value": 0.4}), ("saturation", {"value": -0.5}),
    ],
    "wide": [
        ("brightness", {"value": 0.1}), ("blur", {"radius": 14}), ("sharpen", {"amount": 0.4}),
        ("blur", {"radius": 60, "sigma": 4.0}), ("beauty", {"radius": 6}),
    ],
    "rotated": [("rotate", {"degrees": 11.0}), ("blur", {}), ("sharpen", {})],
    "rotated last": [("grayscale", {}), ("rotate", {"degrees": 11.0})],
    "mirrored": [("flip", {}), ("brightness", {"value": 0.1}), ("median", {})],
    "a look": [
        ("lut", {"lut": CURVE}), ("tone", {"contrast": 0.2}), ("split_tone", {"shadows": (0.1, 0, 0)}),
        ("vibrance", {"value": 0.3}), ("grain", {}), ("vignette", {}),
    ],
    "glowing": [("glow", {}), ("denoise", {}), ("edge_detect", {})],
    "pixelated": [("pixelate", {"size": 5}), ("posterize", {}), ("sharpen", {})],
}  # fmt: skip


def chains() -> Iterator[tuple[str, Case]]:
    for (name, calls), kind in product(CHAINS.items(), ("u8", "grey u8", "f32")):
        if KINDS[kind].channels == 4 or name not in COLOURFUL:
            yield f"chain {name}, {kind}", chain(calls, KINDS[kind])
    for name, calls in CHAINS.items():
        yield f"chain {name} in place", chain(calls, COLOURS, in_place=True)
    for name in ("five", "mixes and others"):
        mixed = [COLOURS, *(FLOATS, COLOURS) * 3][: len(CHAINS[name])]
        yield f"chain {name}, u8 and f32", chain(CHAINS[name], *mixed, COLOURS)
    half, double = ArrayType((24, 32, 4), U8), ArrayType((96, 128, 4), U8)
    for way, size in product(("bilinear", "bicubic", "lanczos", "area"), (half, double)):
        resize: Call = ("resize", {"interpolation": way})
        name = f"{way} to {size.shape[0]} rows"
        yield f"chain {name}, blur, sharpen", chain([resize, BLUR, SHARPEN], COLOURS, size)
        before: list[Call] = [("brightness", {"value": 0.1}), resize, SHARPEN]
        yield f"chain brightness, {name}, sharpen", chain(before, COLOURS, COLOURS, size)
    for kernel in ("invert", "median", "sharpen", "saturation", "blur", "rotate"):
        yield f"{kernel} in place", chain([(kernel, {})], COLOURS, in_place=True)


DEEP_KINDS = {"u16": ArrayType((48, 64, 4), U16), "grey u16": ArrayType((48, 64), U16)}
DEEP_FRAME = ArrayType((72, 64), U16)
DEEP: dict[str, list[Call]] = {
    **{f"blur {radius}": [("blur", {"radius": radius})] for radius in (1, 3, 9, 30)},
    **{name: [(name, {})] for name in ("sharpen", "contrast", "gamma", "median", "denoise")},
    "saturation": [("saturation", {"value": 0.4})],
    "all": [BLUR, SHARPEN, *CURVES],
    "mixed": [BLUR, ("saturation", {"value": 0.4}), SHARPEN],
}


def deep() -> Iterator[tuple[str, Case]]:
    """Images of 16 bits, and frames of ten."""
    bits: dict[str, object] = {"bits": 10}
    for (name, calls), (kind, type_) in product(DEEP.items(), DEEP_KINDS.items()):
        yield f"deep {name}, {kind}", chain(calls, type_)
    for name, calls in DEEP.items():
        around: list[Call] = [("yuv420p_to_rgba", bits), *calls, ("rgba_to_yuv420p", bits)]
        pictures = [DEEP_KINDS["u16"]] * (len(around) - 1)
        yield f"deep {name}, frames", chain(around, DEEP_FRAME, *pictures, DEEP_FRAME)


# Pipelines that are no chains, of colours but for what is named after its kind.
WIRED = {
    "two results of one": [
        Step("blur", ("a",), "b"), Step("sharpen", ("b",), "~s"), Step("invert", ("~s",), "c"),
    ],
    "in place beside a reader": [Step("vignette", ("a",), "b"), Step("saturation", ("a",), "a")],
    "blurred below, sharp above": [
        Step("blur", ("a",), "~s"), Step("blend", ("~s", "a"), "b"), Step("blend", ("b", "c"), "c"),
    ],
    "noise, blurred": [Step("generate_noise", (), "~s"), Step("blur", ("~s",), "a")],
    "a barrier and a copy": [
        Step("contrast", ("a",), "b"), Step("", (), "", op="barrier"),
        Step("sepia", ("b",), "~s"), Step("", ("~s",), "c", op="copy_buffer"),
    ],
    "several sizes": [
        Step("blur", ("a",), "~s"), Step("rgba_to_yuv420p", ("~s",), "frame"),
        Step("grayscale", ("~s",), "b"), Step("resize", ("~s",), "half"),
    ],
}  # fmt: skip


def wired() -> Iterator[tuple[str, Case]]:
    arrays = dict.fromkeys(("a", "b", "c", "~s"), COLOURS)
    arrays |= {"frame": FRAME, "half": ArrayType((24, 32, 4), U8)}
    for name, steps in WIRED.items():
        yield name, Case(steps, arrays)


# -- kernels of users --------------------------------------------------------------------------------


def images() -> Iterator[tuple[str, Case]]:
    for name, kernel in image_kernels().items():
        yield f"{name}, u8", lone(kernel, COLOURS)
        yield f"{name}, f32", lone(kernel, FLOATS)
        group = name.split()[0]
        if group in ("average", "position", "steps"):
            yield f"{name}, grey u8", lone(kernel, GREYS)
            yield f"blurred, {name}, u8", chain([BLUR, (kernel, {})], COLOURS)
        if group == "steps":
            yield f"blurred, {name}, f32", chain([BLUR, (kernel, {})], FLOATS)


# -- tensors -----------------------------------------------------------------------------------------

SHAPED = {"preprocess", "reshape", "transpose"}  # with cases of their own
NOT_OF_INTEGERS = {"exp", "log", "sigmoid", "sqrt", "tanh"}
SCALED: list[Call] = [("scalar_mul", {"scalar": 3}), ("scalar_add", {"scalar": 2})]
LAYER = [
    Step("matmul", ("a", "b"), "~c"), Step("elementwise_add", ("~c", "d"), "~e"),
    Step("relu", ("~e",), "out"),
]  # fmt: skip


def tensors() -> Iterator[tuple[str, Case]]:
    for dtype in BUFFER_DTYPES:
        matrix = ArrayType((30, 50), dtype)
        for name, kernel in tensor_kernels(dtype).items():
            yield f"{name}, {dtype}", lone(kernel, matrix)
        for target in BUFFER_DTYPES:
            cast = tensor_kernel(f"{target}(a)")
            yield f"{dtype} to {target}", lone(cast, matrix, ArrayType((30, 50), target))
        yield f"transpose, {dtype}", lone("transpose", matrix, ArrayType((50, 30), dtype))
        yield f"reshape, {dtype}", lone("reshape", matrix, ArrayType((1500,), dtype))
        square = dict.fromkeys(("a", "b", "~c", "d", "~e", "out"), ArrayType((9, 9), dtype))
        yield f"a layer, {dtype}", Case(LAYER, square)
    for name in compute.kernels():
        kernel = find_kernel(name)
        if kernel.domain == "tensor" and not kernel.library and name not in SHAPED:
            for dtype in (F32, F64) if name in NOT_OF_INTEGERS else (F32, F64, S32, U8):
                case = lone(name, ArrayType((30, 50), dtype), **REQUIRED.get(name, {}))
                yield f"{name}, {dtype}", case
    for layout, kind in product(("nchw", "nhwc"), ("u8", "f32")):
        shape = (1, 3, 20, 20) if layout == "nchw" else (1, 20, 20, 3)
        target = ArrayType(shape, F32)
        case = lone("preprocess", KINDS[kind], target, size=(20, 20), layout=layout)
        yield f"preprocess {layout}, {kind}", case
    linear = ArrayType((30, 50), F32)
    yield "scaled, relu, sigmoid", chain([*SCALED, ("relu", {}), ("sigmoid", {})], linear)
    yield "scaled, relu in place", chain([*SCALED, ("relu", {"slope": 0.1})], linear, in_place=True)
    yield "softmax between", chain([*SCALED, ("softmax", {}), ("exp", {})], linear)
    types = [linear, linear, ArrayType((50, 30), F32)]
    yield "scaled, transposed", chain([SCALED[0], ("transpose", {}), SCALED[1]], *types)


def all_cases() -> dict[str, Case]:
    """Every case by its name."""
    groups = (catalogue, parameters, resizes, frames, chains, deep, wired, images, tensors)
    listed = [named for group in groups for named in group()]
    cases = dict(listed)
    assert len(cases) == len(listed), "two cases of one name"
    return cases
