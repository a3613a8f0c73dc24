"""A command line → an exit code. Whatever goes wrong on the way is one line on stderr."""

from __future__ import annotations

import contextlib
import io
import os
import re
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Any

import typer

from dala.cli.app import app
from dala.cli.flags import filters_with, is_filter, spell
from dala.cli.mistakes import (
    FAILED,
    INTERRUPTED,
    WRONG_USAGE,
    Failed,
    UsageMistake,
    explain_os_error,
)
from dala.errors import DalaError, suggest

# What is wrong with a number, as typer says it and, before it had words of its own, click.
_REFUSED = re.compile(r"invalid value for '(.+?)': (?:input should be )?(.*)$", re.IGNORECASE)
_BOUNDS = (
    (re.compile(r"less than or equal to (\S+)"), "must be at most {}"),
    (re.compile(r"greater than or equal to (\S+)"), "must be at least {}"),
    (re.compile(r"valid integer"), "must be a whole number"),
    (re.compile(r"valid (?:number|float)"), "must be a number"),
)
_OUTSIDE = re.compile(r"(\S+) is not in the range (?:(\S+)<=)?x(?:>=(\S+))?(?:<=(\S+))?$")


def run(arguments: Sequence[str]) -> int:
    """Run ``dala`` with these arguments."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # an old code page has no arrows
            stream.reconfigure(errors="replace")
    with _ending_when_told():
        return _run(app, arguments)


def _run(app: typer.Typer, arguments: Sequence[str]) -> int:
    try:
        result = typer.main.get_command(app).main(
            list(arguments), prog_name="dala", standalone_mode=False
        )
        sys.stdout.flush()
    except (KeyboardInterrupt, typer.Abort):
        return _interrupted()
    except BrokenPipeError:
        # `dala kernels | head` has read enough; Python's own flush at the end must not complain
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except Exception as error:
        code = _report(error, arguments)
        if code is None:
            raise  # a defect of dala: its traceback is what one needs
        return code
    code = result if isinstance(result, int) else 0
    return _interrupted() if code == INTERRUPTED else code


def _interrupted() -> int:
    from dala.cli.screen import complain

    complain("dala", "interrupted")
    return INTERRUPTED


def _report(error: Exception, arguments: Sequence[str]) -> int | None:
    """Say what went wrong; the exit code, or None if this is no mistake of the user or the machine."""
    from dala.cli.screen import complain

    context = getattr(error, "ctx", None)  # typer's own errors know where they were made
    command = " ".join(["dala", *[a for a in arguments[:1] if not a.startswith("-")]])
    who = context.command_path if context is not None else command
    if isinstance(error, UsageMistake):
        complain(who, str(error))
        return WRONG_USAGE
    if hasattr(error, "format_message"):  # typer's own, wherever that version keeps its classes
        complain(who, _in_our_words(error))
        return int(getattr(error, "exit_code", WRONG_USAGE))
    if isinstance(error, DalaError | Failed):
        complain(who, str(error))
        return FAILED
    if isinstance(error, OSError):
        complain(who, explain_os_error(error))
        return FAILED
    return None


def _in_our_words(error: Exception) -> str:
    """typer's message, as our own begin: in lower case, with the nearest name at the end."""
    wrong = getattr(error, "option_name", None)
    near: Sequence[str] = getattr(error, "possibilities", None) or ()
    if wrong and "No such option" in str(error):
        parameter = wrong.lstrip("-").replace("-", "_")
        if owners := filters_with(parameter):
            flag = f"--{spell(owners[0])}"
            return f"no option {wrong!r}; it is a parameter of {flag}, and follows it: {flag} {parameter}=…"
        return f"no option {wrong!r}{suggest(wrong, near)}"
    text: str = error.format_message()  # type: ignore[attr-defined]
    if text.startswith("No such command") and (asked := re.search(r"'(.+?)'", text)):
        return _no_command(asked[1], getattr(error, "ctx", None))
    text = (text[:1].lower() + text[1:]).removesuffix(".")
    if (found := _REFUSED.match(text)) and (must := _what_it_must_be(found[2])):
        return f"{found[1]} {must}"
    about = getattr(getattr(error, "param", None), "help", None)
    return f"{text}: {about.removesuffix('.')}" if about and text.startswith("missing ") else text


def _what_it_must_be(refusal: str) -> str | None:
    """Of a number; None if something else was refused."""
    if found := _OUTSIDE.match(refusal):
        value, least, also_least, most = found.groups()
        least = least or also_least
        too_small = least is not None and float(value) < float(least)
        return f"must be at least {least}" if too_small else f"must be at most {most}"
    for theirs, ours in _BOUNDS:
        if found := theirs.search(refusal):
            return ours.format(*found.groups())
    return None


def _no_command(asked: str, context: Any) -> str:
    if is_filter(asked):
        return f"{asked} is a filter: dala filter IN... OUT --{spell(asked)}"
    return f"no command {asked!r}{suggest(asked, context.command.list_commands(context))}"


@contextlib.contextmanager
def _ending_when_told() -> Iterator[None]:
    """Being told to stop leaves as little behind as Ctrl-C does; a terminal that is closed tells, too."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    if threading.current_thread() is not threading.main_thread():
        yield  # whoever runs us there keeps its own handlers
        return
    asked = [signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]
    heard = {
        s: signal.getsignal(s) for s in asked if signal.getsignal(s) != signal.SIG_IGN
    }  # nohup
    for number in heard:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number, before in heard.items():
            signal.signal(number, before)
