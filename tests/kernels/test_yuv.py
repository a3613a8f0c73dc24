"""YUV frames against the formulas in float64 and against OpenCV."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dala import compute
from dala.errors import DTypeError, ParameterError, ShapeError

pytestmark = pytest.mark.usefixtures("device")

WEIGHTS = {"bt601": (0.299, 0.114), "bt709": (0.2126, 0.0722), "bt2020": (0.2627, 0.0593)}
SIZES = [
    (2, 2),
    (2, 34),
    (6, 2),
    (10, 14),
    (34, 70),
    (48, 64),
]  # a quarter frame may end within a row
KINDS = ["yuv420p", "nv12"]


def run(kernel: str, source: np.ndarray, shape: tuple[int, ...], **params: Any) -> np.ndarray:
    out = compute.buffer_zeros(shape, "u8")
    compute.run_kernel(kernel, [compute.from_array(source)], out, params)
    return out.read()


def split(frame: np.ndarray, kind: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rows, columns = frame.shape[0] // 3 * 2, frame.shape[1]
    rest, half = frame[rows:].reshape(-1), (rows // 2, columns // 2)
    if kind == "nv12":
        return frame[:rows], rest[::2].reshape(half), rest[1::2].reshape(half)
    u, v = np.split(rest, 2)
    return frame[:rows], u.reshape(half), v.reshape(half)


def reach(full: bool) -> tuple[float, float, float]:
    return (0, 255, 255) if full else (16, 219, 224)


def to_rgb(frame: np.ndarray, kind: str, matrix: str, full: bool) -> np.ndarray:
    """The colours of a frame in levels, not yet clamped."""
    kr, kb = WEIGHTS[matrix]
    black, luma, chroma = reach(full)
    y, u, v = (p.astype(np.float64) for p in split(frame, kind))
    y = (y - black) / luma
    u, v = ((p.repeat(2, 0).repeat(2, 1) - 128) / chroma for p in (u, v))
    r, b = y + 2 * (1 - kr) * v, y + 2 * (1 - kb) * u
    return np.dstack([r, (y - kr * r - kb * b) / (1 - kr - kb), b]) * 255


def to_planes(rgb: np.ndarray, matrix: str, full: bool) -> list[np.ndarray]:
    kr, kb = WEIGHTS[matrix]
    black, luma, chroma = reach(full)
    rgb = rgb.astype(np.float64) / 255
    rows, columns, _ = rgb.shape
    means = rgb.reshape(rows // 2, 2, columns // 2, 2, 3).mean((1, 3))
    weights = np.array([kr, 1 - kr - kb, kb])
    y = means @ weights
    u, v = (means[..., 2] - y) / (2 - 2 * kb), (means[..., 0] - y) / (2 - 2 * kr)
    return [rgb @ weights * luma + black, u * chroma + 128, v * chroma + 128]


def assert_levels(got: np.ndarray, want: np.ndarray) -> None:
    """Rounded to one of the nearest levels; integer weights on the CPU are off by a little."""
    assert np.abs(got - np.clip(want, 0, 255)).max() <= 0.5 + 0.06


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("matrix", WEIGHTS)
@pytest.mark.parametrize("full", [False, True], ids=["limited", "full"])
def test_formulas(size: tuple[int, int], kind: str, matrix: str, full: bool) -> None:
    rng = np.random.default_rng(3)
    rows, columns = size
    params = {"matrix": matrix, "range": "full" if full else "limited"}
    frame = rng.integers(0, 256, (rows * 3 // 2, columns), dtype=np.uint8)
    picture = run(f"{kind}_to_rgba", frame, (rows, columns, 4), **params)
    assert_levels(picture[..., :3], to_rgb(frame, kind, matrix, full))
    assert (picture[..., 3] == 255).all()
    rgba = rng.integers(0, 256, (rows, columns, 4), dtype=np.uint8)
    made = run(f"rgba_to_{kind}", rgba, frame.shape, **params)
    for got, want in zip(split(made, kind), to_planes(rgba[..., :3], matrix, full), strict=True):
        assert_levels(got, want)


def smooth(rows: int, columns: int) -> np.ndarray:
    """A picture with all kinds of colours and no noise, one colour to each block of 2 × 2."""
    y, x = np.mgrid[0:rows, 0:columns] // 2
    waves = [127.5 + 127.5 * np.sin(x / a + y / b) for a, b in ((9, 14), (-21, 6), (5, 33))]
    return np.dstack([*waves, np.full_like(waves[0], 255)]).astype(np.uint8)


@pytest.mark.parametrize("kind", KINDS)
def test_as_opencv(kind: str) -> None:
    cv2 = pytest.importorskip("cv2")
    rgba = smooth(72, 98)
    planar = cv2.cvtColor(rgba, cv2.COLOR_RGBA2YUV_I420)  # takes the chroma of one pixel in four
    y, u, v = split(planar, "yuv420p")
    pairs = np.dstack([u, v]).reshape(-1, y.shape[1])
    frame = planar if kind == "yuv420p" else np.concatenate([y, pairs])
    code = cv2.COLOR_YUV2RGBA_I420 if kind == "yuv420p" else cv2.COLOR_YUV2RGBA_NV12
    want = cv2.cvtColor(frame, code)
    got = run(f"{kind}_to_rgba", frame, want.shape, matrix="bt601")
    assert np.abs(got.astype(int) - want).max() <= 2
    made = run(f"rgba_to_{kind}", rgba, frame.shape, matrix="bt601")
    assert np.abs(made.astype(int) - frame).max() <= 2


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("matrix", WEIGHTS)
@pytest.mark.parametrize(("range_", "most"), [("limited", 4), ("full", 3)])
def test_round_trip(kind: str, matrix: str, range_: str, most: int) -> None:
    rgba = smooth(40, 62)
    params = {"matrix": matrix, "range": range_}
    frame = run(f"rgba_to_{kind}", rgba, (60, 62), **params)
    back = run(f"{kind}_to_rgba", frame, rgba.shape, **params)
    off = np.abs(back.astype(int) - rgba)
    assert off.max() <= most
    assert off.mean() < 0.8


def test_known_colours() -> None:
    red = np.full((2, 2, 4), [255, 0, 0, 9], np.uint8)
    assert run("rgba_to_nv12", red, (3, 2)).tolist() == [[63, 63], [63, 63], [102, 240]]
    assert run("rgba_to_nv12", red, (3, 2), matrix="bt601").tolist()[::2] == [[81, 81], [90, 240]]
    white = np.full((2, 2, 4), 255, np.uint8)
    assert run("rgba_to_yuv420p", white, (3, 2)).tolist() == [[235, 235], [235, 235], [128, 128]]
    grey = run("nv12_to_rgba", np.full((3, 2), 128, np.uint8), (2, 2, 4), range="full")
    assert grey[0, 0].tolist() == [128, 128, 128, 255]


def test_into_floats_and_inside_a_fused_pass() -> None:
    rng = np.random.default_rng(3)
    frame = rng.integers(0, 256, (24, 30), dtype=np.uint8)
    source, exact = compute.from_array(frame), compute.buffer_zeros((16, 30, 4))
    compute.run_kernel("nv12_to_rgba", [source], exact)
    want = to_rgb(frame, "nv12", "bt709", False)
    np.testing.assert_allclose(exact.read()[..., :3] * 255, want, atol=1e-3)

    scratch, out = compute.scratch((16, 30, 4)), compute.buffer_zeros((16, 30, 4), "u8")
    p = compute.pipeline()
    p.add({"kernel": "nv12_to_rgba", "inputs": [source], "output": scratch})
    p.add({"kernel": "blur", "inputs": [scratch], "output": out, "params": {"radius": 2}})
    p.run()
    assert "→ 1 pass" in p.explain()
    picture, apart = (
        compute.buffer_zeros((16, 30, 4), "u8"),
        compute.buffer_zeros((16, 30, 4), "u8"),
    )
    compute.run_kernel("nv12_to_rgba", [source], picture)
    compute.run_kernel("blur", [picture], apart, {"radius": 2})
    np.testing.assert_array_equal(out.read(), apart.read())


@pytest.mark.parametrize("kind", KINDS)
def test_refusals(kind: str) -> None:
    def refuse(
        error: type[Exception], message: str, kernel: str, *buffers: Any, **params: Any
    ) -> None:
        source, target = (compute.buffer_zeros(*b) for b in buffers)
        with pytest.raises(error) as caught:
            compute.run_kernel(kernel, [source], target, params)
        assert str(caught.value) == f"{kernel}: {message}"

    up, down = f"{kind}_to_rgba", f"rgba_to_{kind}"
    frame = "of (H * 3 // 2, W) with even H and W, got"
    for shape in ((7, 4), (6, 5), (1, 2), (6, 4, 4)):
        wanted = f"expected an input {frame} {shape}"
        refuse(ShapeError, wanted, up, (shape, "u8"), ((4, 4, 4), "u8"))
    refuse(
        ShapeError, f"expected an output {frame} (7, 4)", down, ((4, 4, 4), "u8"), ((7, 4), "u8")
    )
    refuse(ShapeError, "expected an output of (4, 4, 4), got (6, 4, 4)", up,
           ((6, 4), "u8"), ((6, 4, 4), "u8"))  # fmt: skip
    refuse(ShapeError, "expected an output of (4, 4, 4), got (4, 4)", up,
           ((6, 4), "u8"), ((4, 4), "u8"))  # fmt: skip
    refuse(ShapeError, "expected an output of (6, 4), got (9, 4)", down,
           ((4, 4, 4), "u8"), ((9, 4), "u8"))  # fmt: skip
    for shape in ((5, 4, 4), (4, 5, 4)):
        wanted = f"expected an even height and width, got {shape}"
        refuse(ShapeError, wanted, down, (shape, "u8"), ((6, 4), "u8"))
    refuse(
        DTypeError,
        "expected an input of u8 for 8 bits, got f32",
        up,
        ((6, 4), "f32"),
        ((4, 4, 4), "u8"),
    )
    refuse(
        DTypeError,
        "expected an output of u8 for 8 bits, got f32",
        down,
        ((4, 4, 4), "u8"),
        ((6, 4), "f32"),
    )
    refuse(ParameterError, "matrix must be one of 'bt601', 'bt709', 'bt2020', got 'bt470'", up,
           ((6, 4), "u8"), ((4, 4, 4), "u8"), matrix="bt470")  # fmt: skip
    refuse(ParameterError, "range must be one of 'limited', 'full', got 'tv'", down,
           ((4, 4, 4), "u8"), ((6, 4), "u8"), range="tv")  # fmt: skip
