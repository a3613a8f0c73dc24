"""Where a stage is one bilinear sample of an image: ``src.sample(u, v)``, written out as it is traced.

A channel may be multiplied by a factor within 0..1 (alpha fades at the border of a warped image), and all
may be 0 where a condition does not hold. sampled.py computes that in 16 bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dala.ir.graph import Gather, Node, walk

CHANNELS = 4


class Sampled(NamedTuple):
    """The mix of four pixels of ``source`` around u, v."""

    source: int
    u: Node
    v: Node
    color: Node | None  # what is multiplied by
    alpha: Node | None
    condition: Node | None  # for it not to be 0


class _Mix(NamedTuple):
    source: int
    u: Node
    v: Node


def find_sample(values: Sequence[Node]) -> Sampled | None:
    """What the channels are, if they are one bilinear sample."""
    mixes: set[_Mix | None] = set()
    conditions: set[Node | None] = set()
    factors: list[Node | None] = []
    for channel, value in enumerate(values):
        condition, inner = _unless_zero(value)
        mix, factor = _find_faded(inner, channel)
        mixes.add(mix)
        factors.append(factor)
        conditions.add(condition)
    if len(values) not in (1, CHANNELS) or len(mixes) != 1 or len(conditions) != 1:
        return None
    mix, condition = mixes.pop(), conditions.pop()
    fading = all(_is_share(f) for f in factors if f is not None) and len({*factors[:3]}) == 1
    if mix is None or not fading:
        return None
    # positions and factors are computed ahead of the pixels, so they cannot be made of any
    ahead = [n for n in (mix.u, mix.v, *factors, condition) if n is not None]
    if any(n.op in ("load", "gather") for n in walk(ahead)):
        return None
    return Sampled(*mix, factors[0], factors[-1], condition)


def _unless_zero(value: Node) -> tuple[Node | None, Node]:
    """``value if condition else 0``."""
    if value.op == "select" and value.args[2].op == "const" and value.args[2].attr == 0.0:
        return value.args[0], value.args[1]
    return None, value


def _find_faded(value: Node, channel: int) -> tuple[_Mix | None, Node | None]:
    """Where one channel is sampled, and what it is multiplied by."""
    if value.op == "mul":
        for sample, factor in (value.args, value.args[::-1]):
            mix = _find_mix(sample, channel)
            if mix is not None:
                return mix, factor
    return _find_mix(value, channel), None


def _find_mix(value: Node, channel: int) -> _Mix | None:
    """Where one channel is sampled."""
    rows = _find_lerp(value)
    lines = [_find_lerp(row) for row in rows[:2]] if rows else []
    if len(lines) != 2 or lines[0] is None or lines[1] is None or rows is None:
        return None
    pixels = [*lines[0][:2], *lines[1][:2]]
    gather = pixels[0].attr
    same = all(p.op == "gather" and p.attr == gather for p in pixels)
    if not same or lines[0][2] is not lines[1][2]:
        return None
    assert isinstance(gather, Gather)
    top, left = pixels[0].args
    bottom, right = pixels[3].args
    wanted = [(top, left), (top, right), (bottom, left), (bottom, right)]
    square = all(p.args == position for p, position in zip(pixels, wanted, strict=True))
    u, v = _position(left, right, lines[0][2]), _position(top, bottom, rows[2])
    if not square or u is None or v is None or gather.channel != channel:
        return None
    return _Mix(gather.source, u, v)


def _find_lerp(node: Node) -> tuple[Node, Node, Node] | None:
    """a, b and t of ``a + (b - a) * t``, contracted or not."""
    if node.op == "fma":
        forms = [(node.args[2], node.args[:2])]
    elif node.op == "add":
        forms = [(a, b.args) for a, b in (node.args, node.args[::-1]) if b.op == "mul"]
    else:
        return None
    for a, product in forms:
        for step, t in (product, product[::-1]):
            if step.op == "sub" and step.args[1] is a:
                return a, step.args[0], t
    return None


def _position(first: Node, second: Node, share: Node) -> Node | None:
    """The position whose whole part is ``first``, one less than ``second``, and the rest is ``share``."""
    one = second.args[1] if second.op == "add" and second.args[0] is first else None
    if one is None or one.op != "const" or one.attr != 1 or first.op != "cast":
        return None
    whole = first.args[0]
    if whole.op != "floor" or share.op != "sub" or share.args != (whole.args[0], whole):
        return None
    return whole.args[0]


def _is_share(node: Node) -> bool:
    """Whether a factor lies within 0..1, whatever it is made of: a product of clamped values."""
    return all(map(_is_clamped, _factors(node)))


def _factors(product: Node) -> list[Node]:
    """What is multiplied, each factor once."""
    seen: set[Node] = set()
    stack = [product]
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            stack += node.args if node.op == "mul" else ()
    return [n for n in seen if n.op != "mul"]


def _is_clamped(node: Node) -> bool:
    if node.op != "min" or node.args[1].attr != 1.0:
        return False
    low = node.args[0]
    return low.op == "max" and low.args[1].op == "const" and low.args[1].attr == 0.0


def ends_with(condition: Node | None, position: Node) -> bool:
    """Whether a condition is false wherever a position is not finite: if it asks for a product of clamped
    factors above 0, and one of the factors is min(position + a, b - position), clamped."""
    if condition is None or condition.op != "gt" or condition.args[1].attr != 0.0:
        return False
    factors = _factors(condition.args[0])
    return all(map(_is_clamped, factors)) and any(_is_share_of(f, position) for f in factors)


def _is_share_of(clamped: Node, position: Node) -> bool:
    inner = clamped.args[0].args[0]
    if inner.op != "min":
        return False
    up, down = inner.args
    rises = up.op == "add" and up.args[0] is position
    return rises and down.op == "sub" and down.args[1] is position
