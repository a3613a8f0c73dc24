"""Look-up tables: every form they come in, against NumPy in float64 and against OpenCV."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dala import compute
from dala.errors import ParameterError, ShapeError
from dala.kernels.lutfile import parse_cube

pytestmark = pytest.mark.usefixtures("device")

IMAGE = np.random.default_rng(8).integers(0, 256, (21, 37, 4), dtype=np.uint8)


def run(image: np.ndarray, lut: object) -> np.ndarray:
    out = compute.buffer_zeros(image.shape, "u8" if image.dtype == np.uint8 else "f32")
    compute.run_kernel("lut", [compute.from_array(image)], out, {"lut": lut})
    return out.read()


def identity(n: int) -> np.ndarray:
    edge = np.linspace(0, 1, n)
    return np.stack(np.meshgrid(edge, edge, edge, indexing="ij"), -1)


def tetrahedral(image: np.ndarray, cube: np.ndarray) -> np.ndarray:
    """Case by case, as in the literature (Kasson et al. 1995)."""
    n = len(cube)
    place = np.clip(image[..., :3].astype(np.float64), 0, 1) * (n - 1)
    low = np.minimum(place.astype(int), n - 2)
    r, g, b = np.moveaxis(place - low, -1, 0)

    def node(i: int, j: int, k: int) -> np.ndarray:
        return cube[low[..., 0] + i, low[..., 1] + j, low[..., 2] + k]

    cases = [
        ((r >= g) & (g >= b), (r, (1, 0, 0)), (g, (1, 1, 0)), b),
        ((r >= b) & (b > g), (r, (1, 0, 0)), (b, (1, 0, 1)), g),
        ((b > r) & (r >= g), (b, (0, 0, 1)), (r, (1, 0, 1)), g),
        ((g > r) & (r >= b), (g, (0, 1, 0)), (r, (1, 1, 0)), b),
        ((g >= b) & (b > r), (g, (0, 1, 0)), (b, (0, 1, 1)), r),
        ((b > g) & (g > r), (b, (0, 0, 1)), (g, (0, 1, 1)), r),
    ]
    out = np.full((*r.shape, 3), np.nan)
    for here, (first, one), (second, two), third in cases:
        weights = [1 - first, first - second, second - third, third]
        nodes = [node(0, 0, 0), node(*one), node(*two), node(1, 1, 1)]
        mixed = sum(w[..., None] * v for w, v in zip(weights, nodes, strict=True))
        out[here] = mixed[here]
    return out


def assert_levels(got: np.ndarray, want: np.ndarray) -> None:
    assert np.abs(got - np.clip(want * 255, 0, 255)).max() <= 0.5 + 1e-3


# -- the arithmetic ----------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 3, 16, 17, 33, 64])
def test_an_identity_changes_nothing(n: int) -> None:
    rng = np.random.default_rng(8)
    levels = np.arange(256, dtype=np.uint8)
    edges = np.stack([levels, levels[::-1], rng.permutation(levels), levels], -1)[None]
    for image in (IMAGE, edges):
        np.testing.assert_array_equal(run(image, identity(n)), image)
        np.testing.assert_array_equal(run(image, np.linspace(0, 1, n)), image)
        np.testing.assert_array_equal(run(image, np.linspace(0, 1, n)[:, None].repeat(3, 1)), image)


@pytest.mark.parametrize("shape", [(1, 1), (1, 33), (19, 3), (40, 61)], ids=str)
@pytest.mark.parametrize("n", [2, 5, 33])
@pytest.mark.parametrize("channels", [3, 4])
def test_a_cube(shape: tuple[int, int], n: int, channels: int) -> None:
    rng = np.random.default_rng(8)
    cube = rng.uniform(-0.1, 1.1, (n, n, n, channels)).astype(np.float32)
    image = rng.integers(0, 256, (*shape, 4), dtype=np.uint8)
    got = run(image, cube)
    assert_levels(got[..., :3], tetrahedral(image / 255, cube[..., :3]))
    np.testing.assert_array_equal(got[..., 3], image[..., 3])
    exact = rng.uniform(-0.2, 1.2, (*shape, 4)).astype(np.float32)
    exact[0, 0] = [0, 1, 0.5, 7]
    got = run(exact, cube)
    np.testing.assert_allclose(got[..., :3], tetrahedral(exact, cube[..., :3]), atol=2e-5 * n)
    np.testing.assert_array_equal(got[..., 3], exact[..., 3])


def test_on_the_borders_between_tetrahedra() -> None:
    rng = np.random.default_rng(8)
    grid = identity(9).reshape(9, 81, 3)
    image = np.concatenate([grid, np.ones((9, 81, 1))], -1).astype(np.float32)
    cube = rng.random((5, 5, 5, 3))
    np.testing.assert_allclose(run(image, cube)[..., :3], tetrahedral(image, cube), atol=1e-5)


def test_greys_stay_on_the_diagonal() -> None:
    rng = np.random.default_rng(8)
    cube = rng.random((4, 4, 4, 3))
    cube[range(4), range(4), range(4)] = np.linspace(0, 1, 4)[:, None] ** 2
    grey = np.repeat(np.arange(256, dtype=np.uint8)[None, :, None], 4, 2)
    got = run(grey, cube)
    assert (got[..., 0] == got[..., 1]).all() and (got[..., 0] == got[..., 2]).all()


def test_a_curve_for_each_channel() -> None:
    rng = np.random.default_rng(8)
    curves = rng.random((7, 3))
    got = run(IMAGE, curves)
    at = np.linspace(0, 1, 7)
    for k in range(3):
        assert_levels(got[..., k], np.interp(IMAGE[..., k] / 255, at, curves[:, k]))
    np.testing.assert_array_equal(got[..., 3], IMAGE[..., 3])
    np.testing.assert_array_equal(run(IMAGE, curves.tolist()), got)


def test_bytes_as_opencv() -> None:
    rng = np.random.default_rng(8)
    cv2 = pytest.importorskip("cv2")
    curves = rng.integers(0, 256, (256, 3), dtype=np.uint8)
    want = cv2.LUT(np.ascontiguousarray(IMAGE[..., :3]), curves[None])
    np.testing.assert_array_equal(run(IMAGE, curves)[..., :3], want)
    want = cv2.LUT(np.ascontiguousarray(IMAGE[..., :3]), curves[:, 0])
    np.testing.assert_array_equal(run(IMAGE, curves[:, 0])[..., :3], want)


def test_levels_of_8_and_16_bits() -> None:
    rng = np.random.default_rng(8)
    cube = rng.integers(0, 256, (4, 4, 4, 3), dtype=np.uint8)
    np.testing.assert_array_equal(run(IMAGE, cube), run(IMAGE, cube / 255))
    wide = cube.astype(np.uint16) * 257
    np.testing.assert_array_equal(run(IMAGE, wide), run(IMAGE, cube))


def test_numbers_that_are_none() -> None:
    image = np.array([[[np.nan, np.inf, -np.inf, 0.5]]], np.float32)
    assert run(image, identity(3))[0, 0].tolist() == [0, 1, 0, 0.5]


def test_grey_pictures() -> None:
    grey = IMAGE[..., 0]
    out = compute.buffer_zeros((21, 37, 4), "u8")
    compute.run_kernel("lut", [compute.from_array(grey)], out, {"lut": identity(5)})
    np.testing.assert_array_equal(out.read()[..., 1], grey)
    with pytest.raises(ShapeError, match=r"^lut: colours do not fit into an output of \(21, 37\)"):
        run(grey, identity(5))


# -- files -------------------------------------------------------------------------------------


def cube_text(cube: np.ndarray, *header: str) -> str:
    rows = [" ".join(f"{v:.9f}" for v in c) for c in cube.transpose(2, 1, 0, 3).reshape(-1, 3)]
    return "\n".join([*header, f"LUT_3D_SIZE {len(cube)}", *rows, ""])


def test_a_cube_file(tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    cube = rng.random((5, 5, 5, 3))
    path = tmp_path / "look.CUBE"
    text = cube_text(cube, '# a comment', 'TITLE "a # look"', "", "DOMAIN_MIN 0 0 0",
                     "DOMAIN_MAX 1.0 1.0 1.0")  # fmt: skip
    path.write_text("\ufeff" + text.replace("\n", "\r\n"), encoding="utf-8", newline="")
    want = run(IMAGE, cube)
    np.testing.assert_array_equal(run(IMAGE, path), want)
    np.testing.assert_array_equal(run(IMAGE, str(path)), want)


def test_a_cube_file_of_curves(tmp_path: Path) -> None:
    path = tmp_path / "curve.cube"
    path.write_text("LUT_1D_SIZE 3\n0 1 0\n\n0.5 0.5 .25 # middle\n1 0 1e0\n")
    at = [0, 0.5, 1]
    got = run(IMAGE, path)
    for k, curve in enumerate(([0, 0.5, 1], [1, 0.5, 0], [0, 0.25, 1])):
        assert_levels(got[..., k], np.interp(IMAGE[..., k] / 255, at, curve))


def test_a_domain(tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    cube, path = rng.random((4, 4, 4, 3)), tmp_path / "wide.cube"
    path.write_text(cube_text(cube, "DOMAIN_MIN -1 0.25 0", "DOMAIN_MAX 1 0.5 2"))
    image = rng.uniform(-1.5, 2.5, (9, 31, 4)).astype(np.float32)
    moved = (image[..., :3].astype(np.float64) - [-1, 0.25, 0]) / [2, 0.25, 2]
    np.testing.assert_allclose(run(image, path)[..., :3], tetrahedral(moved, cube), atol=1e-4)
    path = tmp_path / "wide_curve.cube"
    path.write_text("LUT_1D_SIZE 2\nLUT_1D_INPUT_RANGE -1 3\n0 0 0\n1 2 3\n")
    part = np.clip((image[..., :3].astype(np.float64) + 1) / 4, 0, 1)
    np.testing.assert_allclose(run(image, path)[..., :3], part * [1, 2, 3], atol=1e-5)


def test_pictures_of_a_cube(tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    pillow = pytest.importorskip("PIL.Image")
    cube = rng.integers(0, 256, (16, 16, 16, 3), dtype=np.uint8)
    want = run(IMAGE, cube)
    strip = cube.transpose(1, 2, 0, 3).reshape(16, 256, 3)  # green, blue, red
    hald = cube.transpose(2, 1, 0, 3).reshape(64, 64, 3)  # blue, green, red
    for name, picture in (("strip", strip), ("hald", hald)):
        path = tmp_path / f"{name}.png"
        pillow.fromarray(picture).save(path)
        np.testing.assert_array_equal(run(IMAGE, path), want)
        np.testing.assert_array_equal(run(IMAGE, picture), want)
    pillow.fromarray(strip).convert("RGBA").save(tmp_path / "alpha.png")
    np.testing.assert_array_equal(run(IMAGE, tmp_path / "alpha.png"), want)


def test_a_file_that_changed_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "look.cube"
    path.write_text("LUT_1D_SIZE 2\n0 0 0\n1 1 1\n")
    np.testing.assert_array_equal(run(IMAGE, path), IMAGE)
    path.write_text("LUT_1D_SIZE 2\n1 1 1\n0.0 0.0 0.0\n")
    np.testing.assert_array_equal(run(IMAGE, path)[..., :3], 255 - IMAGE[..., :3])


# -- what is refused ---------------------------------------------------------------------------


def refuse(lut: object, message: str) -> None:
    with pytest.raises(ParameterError) as caught:
        run(IMAGE, lut)
    assert str(caught.value) == message


SHAPE = "expected (n, n, n, 3), (n, 3) or (n,), got "


@pytest.mark.parametrize(
    ("lut", "message"),
    [
        (None, "lut: lut must be an array or a path, got None"),
        (True, "lut: lut must be an array or a path, got True"),
        ({}, "lut: lut must be an array or a path, got {}"),
        (b"x.cube", "lut: lut must be an array or a path, got b'x.cube'"),
        (3.0, f"lut: lut: {SHAPE}()"),
        (np.zeros((2, 2)), f"lut: lut: {SHAPE}(2, 2)"),
        (np.zeros((2, 2, 3, 3)), f"lut: lut: {SHAPE}(2, 2, 3, 3)"),
        (np.zeros((2, 2, 2, 2)), f"lut: lut: {SHAPE}(2, 2, 2, 2)"),
        (np.zeros((1, 1, 1, 3)), "lut: lut: a cube has 2..129 nodes, got 1"),
        (np.zeros((130, 130, 130, 3), np.uint8), "lut: lut: a cube has 2..129 nodes, got 130"),
        (np.zeros((1, 3)), "lut: lut: a curve has 2..65536 nodes, got 1"),
        (np.zeros(65_537), "lut: lut: a curve has 2..65536 nodes, got 65537"),
        ([[0, 0, 0], [1, 1, 1]],
         "lut: lut: expected floats, uint8 or uint16, got int64; convert it first"),
        ([[0.0, 0.0, 0.0], [1.0]], "lut: lut: its rows have different lengths"),
        (np.array([0, np.nan]), "lut: lut: every value must be a finite number"),
        (np.zeros((16, 255, 3)),
         "lut: lut: a picture of 255 × 16 is no table; expected a strip such as 256 × 16 (n² × n), "
         "or a Hald square such as 64 × 64 (n³ × n³)"),
        ("look.txt", "lut: lut: cannot read look.txt: No such file or directory"),
        ("no/look.cube", "lut: lut: cannot read no/look.cube: No such file or directory"),
    ],
    ids=lambda v: str(v)[:20],
)  # fmt: skip
def test_refused_values(lut: Any, message: str) -> None:
    refuse(lut, message)


def test_a_missing_table() -> None:
    out = compute.buffer_zeros(IMAGE.shape, "u8")
    with pytest.raises(ParameterError) as caught:
        compute.run_kernel("lut", [compute.from_array(IMAGE)], out)
    assert str(caught.value) == "lut: parameter 'lut' is missing; give an array or a path"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 0: the file ends after 0 of some colours"),
        ("0 0 0\n", "line 1: a colour before LUT_1D_SIZE or LUT_3D_SIZE"),
        ("LUT_3D_SIZE 2\n0 0 0\n", "line 2: the file ends after 1 of 8 colours"),
        ("LUT_1D_SIZE 2\n" + "0 0 0\n" * 3, "line 4: a colour more than the 2 that the size says"),
        ("LUT_1D_SIZE 2\n0 0\n", "line 2: expected 3 numbers, got '0 0'"),
        ("LUT_1D_SIZE 2\n0 0 0 0\n", "line 2: expected 3 numbers, got '0 0 0 0'"),
        ("LUT_1D_SIZE 2\n0 0 x\n", "line 2: expected 3 numbers, got '0 0 x'"),
        ("LUT_1D_SIZE 2\n0 0 nan\n", "line 2: expected 3 numbers, got '0 0 nan'"),
        ("LUT_1D_SIZE 2\n0 1e999 0\n", "line 2: expected 3 numbers, got '0 1e999 0'"),
        ("LUT_1D_SIZE 1\n", "line 1: a curve has 2..65536 nodes, got 1"),
        ("LUT_3D_SIZE 999999999\n", "line 1: a cube has 2..129 nodes, got 999999999"),
        ("LUT_3D_SIZE 9999999999\n", "line 1: LUT_3D_SIZE needs one whole number, got '9999999999'"),
        ("LUT_3D_SIZE\n", "line 1: LUT_3D_SIZE needs one whole number, got ''"),
        ("LUT_3D_SIZE 2.0\n", "line 1: LUT_3D_SIZE needs one whole number, got '2.0'"),
        ("LUT_3D_SIZE ²\n", "line 1: LUT_3D_SIZE needs one whole number, got '²'"),
        ("LUT_1D_SIZE 2\nLUT_3D_SIZE 2\n", "line 2: a second size; a file holds one table"),
        ("LUT_1D_SIZE 2\n0 0 0\nDOMAIN_MIN 0 0 0\n", "line 3: 'DOMAIN_MIN' after the first colour"),
        ("LUT_IN_VIDEO_RANGE\n", "line 1: 'LUT_IN_VIDEO_RANGE' is not a keyword of .cube files"),
        ("DOMAIN_MAX 1 1\n", "line 1: expected 3 numbers, got '1 1'"),
        ("LUT_1D_SIZE 2\nDOMAIN_MAX 1 0 1\n0 0 0\n1 1 1\n",
         "the domain (0.0, 0.0, 0.0) .. (1.0, 0.0, 1.0) is empty"),
        ("#" * 1001 + "\n", "line 1: it has 1002 characters; at most 1000 fit"),
    ],
)  # fmt: skip
def test_malformed_cube_files(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "bad.cube"
    path.write_text(text, encoding="utf-8")
    refuse(path, f"lut: lut: bad.cube: {message}")


def test_malformed_pictures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pillow = pytest.importorskip("PIL.Image")
    noise, jpeg, huge = (tmp_path / n for n in ("noise.png", "jpeg.png", "huge.png"))
    noise.write_bytes(b"\x89PNG\r\n\x1a\nand so on")
    with pytest.raises(ParameterError, match=r"^lut: lut: noise.png: this is no PNG picture "):
        run(IMAGE, noise)
    pillow.fromarray(IMAGE[..., :3]).save(jpeg, format="JPEG")
    with pytest.raises(ParameterError, match=r"^lut: lut: jpeg.png: this is no PNG picture "):
        run(IMAGE, jpeg)
    pillow.new("1", (3000, 3000)).save(huge)
    refuse(huge, "lut: lut: huge.png: a picture of 3000 × 3000 is too large")
    good = tmp_path / "good.png"
    pillow.fromarray(np.zeros((16, 256, 3), np.uint8)).save(good)
    whole = good.read_bytes()
    good.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ParameterError, match=r"^lut: lut: .*good.png"):
        run(IMAGE, good)
    (tmp_path / "look.txt").write_text("x")
    refuse(tmp_path / "look.txt", "lut: lut: expected a .cube or .png file, got 'look.txt'")
    folder = tmp_path / "folder.cube"
    folder.mkdir()
    refuse(folder, "lut: lut: folder.cube: expected a file of at most 256 MiB")
    monkeypatch.setitem(sys.modules, "PIL", None)
    good.write_bytes(whole)
    refuse(good, "lut: lut: good.png: reading a .png needs Pillow; pip install 'dala-gpu[image]'")


WORDS = st.sampled_from(
    [
        "LUT_1D_SIZE",
        "LUT_3D_SIZE",
        "DOMAIN_MIN",
        "TITLE",
        "2",
        "0",
        "-1e3",
        "0.5",
        "#",
        '"',
        "nan",
        "٣",
    ]
)


@given(st.lists(st.lists(WORDS | st.text(max_size=3), max_size=4), max_size=12))
def test_random_text_gives_a_table_or_a_value_error(lines: list[list[str]]) -> None:
    with contextlib.suppress(ValueError):
        assert len(parse_cube([" ".join(words) for words in lines]).nodes) >= 2
