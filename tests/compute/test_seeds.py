"""The snippets of the original guides (buffers, kernels, async, pipelines, Nx bridge), in Python."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

import dala
from dala import compute
from dala.backends.auto import open_device
from dala.backends.webgpu.adapters import find_adapters

pytestmark = pytest.mark.usefixtures("device", "registry")

Pixels = npt.NDArray[np.uint8]
WIDTH, HEIGHT = 64, 48


@pytest.fixture
def rgba_data() -> Pixels:
    rng = np.random.default_rng(7)
    return rng.integers(0, 256, (HEIGHT, WIDTH, 4), np.uint8)


# what the filters mean, written with whole arrays and without dala


def shifted(image: npt.NDArray[np.float64], dx: int, dy: int) -> npt.NDArray[np.float64]:
    rows = np.clip(np.arange(image.shape[0]) + dy, 0, image.shape[0] - 1)
    columns = np.clip(np.arange(image.shape[1]) + dx, 0, image.shape[1] - 1)
    return image[rows][:, columns]


def blurred(image: npt.NDArray[np.float64], radius: int, sigma: float) -> npt.NDArray[np.float64]:
    reach = range(-radius, radius + 1)
    weights = np.exp([-d * d / (2 * sigma * sigma) for d in reach])
    weights /= weights.sum()
    across = sum(shifted(image, d, 0) * w for d, w in zip(reach, weights, strict=True))
    return sum(shifted(across, 0, d) * w for d, w in zip(reach, weights, strict=True))


def sharpened(image: npt.NDArray[np.float64], amount: float) -> npt.NDArray[np.float64]:
    around = sum(shifted(image, dx, dy) for dx, dy in ((-1, 0), (1, 0), (0, -1), (0, 1)))
    result = image + amount * (4 * image - around)
    result[..., 3] = image[..., 3]
    return result


def grey(image: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    result = image.copy()
    result[..., :3] = (image[..., :3] @ [0.299, 0.587, 0.114])[..., None]
    return result


def assert_pixels(buffer: compute.Buffer, expected: npt.NDArray[np.float64]) -> None:
    """Every level is one of the two next to the exact value."""
    difference = np.abs(buffer.read() - np.clip(expected, 0, 1) * 255)
    assert difference.max() <= 1


# -- Quick Start -------------------------------------------------------------------------------


def test_quick_start_of_the_guide(device: str) -> None:
    info = compute.device_info()
    assert isinstance(info["name"], str)
    assert info["gpu"] is open_device(device).is_gpu
    assert info["version"] == compute.version() == dala.__version__

    a = compute.buffer([1.0, 2.0, 3.0], (3,), "f32")
    b = compute.buffer([4.0, 5.0, 6.0], (3,), "f32")
    c = compute.buffer_zeros((3,), "f32")

    compute.add(a, b, c)

    assert compute.read_list(c) == [5.0, 7.0, 9.0]

    compute.free_many([a, b, c])
    assert a.freed
    assert b.freed
    assert c.freed


def test_quick_start_of_the_module() -> None:
    a = compute.buffer([1.0, 2.0, 3.0], (3,), "f32")
    b = compute.buffer([4.0, 5.0, 6.0], (3,), "f32")
    c = compute.buffer([0.0, 0.0, 0.0], (3,), "f32")

    compute.run_kernel("elementwise_add", [a, b], c, {})

    np.testing.assert_array_equal(compute.read(c), np.float32([5.0, 7.0, 9.0]))
    assert compute.read_binary(c) == np.float32([5.0, 7.0, 9.0]).tobytes()

    compute.free(a)
    compute.free(b)
    compute.free(c)


def test_device_info_says_what_is_used_and_why(device: str) -> None:
    info = compute.device_info()
    assert {"name", "gpu", "backend", "version", "reason", "dtypes"} <= set(info)
    assert info["device"] == device
    assert info["backend"] == {"cpu": "llvm", "reference": "numpy", "webgpu": "wgpu"}[device]
    asked = f"dala.use({device!r}) asked for it"
    assert info["reason"] == asked or dala.device("auto").name == device
    assert info["gpu"] <= compute.has_gpu()  # whether there is one, whatever is used
    assert compute.has_gpu() is any(not found.is_software for found in find_adapters())
    assert compute.device_count() == len(dala.devices()) >= 2
    assert compute.supported_dtypes() == ["f32", "f64", "s32", "s64", "u32", "u16", "u8"]


# -- Buffer Management -------------------------------------------------------------------------


def test_buffer_management() -> None:
    assert compute.read_list(compute.buffer([1.0, 2.0, 3.0], (3,), "f32")) == [1.0, 2.0, 3.0]

    zeros = compute.buffer_zeros((256, 256), "f32")
    assert zeros.shape == (256, 256)
    assert not zeros.read().any()

    rgba_binary = np.random.default_rng(1).bytes(640 * 480 * 4)
    buf = compute.buffer_from_binary(rgba_binary, (480, 640, 4), "u8")
    assert compute.shape(buf) == (480, 640, 4)
    assert compute.dtype(buf) == "u8"
    assert compute.size(buf) == 1228800
    assert compute.size(compute.buffer_zeros((640, 480, 4), "u8")) == 1228800

    data = compute.read(buf)
    assert data.shape == (480, 640, 4)
    assert data.dtype == np.uint8
    binary = compute.read_binary(buf)
    assert binary == rgba_binary

    compute.free(buf)
    with pytest.raises(dala.errors.BufferFreedError):
        compute.read(buf)


@pytest.mark.parametrize("dtype", ["f32", "f64", "s32", "s64", "u32", "u16", "u8"])
def test_supported_types(dtype: str) -> None:
    buf = compute.buffer([1, 2, 3], (3,), dtype)
    assert compute.dtype(buf) == dtype
    assert compute.read_list(buf) == [1, 2, 3]


# -- Kernel Execution --------------------------------------------------------------------------


def test_built_in_kernels() -> None:
    a = compute.buffer([1.0, -2.0, 3.0], (3,), "f32")
    b = compute.buffer([4.0, 5.0, -6.0], (3,), "f32")
    output = compute.buffer_zeros((3,), "f32")

    compute.add(a, b, output)
    assert compute.read_list(output) == [5.0, 3.0, -3.0]
    compute.relu(a, output)
    assert compute.read_list(output) == [1.0, 0.0, 3.0]
    compute.multiply(a, b, output)
    assert compute.read_list(output) == [4.0, -10.0, -18.0]
    compute.scale(a, 2.5, output)
    assert compute.read_list(output) == [2.5, -5.0, 7.5]


def test_matmul() -> None:
    list_4 = [1.0, 2.0, 3.0, 4.0]
    a = compute.buffer(list_4, (2, 2), "f32")
    b = compute.buffer(list_4, (2, 2), "f32")
    c = compute.buffer_zeros((2, 2), "f32")
    compute.matmul(a, b, c)
    assert compute.read(c).tolist() == [[7.0, 10.0], [15.0, 22.0]]


def test_kernels_take_parameters(rgba_data: Pixels) -> None:
    a, b = compute.buffer([-2.0, 3.0]), compute.buffer_zeros((2,))
    compute.run_kernel("relu", [a], b, {"slope": 0.1})
    np.testing.assert_allclose(compute.read(b), [-0.2, 3.0], rtol=1e-6)

    image_buf = compute.from_array(rgba_data)
    out_buf = compute.buffer_zeros((HEIGHT, WIDTH, 4), "u8")
    compute.run_kernel("blur", [image_buf], out_buf, {"radius": 3, "sigma": 1.5})
    assert_pixels(out_buf, blurred(rgba_data / 255, 3, 1.5))


# -- Async -------------------------------------------------------------------------------------


@pytest.mark.parametrize("by_id", [False, True])
def test_async_execution(by_id: bool) -> None:
    a = compute.buffer([-1.0, 0.0, 2.0])
    b = compute.buffer_zeros((3,))
    command = compute.submit(
        {"op": "run_kernel", "kernel": "relu", "inputs": [a], "output": b, "params": {}}
    )
    cmd_id = command.id if by_id else command

    assert compute.poll(cmd_id) in ("pending", "completed")
    compute.wait(cmd_id)
    assert compute.poll(cmd_id) == "completed"
    assert compute.read_list(b) == [0.0, 0.0, 2.0]


def test_retrying_later_until_it_is_done() -> None:
    a, b = compute.buffer([-1.0, 4.0]), compute.buffer_zeros((2,))
    cmd_id = compute.submit({"kernel": "relu", "inputs": [a], "output": b}).id
    while compute.poll(cmd_id) == "pending":
        compute.wait(cmd_id, timeout=300)
    assert compute.read_list(b) == [0.0, 4.0]


def test_run_kernel_async() -> None:
    a, b = compute.buffer([4.0, 9.0]), compute.buffer_zeros((2,))
    command = compute.run_kernel_async("sqrt", [a], b, {})
    compute.wait(command)
    assert compute.read_list(b) == [2.0, 3.0]


# -- Pipeline Orchestration --------------------------------------------------------------------


def test_pipeline_of_blur_and_sharpen(rgba_data: Pixels) -> None:
    input_buf = compute.from_array(rgba_data)
    temp_buf = compute.buffer_zeros((HEIGHT, WIDTH, 4), "u8")
    output_buf = compute.buffer_zeros((HEIGHT, WIDTH, 4), "u8")

    pipeline = compute.pipeline()
    compute.pipeline_add(
        compute.pipeline_add(
            pipeline,
            {
                "op": "run_kernel",
                "kernel": "blur",
                "inputs": [input_buf],
                "output": temp_buf,
                "params": {"radius": 3, "sigma": 1.5},
            },
        ),
        {
            "op": "run_kernel",
            "kernel": "sharpen",
            "inputs": [temp_buf],
            "output": output_buf,
            "params": {"amount": 0.5},
        },
    )
    compute.pipeline_run(pipeline)

    assert_pixels(temp_buf, blurred(rgba_data / 255, 3, 1.5))
    assert_pixels(output_buf, sharpened(temp_buf.read() / 255, 0.5))
    compute.free_pipeline(pipeline)


def test_pipeline_of_blur_and_relu() -> None:
    image = np.random.default_rng(3).uniform(-1, 1, (HEIGHT, WIDTH, 4)).astype(np.float32)
    input_buf = compute.from_array(image)
    temp_buf = compute.buffer_zeros(image.shape, "f32")
    output_buf = compute.buffer_zeros(image.shape, "f32")

    pipeline = compute.pipeline()
    pipeline.add(
        {
            "op": "run_kernel",
            "kernel": "blur",
            "inputs": [input_buf],
            "output": temp_buf,
            "params": {"radius": 3},
        }
    ).add(
        {
            "op": "run_kernel",
            "kernel": "relu",
            "inputs": [temp_buf],
            "output": output_buf,
            "params": {},
        }
    )
    compute.pipeline_run(pipeline)

    soft = temp_buf.read()
    assert soft.min() < 0
    np.testing.assert_array_equal(output_buf.read(), np.maximum(soft, 0))


def test_pipeline_of_blur_sharpen_and_grayscale(rgba_data: Pixels) -> None:
    input_buf = compute.from_array(rgba_data)
    blurred_buf = compute.buffer_zeros((HEIGHT, WIDTH, 4), "u8")
    sharpened_buf = compute.buffer_zeros((HEIGHT, WIDTH, 4), "u8")
    output_buf = compute.buffer_zeros((HEIGHT, WIDTH, 4), "u8")

    pipeline = compute.pipeline()
    for kernel, source, target, params in (
        ("blur", input_buf, blurred_buf, {"radius": 3, "sigma": 1.5}),
        ("sharpen", blurred_buf, sharpened_buf, {"amount": 0.5}),
        ("grayscale", sharpened_buf, output_buf, {}),
    ):
        compute.pipeline_add(
            pipeline,
            {
                "op": "run_kernel",
                "kernel": kernel,
                "inputs": [source],
                "output": target,
                "params": params,
            },
        )
    assert pipeline.stage_count == len(pipeline) == len(pipeline.stages) == 3
    compute.pipeline_run(pipeline)

    assert_pixels(blurred_buf, blurred(rgba_data / 255, 3, 1.5))
    assert_pixels(sharpened_buf, sharpened(blurred_buf.read() / 255, 0.5))
    assert_pixels(output_buf, grey(sharpened_buf.read() / 255))


def test_the_end_of_the_inference_pipeline() -> None:
    """preprocess and the model belong to dala.ml; their last stage is a kernel of compute."""
    logits = np.random.default_rng(5).normal(0, 4, (1, 1000)).astype(np.float32)
    logits_buf = compute.from_array(logits)
    probs_buf = compute.buffer_zeros((1, 1000), "f32")
    pipeline = compute.pipeline()
    compute.pipeline_add(
        pipeline,
        {"op": "run_kernel", "kernel": "softmax", "inputs": [logits_buf], "output": probs_buf},
    )
    compute.pipeline_run(pipeline)

    expected = np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum()
    np.testing.assert_allclose(probs_buf.read(), expected, rtol=1e-5, atol=1e-7)


# -- Nx Tensor Bridge --------------------------------------------------------------------------


def test_the_bridge_to_arrays() -> None:
    tensor = np.array([1.0, 2.0, 3.0], np.float32)
    buf = compute.from_array(tensor)
    back = compute.to_array(buf, (3,), "f32")
    np.testing.assert_array_equal(back, tensor)
    assert back.dtype == np.float32


def test_round_trip_with_processing() -> None:
    tensor = np.array([1.0, -2.0, 3.0, -4.0, 5.0], np.float32)
    buf = compute.from_array(tensor)
    output_buf = compute.buffer_zeros((5,), "f32")
    compute.relu(buf, output_buf)
    result = compute.to_array(output_buf, (5,), "f32")
    assert result.tolist() == [1.0, 0.0, 3.0, 0.0, 5.0]


# -- generators, as in "Integration with surfaces", up to the surface ----------------------------


def test_generate_gradient_into_pixels() -> None:
    output_buf = compute.buffer_zeros((480, 640, 4), "u8")
    compute.run_kernel("generate_gradient", [], output_buf, {})
    pixels = compute.read_binary(output_buf)
    assert len(pixels) == 640 * 480 * 4
    image = np.frombuffer(pixels, np.uint8).reshape(480, 640, 4)
    assert image[0, 0].tolist() == [0, 0, 0, 255]
    assert image[-1, -1].tolist() == [255, 255, 255, 255]
    assert (image[:, 0, 0] == 0).all()
    assert (image[:, -1, 0] == 255).all()
    assert (image[0, :, 1] == 0).all()
    assert (image[-1, :, 1] == 255).all()


# -- Custom Kernels ----------------------------------------------------------------------------

MY_FILTER = """
def my_filter(src, strength):
    # the original's body was left out; this one dims the colours
    p = src[0, 0]
    return (p.rgb * (1 - strength)).with_alpha(p.a)
"""


@pytest.mark.parametrize("through", ["kernel", "module"])
def test_custom_kernels(through: str, rgba_data: Pixels) -> None:
    register = compute.kernel.register if through == "kernel" else compute.register
    register("my_filter", MY_FILTER, inputs=1, params=["strength"])
    assert "my_filter" in compute.kernels()

    source = compute.from_array(rgba_data)
    output = compute.buffer_zeros(rgba_data.shape, "u8")
    compute.run_kernel("my_filter", [source], output, {"strength": 0.5})

    expected = rgba_data / 255
    expected[..., :3] *= 0.5
    assert_pixels(output, expected)
    np.testing.assert_array_equal(output.read()[..., 3], rgba_data[..., 3])

    compute.unregister("my_filter")
    with pytest.raises(dala.errors.KernelNotFoundError):
        compute.run_kernel("my_filter", [source], output, {"strength": 0.5})


def test_custom_kernels_on_tensors() -> None:
    compute.register("my_kernel", "def my_kernel(a, factor): return a * factor + 1", inputs=1)
    a, b = compute.buffer([1.0, 2.0]), compute.buffer_zeros((2,))
    compute.run_kernel("my_kernel", [a], b, {"factor": 3.0})
    assert compute.read_list(b) == [4.0, 7.0]


def test_custom_kernels_from_functions() -> None:
    @dala.kernel
    def my_threshold(src, level: float = 0.5):  # type: ignore[no-untyped-def]
        p = src[0, 0]
        bright = where(luma(p) > level, 1.0, 0.0)  # type: ignore[name-defined]  # noqa: F821
        return rgb(bright, bright, bright).with_alpha(p.a)  # type: ignore[name-defined]  # noqa: F821

    source = compute.from_array(np.full((2, 2, 4), 200, np.uint8))
    output = compute.buffer_zeros((2, 2, 4), "u8")
    compute.run_kernel("my_threshold", [source], output, {"level": 0.5})
    assert output.read()[0, 0].tolist() == [255, 255, 255, 200]
    compute.run_kernel(my_threshold, [source], output, {"level": 0.9})
    assert output.read()[0, 0].tolist() == [0, 0, 0, 200]


# -- Performance Tips --------------------------------------------------------------------------


def test_buffers_are_reused_across_frames() -> None:
    frame = compute.buffer_zeros((8, 8, 4), "u8")
    output = compute.buffer_zeros((8, 8, 4), "u8")
    pipeline = compute.pipeline().add({"kernel": "invert", "inputs": [frame], "output": output})
    for value in (0, 10, 200):
        frame.write(np.full((8, 8, 4), value, np.uint8))
        pipeline.run()
        assert output.read()[3, 3].tolist() == [255 - value] * 3 + [value]
