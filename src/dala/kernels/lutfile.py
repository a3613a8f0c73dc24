"""Look-up tables from what people have: arrays, .cube files, pictures of a table.

    array    (n, n, n, 3)   a cube, indexed [red, green, blue]
             (n, 3), (n,)   a curve per channel, or one for all three
             (rows, columns, 3)   a picture of a cube, as below
    .cube    1-D and 3-D, with DOMAIN_MIN and DOMAIN_MAX (or LUT_1D/3D_INPUT_RANGE)
    .png     a strip of n pictures of n × n (256 × 16, 1024 × 32): red to the right, green downwards,
             blue from picture to picture; or a square Hald picture (64 × 64, 512 × 512)

A fourth component is left out. Whatever is wrong is a ValueError in words; in a text, with its line.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Colour = tuple[float, ...]
MAX_CUBE = 129  # nodes along an edge: 34 MB on a device
MAX_CURVE = 65_536
MAX_BYTES = 256 << 20  # of a file
MAX_LINE = 1_000  # characters


@dataclass(frozen=True, slots=True)
class Lut:
    """The nodes of a table, (n, 3) or (n, n, n, 3), and the colours at its first and last node."""

    nodes: Array
    low: Colour = (0.0, 0.0, 0.0)
    high: Colour = (1.0, 1.0, 1.0)


def read_lut(given: Array | Path) -> Lut:
    """The table in a file, by the ending of its name, or in an array."""
    if not isinstance(given, Path):
        return from_array(given)
    suffix = given.suffix.lower()
    if suffix not in (".cube", ".png"):
        raise ValueError(f"expected a .cube or .png file, got {given.name!r}")
    if not given.is_file() or given.stat().st_size > MAX_BYTES:
        raise ValueError(f"{given.name}: expected a file of at most {MAX_BYTES >> 20} MiB")
    try:
        if suffix == ".png":
            return from_array(_read_png(given))
        with given.open(encoding="utf-8-sig", errors="replace") as lines:
            return parse_cube(lines)
    except ValueError as error:
        raise ValueError(f"{given.name}: {error}") from error


# -- arrays and pictures -----------------------------------------------------------------------


def from_array(array: Array) -> Lut:
    """The table in an array of floats, or of bytes or 16-bit levels."""
    if array.dtype.kind == "f":
        nodes = array.astype(np.float64)
    elif array.dtype in (np.uint8, np.uint16):
        nodes = array / float(np.iinfo(array.dtype).max)
    else:
        raise ValueError(f"expected floats, uint8 or uint16, got {array.dtype}; convert it first")
    if not np.isfinite(nodes).all():
        raise ValueError("every value must be a finite number")
    if nodes.ndim == 1:
        nodes = np.stack([nodes] * 3, axis=-1)
    if nodes.ndim >= 2 and nodes.shape[-1] in (3, 4):
        nodes = nodes[..., :3]
        if nodes.ndim == 3:
            nodes = _cut_picture(nodes)
        if nodes.ndim == 2 or (nodes.ndim == 4 and len(set(nodes.shape[:3])) == 1):
            _check_size(len(nodes), cube=nodes.ndim == 4)
            return Lut(nodes)
    raise ValueError(f"expected (n, n, n, 3), (n, 3) or (n,), got {array.shape}")


def _cut_picture(picture: Array) -> Array:
    rows, columns, _ = picture.shape
    level = round(rows ** (1 / 3))
    if columns == rows * rows:  # a strip: green, blue, red
        return picture.reshape(rows, rows, rows, 3).transpose(2, 0, 1, 3)
    if rows == columns == level**3:  # a Hald picture: blue, green, red
        return picture.reshape(level**2, level**2, level**2, 3).transpose(2, 1, 0, 3)
    raise ValueError(
        f"a picture of {columns} × {rows} is no table; expected a strip such as 256 × 16 (n² × n), "
        "or a Hald square such as 64 × 64 (n³ × n³)"
    )


def _check_size(size: int, *, cube: bool) -> None:
    most = MAX_CUBE if cube else MAX_CURVE
    if not 2 <= size <= most:
        raise ValueError(f"a {'cube' if cube else 'curve'} has 2..{most} nodes, got {size}")


def _read_png(path: Path) -> Array:
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError:
        raise ValueError("reading a .png needs Pillow; pip install 'dala-gpu[image]'") from None
    try:
        with Image.open(path, formats=["PNG"]) as image:
            if math.prod(image.size) > MAX_CUBE**3:
                raise ValueError(f"a picture of {image.width} × {image.height} is too large")
            return np.asarray(image.convert("RGB"))
    except (UnidentifiedImageError, SyntaxError, Image.DecompressionBombError) as error:
        raise ValueError(f"this is no PNG picture ({error})") from error


# -- .cube -------------------------------------------------------------------------------------


def parse_cube(lines: Iterable[str]) -> Lut:
    """The table that the lines of a .cube file define.

    >>> parse_cube(["LUT_1D_SIZE 2", "0 0 0", "1 0.5 1"]).nodes.tolist()
    [[0.0, 0.0, 0.0], [1.0, 0.5, 1.0]]
    """
    reader = _CubeReader()
    number = 0
    for number, line in enumerate(lines, 1):
        try:
            reader.read(line)
        except ValueError as error:
            raise ValueError(f"line {number}: {error}") from None
    if len(reader.rows) < reader.expected or not reader.rows:
        wanted = reader.expected or "some"
        raise ValueError(
            f"line {number}: the file ends after {len(reader.rows)} of {wanted} colours"
        )
    return reader.finish()


class _CubeReader:
    def __init__(self) -> None:
        self.size = self.expected = 0
        self.is_cube = False
        self.low: Colour = (0.0, 0.0, 0.0)
        self.high: Colour = (1.0, 1.0, 1.0)
        self.rows: list[Colour] = []

    def read(self, line: str) -> None:
        if len(line) > MAX_LINE:
            raise ValueError(f"it has {len(line)} characters; at most {MAX_LINE} fit")
        words = line.partition("#")[0].split()
        if not words:
            return
        if words[0][0] in "+-.0123456789":
            self._read_colour(words)
        elif words[0] != "TITLE":
            self._read_keyword(words[0], words[1:])

    def _read_colour(self, words: list[str]) -> None:
        if not self.size:
            raise ValueError("a colour before LUT_1D_SIZE or LUT_3D_SIZE")
        if len(self.rows) == self.expected:
            raise ValueError(f"a colour more than the {self.expected} that the size says")
        self.rows.append(_numbers(words, 3))

    def _read_keyword(self, word: str, rest: list[str]) -> None:
        if self.rows:
            raise ValueError(f"{word[:40]!r} after the first colour")
        match word:
            case "LUT_1D_SIZE" | "LUT_3D_SIZE":
                self._read_size(word, rest)
            case "DOMAIN_MIN":
                self.low = _numbers(rest, 3)
            case "DOMAIN_MAX":
                self.high = _numbers(rest, 3)
            case "LUT_1D_INPUT_RANGE" | "LUT_3D_INPUT_RANGE":
                low, high = _numbers(rest, 2)
                self.low, self.high = (low,) * 3, (high,) * 3
            case _:
                raise ValueError(f"{word[:40]!r} is not a keyword of .cube files")

    def _read_size(self, word: str, rest: list[str]) -> None:
        if self.size:
            raise ValueError("a second size; a file holds one table")
        if len(rest) != 1 or not (rest[0].isascii() and rest[0].isdigit()) or len(rest[0]) > 9:
            raise ValueError(f"{word} needs one whole number, got {' '.join(rest)[:40]!r}")
        self.is_cube = word == "LUT_3D_SIZE"
        _check_size(int(rest[0]), cube=self.is_cube)
        self.size = int(rest[0])
        self.expected = self.size**3 if self.is_cube else self.size

    def finish(self) -> Lut:
        for low, high in zip(self.low, self.high, strict=True):
            if not low < high:
                raise ValueError(f"the domain {self.low} .. {self.high} is empty")
        nodes = np.array(self.rows)
        if self.is_cube:  # red changes fastest
            nodes = nodes.reshape(self.size, self.size, self.size, 3).transpose(2, 1, 0, 3)
        return Lut(nodes, self.low, self.high)


def _numbers(words: list[str], count: int) -> Colour:
    try:
        numbers = tuple(map(float, words))
    except ValueError:
        numbers = ()
    if len(numbers) != count or not all(map(math.isfinite, numbers)):
        raise ValueError(f"expected {count} numbers, got {' '.join(words)[:40]!r}")
    return numbers
