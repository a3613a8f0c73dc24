"""Images of several sizes and planes of frames in one pass: the same bytes as pass by pass."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from scipy.ndimage import correlate1d

import dala
from dala import compute

Spec = tuple[str, dict[str, object], tuple[int, ...]]  # kernel, parameters, shape of its output


def picture(rows: int, columns: int) -> np.ndarray:
    rng = np.random.default_rng(7)
    return rng.integers(0, 256, (rows, columns, 4), dtype=np.uint8)


def run_together(source: np.ndarray, chain: Sequence[Spec]) -> tuple[np.ndarray, int]:
    """The last result of a chain in one pipeline, and in how many passes."""
    here: object = compute.from_array(source)
    pipeline = compute.pipeline()
    for number, (kernel, params, shape) in enumerate(chain):
        make = compute.buffer_zeros if number == len(chain) - 1 else compute.scratch
        output = make(shape, "u8")
        pipeline.add({"kernel": kernel, "inputs": [here], "output": output, "params": params})
        here = output
    pipeline.run()
    assert isinstance(here, compute.Buffer)
    return here.read(), pipeline.explain().count("\npass ")


def run_apart(source: np.ndarray, chain: Sequence[Spec]) -> np.ndarray:
    here = compute.from_array(source)
    for kernel, params, shape in chain:
        output = compute.buffer_zeros(shape, "u8")
        compute.run_kernel(kernel, [here], output, params)
        here = output
    return here.read()


@pytest.mark.parametrize("kind", ["nv12", "yuv420p"])
@pytest.mark.parametrize("size", [(2, 2), (4, 34), (46, 70), (300, 130)], ids=str)
def test_a_frame_is_filtered_in_one_pass(device: str, kind: str, size: tuple[int, int]) -> None:
    rng = np.random.default_rng(7)
    rows, columns = size
    frame = rng.integers(0, 256, (rows * 3 // 2, columns), dtype=np.uint8)
    chain: list[Spec] = [
        (f"{kind}_to_rgba", {}, (rows, columns, 4)),
        ("blur", {"radius": 2}, (rows, columns, 4)),
        ("sharpen", {}, (rows, columns, 4)),
        ("contrast", {"value": 0.2}, (rows, columns, 4)),
        (f"rgba_to_{kind}", {}, frame.shape),
    ]
    got, passes = run_together(frame, chain)
    np.testing.assert_array_equal(got, run_apart(frame, chain))
    assert passes == 1


def test_a_frame_in_place(device: str) -> None:
    rng = np.random.default_rng(7)
    frame = rng.integers(0, 256, (48, 40), dtype=np.uint8)
    chain: list[Spec] = [
        ("nv12_to_rgba", {}, (32, 40, 4)),
        ("invert", {}, (32, 40, 4)),
        ("rgba_to_nv12", {}, (48, 40)),
    ]
    want = run_apart(frame, chain)
    buffer, colors = compute.from_array(frame), compute.scratch((32, 40, 4), "u8")
    pipeline = compute.pipeline()
    pipeline.add({"kernel": "nv12_to_rgba", "inputs": [buffer], "output": colors})
    pipeline.add({"kernel": "invert", "inputs": [colors], "output": colors})
    pipeline.add({"kernel": "rgba_to_nv12", "inputs": [colors], "output": buffer})
    pipeline.run()
    np.testing.assert_array_equal(buffer.read(), want)


def test_a_frame_written_and_read_again(device: str) -> None:
    """By the same planes, by others, and as a whole."""
    source = picture(32, 48)
    chain: list[Spec] = [
        ("rgba_to_nv12", {}, (48, 48)),
        ("nv12_to_rgba", {}, (32, 48, 4)),
    ]
    np.testing.assert_array_equal(run_together(source, chain)[0], run_apart(source, chain))
    crossed: list[Spec] = [("rgba_to_nv12", {}, (48, 48)), ("yuv420p_to_rgba", {}, (32, 48, 4))]
    np.testing.assert_array_equal(run_together(source, crossed)[0], run_apart(source, crossed))
    whole: list[Spec] = [
        ("rgba_to_yuv420p", {}, (48, 48)),
        ("invert", {}, (48, 48)),
        ("yuv420p_to_rgba", {}, (32, 48, 4)),
    ]
    np.testing.assert_array_equal(run_together(source, whole)[0], run_apart(source, whole))


@pytest.mark.parametrize("size", [(2, 2), (6, 18), (90, 134)], ids=str)
def test_smaller_and_larger_in_one_pass(device: str, size: tuple[int, int]) -> None:
    rows, columns = size
    half, full = (rows // 2, columns // 2, 4), (rows, columns, 4)
    chain: list[Spec] = [
        ("brightness", {"value": 0.1}, full),
        ("blur", {"radius": 1}, full),
        ("resize", {}, half),
        ("sharpen", {}, half),
        ("resize", {}, full),
        ("grayscale", {}, full),
    ]
    source = picture(rows, columns)
    got, passes = run_together(source, chain)
    np.testing.assert_array_equal(got, run_apart(source, chain))
    assert passes == 1


def test_one_source_at_two_sizes(device: str) -> None:
    source = picture(24, 40)
    a = compute.from_array(source)
    large, small = compute.buffer_zeros((24, 40, 4), "u8"), compute.buffer_zeros((12, 20, 4), "u8")
    pipeline = compute.pipeline()
    pipeline.add({"kernel": "sharpen", "inputs": [a], "output": large})
    pipeline.add({"kernel": "resize", "inputs": [a], "output": small})
    pipeline.run()
    np.testing.assert_array_equal(large.read(), run_apart(source, [("sharpen", {}, (24, 40, 4))]))
    np.testing.assert_array_equal(small.read(), run_apart(source, [("resize", {}, (12, 20, 4))]))


def exact_blur(image: np.ndarray, radius: int, sigma: float) -> np.ndarray:
    d = np.arange(-radius, radius + 1)
    weights = np.exp(-0.5 * d * d / sigma**2)
    weights /= weights.sum()
    down = correlate1d(image.astype(float), weights, axis=0, mode="nearest")
    return correlate1d(down, weights, axis=1, mode="nearest")


@pytest.mark.parametrize("radius", [26, 40, 41, 75, 100])
@pytest.mark.parametrize("dtype", ["u8", "f32"])
def test_wide_blur_is_near_the_window(device: str, radius: int, dtype: str) -> None:
    """A pattern with everything: flat, ramps, edges at all borders, noise. Stated in kernels/blur.py."""
    rng = np.random.default_rng(7)
    y, x = np.mgrid[0:181, 0:230]
    image = np.dstack([(x // 40 + y // 30) % 2 * 255, x, 255 - y, rng.integers(0, 256, x.shape)])
    image = image.astype(np.uint8) if dtype == "u8" else (image / 255).astype(np.float32)
    out = compute.buffer_zeros(image.shape, dtype)
    compute.run_kernel("blur", [compute.from_array(image)], out, {"radius": radius})
    got = out.read() * (1.0 if dtype == "u8" else 255.0)
    levels = image * (1.0 if dtype == "u8" else 255.0)
    assert np.abs(got - exact_blur(levels, radius, radius / 2)).max() <= 0.5 + 1.5


def test_wide_blur_with_a_narrow_bell_is_exact() -> None:
    """Taps where the bell has ended are left out; a small image is not made smaller."""
    rng = np.random.default_rng(7)
    for size, sigma in (((120, 140), 3.0), ((40, 50), 40.0)):
        image = rng.random((*size, 4), dtype=np.float32)
        with dala.use("cpu"):
            out = compute.buffer_zeros(image.shape, "f32")
            params = {"radius": 60, "sigma": sigma}
            compute.run_kernel("blur", [compute.from_array(image)], out, params)
        np.testing.assert_allclose(out.read(), exact_blur(image, 60, sigma), atol=2e-3)


def test_grayscale_in_place_is_one_pass() -> None:
    source = picture(20, 33)
    with dala.use("cpu"):
        a = compute.from_array(source)
        pipeline = compute.pipeline().add({"kernel": "grayscale", "inputs": [a], "output": a})
        pipeline.run()
        assert pipeline.explain().count("\npass ") == 1
        np.testing.assert_array_equal(
            a.read(), run_apart(source, [("grayscale", {}, source.shape)])
        )
