"""Pauses: a picture stands, its sound is silent, both go on where they were, to the sample."""

from __future__ import annotations

import json
import math
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tracks import LOSSLESS, RATE, STEP, levels, samples, write_counted

from dala import scene
from dala.errors import ParameterError, SceneFileError
from dala.scene import Scene
from dala.scene.evaluate.playing import source_time
from dala.scene.nodes.node import make_node, type_of
from dala.scene.sources import Pause, TimeMap
from dala.scene.sources.timemap import paused, resumed

FPS = 25


def expected(pauses: list[tuple[Fraction, Fraction]], seconds: int) -> tuple[list[int], Any]:
    """Levels of frames and samples of a counted film that stands still from one time to another."""

    def played(time: Fraction) -> Fraction:
        return time - sum(max(min(time, end) - begin, Fraction(0)) for begin, end in pauses)

    shown = [int(played(Fraction(n, FPS)) * FPS) * STEP % 256 for n in range(seconds * FPS)]
    heard = np.zeros(seconds * RATE, np.int64)
    for k in range(seconds * RATE):
        time = Fraction(k, RATE)
        if not any(begin <= time < end for begin, end in pauses):
            heard[k] = math.floor(played(time) * RATE + Fraction(1, 2)) % 30_000
    return shown, heard


def close(found: list[int], wanted: list[int]) -> bool:
    return len(found) == len(wanted) and all(
        abs(a - b) <= 2 for a, b in zip(found, wanted, strict=True)
    )


def test_a_film_stands_and_goes_on_to_the_sample(tmp_path: Path) -> None:
    """Pauses between frames and between samples, in a film that begins later."""
    film = write_counted(tmp_path / "film.mkv", frames=50)
    pauses = [(Fraction(1, 3), Fraction(4, 5)), (Fraction(1001, 997), Fraction(5, 4))]
    with Scene(32, 16, target_fps=FPS) as stage:
        node = stage.add_video(str(film), size=(32, 16), start=1.0)
        for begin, end in pauses:
            stage.pause(node, at=1 + begin, until=1 + end)
        assert [tuple(pause) for pause in stage.node(node).pauses] == [
            (begin, end - begin) for begin, end in pauses
        ]
        extra = sum(end - begin for begin, end in pauses)
        assert stage.duration == 3 + extra
        scene.export(stage, tmp_path / "out.mkv", end=3.0, video=LOSSLESS)
    shown, heard = expected(pauses, 2)
    assert close(levels(tmp_path / "out.mkv")[FPS:], shown)
    assert np.array_equal(samples(tmp_path / "out.mkv")[RATE:], heard)


def test_pause_and_resume_while_it_plays(tmp_path: Path) -> None:
    """Paused now, resumed later: as if it had been said beforehand, in the picture and the sound."""
    film = write_counted(tmp_path / "film.mkv", frames=50)
    clock = scene.Clock("manual")
    with Scene(32, 16, target_fps=FPS, clock=clock) as stage:
        node = stage.add_video(str(film), size=(32, 16), name="film")
        clock.advance(0.4)
        stage.pause("film")
        assert stage.node(node).pauses == (Pause(Fraction(2, 5), None),)
        assert stage.duration is None  # it never ends so
        clock.advance(0.6)
        still = stage.render()
        assert abs(int(still.to_array()[0, 0, 0]) - 10 * STEP) <= 2
        stage.resume("film")
        assert stage.node(node).pauses == (Pause(Fraction(2, 5), Fraction(3, 5)),)
        scene.export(stage, tmp_path / "out.mkv", start=0, end=2.0, video=LOSSLESS)
    shown, heard = expected([(Fraction(2, 5), Fraction(1))], 2)
    assert close(levels(tmp_path / "out.mkv"), shown)
    assert np.array_equal(samples(tmp_path / "out.mkv"), heard)


def test_a_pause_for_good_is_silent_and_stands(tmp_path: Path) -> None:
    film = write_counted(tmp_path / "film.mkv", frames=25)
    with Scene(32, 16, target_fps=FPS) as stage:
        node = stage.add_video(str(film), size=(32, 16), fade_out_ms=100)
        stage.pause(node, at=0.5)
        scene.export(stage, tmp_path / "out.mkv", end=2.0, video=LOSSLESS)
    assert close(levels(tmp_path / "out.mkv")[12:], [12 * STEP] * 38)
    heard = samples(tmp_path / "out.mkv")
    assert np.array_equal(heard[: RATE // 2], np.arange(RATE // 2)) and not heard[RATE // 2 :].any()


def test_sounds_scenes_and_loops_pause_as_well(tmp_path: Path) -> None:
    """A scene within a scene that loops: its sound begins again with its picture."""
    film = write_counted(tmp_path / "film.mkv", frames=10)
    with Scene(32, 16, target_fps=FPS) as inner, Scene(32, 16, target_fps=FPS) as stage:
        inner.add_video(str(film), size=(32, 16))
        node = stage.add_scene(inner, loop=True)
        stage.pause(node, at=0.2, until=0.6)
        scene.export(stage, tmp_path / "out.mkv", end=2.0, video=LOSSLESS)
    times = TimeMap(end=Fraction(2, 5), loop=True, pauses=(Pause(Fraction(1, 5), Fraction(2, 5)),))
    wanted = [int(times.at(Fraction(n, FPS)) * FPS) * STEP for n in range(50)]
    assert close(levels(tmp_path / "out.mkv"), wanted)
    heard = samples(tmp_path / "out.mkv")
    length = 10 * RATE // FPS
    stretch = np.arange(length)
    silent = np.zeros(length, np.int64)
    assert np.array_equal(
        heard[: 3 * length],
        np.concatenate([stretch[: length // 2], silent, stretch[length // 2 :], stretch]),
    )


def test_pauses_meet_and_are_cut() -> None:
    """Against a list of what stands still at every tenth of a second."""
    chance = random.Random(4)
    for _ in range(200):
        pauses: tuple[Pause, ...] = ()
        still = [False] * 40
        for _ in range(6):
            begin = chance.randrange(30)
            end = chance.choice([None, begin + chance.randrange(1, 12)])
            if chance.random() < 0.3:
                made = resumed(pauses, Fraction(begin, 10))
                assert (made is None) == (not still[begin])
                if made is not None:
                    pauses, n = made, begin
                    while n < 40 and still[n]:
                        still[n], n = False, n + 1
                continue
            pauses = paused(pauses, Fraction(begin, 10), None if end is None else Fraction(end, 10))
            still[begin:end] = [True] * len(still[begin:end])
        map_ = TimeMap(pauses=pauses)
        for n in range(40):
            assert any(pause.holds(Fraction(n, 10)) for pause in pauses) == still[n]
        ran = sum(not one for one in still)
        assert map_.at(Fraction(4)) == Fraction(ran, 10)
        played = sum(
            (s.end - s.begin for s in map_.segments(Fraction(0), Fraction(4))), Fraction(0)
        )
        assert played == Fraction(ran, 10)


def test_a_node_is_over_when_what_it_plays_is() -> None:
    """A pause behind the end lengthens nothing."""
    map_ = TimeMap(
        end=Fraction(2), pauses=(Pause(Fraction(1), Fraction(1)), Pause(Fraction(5), None))
    )
    assert map_.length == 3 and map_.is_over(Fraction(3)) and not map_.is_over(Fraction(29, 10))
    assert TimeMap(end=Fraction(2), pauses=(Pause(Fraction(1), None),)).length is None


def test_a_source_that_grows_is_played_to_its_new_end() -> None:
    node = make_node(1, type_of("video", "test"), {"stream": "a.mp4", "speed": 2.0}, "test")
    places = [source_time(node, Fraction(2), Fraction(length)) for length in (3, 5, 3)]
    assert places == [None, Fraction(4), None]
    assert source_time(node, Fraction(9), None) == 18


def test_wrong_pauses_are_refused() -> None:
    with Scene(8, 8) as stage:
        node = stage.add_video(np.zeros((50, 4, 4, 3), np.uint8), start=1.0)
        text = stage.add_text("x")
        for wrong, says in (
            (lambda: stage.pause(text, at=1.0), "plays nothing"),
            (lambda: stage.pause(node, at=2.0, until=2.0), "an end after its begin"),
            (lambda: stage.pause(node, at=0.0, until=1.0), "after the node's start"),
            (lambda: stage.resume(node, at=1.5), r"does not stand still at 1.5 s"),
            (lambda: stage.update_node(node, pauses=[(1, None), (2.0, 1.0)]), "in order and apart"),
        ):
            with pytest.raises(ParameterError, match=says):
                wrong()
        assert stage.node(node).pauses == ()
        stage.pause(node, at=0.0, until=2.0)  # from before it began
        assert stage.node(node).pauses == (Pause(Fraction(0), Fraction(1)),)


def test_in_files(tmp_path: Path) -> None:
    film = write_counted(tmp_path / "film.mkv", frames=25, sound=False)
    with Scene(32, 16) as stage:
        node = stage.add_video(str(film), size=(32, 16))
        stage.pause(node, at=0.25, until=Fraction(1, 3))
        stage.pause(node, at=0.5)
        path = scene.save(stage, tmp_path / "film.json")
        document = json.loads(path.read_text())
        assert document["nodes"][0]["pauses"] == [[0.25, "1/12"], [0.5, None]]
        with scene.load(path) as loaded:
            assert loaded.node(loaded.nodes()[0]).pauses == stage.node(node).pauses
    document["nodes"][0]["pauses"] = [[1, None], [0.5, 1]]
    path.write_text(json.dumps(document))
    with pytest.raises(SceneFileError, match=r"/nodes/0/pauses: pauses come in order"):
        scene.load(path)
