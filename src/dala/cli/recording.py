"""What ``dala live`` shows, into a file (``--record``) or to a server (``--to``), as it happens."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dala.cli.screen import say

Array = npt.NDArray[np.uint8]
LIVE = {"preset": "superfast"}  # of x264: it must keep up


class Recorder:
    """Writes pictures with the time at which they were shown."""

    def __init__(self, targets: Sequence[str], fps: float) -> None:
        from dala import video

        self._writers: list[tuple[str, Any]] = [
            (name, video.Writer(name, fps=fps, **_words(name))) for name in targets
        ]
        self._began: float | None = None
        self._size: tuple[int, ...] | None = None

    def write(self, picture: Array) -> None:
        """The next picture; one of another size ends the recording, because a video has one."""
        if not self._writers:
            return
        if self._size not in (None, picture.shape):
            say("the picture has another size now, and a video has one: the recording ends here")
            self.close()
            return
        self._size = picture.shape
        now = time.monotonic()
        self._began = now if self._began is None else self._began
        for _, writer in self._writers:
            writer.write(picture, time=now - self._began)

    def close(self) -> None:
        """Put what was recorded in place. Twice does nothing."""
        writers, self._writers = self._writers, []
        for name, writer in writers:
            if writer.frames:
                writer.close()
                done = "sent to" if "://" in name else "recorded"
                say(f"{done} {name}: {writer.frames} frames")
            else:
                writer.discard()

    def discard(self) -> None:
        """Leave nothing."""
        for _, writer in self._writers:
            writer.discard()
        self._writers = []


def _words(name: str) -> dict[str, Any]:
    from dala.video.targets import target_of

    return LIVE if target_of(name).codec == "h264" else {}


@contextlib.contextmanager
def recording(targets: Sequence[str], fps: float) -> Iterator[Recorder]:
    """A recorder that is finished at the end, also by Ctrl-C; an error leaves nothing."""
    recorder = Recorder(targets, fps)
    try:
        yield recorder
    except KeyboardInterrupt:
        recorder.close()
        raise
    except BaseException:
        recorder.discard()
        raise
    recorder.close()
