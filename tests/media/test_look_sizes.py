"""A look is the same look on a thumbnail and on a large photo."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image
from skimage import data

from dala import media
from dala.media import Chain, looks
from dala.media.step import REFERENCE

WIDE, FACTOR = 4096, 8
# as wide as a large photo, but low, so that it does not take long
LARGE = np.asarray(Image.fromarray(data.astronaut()).resize((WIDE, WIDE), Image.Resampling.BICUBIC))
LARGE = np.ascontiguousarray(LARGE[600:1112])
SMALL = media.resize(LARGE, scale=1 / FACTOR, interpolation="area")
GRAINY = {name for name in looks.names() if any(s.name == "grain" for s in looks.load(name).steps)}


def reduced(name: str | Chain) -> np.ndarray:
    """The look on the large picture, reduced afterwards."""
    filtered = media.apply_filters(LARGE, name)
    return media.resize(filtered, scale=1 / FACTOR, interpolation="area").astype(float)


@pytest.mark.parametrize("name", sorted(set(looks.names()) - GRAINY))
def test_large_and_small_look_alike(name: str) -> None:
    apart = np.abs(reduced(name) - media.apply_filters(SMALL, name))
    assert apart.mean() < 1.2
    assert np.quantile(apart, 0.99) <= 8


@pytest.mark.parametrize("name", sorted(GRAINY))
def test_grain_is_as_strong(name: str) -> None:
    steps = looks.load(name).steps
    plain = Chain([s for s in steps if s.name != "grain"])
    large, small = (
        reduced(name) - reduced(plain),
        (media.apply_filters(SMALL, name).astype(float) - media.apply_filters(SMALL, plain)),
    )
    assert 0.85 < large.std() / small.std() < 1.2
    assert abs(large.mean()) < 0.5


def as_written(name: str) -> Chain:
    """The same filters with their lengths as they stand in the file."""
    return Chain.of([(s.name, dict(s.params)) for s in looks.load(name).steps])


def test_without_following_the_size_they_would_not() -> None:
    small = media.apply_filters(SMALL, "soft").astype(float)
    follows, stays = (np.abs(reduced(c) - small).mean() for c in ("soft", as_written("soft")))
    assert stays > 4 * follows
    film = as_written("film")
    plain = reduced(film.replaced(film.steps[:-1]))
    assert (reduced("film") - plain).std() > 3 * (reduced(film) - plain).std()  # averaged away


def test_lengths_follow_the_longer_side() -> None:
    glow = looks.load("soft").steps[1]
    assert glow.values["radius"] == 14
    assert glow.values_at(REFERENCE, 300)["radius"] == 14
    assert glow.values_at(300, 2 * REFERENCE)["radius"] == 28
    assert glow.values_at(100, 50)["radius"] == 14  # not smaller: a pixel is a pixel
    assert glow.values_at(60_000, 60_000)["radius"] == 400  # what the kernel takes
    assert glow.values_at(600, 600)["amount"] == 0.6
    plain = Chain.of([("glow", {"radius": 14})]).steps[0]
    assert plain.values_at(4096, 4096)["radius"] == 14  # a filter by itself is in pixels


def test_a_file_of_ones_own_follows_too(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("looks") / "mine.look"
    looks.save(path, [("blur", {"radius": 2, "sigma": 1.5}), ("sharpen", {})])
    blur, sharpen = looks.load(path).steps
    assert blur.values_at(2048, 1024) == {"radius": 8, "sigma": 6.0}
    assert sharpen.values_at(2048, 1024) == {"amount": 0.5, "radius": 4}
    assert "radius=2" in path.read_text()
