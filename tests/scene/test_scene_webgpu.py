"""Scenes that a GPU paints: the same pictures in any order, frames that stay there, what may go wrong."""

from __future__ import annotations

import gc
import os
import random
import subprocess
import sys
import textwrap
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from random_scenes import random_scene
from tracks import LOSSLESS, levels, write_counted

from dala import media, scene
from dala.backends.webgpu.device import WebGpuDevice
from dala.errors import DeviceError, DeviceLostError
from dala.scene import Scene
from dala.scene.paint.cpu import CpuPainter
from dala.scene.painting import GpuPainting

pytestmark = pytest.mark.webgpu


def made(device: str | None = "webgpu") -> Scene:
    stage = Scene(64, 48, background="navy", device=device)
    picture = np.random.default_rng(1).integers(0, 256, (20, 30, 4), np.uint8)
    stage.animate(stage.add_image(picture, size=(30, 20)), "position", to=(30, 20), at=0.0)
    stage.add_shape(size=(20, 20), position=(5, 20), corner_radius=5, fill="tomato")
    return stage


def painter_of(stage: Scene) -> Any:
    assert isinstance(stage._painter, GpuPainting)
    return stage._painter._painter


def test_frames_in_any_order_are_those_in_sequence() -> None:
    for seed in range(20):
        chance = random.Random(seed)
        times = [n / 10 for n in range(0, 20, 3)]
        with (
            random_scene(random.Random(seed), device="webgpu") as stage,
            random_scene(random.Random(seed), device="webgpu") as other,
        ):
            in_sequence = [stage.render(time) for time in times]
            order = list(range(len(times))) * 2
            chance.shuffle(order)
            for n in order:
                seen = other.render(times[n]).to_array()
                assert np.array_equal(seen, in_sequence[n].to_array()), (seed, times[n])


def test_its_pictures_are_those_of_the_cpu_within_a_level() -> None:
    with made() as stage, made(None) as other:
        for time in (0.0, 0.1, 0.15, 1.0):
            seen, wanted = (s.render(time).to_array() for s in (stage, other))
            assert abs(seen.astype(int) - wanted).max() <= 1


def test_a_frame_stays_on_the_gpu_until_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    with made() as stage:
        with monkeypatch.context() as nobody_reads:
            nobody_reads.setattr(WebGpuDevice, "fetch", lambda *_: pytest.fail("it was fetched"))
            nobody_reads.setattr(WebGpuDevice, "download", lambda *_: pytest.fail("it was fetched"))
            frame, later = stage.render(0.1), stage.render(0.2)
            assert (frame.width, frame.height) == (64, 48)
            buffer = frame.to_buffer()
            assert buffer.device == "webgpu"
            negative = media.apply_filters(buffer, ["invert"])
        assert (negative.read()[..., :3] == 255 - frame.to_array()[..., :3]).all()
        assert not np.array_equal(frame.to_array(), later.to_array())
        with pytest.raises(ValueError, match="read-only"):
            frame.to_array()[0, 0] = 0
    assert np.asarray(frame).shape == (48, 64, 4)  # frames that are held stay


def test_what_is_the_same_is_not_painted_again() -> None:
    with made() as stage:
        first, second = stage.render(2.0), stage.render(3.0)
        assert (stage.frame_count, stage.skipped) == (1, 1)
        assert np.array_equal(first.to_array(), second.to_array())


def test_a_frame_s_buffer_is_the_caller_s_own() -> None:
    with Scene(64, 48, background="navy", device="webgpu") as stage:
        frame = stage.render(0)
        with frame.to_buffer() as buffer:
            assert (buffer.read() == (0, 0, 128, 255)).all()
            buffer.write(np.full((48, 64, 4), 9, np.uint8))
        assert (stage.render(1).to_array() == (0, 0, 128, 255)).all()  # nothing has changed
        with stage.render(2).to_buffer() as buffer:
            buffer.write(np.full((48, 64, 4), 9, np.uint8))
            stage.add_shape(position=(2, 2), size=(4, 4), fill="gold")  # on a copy of the last one
            seen = stage.render(3).to_array()
            assert (seen[20:] == (0, 0, 128, 255)).all()
        assert (frame.to_buffer().read() == (0, 0, 128, 255)).all()
        assert (frame.to_array() == (0, 0, 128, 255)).all()


def test_destroying_it_gives_the_textures_back() -> None:
    stage = made()
    stage.render(0.1)
    painter = painter_of(stage)
    assert painter.textures.used_bytes > 0
    memory = weakref.ref(painter.textures._buffer._array)
    stage.destroy()
    gc.collect()
    assert memory() is None and painter.textures.used_bytes == 0


def test_a_lost_gpu_is_told_and_the_next_frame_opens_it_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def lose(*_: object) -> None:
        raise RuntimeError("device lost")

    with made() as stage:
        before = stage.render(0.1)
        painter = painter_of(stage)
        monkeypatch.setattr(painter, "_submit", lose)
        with pytest.raises(DeviceLostError, match="painting a scene: the GPU was lost"):
            stage.render(0.2)
        assert painter.device.lost
        with made(None) as other:
            wanted = other.render(0.2).to_array()
        assert abs(stage.render(0.2).to_array().astype(int) - wanted).max() <= 1
        assert painter_of(stage).device is not painter.device
        with pytest.raises(DeviceLostError):
            before.to_array()


@pytest.mark.parametrize("later", [0.2, 5.0])  # before the animation's end, and long after it
def test_a_still_scene_is_painted_again_once_its_gpu_was_lost(later: float) -> None:
    with made() as stage, made(None) as other:
        before = stage.render(later)
        device = painter_of(stage).device
        device.lost = True
        for time in (later, later + 1):  # the same moment, and another
            seen, wanted = (s.render(time).to_array() for s in (stage, other))
            assert abs(seen.astype(int) - wanted).max() <= 1
        assert painter_of(stage).device is not device
        with pytest.raises(DeviceLostError):
            before.to_array()


@pytest.mark.parametrize("resume", [False, True])
def test_a_report_says_what_painted_it(tmp_path: Path, resume: bool) -> None:
    for own, asked, painted in (("webgpu", None, "webgpu"), ("webgpu", "cpu", "cpu")):
        with Scene(32, 16, background="navy", device=own) as stage:
            stage.add_shape(size=(5, 5), fill="gold")
            out = tmp_path / f"{painted}.mkv"
            report = scene.export(stage, out, fps=25, end=0.2, device=asked, resume=resume)
            assert (report.device, report.frames) == (painted, 5)


def test_an_export_paints_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    film = write_counted(tmp_path / "film.mkv", frames=10, sound=False)
    shown = []
    for device in ("webgpu", None):
        with Scene(32, 16, device=device) as stage:
            stage.add_video(str(film), size=(32, 16))
            stage.add_shape(size=(5, 5), position=(2.5, 2), fill="gold", opacity=0.5)
            out = tmp_path / f"{device}.mkv"
            with monkeypatch.context() as watched:
                if device:  # nothing is painted by the CPU
                    watched.setattr(CpuPainter, "paint_planes", lambda *_: pytest.fail("the CPU"))
                report = scene.export(stage, out, fps=25, video=LOSSLESS)
            assert report.device == (device or "cpu")
            tall = scene.Canvas(stage, 16, 32)
            assert tall.device == device and tall.render(0.1).to_array().shape == (32, 16, 4)
            shown.append(levels(out))
    assert len(shown[0]) == len(shown[1]) == 10
    assert all(abs(a - b) <= 1 for a, b in zip(*shown, strict=True))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_is_told_so() -> None:
    text = """
        import os, warnings
        warnings.simplefilter("ignore")
        from dala import scene
        from dala.errors import DeviceError
        stage = scene.Scene(8, 8, background="red", device="webgpu")
        stage.render(0.0)
        child = os.fork()
        if child == 0:
            stage.set_background("blue")
            try:
                stage.render(1.0)
            except DeviceError as error:
                os._exit(0 if "'spawn'" in str(error) else 2)
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        print(stage.render(1.0).to_array()[0, 0].tolist())
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(text)],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "[255, 0, 0, 255]\n"), done.stderr


def test_a_gpu_that_is_not_there_is_refused_at_once() -> None:
    with pytest.raises(DeviceError, match="no device 'webgpu:77'"):
        Scene(8, 8, device="webgpu:77")
