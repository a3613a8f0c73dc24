"""What is to be painted at one moment: the values between a scene's description and its pixels.

    Composition   a canvas: its size, its background, its layers from the lowest to the topmost
    Layer         a content, and where and how it goes onto the canvas
    Adjustment    filters on everything below it
    contents      Rgba, Planes (decoded video, not converted), Solid, Group (a canvas of its own),
                  Mixed (on the way from one content to another)

All of them are frozen. Equal keys mean equal pixels: so a painter knows what it has to paint again.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from dala.errors import ParameterError, ShapeError
from dala.media.chain import Filter

__all__ = [
    "BLENDS", "Adjustment", "Composition", "Content", "Entry", "Group", "Layer", "Mixed", "Planes",
    "Rgba", "Solid", "Upcoming",
]  # fmt: skip

Bytes: TypeAlias = npt.NDArray[np.uint8]
Rectangle: TypeAlias = tuple[float, float, float, float]  # left, top, right, bottom
Matrix: TypeAlias = tuple[float, float, float, float, float, float]
BLENDS = (
    "over", "add", "subtract", "multiply", "screen", "overlay", "darken", "lighten", "difference",
    "soft_light", "hard_light",
)  # fmt: skip
IDENTITY: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
LARGEST = 1 << 15  # pixels in a row or column of a canvas or a content


@dataclass(frozen=True, eq=False)
class Rgba:
    """A picture with straight alpha, (H, W, 4) u8. Its owner does not change it while it is in use.

    ``version`` stands for its pixels: two pictures of one version are the same. ``opaque`` says that every
    alpha is 255.
    """

    pixels: Bytes
    opaque: bool = False
    version: Hashable = field(default_factory=object)

    def __post_init__(self) -> None:
        p = self.pixels
        if p.ndim != 3 or p.shape[2] != 4 or p.dtype != np.uint8 or not p.size:
            raise ShapeError(f"expected a picture of (H, W, 4) u8, got {p.shape} {p.dtype}")
        _check_size(self.width, self.height)

    @property
    def width(self) -> int:
        return int(self.pixels.shape[1])

    @property
    def height(self) -> int:
        return int(self.pixels.shape[0])

    @property
    def key(self) -> Hashable:
        return "rgba", self.version


@dataclass(frozen=True, eq=False)
class Planes:
    """A video's frame as it was decoded: 4:2:0, 8 bits. Chroma lies in the middle of its four pixels."""

    y: Bytes
    u: Bytes
    v: Bytes
    matrix: Literal["bt601", "bt709", "bt2020"] = "bt709"
    full_range: bool = False
    version: Hashable = field(default_factory=object)

    def __post_init__(self) -> None:
        if self.y.ndim != 2 or not self.y.size:
            raise ShapeError(f"expected a plane of (H, W) for Y, got {self.y.shape}")
        half = -(-self.height // 2), -(-self.width // 2)
        shapes = ("Y", self.y, self.y.shape), ("U", self.u, half), ("V", self.v, half)
        for name, plane, shape in shapes:
            if plane.shape != shape or plane.dtype != np.uint8:
                raise ShapeError(f"expected {shape} u8 for {name}, got {plane.shape} {plane.dtype}")
        if self.matrix not in ("bt601", "bt709", "bt2020"):
            raise ParameterError(f"matrix: expected bt601, bt709 or bt2020, got {self.matrix!r}")
        _check_size(self.width, self.height)

    @property
    def width(self) -> int:
        return int(self.y.shape[1])

    @property
    def height(self) -> int:
        return int(self.y.shape[0])

    @property
    def key(self) -> Hashable:
        return "planes", self.version, self.matrix, self.full_range


@dataclass(frozen=True)
class Solid:
    """One colour, straight alpha."""

    color: tuple[int, int, int, int]
    width: int = 1
    height: int = 1

    @property
    def key(self) -> Hashable:
        return "solid", self.color, self.width, self.height


@dataclass(frozen=True, eq=False)
class Group:
    """Layers on a canvas of their own, transparent where nothing is; then one picture."""

    layers: tuple[Entry, ...]
    width: int
    height: int

    def __post_init__(self) -> None:
        _check_size(self.width, self.height)

    @functools.cached_property
    def key(self) -> Hashable:
        return "group", self.width, self.height, *(layer.key for layer in self.layers)


@dataclass(frozen=True, eq=False)
class Mixed:
    """On the way from one content to another of the same size.

    ``transition`` is one of xfade's names, or a kernel of two images with a parameter ``progress``, or its
    name; ``params`` are its other parameters. At progress 0 it is ``a``, at 1 it is ``b``.
    """

    a: Content
    b: Content
    transition: object = "fade"
    progress: float = 0.0
    params: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        sizes = (self.a.width, self.a.height), (self.b.width, self.b.height)
        if sizes[0] != sizes[1]:
            raise ShapeError(f"a transition is between contents of one size, got {sizes}")
        if not 0 <= self.progress <= 1:
            raise ParameterError(f"progress is between 0 and 1, got {self.progress}")

    @property
    def width(self) -> int:
        return self.a.width

    @property
    def height(self) -> int:
        return self.a.height

    @functools.cached_property
    def key(self) -> Hashable:
        return "mixed", self.a.key, self.b.key, self.transition, self.progress, _key_of(self.params)


Content: TypeAlias = Rgba | Planes | Solid | Group | Mixed


@dataclass(frozen=True, eq=False)
class Upcoming:
    """Filters that will soon stand in place of others: a painter may compile them meanwhile.

    Beside each is how many pixels wider and higher the picture will be then. Once ``is_over`` says so,
    nobody needs them any more.
    """

    effects: tuple[tuple[tuple[Filter, ...], int], ...]
    is_over: Callable[[], bool]


@dataclass(frozen=True, eq=False)
class Layer:
    """A content on a canvas.

    ``matrix`` (a, b, c, d, e, f) takes a point of the content to the canvas: x = a·u + c·v + e,
    y = b·u + d·v + f; pixel 0 lies between 0 and 1. ``crop`` is in pixels of the content, ``clip`` (a
    rectangle), ``corner_radius`` and ``softness`` (over how many pixels the edges fade; 0 is a sharp edge,
    anti-aliased) are in pixels of the canvas. ``effects`` are filters on the content, as ``dala.media``
    takes them.
    """

    content: Content
    matrix: Matrix = IDENTITY
    crop: Rectangle | None = None
    opacity: float = 1.0
    blend: str = "over"
    corner_radius: float = 0.0
    clip: Rectangle | None = None
    effects: tuple[Filter, ...] = ()
    softness: float = 0.0
    upcoming: Upcoming | None = None  # nothing that is seen

    def __post_init__(self) -> None:
        # a sum is finite only if all of it is: hundreds of layers are made for a frame
        total = sum(self.matrix) + self.opacity + self.corner_radius + self.softness
        if self.crop is not None or self.clip is not None:
            total += sum(self.crop or ()) + sum(self.clip or ())
        if len(self.matrix) != 6 or not math.isfinite(total):
            raise ParameterError(f"a layer's matrix has six finite numbers, got {self.matrix}")
        if self.blend not in BLENDS:
            raise ParameterError(f"blend: expected one of {', '.join(BLENDS)}; got {self.blend!r}")

    @functools.cached_property
    def key(self) -> Hashable:
        """What it looks like, as a value that can be compared."""
        return (
            self.content.key, self.matrix, self.crop, self.opacity, self.blend, self.corner_radius,
            self.clip, self.softness, key_of_effects(self.effects),
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Adjustment:
    """Filters on everything below: the canvas, filtered, over itself by ``opacity`` and within ``clip``."""

    effects: tuple[Filter, ...]
    opacity: float = 1.0
    clip: Rectangle | None = None
    upcoming: Upcoming | None = None  # nothing that is seen

    @functools.cached_property
    def key(self) -> Hashable:
        return "adjustment", key_of_effects(self.effects), self.opacity, self.clip


Entry: TypeAlias = Layer | Adjustment


@dataclass(frozen=True, eq=False)
class Composition:
    """A canvas and its layers, from the lowest to the topmost.

    >>> from dala.scene.layers import Composition, Layer, Solid
    >>> from dala.scene.paint import paint
    >>> square = Layer(Solid((255, 0, 0, 255), 2, 2), matrix=(1, 0, 0, 1, 1, 0.5))
    >>> paint(Composition(4, 3, (0, 0, 0, 255), (square,)))[:, 1, 0].tolist()
    [128, 255, 128]
    """

    width: int
    height: int
    background: tuple[int, int, int, int] = (0, 0, 0, 0)
    layers: tuple[Entry, ...] = ()

    def __post_init__(self) -> None:
        _check_size(self.width, self.height)

    @functools.cached_property
    def key(self) -> Hashable:
        return self.width, self.height, self.background, *(layer.key for layer in self.layers)


def key_of_effects(effects: Iterable[Filter]) -> Hashable:
    """Filters as a value that can be compared."""
    return tuple(_key_of(effect) for effect in effects)


def _key_of(value: Any) -> Hashable:
    """Equal for equal values; an array is only equal to itself, as nobody changes it in use."""
    if isinstance(value, Mapping):
        return tuple(sorted((str(k), _key_of(v)) for k, v in value.items()))
    if isinstance(value, list | tuple):
        return tuple(map(_key_of, value))
    return value if isinstance(value, str | int | float | None) else _Same(value)


class _Same:
    """An object as a key that keeps it alive: no other can take its place in memory."""

    __slots__ = ("of",)

    def __init__(self, of: object) -> None:
        self.of = of

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.of is self.of

    def __hash__(self) -> int:
        return id(self.of)


def _check_size(width: int, height: int) -> None:
    if not (0 < width <= LARGEST and 0 < height <= LARGEST):
        raise ShapeError(f"expected a size of 1 to {LARGEST} pixels a side, got {width} × {height}")
