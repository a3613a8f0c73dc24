"""Clips of the pages are light, are all there, and stand still for who asks for it."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[2] / "docs"
MOST = 300_000  # bytes of a clip
PAGES = "".join(page.read_text(encoding="utf-8") for page in DOCS.glob("*.md"))
SHOWN = sorted(set(re.findall(r"\(clips/(\w+)\.webp\)", PAGES)))


@pytest.fixture(scope="module")
def images() -> Any:
    spec = importlib.util.spec_from_file_location("images", DOCS / "generate" / "images.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_pages_show_every_clip() -> None:
    assert sorted(path.stem for path in (DOCS / "clips").glob("*.webp")) == SHOWN


@pytest.mark.parametrize("name", SHOWN)
def test_a_clip_moves_is_light_and_has_a_still(name: str) -> None:
    image = pytest.importorskip("PIL.Image")
    clip = DOCS / "clips" / f"{name}.webp"
    assert clip.stat().st_size <= MOST
    with image.open(clip) as moving, image.open(clip.with_suffix(".jpg")) as still:
        assert moving.n_frames > 1
        assert moving.size == still.size


def test_a_reader_who_wants_less_movement_gets_the_still(images: Any) -> None:
    html = images.settle(
        '<p><img alt="a" src="clips/easings.webp" /></p>', lambda address: (64, 40)
    )
    assert html == (
        '<p><picture><source media="(prefers-reduced-motion: reduce)" srcset="clips/easings.jpg">'
        '<img loading="lazy" width="64" height="40" alt="a" src="clips/easings.webp"></picture></p>'
    )


def test_an_image_of_unknown_size_is_loaded_at_once(images: Any) -> None:
    html = images.settle('<img alt="a" src="made/blur.jpg" title="b" />', lambda address: None)
    assert html == '<img alt="a" src="made/blur.jpg" title="b">'
