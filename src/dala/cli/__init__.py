"""The command ``dala``: typer reads the arguments, rich paints the answer (extra ``cli``).

    app.py        every command and its options         running.py    errors → one line and an exit code
    flags.py      filter flags, from the kernels        screen.py     tables, colours, progress bars
    facts.py      info, extras                          doctor.py     what is missing, and the cure
    catalogue.py  kernels, looks                        bench.py      this machine by numbers
    names.py      which files go where                  filtering.py  many files; a bad one is one line
    photo.py      a picture file → filters → a file     demo.py       a clip before and after
    live.py       a source → filters → a window         sheet.py      frames side by side, as one picture
    sources.py    where live pictures come from         overlay.py    text on pictures
    clip.py       the clip of the demo                  bars.py       progress
    models.py     which models there are                detect.py     what a model sees
    help.py       help in 80 columns                    mistakes.py   what commands raise
    words.py      sizes as photographers write them     batch.py      pictures on all cores
    fleet.py      jobs for many processes               tour.py       five minutes in the terminal
    scenes.py     files of scenes, and what they show
    new.py        files to begin from                   sharing.py    numbers as a table to paste
    videos.py     a video → filters → a file            films.py      pictures as videos, pipes
    recording.py  what live shows, into a file          knobs.py      values of filters under keys
    captions.py   a text on the result                   text_flags.py its options
    video_flags.py  the options of videos               joining.py    videos one after the other
    piped.py      pictures through pipes

Exit codes: 0 done; 1 something failed; 2 the command line is wrong; 130 interrupted (Ctrl-C).
Nothing heavy is imported before a command needs it: ``dala --help`` loads no NumPy.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence

__all__ = ["main"]

INSTALL = "pip install 'dala-gpu[cli]'"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status.

    >>> main(["--version"])  # doctest: +ELLIPSIS
    dala ...
    0
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        importlib.import_module("typer")
        importlib.import_module("rich")
        from dala.cli.running import run

        return run(given)
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich", "PIL"):
            raise
        return _without_extra(given, error.name)
    except KeyboardInterrupt:  # while it was still being loaded
        print("dala: interrupted", file=sys.stderr)
        return 130


def _without_extra(given: list[str], missing: str) -> int:
    """Only the doctor sees patients without the extra: it is who tells what to install."""
    if given == ["doctor"]:
        from dala.cli.doctor import show_doctor

        show_doctor()
        return 0
    print(f"dala: the command line needs {missing}: {INSTALL}", file=sys.stderr)
    if not given or given[0] in ("-h", "--help"):
        from dala.cli.facts import extras_in_words

        print(f"\n`import dala` works without. Extras:\n{extras_in_words()}", file=sys.stderr)
    return 1
