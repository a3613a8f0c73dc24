"""What painting means, on pictures small enough to be counted by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dala.errors import DeviceError, ParameterError, ShapeError
from dala.scene.layers import (
    BLENDS,
    Adjustment,
    Composition,
    Group,
    Layer,
    Mixed,
    Planes,
    Rgba,
    Solid,
)
from dala.scene.paint import paint
from dala.scene.paint.placing import _form, place, place_taps

BLACK = (0, 0, 0, 255)
WHITE = Solid((255, 255, 255, 255), 4, 4)


def at(x: float, y: float, scale: float = 1.0) -> tuple[float, float, float, float, float, float]:
    return scale, 0.0, 0.0, scale, x, y


def reds(*layers: Layer | Adjustment, width: int = 8, height: int = 8) -> np.ndarray:
    return paint(Composition(width, height, BLACK, layers))[..., 0]


def noise(height: int, width: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 4), np.uint8)


def test_edges_cover_the_exact_area() -> None:
    seen = reds(Layer(WHITE, at(1.25, 2.5)))
    assert seen[3].tolist() == [0, 191, 255, 255, 255, 64, 0, 0]
    assert seen[:, 2].tolist() == [0, 0, 128, 255, 255, 255, 128, 0]


def test_a_layer_narrower_than_a_pixel_covers_its_width() -> None:
    seen = reds(Layer(WHITE, (0.1, 0, 0, 1, 3.2, 0)))
    assert seen[1].tolist() == [0, 0, 0, 103, 0, 0, 0, 0]  # 0.4, in steps of 1/256


def test_a_picture_at_a_whole_position_is_copied() -> None:
    picture = noise(5, 6)
    seen = paint(Composition(8, 8, (0, 0, 0, 0), (Layer(Rgba(picture), at(1, 2)),)))
    visible = picture[..., 3:] > 0
    assert (seen[2:7, 1:7] == np.where(visible, picture, 0)).all()


def test_between_pixels_is_a_mix_of_both() -> None:
    picture = np.zeros((1, 4, 4), np.uint8)
    picture[..., 3] = 255
    picture[0, 2, 0] = 200
    seen = reds(Layer(Rgba(picture, opaque=True), at(0.25, 0)), height=1)
    assert seen[0].tolist()[1:4] == [0, 150, 50]


def test_what_is_transparent_has_no_colour() -> None:
    picture = np.zeros((1, 2, 4), np.uint8)
    picture[0, 0] = 0, 255, 0, 0
    picture[0, 1] = 255, 0, 0, 255
    seen = paint(Composition(3, 1, BLACK, (Layer(Rgba(picture), at(0.5, 0)),)))
    assert seen[0, 1].tolist() == [128, 0, 0, 255]


def test_a_small_layer_does_not_alias() -> None:
    stripes = np.zeros((64, 64, 4), np.uint8)
    stripes[:, ::2, :3] = 255
    stripes[..., 3] = 255
    seen = reds(Layer(Rgba(stripes, opaque=True), at(0.3, 0.7, 0.25)), width=16, height=16)
    assert set(seen[2:14, 2:14].ravel().tolist()) == {128}


def test_a_rotated_layer_has_the_area_of_its_picture() -> None:
    turn = math.radians(30)
    matrix = math.cos(turn), math.sin(turn), -math.sin(turn), math.cos(turn), 30.0, 10.0
    seen = reds(Layer(Solid((255, 255, 255, 255), 20, 12), matrix), width=64, height=64)
    assert seen.astype(float).sum() / 255 == pytest.approx(20 * 12, rel=0.01)


def test_round_corners_and_soft_edges() -> None:
    disc = reds(
        Layer(Solid((255, 255, 255, 255), 40, 40), at(4, 4), corner_radius=20), width=48, height=48
    )
    assert disc.astype(float).sum() / 255 == pytest.approx(math.pi * 400, rel=0.005)
    soft = reds(
        Layer(Solid((255, 255, 255, 255), 20, 20), at(10, 10), softness=8), width=40, height=40
    )
    assert soft[20, 5] == 0 and 100 < soft[20, 10] < 180 and soft[20, 14] == 255


def test_grey_video_is_grey_and_its_range_is_stretched() -> None:
    chroma = np.full((2, 2), 128, np.uint8)
    for level, full, wanted in (
        (16, False, 0),
        (235, False, 255),
        (126, False, 128),
        (77, True, 77),
    ):
        video = Planes(np.full((4, 4), level, np.uint8), chroma, chroma, full_range=full)
        seen = paint(Composition(4, 4, BLACK, (Layer(video),)))
        assert seen[1, 1].tolist() == [wanted, wanted, wanted, 255]


def test_crop_and_clip() -> None:
    ramp = np.repeat(np.arange(8, dtype=np.uint8)[None, :, None] * 30, 4, axis=2).repeat(8, axis=0)
    ramp[..., 3] = 255
    seen = reds(Layer(Rgba(ramp, opaque=True), crop=(2, 1, 5.5, 7), clip=(0, 0, 4.5, 8)))
    assert seen[3].tolist() == [0, 0, 60, 90, 60, 0, 0, 0]
    assert seen[0].tolist() == [0] * 8


def test_opacity_and_groups() -> None:
    two = (Layer(WHITE), Layer(WHITE, at(2, 0)))
    apart = reds(*(Layer(WHITE, layer.matrix, opacity=0.5) for layer in two))
    together = reds(Layer(Group(two, 8, 8), opacity=0.5))
    assert apart[0].tolist() == [128, 128, 192, 192, 128, 128, 0, 0]
    assert together[0].tolist() == [128, 128, 128, 128, 128, 128, 0, 0]


@pytest.mark.parametrize("blend", BLENDS)
def test_blend_modes_are_those_of_the_kernel(blend: str) -> None:
    from dala import media

    below, above = noise(16, 16, 1), noise(16, 16, 2)
    seen = paint(Composition(16, 16, layers=(Layer(Rgba(below)), Layer(Rgba(above), blend=blend))))
    wanted = media.blend(below, above, alpha=1.0, mode=blend)
    visible = wanted[..., 3] > 8  # of a colour that is hardly there a level means nothing
    assert abs(seen.astype(int) - wanted)[visible].max() <= 1


def test_effects_on_a_layer_and_on_everything_below() -> None:
    negative = reds(Layer(WHITE, effects=("invert",)), Layer(WHITE, at(4, 0)))
    assert negative[0].tolist() == [0, 0, 0, 0, 255, 255, 255, 255]
    below = reds(Layer(WHITE), Adjustment(("invert",), opacity=0.5, clip=(0, 0, 6, 8)))
    assert below[0].tolist() == [128, 128, 128, 128, 128, 128, 0, 0]


def test_a_transition_begins_with_one_and_ends_with_the_other() -> None:
    a, b = Rgba(noise(6, 6, 1)), Solid((0, 0, 255, 255), 6, 6)
    for progress, wanted in ((0.0, a.pixels), (1.0, np.full((6, 6, 4), b.color, np.uint8))):
        seen = paint(Composition(6, 6, layers=(Layer(Mixed(a, b, "fade", progress)),)))
        visible = wanted[..., 3] > 0
        assert (seen[visible] == wanted[visible]).all()


def test_what_is_not_seen_is_nothing() -> None:
    for layer in (
        Layer(WHITE, (0, 0, 0, 0, 0, 0)), Layer(WHITE, at(100, 0)), Layer(WHITE, opacity=0),
        Layer(WHITE, crop=(3, 3, 3, 4)),
        Layer(WHITE, clip=(5, 5, 5, 5)), Layer(WHITE, at(0, 0, 1e-9)), Layer(WHITE, at(1e30, 0)),
    ):  # fmt: skip
        assert not reds(layer).any()


def test_a_layer_that_is_far_larger_than_the_canvas() -> None:
    assert (reds(Layer(WHITE, at(-4e6, -4e6, 2e6))) == 255).all()


def test_where_a_layer_lies_does_not_depend_on_those_before_it() -> None:
    """Forms are kept: equal numbers of other types, and other positions, must not change what follows."""
    sizes = (1, 0.5, np.float32(0.1), float(np.float32(0.1)), np.float64(1.5), 1 / 3)
    layers = [
        Layer(WHITE, (s, turn, -turn, s, x, 3.7), opacity=s, corner_radius=s, softness=2)
        for s in sizes
        for turn in (0, -0.0, 0.25)
        for x in (0, 1.3, -0.0)
    ]

    def placed(layer: Layer) -> tuple[object, ...]:
        found = place(layer, 16, 16)
        assert found is not None
        taps = place_taps(found, 4, 4, 1), place_taps(found, 2, 2, 2)
        return (*found[:4], *found[7:], *taps)  # without the form itself

    expected = []
    for layer in layers:
        _form.cache_clear()
        expected.append(placed(layer))
        del layer.__dict__["_placed"]
    assert [placed(layer) for layer in layers] == expected


def test_wrong_values_are_refused() -> None:
    with pytest.raises(ShapeError, match=r"\(H, W, 4\) u8, got \(2, 2, 3\)"):
        Rgba(np.zeros((2, 2, 3), np.uint8))
    with pytest.raises(ShapeError, match=r"expected \(1, 2\) u8 for U"):
        Planes(*(np.zeros((2, 4), np.uint8),) * 3)
    with pytest.raises(ParameterError, match="six finite numbers"):
        Layer(WHITE, at(math.nan, 0))
    with pytest.raises(ParameterError, match="blend: expected one of over"):
        Layer(WHITE, blend="under")
    with pytest.raises(ParameterError, match="progress"):
        Mixed(WHITE, WHITE, progress=2)
    with pytest.raises(
        ParameterError, match="no transition is called 'fadde'; did you mean 'fade'"
    ):
        reds(Layer(Mixed(WHITE, WHITE, "fadde", 0.5)))
    with pytest.raises(ShapeError, match="keeps the size"):
        reds(Layer(WHITE, effects=(("resize", {"width": 2}),)))
    with pytest.raises(ShapeError, match="one size"):
        Mixed(WHITE, Solid((0, 0, 0, 0), 3, 3))
    with pytest.raises(DeviceError, match="painted by the device"):
        paint(Composition(1, 1), device="tpu")
    with pytest.raises(ShapeError, match="an output of"):
        paint(Composition(1, 1), out=np.zeros((2, 2, 4), np.uint8))
