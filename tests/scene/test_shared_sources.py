"""Nodes that show the same moments of a file share its decoder; those that do not have their own."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from clips import write_clip

from dala.scene import Scene
from dala.scene.sources import Source


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(write_clip(tmp_path_factory.mktemp("film") / "film.mp4", frames=50, size=(64, 48)))


@pytest.fixture
def stage() -> Iterator[Scene]:
    with Scene(64, 96, target_fps=25) as made:
        yield made


def source(stage: Scene, node: int) -> Source:
    return stage.streams.source(stage.node(node))


def test_a_film_on_itself_is_decoded_once(stage: Scene, film: str) -> None:
    below = stage.add_video(film, size=(64, 48))
    above = stage.add_video(film, size=(64, 48), position=(0, 48), opacity=1.0)
    assert source(stage, below) is source(stage, above)
    for time in (Fraction(1, 2), Fraction(0), Fraction(3, 2)):
        pixels = stage.render(time).to_array()
        assert np.array_equal(pixels[:48], pixels[48:]) and pixels[:48].std() > 0


@pytest.mark.parametrize(
    "other",
    [{"start": 0.5}, {"source_start": 0.4}, {"source_end": 1.0}, {"speed": 2.0}, {"loop": True}],
    ids=lambda words: next(iter(words)),
)
def test_other_moments_have_a_decoder_of_their_own(
    other: dict[str, Any], stage: Scene, film: str
) -> None:
    one, two = stage.add_video(film), stage.add_video(film, **other)
    assert source(stage, one) is not source(stage, two)


def test_they_part_and_meet(stage: Scene, film: str) -> None:
    one = stage.add_video(film, size=(64, 48))
    two = stage.add_video(film, size=(64, 48), position=(0, 48))
    shared = source(stage, one)
    stage.render(0.2)
    stage.update_node(two, source_start=1.0)
    pixels = stage.render(0.2).to_array()
    assert not np.array_equal(pixels[:48], pixels[48:])
    own = source(stage, two)
    assert source(stage, one) is shared is not own
    stage.update_node(two, source_start=1.2)  # alone with it: the decoder goes on
    stage.render(0.2)
    assert source(stage, two) is own and not own.closed  # type: ignore[attr-defined]
    stage.update_node(two, source_start=0.0)
    assert source(stage, two) is own
    stage.remove_node(one)
    stage.render(0.4)
    assert shared.closed and not own.closed  # type: ignore[attr-defined]


def test_it_is_closed_with_the_last_of_them(stage: Scene, film: str) -> None:
    nodes = [stage.add_video(film) for _ in range(3)]
    shared: Any = source(stage, nodes[0])
    for node in nodes[:2]:
        stage.remove_node(node)
        stage.render(0.2)
        assert not shared.closed
    stage.remove_node(nodes[2])
    stage.render(0.2)
    assert shared.closed


def test_a_camera_is_opened_once(stage: Scene) -> None:
    """Whenever its nodes begin: it has one moment, and most cameras one user."""
    nobody = "tcp://127.0.0.1:9"
    one = stage.add_video(nobody)
    two = stage.add_video(nobody, start=0.5, size=(8, 8))
    assert source(stage, one) is source(stage, two)
