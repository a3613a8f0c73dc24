"""concat: videos one after the other, as one file.

The first one decides about size, colours, bits, alpha and times; others are fitted into its size, with bars
where they need them. The sound of each part lasts as long as its pictures, to the sample; what is missing
is silent.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from dala.colors import rgba
from dala.errors import ParameterError, VideoError
from dala.media.losses import report_losses
from dala.media.program import engine_of
from dala.video.canvas import Box, Canvas, place_inputs
from dala.video.codecs import Settings, choose_encoder
from dala.video.device import Array, Format, FramePass, Middle, PassThrough
from dala.video.enclosed import name_enclosed
from dala.video.encoder import Encoder, target_format
from dala.video.encoding import Encoding, Words, with_words
from dala.video.flow import run_flow
from dala.video.hdr import HLG, PQ, SDR, check_tonemap, is_hdr
from dala.video.inputs import Input, check_target
from dala.video.joined import JoinedSound
from dala.video.keeping import losses, made_plain, settle
from dala.video.pictures import Decoded
from dala.video.places import Spec, place_of
from dala.video.production import Report, report_of
from dala.video.progress import OnProgress, Watch
from dala.video.retime import TICKS
from dala.video.sound import Audio
from dala.video.source import OnDamage

if TYPE_CHECKING:
    from typing_extensions import Unpack

Heard = Literal["encode", "none"]


class _Moment(NamedTuple):
    """A frame to be made: a picture of a part, or none at the part's end; and the part's packets so far."""

    part: int
    picture: Any | None
    pts: int
    duration: int
    packets: list[Any]


def concat(
    parts: Sequence[Spec],
    dst: str | os.PathLike[str],
    *,
    audio: Heard = "encode",
    encoding: Encoding | None = None,
    on_damage: OnDamage = "error",
    tonemap: bool = False,
    strict: bool = False,
    device: str | None = None,
    progress: OnProgress | None = None,
    **words: Unpack[Words],
) -> Report:
    """Videos one after the other, as one file; they may differ in size, rate, codec and sound.

    The first one decides about size, colours, bits and alpha; others are fitted into its size, with bars
    where they need them. A file is either HDR or SDR: ``tonemap`` makes SDR of parts that are HDR. Sound
    is encoded anew, so that every part's begins with its first frame; ``audio="none"`` leaves it out.

    >>> import numpy as np
    >>> from dala import video
    >>> for name, level in (("a.mp4", 80), ("b.mp4", 160)):
    ...     with video.Writer(name, fps=25) as writer:
    ...         for _ in range(5):
    ...             writer.write(np.full((48, 64, 3), level, np.uint8))
    >>> video.concat(["a.mp4", "b.mp4"], "both.mp4").duration
    Fraction(2, 5)
    """
    if isinstance(parts, str | bytes | os.PathLike) or not isinstance(parts, Sequence) or not parts:
        raise ParameterError(f"concat: expected a list of videos, got {parts!r}")
    if audio not in get_args(Heard):
        raise ParameterError(f"audio is one of {', '.join(get_args(Heard))}, got {audio!r}")
    wanted = with_words(encoding, words)
    check_target(dst, [place_of(p) for p in parts])
    choose_encoder(dst, wanted)
    with ExitStack() as opened:
        inputs = []
        for part in parts:
            heard: Audio = "none" if audio == "none" else "copy"
            inputs.append(Input(part, audio=heard, subtitles="none", on_damage=on_damage))
            opened.callback(inputs[-1].close)
        lead = inputs[0]
        toned = _check_light(inputs, tonemap)
        settings = settle(dst, wanted, lead, tonemap=lead in toned)
        _keep_bits(inputs, toned)
        target = _target(lead, settings, tonemap=lead in toned)
        passes = _Passes(inputs, toned, target, device)
        encoder = Encoder(
            settings,
            width=target.width,
            height=target.height,
            color=target.color,
            time_base=_time_base(inputs),
            fps=lead.fps,
            aspect=lead.aspect,
            bits=target.bits,
        )
        lost = _lost(inputs, toned, settings)
        return _produce(inputs, passes, encoder, progress, lost, strict)


def _keep_bits(inputs: Sequence[Input], toned: Sequence[Input]) -> None:
    """Have all parts read as deep as the first one is, and HDR as deep as it is."""
    for part in inputs[1:]:
        if part in toned or inputs[0].bits > 8:
            part.keep_bits()


def _target(lead: Input, settings: Settings, *, tonemap: bool) -> Format:
    bits = lead.bits if settings.pixels.bits > 8 else 8
    color = SDR if tonemap else lead.color
    return target_format(settings, lead.format.width, lead.format.height, color, bits)


def _lost(inputs: Sequence[Input], toned: Sequence[Input], settings: Settings) -> list[str]:
    return list(dict.fromkeys(n for i in inputs for n in losses(i, settings, i in toned)))


def _check_light(inputs: Sequence[Input], tonemap: bool) -> list[Input]:
    """The parts that SDR is made of. What is left is HDR of one kind, or SDR, as a file is."""
    toned = [i for i in inputs if tonemap and is_hdr(i.color)]
    lead, *others = inputs
    if tonemap and not toned:
        check_tonemap(lead.color, lead.name)
    for part in others:
        if not tonemap and _light_of(part) != _light_of(lead):
            raise VideoError(
                f"{lead.name} is {_light_of(lead)} and {part.name} {_light_of(part)}; a file is one of "
                "them, tonemap makes SDR of all"
            )
    return toned


def _light_of(part: Input) -> str:
    return {PQ: "HDR (PQ)", HLG: "HDR (HLG)"}.get(part.color.transfer, "SDR")


def _time_base(inputs: Sequence[Input]) -> Fraction:
    found = {i.clock.time_base for i in inputs}
    return found.pop() if len(found) == 1 else Fraction(1, TICKS)


class _Passes:
    """A pass for every part; parts of one format share it."""

    def __init__(
        self, inputs: Sequence[Input], toned: Sequence[Input], target: Format, device: str | None
    ) -> None:
        self.engine = engine_of(device)
        self._inputs = inputs
        made: dict[tuple[Format, bool], FramePass | PassThrough] = {}
        kinds = [(part.format, part.pixels.alpha) for part in inputs]
        for part, kind in zip(inputs, kinds, strict=True):
            if kind not in made:
                made[kind] = self._make(part, target, tonemap=part in toned)
        self._passes = [made[kind] for kind in kinds]
        for one in made.values():
            one.compile()

    def _make(self, part: Input, target: Format, *, tonemap: bool) -> FramePass | PassThrough:
        middle: Middle | None = None
        if (part.format.width, part.format.height) != (target.width, target.height):
            box = Box(0, 0, target.width, target.height)
            middle = place_inputs(Canvas(target.width, target.height, (box,), rgba("black")))
        drops_alpha = target.kind != "rgba"
        middle = made_plain(part, tonemap=tonemap, drops_alpha=drops_alpha, after=middle)
        if middle is None and part.format == target:
            return PassThrough(self.engine, target)
        return FramePass(self.engine, [part.format], target, middle)

    def explain(self) -> str:
        return "\n".join(dict.fromkeys(one.explain() for one in self._passes))

    def run(self, given: Iterator[_Moment]) -> Iterator[tuple[_Moment, Array | None]]:
        """Each moment's frame, in order."""
        for part, moments in itertools.groupby(given, key=lambda m: m.part):
            yield from self._passes[part].run(moments, self._pictures)

    def _pictures(self, moment: _Moment) -> Sequence[Decoded]:
        if moment.picture is None:
            return []
        return [self._inputs[moment.part].decoded(moment.picture)]


def _produce(
    inputs: Sequence[Input],
    passes: _Passes,
    encoder: Encoder,
    progress: OnProgress | None,
    notes: Sequence[str],
    strict: bool,
) -> Report:
    try:
        dropped = list(dict.fromkeys(word for i in inputs for word in name_enclosed(i.source)))
        if strict:
            report_losses(encoder.sink.name, [*notes, *dropped], strict=True)
        sound = JoinedSound(encoder, inputs) if _has_sound(inputs, encoder) else None
        encoder.describe(inputs[0].source.container.metadata, [])
        watch = Watch(progress, encoder, [i.source for i in inputs])
        run_flow(
            _moments(inputs, encoder.time_base),
            passes.run,
            lambda made, checkpoint: _encode(made, encoder, sound, checkpoint),
            watch=watch,
        )
        watch()
    finally:
        encoder.discard()
    return report_of(passes, encoder, watch, inputs, (dropped, notes))


def _moments(inputs: Sequence[Input], time_base: Fraction) -> Iterator[_Moment]:
    offset = Fraction(0)  # where the part begins
    for number, part in enumerate(inputs):
        end = offset
        for picture, packets in part.items():
            if picture is None:
                yield _Moment(number, None, round(end / time_base), 0, packets)
                continue
            pts, duration = part.clock.stamp(picture)
            base = part.clock.time_base
            begin = offset + pts * base - part.begin
            end = begin + (duration or part.usual_duration) * base
            at = round(begin / time_base)
            yield _Moment(number, picture, at, round(end / time_base) - at, packets)
        offset = end


def _has_sound(inputs: Sequence[Input], encoder: Encoder) -> bool:
    return encoder.settings.target.holds_sound and any(i.voices for i in inputs)


def _encode(
    made: Iterable[tuple[_Moment, Array | None]],
    encoder: Encoder,
    sound: JoinedSound | None,
    checkpoint: Callable[[], None],
) -> None:
    with encoder.sink.writing:
        try:
            _encode_parts(made, encoder, sound)
            encoder.finish(checkpoint)
        finally:
            encoder.discard()


def _encode_parts(
    made: Iterable[tuple[_Moment, Array | None]], encoder: Encoder, sound: JoinedSound | None
) -> None:
    for part, moments in itertools.groupby(made, key=lambda pair: pair[0].part):
        if sound is not None:
            sound.begin(part)
        for moment, frame in moments:
            if frame is not None:
                encoder.encode(frame, moment.pts, moment.duration)
            if sound is not None:
                sound.take(moment.packets, encoder.end)
        if sound is not None:
            sound.end(encoder.end)
    if sound is not None:
        sound.finish()
