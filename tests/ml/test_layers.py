"""Every kind of layer against ONNX Runtime: shapes, strides, pads, dilations, odd channels."""

from __future__ import annotations

import numpy as np
import pytest
from net_cases import CASES, Case
from onnx_files import Net, block, node, small_net, value, whole

from dala.errors import ModelError
from dala.ml.layers import builder
from dala.ml.layers.lower import lower_model
from dala.ml.layers.table import LAYERS
from dala.ml.network import open_network
from dala.ml.onnx.read import read_model
from dala.ml.run.webgpu.placing import place_values

TIMES = 25  # per kind of case


def agree(case: Case, device: str, relative: float = 1e-5) -> None:
    with (
        open_network(case.data, device="cpu") as runtime,
        open_network(case.data, device=device) as ours,
    ):
        wanted, found = runtime.run(*case.inputs), ours.run(*case.inputs)
        for a, b in zip(wanted, found, strict=True):
            assert (a.shape, a.dtype) == (b.shape, b.dtype)
            if a.dtype.kind in "iu":
                assert np.abs(a.astype(int) - b.astype(int)).max(initial=0) <= (a.dtype == np.uint8)
            else:
                largest = max(1.0, float(np.abs(a).max(initial=0)))
                assert np.allclose(a, b, rtol=relative, atol=relative * largest), ours.explain()


@pytest.mark.parametrize("kind", CASES)
def test_the_meaning_is_that_of_onnx_runtime(kind: str) -> None:
    for seed in range(TIMES):
        agree(CASES[kind](np.random.default_rng([seed, *kind.encode()])), "reference")


def test_a_small_net_agrees() -> None:
    image = np.random.default_rng(3).integers(0, 256, (1, 16, 16, 3)).astype("u1")
    agree(Case(small_net(), [image]), "reference")


def test_every_kind_of_layer_is_met() -> None:
    """The cases above make all rows of the table."""
    met = set()
    for kind, make in CASES.items():
        for seed in range(TIMES):
            case = make(np.random.default_rng([seed, *kind.encode()]))
            program = lower_model(read_model(case.data), [a.shape for a in case.inputs], kind)
            met |= {layer.kind for layer in program.layers}
    assert met == set(LAYERS)


def test_what_is_known_is_folded_and_the_rest_is_fused() -> None:
    """Transposes cost nothing; normalisation, activation and residual are no layers of their own."""
    program = lower_model(read_model(small_net()), [(1, 16, 16, 3)], "small")
    kinds = [layer.kind for layer in program.layers if layer.kind != "view"]
    assert kinds == ["conv", "pointwise", "depthwise", "excite", "pointwise", "pool", "resize",
                     "concat", "reduce", "matmul", "softmax"]  # fmt: skip
    assert program.layers[0].before[0].op == "cast:float32"
    wide = next(layer for layer in program.layers if layer.kind == "pointwise")
    assert [step.op for step in wide.epilogue] == ["relu"]  # factor and offset are in the weights
    residual = [layer for layer in program.layers if layer.kind == "pointwise"][1]
    assert [step.op for step in residual.epilogue] == ["add"]


APART = ["reduce", "pointwise", "pointwise"]
SQUEEZED = {  # shapes before the first product and before the second, and what is left of them
    "other pictures": ([(2, 4, 1, 1)], [], APART),
    "a picture of channels": ([(1, 1, 2, 4)], [], APART),
    "other pictures later": ([], [(3, 2, 1, 1)], ["excite", "pointwise"]),
    "a picture of channels later": ([], [(1, 2, 3, 1)], ["excite", "pointwise"]),
    "there and back": ([(1, 8), (1, 8, 1, 1)], [(6,), (1, 6, 1, 1)], ["excite"]),
}


def squeezed(*reshaped: list[tuple[int, ...]]) -> Case:
    """The mean of 8 channels and two products, with other shapes before each."""
    rng, net = np.random.default_rng(7), Net()
    x = rng.standard_normal((1, 8, 4, 4)).astype("f4")
    y, shape = net.add("GlobalAveragePool", net.input("x", x.shape)), (1, 8, 1, 1)
    for made, shapes in zip((6, 5), reshaped, strict=True):
        for shape in shapes:
            y = net.add("Reshape", y, net.constant(shape, "i8"))
        weights = rng.standard_normal((made, shape[1], 1, 1)).astype("f4")
        y = net.add("Relu", net.add("Conv", y, net.constant(weights)))
        shape = (shape[0], made, *shape[2:])
    net.output(y, 4)
    return Case(net.bytes(), [x])


@pytest.mark.parametrize("device", ["reference", "webgpu"])
@pytest.mark.parametrize("name", SQUEEZED)
def test_a_mean_joins_the_products_that_read_it_in_its_own_shape(name: str, device: str) -> None:
    first, second, left = SQUEEZED[name]
    case = squeezed(first, second)
    agree(case, device, 2e-5)
    program = lower_model(read_model(case.data), [a.shape for a in case.inputs], name)
    assert [x.kind for x in program.layers if x.kind not in ("take", "view")] == left


def loop(turns: int) -> bytes:
    """x, doubled in each turn; and what every turn gave."""
    body = block(1, node("Add", ["v", "v"], ["w"])) + block(1, node("Identity", ["go"], ["still"]))
    body += block(1, node("Identity", ["w"], ["each"])) + block(2, "body")
    for name, shape, dtype in (("turn", (), "int64"), ("go", (), "bool"), ("v", (2,), "float32")):
        body += block(11, value(name, shape, dtype))
    for name, shape, dtype in (
        ("still", (), "bool"),
        ("w", (2,), "float32"),
        ("each", (2,), "float32"),
    ):
        body += block(12, value(name, shape, dtype))
    net = Net()
    x = net.input("x", (2,))
    last = net.add("Loop", net.constant(turns, "i8"), "", x, outputs=2, body=body)
    net.output(last, 1)
    net.output(f"{last}.1", 2)
    return net.bytes()


def test_loops_with_a_known_end_are_written_out() -> None:
    agree(Case(loop(3), [np.array([1, 2], "f4")]), "reference")
    with pytest.raises(ModelError, match="turns more than 64 times"):
        open_network(loop(65), device="reference").run(np.zeros(2, "f4"))


def test_a_small_file_cannot_ask_for_endless_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loops within loops, and values that grow from nothing."""
    monkeypatch.setattr(builder, "MOST_NODES", 5000)
    monkeypatch.setattr(builder, "MOST_FOLDED", 1 << 14)
    inner = block(1, node("Identity", ["v"], ["w"]))
    for depth in range(3):
        heads = (("turn", (), "int64"), ("go", (), "bool"), ("v", (2,), "float32"))
        for name, shape, dtype in heads:
            inner += block(11, value(f"{name}{depth}" if name != "v" else "v", shape, dtype))
        for name, shape, dtype in ((f"go{depth}", (), "bool"), ("w", (2,), "float32")):
            inner += block(12, value(name, shape, dtype))
        inner = block(1, node("Loop", ["many", "", "v"], ["w"], body=inner))
    net = Net()
    net.constants["many"], net.constants["v"] = np.array(64), np.zeros(2, "f4")
    net.output("w", 1)
    data = block(7, net.graph() + inner) + block(8, whole(2, 13))
    with pytest.raises(ModelError, match="its loops come to more than 5000 operators"):
        open_network(data, device="reference").run()
    net = Net()
    x, total = net.input("x", (1,)), net.constant(1.0, "f4")
    for _ in range(12):
        wide = net.add("Expand", total, net.constant([1 << 12]))
        total = net.add("ReduceMax", wide, keepdims=0)
    net.output(net.add("Add", x, total), 1)
    with pytest.raises(ModelError, match="elements to compute before it runs"):
        open_network(net.bytes(), device="reference").run(np.zeros(1, "f4"))


def test_transposes_that_cancel_are_none() -> None:
    """Steps between them stay; where elements end elsewhere, so do the transposes."""
    kinds = []
    for seed in range(10):
        case = CASES["turned"](np.random.default_rng(seed))
        program = lower_model(read_model(case.data), [case.inputs[0].shape], "turned")
        kinds.append(tuple(x.kind for x in program.layers if x.kind != "view"))
    assert ("map",) in kinds and any("take" in found for found in kinds)


def test_what_a_concat_alone_reads_is_made_in_its_place() -> None:
    for seed in range(10):
        case = CASES["heads"](np.random.default_rng(seed))
        program = lower_model(read_model(case.data), [case.inputs[0].shape], "heads")
        placing = place_values(program)
        (concat,) = (x for x in program.layers if x.kind == "concat")
        roots = [placing.roots[v] for v in concat.inputs]
        assert roots == [concat.output] * 3 and len(placing.parts) == 3


def test_free_lengths_are_fixed_by_what_comes() -> None:
    net = Net()
    x = net.input("x", (1, None, None, 3))
    shape = net.add("Shape", x)
    rows = net.add("Slice", shape, net.constant([1]), net.constant([2]))
    flat = net.add("Reshape", x, net.add("Concat", rows, net.constant([-1]), axis=0))
    net.output(net.add("Relu", flat), 2)
    for size in ((2, 5), (4, 3)):
        agree(Case(net.bytes(), [np.ones((1, *size, 3), "f4")]), "reference")


def test_what_depends_on_the_data_is_refused() -> None:
    net = Net()
    x, k = net.input("x", (4, 2)), net.input("k", (1,), "int64")
    net.output(net.add("Gather", x, k), 2)
    with pytest.raises(ModelError, match="which elements are gathered depends on the data"):
        open_network(net.bytes(), device="reference").run(np.zeros((4, 2), "f4"), np.array([1]))
