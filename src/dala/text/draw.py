"""``draw`` on pictures, ``paint`` on pixels, ``rasterise`` for those who put tiles elsewhere."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from dala.colors import Color
from dala.errors import ArgumentError, ParameterError, suggest
from dala.text.glyphs import PHASES
from dala.text.ink import Ink, PlacedTile, ink_of
from dala.text.layout import Layout, layout
from dala.text.paint import BoxLike, Gradient, OutlineLike, Paint, ShadowLike, read_paint
from dala.text.pictures import Array, open_pixels
from dala.text.style import Text, check_number

Place: TypeAlias = "tuple[float, float] | str"
FARTHEST = 1e6  # pixels from a picture's corner
PLACES = {
    "top-left": (0.0, 0.0), "top": (0.5, 0.0), "top-right": (1.0, 0.0),
    "left": (0.0, 0.5), "center": (0.5, 0.5), "right": (1.0, 0.5),
    "bottom-left": (0.0, 1.0), "bottom": (0.5, 1.0), "bottom-right": (1.0, 1.0),
}  # fmt: skip
_ACROSS = {0.0: "left", 0.5: "center", 1.0: "right"}


def draw(
    picture: Any,
    text: Text | Layout,
    xy: Place,
    *,
    color: Color | Gradient = "white",
    outline: OutlineLike = None,
    shadow: ShadowLike = None,
    background: BoxLike = None,
    in_place: bool = False,
    **options: Any,
) -> Any:
    """Draw a text, or a layout, on a picture; the result is a picture of the same kind.

    ``xy`` is the upper left corner of the text in pixels, parts of pixels too, or a place: ``"top-left"``,
    ``"bottom"``, ``"center"``, …, where a long text is wrapped at the picture's edge. The picture itself is
    not changed, unless ``in_place``. All other arguments are those of :func:`layout`.

    >>> import numpy as np
    >>> from dala import text
    >>> black = np.zeros((64, 256, 3), np.uint8)
    >>> shown = text.draw(black, "Hello", (8, 4), size=40, color="gold", shadow=True)
    >>> bool(shown.any()), bool(black.any())
    (True, False)
    """
    pixels, give_back = open_pixels(picture, in_place=in_place)
    height, width = pixels.shape[:2]
    made, corner = _place(text, xy, (width, height), options)
    _paint(pixels, made, corner, read_paint(color, outline, shadow, background))
    return give_back(pixels)


def paint(
    pixels: Array,
    made: Layout,
    xy: tuple[float, float],
    *,
    color: Color | Gradient = "white",
    outline: OutlineLike = None,
    shadow: ShadowLike = None,
    background: BoxLike = None,
) -> None:
    """Draw a layout on an array, in place. From the cache a glyph takes a fraction of a microsecond.

    >>> import numpy as np
    >>> from dala import text
    >>> frame = np.zeros((40, 200, 4), np.uint8)
    >>> text.paint(frame, text.layout("00:01", size=30), (4, 2))
    """
    drawn, _ = open_pixels(pixels, in_place=True)
    _paint(drawn, made, _check_xy(xy), read_paint(color, outline, shadow, background))


def rasterise(
    made: Layout,
    xy: tuple[float, float] = (0, 0),
    *,
    color: Color | Gradient = "white",
    outline: OutlineLike = None,
    shadow: ShadowLike = None,
    background: BoxLike = None,
) -> tuple[PlacedTile, ...]:
    """What drawing a layout at ``xy`` paints, from bottom to top: tiles of coverage with a colour, or of
    RGBA pixels with an opacity, at whole pixels. Tiles come from a cache and must not be changed.

    >>> from dala import text
    >>> tiles = text.rasterise(text.layout("Hi"), (10.25, 4), color="red")
    >>> [tile.color.hex() for tile in tiles]
    ['ff0000ff', 'ff0000ff']
    """
    ink, dx, dy = _ink(
        made, _check_xy(xy), read_paint(color, outline, shadow, background), grey=False
    )
    return tuple(tile._replace(x=tile.x + dx, y=tile.y + dy) for tile in ink.tiles)


def _ink(
    made: Layout, xy: tuple[float, float], paint_: Paint, *, grey: bool
) -> tuple[Ink, int, int]:
    """The ink, and the whole pixels it is moved by."""
    across, down = round(xy[0] * PHASES), round(xy[1] * PHASES)
    ink = ink_of(made, paint_, (across % PHASES, down % PHASES), grey=grey)
    return ink, across // PHASES, down // PHASES


def _paint(pixels: Array, made: Layout, xy: tuple[float, float], paint_: Paint) -> None:
    image = pixels[..., None] if pixels.ndim == 2 else pixels
    channels = image.shape[2]
    ink, dx, dy = _ink(made, xy, paint_, grey=channels == 1)
    if image.dtype == np.uint8 and image.strides[1:] == (channels, 1):
        ink.paint(image, dx, dy)
    else:
        _paint_slowly(image, ink, dx, dy)


def _paint_slowly(image: Array, ink: Ink, dx: int, dy: int) -> None:
    """Pixels of more than 8 bits, or that do not lie side by side: a layer of RGBA, mixed with NumPy."""
    left, top, right, bottom = ink.bounds
    x0, y0 = max(left + dx, 0), max(top + dy, 0)
    x1, y1 = min(right + dx, image.shape[1]), min(bottom + dy, image.shape[0])
    if x0 >= x1 or y0 >= y1:
        return
    layer = np.zeros((y1 - y0, x1 - x0, 4), np.uint8)
    ink.paint(layer, dx - x0, dy - y0)
    part = image[y0:y1, x0:x1]
    white = 1.0 if image.dtype == np.float32 else float(np.iinfo(image.dtype).max)
    alpha = layer[..., 3:].astype(np.float32) / 255
    colors = layer[..., : min(image.shape[2], 3)].astype(np.float32) * (white / 255)
    below = part.astype(np.float32)
    if image.shape[2] == 4:
        under = below[..., 3:] / white * (1 - alpha)
        total = np.maximum(alpha + under, 1e-9)
        mixed = np.concatenate(
            [(colors * alpha + below[..., :3] * under) / total, (alpha + under) * white], axis=2
        )
    else:
        mixed = below + (colors - below) * alpha
    changed = mixed if image.dtype == np.float32 else np.rint(np.clip(mixed, 0, white))
    part[...] = np.where(alpha > 0, changed.astype(image.dtype), part)


# -- where -------------------------------------------------------------------------------------------------


def _place(
    text: Text | Layout, xy: Place, size: tuple[int, int], options: dict[str, Any]
) -> tuple[Layout, tuple[float, float]]:
    """The layout, and its corner."""
    if isinstance(text, Layout):
        if options:
            raise ArgumentError(f"a layout is made already; it takes no {', '.join(options)}")
        made, letters = text, max((run.size for run in text.runs), default=0.0)
    else:
        letters = check_number(options.get("size", 32), "size")
    if not isinstance(xy, str):
        corner = _check_xy(xy)
        return (text if isinstance(text, Layout) else layout(text, **options)), corner
    if xy not in PLACES:
        raise ParameterError(
            f"a place is (x, y) or one of {', '.join(PLACES)}, got {xy!r}{suggest(xy, PLACES)}"
        )
    across, down = PLACES[xy]
    margin = letters / 2
    if not isinstance(text, Layout):
        room: dict[str, Any] = {
            "max_width": max(size[0] - 2 * margin, 1.0),
            "align": _ACROSS[across],
        }
        made = layout(text, **(room | options))
    begins = min((line.x for line in made.lines), default=0.0)  # the box may be wider than the text
    x = margin + (size[0] - 2 * margin - (made.width - begins)) * across - begins
    return made, (x, margin + (size[1] - 2 * margin - made.height) * down)


def _check_xy(xy: object) -> tuple[float, float]:
    if not isinstance(xy, tuple | list | np.ndarray) or len(xy) != 2:
        raise ArgumentError(f"expected a place (x, y), got {xy!r}")
    return (
        check_number(xy[0], "x", -FARTHEST, FARTHEST),
        check_number(xy[1], "y", -FARTHEST, FARTHEST),
    )


__all__ = ["draw", "paint", "rasterise"]
