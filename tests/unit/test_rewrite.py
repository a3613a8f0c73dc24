"""Rewrites: every rule fires, and none changes a bit."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from searching import examples

from dala.backends.reference.interpret import _evaluate
from dala.ir.dtypes import BOOL, BUFFER_DTYPES, F32, F64, S32, S64, U8, U16, U32, DType
from dala.ir.graph import (
    OUTPUT,
    Access,
    Extent,
    Gather,
    Node,
    Program,
    RuntimeParam,
    Stage,
    cast,
    const,
    make,
    map_nodes,
    walk,
)
from dala.ir.ops import LEAVES, OPS, VARIADIC
from dala.ir.printer import print_body
from dala.ir.rewrite import (
    COMMUTATIVE,
    INVERSE_255,
    PASSES,
    expand_averages,
    fold_constants,
    normalized_level,
    optimize,
    share_common,
    simplify,
)

TYPES = (*BUFFER_DTYPES, BOOL)
INF, NAN = math.inf, math.nan


def arity(op: str) -> int:
    return 4 if OPS[op].arity == VARIADIC else OPS[op].arity


def load(dtype: DType, number: int = 0) -> Node:
    """Sources come in pairs, two of each type."""
    return Node("load", dtype, (), Access(2 * TYPES.index(dtype) + number))


def count(*roots: Node) -> int:
    return sum(1 for _ in walk(roots))


X, Y, N, M, C, D = (load(t, n) for t in (F32, S32, BOOL) for n in (0, 1))


# --- fold -----------------------------------------------------------------------------------------

OPERANDS: dict[DType, list[float]] = {
    F32: [0.0, -0.0, 1.5, -2.5, 1e30, INF, -INF, NAN], F64: [0.0, -0.0, 0.1, 1e300, INF, NAN],
    S32: [0, 1, -7, 2**31 - 1, -(2**31)], S64: [0, -1, 9, 2**63 - 1, -(2**63)],
    U32: [0, 1, 7, 2**32 - 1], U8: [0, 1, 7, 255], U16: [0, 1, 7, 65535], BOOL: [False, True],
}  # fmt: skip


@pytest.mark.parametrize("op", sorted(set(OPS) - LEAVES - {"cast"}))
def test_constants_fold_to_what_the_op_means(op: str) -> None:
    folded = 0
    for dtype in TYPES:
        types = [BOOL, dtype, dtype] if op == "select" else [dtype] * arity(op)
        if not isinstance(OPS[op].types(types), DType):
            continue
        few = slice(None) if len(types) < 4 else slice(None, None, 2)
        grids = np.meshgrid(*[np.array(OPERANDS[t][few], t.numpy) for t in types])
        for values in zip(*[g.ravel().tolist() for g in grids], strict=True):
            node = make(op, *(const(v, t) for v, t in zip(values, types, strict=True)))
            (result,) = fold_constants((node,))
            assert result.op == "const"
            assert result.dtype is node.dtype
            assert same_bits(evaluate(node), evaluate(result)), print_body((node,))
            folded += 1
    assert folded


def test_casts_fold_by_the_policy() -> None:
    def folded(value: float, source: DType, target: DType) -> object:
        return fold_constants((cast(const(value, source), target),))[0].attr

    assert folded(300.7, F32, U8) == 255
    assert folded(NAN, F32, S32) == 0
    assert folded(-1, S32, U32) == 2**32 - 1
    assert folded(1e300, F64, F32) == INF
    assert type(folded(3, S32, F32)) is float


def test_a_tree_of_constants_folds_at_once() -> None:
    two, three = const(2.0, F32), const(3.0, F32)
    tree = make("add", make("mul", two, three), make("sqrt", make("add", two, two)))
    assert print_body(fold_constants((tree, tree))) == ["return 8.0:f32 8.0:f32"]


@pytest.mark.parametrize(
    "leaf",
    [
        X,
        Node("param", F32, (), 0),
        Node("coord", S32, (), 0),
        Node("extent", S32, (), Extent(OUTPUT, 0)),
        Node("gather", F32, (const(0, S32),), Gather(0)),
    ],
    ids=lambda n: n.op,
)
def test_what_is_only_known_at_run_time_does_not_fold(leaf: Node) -> None:
    assert fold_constants((leaf,)) == (leaf,)
    node = make("add", leaf, const(1, leaf.dtype))
    assert fold_constants((node,)) == (node,)


# --- simplify -------------------------------------------------------------------------------------


def k(value: float, dtype: DType = F32) -> Node:
    return const(value, dtype)


LEVELS = make("mul", make("level", X), k(INVERSE_255))
FIRES: dict[str, tuple[Node, Node]] = {
    "x * 1.0": (make("mul", X, k(1)), X),
    "1.0 * x": (make("mul", k(1), X), X),
    "i * 1": (make("mul", N, k(1, S32)), N),
    "1 * i": (make("mul", k(1, S32), N), N),
    "i * 0": (make("mul", N, k(0, S32)), k(0, S32)),
    "0 * i": (make("mul", k(0, S32), N), k(0, S32)),
    "x / 1.0": (make("div", X, k(1)), X),
    "i // 1": (make("floordiv", N, k(1, S32)), N),
    "x - 0.0": (make("sub", X, k(0.0)), X),
    "i - 0": (make("sub", N, k(0, S32)), N),
    "i + 0": (make("add", N, k(0, S32)), N),
    "0 + i": (make("add", k(0, S32), N), N),
    "--x": (make("neg", make("neg", X)), X),
    "--i": (make("neg", make("neg", N)), N),
    "not not c": (make("not", make("not", C)), C),
    "||x||": (make("abs", make("abs", X)), make("abs", X)),
    "min(x, x)": (make("min", X, X), X),
    "max(x, x)": (make("max", X, X), X),
    "i & i": (make("and", N, N), N),
    "c | c": (make("or", C, C), C),
    "where(c, x, x)": (make("select", C, X, X), X),
    "where(True, x, y)": (make("select", k(True, BOOL), X, Y), X),
    "where(False, x, y)": (make("select", k(False, BOOL), X, Y), Y),
    "f32(x)": (Node("cast", F32, (X,)), X),
    "level(level(x) / 255)": (make("level", LEVELS), make("level", X)),
    "deep inside": (make("sqrt", make("mul", make("sub", X, k(0.0)), k(1))), make("sqrt", X)),
    **{
        f"{outer}({inner}(x))": (make(outer, make(inner, X)), make(inner, X))
        for outer in ("floor", "ceil", "round", "trunc")
        for inner in ("floor", "ceil", "round", "trunc")
    },
}


@pytest.mark.parametrize("rule", FIRES)
def test_a_rule_fires(rule: str) -> None:
    before, after = FIRES[rule]
    assert print_body(simplify((before,))) == print_body((after,))
    assert same_bits(evaluate(before), evaluate(after))


KEPT: dict[str, Node] = {
    "x + 0.0 (-0.0 becomes 0.0)": make("add", X, k(0.0)),
    "0.0 + x": make("add", k(0.0), X),
    "x + -0.0": make("add", X, k(-0.0)),
    "x - -0.0 (-0.0 becomes 0.0)": make("sub", X, k(-0.0)),
    "0.0 - x": make("sub", k(0.0), X),
    "0 - i": make("sub", k(0, S32), N),
    "x * 0.0 (NaN, inf, -1)": make("mul", X, k(0.0)),
    "0.0 * x": make("mul", k(0.0), X),
    "x * -1.0": make("mul", X, k(-1)),
    "x - x (inf)": make("sub", X, X),
    "x / x (0)": make("div", X, X),
    "1.0 / x": make("div", k(1), X),
    "x // 1.0 (that is floor)": make("floordiv", X, k(1)),
    "1 // i": make("floordiv", k(1, S32), N),
    "i % 1": make("mod", N, k(1, S32)),
    "i // i (0)": make("floordiv", N, N),
    "min(x, y)": make("min", X, Y),
    "c ^ c": make("xor", C, C),
    "c & True": make("and", C, k(True, BOOL)),
    "x == x (NaN)": make("eq", X, X),
    "x <= x (NaN)": make("le", X, X),
    "-|x|": make("neg", make("abs", X)),
    "|-x|": make("abs", make("neg", X)),
    "pow(x, 1.0)": make("pow", X, k(1)),
    "sqrt(x * x)": make("sqrt", make("mul", X, X)),
    "floor(level(x))": make("floor", make("level", X)),
    "level(x / 255)": make("level", make("mul", X, k(INVERSE_255))),
    "level(level(x) / 2)": make("level", make("mul", make("level", X), k(0.5))),
    "level(level(x))": make("level", make("level", X)),
    "where(c, x, y)": make("select", C, X, Y),
    "where(x > y, x, y)": make("select", make("gt", X, Y), X, Y),
    "u8(s32(u8 value))": Node("cast", U8, (Node("cast", S32, (load(U8),)),)),
    "f64(f32(f64 value))": Node("cast", F64, (Node("cast", F32, (load(F64),)),)),
    "s32(f32(i))": Node("cast", S32, (Node("cast", F32, (N,)),)),
    "i << 0": make("shl", N, k(0, S32)),
}


@pytest.mark.parametrize("expression", KEPT)
def test_what_would_change_bits_is_kept(expression: str) -> None:
    node = KEPT[expression]
    assert simplify((node,)) == (node,)


def test_storing_a_stored_level_changes_nothing() -> None:
    once = normalized_level(X)
    twice = normalized_level(once)
    assert print_body(simplify((twice,))) == print_body((once,))
    every = np.arange(256, dtype=np.float32) * np.float32(INVERSE_255)
    sources = [[every]]
    values = [_evaluate((n,), (256,), sources, [(256,)], ())[id(n)] for n in (once, twice)]
    np.testing.assert_array_equal(values[0], every)
    np.testing.assert_array_equal(values[1], every)


# --- share ----------------------------------------------------------------------------------------


def test_equal_expressions_become_one() -> None:
    first, second = (make("mul", load(F32), make("add", load(F32, 1), k(2))) for _ in range(2))
    shared = share_common((first, second))
    assert shared[0] is shared[1]
    assert count(first, second) == 10
    assert count(*shared) == 5


@pytest.mark.parametrize("op", sorted(COMMUTATIVE))
def test_the_order_of_commutative_operands_does_not_matter(op: str) -> None:
    a, b = (N, M) if op in ("and", "or", "xor") else (X, Y)
    left, right = share_common((make(op, a, b), make(op, b, a)))
    assert left is right


@pytest.mark.parametrize("op", sorted(n for n, r in OPS.items() if r.arity == 2))
def test_sharing_swapped_operands_is_right(op: str) -> None:
    for a, b in ((X, Y), (N, M), (C, D)):
        if not isinstance(OPS[op].types([a.dtype, b.dtype]), DType):
            continue
        one, other = make(op, a, b), make(op, b, a)
        shared = share_common((one, other))
        if op not in COMMUTATIVE:  # min and max too: with a NaN the second operand wins
            assert shared == (one, other)
        assert same_bits(evaluate(one), evaluate(shared[0]))
        assert same_bits(evaluate(other), evaluate(shared[1]))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (k(0.0), k(-0.0)),
        (k(1, S32), k(1, U32)),
        (k(1, S32), k(True, BOOL)),
        (k(1.0, F32), k(1.0, F64)),
        (load(F32, 0), load(F32, 1)),
        (Node("load", F32, (), Access(0, 0, 1, 0)), Node("load", F32, (), Access(0, 0, 0, 1))),
        (Node("load", F32, (), Access(0, 1)), Node("load", F32, (), Access(0, 2))),
        (Node("extent", S32, (), Extent(0, 1)), Node("extent", S32, (), Extent(1, 0))),
        (Node("coord", S32, (), 0), Node("coord", S32, (), 1)),
        (Node("coord", S32, (), 0), Node("param", S32, (), 0)),
        (Node("cast", S32, (X,)), Node("cast", U32, (X,))),
    ],
)
def test_what_differs_is_not_shared(a: Node, b: Node) -> None:
    assert share_common((a, b)) == (a, b)


def test_a_doubling_chain_shrinks_to_its_links() -> None:
    """As a tree it has 2**200 nodes; every walk is over the graph."""
    node = X
    for _ in range(200):
        node = make("add", node, node)
    assert count(node) == 201
    result = optimize(Program("double", "tensor", 14, (), (Stage((node,)),)))
    assert count(*result.stages[0].body) == 201


def test_graphs_deeper_than_the_stack() -> None:
    node = X
    for _ in range(20_000):
        node = make("add", node, Y)
    (result,) = share_common(simplify(fold_constants((node,))))
    assert count(result) == 20_002


def test_map_nodes_keeps_what_does_not_change() -> None:
    node = make("add", make("mul", X, Y), X)
    assert map_nodes((node,), lambda n: n) == (node,)
    (changed,) = map_nodes((node,), lambda n: Y if n is X else n)
    assert print_body((changed,)) == print_body((make("add", make("mul", Y, Y), Y),))


# --- no bit changes: random graphs ----------------------------------------------------------------


def special(dtype: DType, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if dtype is BOOL:
        return rng.integers(0, 2, 24).astype(bool)
    if dtype.is_float:
        listed = [0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -3.5, 255.0, 1e-30, 1e30, INF, -INF, NAN]
        values = np.concatenate([listed, rng.normal(size=11) * 100]).astype(dtype.numpy)
    else:
        info = np.iinfo(dtype.numpy)
        listed = [0, 1, 2, 3, 7, 31, 32, 63, info.max, info.max - 1, info.min, info.min + 1]
        rest = rng.integers(info.min, info.max, 12, dtype.numpy, endpoint=True)
        values = np.concatenate([np.array(listed, dtype.numpy), rest])
    return rng.permutation(values)


SOURCES = [[special(t, 10 * n + i)] for i, t in enumerate(TYPES) for n in range(2)]
SHAPE = SOURCES[0][0].shape
SHAPES = [SHAPE] * len(SOURCES)
PARAMS = (0.75, -3)


def evaluate(*roots: Node) -> list[np.ndarray]:
    values = _evaluate(roots, SHAPE, SOURCES, SHAPES, PARAMS)
    return [values[id(root)] for root in roots]


def same_bits(before: list[np.ndarray], after: list[np.ndarray]) -> bool:
    """Equal to the last bit; a NaN may be any NaN."""
    for a, b in zip(before, after, strict=True):
        if a.dtype != b.dtype or a.shape != b.shape:
            return False
        if a.dtype.kind == "f":
            nan = np.isnan(a)
            if not np.array_equal(nan, np.isnan(b)):
                return False
            a, b = np.where(nan, a.dtype.type(0), a), np.where(nan, a.dtype.type(0), b)
        if a.tobytes() != b.tobytes():
            return False
    return True


def test_same_bits_sees_what_it_must() -> None:
    zero, minus = np.array([0.0]), np.array([-0.0])
    assert same_bits([np.array([NAN, 1.0])], [np.array([-NAN, 1.0])])
    assert not same_bits([zero], [minus])
    assert not same_bits([np.array([NAN])], [zero])
    assert not same_bits([np.array([1], np.int32)], [np.array([1], np.uint32)])


NEUTRAL: dict[DType, list[float]] = {
    F32: [0.0, -0.0, 1.0, 1.0, INVERSE_255], F64: [0.0, -0.0, 1.0], BOOL: [False, True],
}  # fmt: skip
APPLIED = sorted(set(OPS) - LEAVES)
RULED = ("add", "sub", "mul", "div", "floordiv", "neg", "abs", "min", "max", "select", "level")


def leaf(rng: random.Random, dtype: DType) -> Node:
    """A constant, often one that rules look for, a load, or what only a pass knows."""
    if rng.random() < 0.5:
        listed = NEUTRAL.get(dtype, [0, 1]) if rng.random() < 0.7 else OPERANDS[dtype]
        return const(rng.choice(listed), dtype)
    if dtype in (F32, S32) and rng.random() < 0.3:
        return Node("param", dtype, (), 0 if dtype is F32 else 1)
    if dtype is S32 and rng.random() < 0.3:
        return Node("coord", S32, (), 0)
    return load(dtype, rng.randrange(2))


def graph(seed: int) -> tuple[Node, ...]:
    """Every node of a random graph: sums of sums of sums, casts between all types."""
    rng = random.Random(seed)
    nodes: list[Node] = []

    def operand(dtype: DType) -> Node:
        fitting = [n for n in nodes if n.dtype is dtype]
        if fitting and rng.random() < 0.6:
            return rng.choice(fitting[-6:])  # the latest ones, so that the graph grows deep
        return leaf(rng, dtype)

    while len(nodes) < 60:
        op = rng.choice(RULED if rng.random() < 0.5 else APPLIED)
        dtype = F32 if rng.random() < 0.4 else rng.choice(TYPES)
        if op == "cast":
            nodes.append(Node("cast", rng.choice(BUFFER_DTYPES), (operand(dtype),)))
            continue
        types = [BOOL, dtype, dtype] if op == "select" else [dtype] * arity(op)
        if not isinstance(OPS[op].types(types), DType):
            continue
        args = [operand(t) for t in types]
        nodes.append(make(op, *args))
        if rng.random() < 0.3 and op != "select":  # the same once more, perhaps the other way round
            nodes.append(make(op, *(reversed(args) if rng.random() < 0.7 else args)))
    return tuple(nodes)


def first_change(before: tuple[Node, ...], after: tuple[Node, ...]) -> str:
    """The smallest part whose value changed, before and after; empty if there is none."""
    for node, old, new, value in zip(
        before, evaluate(*before), evaluate(*after), after, strict=True
    ):
        if not same_bits([old], [new]):
            return "\n".join([*print_body((node,)), "became", *print_body((value,))])
    return ""


@settings(max_examples=examples(300))
@given(st.integers(0, 2**32))
def test_no_pass_changes_a_bit(seed: int) -> None:
    nodes = graph(seed)
    for rewrite in PASSES:
        after = rewrite(nodes)
        assert [n.dtype for n in after] == [n.dtype for n in nodes]
        assert not first_change(nodes, after), rewrite.__name__
        assert count(*after) <= count(*nodes)


@settings(max_examples=examples(300))
@given(st.integers(0, 2**32))
def test_the_optimiser_changes_no_bit(seed: int) -> None:
    root = next(n for n in reversed(graph(seed)) if n.dtype is not BOOL)
    params = (RuntimeParam("a", F32), RuntimeParam("b", S32))
    program = Program("random", "tensor", len(SOURCES), params, (Stage((root,)),))
    result = optimize(program)
    assert not first_change((root,), result.stages[0].body)
    again = optimize(result)  # still well formed, and still the same
    assert not first_change((root,), again.stages[0].body)


def test_the_random_graphs_are_worth_it() -> None:
    """They hold every op, and every pass finds something to do."""
    graphs = [graph(seed) for seed in range(60)]
    assert {n.op for nodes in graphs for n in walk(nodes)} >= set(APPLIED)
    for rewrite in PASSES:
        assert sum(count(*rewrite(nodes)) < count(*nodes) for nodes in graphs) > 50


@settings(max_examples=examples(100))
@given(st.integers(0, 2**32), st.integers(1, 6), st.sampled_from([F32, F64]))
def test_averages_spelled_out_are_the_same_averages(seed: int, size: int, dtype: DType) -> None:
    rng = random.Random(seed)
    average = make("average", *(leaf(rng, dtype) for _ in range(2 * size)))
    (spelled,) = expand_averages((average,))
    assert not [n for n in walk((spelled,)) if n.op == "average"]
    assert same_bits(evaluate(average), evaluate(spelled))


def test_optimize_lists_its_passes_in_order() -> None:
    assert [p.__name__ for p in PASSES] == ["fold_constants", "simplify", "share_common"]
