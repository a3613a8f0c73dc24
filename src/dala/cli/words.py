"""Values as photographers write them: ``50%``, ``1920x1080``, ``100x100+20+10``, ``16:9``.

    --resize 50% | 1920 | x1080 | 1920x1080     --crop 100x100+20+10 | 400x400 | 16:9 | 1.5
    --flip horizontal | vertical | both

Everything else after a flag is a number or ``name=value``; a word that can be neither is said to be wrong
about that flag, and is not taken for a file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence

from dala.cli.mistakes import UsageMistake

_PERCENT = re.compile(r"(\d+(?:\.\d+)?)%")
_SIZE = re.compile(r"(\d*)[xX×](\d*)")
_AREA = re.compile(r"(\d+)[xX×](\d+)(?:\+(\d+)\+(\d+))?")
_RATIO = re.compile(r"(\d+(?:\.\d+)?)[:/](\d+(?:\.\d+)?)")
_FLIPS = {"horizontal": (True, False), "vertical": (False, True), "both": (True, True)}
_IN_THE_MIDDLE = "at=center"  # where a crop of a size lies, unless it is said
_QUANTITY = re.compile(r"[+-]?\d+(\.\d+)?([%°]|[a-z]{1,4}|[xX×:]\d*(\+\d+)*)?", re.IGNORECASE)
_OF_PATHS = set("./\\*?[{~")
EXAMPLES = {
    "resize": "50%, 1920, x1080, 1920x1080 or long_edge=1920",
    "crop": "100x100+20+10, 400x400, 16:9 or 1.5",
    "flip": "horizontal, vertical or both",
}

# what flags do where a command line means something else than the kernel of that name
ABOUT = {
    "rotate": "Turn clockwise by degrees: 90, 180 and 270 lose nothing and swap the sides, others cut the "
    "corners. (In Python and in looks, positive degrees turn counter-clockwise, as Pillow's do.)",
    "crop": "A part of the picture: 100x100+20+10, 400x400 or 16:9; from the middle, or --at.",
    "flip": "The image mirrored: horizontal, vertical or both.",
    "resize": "Another size: 50%, 1920, x1080, 1920x1080, long_edge=1920. It looks at every pixel "
    "(interpolation=area) unless you say otherwise.",
}


def meant_values(name: str, params: Mapping[str, object]) -> dict[str, object]:
    """Parameters of a flag as its kernel has them: photographers turn clockwise, and mostly make photos
    smaller, where only ``area`` looks at every pixel.

    >>> meant_values("rotate", {"degrees": 90.0})
    {'degrees': -90.0}
    """
    meant = dict(params)
    if name == "rotate" and isinstance(degrees := meant.get("degrees"), int | float):
        meant["degrees"] = -degrees
    if name == "resize":
        meant.setdefault("interpolation", "area")
    return meant


def own_words(name: str, text: str) -> list[str] | None:
    """What a word means to ``resize``, ``crop`` or ``flip``, as name=value; None if nothing."""
    if name == "resize":
        if found := _PERCENT.fullmatch(text):
            return [f"scale={float(found[1]) / 100:g}"]
        if (found := _SIZE.fullmatch(text)) and (found[1] or found[2]):
            sides = (("width", found[1]), ("height", found[2]))
            return [f"{side}={pixels}" for side, pixels in sides if pixels]
        return [f"width={text}"] if text.isdecimal() else None
    if name == "crop":
        return _crop_words(text)
    if name == "flip" and text in _FLIPS:
        across, down = _FLIPS[text]
        return [f"horizontal={across}".lower(), f"vertical={down}".lower()]
    return None


def _crop_words(text: str) -> list[str] | None:
    if found := _RATIO.fullmatch(text):
        if not float(found[1]) or not float(found[2]):
            raise UsageMistake(f"--crop: {text} is no ratio of sides")
        return [f"ratio={float(found[1]) / float(found[2]):.9g}"]
    if found := _AREA.fullmatch(text):
        size = [f"width={found[1]}", f"height={found[2]}"]
        return size + ([f"x={found[3]}", f"y={found[4]}"] if found[3] else [_IN_THE_MIDDLE])
    if text.isdecimal():
        raise UsageMistake(f"--crop: expected {EXAMPLES['crop']}, got {text!r}")
    return [f"ratio={text}"] if re.fullmatch(r"\d*\.\d+", text) else None


def without_implied(name: str, words: Sequence[str]) -> list[str]:
    """A flag's words; where it is said, a crop does not lie in the middle.

    >>> without_implied("crop", ["width=9", "height=9", "at=center", "at=top"])
    ['width=9', 'height=9', 'at=top']
    """
    kept = list(words)
    said = [word for word in kept if word.startswith(("at=", "x=", "y="))]
    if name == "crop" and len(said) > 1 and _IN_THE_MIDDLE in said[:1]:
        kept.remove(_IN_THE_MIDDLE)
    return kept


def refuse_odd_value(name: str, flag: str, word: str, parameters: Sequence[str]) -> None:
    """Say what is wrong with a word after a flag that is neither a value of it nor a file's name."""
    is_path = os.path.lexists(word) or (
        bool(_OF_PATHS & set(word)) and not _QUANTITY.fullmatch(word)
    )
    if is_path or word.startswith("-"):
        return
    if name in EXAMPLES:
        raise UsageMistake(f"--{flag}: expected {EXAMPLES[name]}, got {word!r}")
    if not parameters:
        raise UsageMistake(f"--{flag} takes no values, got {word!r}")
    hint = ""
    if found := _PERCENT.fullmatch(word):
        hint = f"; {word} is {float(found[1]) / 100:g}"
    raise UsageMistake(
        f"--{flag}: {parameters[0]} must be a number, got {word!r}{hint}; values follow as "
        f"{parameters[0]}=…" + (f" {parameters[1]}=…" if len(parameters) > 1 else "")
    )
