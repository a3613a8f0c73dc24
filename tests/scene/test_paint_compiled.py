"""The compiled painter gives the reference's bytes, whatever is painted wherever."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_compositions import compositions, layers, much_smaller, noise, pairs_of_levels

from dala.errors import ArgumentError, ShapeError
from dala.scene.layers import BLENDS, Adjustment, Composition, Group, Layer, Planes, Rgba, Solid
from dala.scene.paint import paint, paint_planes
from dala.scene.paint.cpu.textures import Textures, premultiplied, reduced
from dala.scene.paint.placing import Taps
from dala.scene.paint.reducing import premultiply, reduce_plane

EXAMPLES = settings(max_examples=120, deadline=None)


def agree(composition: Composition) -> None:
    seen, wanted = paint(composition), paint(composition, device="reference")
    wrong = np.argwhere((seen != wanted).any(-1))
    assert not wrong.size, (wrong[:3], seen[tuple(wrong[0])], wanted[tuple(wrong[0])])


@EXAMPLES
@given(compositions)
def test_the_compiled_painter_is_the_reference(composition: Composition) -> None:
    agree(composition)


@pytest.mark.parametrize("blend", BLENDS)
def test_every_blend_mode_of_every_pair_of_levels(blend: str) -> None:
    for composition in pairs_of_levels(blend):
        agree(composition)


@pytest.mark.parametrize("scale", [0.9, 0.6, 0.25, 0.11, 0.02, 0.006, 3.7])
@pytest.mark.parametrize("turn", [0.0, 0.3])
def test_large_pictures_become_small(scale: float, turn: float) -> None:
    for composition in much_smaller(scale, turn):
        agree(composition)


def test_many_rows_on_many_threads() -> None:
    video = Planes(noise(1, 400, 640), noise(2, 200, 320), noise(3, 200, 320))
    layers = [Layer(video)]
    layers += [
        Layer(video, (0.3, 0, 0, 0.3, 100.3 * i, 77.7 * i), corner_radius=9.0) for i in range(4)
    ]
    layers += [Layer(Rgba(noise(9, 50, 300, 4)), (1, 0, 0, 1, 100.25, 200.5), opacity=0.7)]
    agree(Composition(640, 400, (0, 0, 0, 255), tuple(layers)))


def test_groups_and_adjustments() -> None:
    group = Group((Layer(Rgba(noise(1, 30, 40, 4)), (1, 0, 0, 1, 2.5, 3)),), 50, 40)
    layers = (
        Layer(group, (1, 0, 0, 1, 4.2, 5)),
        Adjustment(("invert",), opacity=0.4, clip=(3.5, 2, 30, 40)),
    )
    agree(Composition(60, 50, (1, 2, 3, 255), (*layers, Layer(group, (0.4, 0, 0, 0.4, 20, 1)))))


def test_an_output_with_gaps_between_its_rows_and_columns() -> None:
    composition = Composition(
        30, 20, (9, 9, 9, 255), (Layer(Rgba(noise(1, 10, 10, 4)), (1, 0, 0, 1, 3, 3)),)
    )
    wanted = paint(composition, device="reference")
    room = np.zeros((40, 90, 4), np.uint8)
    for out in (room[:20, :30], room[::2, ::3], room[::-2, :30]):
        assert paint(composition, out=out) is out
        assert (out == wanted).all()
    room[:] = 7
    paint(composition, out=room[:20, :30])
    assert (room[20:] == 7).all() and (room[:, 30:] == 7).all()


@pytest.mark.parametrize("levels", [(1, 1), (2, 1), (0, 3), (4, 4), (5, 6), (9, 0), (0, 10)])
def test_reduced_and_premultiplied_pictures(levels: tuple[int, int]) -> None:
    for values in (noise(1, 77, 131), noise(1, 77, 131, 4), noise(2, 5, 3)):
        taps = Taps(1, 2, values.shape[1] - 1, values.shape[0] - 2, *levels, (0, 0, 0), (0, 0, 0))
        assert (reduced(values, taps) == reduce_plane(values[2:, 1:], *levels)).all()
    picture = noise(1, 9, 21, 4)
    assert (premultiplied(picture) == premultiply(picture)).all()


def test_textures_are_kept_within_a_budget() -> None:
    textures, made = Textures(budget=250), []

    def make(key: int) -> np.ndarray:
        def maker() -> np.ndarray:
            made.append(key)
            return np.zeros(100, np.uint8)

        return textures.get(key, maker)

    for key in (1, 2, 1, 3, 1, 2):
        make(key)
    assert made == [1, 2, 3, 2]


# -- what has changed, and planes --------------------------------------------------------------


@EXAMPLES
@given(compositions, st.lists(layers, max_size=2), st.integers(0, 4), st.integers(0, 4))
def test_what_has_changed_is_painted_again_and_equals_all_of_it(
    before: Composition, new: list[Layer], first: int, last: int
) -> None:
    kept = before.layers[:first], before.layers[max(first, last) :]
    now = Composition(before.width, before.height, before.background, (*kept[0], *new, *kept[1]))
    canvas = paint(before)
    paint(now, out=canvas, previous=before)
    assert (canvas == paint(now)).all()


def test_what_has_not_changed_is_not_touched() -> None:
    still, moving = Layer(Solid((9, 9, 9, 255), 5, 5)), Solid((200, 0, 0, 255), 4, 4)
    before, now = (
        Composition(40, 40, (0, 0, 0, 255), (still, Layer(moving, (1, 0, 0, 1, x, 20))))
        for x in (10, 12)
    )
    canvas = paint(before)
    canvas[0, 0] = 77  # nobody paints here
    assert paint(now, out=canvas, previous=before) is canvas
    assert canvas[0, 0, 0] == 77 and canvas[22, 10, 0] == 0 and canvas[22, 15, 0] == 200
    canvas[:] = 5
    paint(now, out=canvas, previous=Composition(40, 40, now.background, now.layers))
    assert (canvas == 5).all()


even = st.integers(1, 60).map(lambda n: 2 * n)


@EXAMPLES
@given(compositions, even, even, st.sampled_from(["bt601", "bt709"]), st.booleans(), st.booleans())
def test_planes_are_those_of_the_reference(
    composition: Composition, width: int, height: int, matrix: str, full_range: bool, video: bool
) -> None:
    layers = composition.layers
    if video:  # below everything, and seen where nothing else is
        chroma = (
            noise(2, (height + 4) // 2, (width + 6) // 2),
            noise(3, (height + 4) // 2, (width + 6) // 2),
        )
        frame = Planes(noise(1, height + 4, width + 6), *chroma, matrix, full_range)  # type: ignore[arg-type]
        layers = (Layer(frame, (1, 0, 0, 1, -4, -2)), *layers)
    now = Composition(width, height, composition.background, layers)
    seen, wanted = (
        paint_planes(now, matrix=matrix, full_range=full_range, device=device)  # type: ignore[arg-type]
        for device in ("cpu", "reference")
    )
    for a, b in ((seen.y, wanted.y), (seen.u, wanted.u), (seen.v, wanted.v)):
        assert (a == b).all()


def test_a_video_that_is_seen_as_it_is_keeps_its_planes() -> None:
    video = Planes(noise(1, 36, 64), noise(2, 18, 32), noise(3, 18, 32))
    seen = paint_planes(Composition(64, 36, layers=(Layer(video),)))
    assert (seen.y == video.y).all() and (seen.u == video.u).all() and (seen.v == video.v).all()
    spot = Layer(Solid((255, 255, 255, 255), 5, 5), (1, 0, 0, 1, 11, 7))
    seen = paint_planes(Composition(64, 36, layers=(Layer(video), spot)))
    changed = np.argwhere(seen.y != video.y)
    assert changed.min(0).tolist() >= [6, 10] and changed.max(0).tolist() <= [11, 15]
    other = paint_planes(Composition(64, 36, layers=(Layer(video),)), matrix="bt601")
    assert (other.y != video.y).any()


@pytest.mark.parametrize("opaque", [True, False])
@pytest.mark.parametrize("kind", ["solid", "picture", "video"])
def test_a_video_below_what_covers_the_canvas_is_not_copied(kind: str, opaque: bool) -> None:
    video = Layer(Planes(noise(1, 36, 64), noise(2, 18, 32), noise(3, 18, 32)))
    contents = {
        "solid": Solid((0, 0, 255, 255), 64, 36),
        "picture": Rgba(noise(4, 36, 64, 4) | np.array([0, 0, 0, 255], np.uint8), opaque=True),
        "video": Planes(noise(5, 36, 64), noise(6, 18, 32), noise(7, 18, 32), "bt601"),
    }
    card = Layer(contents[kind], opacity=1.0 if opaque else 0.5)
    spot = Layer(Solid((255, 255, 255, 255), 5, 5), (1, 0, 0, 1, 11, 7))
    for shown in ((video, card), (video, card, spot), (video, spot, card)):
        now = Composition(64, 36, layers=shown)
        seen, wanted = (paint_planes(now, device=device) for device in ("cpu", "reference"))
        for a, b in ((seen.y, wanted.y), (seen.u, wanted.u), (seen.v, wanted.v)):
            assert (a == b).all()


def test_planes_go_into_arrays_of_the_caller() -> None:
    composition = Composition(20, 10, (200, 30, 90, 255))
    wanted = paint_planes(composition)
    room = np.zeros((40, 60), np.uint8)
    for out in (
        (room[:10, :20], room[10:15, :10], room[20:25, :10]),
        (room[:10, :40:2], room[10:15, :10], room[20:30:2, :10]),
    ):
        seen = paint_planes(composition, out=out)
        assert seen.y is out[0]
        assert all((a == b).all() for a, b in zip(out, (wanted.y, wanted.u, wanted.v), strict=True))
    with pytest.raises(ShapeError, match="even width and height, got 3 × 2"):
        paint_planes(Composition(3, 2))
    with pytest.raises(ShapeError, match="paint_planes: expected"):
        paint_planes(composition, out=(room, room, room))
    with pytest.raises(ArgumentError, match="give that as out"):
        paint(composition, previous=composition)


def test_planes_agree_with_the_kernel() -> None:
    from dala import media

    picture = noise(4, 32, 48, 4)
    picture[..., 3] = 255
    wanted = media.rgba_to_yuv420p(picture)
    seen = paint_planes(Composition(48, 32, layers=(Layer(Rgba(picture, opaque=True)),)))
    flat = np.concatenate([seen.y.ravel(), seen.u.ravel(), seen.v.ravel()]).astype(int)
    assert abs(flat - np.asarray(wanted).ravel()).max() <= 1
