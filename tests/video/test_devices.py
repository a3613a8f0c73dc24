"""The same video on every device, and in as few passes as the chain allows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from clips import frame_times, real_clip, write_clip

import dala
from dala import media, video
from dala.media import Chain
from dala.media.timed import chain_at

CHAIN = [("blur", {"radius": 3}), ("sharpen", {"amount": 0.5}), ("contrast", {"value": 0.1}),
         ("brightness", {"value": 0.05})]  # fmt: skip
CHAINS: dict[str, Any] = {
    "none": [],
    "four": CHAIN,
    "other size": [("resize", {"width": 102, "height": 58}), "grayscale"],
    "odd size": [("crop", {"x": 3, "y": 5, "width": 77, "height": 51}), "invert"],
    "transparent": [("rotate", {"degrees": 20})],
    "a look": "noir",
}


@pytest.mark.parametrize("device", ["reference", "cpu", "webgpu"])
@pytest.mark.parametrize("chain", list(CHAINS))
def test_devices_agree(chain: str, device: str, tmp_path: Path) -> None:
    """Frame by frame what the filters do to the pictures by themselves."""
    before = write_clip(tmp_path / "before.mkv", codec="ffv1", frames=8)
    filters = CHAINS[chain]
    report = video.transcode(before, tmp_path / "after.mkv", filters, codec="ffv1", device=device)
    assert report.device.startswith(device) and report.frames == 8
    assert frame_times(tmp_path / "after.mkv") == frame_times(before)
    with dala.use("reference"), video.Reader(before) as reader, media.start_pipeline(96, 64) as ctx:
        expected = [
            media.process_frame(ctx, f.rgb, chain_at(Chain.of(filters), f.number, float(f.time)))
            if filters
            else f.rgb
            for f in reader
        ]
    with video.Reader(tmp_path / "after.mkv") as reader:
        for frame, wanted in zip(reader, expected, strict=True):
            height, width = wanted.shape[:2]
            assert (frame.height, frame.width) == (height + height % 2, width + width % 2)
            luma = dala.media.grayscale(wanted)[..., 0].astype(int)
            seen = dala.media.grayscale(frame.rgb)[:height, :width, 0].astype(int)
            apart = np.abs(luma - seen)
            assert apart.mean() < 2.5


@pytest.mark.parametrize("device", ["cpu", "webgpu"])
def test_one_pass(device: str, tmp_path: Path) -> None:
    before = write_clip(tmp_path / "before.mp4", frames=2)
    report = video.transcode(before, tmp_path / "after.mp4", CHAIN, device=device)
    first, second, *rest = report.plan.splitlines()
    assert first.startswith("6 stages → 1 pass on")
    assert "yuv420p_to_rgba" in second
    last = second if device == "cpu" else "\n".join(rest)  # a GPU may be told to cut it
    assert "rgba_to_yuv420p" in last and "pass 2" not in report.plan


def test_without_filters_nothing_changes(tmp_path: Path) -> None:
    report = video.transcode(real_clip("bikes.mp4"), tmp_path / "after.mkv", codec="ffv1")
    assert report.plan == "no stages: frames go to the encoder as they are"
    with video.Reader(real_clip("bikes.mp4")) as a, video.Reader(tmp_path / "after.mkv") as b:
        assert all(np.array_equal(x.planar, y.planar) for x, y in zip(a, b, strict=True))


STAGES = len(CHAIN) + 2  # from YUV and back to it


def test_devices_give_the_same_planes(tmp_path: Path) -> None:
    """Within a level per stage of the reference; on a real clip, lossless."""
    results = {}
    for device in ("reference", "cpu", "webgpu"):
        path = tmp_path / f"{device}.mkv"
        if device == "webgpu" and not any("webgpu" in d for d in dala.devices()):
            continue
        video.transcode(
            real_clip("carphone_pristine.mp4"), path, CHAIN, codec="ffv1", device=device
        )
        with video.Reader(path) as reader:
            results[device] = np.stack([f.planar for f, _ in zip(reader, range(20), strict=False)])
    for device, planes in results.items():
        apart = np.abs(planes.astype(int) - results["reference"])
        assert apart.max() <= STAGES and (apart > 1).mean() < 0.02, device


def test_a_chain_is_taken_as_it_is(tmp_path: Path) -> None:
    before = write_clip(tmp_path / "before.mp4", frames=2)
    for filters in (Chain.of(CHAIN), "noir", ["grayscale"], ("blur", {"radius": 2}), "invert"):
        assert video.transcode(before, tmp_path / "after.mp4", filters).frames == 2


@pytest.mark.parametrize("device", ["reference", "cpu", "webgpu"])
def test_recipes_on_devices(device: str, tmp_path: Path) -> None:
    clip = write_clip(tmp_path / "a.mp4", frames=5)
    report = video.side_by_side(clip, clip, tmp_path / "out.mp4", device=device, gap=6, height=40)
    assert report.frames == 5 and report.device.startswith(device)
    with video.Reader(tmp_path / "out.mp4") as reader:
        pixels = next(reader).rgb.astype(int)
    assert np.abs(pixels[:, :60] - pixels[:, 66:126]).mean() < 4
