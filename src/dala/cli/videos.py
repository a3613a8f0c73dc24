"""A video through filters on the command line: a part of it, its rate, its sound, how it is encoded.

All but a picture that becomes a picture: videos, GIFs of videos and the other way round, stills out of
videos, pictures that become one video, pipes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dala.cli.films import PIPE, is_piped_or_numbered
from dala.cli.mistakes import Failed, UsageMistake
from dala.errors import DalaError, DamagedVideoError, ParameterError

if TYPE_CHECKING:
    from dala.cli.bars import Bars
    from dala.media.chain import Chain
    from dala.video.over import OnOver

GIF_WIDTH, GIF_FPS = 480, 15  # of --gif, at most
_BITS = re.compile(r"(\d+(?:\.\d+)?)([kKmM]?)")
# how Python's words for an option are spelled here
_SPELLED = {"start": "--from", "end": "--to", "on_damage='conceal'": "--conceal", "bit_rate": "--bitrate",
            "pixel_format": "--pixel-format", "before end:": "before --to:", "speed": "--speed",
            "preset": "--preset", "fps": "--fps", "audio": "--audio", "audio='none'": "--audio none",
            "audio='encode'": "--audio encode", "tonemap makes": "--tonemap makes",
            "tonemap is for": "--tonemap is for"}  # fmt: skip


@dataclass(frozen=True)
class VideoOptions:
    """What the command line says about videos."""

    start: str | None = None
    end: str | None = None
    fps: Fraction | None = None
    speed: float = 1.0
    codec: str | None = None
    crf: float | None = None
    preset: str | None = None
    bitrate: str | None = None
    pixel_format: str | None = None
    audio: str = "copy"
    gif: bool = False
    conceal: bool = False
    strict: bool = False
    tonemap: bool = False

    @property
    def changes_time(self) -> bool:
        """Whether a part is asked for, or other times of frames."""
        usual = VideoOptions()
        words = ("start", "end", "fps", "speed", "gif")
        return any(getattr(self, word) != getattr(usual, word) for word in words)

    def check(self) -> None:
        """Refuse what makes no sense, before any file is looked at."""
        from dala.video.sound import sound_file
        from dala.video.span import span_of

        read_bits(self.bitrate)
        try:
            span_of(self.start, self.end, self.speed, self.fps)
            other = sound_file(self.audio)
        except ParameterError as error:
            raise UsageMistake(respell(str(error))) from error
        if other is not None and not other.exists():
            raise UsageMistake(f"--audio: no file {str(other)!r}")


@dataclass
class Told:
    """What is said of a video when it is done."""

    width: int = 0
    height: int = 0
    frames: int = 0
    notes: list[str] = field(default_factory=list)


def read_rate(text: str) -> Fraction:
    """``25``, ``29.97`` (which is NTSC's), ``30000/1001``."""
    from dala.video.span import rate_of

    over, slash, under = text.partition("/")
    try:
        return rate_of(Fraction(int(over), int(under)) if slash else float(text))
    except (ValueError, ZeroDivisionError):  # also what rate_of raises
        raise UsageMistake(
            f"--fps is frames a second: 25, 29.97 or 30000/1001, got {text!r}"
        ) from None


def read_bits(text: str | None) -> int | None:
    """``4M``, ``800k``, ``4000000`` as bits per second."""
    if text is None:
        return None
    found = _BITS.fullmatch(text)
    if found is None or not (
        bits := int(float(found[1]) * {"": 1, "k": 1e3, "m": 1e6}[found[2].lower()])
    ):
        raise UsageMistake(f"--bitrate is written as 4M or 800k (bits per second), got {text!r}")
    return bits


def filter_video(
    source: Path | Sequence[Path],
    target: Path,
    chain: Chain,
    options: VideoOptions,
    bars: Bars,
    over: OnOver | None = None,
) -> Told:
    """One video; its facts."""
    from dala import video

    told = Told()

    def advance(progress: video.Progress) -> None:
        bars.advance(progress.frames, progress.total_frames, progress.fps)
        told.frames = progress.frames

    spec = _spec(source)
    fps = options.fps
    if options.gif:
        chain, fps = _for_gif(spec, target, chain, fps)
    try:
        report = video.transcode(
            spec,
            str(target),
            filters=chain,
            start=options.start,
            end=options.end,
            speed=options.speed,
            fps=fps,
            audio=options.audio,
            encoding=encoding_of(options),
            on_damage="conceal" if options.conceal else "error",
            tonemap=options.tonemap,
            strict=options.strict,
            over=over,
            progress=advance,
        )
    except ParameterError as error:
        raise UsageMistake(respell(str(error))) from error
    except DamagedVideoError as error:
        raise Failed(respell(str(error))) from error
    except DalaError as error:
        raise Failed(respell(str(error))) from error
    told.frames = report.frames
    told.width, told.height = report.size
    told.notes = [respell(n) for n in (*report.notes, *report.dropped)]
    return told


def encoding_of(options: VideoOptions) -> Any:
    """The options as ``dala.video`` has them."""
    from dala import video

    return video.Encoding(
        options.codec,
        options.crf,
        options.preset,
        read_bits(options.bitrate),
        options.pixel_format,
    )


def respell(message: str) -> str:
    """A message for Python in the words of the command line."""
    for word, spelled in _SPELLED.items():
        if "=" in word or " " in word:
            message = message.replace(word, spelled)
        else:
            message = re.sub(rf"\b{word}\b(?= is | must |=)", spelled, message)
    return message


def _spec(source: Path | Sequence[Path]) -> Any:
    """As ``dala.video`` names it: only words may be a pattern or a pipe."""
    if not isinstance(source, Path):
        return list(source)
    return str(source) if is_piped_or_numbered(source) else source


def _for_gif(
    spec: Any, target: Path, chain: Chain, fps: Fraction | None
) -> tuple[Chain, Fraction | None]:
    from dala import video
    from dala.media.chain import Chain

    if target.suffix.lower() != ".gif":
        raise UsageMistake(f"--gif writes a name that ends in .gif, got {str(target)!r}")
    if spec == PIPE:
        return chain, fps or Fraction(GIF_FPS)
    facts = video.probe(spec)
    width, _ = chain.size_after(facts.width, facts.height)
    if width > GIF_WIDTH:
        small = Chain.of([("resize", {"width": GIF_WIDTH, "interpolation": "area"})])
        chain = Chain([*chain.steps, *small.steps], chain.strength)
    rate = float(facts.fps or GIF_FPS)
    return chain, fps or (Fraction(GIF_FPS) if rate > GIF_FPS else None)
