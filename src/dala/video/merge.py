"""Several videos in one picture: side by side, in a grid, one within the other; bars around one.

The first input gives the times of the frames (``timeline.py``); where pictures are placed is a Canvas
(``canvas.py``).
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Literal, get_args

from dala.colors import Color as Paint
from dala.colors import rgba
from dala.errors import ParameterError
from dala.media.program import engine_of
from dala.video.canvas import Box, Canvas, place_inputs
from dala.video.codecs import Settings, choose_encoder
from dala.video.collage import Collage, suits
from dala.video.color import usual_color
from dala.video.device import Format, FramePass, Middle
from dala.video.encoder import Encoder
from dala.video.encoding import Encoding, Words, with_words
from dala.video.hdr import is_hdr
from dala.video.inputs import Input, check_target
from dala.video.keeping import losses, made_plain
from dala.video.places import Spec, place_of
from dala.video.production import Extras, Report, produce_file
from dala.video.progress import OnProgress
from dala.video.sound import Audio, check_audio
from dala.video.source import OnDamage
from dala.video.timeline import Until, moments

if TYPE_CHECKING:
    from typing_extensions import Unpack

Position = Literal["top-left", "top-right", "bottom-left", "bottom-right", "center"]
Path = str | os.PathLike[str]


# -- the recipes -------------------------------------------------------------------------------


def side_by_side(
    left: Spec,
    right: Spec,
    dst: Path,
    *,
    height: int | None = None,
    gap: int = 0,
    audio: Audio = "copy",
    speaker: int = 0,
    until: Until = "longest",
    background: Paint = "black",
    encoding: Encoding | None = None,
    on_damage: OnDamage = "error",
    device: str | None = None,
    progress: OnProgress | None = None,
    **words: Unpack[Words],
) -> Report:
    """Two videos beside each other, equally high; ``speaker`` is the number of the one that is heard.

    Its sound is copied, encoded anew or left out, as ``audio`` says (see transcode).

    >>> import numpy as np
    >>> from dala import video
    >>> for name, level in (("a.mp4", 80), ("b.mp4", 160)):
    ...     with video.Writer(name, fps=25) as writer:
    ...         writer.write(np.full((48, 64, 3), level, np.uint8))
    >>> _ = video.side_by_side("a.mp4", "b.mp4", "both.mp4")
    >>> video.probe("both.mp4").width
    128
    """

    def lay(inputs: Sequence[Input]) -> Canvas:
        high = height or min(i.format.height for i in inputs)
        widths = [max(1, round(i.format.width * high / i.format.height)) for i in inputs]
        boxes = Box(0, 0, widths[0], high), Box(widths[0] + gap, 0, widths[1], high)
        return Canvas(sum(widths) + gap, high, boxes, rgba(background))

    _check_sizes(gap=gap, height=height)
    return _merge(
        [left, right],
        dst,
        lay,
        (audio, speaker),
        until,
        with_words(encoding, words),
        on_damage,
        device,
        progress,
    )


def grid(
    sources: Sequence[Spec],
    dst: Path,
    *,
    columns: int | None = None,
    cell: tuple[int, int] | None = None,
    gap: int = 0,
    audio: Audio = "copy",
    speaker: int = 0,
    until: Until = "longest",
    background: Paint = "black",
    encoding: Encoding | None = None,
    on_damage: OnDamage = "error",
    device: str | None = None,
    progress: OnProgress | None = None,
    **words: Unpack[Words],
) -> Report:
    """Videos in rows and columns, each within a cell of the same size, with bars where it needs them.

    >>> import numpy as np
    >>> from dala import video
    >>> with video.Writer("a.mp4", fps=25) as writer:
    ...     writer.write(np.full((48, 64, 3), 80, np.uint8))
    >>> _ = video.grid(["a.mp4"] * 3, "wall.mp4", columns=2)
    >>> wall = video.probe("wall.mp4")
    >>> wall.width, wall.height
    (128, 96)
    """
    if isinstance(sources, str | bytes) or not isinstance(sources, Sequence) or not sources:
        raise ParameterError(f"grid: expected a list of videos, got {sources!r}")
    across = columns or math.ceil(math.sqrt(len(sources)))
    wide, high = cell or (None, None)
    _check_sizes(gap=gap, columns=columns, width=wide, height=high)

    def lay(inputs: Sequence[Input]) -> Canvas:
        width, height = cell or (inputs[0].format.width, inputs[0].format.height)
        boxes = [
            Box((n % across) * (width + gap), (n // across) * (height + gap), width, height)
            for n in range(len(inputs))
        ]
        rows = -(-len(inputs) // across)
        size = across * (width + gap) - gap, rows * (height + gap) - gap
        return Canvas(*size, tuple(boxes), rgba(background))

    return _merge(
        sources,
        dst,
        lay,
        (audio, speaker),
        until,
        with_words(encoding, words),
        on_damage,
        device,
        progress,
    )


def letterbox(
    src: Spec,
    dst: Path,
    *,
    width: int,
    height: int,
    background: Paint = "black",
    audio: Audio = "copy",
    encoding: Encoding | None = None,
    on_damage: OnDamage = "error",
    device: str | None = None,
    progress: OnProgress | None = None,
    **words: Unpack[Words],
) -> Report:
    """A video scaled into a picture of another size, whole and undistorted, with bars around it.

    >>> import numpy as np
    >>> from dala import video
    >>> with video.Writer("tall.mp4", fps=25) as writer:
    ...     writer.write(np.full((64, 36, 3), 80, np.uint8))
    >>> _ = video.letterbox("tall.mp4", "wide.mp4", width=128, height=72)
    >>> video.probe("wide.mp4").width
    128
    """
    _check_sizes(width=width, height=height)

    def lay(inputs: Sequence[Input]) -> Canvas:
        return Canvas(width, height, (Box(0, 0, width, height),), rgba(background))

    return _merge(
        [src],
        dst,
        lay,
        (audio, 0),
        "first",
        with_words(encoding, words),
        on_damage,
        device,
        progress,
    )


def picture_in_picture(
    main: Spec,
    inset: Spec,
    dst: Path,
    *,
    position: Position = "top-right",
    width: int | None = None,
    margin: int = 20,
    audio: Audio = "copy",
    speaker: int = 0,
    until: Until = "first",
    encoding: Encoding | None = None,
    on_damage: OnDamage = "error",
    device: str | None = None,
    progress: OnProgress | None = None,
    **words: Unpack[Words],
) -> Report:
    """A small video in a corner of another; it is a quarter as wide unless ``width`` says otherwise.

    >>> import numpy as np
    >>> from dala import video
    >>> for name, level in (("a.mp4", 80), ("b.mp4", 160)):
    ...     with video.Writer(name, fps=25) as writer:
    ...         writer.write(np.full((96, 128, 3), level, np.uint8))
    >>> _ = video.picture_in_picture("a.mp4", "b.mp4", "pip.mp4", margin=4)
    >>> with video.Reader("pip.mp4") as reader:
    ...     picture = next(reader).rgba
    >>> int(picture[10, 120, 0]), int(picture[80, 10, 0])
    (160, 80)
    """
    if position not in get_args(Position):
        listed = ", ".join(get_args(Position))
        raise ParameterError(f"position is one of {listed}, got {position!r}")
    _check_sizes(width=width, gap=margin)

    def lay(inputs: Sequence[Input]) -> Canvas:
        ground, small = (i.format for i in inputs)
        wide = width or max(1, ground.width // 4)
        high = max(1, round(small.height * wide / small.width))
        left = margin if "left" in position else ground.width - wide - margin
        top = margin if "top" in position else ground.height - high - margin
        if position == "center":
            left, top = (ground.width - wide) // 2, (ground.height - high) // 2
        if min(left, top, ground.width - wide - left, ground.height - high - top) < 0:
            raise ParameterError(
                f"picture_in_picture: {wide} × {high} with a margin of {margin} does not fit into "
                f"{ground.width} × {ground.height}"
            )
        boxes = Box(0, 0, ground.width, ground.height), Box(left, top, wide, high)
        return Canvas(ground.width, ground.height, boxes, rgba("black"))

    return _merge(
        [main, inset],
        dst,
        lay,
        (audio, speaker),
        until,
        with_words(encoding, words),
        on_damage,
        device,
        progress,
    )


# -- what they share ---------------------------------------------------------------------------


def _check_sizes(**sizes: int | None) -> None:
    for name, size in sizes.items():
        least = 0 if name == "gap" else 1
        whole = isinstance(size, int) and not isinstance(size, bool)
        if size is not None and (not whole or size < least):
            raise ParameterError(f"{name} must be a whole number from {least} up, got {size!r}")


def _merge(
    sources: Sequence[Spec],
    dst: Path,
    lay: Callable[[Sequence[Input]], Canvas],
    sound: tuple[Audio, int],
    until: Until,
    encoding: Encoding,
    on_damage: OnDamage,
    device: str | None,
    progress: OnProgress | None,
) -> Report:
    audio, speaker = sound
    check_audio(audio)
    if isinstance(speaker, bool) or speaker not in range(len(sources)):
        raise ParameterError(
            f"speaker is the number of an input, 0..{len(sources) - 1}; got {speaker!r}"
        )
    if until not in get_args(Until):
        raise ParameterError(f"until is one of {', '.join(get_args(Until))}, got {until!r}")
    check_target(dst, [place_of(s) for s in sources])
    settings = choose_encoder(dst, encoding)
    with ExitStack() as opened:
        inputs: list[Input] = []
        for number, source in enumerate(sources):
            heard: Audio = audio if number == speaker else "none"
            inputs.append(Input(source, audio=heard, subtitles="none", on_damage=on_damage))
            opened.callback(inputs[-1].close)
        canvas = lay(inputs)
        color = usual_color(canvas.width, canvas.height)
        target = Format("yuv420p", canvas.width, canvas.height, color)
        firsts, notes = zip(*(_plainly(i, settings) for i in inputs), strict=True)
        engine, formats = engine_of(device), [i.format for i in inputs]
        frames: FramePass | Collage
        if not any(firsts) and suits(engine, formats, target, canvas):
            frames = Collage(engine, formats, target, canvas)
        else:
            frames = FramePass(engine, formats, target, place_inputs(canvas, firsts))
        frames.compile()
        encoder = Encoder(
            settings,
            width=canvas.width,
            height=canvas.height,
            color=color,
            time_base=inputs[0].clock.time_base,
            fps=inputs[0].fps,
        )
        voice = None if audio == "none" else speaker
        made = moments(inputs, voice, until)
        extras = Extras(notes=list(dict.fromkeys(word for words in notes for word in words)))
        return produce_file(inputs, voice, made, frames, encoder, progress, extras)


def _plainly(source: Input, settings: Settings) -> tuple[Middle | None, list[str]]:
    """How an input becomes SDR without alpha, as several in one picture are; and what it loses by that."""
    hdr = is_hdr(source.color)
    if hdr:
        source.keep_bits()
    lost = losses(source, settings, tonemap=hdr)
    if hdr:
        lost.append(f"HDR of {source.name} (it is SDR)")
    return made_plain(source, tonemap=hdr, drops_alpha=True), lost
