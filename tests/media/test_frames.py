"""Frame pipelines: right, in order, compiled once, bounded, and gone when they are stopped."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from in_threads import PATIENCE_S, wait_until
from skimage import data

from dala import compute, media
from dala.compute import Buffer
from dala.compute.default import default_engine
from dala.errors import (
    ArgumentError,
    CommandTimeoutError,
    DeviceError,
    OutOfMemoryError,
    ParameterError,
    PipelineError,
    ShapeError,
)
from dala.media.frames import FramePipeline

pytestmark = pytest.mark.usefixtures("device", "registry")

PHOTO = np.ascontiguousarray(data.astronaut()[:60, 100:180])
HEIGHT, WIDTH = PHOTO.shape[:2]
CHAIN: list[Any] = [
    ("blur", {"radius": 2}),
    ("sharpen", {"amount": 0.4}),
    ("contrast", {"value": 0.2}),
]


@pytest.fixture
def frames(device: str) -> Iterator[FramePipeline]:
    with media.start_pipeline(WIDTH, HEIGHT) as pipeline:
        yield pipeline


@pytest.fixture
def compiled(device: str, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The plans that were compiled."""
    found: list[Any] = []
    chosen = default_engine().device
    original = chosen.compile

    def count(plan: Any) -> Any:
        found.append(plan)
        return original(plan)

    monkeypatch.setattr(chosen, "compile", count)
    return found


def shifted(by: int) -> np.ndarray:
    return np.roll(PHOTO, by, axis=1)


# -- right -------------------------------------------------------------------------------------


def test_a_frame_is_what_the_filters_make_of_it(frames: FramePipeline) -> None:
    for image in (PHOTO, PHOTO[..., 0], PHOTO.astype(np.float32) / 255, media.chroma_key(PHOTO)):
        result = frames.process(image, CHAIN)
        assert np.array_equal(result, media.apply_filters(image, CHAIN))
        assert result.dtype == image.dtype and result.shape == image.shape
    data = frames.process(PHOTO.tobytes(), CHAIN)
    assert data == frames.process(PHOTO, CHAIN).tobytes()
    assert np.array_equal(frames.process(PHOTO, []), PHOTO)


def test_fused_is_stage_by_stage(frames: FramePipeline, device: str) -> None:
    step = PHOTO
    for item in CHAIN:
        step = media.apply_filters(step, [item])
    apart = np.abs(frames.process(PHOTO, CHAIN).astype(int) - step)
    assert apart.max() <= (1 if device == "webgpu" else 0)
    assert (apart > 0).mean() <= 1e-3 or device != "webgpu"


def test_the_chain_is_one_pass(frames: FramePipeline, device: str) -> None:
    plan = frames.explain(CHAIN)
    assert "3 stages → 1 pass" in plan
    if device == "webgpu":  # cut where another dispatch is shorter than tiles within tiles
        assert "pass on webgpu, cut into" in plan and "part 2 of pass 1" in plan
        assert all(name in plan for name in ("blur.1", "sharpen", "contrast"))
    else:
        assert "→ sharpen → contrast" in plan


def test_bgr_is_swapped_inside_the_pass(device: str) -> None:
    with media.start_pipeline(WIDTH, HEIGHT, channels="bgr") as frames:
        result = frames.process(PHOTO[..., ::-1], ["sepia"])
        assert np.array_equal(result[..., ::-1], media.sepia(PHOTO))
        assert "pass 2" not in frames.explain(["sepia"])


def test_other_sizes_come_out(frames: FramePipeline) -> None:
    half: Any = ("resize", {"width": WIDTH // 2, "interpolation": "area"})
    assert frames.process(PHOTO, [half]).shape == (HEIGHT // 2, WIDTH // 2, 3)
    assert frames.process(PHOTO, [half, ("crop", {"x": 3, "height": 9})]).shape == (9, 37, 3)
    assert frames.process(PHOTO, CHAIN).shape == PHOTO.shape
    for left in (3, 5, 3):  # what is left of a picture depends on where it is cut
        result = frames.process(PHOTO, [("crop", {"x": left})])
        assert np.array_equal(result, PHOTO[:, left:])


def test_buffers_come_and_go_on_the_device(frames: FramePipeline) -> None:
    rgba = media.chroma_key(PHOTO)
    buffer = compute.from_array(rgba)
    for result in (frames.process(buffer, CHAIN), frames.submit(buffer, CHAIN).wait()):
        assert isinstance(result, Buffer) and result is not buffer
        assert np.array_equal(result.read(), frames.process(rgba, CHAIN))
    with media.start_pipeline(WIDTH, HEIGHT, device="reference") as elsewhere:
        if buffer.device != "reference":
            with pytest.raises(DeviceError, match=r"the frame is on .*, the pipeline on reference"):
                elsewhere.process(buffer, CHAIN)


def test_results_belong_to_the_caller(frames: FramePipeline) -> None:
    first = frames.process(PHOTO, CHAIN)
    kept = first.copy()
    for by in range(1, 6):
        frames.process(shifted(by), CHAIN)
    assert np.array_equal(first, kept)
    first[:] = 0  # and may be written
    assert np.array_equal(frames.process(PHOTO, CHAIN), kept)


# -- values and chains -------------------------------------------------------------------------


def test_new_values_compile_nothing(frames: FramePipeline, compiled: list[Any]) -> None:
    def chain(number: int) -> list[Any]:
        value = number / 50
        return [
            ("blur", {"radius": 2, "sigma": 0.5 + value}),
            ("sharpen", {"amount": value}),
            ("tone", {"contrast": value, "fade": value / 4}),
            ("crop", {"x": number, "y": 1, "width": 9, "height": 9}),
            ("split_tone", {"shadows": (value, 0, 0)}),
        ]

    first = frames.process(PHOTO, chain(0))
    del compiled[:]
    results = [frames.process(PHOTO, chain(number)) for number in range(1, 20)]
    assert compiled == []
    assert len({result.tobytes() for result in [first, *results]}) == 20
    assert np.array_equal(results[-1], media.apply_filters(PHOTO, chain(19)))


def test_a_new_chain_is_one_compilation(frames: FramePipeline, compiled: list[Any]) -> None:
    other: list[Any] = [("blur", {"radius": 1}), ("invert", {})]
    frames.process(PHOTO, CHAIN)
    del compiled[:]
    for by in range(5):
        frames.process(shifted(by), other)
        frames.process(shifted(by), CHAIN)  # and the old one is still there
    assert len(compiled) == 1


def test_strength_is_a_value(frames: FramePipeline, compiled: list[Any]) -> None:
    look = media.Chain.of(["invert"])
    half = frames.process(PHOTO, look.at(0.5))
    assert np.abs(half.astype(int) - 127.5).max() <= 1
    del compiled[:]
    assert np.array_equal(frames.process(PHOTO, look.at(0.0)), PHOTO)
    assert compiled == []
    assert np.array_equal(frames.process(PHOTO, look.at(1)), 255 - PHOTO)


def test_a_new_chain_in_the_background(
    device: str, compiled: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = threading.Event()
    chosen = default_engine().device
    with media.start_pipeline(WIDTH, HEIGHT, background=True) as frames:
        before = frames.process(PHOTO, ["invert"])  # the first one is waited for
        original = chosen.compile

        def held(plan: Any) -> Any:
            assert gate.wait(PATIENCE_S)
            return original(plan)

        monkeypatch.setattr(chosen, "compile", held)
        new: list[Any] = [("median", {"radius": 1}), ("posterize", {"levels": 3})]
        for _ in range(3):
            assert np.array_equal(frames.process(PHOTO, new), before)  # the old chain still runs
            assert frames.compiling
        gate.set()
        wait_until(lambda: not frames.compiling)
        assert np.array_equal(frames.process(PHOTO, new), media.apply_filters(PHOTO, new))
        names = [thread.name for thread in threading.enumerate()]
        assert "dala-compile" not in names


def test_a_chain_that_fails_in_the_background_is_reported(
    device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = default_engine().device
    with media.start_pipeline(WIDTH, HEIGHT, background=True) as frames:
        frames.process(PHOTO, ["invert"])

        def fail(plan: Any) -> Any:
            raise OutOfMemoryError("no room for code")

        with monkeypatch.context() as patch:
            patch.setattr(chosen, "compile", fail)
            wanted: list[Any] = [("pixelate", {"size": 3}), "invert", "hdr"]
            frames.process(PHOTO, wanted)
            wait_until(lambda: not frames.compiling)
            with pytest.raises(OutOfMemoryError, match="no room for code"):
                frames.process(PHOTO, wanted)
        wait_until(lambda: not frames.compiling)
        frames.process(PHOTO, wanted)  # begins again
        wait_until(lambda: not frames.compiling)
        assert np.array_equal(frames.process(PHOTO, wanted), media.apply_filters(PHOTO, wanted))


def test_stopping_while_something_compiles(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen, original = default_engine().device, default_engine().device.compile
    inside, go_on = threading.Event(), threading.Event()

    def held(plan: Any) -> Any:
        inside.set()
        assert go_on.wait(PATIENCE_S)
        return original(plan)

    frames = media.start_pipeline(WIDTH, HEIGHT, background=True)
    frames.process(PHOTO, ["invert"])
    monkeypatch.setattr(chosen, "compile", held)
    frames.process(PHOTO, [("median", {"radius": 1}), "invert", "sepia"])
    assert inside.wait(PATIENCE_S)
    stopping = threading.Thread(target=frames.stop)
    stopping.start()
    assert "dala-compile" in [thread.name for thread in threading.enumerate()]
    go_on.set()
    stopping.join(PATIENCE_S)
    assert not stopping.is_alive()
    assert "dala-compile" not in [thread.name for thread in threading.enumerate()]


def test_further_images_change_from_frame_to_frame(
    frames: FramePipeline, compiled: list[Any]
) -> None:
    mask = np.zeros((HEIGHT, WIDTH), np.uint8)
    held = compute.from_array(mask)

    def chain(mask: object) -> list[Any]:
        return [("background_replace", {"mask": mask, "background": np.zeros((1, 1, 3), np.uint8)})]

    assert (frames.process(PHOTO, chain(mask)) == 0).all()
    del compiled[:]
    mask[:] = 255  # the same array, with other values
    assert np.array_equal(frames.process(PHOTO, chain(mask)), PHOTO)
    frame = frames.submit(PHOTO, chain(mask))
    mask[:] = 0  # too late for that one
    assert np.array_equal(frame.wait(), PHOTO)
    assert (frames.process(PHOTO, chain(held)) == 0).all()
    assert compiled == []


# -- overlapped --------------------------------------------------------------------------------


def test_submitted_frames_come_back_in_their_order(frames: FramePipeline) -> None:
    waiting = [frames.submit(shifted(by), CHAIN) for by in range(10)]
    for by, frame in enumerate(waiting):
        assert np.array_equal(frame.wait(), frames.process(shifted(by), CHAIN))
        assert frame.done
        assert np.array_equal(frame.wait(), frame.wait())


def test_the_picture_may_change_once_it_is_submitted(frames: FramePipeline) -> None:
    image = PHOTO.copy()
    frame = frames.submit(image, CHAIN)
    image[:] = 0
    assert np.array_equal(frame.wait(), frames.process(PHOTO, CHAIN))


def test_values_belong_to_their_frame(frames: FramePipeline) -> None:
    waiting = [frames.submit(PHOTO, [("brightness", {"value": n / 20})]) for n in range(6)]
    for n, frame in enumerate(waiting):
        assert np.array_equal(frame.wait(), media.brightness(PHOTO, value=n / 20))


def test_map_is_lazy_and_in_order(frames: FramePipeline) -> None:
    taken: list[int] = []

    def clip() -> Iterator[np.ndarray]:
        for by in range(12):
            taken.append(by)
            yield shifted(by)

    results = frames.map(clip(), CHAIN)
    assert taken == []
    first = next(results)
    assert len(taken) == 3  # a ring full
    for by, result in enumerate([first, *results]):
        assert np.array_equal(result, frames.process(shifted(by), CHAIN))


@pytest.mark.parametrize("depth", [1, 2])
def test_no_more_than_the_ring_is_under_way(
    depth: int, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, entered = threading.Event(), threading.Semaphore(0)
    original = FramePipeline._finish

    def held(self: FramePipeline, *rest: Any) -> object:
        entered.release()
        assert gate.wait(PATIENCE_S)
        return original(self, *rest)

    with media.start_pipeline(WIDTH, HEIGHT, depth=depth) as frames:
        frames.process(PHOTO, CHAIN)
        monkeypatch.setattr(FramePipeline, "_finish", held)
        waiting = [frames.submit(PHOTO, CHAIN) for _ in range(depth)]
        assert not any(frame.done for frame in waiting)
        with pytest.raises(CommandTimeoutError):
            waiting[0].wait(timeout=0.01)
        one_more = threading.Thread(target=frames.submit, args=(PHOTO, CHAIN))
        one_more.start()
        one_more.join(0.2)
        assert one_more.is_alive()  # it waits for its place in the ring
        gate.set()
        one_more.join(PATIENCE_S)
        assert not one_more.is_alive()


def test_await(frames: FramePipeline) -> None:
    async def work() -> list[np.ndarray]:
        return [await frames.submit(shifted(by), CHAIN) for by in range(3)]

    for by, result in enumerate(asyncio.run(work())):
        assert np.array_equal(result, frames.process(shifted(by), CHAIN))


def test_a_frame_that_fails_is_the_only_one(
    frames: FramePipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = FramePipeline._finish

    def fail(self: FramePipeline, *rest: Any) -> object:
        raise OutOfMemoryError("no room for the result")

    good = frames.submit(PHOTO, CHAIN)
    good.wait()
    monkeypatch.setattr(FramePipeline, "_finish", fail)
    bad = frames.submit(PHOTO, CHAIN)
    with pytest.raises(OutOfMemoryError, match="no room for the result"):
        bad.wait()
    monkeypatch.setattr(FramePipeline, "_finish", original)
    for _ in range(4):  # over its place in the ring, too
        assert np.array_equal(frames.submit(PHOTO, CHAIN).wait(), good.wait())


def test_two_threads_may_share_a_pipeline(frames: FramePipeline) -> None:
    wanted = {by: media.brightness(shifted(by), value=by / 10) for by in range(4)}
    wrong: list[int] = []

    def work(by: int) -> None:
        chain: list[Any] = [("brightness", {"value": by / 10})]
        for turn in range(20):
            run = frames.process if turn % 2 else lambda i, f: frames.submit(i, f).wait()
            if not np.array_equal(run(shifted(by), chain), wanted[by]):
                wrong.append(by)

    threads = [threading.Thread(target=work, args=(by,)) for by in wanted]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


# -- the end -----------------------------------------------------------------------------------


def test_a_stopped_pipeline(device: str) -> None:
    with media.start_pipeline(WIDTH, HEIGHT) as frames:
        assert repr(frames) == f"<dala frame pipeline {WIDTH} × {HEIGHT}, on {device}>"
        waiting = [frames.submit(shifted(by), CHAIN) for by in range(3)]
        buffers = list(frames._buffers.values())
    assert all(frame.done for frame in waiting)
    assert np.array_equal(waiting[2].wait(), media.apply_filters(shifted(2), CHAIN))
    assert all(buffer.freed for buffer in buffers)
    media.stop_pipeline(frames)  # twice is fine
    for call in (frames.process, frames.submit):
        with pytest.raises(
            PipelineError, match="this frame pipeline has been closed; start a new one"
        ):
            call(PHOTO, CHAIN)
    assert "closed" in repr(frames)


def test_nothing_is_left_behind(device: str) -> None:
    def alive() -> int:
        gc.collect()
        return sum(issubclass(type(each), Buffer) for each in gc.get_objects())

    def work() -> None:
        with media.start_pipeline(WIDTH, HEIGHT) as frames:
            for n in range(12):
                frames.submit(PHOTO, [*CHAIN, ("blur", {"radius": n % 4})])
            frames.process(PHOTO, [("blend", {"top": PHOTO})])

    work()
    before, threads = alive(), threading.active_count()
    for _ in range(3):
        work()
    assert alive() <= before
    assert threading.active_count() <= threads


def test_many_chains_do_not_pile_up(device: str) -> None:
    with media.start_pipeline(8, 8) as frames:
        small = np.zeros((8, 8, 3), np.uint8)
        for n in range(40):
            frames.process(small, [("resize", {"width": 8 + n, "height": 8})])
        assert len(frames._programs) <= 32


# -- what is refused ---------------------------------------------------------------------------


def test_refused(frames: FramePipeline) -> None:
    with pytest.raises(
        ShapeError, match=f"this pipeline is for {WIDTH} × {HEIGHT} pixels, got 9 × 8"
    ):
        frames.process(np.zeros((8, 9, 3), np.uint8), CHAIN)
    with pytest.raises(ShapeError, match=f"process_frame: {WIDTH} × {HEIGHT} pixels are .* bytes"):
        frames.process(b"abc", CHAIN)
    with pytest.raises(ArgumentError, match="filters are a list such as"):
        frames.process(PHOTO, 3)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="filter 2: blur: radius must be"):
        frames.process(PHOTO, ["invert", ("blur", {"radius": -1})])
    for wrong in (
        {"width": 0, "height": 4},
        {"width": 4, "height": 2.5},
        {"width": True, "height": 1},
    ):
        with pytest.raises(ParameterError, match="must be a whole number from 1 up"):
            media.start_pipeline(**wrong)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="depth must be a whole number from 1 up, got 0"):
        media.start_pipeline(4, 4, depth=0)
    assert np.array_equal(frames.process(PHOTO, []), PHOTO)  # and it still works
