"""Writer: pictures into a video file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dala.closing import Closing
from dala.compute.buffers import Buffer
from dala.errors import ParameterError, ShapeError, VideoError
from dala.media.pictures import Picture, add_alpha, take_picture
from dala.media.program import engine_of
from dala.media.stages import SWAP
from dala.video.codecs import choose_encoder, container_for
from dala.video.color import Matrix, Range, check_color, usual_color, with_choice
from dala.video.device import Format, FramePass, Given, Middle
from dala.video.encoder import Encoder
from dala.video.encoding import Encoding, Words, with_words
from dala.video.frame import Frame

if TYPE_CHECKING:
    from typing_extensions import Unpack

Array = npt.NDArray[np.uint8]
TICKS = 90_000  # at least so many in a second, so that any time is near one


class Writer(Closing):
    """A video file, written frame by frame; it appears under its name when it is complete.

    Pictures are arrays (RGB, RGBA, grey; ``channels="bgr"`` for OpenCV's order), PIL images, buffers or
    Frames, all of one size; odd sizes repeat their last row or column. Without ``time`` a frame comes 1/fps
    after the one before. An exception within ``with`` leaves no file. ``encoding`` and its parts by
    themselves (``codec="hevc"``) say how it is encoded, see Encoding; the file's suffix decides the rest.

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
        **words: Unpack[Words],
    ) -> None:
        check_color(matrix, range)
        container_for(os.fspath(path))
        self.path = path
        self.fps = _as_rate(fps)
        self.time_base = Fraction(1, self.fps.numerator * -(-TICKS // self.fps.numerator))
        self._color = (matrix, range)
        self._channels = channels
        self._settings = choose_encoder(os.fspath(path), with_words(encoding, words))
        self._engine = engine_of(device)
        self._encoder: Encoder | None = None
        self._size: tuple[int, int] | None = None
        self._passes: dict[Format | None, FramePass] = {}
        self._next = Fraction(0)
        self._done = False

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

    def close(self) -> None:
        """Encode what is left and put the file in place. Twice does nothing."""
        if self._done:
            return
        self._done = True
        if self._encoder is None:
            raise VideoError(f"{os.fspath(self.path)}: no frame was written, so there is no file")
        self._encoder.finish()

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
            self._begin(image.width, image.height)
            return self._from_frame(image)
        picture = take_picture(image, channels=self._channels, who="write")
        self._begin(*picture.size)
        if isinstance(picture.pixels, Buffer):
            picture = take_picture(picture.pixels.read(), channels=self._channels, who="write")
        return self._from_pixels(_as_rgba(picture), picture.layout.swapped)

    def _begin(self, width: int, height: int) -> None:
        """The first picture decides about the size."""
        if self._size is None:
            color = with_choice(usual_color(width, height), *self._color)
            self._encoder = Encoder(
                self.path,
                self._settings,
                width=width,
                height=height,
                color=color,
                time_base=self.time_base,
                fps=self.fps,
            )
            self._size = width, height
        elif self._size != (width, height):
            raise ShapeError(
                f"write: the frames of this file are {self._size[0]} × {self._size[1]}, "
                f"got {width} × {height}"
            )

    def _from_frame(self, frame: Frame) -> Array:
        """A frame of a Reader: as it is where its colours are those of the file."""
        assert self._encoder is not None
        mine = self._encoder.color
        if frame.kind == "yuv420p" and (frame.color.matrix, frame.color.range) == (
            mine.matrix,
            mine.range,
        ):
            return frame.planar
        return self._from_pixels(frame.rgba, swapped=False)

    def _from_pixels(self, rgba: Array, swapped: bool) -> Array:
        assert self._encoder is not None
        height, width = rgba.shape[:2]
        source = Format("rgba", width, height, self._encoder.color)
        found = self._passes.get(source)
        if found is None:
            target = Format("yuv420p", width, height, self._encoder.color)
            middle: Middle | None = _swap if swapped else None
            found = self._passes[source] = FramePass(self._engine, [source], target, middle)
        return found.convert(Given(rgba))


def _as_rgba(picture: Picture) -> Array:
    pixels: Any = picture.pixels
    if pixels.dtype != np.uint8:
        levels = np.nan_to_num(pixels * 255, nan=0.0)
        pixels = np.rint(levels).clip(0, 255).astype(np.uint8)
    if pixels.ndim == 2 or pixels.shape[2] == 1:
        pixels = np.repeat(pixels.reshape(*pixels.shape[:2], 1), 3, axis=2)
    return add_alpha(pixels) if pixels.shape[2] == 3 else np.ascontiguousarray(pixels)


def _swap(pipeline: Any, pictures: Sequence[Any], output: Any) -> None:
    pipeline.add({"kernel": SWAP, "inputs": [pictures[0]], "output": output})


def _as_rate(fps: object) -> Fraction:
    """25, 29.97, Fraction(30000, 1001): a rate that is nearly one of NTSC's is taken for it."""
    if isinstance(fps, bool) or not isinstance(fps, int | float | Fraction):
        raise ParameterError(f"fps is a number, got {fps!r}")
    if not 0 < fps <= 100_000:
        raise ParameterError(f"fps must be above 0, got {fps!r}")
    if isinstance(fps, float):
        ntsc = Fraction(round(fps * 1.001) * 1000, 1001)
        if ntsc and abs(float(ntsc) - fps) < 0.005 and not fps.is_integer():
            return ntsc
        return Fraction(fps).limit_denominator(1001)
    return Fraction(fps)
