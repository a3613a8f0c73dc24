"""Parameters that are whole arrays: how they are given, kept, exchanged and refused."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dala
from dala import compute
from dala.compute.default import default_engine
from dala.errors import BufferFreedError, KernelError, ParameterError, ShapeError
from dala.language import tables
from dala.language.parameter import Param
from dala.language.tables import Table, load_table
from dala.language.values import Image, Tensor, Value, Vec
from dala.language.vocabulary import mix

pytestmark = pytest.mark.usefixtures("device", "registry")

IMAGE = np.random.default_rng(2).random((5, 9, 4), dtype=np.float32)


ARRAY, OPTIONAL = dala.array_param(help="One pixel."), dala.array_param(None)


def tint(src: Image, color: Image = ARRAY, amount: float = 1.0) -> Vec:
    p = src[0, 0]
    return (p.rgb * color.at(0, 0).rgb * amount).with_alpha(p.a)


def run(kernel: Any, *inputs: np.ndarray, **params: object) -> np.ndarray:
    out = compute.buffer_zeros(inputs[0].shape)
    compute.run_kernel(kernel, [compute.from_array(i) for i in inputs], out, params)
    return out.read()


def tinted(color: Any, amount: float = 1.0) -> np.ndarray:
    want = IMAGE.copy()
    want[..., :3] *= np.asarray(color, np.float32)[:3] * np.float32(amount)
    return want


@pytest.fixture
def uploads(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, ...]]:
    """The shape of everything that is copied to the device."""
    device = default_engine().device
    seen: list[tuple[int, ...]] = []
    upload = device.upload
    monkeypatch.setattr(device, "upload", lambda s, a: (seen.append(a.shape), upload(s, a))[1])
    return seen


# -- how they are given ------------------------------------------------------------------------


def test_declaration() -> None:
    kernel = dala.kernel(tint)
    assert kernel.inputs == 1
    assert [p.name for p in kernel.params] == ["color", "amount"]
    assert kernel.params[0] == Param("color", "array", help="One pixel.")
    assert kernel.domain == "image"


@pytest.mark.parametrize(
    "color",
    [
        [[[0.5, 1.0, 0.25]]],
        [[[0.5, 1.0, 0.25, 0.0]]],
        np.array([[[0.5, 1.0, 0.25]]]),
        np.array([[[0.5, 1.0, 0.25]]], np.float16),
        np.array([[[0.5, 1.0, 0.25]]], ">f4"),
        np.array([[[[0.5, 1.0, 0.25]]]], np.float32)[0],
        np.full((3, 2, 6), [0.5, 9, 1.0, 9, 0.25, 9])[..., ::2],
    ],
    ids=["list", "four", "f64", "f16", "big-endian", "view", "strided"],
)
def test_arrays_and_lists(color: Any) -> None:
    np.testing.assert_allclose(
        run(dala.kernel(tint), IMAGE, color=color), tinted([0.5, 1.0, 0.25]), rtol=1e-6
    )


def test_bytes_are_levels_and_greys_are_colours() -> None:
    kernel = dala.kernel(tint)
    half = np.float32(128) * np.float32(1 / 255)
    for color in (np.array([[128]], np.uint8), np.array([128], np.uint8), [[float(half)]]):
        np.testing.assert_allclose(run(kernel, IMAGE, color=color), tinted([half] * 3), rtol=1e-6)


def test_buffers_and_other_kinds_of_arrays() -> None:
    kernel = dala.kernel(tint)
    color = compute.buffer([[[0.5, 1.0, 0.25]]])
    np.testing.assert_allclose(run(kernel, IMAGE, color=color), tinted([0.5, 1.0, 0.25]), rtol=1e-6)
    color.free()
    with pytest.raises(BufferFreedError):
        run(kernel, IMAGE, color=color)


def test_a_loader_gives_the_picture_and_a_word(tmp_path: Path) -> None:
    def load(given: Any) -> Any:
        if isinstance(given, Path):
            return np.array([[[float(given.read_text())] * 3]]), "file"
        return given.reshape(1, -1, 3), "array"

    declared = dala.array_param(load=load)

    @dala.kernel
    def tell(src: Image, table: Image = declared) -> Vec:
        scale = {"file": 0.5, "array": 1.0}.get(table.kind, 0.0)
        return (table.at(table.width - 1, 0).rgb * scale).with_alpha(src[0, 0].a)

    path = tmp_path / "number.txt"
    path.write_text("0.75")
    assert run(tell, IMAGE, table=[[9.0, 9.0, 9.0], [0.1, 0.2, 0.3]])[0, 0, 1] == np.float32(0.2)
    assert run(tell, IMAGE, table=path)[0, 0, 1] == 0.375
    assert run(tell, IMAGE, table=str(path))[0, 0, 1] == 0.375


def test_two_arrays_optional_inputs_and_numbers_between() -> None:
    @dala.kernel
    def mixture(
        src: Image,
        other: Image | None = None,
        a: Image = ARRAY,
        t: float = 0.25,
        b: Image | None = OPTIONAL,
    ) -> Value:
        p = src[0, 0] if other is None else other[0, 0]
        light = p * a.at(0, 0).r
        return light if b is None else mix(light, b.at(0, 0), t)

    assert (mixture.inputs, mixture.optional_inputs) == (2, 1)
    other = IMAGE[::-1].copy()
    np.testing.assert_allclose(run(mixture, IMAGE, a=[0.5]), IMAGE * 0.5, rtol=1e-6)
    np.testing.assert_allclose(run(mixture, IMAGE, other, a=[0.5], b=None), other * 0.5, rtol=1e-6)
    got = run(mixture, IMAGE, other, a=[0.5], b=[[[1.0, 0.0, 0.0, 1.0]]], t=0.5)
    np.testing.assert_allclose(got, other * 0.25 + [0.5, 0, 0, 0.5], rtol=1e-5)


def test_inside_another_kernel() -> None:
    inner = dala.kernel(tint)

    @dala.kernel
    def outer(src: Image, shade: Image = ARRAY) -> Vec:
        p = inner(src, color=shade)
        return p.rgb.with_alpha(1.0)

    np.testing.assert_allclose(
        run(outer, IMAGE, shade=[0.5])[..., :3], tinted([0.5] * 3)[..., :3], rtol=1e-6
    )
    with pytest.raises(KernelError, match="inside a kernel color takes an image: an input or an"):

        @dala.kernel
        def wrong(src: Image) -> Value:
            return inner(src, color=[0.5])


def test_text_kernels_declare_them_apart() -> None:
    kernel = compute.register(
        "first",
        "def first(src, table: Image):\n    return table.at(0, 0)",
        params=[Param("table", "array")],
    )
    assert kernel.inputs == 1
    assert (run("first", IMAGE, table=[0.5])[..., 0] == 0.5).all()


# -- how they are kept -------------------------------------------------------------------------


def test_the_same_content_is_uploaded_once(uploads: list[tuple[int, ...]]) -> None:
    kernel, source = dala.kernel(tint), compute.from_array(IMAGE)
    out = compute.buffer_zeros(IMAGE.shape)
    color = np.random.default_rng(4).random((3, 7, 4))
    uploads.clear()
    for given in (color, color, color.copy(), color.tolist()):
        compute.run_kernel(kernel, [source], out, {"color": given})
    assert uploads == [(3, 7, 4)]
    compute.run_kernel(kernel, [source], out, {"color": color.astype(np.float32)})
    assert uploads == [(3, 7, 4)] * 2


def test_an_array_that_changed_in_place_is_another_one() -> None:
    kernel, color = dala.kernel(tint), np.ones((1, 1, 4))
    np.testing.assert_array_equal(run(kernel, IMAGE, color=color), IMAGE)
    color[:] = 0.5
    np.testing.assert_allclose(run(kernel, IMAGE, color=color), tinted([0.5] * 3), rtol=1e-6)


def test_the_copy_goes_with_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "_recent", type(tables._recent)())
    monkeypatch.setattr(tables, "REMEMBERED", 2)
    engine = default_engine()
    kept = [load_table(None, np.full((2, 2), float(i))) for i in range(3)]
    copies = [weakref.ref(engine.hold(t)) for t in kept]
    assert engine.hold(kept[0]) is copies[0]()
    assert len(tables._recent) == 2
    del kept
    gc.collect()
    assert [c() is None for c in copies] == [True, False, False]
    monkeypatch.setattr(tables, "REMEMBERED_BYTES", 20)
    load_table(None, np.zeros((2, 2)) + 0.5)
    assert len(tables._recent) == 1  # the newest stays however large


def test_a_pipeline_keeps_its_own(monkeypatch: pytest.MonkeyPatch, uploads: list) -> None:
    monkeypatch.setattr(tables, "_recent", type(tables._recent)())
    monkeypatch.setattr(tables, "REMEMBERED", 1)
    source, out = compute.from_array(IMAGE), compute.buffer_zeros(IMAGE.shape)
    spec = {"kernel": dala.kernel(tint), "inputs": [source], "output": out}
    p = compute.pipeline().add({**spec, "params": {"color": [0.5]}})
    uploads.clear()
    p.run()
    load_table(None, [0.125])  # pushes the other out
    gc.collect()
    p.run()
    p.set_params(0, amount=2.0).run()
    assert uploads == [(1, 1, 4)]
    np.testing.assert_allclose(out.read(), tinted([0.5] * 3, 2.0), rtol=1e-6)


# -- in pipelines ------------------------------------------------------------------------------


def test_set_params() -> None:
    source, out = compute.from_array(IMAGE), compute.buffer_zeros(IMAGE.shape)
    kernel = dala.kernel(tint)
    p = compute.pipeline().add(
        {"kernel": kernel, "inputs": [source], "output": out, "params": {"color": [0.5]}}
    )
    for color, amount in (([0.5], 1.0), ([0.25], 1.0), ([0.25], 3.0), ([0.5], 3.0)):
        p.set_params(0, color=color, amount=amount).run()
        np.testing.assert_allclose(out.read(), tinted(color * 3, amount), rtol=1e-6)
    p.set_params(0, color=np.full((7, 3, 4), 0.125), amount=1).run()  # another size
    np.testing.assert_allclose(out.read(), tinted([0.125] * 3), rtol=1e-6)
    with pytest.raises(ParameterError, match=r"^tint: color must be an array, got 'x'$"):
        p.set_params(0, color="x")
    p.run()
    np.testing.assert_allclose(out.read(), tinted([0.125] * 3), rtol=1e-6)


def test_specs_come_back() -> None:
    source, out = compute.from_array(IMAGE), compute.buffer_zeros(IMAGE.shape)
    spec = {"kernel": dala.kernel(tint), "inputs": [source], "output": out}
    p = compute.pipeline().add({**spec, "params": {"color": [0.5]}})
    (stage,) = p.stages
    assert stage["inputs"] == [source]
    assert repr(stage["params"]["color"]) == "<dala table (1, 1, 4) of float64 (1,)>"
    compute.pipeline().add(stage).run()
    np.testing.assert_allclose(out.read(), tinted([0.5] * 3), rtol=1e-6)


def test_fused_with_others_and_on_scratch() -> None:
    kernel = dala.kernel(tint)
    levels = (IMAGE * 255).astype(np.uint8)
    source, out = compute.from_array(levels), compute.buffer_zeros(IMAGE.shape, "u8")
    between = [compute.scratch(IMAGE.shape) for _ in range(2)]
    steps = [("invert", {}), (kernel, {"color": [[0.5, 0.7]]}), ("blur", {"radius": 1})]
    p, inputs = compute.pipeline(), [source, *between]
    for (name, params), a, b in zip(steps, inputs, [*between, out], strict=True):
        p.add({"kernel": name, "inputs": [a], "output": b, "params": params})
    p.run()
    assert "3 stages → 1 pass" in p.explain()
    buffer, apart = source, compute.buffer_zeros(IMAGE.shape, "u8")
    for name, params in steps:
        apart = compute.buffer_zeros(IMAGE.shape, "u8")
        compute.run_kernel(name, [buffer], apart, params)
        buffer = apart
    np.testing.assert_array_equal(out.read(), apart.read())


def test_in_place_and_asynchronously() -> None:
    kernel, b = dala.kernel(tint), compute.from_array(IMAGE)
    commands = [compute.run_kernel_async(kernel, [b], b, {"color": [0.5]}) for _ in range(4)]
    for command in commands:
        command.wait()
    np.testing.assert_allclose(b.read(), tinted([0.5**4] * 3), rtol=1e-6)


# -- what is refused ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("color", "message"),
    [
        (None, "color must be an array, got None"),
        ("a.png", "color must be an array, got 'a.png'"),
        (Path("a.png"), "color must be an array, got PosixPath('a.png')"),
        (object, "color must be an array, got <class 'object'>"),
        (1j, "color must be an array, got 1j"),
        ([[1, 2]], "color: expected floats, uint8 or uint16, got int64; convert it first"),
        (np.zeros((1, 1), np.int16),
         "color: expected floats, uint8 or uint16, got int16; convert it first"),
        ([[1.0], [1.0, 2.0]], "color: its rows have different lengths"),
        ([], "color: expected (rows, columns, 4), (rows, columns, 3), (rows, columns) or (columns,), "
             "got (0,)"),
        (np.zeros((1, 1, 2)),
         "color: expected (rows, columns, 4), (rows, columns, 3), (rows, columns) or (columns,), "
         "got (1, 1, 2)"),
        (np.zeros((1, 1, 1, 4)),
         "color: expected (rows, columns, 4), (rows, columns, 3), (rows, columns) or (columns,), "
         "got (1, 1, 1, 4)"),
    ],
    ids=lambda v: str(v)[:20],
)  # fmt: skip
def test_refused_values(color: Any, message: str) -> None:
    with pytest.raises(ParameterError) as caught:
        run(dala.kernel(tint), IMAGE, color=color)
    assert str(caught.value) == f"tint: {message}"


def test_refused_declarations() -> None:
    with pytest.raises(ParameterError, match=r"^n: an array is a run-time value and its default"):
        Param("n", "array", static=True)
    with pytest.raises(ParameterError, match=r"^n: an array is a run-time value and its default"):
        Param("n", "array", np.zeros(3))  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match=r"^n: only an array has a loader, got float$"):
        Param("n", load=lambda given: given)
    with pytest.raises(KernelError, match="table is an array parameter; only image kernels have"):

        @dala.kernel
        def wrong(a: Tensor, table: Image = ARRAY) -> Value:
            return a + 1


def test_read_in_place_it_must_have_the_size_of_the_output() -> None:
    @dala.kernel
    def weigh(src: Image, weights: Image = ARRAY) -> Value:
        return src[0, 0] * weights[0, 0].r

    weights = np.random.default_rng(1).random((5, 9))
    np.testing.assert_allclose(
        run(weigh, IMAGE, weights=weights), IMAGE * weights[..., None].astype(np.float32), rtol=1e-6
    )
    with pytest.raises(ShapeError) as caught:
        run(weigh, IMAGE, weights=weights.T)
    assert str(caught.value) == (
        "weigh: weights is (9, 5, 4) but the output is (5, 9, 4); give an array of that size, or read "
        "it with weights.at(column, row)"
    )


def test_a_table_cannot_be_changed() -> None:
    given = np.ones((2, 2, 4), np.float32)
    table = Table(given)
    assert not np.shares_memory(table.array, given)
    with pytest.raises(ValueError, match="read-only"):
        table.array[0] = 0
