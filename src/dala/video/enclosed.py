"""What a file carries beside pictures and sound: its cover, and attachments such as fonts of subtitles.

In an mp4 a cover is a stream of one packet, in Matroska an attachment. A source hands out a cover's packet
among all others, and an attachment must be there before the first one is written, so the file is opened
once more.
"""

from __future__ import annotations

from contextlib import closing
from typing import Any

from dala.video.library import ffmpeg_errors, load_av
from dala.video.opening import open_container
from dala.video.output import Output
from dala.video.source import Source

_COVERS = {"mjpeg": ("cover.jpg", "image/jpeg"), "png": ("cover.png", "image/png")}


class Cover:
    """A cover's one packet, on its way into an mp4."""

    def __init__(self, output: Output, stream: Any, data: bytes) -> None:
        self._output, self._stream, self._data = output, stream, data

    def take(self, packet: Any) -> None:
        """It is here already."""

    def finish(self) -> None:
        """Write it."""
        packet = load_av().Packet(self._data)
        packet.pts = packet.dts = 0
        packet.is_keyframe, packet.stream = True, self._stream
        self._output.sink.mux(packet)


def bring_enclosed(output: Output, source: Source) -> tuple[dict[int, Cover], list[str]]:
    """Put covers and attachments into a file: the ways of those that are streams; what has no place."""
    ways: dict[int, Cover] = {}
    left_out = []
    again = source.place.where == "file"
    for stream in _streams_beside(source):
        if again and output.sink.format == "mp4" and is_cover(stream):
            made = output.copy_stream(stream)
            if made is not None:
                ways[stream.index] = Cover(output, made, _content(source, stream))
                continue
        if not (again and output.sink.format == "matroska" and _attach(output, source, stream)):
            left_out.append(_words_for(stream))
    return ways, left_out


def name_enclosed(source: Source) -> list[str]:
    """The words for all of it, for whoever brings nothing of it along."""
    return [_words_for(stream) for stream in _streams_beside(source)]


def is_cover(stream: Any) -> bool:
    """Whether a stream of video is one picture that stands for the whole."""
    return bool(stream.disposition & load_av().stream.Disposition.attached_pic)


def _streams_beside(source: Source) -> list[Any]:
    """Neither its pictures nor sound, subtitles or where a timecode begins, which the video says itself."""
    return [
        s
        for s in source.container.streams
        if s.index != source.index
        and s.type not in ("audio", "subtitle")
        and not (s.type == "data" and "timecode" in s.metadata)
    ]


def _attach(output: Output, source: Source, stream: Any) -> bool:
    """Put it into a Matroska file; whether it is something that is attached there."""
    if stream.type == "attachment":
        name, kind, data = stream.name, stream.mimetype, stream.data
    elif is_cover(stream) and stream.codec_context.codec.name in _COVERS:
        name, kind = _COVERS[stream.codec_context.codec.name]
        name, data = stream.metadata.get("filename", name), _content(source, stream)
    else:
        return False
    with ffmpeg_errors(output.sink.name, "writing"):
        output.sink.container.add_attachment(
            name or "attachment", kind or "application/octet-stream", data
        )
    return True


def _content(source: Source, stream: Any) -> bytes:
    with closing(open_container(source.place, 10)) as again:
        packets = again.demux(again.streams[stream.index])
        return next((bytes(packet) for packet in packets if packet.size), b"")


def _words_for(stream: Any) -> str:
    if stream.type == "attachment":
        return f"an attachment ({stream.name})"
    return "its cover picture" if is_cover(stream) else f"{stream.type} {stream.index}"
