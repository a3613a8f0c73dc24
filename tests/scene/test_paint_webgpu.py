"""The GPU's painter gives the reference's pixels within a level, whatever is painted wherever."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_compositions import compositions, layers, much_smaller, noise, pairs_of_levels
from random_scenes import random_scene

import dala
from dala.errors import OutOfMemoryError, ShapeError
from dala.media.frames import FramePipeline
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
from dala.scene.paint import paint, paint_planes
from dala.scene.paint.placing import place
from dala.scene.paint.sampled import cover
from dala.scene.paint.webgpu import GpuPainter, layout
from dala.scene.paint.webgpu import painter as paint_webgpu
from dala.scene.paint.webgpu.reading import open_gpu, paint_into
from dala.scene.paint.webgpu.records import inner_box
from dala.scene.paint.webgpu.shader import shader_text
from dala.scene.paint.webgpu.textures import NoRoomError
from dala.scene.transitions import names

pytestmark = pytest.mark.webgpu
EXAMPLES = settings(max_examples=120, deadline=None)


def apart(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """By how many levels pixels differ, as they are or as they are seen: of a colour that is hardly there a
    level means nothing."""
    straight = abs(a.astype(int) - b).max(-1)
    seen = [np.concatenate([p[..., :3] * (p[..., 3:] / 255), p[..., 3:]], -1) for p in (a, b)]
    return np.minimum(straight, abs(seen[0] - seen[1]).max(-1))


def agree(composition: Composition) -> None:
    """Effects and transitions are kernels, with tolerances and tests of their own: for the CPU's picture
    they run on the GPU, too."""
    seen = paint(composition, device="webgpu")
    with dala.use("webgpu"):
        wanted = paint(composition)
    wrong = np.argwhere(apart(seen, wanted) > 1)
    assert not wrong.size, (len(wrong), wrong[:3], seen[tuple(wrong[0])], wanted[tuple(wrong[0])])


@EXAMPLES
@given(compositions)
def test_random_compositions(composition: Composition) -> None:
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


def test_groups_effects_and_adjustments() -> None:
    picture = Rgba(noise(1, 30, 40, 4))
    video = Planes(noise(1, 36, 64), noise(2, 18, 32), noise(3, 18, 32))
    inner = Group(
        (Layer(picture, (1, 0, 0, 1, 2.5, 3)), Layer(video, (0.5, 0, 0, 0.5, 9, 8))), 50, 40
    )
    group = Group(
        (Layer(inner, (0.9, 0, 0, 0.9, 0, 0), opacity=0.7), Layer(Solid((9, 200, 3, 99), 8, 8))),
        50,
        40,
    )
    blur, bright = ("blur", {"radius": 2}), ("brightness", {"value": 0.2})
    for entries in (
        (Layer(group, (1, 0, 0, 1, 4.2, 5)), Layer(group, (0.4, 0, 0, 0.4, 20, 1))),
        (Layer(group), Adjustment(("invert",), 0.4, clip=(3.5, 2, 30, 40)), Layer(picture)),
        (Layer(picture), Adjustment((blur,)), Layer(video), Adjustment((bright,), 0.6)),
        (Layer(picture, effects=(bright,)), Layer(video, effects=("invert",))),
        (Layer(group, effects=(blur,)),),
        (Layer(Solid((9, 9, 200, 99), 20, 20), (1, 0, 0, 1, 3, 3), effects=("invert",)),),
        (Adjustment(("invert",)), Layer(video, (2, 0, 0, 2, -1, -1)), Adjustment(("invert",))),
    ):  # fmt: skip
        agree(Composition(60, 50, (1, 2, 3, 200), entries))


@pytest.mark.parametrize("name", names())
def test_transitions(name: str) -> None:
    a = Rgba(noise(1, 30, 40, 4) | np.array([0, 0, 0, 255], np.uint8))
    b = Group((Layer(Planes(noise(1, 36, 64), noise(2, 18, 32), noise(3, 18, 32))),), 40, 30)
    for n, progress in enumerate((0.0, 0.3, 1.0)):
        mix = Layer(Mixed(a, b, name, progress), (1, 0, 0, 1, 0.4 * n, 3))
        agree(Composition(50, 40, layers=(mix,)))


def test_more_layers_than_threads_look_at() -> None:
    spots = tuple(
        Layer(Solid((n * 7 % 256, n % 256, 90, 60 + n % 190), 9, 9), (1, 0, 0, 1, n % 70, n // 9))
        for n in range(600)
    )
    ground = Layer(Solid((1, 2, 3, 255), 200, 200), (1, 0, 0, 1, -50, -50))
    agree(Composition(80, 75, layers=(*spots[:300], ground, *spots[300:])))


def test_random_scenes() -> None:
    for seed in range(30):
        with random_scene(random.Random(seed)) as stage:
            for time in (0.1, 0.7, 1.3):
                agree(stage.evaluate(time))


@EXAMPLES
@given(layers, st.integers(1, 90), st.integers(1, 70))
def test_within_its_inner_box_a_layer_covers_everything(
    layer: Layer, width: int, height: int
) -> None:
    placed = place(layer, width, height)
    if placed is None:
        return
    left, top, right, bottom = inner_box(placed)
    inside = cover(placed)[
        top - placed.top : bottom - placed.top, left - placed.left : right - placed.left
    ]
    assert (inside == placed.opacity).all()


# -- parts, and planes ---------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(compositions, st.lists(layers, max_size=2), st.integers(0, 4), st.integers(0, 4))
def test_what_has_changed_is_painted_again_and_equals_all_of_it(
    before: Composition, new: list[Layer], first: int, last: int
) -> None:
    painter = GpuPainter(open_gpu("webgpu"))
    kept = before.layers[:first], before.layers[max(first, last) :]
    now = Composition(before.width, before.height, before.background, (*kept[0], *new, *kept[1]))
    canvas, wanted = (np.array(paint_into(painter, c, None, None)) for c in (before, now))
    paint_into(painter, now, canvas, before)
    assert (canvas == wanted).all()
    partly = painter.paint(now, before, painter.paint(before))
    assert (painter.device.fetch(partly) == wanted).all()


def test_what_has_not_changed_is_not_touched() -> None:
    still, moving = Layer(Solid((9, 9, 9, 255), 5, 5)), Solid((200, 0, 0, 255), 4, 4)
    before, now = (
        Composition(40, 40, (0, 0, 0, 255), (still, Layer(moving, (1, 0, 0, 1, x, 20))))
        for x in (10, 12)
    )
    canvas = np.array(paint(before, device="webgpu"))
    canvas[0, 0] = 77  # nobody paints here
    assert paint(now, device="webgpu", out=canvas, previous=before) is canvas
    assert canvas[0, 0, 0] == 77 and canvas[22, 10, 0] == 0 and canvas[22, 15, 0] == 200


def test_an_output_with_gaps_between_its_rows_and_columns() -> None:
    composition = Composition(30, 20, (9, 9, 9, 255), (Layer(Rgba(noise(1, 10, 10, 4))),))
    wanted = paint(composition, device="webgpu")
    room = np.zeros((40, 90, 4), np.uint8)
    for out in (room[:20, :30], room[::2, ::3], room[::-2, :30]):
        assert paint(composition, device="webgpu", out=out) is out
        assert (out == wanted).all()


even = st.integers(1, 60).map(lambda n: 2 * n)


@settings(max_examples=60, deadline=None)
@given(compositions, even, even, st.sampled_from(["bt601", "bt709"]), st.booleans(), st.booleans())
def test_planes(
    composition: Composition, width: int, height: int, matrix: str, full_range: bool, video: bool
) -> None:
    layers = composition.layers
    if video:  # below everything, and copied where nothing else is
        half = (height + 4) // 2, (width + 6) // 2
        y = noise(1, height + 4, width + 6)
        frame = Planes(y, noise(2, *half), noise(3, *half), matrix, full_range)  # type: ignore[arg-type]
        layers = (Layer(frame, (1, 0, 0, 1, -4, -2)), *layers)
    now = Composition(width, height, composition.background, layers)
    seen, wanted = (
        paint_planes(now, matrix=matrix, full_range=full_range, device=device)  # type: ignore[arg-type]
        for device in ("webgpu", "cpu")
    )
    for a, b in ((seen.y, wanted.y), (seen.u, wanted.u), (seen.v, wanted.v)):
        assert abs(a.astype(int) - b).max() <= 1


def test_a_video_that_is_seen_as_it_is_keeps_its_planes() -> None:
    video = Planes(noise(1, 36, 64), noise(2, 18, 32), noise(3, 18, 32))
    spot = Layer(Solid((255, 255, 255, 255), 5, 5), (1, 0, 0, 1, 11, 7))
    seen = paint_planes(Composition(64, 36, layers=(Layer(video), spot)), device="webgpu")
    changed = np.argwhere(seen.y != video.y)
    assert changed.min(0).tolist() >= [6, 10] and changed.max(0).tolist() <= [11, 15]
    with pytest.raises(ShapeError, match="even width and height, got 3 × 2"):
        paint_planes(Composition(3, 2), device="webgpu")


@pytest.mark.parametrize(
    "card",
    [
        Solid((0, 0, 255, 255), 64, 36),
        Rgba(noise(4, 36, 64, 4) | np.array([0, 0, 0, 255], np.uint8), opaque=True),
    ],
)
def test_a_video_below_what_hides_the_canvas_is_not_copied(card: Solid | Rgba) -> None:
    video = Layer(Planes(noise(1, 36, 64), noise(2, 18, 32), noise(3, 18, 32)))
    now = Composition(64, 36, layers=(video, Layer(card)))
    seen, wanted = (paint_planes(now, device=device) for device in ("webgpu", "reference"))
    for a, b in ((seen.y, wanted.y), (seen.u, wanted.u), (seen.v, wanted.v)):
        assert abs(a.astype(int) - b).max() <= 1


# -- what is kept --------------------------------------------------------------------------------------


def moving(picture: Rgba, number: int, scale: float = 1.0) -> Composition:
    """A picture at another place in every frame."""
    at = (scale, 0, 0, scale, 0.3 + number, 1.6)
    return Composition(64, 48, (0, 0, 0, 255), (Layer(picture, at),))


def test_a_picture_is_sent_once_and_a_frame_is_one_submit(monkeypatch: pytest.MonkeyPatch) -> None:
    painter = GpuPainter(open_gpu("webgpu"))
    device, picture = painter.device, Rgba(noise(1, 30, 40, 4))
    sent: list[int] = []
    runs: list[int] = []
    write, share = device.queue.write_buffer, device.queue.share
    monkeypatch.setattr(
        device.queue, "write_buffer", lambda b, d, at=0: (sent.append(d.nbytes), write(b, d, at))
    )
    monkeypatch.setattr(device.queue, "share", lambda run: (runs.append(len(run)), share(run)))
    for number in range(4):
        painter.paint(moving(picture, number))
    assert runs == [2, 1, 1, 1]  # the first frame multiplies the picture by its alpha
    records = layout.HEAD.size + layout.LAYER.size
    assert sent == [picture.pixels.nbytes, layout.JOB.size, records, records, records, records]


def test_hidden_layers_are_neither_sent_nor_painted() -> None:
    painter = GpuPainter(open_gpu("webgpu"))
    hidden, above = Layer(Rgba(noise(1, 30, 40, 4))), Layer(Solid((9, 9, 9, 255), 64, 48))
    painter.paint(Composition(64, 48, layers=(hidden, Layer(Group((hidden,), 30, 20)), above)))
    assert painter.textures.used_bytes == 0


def test_textures_stay_within_their_budget() -> None:
    painter = GpuPainter(open_gpu("webgpu"), budget=40_000)
    pictures = [Rgba(noise(n, 30, 40, 4)) for n in range(9)]
    for _ in range(2):
        for number, picture in enumerate(pictures):
            seen = painter.device.fetch(painter.paint(moving(picture, number)))
            assert apart(seen, paint(moving(picture, number), device="reference")).max() <= 1
            assert painter.textures.used_bytes <= 40_000
    every = Composition(
        64, 48, layers=tuple(Layer(p, (1, 0, 0, 1, 0.5, 0), opacity=0.5) for p in pictures)
    )
    seen = painter.device.fetch(painter.paint(every))  # all are there while they are painted
    assert apart(seen, paint(every, device="reference")).max() <= 1


def test_what_does_not_fit_at_once_is_painted_in_several_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    painter = GpuPainter(open_gpu("webgpu"))
    monkeypatch.setattr(painter.device.pool, "most_bytes", 1 << 18)
    pictures = [Rgba(noise(n, 90, 200, 4)) for n in range(5)]
    many = tuple(
        Layer(p, (0.3, 0, 0, 0.3, 0.5 * n, n), opacity=0.5) for n, p in enumerate(pictures)
    )
    every = Composition(64, 48, layers=many)
    for _ in range(2):
        seen = painter.device.fetch(painter.paint(every))
        assert apart(seen, paint(every, device="reference")).max() <= 1
    video = Layer(Planes(noise(1, 48, 64), noise(2, 24, 32), noise(3, 24, 32)))
    over = Composition(64, 48, layers=(video, *many))
    content = painter.device.fetch(painter.paint_planes(over, "bt709", False))
    wanted = paint_planes(over, device="reference")
    planes = np.concatenate([wanted.y.ravel(), wanted.u.ravel(), wanted.v.ravel()])
    assert abs(content.astype(int) - planes).max() <= 1
    huge = Layer(Rgba(noise(1, 500, 200, 4)))
    with pytest.raises(OutOfMemoryError, match="or paint on the CPU"):
        painter.paint(Composition(64, 48, layers=(*many, huge)))
    seen = painter.device.fetch(painter.paint(every))
    assert apart(seen, paint(every, device="reference")).max() <= 1


def test_a_failing_effect_leaves_nothing_half_made() -> None:
    painter = GpuPainter(open_gpu("webgpu"))
    picture = Rgba(noise(1, 300, 40, 4))
    small = Layer(picture, (0.2, 0, 0, 0.2, 1, 1))
    wrong = Layer(Rgba(noise(2, 8, 8, 4)), effects=(("resize", {"width": 2}),))
    with pytest.raises(ShapeError, match="keeps the size"):
        painter.paint(Composition(64, 48, layers=(small, wrong)))
    seen = painter.device.fetch(painter.paint(Composition(64, 48, layers=(small,))))
    assert apart(seen, paint(Composition(64, 48, layers=(small,)), device="reference")).max() <= 1


def refuse_once(
    monkeypatch: pytest.MonkeyPatch, owner: object, name: str, error: type[OutOfMemoryError]
) -> None:
    """There is no memory the first time that somebody asks there."""
    work, asked = getattr(owner, name), []

    def work_from_then_on(*given: object) -> object:
        asked.append(given)
        if len(asked) == 1:
            raise error("there is no memory left for it")
        return work(*given)

    monkeypatch.setattr(owner, name, work_from_then_on)


TRANSLUCENT = Layer(Rgba(noise(1, 40, 60, 4)), (1, 0, 0, 1, 0.3, 0.4))
BESIDE = {
    "a picture": Layer(Rgba(noise(2, 30, 40, 4)), (1, 0, 0, 1, 10, 4), opacity=0.5),
    "a reduced picture": Layer(Rgba(noise(2, 600, 600, 4)), (0.008, 0, 0, 0.008, 10, 4)),
    "a video": Layer(Planes(noise(3, 48, 64), noise(4, 24, 32), noise(5, 24, 32)), opacity=0.5),
    "a group": Layer(Group((Layer(Rgba(noise(6, 20, 30, 4))),), 30, 20), (1, 0, 0, 1, 5, 5)),
}


@pytest.mark.parametrize("error", [OutOfMemoryError, NoRoomError])
@pytest.mark.parametrize("where", ["sending pixels", "copying", "sending words"])
@pytest.mark.parametrize("kind", BESIDE)
def test_what_the_gpu_had_no_memory_for_is_not_taken_for_painted(
    monkeypatch: pytest.MonkeyPatch, kind: str, where: str, error: type[OutOfMemoryError]
) -> None:
    painter = GpuPainter(open_gpu("webgpu"))
    owner, name = {
        "sending pixels": (painter.textures, "_fill"),
        "copying": (painter.textures, "_copy"),
        "sending words": (paint_webgpu, "send_words"),
    }[where]
    spot = Layer(Solid((200, 10, 90, 255), 9, 9), (1, 0, 0, 1, 3, 3))
    straight = Layer(TRANSLUCENT.content)  # it is sent, and a job is left for later
    painter.paint(Composition(64, 48, layers=(straight,)))
    every = Composition(64, 48, layers=(spot, TRANSLUCENT, BESIDE[kind]))
    wanted = paint(every, device="reference")
    refuse_once(monkeypatch, owner, name, error)
    beside = where == "sending pixels" or kind == "a group"  # while others wait to be painted
    if (error is NoRoomError and beside) or (where == "copying" and kind != "a group"):
        assert apart(painter.device.fetch(painter.paint(every)), wanted).max() <= 1  # it goes on
    else:
        with pytest.raises(OutOfMemoryError, match="no memory left"):
            painter.paint(every)
    for _ in range(2):
        assert apart(painter.device.fetch(painter.paint(every)), wanted).max() <= 1
    assert not painter.textures.jobs


def test_every_number_of_the_shaders_is_in_their_table() -> None:
    text = shader_text("tiles")
    assert f"const TILE = {layout.TILE}u;" in text and f"const MIX = {layout.MIX}u;" in text
    assert f"@workgroup_size({layout.TILE}, {layout.ROWS})" in text
    assert (layout.HEAD.size, layout.LAYER.size) == (208, 400)
    for number, name in enumerate(BLENDS):
        assert getattr(layout, name.upper()) == number


def test_who_asks_for_the_cpu_has_effects_there(monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[str] = []
    process = FramePipeline.process

    def noted(self: FramePipeline, image: object, filters: object) -> object:
        used.append(self.engine.device.name)
        return process(self, image, filters)  # type: ignore[arg-type]

    monkeypatch.setattr(FramePipeline, "process", noted)
    picture = Rgba(noise(1, 12, 16, 4))
    mix = Mixed(picture, Solid((1, 2, 3, 255), 16, 12), "fade", 0.5)
    layers = Layer(picture, effects=("invert",)), Layer(mix), Adjustment(("invert",))
    with dala.use("webgpu"):
        paint(Composition(20, 20, layers=layers), device="cpu")
        paint_planes(Composition(20, 20, layers=layers), device="cpu")
    assert used == ["cpu"] * 6
