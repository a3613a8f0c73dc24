"""Where a stage mixes a block of pixels by weights of their columns and of their rows, as resize does.

    Σⱼ down[j] · Σₖ across[k] · src.at(column + k, row + j)

or as ``src.sample(u, v)`` does, where u follows from the column and v from the row: two of each.
What belongs to columns is the same for all rows, and what belongs to rows for all columns. Weights must be
constants, or functions of how far a position lies behind the pixel before it, and of nothing else: that is
a number from 0 to 1, so all that they can be is known. resampled.py computes such a stage in 16 bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dala.backends.cpu.analysis.bilinear import CHANNELS, find_sample
from dala.backends.cpu.emit.gathers import base_and_offset
from dala.ir.dtypes import S32
from dala.ir.graph import Access, Gather, Node, cast, const, in_order, make, walk
from dala.ir.ops import OPS

TAPS = (2, 4, 8)
# The most that the sizes of weights along an axis may add up to: less than 2, so that levels with 6
# fraction bits fit into 16 bits once they are mixed; bicubic has 1.38, lanczos 1.67.
MOST_WEIGHT = 1.9
# Made of these, weights do not jump: between two of so many fractions they are what they are at both.
SMOOTH = frozenset({"add", "sub", "mul", "div", "neg", "min", "max", "sin", "cos"})
FRACTIONS = np.linspace(0.0, 1.0, 513, dtype=np.float32)


class Axis(NamedTuple):
    """Neighbouring pixels along one axis: the number of the first is ``base + offset``.

    Without a base it is counted from the pixel's own position, in an image of twice the size.
    """

    base: Node | None
    offset: int
    weights: tuple[Node, ...]


class Separable(NamedTuple):
    """A block of pixels of ``source``."""

    source: int
    columns: Axis
    rows: Axis
    channels: int = CHANNELS


class _Term(NamedTuple):
    """A pixel or a line of them, times a weight."""

    value: Node
    weight: Node


class _Line(NamedTuple):
    """Neighbouring pixels of one row."""

    source: int
    row: Node | None  # the base of its number
    offset: int
    columns: Axis


def find_separable(values: tuple[Node, ...]) -> Separable | None:
    """What the channels are, if they are the mix of one block of pixels."""
    found = _find_mix(values) or _find_sampled(values)
    if found is None or not _moves_along(found.rows, 0) or not _moves_along(found.columns, 1):
        return None
    return found._replace(channels=len(values))


def _find_sampled(values: tuple[Node, ...]) -> Separable | None:
    """A bilinear sample of an image, and nothing else, as a block of 2 x 2."""
    found = find_sample(values)
    if found is None or (found.color, found.alpha, found.condition) != (None, None, None):
        return None
    return Separable(found.source, _two_taps(found.u), _two_taps(found.v))


def _two_taps(position: Node) -> Axis:
    whole = make("floor", position)
    share = make("sub", position, whole)
    weights = (make("sub", const(1.0, share.dtype), share), share)
    return Axis(cast(whole, S32), 0, weights)


def _find_mix(values: tuple[Node, ...]) -> Separable | None:
    """A sum of sums, each of pixels times weights."""
    reading: set[int] = set()  # what is made of pixels
    for node in in_order(values):
        if node.op in ("load", "gather") or any(id(a) in reading for a in node.args):
            reading.add(id(node))
    if len(values) not in (1, CHANNELS):
        return None
    blocks = {_find_block(value, channel, reading) for channel, value in enumerate(values)}
    return blocks.pop() if len(blocks) == 1 else None


def weights_fit(found: Separable) -> bool:
    """Whether the weights along both axes are known to be small enough."""
    return all(_most_weight(axis.weights) <= MOST_WEIGHT for axis in (found.columns, found.rows))


def _find_block(value: Node, channel: int, reading: set[int]) -> Separable | None:
    weights: dict[int, Node] = {}
    alike: set[tuple[int, Node | None, Axis]] = set()
    for inner, weight in _terms(value, reading):
        line = _find_line(inner, channel, reading)
        if line is None or line.offset in weights:
            return None
        alike.add((line.source, line.row, line.columns))
        weights[line.offset] = weight
    if len(alike) != 1:
        return None
    source, base, columns = alike.pop()
    rows = _axis(base, weights)
    return Separable(source, columns, rows) if rows else None


def _find_line(value: Node, channel: int, reading: set[int]) -> _Line | None:
    weights: dict[int, Node] = {}
    alike: set[tuple[int, Node | None, int, Node | None]] = set()
    for pixel, weight in _terms(value, reading):
        match pixel.attr:
            case Gather(source, own):
                row, down = base_and_offset(pixel.args[0])
                column, across = base_and_offset(pixel.args[1])
                alike.add((source, row, down, column))
            case Access(source, own, across, down):
                alike.add((source, None, down, None))
            case _:
                return None
        if own != channel or across in weights:
            return None
        weights[across] = weight
    if len(alike) != 1:
        return None
    found, above, offset, base = alike.pop()
    columns = _axis(base, weights)
    return _Line(found, above, offset, columns) if columns else None


def _terms(value: Node, reading: set[int]) -> list[_Term]:
    """The terms of a sum of products of what reads pixels and a weight; none if it is something
    else, or has more of them than a block has lines."""
    found: list[_Term] = []
    stack = [value]
    while stack:
        node = stack.pop()
        if node.op == "add":
            stack += reversed(node.args)
            if len(stack) + len(found) > max(TAPS):
                return []
            continue
        made = [a for a in node.args if id(a) in reading]
        if node.op != "mul" or len(made) != 1:
            return []
        first, second = node.args
        found.append(_Term(first, second) if made[0] is first else _Term(second, first))
    return found


def _axis(base: Node | None, weights: dict[int, Node]) -> Axis | None:
    """Taps, if they lie side by side."""
    first = min(weights)
    if len(weights) not in TAPS or max(weights) - first + 1 != len(weights):
        return None
    return Axis(base, first, tuple(weights[first + k] for k in range(len(weights))))


def _moves_along(taps: Axis, axis: int) -> bool:
    """Whether the base and the weights of some taps change along one axis at most."""
    nodes = walk([*taps.weights, *([taps.base] if taps.base else [])])
    return all(
        n.op not in ("load", "gather") and (n.op != "coord" or n.attr == axis) for n in nodes
    )


def _most_weight(weights: Sequence[Node]) -> float:
    """The most that the sizes of weights add up to, at any fraction; inf if they are something else."""
    fractions = {id(n) for n in walk(weights) if _is_fraction(n)}
    if len(fractions) > 1:
        return np.inf
    values = dict.fromkeys(fractions, FRACTIONS)
    for node in walk(weights, [*values]):
        if node.op == "const":
            values[id(node)] = np.full_like(FRACTIONS, node.attr)
            continue
        meaning = OPS[node.op].numpy if node.op in SMOOTH else None
        if meaning is None:
            return np.inf
        values[id(node)] = meaning(*(values[id(a)] for a in node.args))
    return float(np.sum([np.abs(values[id(w)]) for w in weights], axis=0).max())


def _is_fraction(node: Node) -> bool:
    """Whether a value is a position less its whole part."""
    if node.op != "sub":
        return False
    position, whole = node.args
    return whole.op == "floor" and whole.args[0] is position
