"""stream: a scene, live, to a server, a folder or a device; recorded at the same time if wanted."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from dala.errors import ParameterError
from dala.scene.out.broadcast import Broadcast
from dala.scene.out.stage import Composed, check_stage, fps_of
from dala.scene.sources.source import Report
from dala.scene.times import Time, planned
from dala.video.codecs import choose_encoder
from dala.video.encoding import Encoding, Words, with_words

if TYPE_CHECKING:
    from typing_extensions import Unpack

Path = str | os.PathLike[str]


def stream(
    scene: Composed,
    url: Path,
    *,
    record: Path | None = None,
    fps: float | Fraction | None = None,
    start: Time = 0,
    end: Time | None = None,
    video: Encoding | None = None,
    audio: Literal["mix", "none"] = "mix",
    device: str | None = None,
    keep_segments: bool = False,
    on_report: Callable[[Report], None] | None = None,
    block: bool = True,
    **words: Unpack[Words],
) -> Broadcast:
    """Send a scene out as it plays: ``rtmp://…``, ``srt://…``, ``folder/live.m3u8`` (HLS), ``whip://…``,
    ``/dev/video9`` (a v4l2 device); ``record`` is a file written at the same time.

    The scene goes on whatever happens to its sources: cameras and streams that break off show their last
    frame and are opened again, and so is a server that is gone; ``on_report`` and ``Broadcast.reports``
    tell. Nodes may be added, changed and removed while it runs. It ends at ``end``, by Ctrl-C, or, with
    ``block=False``, when the returned Broadcast is closed; its ``stats`` count late frames and lost ones.

    An HLS list names the last 16 seconds, and older segments are deleted; with ``keep_segments`` it names
    all and they stay, as those of a recording do.

    >>> from dala import scene
    >>> with scene.Scene(64, 48, background="navy") as stage:
    ...     done = scene.stream(stage, "live.m3u8", fps=25, end=0.2)
    >>> done.closed
    True
    """
    check_stage(scene, "stream")
    if audio not in ("mix", "none"):
        raise ParameterError(f"stream: audio is 'mix' or 'none', got {audio!r}")
    begin = planned(start, "stream: start")
    last = None if end is None else planned(end, "stream: end")
    if begin < 0 or (last is not None and last <= begin):
        raise ParameterError(
            f"stream: expected a start from 0 up and an end after it, got {start}..{end}"
        )
    encoding = with_words(video, words)
    first = choose_encoder(url, encoding)
    outputs = [replace(first, target=replace(first.target, rolling=not keep_segments))]
    if record is not None:
        outputs.append(choose_encoder(record, encoding))
    if len({settings.takes_rgba for settings in outputs}) > 1:
        raise ParameterError("stream: an output with alpha and one without cannot be made at once")
    live = Broadcast(
        scene,
        outputs,
        fps=fps_of(scene, fps),
        start=begin,
        end=last,
        sound=audio == "mix",
        device=device,
        on_report=on_report,
    )
    if block:
        try:
            live.wait()
        finally:
            live.close()
    return live
