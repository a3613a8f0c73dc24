"""A scene live for minutes, on loopback only. Not part of ``make test``.

    python tests/soak/live.py [--minutes 10] [--page bench/results/live.md]


    a camera (MPEG-TS over TCP, a process) ─ killed, stalled, resized ─┐
    a film, a text, a shape that moves ────────────────────────────────┴─ scene ─┬─ RTMP to a server, killed
                                                                                 └─ HLS into a folder

It fails if the broadcast ends, if nothing of the camera is seen or heard again, if an output is not opened
again, if what is allocated grows after the first third, or if more than one frame in a hundred is late on a
machine that wakes a mere sleeper, a process of its own, in time. What it counts is printed each minute,
and as a table at the end, which ``--page`` writes into a file. Resident memory is more than what is
allocated, as the C library keeps some for each of FFmpeg's threads that ended.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "helpers"))

from clips import Sound, write_clip
from growth import allocated, resident

from dala import scene, video
from dala.errors import VideoError
from dala.scene.out.lateness import Lateness
from dala.video.targets import LISTED

MIB = 1 << 20
SLACK_MIB = 48
SIZES = ((320, 180), (640, 360), (480, 480))

CAMERA = """
import sys, time, av, numpy as np
from fractions import Fraction
url, width, height = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
with av.open(url, "w", format="mpegts") as out:
    video = out.add_stream("libx264", rate=25)
    video.width, video.height, video.pix_fmt = width, height, "yuv420p"
    video.options = {"preset": "ultrafast", "tune": "zerolatency", "g": "25"}
    sound = out.add_stream("aac", rate=48000)
    sound.layout = "stereo"
    began = time.monotonic()
    for number in range(1 << 30):
        time.sleep(max(0, began + number / 25 - time.monotonic()))
        picture = np.full((height, width, 3), number % 200 + 40, np.uint8)
        frame = av.VideoFrame.from_ndarray(picture, "rgb24").reformat(format="yuv420p")
        frame.pts, frame.time_base = number, Fraction(1, 25)
        out.mux(video.encode(frame))
        at = np.arange(number * 1920, (number + 1) * 1920) / 48000
        wave = (0.3 * np.sin(2 * np.pi * 440 * at)).astype(np.float32)
        heard = av.AudioFrame.from_ndarray(np.stack([wave, wave]), "fltp", "stereo")
        heard.sample_rate, heard.pts, heard.time_base = 48000, number * 1920, Fraction(1, 48000)
        out.mux(sound.encode(heard))
"""

SLEEPER = """
import json, select, sys, time
due, behind = time.monotonic(), []
while not select.select([sys.stdin], [], [], 0)[0]:
    due = max(due + 0.04, time.monotonic())
    time.sleep(max(0.0, due - time.monotonic()))
    behind.append(time.monotonic() - due)
print(json.dumps(behind))
"""

SERVER = """
import sys, av
seen = heard = 0
with av.open(sys.argv[1], options={"listen": "1"}, timeout=120) as container:
    try:
        for packet in container.demux():
            seen += packet.stream.type == "video"
            heard += packet.stream.type == "audio"
            if seen % 25 == 0:
                print(seen, heard, flush=True)
    except OSError:
        pass
"""


def free_port() -> int:
    """One that nobody has now."""
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        return int(made.getsockname()[1])


class Process:
    """A part of the world that can be killed, stopped and begun again."""

    def __init__(self, code: str, *words: str) -> None:
        self._code = code
        self.begun = 0
        self.begin(*words)

    def begin(self, *words: str) -> None:
        """Another one in its place."""
        self.begun += 1
        self._process = subprocess.Popen(
            [sys.executable, "-c", self._code, *words],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def kill(self) -> None:
        """At once."""
        self._process.kill()
        self._process.wait()

    def stall(self, seconds: float) -> None:
        """Send nothing for a while, with the connection open."""
        self._process.send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        self._process.send_signal(signal.SIGCONT)


class Sleeper:
    """A process that only sleeps until the times of frames: how late this machine wakes anybody."""

    def __init__(self) -> None:
        command = [sys.executable, "-c", SLEEPER]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def end(self) -> Lateness:
        """How late it was."""
        told, _ = self._process.communicate()
        seen = Lateness()
        for behind in json.loads(told):
            seen.note(behind)
        return seen


class World:
    """The camera and the server, and what happens to them."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self.camera_url = f"tcp://127.0.0.1:{free_port()}"
        self.server_url = f"rtmp://127.0.0.1:{free_port()}/live/test"
        self.camera = Process(CAMERA, f"{self.camera_url}?listen=1", "320", "180")
        self.server = Process(SERVER, self.server_url)
        self.done: dict[str, int] = {}

    def happen(self) -> None:
        """One thing that goes wrong."""
        what = self._chance.choice(
            ["camera killed", "camera stalled", "camera resized", "server killed"]
        )
        self.done[what] = self.done.get(what, 0) + 1
        if what == "camera stalled":
            self.camera.stall(3.5)
        elif what == "server killed":
            self.server.kill()
            time.sleep(1.5)
            self.server.begin(self.server_url)
        else:
            width, height = self._chance.choice(SIZES) if "resized" in what else SIZES[0]
            self.camera.kill()
            self.camera.begin(f"{self.camera_url}?listen=1", str(width), str(height))

    def end(self) -> None:
        """Nothing of it is left."""
        self.camera.kill()
        self.server.kill()


def make(folder: Path, camera: str) -> scene.Scene:
    """A streamer's scene."""
    film = write_clip(folder / "film.mp4", frames=250, size=(320, 180), sounds=[Sound(seconds=10)])
    stage = scene.Scene(640, 360, target_fps=25, background="navy")
    stage.add_video(str(film), size=(640, 360), loop=True, volume=0.2)
    stage.add_video(camera, size=(320, 180), position=(300, 20), duck=0.5)
    box = stage.add_shape(size=(40, 40), fill="gold")
    stage.animate(
        box, "position", to=(600, 320), duration_ms=4000, repeat="forever", alternate=True, at=0.0
    )
    stage.add_text("live", position=(20, 300), font_size=40, shadow=True)
    return stage


def begin(stage: scene.Scene, world: World, folder: Path) -> scene.Broadcast:
    """As soon as the server listens."""
    for _ in range(200):
        try:
            return scene.stream(
                stage,
                folder / "live.m3u8",  # old segments of the first are deleted
                record=world.server_url,
                block=False,
                preset="ultrafast",
            )
        except VideoError:
            time.sleep(0.1)
    raise SystemExit("the server on loopback never listened")


def held() -> int:
    """Bytes that are allocated now; what only waits for the collector is not."""
    gc.collect()
    return allocated()


def told(live: scene.Broadcast, minute: float, first: int) -> None:
    """A line of what was counted."""
    stats = live.stats
    sounds = "; ".join(
        f"{s.waiting_ms:.0f} ms wait, drift {s.drift:+.5f}, {s.silent_ms / 1000:.1f} s silent, "
        f"{s.dropped_ms / 1000:.1f} s dropped"
        for s in stats.sounds
    )
    print(
        f"{minute:5.1f} min: {stats.frames} frames, {stats.late} late, {stats.left_out} left out, "
        f"{stats.unsent} unsent, worst {stats.worst_ms:.0f} ms, {len(live.reports)} reports, "
        f"{held() // MIB} MiB allocated (first {first // MIB}), {resident() // MIB} resident; {sounds}",
        flush=True,
    )


def table(live: scene.Broadcast, asleep: Lateness, memory: str, happened: dict[str, int]) -> str:
    """What was counted, for people."""
    stats = live.stats
    asked = stats.frames + stats.left_out
    rows = [
        ("frames painted, of those that were due", f"{stats.frames:,} of {asked:,}"),
        ("begun more than 2 ms late", f"{stats.late:,} ({stats.late / max(stats.frames, 1):.2%})"),
        ("99 of 100 begun within", f"{stats.p99_ms:.1f} ms"),
        ("the latest", f"{stats.worst_ms:.1f} ms"),
        ("a mere sleeper: more than 2 ms late", f"{asleep.late / max(asleep.frames, 1):.2%}"),
        ("a mere sleeper: 99 of 100 within", f"{asleep.within_ms(0.99):.1f} ms"),
        ("pictures that an output did not send", f"{stats.unsent:,}"),
        ("memory", memory),
        ("what happened", ", ".join(f"{count} × {what}" for what, count in sorted(happened.items()))),
        ("load average at the end", f"{os.getloadavg()[0]:.1f}"),
    ]  # fmt: skip
    return "\n".join(f"{name:40} {value}" for name, value in rows)


def run(minutes: float, seed: int, page: Path | None) -> int:
    """The whole of it; how many things are wrong."""
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        world = World(seed)
        with make(folder, world.camera_url) as stage:
            live = begin(stage, world, folder)
            sleeper = Sleeper()
            began, first, said = time.monotonic(), 0, 0
            try:
                while (passed := time.monotonic() - began) < minutes * 60:
                    time.sleep(4)
                    if live.closed:
                        wrong.append("the broadcast ended")
                        break
                    if passed > minutes * 20 and not first:
                        first = held()
                    if passed // 60 >= said:
                        said += 1
                        told(live, passed / 60, first)
                    if passed < minutes * 60 - 15:  # at the end all is well again
                        world.happen()
            finally:
                told(live, (time.monotonic() - began) / 60, first)
                reports: dict[str, int] = {}
                for report in live.reports:
                    key = f"{report.source}: {report.what}"[:110]
                    reports[key] = reports.get(key, 0) + 1
                live.close()
                world.end()
        for key, count in sorted(reports.items()):
            print(f"  {count} × {key}")
        last = held()
        memory = (
            f"{first // MIB} MiB allocated after a third, {last // MIB} at the end; "
            f"{resident() // MIB} resident"
        )
        if last - first > SLACK_MIB * MIB:
            wrong.append(f"memory grew by {(last - first) // MIB} MiB")
        wrong += check(live, world, folder)
        asleep = sleeper.end()
        counted = table(live, asleep, memory, world.done)
        print(counted)
        if page is not None:
            page.write_text(f"# A scene live for {minutes:g} minutes\n\n```\n{counted}\n```\n")
        on_time = asleep.late <= 0.002 * asleep.frames
        if live.stats.late > 0.01 * live.stats.frames and on_time:
            wrong.append("frames are late on an idle machine")
    for line in wrong:
        print("WRONG:", line)
    return len(wrong)


def check(live: scene.Broadcast, world: World, folder: Path) -> list[str]:
    """What must be so at the end."""
    wrong = []
    segments = sorted(folder.glob("*.ts"), key=lambda path: path.stat().st_mtime)
    seconds = Fraction(0)
    for segment in segments[-4:]:
        with video.Reader(segment) as reader:
            seconds += Fraction(sum(1 for _ in reader), 25)
    print(f"HLS: {len(segments)} segments, the last ones {float(seconds):.1f} s")
    if not segments or seconds == 0:
        wrong.append("no HLS segments")
    if len(segments) > 2 * LISTED + 1:
        wrong.append("old HLS segments are not deleted")
    if not any("frames come" in report.what for report in live.reports):
        wrong.append("the camera was never seen")
    killed = world.done.get("server killed", 0)
    again = sum("it is there again" in report.what for report in live.reports)
    if killed and not again:
        wrong.append("the server was not called again")
    if not live.stats.sounds or live.stats.sounds[0].waiting_ms <= 0:
        wrong.append("nothing is heard of the camera")
    return wrong


def main(argv: list[str] | None = None) -> Any:
    """From the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=os.getpid())
    parser.add_argument("--page", type=Path, help="where the table is written")
    given = parser.parse_args(argv)
    print(f"seed {given.seed}")
    return 1 if run(given.minutes, given.seed, given.page) else 0


if __name__ == "__main__":
    sys.exit(main())
