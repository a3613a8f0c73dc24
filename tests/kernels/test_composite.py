"""Blending, keying and masks against independent definitions (float64, premultiplied alpha)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from pictures import apply, unit

from dala import compute
from dala.errors import ParameterError, ShapeError

SHAPES = [(1, 1), (1, 7), (13, 17), (40, 61)]
LUMA = np.array([0.299, 0.587, 0.114])
GREEN = np.array([0, 177, 64]) / 255
Meaning = Callable[[np.ndarray, np.ndarray], np.ndarray]


def picture(shape: tuple[int, int], dtype: str, seed: int = 0, alpha: object = None) -> np.ndarray:
    rng = np.random.default_rng(seed)
    image = rng.random((*shape, 4))
    if alpha is not None:
        image[..., 3] = alpha
    return np.rint(image * 255).astype(np.uint8) if dtype == "u8" else image.astype(np.float32)


def assert_close(got: np.ndarray, want: np.ndarray) -> None:
    if got.dtype == np.float32:
        np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-5)
    else:
        assert np.abs(got - np.clip(want * 255, 0, 255)).max() <= 0.5 + 2e-3


# --- blend ----------------------------------------------------------------------------------------


def hard_light(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.where(b <= 0.5, 2 * a * b, 1 - 2 * (1 - a) * (1 - b))


def soft_light(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    curve = np.where(a <= 0.25, ((16 * a - 12) * a + 4) * a, np.sqrt(a))
    dark = a - (1 - 2 * b) * a * (1 - a)
    return np.where(b <= 0.5, dark, a + (2 * b - 1) * (curve - a))


MODES: dict[str, Meaning] = {
    "over": lambda a, b: b,
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: np.maximum(a - b, 0),
    "multiply": lambda a, b: a * b,
    "screen": lambda a, b: 1 - (1 - a) * (1 - b),
    "overlay": lambda a, b: hard_light(b, a),
    "darken": np.minimum,
    "lighten": np.maximum,
    "difference": lambda a, b: np.abs(a - b),
    "soft_light": soft_light,
    "hard_light": hard_light,
}


def composited(base: np.ndarray, top: np.ndarray, opacity: float, mode: Meaning) -> np.ndarray:
    """W3C "Compositing and Blending Level 1": blend, then source-over, premultiplied."""
    a, b = base[..., 3:], top[..., 3:] * opacity
    colour = (1 - a) * top[..., :3] + a * mode(base[..., :3], top[..., :3])
    alpha = b + a * (1 - b)
    seen = b * colour + (1 - b) * a * base[..., :3]
    return np.concatenate([seen / np.where(alpha > 0, alpha, 1), alpha], -1)


def test_every_mode_is_tested() -> None:
    (mode,) = (p for p in compute.find_kernel("blend").params if p.name == "mode")
    assert set(mode.choices) == set(MODES)


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", ["u8", "f32"])
@pytest.mark.parametrize("opacity", [0.5, 1.0])
@pytest.mark.parametrize("mode", MODES)
def test_blend(mode: str, opacity: float, dtype: str, shape: tuple[int, int]) -> None:
    base, top = picture(shape, dtype, 1), picture(shape, dtype, 2)
    got = apply("blend", base, top, mode=mode, alpha=opacity)
    want = composited(unit(base), unit(top), opacity, MODES[mode])
    assert_close(got[want[..., 3] > 0], want[want[..., 3] > 0])
    opaque = picture(shape, dtype, 3, alpha=1), picture(shape, dtype, 4, alpha=1)
    a, b = unit(opaque[0]), unit(opaque[1])
    mixed = a[..., :3] * (1 - opacity) + MODES[mode](a[..., :3], b[..., :3]) * opacity
    got = apply("blend", *opaque, mode=mode, alpha=opacity)
    assert_close(got[..., :3], mixed)
    np.testing.assert_array_equal(got[..., 3], opaque[0][..., 3])


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("dtype", ["u8", "f32"])
@pytest.mark.parametrize("mode", MODES)
def test_a_top_that_is_not_seen_changes_nothing(mode: str, dtype: str) -> None:
    base, top = picture((13, 17), dtype, 1), picture((13, 17), dtype, 2)
    base[0, :5, 3] = 0  # the colour of a transparent pixel is kept too
    np.testing.assert_array_equal(apply("blend", base, top, mode=mode, alpha=0), base)
    top[..., 3] = 0
    np.testing.assert_array_equal(apply("blend", base, top, mode=mode, alpha=1), base)


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("mode", MODES)
def test_on_nothing_the_top_shows_as_it_is(mode: str) -> None:
    base, top = picture((13, 17), "u8", 1, alpha=0), picture((13, 17), "u8", 2)
    got = apply("blend", base, top, mode=mode, alpha=1)
    seen = top[..., 3] > 0
    np.testing.assert_array_equal(got[seen], top[seen])
    assert (got[..., 3] == top[..., 3]).all()


@pytest.mark.usefixtures("device")
def test_grey_images_blend() -> None:
    base, top = picture((13, 17), "u8", 1)[..., 0].copy(), picture((13, 17), "u8", 2)[..., 0].copy()
    got = apply("blend", base, top, mode="multiply", alpha=1)
    assert np.abs(got - base.astype(float) * top / 255).max() <= 0.5 + 1e-3
    colour = picture((13, 17), "u8", 3, alpha=1)
    assert_close(apply("blend", colour, top)[..., 1], (unit(colour)[..., 1] + unit(top)) / 2)


@pytest.mark.usefixtures("device")
def test_blend_of_values_outside_stays_finite() -> None:
    base = np.array([[[-1.0, 2.0, 0.25, 1.0]]], np.float32)
    top = np.array([[[2.0, -1.0, 0.75, 1.0]]], np.float32)
    for mode in MODES:
        assert np.isfinite(apply("blend", base, top, mode=mode)).all(), mode


@pytest.mark.usefixtures("device")
def test_blend_as_opencv_does_it() -> None:
    cv2 = pytest.importorskip("cv2")
    base, top = picture((40, 61), "u8", 1, alpha=1), picture((40, 61), "u8", 2, alpha=1)
    for mode, alpha, want in (
        ("over", 0.3, cv2.addWeighted(base, 0.7, top, 0.3, 0)),
        ("difference", 1, cv2.absdiff(base, top)),
        ("subtract", 1, cv2.subtract(base, top)),
        ("add", 1, cv2.add(base, top)),
        ("multiply", 1, cv2.multiply(base, top, scale=1 / 255)),
    ):
        got = apply("blend", base, top, mode=mode, alpha=alpha)[..., :3]
        assert np.abs(got.astype(int) - want[..., :3]).max() <= 1, mode


# --- background_replace ---------------------------------------------------------------------------


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", ["u8", "f32"])
def test_background_replace(dtype: str, shape: tuple[int, int]) -> None:
    image, background = picture(shape, dtype, 1), picture(shape, dtype, 2)
    want = composited(unit(background), unit(image), 1, MODES["over"])
    got = apply("background_replace", image, background)
    assert_close(got[want[..., 3] > 0], want[want[..., 3] > 0])

    grey = picture(shape, dtype, 3)[..., 0].copy()
    opaque, scene = picture(shape, dtype, 4, alpha=1), picture(shape, dtype, 5, alpha=1)
    m = unit(grey)[..., None]
    want = unit(opaque) * m + unit(scene) * (1 - m)
    assert_close(apply("background_replace", opaque, grey, scene), want)
    as_colour = np.dstack([grey] * 3 + [scene[..., 3]])
    np.testing.assert_array_equal(
        apply("background_replace", opaque, as_colour, scene),
        apply("background_replace", opaque, grey, scene),
    )


@pytest.mark.usefixtures("device")
def test_a_mask_of_black_and_white_cuts() -> None:
    image, scene = picture((13, 17), "u8", 1, alpha=1), picture((13, 17), "u8", 2, alpha=1)
    mask = np.where(np.arange(17) < 9, 255, 0).astype(np.uint8)[None].repeat(13, 0)
    got = apply("background_replace", image, mask, scene)
    np.testing.assert_array_equal(got, np.where(mask[..., None] > 0, image, scene))


@pytest.mark.usefixtures("device")
def test_the_alphas_of_mask_and_image_count_too() -> None:
    image, mask, scene = (picture((13, 17), "f32", seed) for seed in (1, 2, 3))
    covered = unit(image)
    covered[..., 3] *= unit(mask)[..., 0] * unit(mask)[..., 3]
    want = composited(unit(scene), covered, 1, MODES["over"])
    assert_close(apply("background_replace", image, mask, scene), want)


@pytest.mark.usefixtures("device")
def test_one_image_is_too_few() -> None:
    with pytest.raises(ShapeError, match="background_replace: expected 2 to 3 inputs, got 1"):
        apply("background_replace", picture((2, 2), "u8"))


# --- chroma_key -----------------------------------------------------------------------------------


def chroma(c: np.ndarray) -> np.ndarray:
    y = c @ LUMA
    return np.stack([(c[..., 2] - y) / 1.772, (c[..., 0] - y) / 1.402], -1)


def keyed(image: np.ndarray, color: np.ndarray, threshold: float, softness: float) -> np.ndarray:
    c, key = image[..., :3], chroma(color)
    distance = np.linalg.norm(chroma(c) - key, axis=-1) / max(np.linalg.norm(key), 0.05) / 2
    t = np.clip((distance - threshold) / softness, 0, 1)
    first, *others = np.argsort(-color)
    lead = color[first] - color[others].max()
    trust = min(lead / 0.25, 1)
    excess = np.maximum(c[..., first] - c[..., others].max(-1), 0)
    share = np.minimum(excess / lead, 1) * trust if lead else excess * 0
    clean = c - share[..., None] * (color - color @ LUMA)
    return np.concatenate([clean, image[..., 3:] * (t * t * (3 - 2 * t))[..., None]], -1)


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", ["u8", "f32"])
@pytest.mark.parametrize(
    ("color", "threshold", "softness"),
    [((0, 177, 64), 0.3, 0.1), ((20, 60, 230), 0.2, 0.5), ((128, 128, 128), 0.4, 0.3),
     ((250, 10, 200), 0.4, 0.2)],
)  # fmt: skip
def test_chroma_key(
    color: tuple[int, int, int], threshold: float, softness: float, dtype: str,
    shape: tuple[int, int],
) -> None:  # fmt: skip
    source = picture(shape, dtype, 1)
    got = apply("chroma_key", source, color=color, threshold=threshold, softness=softness)
    want = keyed(unit(source), np.array(color) / 255, threshold, softness)
    assert_close(got, want)


def green_screen(shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A disc of greys and skin before an unevenly lit, noisy screen: composite, coverage, disc."""
    rng = np.random.default_rng(3)
    rows, columns = np.mgrid[: shape[0], : shape[1]]
    radius = np.hypot(rows - shape[0] / 2, columns - shape[1] / 2)
    coverage = np.clip(shape[0] / 3 - radius + 0.5, 0, 1)[..., None]
    shade = np.linspace(0.05, 1, shape[1])[None, :, None]
    tone = np.where((rows // 9 % 2)[..., None] == 0, np.ones(3), np.array([1.0, 0.75, 0.62]))
    disc = shade * tone
    light = 0.85 + 0.3 * rows[..., None] / shape[0]
    screen = GREEN * light + rng.normal(0, 0.01, (*shape, 3))
    image = np.dstack([coverage * disc + (1 - coverage) * screen, np.ones(shape)])
    return image, coverage[..., 0], disc


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("dtype", ["u8", "f32"])
def test_a_green_screen_goes_without_a_fringe(dtype: str) -> None:
    image, coverage, disc = green_screen((90, 120))
    source = image.astype(np.float32)
    if dtype == "u8":
        source = np.rint(np.clip(image, 0, 1) * 255).astype(np.uint8)
    got = unit(apply("chroma_key", source))
    alpha, colour = got[..., 3], got[..., :3]
    assert (alpha[coverage == 0] == 0).all()
    assert (alpha[coverage == 1] == 1).all()
    edge = (coverage > 0) & (coverage < 1)
    assert (alpha[edge & (coverage < 0.3)] == 0).all()
    assert (alpha[edge & (coverage > 0.9)] > 0.99).all()
    seen = alpha > 0
    others = np.maximum(colour[..., 0], colour[..., 2])
    assert (colour[..., 1] - others)[seen].max() <= 1.01 / 255  # no green anywhere
    inside = coverage == 1
    np.testing.assert_allclose(
        colour[inside], disc[inside], atol=1.01 / 255
    )  # nothing else changed
    luma = colour[edge & seen] @ LUMA
    np.testing.assert_allclose(luma, image[edge & seen][:, :3] @ LUMA, atol=2 / 255)


def test_a_hard_edge_and_no_edge(device: str) -> None:
    source = picture((13, 17), "u8", 1, alpha=1)
    hard = apply("chroma_key", source, softness=0)[..., 3]
    assert set(np.unique(hard)) <= {0, 255}
    key = np.array([[[0, 177, 64, 200], [90, 90, 90, 200]]], np.uint8)
    least = 1e-6 if device == "webgpu" else 0  # a GPU may round the last place of a sum otherwise
    assert apply("chroma_key", key, threshold=least, softness=0)[0, :, 3].tolist() == [0, 200]


@pytest.mark.usefixtures("device")
def test_a_pixel_that_is_not_a_number_is_transparent() -> None:
    source = np.full((1, 3, 4), 0.5, np.float32)
    source[0, 1, 0] = np.nan
    assert apply("chroma_key", source)[0, :, 3].tolist() == [0.5, 0, 0.5]


@pytest.mark.parametrize(
    ("kernel", "params", "words"),
    [
        ("chroma_key", {"color": (0, 300, 0)}, "color must be 3 numbers, each a number in 0..255"),
        ("chroma_key", {"color": (0, 1)}, r"color must be 3 numbers.*got \(0, 1\)"),
        ("blend", {"alpha": 2}, "blend: alpha must be a number in 0..1, got 2"),
        ("blend", {"mode": "xor"}, "mode must be one of 'over', 'add', .*got 'xor'"),
    ],
)
def test_parameters_out_of_range(kernel: str, params: dict[str, object], words: str) -> None:
    images = [picture((2, 2), "u8")] * (2 if kernel == "blend" else 1)
    with pytest.raises(ParameterError, match=words):
        apply(kernel, *images, **params)


# --- in a pipeline --------------------------------------------------------------------------------


@pytest.mark.usefixtures("device")
def test_fused_is_unfused() -> None:
    chain: list[tuple[str, dict[str, object]]] = [
        ("white_balance", {"temperature": 4300}),
        ("hue", {"degrees": 20}),
        ("pixelate", {"size": 3}),
        ("hdr", {}),
        ("blend", {"mode": "soft_light"}),
        ("vignette", {}),
        ("posterize", {"levels": 9}),
        ("chroma_key", {}),
    ]
    source, other = picture((23, 37), "u8", 1), picture((23, 37), "u8", 2)
    step = source
    for kernel, params in chain:
        step = apply(kernel, step, *([other] if kernel == "blend" else []), **params)
    pipeline = compute.pipeline()
    last, top = compute.from_array(source), compute.from_array(other)
    for kernel, params in chain:
        out = compute.scratch(source.shape, "u8")
        if kernel == "chroma_key":
            out = compute.buffer_zeros(source.shape, "u8")
        inputs = [last, top] if kernel == "blend" else [last]
        pipeline.add({"kernel": kernel, "inputs": inputs, "output": out, "params": params})
        last = out
    pipeline.run()
    np.testing.assert_array_equal(last.read(), step)


def test_only_the_blend_mode_asks_for_a_new_program() -> None:
    """Every other parameter may follow a slider."""
    names = ["saturation", "gamma", "hue", "white_balance", "exposure", "hdr", "sepia", "threshold"]
    names += ["posterize", "pixelate", "vignette", "chroma_key", "blend", "background_replace"]
    fixed = [(n, p.name) for n in names for p in compute.find_kernel(n).params if p.static]
    assert fixed == [("blend", "mode")]
    for name in names:
        kernel = compute.find_kernel(name)
        assert kernel.doc
        assert "\n" not in kernel.doc
        assert all(p.help.endswith(".") for p in kernel.params)
