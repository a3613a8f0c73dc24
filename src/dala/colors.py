"""Colours: the CSS names and ``transparent``, tuples, ``#rrggbb[aa]``.

``green`` is (0, 255, 0) here, as in the original.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Number
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from dala.errors import ColorError, suggest

Color: TypeAlias = "str | Sequence[int]"
_TABLE = """
aliceblue f0f8ff antiquewhite faebd7 aqua 00ffff aquamarine 7fffd4 azure f0ffff beige f5f5dc
bisque ffe4c4 black 000000 blanchedalmond ffebcd blue 0000ff blueviolet 8a2be2 brown a52a2a
burlywood deb887 cadetblue 5f9ea0 chartreuse 7fff00 chocolate d2691e coral ff7f50 cornflowerblue 6495ed
cornsilk fff8dc crimson dc143c cyan 00ffff darkblue 00008b darkcyan 008b8b darkgoldenrod b8860b
darkgray a9a9a9 darkgreen 006400 darkgrey a9a9a9 darkkhaki bdb76b darkmagenta 8b008b
darkolivegreen 556b2f darkorange ff8c00 darkorchid 9932cc darkred 8b0000 darksalmon e9967a
darkseagreen 8fbc8f darkslateblue 483d8b darkslategray 2f4f4f darkslategrey 2f4f4f darkturquoise 00ced1
darkviolet 9400d3 deeppink ff1493 deepskyblue 00bfff dimgray 696969 dimgrey 696969 dodgerblue 1e90ff
firebrick b22222 floralwhite fffaf0 forestgreen 228b22 fuchsia ff00ff gainsboro dcdcdc ghostwhite f8f8ff
gold ffd700 goldenrod daa520 gray 808080 green 00ff00 greenyellow adff2f grey 808080 honeydew f0fff0
hotpink ff69b4 indianred cd5c5c indigo 4b0082 ivory fffff0 khaki f0e68c lavender e6e6fa
lavenderblush fff0f5 lawngreen 7cfc00 lemonchiffon fffacd lightblue add8e6 lightcoral f08080
lightcyan e0ffff lightgoldenrodyellow fafad2 lightgray d3d3d3 lightgreen 90ee90 lightgrey d3d3d3
lightpink ffb6c1 lightsalmon ffa07a lightseagreen 20b2aa lightskyblue 87cefa lightslategray 778899
lightslategrey 778899 lightsteelblue b0c4de lightyellow ffffe0 lime 00ff00 limegreen 32cd32 linen faf0e6
magenta ff00ff maroon 800000 mediumaquamarine 66cdaa mediumblue 0000cd mediumorchid ba55d3
mediumpurple 9370db mediumseagreen 3cb371 mediumslateblue 7b68ee mediumspringgreen 00fa9a
mediumturquoise 48d1cc mediumvioletred c71585 midnightblue 191970 mintcream f5fffa mistyrose ffe4e1
moccasin ffe4b5 navajowhite ffdead navy 000080 oldlace fdf5e6 olive 808000 olivedrab 6b8e23
orange ffa500 orangered ff4500 orchid da70d6 palegoldenrod eee8aa palegreen 98fb98 paleturquoise afeeee
palevioletred db7093 papayawhip ffefd5 peachpuff ffdab9 peru cd853f pink ffc0cb plum dda0dd
powderblue b0e0e6 purple 800080 rebeccapurple 663399 red ff0000 rosybrown bc8f8f royalblue 4169e1
saddlebrown 8b4513 salmon fa8072 sandybrown f4a460 seagreen 2e8b57 seashell fff5ee sienna a0522d
silver c0c0c0 skyblue 87ceeb slateblue 6a5acd slategray 708090 slategrey 708090 snow fffafa
springgreen 00ff7f steelblue 4682b4 tan d2b48c teal 008080 thistle d8bfd8 tomato ff6347 turquoise 40e0d0
violet ee82ee wheat f5deb3 white ffffff whitesmoke f5f5f5 yellow ffff00 yellowgreen 9acd32
"""


def _read_table(words: list[str]) -> dict[str, bytes]:
    pairs = zip(words[::2], words[1::2], strict=True)
    return {name: bytes.fromhex(digits) + b"\xff" for name, digits in pairs}


NAMES = _read_table(_TABLE.split())
NAMES["transparent"] = bytes(4)
_KEPT = 16384  # colours remembered as bytes: a drawing call looks its colour up


class _Known(dict[object, bytes]):
    """Colours as four bytes, by what the user wrote; parsed when first seen."""

    def __missing__(self, color: object) -> bytes:
        rgba = _parse(color)
        if len(self) >= _KEPT:
            self.clear()
            self.update(NAMES)
        self[color] = rgba
        return rgba


_known = _Known(NAMES)


def rgba(color: object) -> bytes:
    """A colour as four bytes: red, green, blue, alpha."""
    try:
        return _known[color]
    except TypeError:  # a list or an array cannot be looked up
        return _parse(color)


def _parse(color: object) -> bytes:
    if isinstance(color, str):
        return _parse_text(color)
    if type(color) is tuple and len(color) in (3, 4):
        try:  # the quick way; what it refuses is looked at below
            return bytes(color) if len(color) == 4 else bytes((*color, 255))
        except (TypeError, ValueError):
            pass
    try:
        parts = [_level(part, color) for part in color]  # type: ignore[attr-defined]
    except TypeError:
        raise _wrong(color) from None
    if len(parts) not in (3, 4):
        raise _wrong(color)
    return bytes(parts if len(parts) == 4 else [*parts, 255])


def _level(part: object, color: object) -> int:
    if isinstance(part, bool) or not hasattr(part, "__index__"):
        raise _wrong(color)
    level = int(part.__index__())
    if not 0 <= level <= 255:
        raise ColorError(f"a colour's parts are 0..255, got {level} in {color!r}")
    return level


def _parse_text(text: str) -> bytes:
    if text.lower() in NAMES:
        return NAMES[text.lower()]
    digits = text[1:]
    if text.startswith("#") and len(digits) in (6, 8) and digits.isalnum() and digits.isascii():
        try:
            parts = bytes.fromhex(digits)
        except ValueError:
            raise _wrong(text) from None
        return parts if len(parts) == 4 else parts + b"\xff"
    if text.startswith("#"):
        raise _wrong(text)
    raise ColorError(f"no colour is named {text!r}{suggest(text.lower(), NAMES)}")


def _wrong(color: object) -> ColorError:
    return ColorError(
        f"expected a colour's name, (r, g, b), (r, g, b, a) or '#rrggbb[aa]', got {color!r}"
    )


def rgba_array(colors: object, count: int) -> npt.NDArray[np.uint8]:
    """Colours for ``count`` primitives as bytes: an array (count, 4) or (count, 3), a list of colours,
    or one colour for all. Shape (count, 4), or (4,) for one."""
    if isinstance(colors, np.ndarray) and colors.ndim == 2:
        return _check_array(colors, count)
    if isinstance(colors, list) and not _is_number(colors):
        if len(colors) != count:
            raise ColorError(f"expected one colour or {count} of them, got {len(colors)}")
        return np.frombuffer(b"".join(map(rgba, colors)), np.uint8).reshape(count, 4)
    return np.frombuffer(
        rgba(tuple(colors) if isinstance(colors, np.ndarray) else colors), np.uint8
    )


def _is_number(colors: list[Any]) -> bool:
    return bool(colors) and isinstance(colors[0], Number)


def _check_array(colors: npt.NDArray[Any], count: int) -> npt.NDArray[np.uint8]:
    if colors.shape[0] != count or colors.shape[1] not in (3, 4):
        raise ColorError(
            f"expected one colour or {count} of them, ({count}, 4) or ({count}, 3), got {colors.shape}"
        )
    if colors.dtype != np.uint8:
        if colors.dtype.kind not in "iu":
            raise ColorError(f"colours are whole numbers 0..255, got an array of {colors.dtype}")
        if colors.size and (colors.min() < 0 or colors.max() > 255):
            raise ColorError("a colour's parts are 0..255; some in the array are not")
        colors = colors.astype(np.uint8)
    if colors.shape[1] == 3:
        colors = np.concatenate([colors, np.full((count, 1), 255, np.uint8)], 1)
    return colors
