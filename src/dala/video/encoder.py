"""A file with one encoded video stream, and streams that are passed on as they are."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy.typing as npt

from dala.video.codecs import Settings
from dala.video.color import Color
from dala.video.device import Format
from dala.video.library import ffmpeg_errors, has_threads, load_av, usual_scheduling
from dala.video.output import Output
from dala.video.palette import Palette
from dala.video.pictures import converted, even, picture_of

Array = npt.NDArray[Any]


class Encoder(Output):
    """Encodes frames into a Sink: exact times, colour tags, B-frames as the codec likes."""

    def __init__(
        self,
        settings: Settings,
        *,
        width: int,
        height: int,
        color: Color,
        time_base: Fraction,
        fps: Fraction,
        aspect: Fraction | None = None,
        bits: int = 8,
    ) -> None:
        super().__init__(settings)
        self.color = color
        self.time_base = time_base
        self._bits = bits  # of the frames that come
        self.frames = 0
        self.end = Fraction(0)  # of the last frame, in seconds
        self._last: int | None = None  # its pts
        self._palette: Palette | None = None
        self._doing = f"encoding with {settings.encoder}"
        try:
            with ffmpeg_errors(self.sink.name, self._doing):
                add = self.sink.container.add_stream
                self.stream = add(settings.encoder, rate=fps, options=dict(settings.options))
                self._context = context = self.stream.codec_context
                whole = (width, height) if settings.takes_rgba else (even(width), even(height))
                context.width, context.height = self.size = whole
                context.pix_fmt = settings.pixel_format
                context.time_base = self.stream.time_base = time_base
                context.thread_type = "AUTO"  # x264 else cuts pictures into slices
                context.flags |= load_av().codec.context.Flags.frame_duration
                if settings.bit_rate is not None:
                    context.bit_rate = settings.bit_rate
                if aspect:
                    context.sample_aspect_ratio = aspect
                if settings.tag is not None:
                    context.codec_tag = settings.tag
                color.tag(context)
                with usual_scheduling():
                    context.open()
                has_threads(self, context)
        except BaseException:
            self.sink.discard()
            raise

    def encode(self, frame: Array, pts: int, duration: int = 0) -> None:
        """The next frame, of the kind that the settings say, whose memory the encoder may keep for a while.

        Times go forward in every container: a frame that is not later than the one before comes one tick
        after it.
        """
        if self._last is not None and pts <= self._last:
            pts = self._last + 1
        self._last = pts
        picture = self._fitted(picture_of(frame, self.color, self._bits))
        picture.pts, picture.time_base, picture.duration = pts, self.time_base, duration
        with ffmpeg_errors(self.sink.name, self._doing):
            packets = self._context.encode(picture)
        self._mux(packets)
        self.frames += 1
        self.end = (pts + duration) * self.time_base

    def finish(self, checkpoint: Callable[[], None] = lambda: None) -> None:
        """Encode what is left and put the file in place.

        An encoder may hold seconds of work by now, so ``checkpoint`` is called after every frame.
        """
        try:
            with ffmpeg_errors(self.sink.name, self._doing):
                for packet in self._context.encode_lazy(None):
                    self._mux([packet])
                    checkpoint()
            self.sink.finish()
        finally:
            self.sink.discard()

    def _fitted(self, picture: Any) -> Any:
        """The picture in the encoder's own format."""
        wanted = self.settings.pixel_format
        if wanted == "pal8":
            self._palette = self._palette or Palette(picture.width, picture.height)
            return self._palette.convert(picture)
        if picture.format.name == wanted:
            return picture
        return converted(picture, wanted, self.color)

    def _mux(self, packets: list[Any]) -> None:
        for packet in packets:
            packet.stream = self.stream
            self.sink.mux(packet)


def target_format(
    settings: Settings, width: int, height: int, color: Color, bits: int = 8
) -> Format:
    """The frames that an encoder gets; ``bits`` are those of the input, as far as they are read."""
    if settings.encoder == "mjpeg":
        color = Color("bt601", "full")  # what whoever reads a JPEG takes it for
    if settings.takes_rgba:
        return Format("rgba", width, height, color, 8 if bits == 8 else 16)
    return Format("yuv420p", width, height, color, 8 if bits == 8 else settings.pixels.bits)
