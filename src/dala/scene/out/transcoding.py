"""A video through a scene: it becomes the stream of the node ``input``; rate, length and sound are its."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any, Protocol

from dala.errors import ParameterError, VideoError
from dala.scene.out.export import export
from dala.scene.out.stage import Composed
from dala.scene.sources import open_media
from dala.video.inputs import check_target
from dala.video.places import place_of
from dala.video.production import Report

INPUT = "input"


class Editable(Composed, Protocol):
    """A scene whose nodes can be changed."""

    def nodes(self, type: str | None = None) -> list[Any]: ...
    def update_node(self, node: Any, **props: Any) -> None: ...


def transcode_through(
    scene: Editable, src: Any, dst: str | os.PathLike[str], **options: Any
) -> Report:
    """Export a scene whose node ``input`` shows ``src``; afterwards the node is as it was."""
    check_target(dst, [place_of(src)])
    given_end, chosen = options.pop("end", None), options.pop("fps", None)
    with showing(scene, src) as (rate, length):
        end = end_of(src, length) if given_end is None else given_end
        return export(scene, dst, fps=chosen or rate or scene.target_fps, end=end, **options)


@contextmanager
def showing(scene: Editable, src: Any) -> Iterator[tuple[float | Fraction | None, Fraction | None]]:
    """For a while the scene's node ``input`` shows a video; its rate and its length."""
    named = [node for node in scene.nodes("video") if node.props.get("name") == INPUT]
    if not named:
        raise ParameterError(
            "transcode: expected a video node named 'input' in the scene: add_video(…, name='input')"
        )
    source = open_media(src)
    try:
        rate, length = getattr(source, "rate", None), source.duration
    finally:
        source.close()
    before = named[0].props["stream"]
    scene.update_node(named[0].id, stream=src)
    try:
        yield rate, length
    finally:
        scene.update_node(named[0].id, stream=before)


def end_of(src: Any, length: Fraction | None) -> Fraction:
    """When a video is over."""
    if length is None:
        raise VideoError(f"{place_of(src).name}: it does not say how long it is; say end=…")
    return length
