"""Everything at once, for minutes: ``python soak.py [MINUTES]`` (``make soak``). Not part of ``make test``.

Threads filter pictures, run pipelines, draw on surfaces and transcode clips, on every device there is. On
the main thread signals interrupt work between any two lines; GPUs are lost on purpose; surfaces,
readers and transcodes end half-way; the process is forked, and its children compute. Work may fail only
with the errors that were provoked, and what succeeds must be right.

The time is cut into rounds. After each one all threads end, and memory, threads and open files are counted:
they must not grow from round to round.
"""

from __future__ import annotations

import ctypes
import faulthandler
import gc
import os
import random
import resource
import signal
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).parents[1] / "helpers"))

from in_threads import wait_until
from onnx_files import small_net

import dala
from dala import compute, gpu, media, video
from dala.backends.auto import open_device
from dala.errors import DalaError
from dala.ml.network import open_network

Array = npt.NDArray[Any]
ROUNDS = 8
WARM_ROUNDS = 4  # caches fill, pools find their size
MIB = 1 << 20
SLACK_MIB = 48  # of a process of 500
GPU = ["webgpu"] if "webgpu" in dala.devices() else []
FILTERS = [
    ("blur", {"radius": 2}), ("sharpen", {"amount": 0.5}), ("grayscale", {}), ("invert", {}),
    ("median", {"radius": 1}), ("contrast", {"value": 0.2}), ("sepia", {"intensity": 0.5}),
    ("vignette", {}), ("hue", {"degrees": 20}),
]  # fmt: skip
NETWORK = small_net()
# A few: a chain that nobody has seen is compiled and kept, and hides what is never given back.
CHAINS = [random.Random(n).sample(FILTERS, 1 + n % 4) for n in range(24)]


class Provoked(BaseException):
    """Raised on purpose, to end work half-way, as a KeyboardInterrupt does."""


def is_provoked(error: BaseException) -> bool:
    """Whether it was raised on purpose, or comes of a GPU that was lost on purpose."""
    lost = isinstance(error, DalaError) and "the GPU was lost" in str(error)
    return lost or isinstance(error, Provoked)


class Soak:
    """Jobs on threads until told to stop; what failed, and how often each job was done."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.stopping = threading.Event()
        self.done: Counter[str] = Counter()
        self.failures: list[str] = []

    def run(self, jobs: list[Callable[[random.Random], None]], seconds: float) -> None:
        """One round: every job in a thread of its own, again and again."""
        self.stopping.clear()
        threads = [
            threading.Thread(target=self._repeat, args=(job, number))
            for number, job in enumerate(jobs)
        ]
        for thread in threads:
            thread.start()
        try:
            self._disturb(seconds)
        except BaseException:
            self.failures.append(f"the main thread:\n{traceback.format_exc()}")
        self.stopping.set()
        for thread in threads:
            thread.join(300)
            if thread.is_alive():
                self.failures.append(f"{thread.name} hangs")
        self.seed += 1

    def _repeat(self, job: Callable[[random.Random], None], number: int) -> None:
        dice = random.Random(self.seed * 1000 + number)
        while not self.stopping.is_set():
            try:
                job(dice)
            except BaseException as error:
                if is_provoked(error):
                    self.done[f"{job.__name__}, ended on purpose"] += 1
                    continue
                self.failures.append(f"{job.__name__}:\n{traceback.format_exc()}")
                return
            else:
                self.done[job.__name__] += 1

    def _disturb(self, seconds: float) -> None:
        """The main thread: interrupted work, forks, lost devices."""
        dice = random.Random(self.seed)
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            interrupted(dice)
            self.done["interrupted"] += 1
            if dice.random() < 0.2:
                self._fork()
            if GPU and dice.random() < 0.1:
                try:
                    lose_the_gpu()
                except (
                    Provoked
                ):  # one that fell into a driver's callback is raised by the next wait
                    continue
                self.done["GPU lost"] += 1

    def _fork(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads
            child = os.fork()
        if child == 0:
            faulthandler.dump_traceback_later(60, exit=True)  # says where it hangs
            gc.collect()  # what was garbage of others, too
            os._exit(0 if works_after_fork() else 1)
        self.done["forked"] += 1
        status = wait_for_child(child)
        if status:
            self.failures.append(f"a forked child ended with {status}")


def wait_for_child(child: int) -> int:
    """Its exit status; one that does not end is killed."""
    limit = time.monotonic() + 90
    while time.monotonic() < limit:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


# -- jobs ------------------------------------------------------------------------------------------------


def picture(dice: random.Random, channels: int = 3) -> Array:
    rows, columns = dice.choice([(33, 47), (240, 320), (481, 641)])
    row = np.arange(columns * channels, dtype=np.uint8).reshape(1, columns, channels)
    return np.repeat(row, rows, 0) + np.uint8(dice.randrange(256))


def chosen_device(dice: random.Random) -> str:
    return dice.choice(["cpu", *GPU])


def filter_pictures(dice: random.Random) -> None:
    """A chain twice: the same result, and the picture unchanged."""
    image, device = picture(dice), chosen_device(dice)
    before = image.copy()
    chain = dice.choice(CHAINS)
    results = [np.asarray(media.apply_filters(image, chain, device=device)) for _ in range(2)]
    assert np.array_equal(*results) and np.array_equal(image, before), chain


def run_pipelines(dice: random.Random) -> None:
    """Commands under way while their buffers are freed; what is read is right."""
    image = picture(dice, 4)
    engine_name = chosen_device(dice)
    with compute_on(engine_name) as device:
        source = device.upload(image)
        out = device.zeros(image.shape)
        commands = [device.invert(source, out) for _ in range(dice.randint(1, 5))]
        if dice.random() < 0.3:
            source.free()
        if dice.random() < 0.5:
            commands[-1].wait(300)
        result = out.read()
    assert np.array_equal(result[..., :3], 255 - image[..., :3])


class compute_on:
    """The calls of ``compute`` on one device, whatever the process's default is meanwhile."""

    def __init__(self, name: str) -> None:
        from dala.compute.engine import engine_for

        self.engine = engine_for(open_device(name))
        self.buffers: list[compute.Buffer] = []

    def __enter__(self) -> compute_on:
        return self

    def __exit__(self, *exc: object) -> None:
        for buffer in self.buffers:
            if not buffer.freed:
                buffer.free()

    def zeros(self, shape: tuple[int, ...]) -> compute.Buffer:
        from dala.ir.arrays import ArrayType
        from dala.ir.dtypes import U8

        type_ = ArrayType(shape, U8)
        self.buffers.append(compute.Buffer(self.engine, type_, self.engine.device.allocate(type_)))
        return self.buffers[-1]

    def upload(self, image: Array) -> compute.Buffer:
        buffer = self.zeros(image.shape)
        buffer.write(image)
        return buffer

    def invert(self, source: compute.Buffer, out: compute.Buffer) -> compute.Command:
        pipeline = compute.Pipeline(self.engine)
        pipeline.add({"kernel": "invert", "inputs": [source], "output": out})
        return pipeline.submit()


def run_networks(dice: random.Random) -> None:
    """A small network, closed with or without a kernel of its name; the same result each time."""
    image = np.full((1, 16, 16, 3), dice.randrange(256), np.uint8)
    with open_network(NETWORK, device=chosen_device(dice)) as network:
        for _ in range(dice.randint(1, 20)):
            first, again = network.run(image)[0], network.run(image)[0]
            assert np.array_equal(first, again) and np.isfinite(first).all()


def draw(dice: random.Random) -> None:
    """Surfaces of changing size; some are destroyed with work in their queue."""
    surface = gpu.create_surface(dice.randint(1, 300), dice.randint(1, 200))
    for _ in range(dice.randint(1, 4)):
        gpu.clear(surface, "navy")
        for k in range(40):
            gpu.fill_circle(surface, dice.randrange(300), k * 5, dice.randrange(20), "red")
        gpu.load_sprite(surface, 1, bytes(range(256)) * 4, 16, 16)
        gpu.blit(surface, 1, 3, 3)
        gpu.present(surface)
        if dice.random() < 0.5:
            gpu.resize_surface(surface, dice.randint(1, 300), dice.randint(1, 200))
    if dice.random() < 0.5:
        gpu.fill_rect(surface, 0, 0, 400, 300, "white")
        gpu.present(surface).wait(300)
        assert set(gpu.get_pixels(surface)) == {255}
    gpu.destroy_surface(surface)


def filter_frames(dice: random.Random) -> None:
    """A frame pipeline that is stopped, now and then with frames under way."""
    image = picture(dice)
    rows, columns = image.shape[:2]
    frames = media.FramePipeline(columns, rows, device=chosen_device(dice))
    try:
        handles = [frames.submit(image, ["invert"]) for _ in range(dice.randint(1, 4))]
        if dice.random() < 0.7:
            assert np.array_equal(np.asarray(handles[0].wait(300)), 255 - image)
    finally:
        frames.stop()


def transcode(dice: random.Random) -> None:
    """A clip there and back; some end half-way, and leave nothing behind."""
    if not _transcode(dice):
        raise Provoked


def _transcode(dice: random.Random) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        clip, copy = Path(folder, "a.mkv"), Path(folder, "b.mkv")
        with video.Writer(clip, fps=25, codec="ffv1") as writer:
            for number in range(8):
                writer.write(np.full((48, 64, 3), 20 * number, np.uint8))
        stop_at = dice.randint(1, 16)

        def note(progress: video.Progress) -> None:
            if progress.frames >= stop_at:
                raise Provoked

        try:
            video.transcode(clip, copy, ["blur"], codec="ffv1", progress=note)
        except Provoked:
            # a thread may still be in FFmpeg; a file that was complete by then stays
            wait_until(lambda: not any(n.startswith(".") for n in os.listdir(folder)))
            return False
        with video.Reader(copy) as reader:
            for number, _ in zip(range(dice.randint(1, 12)), reader, strict=False):
                assert number < 8
        return True


def compile_kernels(dice: random.Random) -> None:
    """Kernels that nobody has seen before."""
    name = f"soaked_{threading.get_ident()}"
    factor = dice.random()
    compute.register(name, f"def {name}(src): return src[0, 0] * {factor!r} + src[1, 0] * 0.1")
    try:
        image = picture(dice)
        media.apply_filter(image, name, device="cpu")
    finally:
        compute.unregister(name)


# -- disturbances ----------------------------------------------------------------------------------------


def interrupted(dice: random.Random) -> None:
    """Work on the main thread, ended by a signal handler's exception at any moment.

    It comes again and again: Python drops an exception that falls into a weak reference's callback.
    """
    armed = [True]

    def interrupt(_number: int, _frame: object) -> None:
        if armed:
            raise Provoked

    image = picture(dice)
    before = signal.signal(signal.SIGALRM, interrupt)
    # An exception that falls into wgpu-py's `__del__` is dropped there, and its device is never freed:
    # the collector must not find one that was lost on this thread, where signals come.
    gc.disable()
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, dice.uniform(0.0005, 0.03), 0.05)
            while True:
                # not on a GPU: an exception that falls into a callback of wgpu-py's is dropped there
                media.apply_filters(image, dice.choice(CHAINS), device="cpu")
        finally:
            armed.clear()
    except BaseException as error:
        if not is_provoked(error):
            raise
    finally:
        armed.clear()
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        gc.enable()


def lose_the_gpu() -> None:
    """Tell everybody that their device is lost, as a driver does; the next who needs one opens another."""
    device = open_device("webgpu")
    with device.queue.lock:  # type: ignore[attr-defined]
        device.lost = True


def works_after_fork() -> bool:
    image = np.full((64, 64, 3), 7, np.uint8)
    result = np.asarray(media.apply_filters(image, ["invert", "grayscale"], device="cpu"))
    return bool((result == 248).all())


# -- rounds ----------------------------------------------------------------------------------------------


def measure() -> tuple[float, int, int]:
    """Resident MiB, threads, open files."""
    for name in GPU:  # one GPU is open, and none that was lost is left
        media.apply_filter(np.zeros((8, 8, 3), np.uint8), "invert", device=name)
    media.apply_filter(
        np.zeros((8, 8, 3), np.uint8), "invert"
    )  # the default may be one that was lost
    compute.synchronize()
    for _ in range(3):
        gc.collect()
        time.sleep(0.2)
    give_back()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return (
        pages * resource.getpagesize() / MIB,
        threading.active_count(),
        len(os.listdir("/proc/self/fd")),
    )


def use_few_arenas() -> None:
    """Start again with two heaps rather than eight for each core, if they are glibc's.

    On 16 cores it keeps 750 MiB of freed memory in 128 heaps, beside 80 MiB that are in use: which threads
    happened to free it decides, and growth of 50 MiB cannot be seen.
    """
    if "MALLOC_ARENA_MAX" not in os.environ:
        os.environ["MALLOC_ARENA_MAX"] = "2"
        os.execv(sys.executable, sys.orig_argv)


def give_back() -> None:
    """Freed memory goes back to the system, where the C library can be asked to."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc's
    if trim is not None:
        trim(0)


def grown(seen: list[tuple[float, int, int]]) -> list[str]:
    """What grew from the first warm round to the last one."""
    warm = seen[WARM_ROUNDS - 1 :]
    found = []
    memory = [m for m, _, _ in warm]
    if memory[-1] > memory[0] + SLACK_MIB:
        found.append(f"memory: {', '.join(f'{m:.0f}' for m in memory)} MiB")
    for name, counts in (("threads", [t for _, t, _ in warm]), ("files", [f for _, _, f in warm])):
        if counts[-1] > max(counts[:-1]):
            found.append(f"{name}: {counts}")
    return found


def main() -> int:
    use_few_arenas()
    minutes = float(sys.argv[1]) if len(sys.argv) > 1 else 3.0
    seed = int(os.environ.get("DALA_SOAK_SEED", time.time_ns() % 1_000_000))
    print(f"{minutes:g} minutes, seed {seed}, devices {['cpu', *GPU]}", flush=True)
    jobs = [filter_pictures, filter_pictures, run_pipelines, draw, draw, filter_frames,
            transcode, compile_kernels, run_networks]  # fmt: skip
    soak, seen = Soak(seed), []
    for number in range(ROUNDS):
        soak.run(jobs, minutes * 60 / ROUNDS)
        seen.append(measure())
        print(f"round {number + 1}: {seen[-1][0]:.0f} MiB, {seen[-1][1]} threads, {seen[-1][2]} files",
              flush=True)  # fmt: skip
        if soak.failures:
            break
    print(", ".join(f"{name} {count}" for name, count in sorted(soak.done.items())))
    wrong = soak.failures or grown(seen)
    print("\n".join(wrong) if wrong else "nothing failed, nothing grew")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
