"""transcode: a video through filters into another file, sound and timing as they were.

    demux → decode ─┬─ frames ──→ one fused pass: YUV → RGBA → filters → YUV ──→ encode ─┬→ mux
                    └─ packets of sound and subtitles, as they are ─────────────────────┘

Packets ride along with the frame that follows them, so one bounded queue holds both.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, get_args

from dala.compute.pipelines import Pipeline
from dala.errors import ParameterError
from dala.media.chain import Chain, Filters
from dala.media.program import engine_of
from dala.media.stages import ON_BLACK
from dala.video.codecs import choose_encoder
from dala.video.color import Matrix, Range, check_color
from dala.video.device import Format, FramePass, Middle, PassThrough, Tensor, rgba_scratch
from dala.video.encoder import Encoder
from dala.video.encoding import Encoding, Words, with_words
from dala.video.first_frame import look_at_first_frame
from dala.video.inputs import Input, Keep, check_target
from dala.video.production import Moment, Report, produce_file
from dala.video.progress import OnProgress
from dala.video.sound import Audio, check_audio
from dala.video.source import OnDamage, Spec, place_of

if TYPE_CHECKING:
    from typing_extensions import Unpack


def transcode(
    src: Spec,
    dst: str | os.PathLike[str],
    filters: Filters = (),
    *,
    audio: Audio = "copy",
    subtitles: Keep = "copy",
    encoding: Encoding | None = None,
    matrix: Matrix | None = None,
    range: Range | None = None,
    on_damage: OnDamage = "error",
    device: str | None = None,
    progress: OnProgress | None = None,
    **words: Unpack[Words],
) -> Report:
    """A video through filters into another file.

    Every frame keeps its time, variable rates too; sound and subtitles are copied packet by packet, and so
    are chapters and metadata; ``audio="encode"`` is for containers that cannot hold the sound. Pictures of
    phones that are stored turned are written upright. The file appears under its name when it is complete;
    an error or Ctrl-C leaves nothing behind. Damage in the input is an error that says after how many
    frames; ``on_damage="conceal"`` goes on with what is left.
    ``encoding`` and its parts by themselves (``preset="medium"``) say how it is encoded; see Encoding.
    ``matrix`` and ``range`` overrule what the input says of its colours. ``progress`` is called with a
    Progress some 20 times a second; an exception raised in it ends the transcode.

    >>> import numpy as np
    >>> from dala import video
    >>> with video.Writer("plain.mp4", fps=25) as writer:
    ...     for level in (50, 100, 150):
    ...         writer.write(np.full((48, 64, 3), level, np.uint8))
    >>> report = video.transcode("plain.mp4", "graded.mp4", [("brightness", {"value": 0.2}), "invert"])
    >>> report.frames, report.duration
    (3, Fraction(3, 25))
    """
    check_color(matrix, range)
    check_audio(audio)
    if subtitles not in get_args(Keep):
        raise ParameterError(f"subtitles is one of {', '.join(get_args(Keep))}, got {subtitles!r}")
    chain = Chain.of(filters)
    check_target(dst, [place_of(src)])
    settings = choose_encoder(os.fspath(dst), with_words(encoding, words))
    chain = look_at_first_frame(chain, src, device)
    source = Input(
        src, audio=audio, subtitles=subtitles, on_damage=on_damage, matrix=matrix, range=range
    )
    try:
        width, height = chain.size_after(source.format.width, source.format.height)
        target = Format("yuv420p", width, height, source.color)
        frames: FramePass | PassThrough = PassThrough(engine_of(device), target)
        if len(chain) or target != source.format:
            frames = FramePass(engine_of(device), [source.format], target, filter_stage(chain))
        frames.compile()
        encoder = Encoder(
            dst,
            settings,
            width=width,
            height=height,
            color=source.color,
            time_base=source.clock.time_base,
            fps=source.fps,
            aspect=source.aspect,
        )
        return produce_file([source], 0, _moments(source), frames, encoder, progress)
    finally:
        source.close()


def filter_stage(chain: Chain) -> Middle | None:
    """What a chain does to a picture; what became transparent is seen on black."""
    if not len(chain):
        return None

    def add(pipeline: Pipeline, pictures: Sequence[Tensor], output: Tensor) -> None:
        if not chain.writes_alpha:
            chain.add_to(pipeline, pictures[0], output)
            return
        filtered = rgba_scratch(*output.shape[:2])
        chain.add_to(pipeline, pictures[0], filtered)
        pipeline.add({"kernel": ON_BLACK, "inputs": [filtered], "output": output})

    return add


def _moments(source: Input) -> Iterator[Moment]:
    for picture, packets in source.items():
        if picture is None:
            yield Moment((), 0, 0, packets)
        else:
            pts, duration = source.clock.stamp(picture)
            yield Moment((picture,), pts, duration or source.usual_duration, packets)
