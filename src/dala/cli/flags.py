"""Filter flags: ``--blur radius=3 --brightness 0.1 --look noir``, in the order they are given.

Every filter is a flag; its parameters, ranges, defaults and help come from the kernel's own declaration.
After a flag come ``name=value`` pairs; a bare number is the value of its first parameter, and where that
has no default, so is any bare word (``--lut film.cube``). An option that is a parameter of the filter right
before it belongs to that (``--overlay logo.png --at top``).

``FilterCommand`` takes them out of the command line before typer reads it: typer keeps neither the order of
different options nor options whose values may be left out. In the help and for the Tab key they are options
like all others.
"""

from __future__ import annotations

import functools
import inspect
import os
import re
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from dala.cli.help import Command
from dala.cli.mistakes import UsageMistake
from dala.cli.words import (
    ABOUT,
    meant_values,
    own_words,
    refuse_odd_value,
    without_implied,
)
from dala.errors import DalaError, ParameterError, suggest

if TYPE_CHECKING:
    from dala.language.kernel import Kernel
    from dala.media.chain import Chain, Step

CHOSEN = "dala.flags"  # where a command's context keeps them
PANEL = "Filters, applied in the order given"
LOOK = "look"
MASKS = ("mask", "model")  # what filters call the image that says what is in front
PEOPLE = "selfie"  # the model that finds people
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)
_PAIR = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=.*", re.DOTALL)


class Flag(NamedTuple):
    """A flag as it was typed."""

    name: str  # of a kernel, or LOOK
    words: tuple[str, ...]  # key=value


class FilterCommand(Command):
    """A command with filter flags; ``chosen_flags`` gives what was chosen."""

    def get_params(self, ctx: Any) -> Any:
        return [*super().get_params(ctx), *_options()]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        own = {o for p in super().get_params(ctx) for o in (*p.opts, *p.secondary_opts)}
        rest, flags = split_flags(args, strict=not ctx.resilient_parsing, own=own)
        ctx.meta[CHOSEN] = flags
        return super().parse_args(ctx, rest)


def chosen_flags(context: typer.Context) -> list[Flag]:
    """The filter flags of a command line, in order."""
    found: list[Flag] = context.meta[CHOSEN]
    return found


# -- reading -----------------------------------------------------------------------------------------


def split_flags(
    arguments: Sequence[str], *, strict: bool = True, own: Collection[str] = ()
) -> tuple[list[str], list[Flag]]:
    """What is left without the filter flags, and the flags. Unless ``strict``, values without a name are
    left alone: the Tab key works on half a command line. ``own`` are the command's own options; any other
    may be a parameter of the flag before it: ``--overlay logo.png --at top``."""
    rest: list[str] = []
    flags: list[Flag] = []
    waiting = list(arguments)
    while waiting:
        word = waiting.pop(0)
        if word == "--":
            return [*rest, word, *waiting], flags
        option, equals, attached = word.partition("=")
        name = option[2:].replace("-", "_")
        if not option.startswith("--") or name not in (LOOK, *_filters()):
            if option.startswith("--") and option not in own and _is_parameter(name, flags):
                flags[-1] = _with_parameter(flags[-1], name, attached if equals else None, waiting)
            else:
                rest.append(word)
            continue
        words = _with_name(name, attached) if equals else []
        flags.append(Flag(name, (*words, *_take_words(name, waiting, first=not words))))
        if strict and waiting:
            _refuse_left_over(flags[-1], waiting[0], rest)
    return rest, flags


def _is_parameter(name: str, flags: Sequence[Flag]) -> bool:
    """Whether an option is a parameter of the filter right before it."""
    if not flags or flags[-1].name == LOOK:
        return False
    kernel, images = _filters()[flags[-1].name]
    return name in images or any(p.name == name for p in kernel.params)


def _with_parameter(flag: Flag, name: str, value: str | None, waiting: list[str]) -> Flag:
    if value is None:
        if not waiting or waiting[0].startswith("--"):
            raise UsageMistake(f"--{spell(flag.name)}: --{spell(name)} needs a value")
        value = waiting.pop(0)
    return Flag(flag.name, (*flag.words, f"{name}={value}"))


def _refuse_left_over(flag: Flag, word: str, rest: Sequence[str]) -> None:
    """A word after a flag's values that can be no file."""
    if flag.name == LOOK:
        return
    if _is_bare(word, eager=False):
        if _first_parameter(flag.name) is None:
            raise UsageMistake(f"--{spell(flag.name)} takes no values, got {word!r}")
        raise UsageMistake(f"--{spell(flag.name)}: {word} is the value of what? write name=value")
    if not flag.words and rest:  # files came before it: what follows may be its value
        kernel, images = _filters()[flag.name]
        refuse_odd_value(
            flag.name, spell(flag.name), word, [*images, *(p.name for p in kernel.params)]
        )


def _with_name(name: str, text: str) -> list[str]:
    """What was typed after ``--blur=``, as ``radius=…``; it has a name, or is the first parameter's."""
    if name == LOOK or _PAIR.fullmatch(text):
        return [text]
    size = own_words(name, text)
    if size is not None:
        return size
    first = _first_parameter(name)
    if first is None:
        raise UsageMistake(f"--{spell(name)} takes no values, got {text!r}")
    return [f"{first[0]}={text}"]


def _take_words(name: str, waiting: list[str], *, first: bool) -> list[str]:
    """The values that follow a flag, taken from what is waiting; the ``first`` one may have no name."""
    if name == LOOK:
        taken = first and waiting and not waiting[0].startswith("--")
        return [waiting.pop(0)] if taken else []
    words = []
    size = own_words(name, waiting[0]) if first and waiting else None
    if size is not None:
        waiting.pop(0)
        words += size
        first = False
    declared = _first_parameter(name) if first else None
    if declared and waiting and _is_bare(waiting[0], eager=declared[1]):
        words.append(f"{declared[0]}={waiting.pop(0)}")
    while waiting and _PAIR.fullmatch(waiting[0]):
        words.append(waiting.pop(0))
    return words


def _first_parameter(name: str) -> tuple[str, bool] | None:
    """Its name, and whether it must be given; of a kernel with further images, the first of those."""
    kernel, images = _filters()[name]
    if images:
        return images[0], True
    return (kernel.params[0].name, kernel.params[0].required) if kernel.params else None


def _is_bare(word: str, *, eager: bool) -> bool:
    """Whether the word after a flag is its first value, and not a file to filter."""
    if eager:
        return not word.startswith("--") and not _PAIR.fullmatch(word)
    return all(_NUMBER.fullmatch(part) for part in word.split(","))


def chain_of(flags: Sequence[Flag], strength: float = 1.0, people: bool = False) -> Chain:
    """The flags as a checked chain; what is wrong with one is said by its name. With ``people``, a mask
    that is not given is made by a model."""
    from dala.media.chain import Chain

    steps: list[Step] = []
    for flag in flags:
        try:
            steps += _steps_of_look(flag) if flag.name == LOOK else [_step_of(flag, people)]
        except DalaError as error:
            message = str(error).removeprefix(f"{flag.name}: ")
            raise UsageMistake(f"--{spell(flag.name)}: {message}") from error
    try:
        return Chain(steps, strength)
    except DalaError as error:
        raise UsageMistake(f"--strength: {error}") from error


def _step_of(flag: Flag, people: bool) -> Step:
    from dala.media.chain import make_step
    from dala.media.lookfile import parse_params

    kernel, images = _filters()[flag.name]
    params = meant_values(
        flag.name, parse_params(kernel, images, without_implied(flag.name, flag.words))
    )
    if images and images[0] in MASKS:
        params = _with_mask(params, images, people)
    return make_step(kernel, params)


def _with_mask(params: dict[str, object], images: Sequence[str], people: bool) -> dict[str, object]:
    """A filter's mask by a model, where there is none: ``--background-replace beach.jpg --people`` names
    the background."""
    mask, *others = images
    if people and mask in params and others and others[0] not in params:
        return {**params, mask: PEOPLE, others[0]: params[mask]}
    if people:
        return {mask: PEOPLE, **params}
    if mask not in params:
        raise ParameterError(f"give {mask}=FILE, or --people: a model finds them")
    return params


def _steps_of_look(flag: Flag) -> Sequence[Step]:
    from dala.media.chain import Chain
    from dala.media.lookfile import find_look, shipped

    if not flag.words:
        raise UsageMistake("--look needs a name or a file; dala looks lists the names")
    (name,) = flag.words
    if find_look(name) is None:
        listed = ", ".join(shipped())
        raise UsageMistake(
            f"--look: no look {name!r}{suggest(name, shipped())}; there are {listed}"
        )
    return Chain.of(name).steps


def filters_with(parameter: str) -> list[str]:
    """The filters that have a parameter of that name."""
    return [
        name
        for name, (kernel, images) in _filters().items()
        if parameter in images or any(p.name == parameter for p in kernel.params)
    ]


def is_filter(word: str) -> bool:
    """Whether a word is a filter's name."""
    return word.replace("-", "_") in _filters()


def refuse_bare_filters(paths: Sequence[str]) -> None:
    """``dala filter in.jpg out.jpg blur`` means a flag and not a file of that name."""
    for word in paths:
        if is_filter(word) and not os.path.exists(word):
            raise UsageMistake(f"{word!r} is a filter, and filters are flags: --{spell(word)}")


# -- showing -----------------------------------------------------------------------------------------


def spell(name: str) -> str:
    """A kernel's name as a flag: ``white-balance``."""
    return name.replace("_", "-")


@functools.cache
def _filters() -> dict[str, tuple[Kernel, tuple[str, ...]]]:
    """Every filter by name: its kernel, and the images it reads besides the picture."""
    import dala.compute  # noqa: F401  (enters the catalogue)
    from dala.media.chain import filter_names, find_filter, further_inputs

    kernels = [find_filter(name) for name in filter_names()]
    return {k.name: (k, further_inputs(k)) for k in kernels}


@functools.cache
def _options() -> list[Any]:
    """The flags as options, for the help and the Tab key alone; typer itself makes them of a signature."""
    shell = typer.Typer(add_completion=False)
    shell.command()(_signature_of_flags())
    return [o for o in typer.main.get_command(shell).params if o.name != "help"]


def _signature_of_flags() -> Callable[..., None]:
    def flags(**options: object) -> None:
        """Never called: split_flags reads the flags."""

    kinds: dict[str, Any] = {name: _declare(name) for name in (LOOK, *_filters())}
    flags.__annotations__ = kinds
    only = inspect.Parameter.KEYWORD_ONLY
    parameters = [inspect.Parameter(n, only, default=None, annotation=k) for n, k in kinds.items()]
    flags.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return flags


def _declare(name: str) -> Any:
    from dala.cli.catalogue import sentence, words_of

    if name == LOOK:
        words, about = ["NAME"], "A look by its name (dala looks lists them), or a file of one."
        complete: Callable[[str], list[str]] = complete_looks
    else:
        kernel, images = _filters()[name]
        words, about = words_of(kernel, images), ABOUT.get(name) or sentence(kernel)
        complete = _completing(words)
    option = typer.Option(
        f"--{spell(name)}",
        help=about,
        metavar=" ".join(words),
        rich_help_panel=PANEL,
        expose_value=False,
        show_default=False,
        autocompletion=complete,
    )
    return Annotated[str | None, option]


def _completing(words: Sequence[str]) -> Callable[[str], list[str]]:
    """What may follow a flag, for the Tab key: ``radius=3``, the default to begin from."""

    def complete(incomplete: str) -> list[str]:
        return [w.rstrip("…") for w in words if w.startswith(incomplete)]

    return complete


def complete_looks(incomplete: str) -> list[str]:
    """For the Tab key."""
    from dala.media.lookfile import shipped

    return [n for n in shipped() if n.startswith(incomplete)]


def complete_kernels(incomplete: str) -> list[str]:
    """For the Tab key."""
    from dala import compute

    return [n for n in compute.kernels() if n.startswith(incomplete)]
