"""Progress in a terminal: a bar for the file at hand, with frames per second and the time left.

In a pipe, with --quiet or --json there is none. Bars go to stderr and vanish when they are done; what stays
is a line for each file.
"""

from __future__ import annotations

import sys
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
from rich.text import Text

from dala.cli.screen import out

NAME, BAR = (10, 24), (4, 20)  # fewest and most columns for a file's name and for the bar
REST = (
    36  # columns beside; a line does not end where the screen does: ^C must not begin another one
)


class Bars:
    """The bars of a run over several files; a context manager."""

    def __init__(self, files: int, *, shown: bool = True) -> None:
        console = Console(stderr=True)
        self._files = files
        self._done = 0
        self._name = _within(NAME, console.width - BAR[1] - REST)
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=_within(BAR, console.width - self._name - REST)),
            Amount(),
            TimeLeft(),
            console=console,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._live = shown and console.is_terminal
        self._whole = self._progress.add_task("", total=files, visible=files > 1)
        self._current = self._progress.add_task("", total=None, visible=False)

    def __enter__(self) -> Bars:
        if self._live:
            self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live:
            self._progress.stop()

    def begin(self, name: str) -> None:
        """The next file."""
        shown = shorten(name, self._name)
        self._progress.update(self._whole, description=shown)
        if self._files > 1:
            shown = " " * self._name  # the name stands in the line above
        self._progress.reset(self._current, total=None, description=shown, visible=False, fps=None)

    def advance(self, frames: int, total: int | None, fps: float) -> None:
        """So many frames of the file are done; a picture is done too soon for a bar."""
        self._progress.update(self._current, completed=frames, total=total, fps=fps, visible=True)

    def finish(self, line: Text | None, error: Text | None = None) -> None:
        """The file is done: its line, or its error, remains."""
        self._done += 1
        self._progress.update(self._current, visible=False)
        self._progress.update(self._whole, completed=self._done)
        if line is not None:
            # in a terminal above the bars, which are on the same screen
            together = self._live and sys.stdout.isatty()
            (self._progress.console if together else out()).print(line, soft_wrap=True)
            sys.stdout.flush()  # what follows belongs to it, also where both go to one file
        if error is not None:
            self._progress.console.print(error, soft_wrap=True)


class Amount(ProgressColumn):
    """``120/250  96 fps``; of files, ``3/12``."""

    def render(self, task: Task) -> Text:
        done = (
            f"{int(task.completed)}/{int(task.total)}" if task.total else f"{int(task.completed)}"
        )
        fps = task.fields.get("fps")
        return Text(f"{done:>9}" + (f"{fps:>6.0f} fps" if fps else " " * 10), "cyan")


class TimeLeft(ProgressColumn):
    """``0:12 left``."""

    max_refresh = 0.5

    def render(self, task: Task) -> Text:
        seconds = task.time_remaining
        fps = task.fields.get("fps")
        if fps and task.total:  # the transcoder's own measure is steadier than the bar's
            seconds = (task.total - task.completed) / fps
        if seconds is None:
            return Text("          ")
        minutes, rest = divmod(int(seconds + 0.5), 60)
        hours, minutes = divmod(minutes, 60)
        clock = f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
        return Text(f"{clock:>5} left", "dim")


def _within(limits: tuple[int, int], wanted: int) -> int:
    return max(limits[0], min(limits[1], wanted))


def shorten(name: str, room: int) -> str:
    """A name in so many columns; the middle is left out, because both ends tell names apart."""
    if len(name) <= room:
        return name.ljust(room)
    head = (room - 1) // 2
    return f"{name[:head]}…{name[-(room - 1 - head) :]}"
