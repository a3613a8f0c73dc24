"""Expressions as sums of loads, each times a weight that is the same for all pixels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from dala.ir.bounds import Bounds, find_bounds
from dala.ir.graph import UNIFORM_LEAVES, Access, Node, RuntimeParam, make, walk
from dala.ir.ops import OPS, split_average

# A constant for each uniform value that it multiplies; None: for 1. Their sum is the weight.
Weight: TypeAlias = "dict[Node | None, float]"
Products: TypeAlias = "dict[tuple[Node, Node], Node]"  # made once: nodes have no other equality


@dataclass(frozen=True, slots=True)
class LinearForm:
    """``bias`` plus the sum of loads, each times its weight; values in 0..1."""

    weights: dict[Access, Weight]
    bias: Weight

    def plus(self, other: LinearForm, sign: float = 1.0) -> LinearForm:
        weights = dict(self.weights)
        for access, weight in other.weights.items():
            weights[access] = _add(weights.get(access, {}), weight, sign)
        return LinearForm(weights, _add(self.bias, other.bias, sign))

    def times(self, factor: Weight) -> LinearForm:
        products: Products = {}
        weights = {a: _multiply(w, factor, products) for a, w in self.weights.items()}
        return LinearForm(weights, _multiply(self.bias, factor, products))

    def by_uniform(self) -> dict[Node | None, dict[Access, float]]:
        """The loads that each uniform value multiplies; None: 1."""
        found: dict[Node | None, dict[Access, float]] = {}
        for access, weight in self.weights.items():
            for uniform, factor in weight.items():
                found.setdefault(uniform, {})[access] = factor
        return found

    def spread(self) -> LinearForm:
        """The same by values that are no sums themselves: 1 - t is 1 times 1 and -1 times t."""
        weights = {a: _spread(w) for a, w in self.weights.items()}
        return LinearForm(weights, _spread(self.bias))

    @property
    def passes_through(self) -> bool:
        """Whether it is one channel as it is."""
        return not any(self.bias.values()) and list(self.weights.values()) == [{None: 1.0}]


def is_constant(weight: Weight) -> bool:
    return not any(uniform is not None for uniform in weight)


def constant_of(weight: Weight) -> float:
    """The part of it that is known now."""
    return weight.get(None, 0.0)


def level_of(value: float) -> int:
    """The level that a constant is stored as."""
    meaning = OPS["level"].numpy
    assert meaning is not None
    return int(meaning(np.float32(value)))


def weight_bounds(weight: Weight, params: Sequence[RuntimeParam]) -> Bounds:
    """Between which numbers a weight lies, whatever the parameters are."""
    total = Bounds(0.0, 0.0)
    for uniform, factor in weight.items():
        bounds = Bounds(1.0, 1.0) if uniform is None else find_bounds(uniform, params)
        total = total.plus(bounds.times(Bounds(factor, factor)))
    return total


def linear_forms(roots: Sequence[Node]) -> list[LinearForm] | None:
    """The roots as such sums, if that is what they are."""
    forms: dict[int, LinearForm] = {}
    uniform: set[int] = set()
    for node in walk(roots):
        form: LinearForm | None
        if node.op in UNIFORM_LEAVES or (node.args and uniform.issuperset(map(id, node.args))):
            uniform.add(id(node))
            form = LinearForm({}, _weight_of(node))
        else:
            form = _linear_form(node, [forms[id(a)] for a in node.args])
        if form is None:
            return None
        forms[id(node)] = form
    return [forms[id(root)] for root in roots]


def _linear_form(node: Node, args: list[LinearForm]) -> LinearForm | None:
    plain = [not form.weights for form in args]
    match node.op:
        case "load":
            assert isinstance(node.attr, Access)
            return LinearForm({node.attr: {None: 1.0}}, {})
        case "add" | "sub":
            return args[0].plus(args[1], 1.0 if node.op == "add" else -1.0)
        case "neg":
            return args[0].times({None: -1.0})
        case "mul" if any(plain):
            return args[1].times(args[0].bias) if plain[0] else args[0].times(args[1].bias)
        case "div" if plain[1] and is_constant(args[1].bias) and constant_of(args[1].bias):
            return args[0].times({None: 1.0 / constant_of(args[1].bias)})
        case "average":
            values, weights = split_average(tuple(args))
            if not all(is_constant(w.bias) and not w.weights for w in weights):
                return None
            shares = [max(constant_of(w.bias), 0.0) for w in weights]
            if not sum(shares):
                return None
            total = LinearForm({}, {})
            for value, share in zip(values, shares, strict=True):
                total = total.plus(value.times({None: share / sum(shares)}))
            return total
    return None


def _weight_of(node: Node) -> Weight:
    """A uniform value as a weight."""
    return {None: node.attr} if isinstance(node.attr, float) else {node: 1.0}


def _add(a: Weight, b: Weight, sign: float) -> Weight:
    total = dict(a)
    for uniform, factor in b.items():
        total[uniform] = total.get(uniform, 0.0) + sign * factor
    return total


def _multiply(a: Weight, b: Weight, products: Products) -> Weight:
    product: Weight = {}
    for u, factor in a.items():
        for v, other in b.items():
            both = u or v
            if u is not None and v is not None:
                both = products.setdefault((u, v), make("mul", u, v))
            product[both] = product.get(both, 0.0) + factor * other
    return product


def _spread(weight: Weight) -> Weight:
    total: Weight = {}
    for uniform, factor in weight.items():
        one: Weight = {None: 1.0} if uniform is None else _summands(uniform)
        total = _add(total, one, factor)
    return total


def _summands(uniform: Node) -> Weight:
    """A uniform value as a sum of others, as far as constants, sums and multiples go."""
    known: dict[int, Weight] = {}
    for node in walk([uniform]):
        args = [known[id(a)] for a in node.args]
        constant = [is_constant(a) for a in args]
        found = _weight_of(node)
        match node.op:
            case "add" | "sub":
                found = _add(args[0], args[1], 1.0 if node.op == "add" else -1.0)
            case "neg":
                found = _add({}, args[0], -1.0)
            case "mul" if any(constant):
                number, other = args if constant[0] else reversed(args)
                found = _add({}, other, constant_of(number))
        known[id(node)] = found
    return known[id(uniform)]
