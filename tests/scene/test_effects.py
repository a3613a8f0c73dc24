"""Effects on a layer, a group, everything below; parameters that move; filters compiled ahead."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Any

import numpy as np
import pytest
from made_models import made_model

from dala import kernel, media
from dala.errors import DalaError, KernelNotFoundError, ParameterError, ShapeError
from dala.media import FramePipeline
from dala.scene import Scene
from dala.scene.effects import prepare
from dala.scene.effects.pipelines import pipeline_for

PATIENCE_S = 300
Array = np.ndarray[Any, Any]


def noise(width: int, height: int, seed: int = 1) -> Array:
    pixels = np.random.default_rng(seed).integers(0, 256, (height, width, 4), np.uint8)
    pixels[..., 3] = 255
    return pixels


def shot(stage: Scene, time: float = 0.0) -> Array:
    return stage.render(time).to_array().copy()


def blurred(width: int, height: int, fps: int = 10, seconds: float = 1.0) -> Scene:
    """A picture below a blur whose radius goes from 0 to 10."""
    stage = Scene(width, height, target_fps=fps)
    stage.add_image(noise(width, height), size=(width, height))
    soft = stage.add_effect("blur", radius=0)
    stage.animate(soft, "radius", 0, 10, seconds * 1000, "linear", at=0)
    return stage


# -- what they are on ------------------------------------------------------------------------------


def test_on_a_layer_it_is_what_media_makes_of_the_picture() -> None:
    picture = noise(24, 16)
    with Scene(48, 16, background="black") as stage:
        node = stage.add_image(picture, size=(24, 16))
        stage.add_image(picture, size=(24, 16), position=(24, 0))
        stage.add_effect("blur", radius=2, input=node)
        stage.add_effect("grayscale", input=node)
        found = shot(stage)
    wanted = media.apply_filters(picture, [("blur", {"radius": 2}), "grayscale"])
    assert np.array_equal(found[:, :24], wanted) and np.array_equal(found[:, 24:], picture)


def test_on_a_group_it_is_on_all_of_it_and_nothing_else() -> None:
    with Scene(30, 10, background=(10, 20, 30)) as stage:
        group = stage.add_group()
        stage.add_shape(size=(10, 10), fill=(200, 100, 50), parent=group)
        stage.add_shape(size=(10, 10), fill=(0, 0, 0), position=(10, 0), parent=group)
        stage.add_effect("invert", input=group)
        found = shot(stage)[5, [5, 15, 25], :3]
    assert found.tolist() == [[55, 155, 205], [255, 255, 255], [10, 20, 30]]


def test_on_everything_below_it_and_only_so_much_as_its_opacity() -> None:
    with Scene(4, 2, background=(200, 100, 0)) as stage:
        below = stage.add_effect("invert")
        stage.add_shape(size=(1, 1), fill="white", z_index=1)
        assert shot(stage)[1, 3, :3].tolist() == [55, 155, 255]
        assert shot(stage)[0, 0, :3].tolist() == [255, 255, 255]
        stage.update_node(below, opacity=0.5)
        assert np.abs(shot(stage)[1, 3, :3].astype(int) - [128, 128, 128]).max() <= 1


def test_on_a_layer_by_its_opacity_beside_others() -> None:
    with Scene(4, 4) as stage:
        node = stage.add_shape(size=(4, 4), fill=(200, 100, 0))
        stage.add_effect("invert", input=node, opacity=0.5)
        assert np.abs(shot(stage)[1, 1, :3].astype(int) - 128).max() <= 1
        stage.add_effect("grayscale", input=node)
        stage.add_effect("invert", input=node)
        assert np.abs(shot(stage)[1, 1, :3].astype(int) - 127).max() <= 1


def test_a_look() -> None:
    picture = noise(20, 20)
    with Scene(20, 20) as stage:
        stage.add_image(picture, size=(20, 20))
        stage.add_effect("noir")
        assert np.array_equal(shot(stage), media.apply_filters(picture, "noir"))


def test_a_kernel_of_ones_own_whose_parameter_moves() -> None:
    @kernel
    def tint(src, red: float = 0.0):  # type: ignore[no-untyped-def]
        p = src[0, 0]
        return (p.rgb * (1.0 - red)).with_alpha(p.a)

    with Scene(4, 4, background=(200, 200, 200)) as stage:
        node = stage.add_effect(tint)
        stage.animate(node, "red", 0.0, 1.0, 1000, "linear", at=0)
        assert [int(shot(stage, t)[0, 0, 1]) for t in (0.0, 0.5, 1.0)] == [200, 100, 0]


def test_a_mask_of_a_model_does_not_depend_on_the_frame_before() -> None:
    model = made_model("selfie", [np.ones((1, 256, 256, 1), np.float32)])

    class Moody:
        """The network of a model that is the surer the brighter the picture is."""

        def __getattr__(self, name: str) -> object:
            return getattr(network, name)

        def run_on(self, tensor: Any, *_shape: object) -> tuple[Array, ...]:
            share = float(np.mean(np.asarray(tensor)))
            return (np.full((1, 256, 256, 1), share, np.float32),)

    network, model.network = model.network, Moody()  # type: ignore[assignment]
    with Scene(16, 16, background="black") as stage:
        node = stage.add_shape(size=(16, 16), fill="white")
        stage.animate(node, "opacity", 0.2, 1.0, 1000, "linear", at=0)
        black = np.zeros((4, 4, 3), np.uint8)
        stage.add_effect("background_replace", mask=model, background=black)
        first = {t: shot(stage, t) for t in (0.0, 0.25, 0.5, 1.0)}
        for t in (1.0, 0.25, 0.0, 0.5):
            assert np.array_equal(shot(stage, t), first[t])
    levels = [int(first[t][8, 8, 0]) for t in first]
    assert levels == sorted(set(levels)) and levels[-1] == 255


# -- what moves ------------------------------------------------------------------------------------


def test_frames_in_any_order_are_the_same() -> None:
    def make() -> Scene:
        stage = blurred(40, 30)
        letters = stage.add_text("dala", font_size=16, color="red", position=(4, 4))
        glow = stage.add_effect("blur", radius=0, input=letters)  # its margin grows on the way
        stage.animate(glow, "radius", to=14, duration_ms=1000, easing="linear", at=0)
        light = stage.add_effect("brightness", value=0.0)
        stage.animate(light, "value", to=0.3, duration_ms=1000, at=0)
        return stage

    times = [n / 10 for n in range(11)]
    with make() as stage:
        wanted = [shot(stage, t) for t in times]
    shuffled = random.Random(5).sample(range(11), 11)
    with make() as stage:
        for n in shuffled:
            assert np.array_equal(shot(stage, times[n]), wanted[n]), n
    assert not np.array_equal(wanted[3], wanted[4])


@contextmanager
def watched(monkeypatch: pytest.MonkeyPatch, gate: threading.Event | None = None) -> Iterator[Any]:
    """A queue of what is prepared, each when it is done; it begins when the gate is open."""
    done: SimpleQueue[object] = SimpleQueue()
    real = FramePipeline.prepare

    def spied(self: FramePipeline, image: object, filters: Any) -> None:
        if gate is not None:
            assert gate.wait(PATIENCE_S)
        real(self, image, filters)
        done.put(filters.structure)

    with monkeypatch.context() as patch:
        patch.setattr(FramePipeline, "prepare", spied)
        yield done


def fresh(width: int, height: int) -> Any:
    """The programs for pictures of a size, of which none is compiled."""
    programs = pipeline_for(width, height)._programs
    programs.clear()
    return programs


def settle() -> None:
    """All that was put in is done."""
    over = threading.Event()
    assert prepare._runners().put(over.set) and over.wait(PATIENCE_S)


def test_a_radius_is_compiled_before_its_frame_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    programs = fresh(37, 23)
    before = programs.made
    with watched(monkeypatch) as done, blurred(37, 23) as stage:
        shot(stage, 0.0)
        ahead = [done.get(timeout=PATIENCE_S) for _ in range(10)]
        assert len(set(ahead)) == 10 and programs.made - before == 11
        for n in range(1, 11):
            shot(stage, n / 10)
        settle()
        assert programs.made - before == 11


def test_frames_that_are_not_painted_lose_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between two radii nothing is painted: what was looked at meanwhile is compiled nevertheless."""
    fresh(32, 23)
    real, painter = FramePipeline._make, threading.get_ident()
    makers: list[int] = []

    def spied(self: FramePipeline, *args: Any) -> Any:
        makers.append(threading.get_ident())
        return real(self, *args)

    monkeypatch.setattr(FramePipeline, "_make", spied)
    with blurred(32, 23, fps=100, seconds=2.0) as stage:
        shot(stage, 0.0)
        for n in range(1, 25):
            shot(stage, n / 100)
        settle()
        assert stage.frame_count < 5 and makers
        makers.clear()
        shot(stage, 0.7)
        assert painter not in makers  # what it looks at ahead, another thread compiles


def test_far_ahead_nothing_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    programs = fresh(36, 23)
    before = programs.made
    with watched(monkeypatch), blurred(36, 23, seconds=10.0) as stage:
        shot(stage, 0.0)
        settle()
        assert programs.made - before == 2  # within a second it gets to 1


def test_a_frame_waits_for_its_own_radius(monkeypatch: pytest.MonkeyPatch) -> None:
    with blurred(35, 23) as stage:
        wanted = [shot(stage, n / 10) for n in range(4)]
        settle()
    fresh(35, 23)
    gate, begun = threading.Event(), threading.Event()
    real = FramePipeline._make

    def held(self: FramePipeline, chain: media.Chain, layout: Any) -> Any:
        if threading.current_thread().name.startswith("dala-prepare"):
            begun.set()
            assert gate.wait(PATIENCE_S)
        return real(self, chain, layout)

    monkeypatch.setattr(FramePipeline, "_make", held)
    found: list[Array] = []
    with blurred(35, 23) as stage:
        shot(stage, 0.0)
        assert begun.wait(PATIENCE_S)  # radius 1 is being compiled, and does not get on
        assert np.array_equal(shot(stage, 0.3), wanted[3])  # another one does not wait for it
        waits = threading.Thread(target=lambda: found.append(shot(stage, 0.1)))
        waits.start()
        assert not found
        gate.set()
        waits.join(PATIENCE_S)
    assert np.array_equal(found[0], wanted[1])


def test_what_waits_ends_with_its_scene(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = threading.Event()
    programs = fresh(34, 23)
    before = programs.made
    with watched(monkeypatch, gate) as done:
        stage = blurred(34, 23)
        shot(stage, 0.0)
        stage.close()
        gate.set()
        settle()
        assert programs.made - before <= 2 and done.qsize() <= 1  # the one that had begun
    assert not prepare._waiting


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_forks_and_the_end_of_the_interpreter_while_something_is_compiled() -> None:
    program = """
import os, sys
import dala
from dala.scene import Scene

dala.use("cpu")
stage = Scene(33, 23, target_fps=10, background="red")
stage.add_shape(size=(9, 9))
soft = stage.add_effect("blur", radius=0)
stage.animate(soft, "radius", 0, 10, 1000, "linear", at=0)
stage.render(0.0)
child = os.fork()
mean = float(stage.render(0.4).to_array().mean())
if child == 0:
    print(mean, flush=True)
    stage.render(0.0)  # and leave while the child's own thread compiles
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
print(mean, flush=True)
stage.render(0.0)
"""
    ran = subprocess.run(
        # Python 3.12 and later warn of every fork beside a thread
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", program],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert ran.returncode == 0 and ran.stderr == "", ran.stderr
    first, second = ran.stdout.split()
    assert first == second


# -- what is refused -------------------------------------------------------------------------------


def test_what_is_no_effect_is_refused_and_nothing_is_added() -> None:
    with Scene(8, 8, background="white") as stage:
        with pytest.raises(KernelNotFoundError, match="did you mean 'blur'"):
            stage.add_effect("blurr")
        with pytest.raises(ParameterError, match="radius"):
            stage.add_effect("blur", radius=-1)
        with pytest.raises(ParameterError, match="radios"):
            stage.add_effect("blur", radios=3)
        with pytest.raises(DalaError):
            stage.add_effect("def f(src):\n    return open('x')")
        soft = stage.add_effect("blur", radius=1)
        with pytest.raises(DalaError, match="radios"):
            stage.animate(soft, "radios", to=3)
        assert [node.type for node in stage.nodes()] == ["effect"]
        stage.remove_node(soft)
        stage.add_effect("resize", width=4)
        with pytest.raises(ShapeError, match="scale the layer instead"):
            stage.render(0.0)
