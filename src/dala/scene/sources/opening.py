"""Whatever a user names or hands over, as a source."""

from __future__ import annotations

import os
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from dala.errors import ArgumentError
from dala.scene.sources.film import FilmSource
from dala.scene.sources.live import LiveSource
from dala.scene.sources.made import CallSource
from dala.scene.sources.nested import SceneSource
from dala.scene.sources.source import Source, Supply
from dala.scene.sources.stills import ArraySource, ImageSource, PicturesSource
from dala.video.places import Place, Spec, place_of
from dala.video.reader import Reader
from dala.video.source import OnDamage
from dala.video.span import rate_of

STILLS = (".png", ".jpg", ".jpeg", ".webp", ".bmp", ".tif", ".tiff", ".avif", ".jxl", ".heic")
MOVING = (".webp",)  # pictures of which some move


def open_media(
    media: Any,
    supply: Supply | None = None,
    *,
    fps: float | Fraction | None = None,
    size: tuple[int, int] | None = None,
    on_damage: OnDamage = "error",
) -> Source:
    """A source of pictures.

    A path of a video, an animated GIF or a picture; ``"frames/%04d.png"`` or a list of files; a camera's
    number, ``"screen"``, a URL; an array of one picture or of many (``fps``); a PIL image; a function of
    the time; a ``video.Reader``; a scene; or a source itself.

    >>> import numpy as np
    >>> from dala.scene.sources import open_media
    >>> open_media(np.zeros((10, 4, 6, 3), np.uint8), fps=5).duration
    Fraction(2, 1)
    """
    if isinstance(media, Source):
        return media
    if isinstance(media, Reader):
        place = media.place
        if is_live(place):
            return LiveSource(lambda: media, place.name, supply)
        return _film(place, supply, on_damage)
    if isinstance(media, str | int | os.PathLike) and not isinstance(media, bool):
        return _of_place(
            place_of(media, fps=_wish(media, fps), size=size), media, supply, on_damage
        )
    if (
        isinstance(media, list | tuple)
        and media
        and all(isinstance(m, str | os.PathLike) for m in media)
    ):
        return PicturesSource(place_of(list(media), fps=fps), supply)
    if isinstance(media, np.ndarray):
        many = media.ndim == 4 or (media.ndim == 3 and media.shape[2] not in (1, 3, 4))
        return ArraySource(media, rate_of(fps or 25)) if many else ImageSource(media)
    if hasattr(media, "render") and hasattr(media, "width") and hasattr(media, "height"):
        return SceneSource(media)
    if callable(media) and not hasattr(media, "__array__"):
        return CallSource(media)
    if isinstance(media, Sequence) and not isinstance(media, bytes):
        raise ArgumentError(f"expected paths of pictures, got {media[:1]!r} …")
    return ImageSource(media)


def _wish(media: Any, fps: float | Fraction | None) -> float | Fraction | None:
    """A rate is what pictures, cameras and screens are asked for; a file has its own."""
    if fps is None or isinstance(media, int):
        return fps
    where = place_of(media).where
    return fps if where in ("pictures", "camera", "screen") else None


def is_live(place: Place) -> bool:
    """Whether it shows what is now, not what is asked for."""
    if place.where == "pattern":
        return "realtime" in place.url
    return place.where in ("camera", "screen", "stream", "stdin")


def _film(place: Place, supply: Supply | None, on_damage: OnDamage) -> Source:
    return FilmSource(place, supply, on_damage=on_damage)


def _of_place(place: Place, media: Spec, supply: Supply | None, on_damage: OnDamage) -> Source:
    if is_live(place):
        return LiveSource(_opens_again(media, place), place.name, supply)
    if place.where == "pictures":
        return PicturesSource(place, supply)
    suffix = os.path.splitext(place.name)[1].lower()
    if place.where == "file" and suffix in STILLS and not _moves(place, suffix):
        return ImageSource(os.fspath(media) if isinstance(media, str | os.PathLike) else media)
    return _film(place, supply, on_damage)


def _opens_again(media: Spec, place: Place) -> Any:
    wishes = {k: v for k, v in place.options.items() if k in ("video_size", "framerate")}
    size = tuple(map(int, wishes["video_size"].split("x"))) if "video_size" in wishes else None
    fps = (
        Fraction(wishes["framerate"]) if place.where == "camera" and "framerate" in wishes else None
    )
    return lambda: Reader(media, reconnect=0, size=size, fps=fps)  # type: ignore[arg-type]


def _moves(place: Place, suffix: str) -> bool:
    """Whether a picture's file holds several frames."""
    if suffix not in MOVING:
        return False
    with open(place.url.removeprefix("file:"), "rb") as file:
        return b"ANIM" in file.read(64)
