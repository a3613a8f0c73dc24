"""A scene as the seeds have it: nodes, PiP, z order, frames; wrong calls, threads."""

from __future__ import annotations

import threading
from fractions import Fraction

import numpy as np
import pytest

from dala import scene
from dala.errors import (
    ArgumentError,
    DalaError,
    DeviceError,
    NodeNotFoundError,
    ParameterError,
    SceneError,
)
from dala.scene import Scene
from dala.scene.adding import Adding
from dala.scene.animating import Animating

RED, BLUE, LIME = (255, 0, 0, 255), (0, 0, 255, 255), (0, 255, 0, 255)


def picture(color: tuple[int, ...], width: int = 8, height: int = 6) -> np.ndarray:
    return np.full((height, width, len(color)), color, np.uint8)


def pixel(stage: Scene, x: int, y: int, time: float = 0.0) -> tuple[int, ...]:
    return tuple(stage.render(time).to_array()[y, x].tolist())


# -- as in the seeds -------------------------------------------------------------------------------


def test_the_scene_of_the_seeds() -> None:
    with Scene(1920, 1080) as stage:
        stage.add_video(picture(RED), size=(1920, 1080), z_index=0)
        stage.add_video(
            picture(BLUE), pip=True, pip_position=(1700, 20), pip_size=(200, 150), z_index=100
        )
        image = stage.load_image(picture(LIME))
        stage.add_image(image_id=image, position=(100, 100), size=(300, 200), z_index=50)
        shown = stage.render(0.0).to_array()
    assert shown.shape == (1080, 1920, 4) and shown.dtype == np.uint8
    for color, (x0, y0, x1, y1) in ((BLUE, (1700, 20, 1900, 170)), (LIME, (100, 100, 400, 300))):
        found = np.argwhere((shown == color).all(-1))
        assert (*found.min(0)[::-1], *(found.max(0)[::-1] + 1)) == (x0, y0, x1, y1)
        assert len(found) == (x1 - x0) * (y1 - y0)
    assert (shown[500, 1000] == RED).all()


def test_automatic_pip_and_its_transform() -> None:
    stage = Scene(640, 360)
    pip = stage.add_video(picture(RED), pip=True, z_index=100)
    assert (stage.node(pip).pip_position, stage.node(pip).pip_size) == (
        (420.0, 20.0),
        (200.0, 150.0),
    )
    stage.set_pip_transform(pip, size=(400, 300))
    assert (stage.node(pip).pip_position, stage.node(pip).pip_size) == (
        (420.0, 20.0),
        (400.0, 300.0),
    )
    stage.set_pip_transform(pip, position=(100, 80))
    assert (stage.node(pip).pip_position, stage.node(pip).pip_size) == (
        (100.0, 80.0),
        (400.0, 300.0),
    )
    assert [pixel(stage, x, y) for x, y in ((100, 80), (99, 80), (499, 359), (500, 200))] == [
        RED, (0, 0, 0, 0), RED, (0, 0, 0, 0),
    ]  # fmt: skip
    wide = stage.add_video(picture(RED), pip=True, pip_size=(320, 240))
    assert stage.node(wide).pip_position == (300.0, 20.0)
    plain = stage.add_video(picture(RED))
    with pytest.raises(ParameterError, match="no picture in picture; set_transform moves it"):
        stage.set_pip_transform(plain, position=(0, 0))


def test_defaults() -> None:
    stage = Scene(64, 64)
    video, image = (
        stage.node(stage.add_video(picture(RED))),
        stage.node(stage.add_image(picture(RED))),
    )
    assert (video.position, video.size, video.pip, video.pip_size) == (
        (0, 0),
        (1920, 1080),
        False,
        (200, 150),
    )
    assert (image.position, image.size, image.scale, image.rotation) == (
        (0, 0),
        (100, 100),
        (1, 1),
        0,
    )
    assert (image.anchor, image.opacity, image.z_index, image.visible) == ((0, 0), 1, 0, True)
    assert (image.fit, image.crop, image.start, image.end) == ("stretch", None, None, None)
    assert stage.target_fps == 60


def test_z_ascending_and_ties_by_insertion() -> None:
    stage = Scene(8, 6)
    first = stage.add_image(picture(RED), size=(8, 6))
    stage.add_image(picture(BLUE), size=(8, 6))
    assert pixel(stage, 0, 0) == BLUE
    stage.update_node(first, z_index=1)
    assert pixel(stage, 0, 0) == RED
    stage.update_node(first, z_index=-1)
    assert pixel(stage, 0, 0) == BLUE
    stage.update_node(first, z_index=1, visible=False)
    assert pixel(stage, 0, 0) == BLUE


# -- what things look like -------------------------------------------------------------------------


def test_fits_crops_and_anchors() -> None:
    halves = np.concatenate([picture(RED, 4, 4), picture(BLUE, 4, 4)], axis=1)  # 8 × 4
    stage = Scene(8, 8)
    node = stage.add_image(halves, size=(8, 8))
    assert pixel(stage, 0, 0) == RED and pixel(stage, 7, 7) == BLUE
    stage.update_node(node, fit="contain")
    assert pixel(stage, 0, 1)[3] == 0 and pixel(stage, 0, 3) == RED
    stage.update_node(node, fit="cover")
    assert pixel(stage, 0, 0) == RED and pixel(stage, 7, 7) == BLUE
    stage.update_node(node, fit="stretch", crop=(0.5, 0, 1, 1))
    assert pixel(stage, 1, 0) == BLUE
    stage.update_node(node, crop=None, anchor=(0.5, 0.5), position=(4, 4), size=(4, 4), rotation=90)
    assert pixel(stage, 4, 2) == RED and pixel(stage, 4, 5) == BLUE and pixel(stage, 1, 4)[3] == 0


def test_groups_move_and_fade_as_one() -> None:
    stage = Scene(40, 20)
    group = stage.add_group(position=(10, 0), opacity=0.5)
    stage.add_shape(size=(10, 10), fill="red", parent=group)
    stage.add_shape(size=(10, 10), fill="blue", parent=group)
    assert pixel(stage, 15, 5) == (0, 0, 255, 128)  # nothing of the red shines through
    assert pixel(stage, 5, 5)[3] == 0
    stage.update_node(group, opacity=1, scale=2)
    assert pixel(stage, 29, 19) == BLUE
    stage.remove_node(group)
    assert stage.nodes() == []


def test_groups_are_cut_at_their_box() -> None:
    stage = Scene(40, 20)
    group = stage.add_group(position=(5, 5), size=(10, 10), clip=True)
    stage.add_shape(size=(100, 100), position=(-50, -50), fill="red", parent=group)
    shown = stage.render(0.0).to_array()[..., 3]
    assert shown.astype(bool).sum() == 100 and shown[5, 5] == 255
    stage.update_node(group, corner_radius=5)
    assert stage.render(0.0).to_array()[5, 5, 3] == 0


def test_borders_and_shadows() -> None:
    stage = Scene(40, 40)
    node = stage.add_image(picture(RED), position=(10, 10), size=(20, 20), border=(2, "blue"))
    assert [pixel(stage, x, 20) for x in (7, 8, 9, 10)] == [(0, 0, 0, 0), BLUE, BLUE, RED]
    stage.update_node(node, border=None, shadow={"color": "black", "offset": (0, 0), "blur": 4})
    assert 0 < pixel(stage, 8, 20)[3] < 255 and pixel(stage, 8, 20)[:3] == (0, 0, 0)
    glass = stage.add_shape(size=(10, 10), fill="transparent", border=(2, "lime"), position=(0, 0))
    stage.update_node(glass, fill="#ff000080")
    assert pixel(stage, 5, 5)[3] in (127, 128)


def test_effects_on_a_node_and_on_everything_below() -> None:
    stage = Scene(20, 10)
    node = stage.add_shape(size=(10, 10), fill=(200, 100, 50))
    stage.add_shape(size=(10, 10), position=(10, 0), fill=(200, 100, 50))
    one = stage.add_effect("invert", input=node)
    assert pixel(stage, 5, 5) == (55, 155, 205, 255) and pixel(stage, 15, 5) == (200, 100, 50, 255)
    stage.remove_node(one)
    stage.add_effect("invert", z_index=5)
    stage.add_shape(size=(2, 2), fill=(1, 2, 3), z_index=10)
    assert pixel(stage, 5, 5) == pixel(stage, 15, 5) == (55, 155, 205, 255)
    assert pixel(stage, 0, 0) == (1, 2, 3, 255)
    with pytest.raises(DalaError, match="did you mean 'blur'"):
        stage.add_effect("blurr")
    with pytest.raises(ParameterError, match="radius"):
        stage.add_effect("blur", radius=-1)


def test_a_kernel_as_text() -> None:
    stage = Scene(4, 4, background=(100, 100, 100))
    text = "def dim(src, amount: float = 0.5):\n    return (src[0, 0].rgb * amount).with_alpha(src[0, 0].a)"
    node = stage.add_effect(text, amount=0.25)
    assert pixel(stage, 0, 0) == (25, 25, 25, 255)
    stage.animate(node, "amount", to=1.0, duration_ms=1000)
    assert pixel(stage, 0, 0, 1.0) == (100, 100, 100, 255)


def test_a_scene_in_a_scene_has_its_own_time() -> None:
    inner = Scene(10, 10, background="navy")
    dot = inner.add_shape(size=(2, 2), fill="red")
    inner.animate(dot, "position", to=(8, 8), duration_ms=1000, easing="linear")
    stage = Scene(40, 20)
    stage.add_scene(inner, position=(20, 0), start=5.0)
    assert pixel(stage, 20, 0, 4.0)[3] == 0
    assert pixel(stage, 20, 0, 5.0) == RED and pixel(stage, 29, 9, 6.0) == RED
    assert pixel(stage, 25, 1, 6.0) == (0, 0, 128, 255)
    with pytest.raises(ParameterError, match="within itself"):
        inner.add_scene(stage)


def test_transitions_between_nodes() -> None:
    stage = Scene(20, 10)
    a = stage.add_shape(size=(20, 10), fill="red")
    b = stage.add_shape(size=(20, 10), fill="blue")
    c = stage.add_shape(size=(20, 10), fill="lime")
    stage.transition(a, b, "fade", 1000, at=1.0)
    stage.transition(b, c, "fade", 1000, at=3.0)
    assert [pixel(stage, 5, 5, t) for t in (0.5, 2.0, 2.9, 4.0)] == [RED, BLUE, BLUE, LIME]
    assert all(
        abs(x - y) <= 1 for x, y in zip(pixel(stage, 5, 5, 1.5), (128, 0, 128, 255), strict=True)
    )
    with pytest.raises(ParameterError, match="there is no transition"):
        stage.transition(a, b, "fad")


def test_every_script_and_no_braces() -> None:
    stage = Scene(300, 60)
    stage.add_text("{name} {0} %s", font_size=24)  # shown as it is
    assert stage.render(0.0).to_array()[..., 3].any()
    node = stage.add_text(
        [("Hello ", {}), ("world", {"color": "gold"})], font_size=24, position=(0, 30)
    )
    shown = stage.render(0.0).to_array()[30:]
    assert (shown == (255, 215, 0, 255)).all(-1).any() and (shown == 255).all(-1).any()
    stage.update_node(node, reveal=0.4)
    assert not (stage.render(0.0).to_array()[30:] == (255, 215, 0, 255)).all(-1).any()


# -- frames ----------------------------------------------------------------------------------------


def test_frames_and_what_is_skipped() -> None:
    stage = Scene(16, 16, target_fps=Fraction(30000, 1001))
    node = stage.add_shape(size=(4, 4), start=1.0)
    frame = stage.render(Fraction(1001, 30000) * 7)
    assert (frame.number, frame.time) == (7, Fraction(1001, 30000) * 7)
    for n in range(10):
        stage.render(n / 100)
    assert (stage.frame_count, stage.skipped) == (1, 10)  # earlier ones were looked at, and equal
    stage.render(1.5)
    stage.render(100.0)
    assert (stage.frame_count, stage.skipped) == (2, 11)
    stage.update_node(node, position=(1, 1))
    stage.render(100.0)
    assert stage.frame_count == 3
    assert stage.fps > 0
    stage.set_target_fps(25)
    assert stage.render(0.5).number == 12


def test_a_frame_stays_as_it_is() -> None:
    stage = Scene(16, 16)
    node = stage.add_shape(size=(16, 16))
    kept = []
    for n in range(20):
        stage.update_node(node, fill=(n, n, n))
        kept.append(stage.render(0.0).to_array())
    assert [int(shown[0, 0, 0]) for shown in kept] == list(range(20))
    with pytest.raises(ValueError, match="read-only"):
        kept[0][:] = 0


def test_a_picture_is_taken_as_it_was() -> None:
    stage = Scene(4, 4)
    pixels = picture(RED)
    stage.add_image(pixels, size=(4, 4))
    pixels[:] = 0
    assert pixel(stage, 0, 0) == RED


# -- wrong calls -----------------------------------------------------------------------------------


def test_nothing_is_changed_by_a_wrong_call() -> None:
    stage = Scene(16, 16)
    node = stage.add_text("a", name="title")
    before = stage.node(node)
    for wrong in (
        {"opacity": 2}, {"opacity": "a"}, {"position": (1,)}, {"position": (1, float("nan"))},
        {"colour": "red"}, {"color": "redd"}, {"parent": node}, {"start": 2.0, "end": 1.0}, {"fit": "fill"},
        {"text": 5}, {"font_size": 0}, {"shadow": {"colour": 1}}, {"visible": 1}, {"size": (-1, 0)},
        {"color": {"radial": ["red", "blue"]}},
    ):  # fmt: skip
        with pytest.raises(DalaError):
            stage.update_node(node, **wrong)
    assert stage.node(node) == before
    with pytest.raises(ParameterError, match="another node is named 'title'"):
        stage.add_text("b", name="title")
    with pytest.raises(NodeNotFoundError, match="did you mean 'title'"):
        stage.node("titel")
    with pytest.raises(NodeNotFoundError, match="no node has the number 99"):
        stage.update_node(99, opacity=0)
    with pytest.raises(ArgumentError, match="a node's number or name"):
        stage.remove_node(None)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="did you mean 'text'"):
        stage.add_node("txt")
    with pytest.raises(ParameterError, match=r"opacity.*0 to 1"):
        stage.update_node(node, opacity=2)
    with pytest.raises(DalaError, match="missing"):
        stage.add_image("missing.png")
    assert stage.nodes() == [before]


def test_a_group_is_never_within_itself() -> None:
    stage = Scene(16, 16)
    outer = stage.add_group()
    inner = stage.add_group(parent=outer)
    with pytest.raises(ParameterError, match="within itself"):
        stage.update_node(outer, parent=inner)
    with pytest.raises(ParameterError, match="a parent is one of"):
        stage.add_text("a", parent=stage.add_text("b"))


def test_what_is_removed_takes_its_own_with_it() -> None:
    stage = Scene(16, 16)
    a, b = stage.add_shape(), stage.add_shape()
    stage.animate(a, "opacity", to=0)
    stage.add_effect("invert", input=a)
    stage.transition(a, b)
    stage.remove_node(a)
    assert [node.id for node in stage.nodes()] == [b]


def test_after_destroy() -> None:
    stage = Scene(16, 16)
    frame = stage.render(0.0)
    stage.destroy()
    stage.destroy()
    assert frame.to_array().shape == (16, 16, 4)
    with pytest.raises(SceneError, match="destroyed"):
        stage.render(0.0)
    with pytest.raises(SceneError, match="destroyed"):
        stage.add_text("a")


@pytest.mark.parametrize("size", [(0, 10), (10, -1), (1 << 20, 10), (10.5, 10), (True, 10)])
def test_impossible_sizes(size: tuple[int, int]) -> None:
    with pytest.raises(ParameterError, match="1 to 16384"):
        Scene(*size)


# -- threads ---------------------------------------------------------------------------------------


def test_updates_from_one_thread_while_another_renders() -> None:
    """A frame shows both halves before a change, or both after it."""
    stage = Scene(8, 2)
    group = stage.add_group()
    stage.add_shape(size=(4, 2), fill="white", parent=group)
    stage.add_shape(size=(4, 2), position=(4, 0), fill="white", parent=group)
    done = threading.Event()

    def change() -> None:
        for n in range(300):
            stage.update_node(group, opacity=(n % 50 + 1) / 50)
            extra = stage.add_shape(size=(1, 1), parent=group, visible=False)
            stage.remove_node(extra)
        done.set()

    thread = threading.Thread(target=change)
    thread.start()
    count = 0
    while not done.is_set() or count == 0:
        alpha = stage.render(count).to_array()[..., 3]
        assert alpha.min() == alpha.max()
        count += 1
    thread.join()
    assert len(stage.nodes()) == 3


def test_nothing_grows() -> None:
    stage = Scene(8, 8)
    for n in range(500):
        node = stage.add_text(str(n), font_size=8)
        stage.animate(node, "opacity", to=0)
        stage.render(n)
        stage.remove_node(node)
    assert stage.nodes() == []
    assert stage._streams.resources._drawn.bytes <= 128 << 20
    assert len(stage._painter._frames._arrays) <= stage._painter._frames.KEPT


def test_now_is_what_was_rendered_or_what_the_clock_says() -> None:
    stage = Scene(8, 8, clock=scene.Clock("manual"))
    stage.render(2.0)
    bar = stage.add_shape()
    moving = stage.animate(bar, "opacity", to=0)
    assert stage.node(moving).at == 2
    stage.clock.advance(5.0)
    assert stage.node(stage.animate(bar, "opacity", to=1)).at == 5
    assert stage.render().time == 5


def test_a_device_that_paints_no_scenes_is_refused_where_it_is_named() -> None:
    with pytest.raises(DeviceError, match="Scene: scenes are painted by the device 'cpu'"):
        Scene(64, 48, device="tpu")


def test_the_calls_of_a_scene_need_a_scene() -> None:
    for part, missing in ((Adding, "_add"), (Animating, "update_node")):
        with pytest.raises(TypeError, match=f"abstract.*{missing}"):
            part()
