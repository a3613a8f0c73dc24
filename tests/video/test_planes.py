"""FFmpeg's planes on a host device: read where they lie if that can be, with the same bytes either way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from clips import real_clip, write_clip

from dala import video
from dala.backends.borrowed import BorrowedFrame
from dala.ir.arrays import ArrayType
from dala.media import Chain
from dala.media.program import engine_of
from dala.video.color import color_of
from dala.video.device import Format, FramePass, Given
from dala.video.pictures import Decoded, Turn, picture_of, planes_of
from dala.video.transcode import filter_stage

CHAIN: Any = [("blur", {"radius": 3}), ("sharpen", {"amount": 0.5}), ("contrast", {"value": 0.1})]


class Lent:
    """What was asked of pictures on their way to a device: the address of each that was lent."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.addresses: list[int | None] = []
        original = Decoded.borrow

        def borrow(decoded: Decoded, type_: ArrayType) -> BorrowedFrame | None:
            found = original(decoded, type_)
            address = decoded.picture.planes[0].buffer_ptr
            self.addresses.append(None if found is None else address)
            return found

        monkeypatch.setattr(Decoded, "borrow", borrow)


@pytest.fixture
def lent(monkeypatch: pytest.MonkeyPatch) -> Lent:
    return Lent(monkeypatch)


def flipped(picture: Any) -> Any:
    """Upside down, without a byte moved: line sizes become negative."""
    graph = av.filter.Graph()
    source = graph.add_buffer(
        width=picture.width,
        height=picture.height,
        format=picture.format,
        time_base=picture.time_base,
    )
    graph.link_nodes(source, graph.add("vflip"), graph.add("buffersink")).configure()
    graph.push(picture)
    result = graph.pull()
    assert result.planes[0].line_size < 0
    return result


def filtered(path: Path, folder: Path, device: str = "cpu") -> Any:
    """The frames of a filtered clip, as a lossless encoder got them."""
    video.transcode(path, folder / "after.mkv", CHAIN, codec="ffv1", device=device)
    with video.Reader(folder / "after.mkv") as reader:
        return np.stack([frame.planar for frame in reader])


def one_picture(path: Path) -> Any:
    with av.open(str(path)) as container:
        return next(container.decode(video=0))


@pytest.mark.parametrize("device", ["reference", "cpu"])
@pytest.mark.parametrize(
    ("lendable", "options"),
    [
        (True, {"size": (128, 64)}),
        (True, {"codec": "ffv1", "size": (256, 66)}),
        (True, {"codec": "mjpeg", "pixel_format": "yuvj420p", "size": (128, 64)}),
        (None, {"size": (130, 66)}),  # parts of vectors: only FFmpeg knows where their pages end
        (None, {"codec": "ffv1", "size": (34, 18)}),
        (False, {"codec": "ffv1", "size": (95, 64)}),
        (False, {"codec": "ffv1", "size": (96, 63)}),
        (False, {"rotation": 90}),
        (False, {"rotation": 180}),
        (False, {"hflip": True}),
        (False, {"codec": "rawvideo", "pixel_format": "nv12"}),
        (True, {"codec": "ffv1", "pixel_format": "yuv420p10le", "size": (128, 64)}),
        (None, {"codec": "ffv1", "pixel_format": "yuv420p10le", "size": (34, 18)}),
        (False, {"codec": "ffv1", "pixel_format": "yuv422p10le"}),
        (False, {"codec": "ffv1", "pixel_format": "bgr0"}),
    ],
    ids=str,
)
def test_lent_or_copied(
    lendable: bool | None,
    options: Any,
    device: str,
    lent: Lent,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    before = write_clip(tmp_path / "before.mkv", frames=3, **options)
    if "rotation" in options or "hflip" in options:  # mp4 keeps it
        before = write_clip(tmp_path / "before.mp4", frames=3, **options)
    result = filtered(before, tmp_path, device)
    assert len(lent.addresses) == 3
    assert lendable is None or all((a is not None) is lendable for a in lent.addresses)
    monkeypatch.setattr(Decoded, "borrow", lambda *_: None)
    np.testing.assert_array_equal(result, filtered(before, tmp_path, device))


@pytest.mark.parametrize("name", ["bikes.mp4", "carphone_pristine.mp4"])
def test_real_clips_to_the_byte(
    name: str, lent: Lent, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    result = filtered(real_clip(name), tmp_path)
    assert any(lent.addresses)
    monkeypatch.setattr(Decoded, "borrow", lambda *_: None)
    np.testing.assert_array_equal(result, filtered(real_clip(name), tmp_path))


def test_frames_go_back_to_the_decoder(lent: Lent, tmp_path: Path) -> None:
    """Whoever keeps frames makes FFmpeg allocate new ones."""
    report = video.transcode(real_clip("bikes.mp4"), tmp_path / "after.mp4", CHAIN)
    assert len(lent.addresses) == report.frames == 250
    assert len(set(lent.addresses)) < 50


def test_bottom_up_planes_are_copied() -> None:
    picture = one_picture(real_clip("bikes.mp4"))
    color = color_of(picture)
    format_ = Format("yuv420p", picture.width, picture.height, color)
    frames = FramePass(engine_of("cpu"), [format_], format_, filter_stage(Chain.of(CHAIN)))
    upright, turned = (Decoded(p, color, Turn()) for p in (picture, flipped(picture)))
    assert upright.borrow(format_.type) is not None
    assert turned.borrow(format_.type) is None
    stored = np.empty(format_.type.shape, np.uint8)
    upright.fill(stored)
    for plane in planes_of(stored):
        plane[:] = plane[::-1].copy()
    np.testing.assert_array_equal(frames.convert(turned), frames.convert(Given(stored)))


def test_a_reader_reads_in_place(lent: Lent) -> None:
    with video.Reader(real_clip("bikes.mp4")) as reader:
        frame = next(reader)
    assert frame.rgba.shape == (frame.height, frame.width, 4)
    assert lent.addresses == [frame.picture.planes[0].buffer_ptr]


@pytest.mark.skipif(int(av.__version__.split(".")[0]) < 18, reason="PyAV 17 copies")
@pytest.mark.parametrize("size", [(96, 64), (98, 62)])
def test_the_encoder_reads_in_place(size: tuple[int, int]) -> None:
    width, height = size
    picture = av.VideoFrame(width, height, "yuv420p")
    color = color_of(picture)
    format_ = Format("yuv420p", width, height, color)
    frame = FramePass(engine_of("cpu"), [format_], format_).convert(Decoded(picture, color, Turn()))
    made = picture_of(frame, color)
    for ours, theirs in zip(planes_of(frame), made.planes, strict=True):
        assert (ours.ctypes.data, ours.strides[0]) == (theirs.buffer_ptr, theirs.line_size)
