"""Writer: pictures into a video file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from dala.closing import Closing
from dala.compute.buffers import Buffer
from dala.errors import ShapeError, VideoError
from dala.ir.dtypes import U16
from dala.media.losses import report_losses
from dala.media.pictures import take_picture
from dala.media.program import engine_of
from dala.media.stages import SWAP
from dala.video.codecs import choose_encoder
from dala.video.color import Matrix, Range, check_color, usual_color, with_choice
from dala.video.device import Format, FramePass, Given, Middle
from dala.video.encoder import Encoder, target_format
from dala.video.encoding import Encoding, Words, with_words
from dala.video.frame import Frame
from dala.video.pixels import Pixels
from dala.video.rgba import rgba_of
from dala.video.samples import Samples
from dala.video.span import rate_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

Array = npt.NDArray[Any]  # u8, or u16 for more than 8 bits
TICKS = 90_000  # at least so many in a second, so that any time is near one


class Writer(Closing):
    """A video file, written frame by frame; it appears under its name when it is complete.

    Pictures are arrays (RGB, RGBA, grey; ``channels="bgr"`` for OpenCV's order), PIL images, buffers or
    Frames, all of one size; odd sizes repeat their last row or column. If the first one has more than 8
    bits (a u16 array, a Frame of such a video), so has the file, as many as its codec can hold. Without
    ``time`` a frame comes 1/fps after the one before. ``audio=True`` adds a track of sound, filled by
    ``write_audio``. An exception within ``with`` leaves no file. ``encoding`` and its parts by themselves
    (``codec="hevc"``) say how it is encoded, see Encoding; the file's suffix decides the rest.

    >>> import numpy as np
    >>> from dala import video
    >>> with video.Writer("fade.mp4", fps=30) as writer:
    ...     for level in range(0, 250, 10):
    ...         writer.write(np.full((120, 160, 3), level, np.uint8))
    >>> video.probe("fade.mp4").frames
    25
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        fps: float | Fraction = 30,
        encoding: Encoding | None = None,
        matrix: Matrix | None = None,
        range: Range | None = None,
        channels: str | None = None,
        device: str | None = None,
        audio: bool | int = False,
        **words: Unpack[Words],
    ) -> None:
        check_color(matrix, range)
        self.path = path
        self.fps = rate_of(fps)
        self.time_base = Fraction(1, self.fps.numerator * -(-TICKS // self.fps.numerator))
        self._color = (matrix, range)
        self._channels = channels
        self._wanted = with_words(encoding, words)
        self._settings = choose_encoder(path, self._wanted)
        self._engine = engine_of(device)
        self._encoder: Encoder | None = None
        self._size: tuple[int, int] | None = None
        self._passes: dict[Format | None, FramePass] = {}
        self._next = Fraction(0)
        self._done = False
        self._sound = None if audio is False else Samples(audio, self._settings)

    @property
    def frames(self) -> int:
        """How many frames were written."""
        return 0 if self._encoder is None else self._encoder.frames

    def __repr__(self) -> str:
        return f"<dala writer {os.fspath(self.path)}, {self.frames} frames>"

    def write(self, image: object, *, time: float | Fraction | None = None) -> None:
        """Add a picture, shown from ``time`` (in seconds) on."""
        if self._done:
            raise VideoError(f"{os.fspath(self.path)}: this writer has been closed")
        at = self._next if time is None else Fraction(time)
        frame = self._frame_of(image)
        assert self._encoder is not None
        pts, after = round(at / self.time_base), at + 1 / self.fps
        self._encoder.encode(frame, pts, round(after / self.time_base) - pts)
        self._next = after

    def write_audio(self, samples: object, rate: int) -> None:
        """Add sound after the sound before: ``audio=True`` makes room for it.

        ``samples`` is an array of (count,) or (count, channels): floats in -1..1, or whole numbers of 16 or
        32 bits. It may run ahead of the pictures and behind them. The track has 48 kHz and two
        channels (``audio=44_100``: so many samples a second); what has others is resampled.

        >>> import numpy as np
        >>> from dala import video
        >>> tone = np.sin(np.arange(48_000) / 48_000 * 440 * 2 * np.pi).astype(np.float32)
        >>> with video.Writer("tone.mp4", fps=25, audio=True) as writer:
        ...     for level in range(25):
        ...         writer.write(np.full((48, 64, 3), level, np.uint8))
        ...     writer.write_audio(0.2 * tone, 48_000)
        >>> [track.codec for track in video.probe("tone.mp4").audio]
        ['aac']
        """
        if self._done:
            raise VideoError(f"{os.fspath(self.path)}: this writer has been closed")
        if self._sound is None:
            raise VideoError(
                f"{os.fspath(self.path)}: there is no track for sound; make it with Writer(…, audio=True)"
            )
        self._sound.write(samples, rate)

    def close(self) -> None:
        """Encode what is left and put the file in place. Twice does nothing."""
        if self._done:
            return
        self._done = True
        if self._encoder is None:
            raise VideoError(f"{os.fspath(self.path)}: no frame was written, so there is no file")
        try:
            if self._sound is not None:
                self._sound.finish()
            self._encoder.finish()
        finally:
            self._encoder.discard()

    def discard(self) -> None:
        """Leave no file. After ``close`` it does nothing."""
        self._done = True
        if self._encoder is not None:
            self._encoder.discard()

    @property
    def closed(self) -> bool:
        """Whether the file is complete, or given up."""
        return self._done

    def __exit__(self, kind: object, *exc: object) -> None:
        if kind is None:
            self.close()
        else:
            self.discard()

    # -- from pictures to frames ---------------------------------------------------------------

    def _frame_of(self, image: object) -> Array:
        if isinstance(image, Frame):
            self._begin(image.width, image.height, image.bits)
            return self._from_frame(image)
        picture = take_picture(image, channels=self._channels, who="write")
        self._begin(*picture.size, 16 if picture.layout.type.dtype == U16 else 8)
        if isinstance(picture.pixels, Buffer):
            picture = take_picture(picture.pixels.read(), channels=self._channels, who="write")
        return self._from_pixels(rgba_of(picture, deep=self._deep), picture.layout.swapped)

    @property
    def _bits(self) -> int:
        return self._settings.pixels.bits

    @property
    def _deep(self) -> bool:
        """Whether the file has more than 8 bits."""
        return self._settings.pixels.bits > 8

    def _choose_bits(self, bits: int) -> None:
        """An encoder for pictures of more than 8 bits, unless a format was asked for."""
        if bits > 8 and not self._wanted.pixel_format:
            self._settings = choose_encoder(self.path, self._wanted, Pixels(bits=bits))
        if bits > 8 and not self._deep:
            report_losses(os.fspath(self.path), [f"{bits} bits (8 are kept)"])

    def _begin(self, width: int, height: int, bits: int) -> None:
        """The first picture decides about the size and the bits."""
        if self._size is None:
            self._choose_bits(bits)
            color = with_choice(usual_color(width, height), *self._color)
            self._encoder = Encoder(
                self._settings,
                width=width,
                height=height,
                color=color,
                time_base=self.time_base,
                fps=self.fps,
                bits=target_format(self._settings, width, height, color, self._bits).bits,
            )
            self._size = width, height
            if self._sound is not None:
                try:
                    self._sound.begin(self._encoder)
                except BaseException:
                    self._encoder.discard()
                    raise
        elif self._size != (width, height):
            raise ShapeError(
                f"write: the frames of this file are {self._size[0]} × {self._size[1]}, "
                f"got {width} × {height}"
            )

    def _from_frame(self, frame: Frame) -> Array:
        """A frame of a Reader: as it is where its colours are those of the file."""
        assert self._encoder is not None
        mine = self._encoder.color
        if (
            frame.kind == "yuv420p"
            and not self._settings.takes_rgba
            and (frame.color.matrix, frame.color.range)
            == (
                mine.matrix,
                mine.range,
            )
        ):
            if not self._deep:
                return frame.planar
            if frame.bits > 8:
                return frame.deep_planar(self._settings.pixels.bits)
        return self._from_pixels(frame.rgba16 if self._deep else frame.rgba, swapped=False)

    def _from_pixels(self, rgba: Array, swapped: bool) -> Array:
        assert self._encoder is not None
        height, width = rgba.shape[:2]
        source = Format("rgba", width, height, self._encoder.color, 8 * rgba.itemsize)
        found = self._passes.get(source)
        if found is None:
            target = target_format(self._settings, width, height, self._encoder.color, self._bits)
            middle: Middle | None = _swap if swapped else None
            found = self._passes[source] = FramePass(self._engine, [source], target, middle)
        return found.convert(Given(rgba))


def _swap(pipeline: Any, pictures: Sequence[Any], output: Any) -> None:
    pipeline.add({"kernel": SWAP, "inputs": [pictures[0]], "output": output})
