"""transcode: a video through filters into another file, sound and timing as they were.

    demux → decode ─┬─ frames ──→ one fused pass: YUV → RGBA → filters → YUV ──→ encode ─┬→ mux
                    └─ packets of sound and subtitles, as they are ─────────────────────┘

Packets ride along with the frame that follows them, so one bounded queue holds both.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, get_args

from dala.compute.buffers import Buffer
from dala.compute.engine import Engine
from dala.compute.pipelines import Pipeline
from dala.errors import ParameterError
from dala.media.chain import Chain, Filters
from dala.media.masks import Begin, LiveMasks
from dala.media.program import engine_of
from dala.media.stages import ON_BLACK
from dala.video.codecs import Settings, choose_encoder, codec_for
from dala.video.color import Matrix, Range, check_color
from dala.video.device import Format, FramePass, Live, Middle, PassThrough, Tensor, rgba_scratch
from dala.video.encoder import Encoder, target_format
from dala.video.encoding import Encoding, Words, with_words
from dala.video.first_frame import look_at_first_frame
from dala.video.hdr import SDR, is_hdr, tonemap_stage
from dala.video.inputs import Input, Keep, check_target
from dala.video.keeping import losses, settle
from dala.video.over import OnOver, Over, laid_over
from dala.video.places import PICTURES_FPS, Spec, place_of
from dala.video.production import Extras, Moment, Report, produce_file
from dala.video.progress import OnProgress
from dala.video.retime import moments_of, time_base_of
from dala.video.sound import Audio, SoundFile, sound_file
from dala.video.source import OnDamage
from dala.video.span import Span, span_of
from dala.video.touch import OnFrame, Touch

if TYPE_CHECKING:
    from typing_extensions import Unpack

Time = float | Fraction | str


class Through(Protocol):
    """A scene, as far as a transcode needs it."""

    def transcode(self, src: Any, dst: str | os.PathLike[str], **options: Any) -> Report:
        """Write what the scene shows while its node ``input`` shows ``src``."""


def transcode(
    src: Spec,
    dst: str | os.PathLike[str],
    filters: Filters = (),
    *,
    start: Time | None = None,
    end: Time | None = None,
    speed: float | Fraction = 1,
    fps: float | Fraction | None = None,
    audio: Audio | str | os.PathLike[str] = "copy",
    subtitles: Keep = "copy",
    encoding: Encoding | None = None,
    matrix: Matrix | None = None,
    range: Range | None = None,
    on_damage: OnDamage = "error",
    on_frame: OnFrame | None = None,
    tonemap: bool = False,
    over: OnOver | None = None,
    scene: Through | None = None,
    strict: bool = False,
    device: str | None = None,
    progress: OnProgress | None = None,
    **words: Unpack[Words],
) -> Report:
    """A video through filters into another file.

    Every frame keeps its time, variable rates too; sound and subtitles are copied packet by packet, and so
    are chapters and metadata. Sound that the container cannot hold is encoded anew; ``audio="encode"``
    always does, ``"none"`` leaves it out, and a path takes the sound of that file. Pictures of
    phones that are stored turned are written upright, interlaced ones whole. The file appears under its
    name when it is complete; an error or Ctrl-C leaves nothing behind.

    ``start`` and ``end`` (seconds, or ``"1:02.5"``) take a part: what is seen and heard at t is what the
    input has at start + t, to the frame and to the sample. ``speed=2`` is twice as fast, with sound;
    ``fps`` repeats and leaves out frames. ``on_frame`` gets every Frame before the filters and gives a
    picture of its size instead (u16 keeps more than 8 bits), or None. ``over`` gets the Instant of every
    frame of the output and gives an RGBA picture that is laid over it, behind the filters, or None.
    ``scene`` shows the video in its node named ``input``, and that is what is written, with the video's
    rate, length and sound; filters are nodes of the scene then.
    ``encoding`` and its parts by themselves (``preset="medium"``) say how it is encoded; see Encoding.
    ``tonemap`` makes SDR of HDR (PQ, HLG), which otherwise stays HDR with its tags.
    What the output cannot hold is in the report's ``dropped`` and ``notes``; ``strict`` makes it an error.
    Damage in the input is an error that says after how many frames; ``on_damage="conceal"`` goes on with
    what is left. ``matrix`` and ``range`` overrule what the input says of its colours. ``progress`` is
    called with a Progress some 20 times a second; an exception raised in it ends the transcode.

    >>> import numpy as np
    >>> from dala import video
    >>> with video.Writer("plain.mp4", fps=25) as writer:
    ...     for level in (50, 100, 150):
    ...         writer.write(np.full((48, 64, 3), level, np.uint8))
    >>> report = video.transcode("plain.mp4", "graded.mp4", [("brightness", {"value": 0.2}), "invert"])
    >>> report.frames, report.duration
    (3, Fraction(3, 25))
    >>> video.transcode("plain.mp4", "part.mp4", start=0.04, speed=0.5).duration
    Fraction(4, 25)
    """
    check_color(matrix, range)
    voice = sound_file(audio)
    if subtitles not in get_args(Keep):
        raise ParameterError(f"subtitles is one of {', '.join(get_args(Keep))}, got {subtitles!r}")
    span = span_of(start, end, speed, fps)
    if scene is not None:
        if len(Chain.of(filters)) or speed != 1 or on_frame or over or tonemap or voice is not None:
            raise ParameterError(
                "transcode: with a scene, filters, speed, on_frame, over, tonemap and other sound are "
                "nodes of the scene; start, end, fps, audio, encoding, device and progress hold"
            )
        heard = {"copy": "auto", "encode": "encode", "none": "none"}[str(audio)]
        return scene.transcode(
            src,
            dst,
            start=span.start,
            end=span.end,
            fps=span.fps,
            audio=heard,
            video=with_words(encoding, words),
            progress=progress,
            device=device,
        )
    return transcode_span(
        src, dst, Chain.of(filters), span, with_words(encoding, words),
        audio=audio, voice=voice, subtitles=subtitles, matrix=matrix, range=range, on_damage=on_damage,
        on_frame=on_frame, tonemap=tonemap, over=over, strict=strict, device=device, progress=progress,
    )  # fmt: skip


def transcode_span(
    src: Spec,
    dst: str | os.PathLike[str],
    chain: Chain,
    span: Span,
    wanted: Encoding,
    *,
    audio: Audio | str | os.PathLike[str] = "copy",
    voice: Path | None = None,
    subtitles: Keep = "copy",
    matrix: Matrix | None = None,
    range: Range | None = None,
    on_damage: OnDamage = "error",
    on_frame: OnFrame | None = None,
    tonemap: bool = False,
    over: OnOver | None = None,
    strict: bool = False,
    device: str | None = None,
    progress: OnProgress | None = None,
    bare: bool = False,
) -> Report:
    """The same for words that are read already; ``voice`` is the file that sound is taken from.

    ``bare`` is a part of a larger file, which has cover, chapters and metadata itself: pictures alone.
    """
    place = place_of(src)
    check_target(dst, [place])
    choose_encoder(dst, wanted)  # so that what it refuses is refused before anything is opened
    chain = look_at_first_frame(chain, src, device)
    with ExitStack() as opened:
        source = Input(
            src,
            audio="none" if bare or voice is not None else audio,  # type: ignore[arg-type]  # it is checked
            subtitles="none" if bare else subtitles,
            on_damage=on_damage,
            matrix=matrix,
            range=range,
            span=span,
            fps=span.fps if place.where == "pictures" else None,
        )
        opened.callback(source.close)
        if source.is_still and span.fps is None:
            source.span = span = replace(span, fps=Fraction(PICTURES_FPS))
        settings = settle(dst, wanted, source, tonemap=tonemap)
        width, height = chain.size_after(source.format.width, source.format.height)
        color = SDR if tonemap else source.color
        bits = source.bits if settings.pixels.bits > 8 else 8
        target = target_format(settings, width, height, color, bits)
        touch = None if on_frame is None else Touch(on_frame, source, device)
        first = source.format if touch is None else touch.format
        stage = filter_stage(
            chain,
            drops_alpha=target.kind != "rgba" and source.pixels.alpha,
            keeps_alpha=target.kind == "rgba",
        )
        live = None if stage is None else stage.masks
        middle = tonemap_stage(source.color, stage) if tonemap else stage
        time_base = time_base_of(source, span)
        begin = round(source.begin / time_base) if source.keeps_times else 0
        layer = None if over is None else Over(over, target, time_base, begin)
        frames = make_pass(first, target, middle, device, over=layer, live=live)
        frames.compile()
        sound = None if voice is None else SoundFile(voice)
        if sound is not None:
            opened.callback(sound.close)
        encoder = Encoder(
            settings,
            width=width,
            height=height,
            color=target.color,
            time_base=time_base,
            fps=span.fps or source.fps * span.speed,
            aspect=source.aspect,
            bits=target.bits,
        )
        moments = _moments(source, span, time_base, settings, sound)
        extras = Extras(sound, touch, losses(source, settings, tonemap), strict, layer)
        speaker = None if bare else 0
        return produce_file([source], speaker, moments, frames, encoder, progress, extras)


def encoding_for(
    src: Spec, dst: str | os.PathLike[str], wanted: Encoding, on_damage: OnDamage = "error"
) -> Encoding:
    """The encoding with the codec that ``transcode`` would choose."""
    source = Input(src, audio="none", subtitles="none", on_damage=on_damage)
    try:
        hdr = is_hdr(source.color)
        return codec_for(dst, wanted, source.pixels, source.codec, hdr=hdr)
    finally:
        source.close()


def make_pass(
    source: Format,
    target: Format,
    stage: Middle | None,
    device: str | None,
    *,
    over: Over | None = None,
    live: Live | None = None,
) -> FramePass | PassThrough:
    """The pass from decoded frames to those of the output; none where nothing is to be done."""
    if over is not None:
        formats = [source, over.format]
        return FramePass(engine_of(device), formats, target, laid_over(stage), live)
    if stage is None and target == source:
        return PassThrough(engine_of(device), target)
    return FramePass(engine_of(device), [source], target, stage, live)


class FilterStage:
    """What a chain does to a picture; with ``blackens``, what is transparent is seen on black."""

    def __init__(self, chain: Chain, *, blackens: bool) -> None:
        self._chain = chain
        self._blackens = blackens
        self._images: list[Buffer] = []

    def __call__(self, pipeline: Pipeline, pictures: Sequence[Tensor], output: Tensor) -> None:
        last = pictures[0]
        if len(self._chain):
            rows, columns = output.shape[:2]
            last = rgba_scratch(rows, columns, output.dtype) if self._blackens else output
            self._images = self._chain.add_to(pipeline, pictures[0], last).images
        if self._blackens:
            pipeline.add({"kernel": ON_BLACK, "inputs": [last], "output": output})

    def masks(self, engine: Engine, begin: Begin) -> LiveMasks:
        """Those that models make for its filters, once it was added to a pipeline."""
        return LiveMasks(engine, self._chain, self._images, begin)


def filter_stage(
    chain: Chain, *, drops_alpha: bool = False, keeps_alpha: bool = False
) -> FilterStage | None:
    """The stage between decoding and encoding; None if there is nothing to do.

    What is transparent is seen on black, unless it is kept. With ``drops_alpha`` the pictures have some
    before anything is done.
    """
    blackens = drops_alpha or (chain.writes_alpha and not keeps_alpha)
    return FilterStage(chain, blackens=blackens) if len(chain) or blackens else None


def _moments(
    source: Input, span: Span, time_base: Fraction, settings: Settings, sound: SoundFile | None
) -> Iterator[Moment]:
    made = moments_of(source, span, time_base)
    if sound is not None:
        made = _with_sound(
            made, sound, time_base, source.begin if source.keeps_times else Fraction(0)
        )
    return _first_frame(made) if settings.target.kind == "picture" else made


def _with_sound(
    made: Iterator[Moment], sound: SoundFile, time_base: Fraction, begin: Fraction
) -> Iterator[Moment]:
    for moment in made:
        if moment.pictures:
            shown = (moment.pts + moment.duration) * time_base - begin
            moment = moment._replace(sound=sound.until(shown))
        yield moment


def _first_frame(made: Iterator[Moment]) -> Iterator[Moment]:
    for moment in made:
        if moment.pictures:
            yield moment
            return
