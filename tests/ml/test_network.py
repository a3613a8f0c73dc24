"""Networks on the CPU and in general: what they take, their threads, their neighbours."""

from __future__ import annotations

import sys
import threading

import numpy as np
import pytest
from onnx_files import Net, small_net

import dala
from dala.errors import (
    ArgumentError,
    DTypeError,
    ModelError,
    ParameterError,
    ShapeError,
    UnsupportedError,
)
from dala.ml.network import open_network
from dala.ml.run import cpu

IMAGE = np.random.default_rng(3).integers(0, 256, (1, 16, 16, 3)).astype("u1")


def two_inputs() -> bytes:
    net = Net()
    a, b = net.input("a", (2, None)), net.input("b", (2, 1))
    net.output(net.add("Sub", a, b), 2)
    net.output(net.add("Mul", a, b), 2)
    return net.bytes()


@pytest.mark.parametrize("device", ["reference", "cpu"])
def test_inputs_in_order_or_by_name(device: str) -> None:
    a, b = np.arange(6, dtype="f4").reshape(2, 3), np.ones((2, 1), "f4")
    with open_network(two_inputs(), device=device) as network:
        assert [s.name for s in network.inputs] == ["a", "b"]
        assert [s.shape for s in network.inputs] == [(2, None), (2, 1)]
        for given in ((a, b), ({"b": b, "a": a},)):
            difference, product = network.run(*given)
            assert np.array_equal(difference, a - 1) and np.array_equal(product, a)
        moved = network.run(np.asfortranarray(a), b)[0]
        assert np.array_equal(moved, a - 1)


def test_wrong_inputs_are_refused() -> None:
    a, b = np.zeros((2, 3), "f4"), np.zeros((2, 1), "f4")
    network = open_network(two_inputs(), device="reference")
    with pytest.raises(ModelError, match=r"expected 2 inputs \(a, b\), got 1"):
        network.run(a)
    with pytest.raises(ModelError, match="there is no input 'c'"):
        network.run({"a": a, "c": b})
    with pytest.raises(ModelError, match="input 'b' is missing"):
        network.run({"a": a})
    with pytest.raises(DTypeError, match="a is float32, got float64; convert it with astype"):
        network.run(a.astype("f8"), b)
    with pytest.raises(ShapeError, match=r"expected b: float32 \[2, 1\], got an array of \(1, 2\)"):
        network.run(a, b.T)
    with pytest.raises(ArgumentError, match="a is an array, got list"):
        network.run([[1.0]], b)  # type: ignore[arg-type]
    with pytest.raises(
        ParameterError, match="precision is 'f32' or 'f16', got 'f61'; did you mean"
    ):
        open_network(two_inputs(), precision="f61")
    with pytest.raises(UnsupportedError, match="computes in f32"):
        open_network(two_inputs(), device="cpu", precision="f16")


def test_the_default_device_is_taken() -> None:
    with dala.use("reference"):
        assert open_network(two_inputs()).device.name == "reference"
    network = open_network(two_inputs(), device=dala.device("cpu"))
    assert network.device.name == "cpu" and "ONNX Runtime" in network.explain()


def test_threads_are_dalas_own_number_and_do_not_spin(monkeypatch: pytest.MonkeyPatch) -> None:
    ort = cpu.import_onnxruntime()
    made = []

    class Session(ort.InferenceSession):  # type: ignore[misc]
        def __init__(self, data: bytes, sess_options: object, providers: list[str]) -> None:
            spins = sess_options.get_session_config_entry("session.intra_op.allow_spinning")  # type: ignore[attr-defined]
            made.append((sess_options.intra_op_num_threads, spins))  # type: ignore[attr-defined]
            super().__init__(data, sess_options=sess_options, providers=providers)

    monkeypatch.setattr(ort, "InferenceSession", Session)
    with dala.use("cpu", threads=1):
        network = open_network(small_net(), device="cpu")
        before = network.run(IMAGE)[0]
        network.run(IMAGE)
    with dala.use("cpu", threads=2):
        assert np.allclose(network.run(IMAGE)[0], before, atol=1e-6)
    assert made == [(1, "0"), (2, "0")]


def test_what_onnx_runtime_refuses_is_our_error() -> None:
    net = Net()
    x = net.input("x", (2,))
    net.output(net.add("Nonsense", x), 1)
    with pytest.raises(ModelError, match=r"ONNX Runtime refuses: .*Nonsense"):
        open_network(net.bytes(), device="cpu")
    net = Net()
    x, k = net.input("x", (None, 2)), net.input("k", (1,), "int64")
    net.output(net.add("Gather", x, k), 2)
    network = open_network(net.bytes(), device="cpu")
    with pytest.raises(ModelError, match="ONNX Runtime refuses"):
        network.run(np.zeros((3, 2), "f4"), np.array([7]))


def test_without_onnx_runtime_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(dala.errors.DeviceError, match=r"pip install 'dala-gpu\[ml\]'"):
        open_network(small_net(), device="cpu")
    open_network(small_net(), device="reference").run(IMAGE)


@pytest.mark.parametrize("device", ["reference", "cpu", "webgpu"])
def test_several_threads_may_run_one_network(device: str) -> None:
    """Each gets the result of its own input."""
    rng = np.random.default_rng(0)
    images = [rng.integers(0, 256, (1, 16, 16, 3)).astype("u1") for _ in range(4)]
    with open_network(small_net(), device=device) as network:
        alone = [network.run(image)[0] for image in images]
        found: dict[int, list[float]] = {}

        def run(number: int) -> None:
            for _ in range(5):
                made = network.run(images[number])[0]
                found[number] = [*found.get(number, []), float(np.abs(made - alone[number]).max())]

        threads = [threading.Thread(target=run, args=(k,)) for k in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(300)
        assert sorted(found) == [0, 1, 2, 3]
        assert all(len(v) == 5 and max(v) < 1e-6 for v in found.values())


def test_explain_names_layers_fusions_and_reasons() -> None:
    text = open_network(small_net(), device="reference").explain()
    assert text.splitlines()[0] == "this model on reference: 23 operators, 11 layers"
    assert "pointwise 1×8×8×5 → 1×8×8×10 float32, relu" in text
    assert "fused: mul, add (by a constant for each channel, so in the weights)" in text
    assert "(element by element, so in the epilogue)" in text
    assert "fused: cast:float32, sub, mul (read by nothing else, so made where it is read)" in text
