"""Reading ONNX files: all of it exactly, and nothing of a damaged one."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import onnx_files
import pytest
from onnx_files import Net, block, one_layer, small_net, varint, whole

from dala.errors import ModelError, UnknownOperatorError
from dala.ml.layers.lower import lower_model
from dala.ml.network import open_network
from dala.ml.onnx.read import read_model

DAMAGED = 500


def test_what_is_written_is_read() -> None:
    model = read_model(small_net())
    graph = model.graph
    assert (model.opset, model.producer) == (13, "tests")
    assert [str(s) for s in graph.inputs] == ["image: uint8 [1, 16, 16, 3]"]
    assert [s.shape for s in graph.outputs] == [(None, None)]
    assert [n.op for n in graph.nodes][:4] == ["Cast", "Sub", "Mul", "Transpose"]
    conv = next(n for n in graph.nodes if n.op == "Conv")
    assert conv.attributes == {"strides": (2, 2), "auto_pad": "SAME_UPPER"}
    assert graph.constants[conv.inputs[1]].shape == (5, 3, 3, 3)


@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", "i4", "i8", "u1", "i1", "u4", "?"])
def test_every_element_type_is_read(dtype: str) -> None:
    array = np.array([[0, 1, 1], [1, 0, 1]]).astype(dtype)
    net = Net()
    net.output(net.add("Identity", net.constant(array)), 2, array.dtype.name)
    (found,) = read_model(net.bytes()).graph.constants.values()
    assert found.dtype == array.dtype and np.array_equal(found, array)


def test_numbers_in_typed_lists_are_read() -> None:
    """The other way in which tensors may hold their numbers, packed and one by one."""
    floats = np.array([1.5, -2, 3], "f4")
    packed = whole(1, 3) + whole(2, 1) + block(8, "a") + block(4, floats.tobytes())
    longs = whole(1, 2) + whole(2, 7) + block(8, "b") + whole(7, 5) + whole(7, -5)
    halves = whole(1, 1) + whole(2, 10) + block(8, "c") + block(5, varint(0x3C00))
    net = Net()
    net.output(net.add("Identity", "a"), 1)
    graph = net.graph() + block(5, packed) + block(5, longs) + block(5, halves)
    data = block(7, graph) + block(8, whole(2, 13))
    found = read_model(data).graph.constants
    assert np.array_equal(found["a"], floats)
    assert found["b"].tolist() == [5, -5]
    assert found["c"].tolist() == [1.0]


def test_nodes_in_any_order_are_put_in_order() -> None:
    net = Net()
    x = net.input("x", (2,))
    y = net.add("Relu", x)
    net.output(net.add("Neg", y), 1)
    net.nodes.reverse()
    assert [n.op for n in read_model(net.bytes()).graph.nodes] == ["Relu", "Neg"]


def wrong(change: str) -> bytes:
    """Files that are well-formed and wrong."""
    net = Net()
    x = net.input("x", (2, 3))
    extra = b""
    if change == "cycle":
        net.nodes = [onnx_files.node("Neg", ["b"], ["a"]), onnx_files.node("Neg", ["a"], ["b"])]
        net.output("b", 2)
    elif change == "unknown value":
        net.output(net.add("Add", x, "nowhere"), 2)
    elif change == "made twice":
        net.nodes = [onnx_files.node("Neg", ["x"], ["a"]), onnx_files.node("Relu", ["x"], ["a"])]
        net.output("a", 2)
    elif change == "no output":
        net.add("Neg", x)
    elif change == "external":
        outside = (
            whole(1, 2)
            + whole(2, 1)
            + block(8, "w")
            + block(13, block(1, "location"))
            + whole(14, 1)
        )
        net.output(net.add("Neg", x), 2)
        return block(7, net.graph() + block(5, outside)) + block(8, whole(2, 13))
    elif change == "absurd size":
        net.output(net.add("Neg", x), 2)
        large = whole(1, 1 << 40) + whole(2, 1) + block(8, "w") + block(9, b"1234")
        return block(7, net.graph() + block(5, large)) + block(8, whole(2, 13))
    elif change == "wrong count":
        net.output(net.add("Neg", x), 2)
        few = whole(1, 5) + whole(2, 1) + block(8, "w") + block(9, b"1234")
        return block(7, net.graph() + block(5, few)) + block(8, whole(2, 13))
    elif change == "functions":
        net.output(net.add("Neg", x), 2)
        extra = block(25, b"")
    elif change == "opset":
        net.opset = 99
        net.output(net.add("Neg", x), 2)
    elif change == "nested":
        inner = block(1, onnx_files.node("Neg", ["x"], ["i"])) + block(
            12, onnx_files.value("i", (2, 3))
        )
        for _ in range(9):
            inner = block(1, onnx_files.node("If", ["x"], ["i"], then_branch=inner)) + block(
                12, onnx_files.value("i", (2, 3))
            )
        net.nodes = [onnx_files.node("If", ["x"], ["i"], then_branch=inner)]
        net.output("i", 2)
    return net.bytes(extra)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("cycle", "Neg 'Neg_a' waits for its own result: the graph has a cycle"),
        ("unknown value", "reads 'nowhere', which nothing makes"),
        ("made twice", "'a' is made twice"),
        ("no output", "has no outputs"),
        ("external", "tensor 'w': its numbers are in another file; external data is refused"),
        ("absurd size", "an impossible shape"),
        ("wrong count", r"tensor 'w': \[5\] of float32 has 20 bytes, got 4"),
        ("functions", "functions of its own are not supported"),
        ("opset", "operator set 99; 7 to 25 are known"),
        ("nested", "graphs are nested deeper than 4"),
    ],
)
def test_wrong_files_are_refused_and_say_why(change: str, said: str) -> None:
    with pytest.raises(ModelError, match=said.replace("tensor 'w': its", "its")):
        read_model(wrong(change))


def test_all_unknown_operators_are_named_before_anything_runs() -> None:
    net = Net()
    x = net.input("x", (2,))
    y = net.add("Einstein", net.add("Einstein", x))
    net.output(net.add("Curie", net.add("Relu", y)), 1)
    with pytest.raises(UnknownOperatorError, match=r"Curie, Einstein \(2×\)") as caught:
        open_network(net.bytes(), device="reference")
    assert caught.value.operators == ("Curie", "Einstein")


def test_errors_name_file_and_node(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"nothing\.onnx: No such file"):
        open_network(tmp_path / "nothing.onnx")
    path = tmp_path / "short.onnx"
    path.write_bytes(small_net()[:200])
    with pytest.raises(ModelError, match=r"short\.onnx is no ONNX file: .*byte \d+ of the file"):
        open_network(path)
    x = np.zeros((2, 3), "f4")
    data = one_layer("Reshape", {"x": x}, [np.array([4, 4])], rank=2)
    network = open_network(data, device="reference")
    with pytest.raises(
        ModelError, match=r"at Reshape 'Reshape_v0': \(2, 3\) cannot be seen as \(4, 4\)"
    ):
        network.run(x)


def damaged(data: bytes, rng: np.random.Generator) -> bytes:
    kind = rng.integers(0, 4)
    if kind == 0:
        return data[: rng.integers(0, len(data))]
    changed = bytearray(data)
    for _ in range(int(rng.integers(1, 9))):
        place = int(rng.integers(0, len(changed)))
        if kind == 1:
            changed[place] ^= 1 << int(rng.integers(0, 8))
        elif kind == 2:
            changed[place] = int(rng.integers(0, 256))
        else:
            del changed[place : place + int(rng.integers(1, 40))]
    return bytes(changed)


def test_damaged_files_are_refused_or_read_but_do_no_harm() -> None:
    """Truncated, with flipped bits, with pieces missing: a ModelError or a model, in bounded time."""
    data, rng = small_net(8), np.random.default_rng(5)
    refused = 0
    for _ in range(DAMAGED):
        try:
            model = read_model(damaged(data, rng))
            fixed = [tuple(n or 1 for n in s.shape) for s in model.graph.inputs]
            if sum(map(len, fixed)) < 20 and all(np.prod(f) < 1e5 for f in fixed):
                lower_model(model, fixed, "damaged")
        except ModelError:
            refused += 1
    assert refused > DAMAGED // 2


MODELS = os.environ.get("DALA_MODELS", "")


@pytest.mark.skipif(not MODELS, reason="real weights: set DALA_MODELS to their folder")
def test_real_files_are_read() -> None:
    files = sorted(Path(MODELS).glob("*.onnx"))
    assert files
    for file in files:
        model = read_model(file.read_bytes(), file.name)
        total = sum(a.nbytes for a in model.graph.constants.values())
        assert model.graph.nodes and total > 0.5 * file.stat().st_size
