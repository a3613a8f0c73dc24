"""``dala kernels`` and ``dala looks``: what there is to run, from the declarations themselves."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dala import compute
from dala.cli.screen import say, say_columns, say_heading, say_json
from dala.language.kernel import Kernel
from dala.language.parameter import Param
from dala.media import Step, looks


def show_kernels(name: str | None, *, as_json: bool) -> None:
    """All kernels in a line each, or one with everything it declares."""
    if name is not None:
        kernel = compute.find_kernel(name.replace("-", "_"))
        if as_json:
            say_json(as_data(kernel))
        else:
            _show_one(kernel)
        return
    kernels = [compute.find_kernel(n) for n in compute.kernels()]
    if as_json:
        say_json([as_data(k) for k in kernels])
        return
    for domain, title in (("image", "Images"), ("tensor", "Tensors")):
        say_heading(title)
        say_columns([(k.name, _in_a_line(k)) for k in kernels if k.domain == domain])
        say()
    say("dala kernels NAME says more; image kernels of one input are flags of dala filter.", "dim")


def show_looks(name: str | None, *, as_json: bool) -> None:
    """All looks in a line each, or one with its filters."""
    if name is None:
        if as_json:
            say_json([_look_data(n) for n in looks.names()])
        else:
            say_columns([(n, looks.about(n)) for n in looks.names()], indent=0)
        return
    if as_json:
        say_json(_look_data(name))
        return
    steps, about = looks.load(name).steps, looks.about(name)
    say_heading(name)
    if about:
        say(about)
    say()
    say_columns([(s.name, _values(s)) for s in steps])


def _look_data(name: str) -> dict[str, object]:
    steps = looks.load(name).steps
    return {
        "name": name,
        "about": looks.about(name),
        "filters": [
            {"name": s.name, "params": {k: _json(v) for k, v in s.params.items()}} for s in steps
        ],
    }


def _values(step: Step) -> str:
    return " ".join(f"{key}={plain(value)}" for key, value in step.params.items())


def _json(value: object) -> object:
    return str(value) if isinstance(value, Path) else value


def as_data(kernel: Kernel) -> dict[str, object]:
    """A kernel's declaration as JSON would have it."""
    return {
        "name": kernel.name,
        "domain": kernel.domain,
        "inputs": kernel.inputs,
        "optional_inputs": kernel.optional_inputs,
        "help": kernel.doc,
        "params": [_param_data(p) for p in kernel.params],
    }


def _param_data(p: Param) -> dict[str, object]:
    return {
        "name": p.name,
        "type": p.type,
        "required": p.required,
        "default": None if p.required else p.default,
        "min": p.min,
        "max": p.max,
        "choices": list(p.choices),
        "length": p.length,
        "compile_time": p.static,
        "help": p.help,
    }


def _show_one(kernel: Kernel) -> None:
    inputs = "1 input" if kernel.takes(1) and kernel.inputs == 1 else kernel.inputs_in_words
    kind = "an image kernel" if kernel.domain == "image" else "a tensor kernel"
    say_heading(kernel.name)
    say(kernel.doc.replace("``", ""))
    say(f"{kind} of {inputs}", "dim")
    if not kernel.params:
        return
    say()
    rows = [(p.name, default_in_words(p), f"{p.help} {_takes(p)}".strip()) for p in kernel.params]
    say_columns(rows, styles=("cyan", "green"))


def _takes(p: Param) -> str:
    words = p.describe()
    return f"{words[0].upper()}{words[1:]}."


def default_in_words(p: Param) -> str:
    """``= 3``, ``required``, or nothing where the kernel finds the value itself."""
    return "required" if p.required else "" if p.default is None else f"= {plain(p.default)}"


def plain(value: object) -> str:
    """A value as one types it on the command line."""
    if isinstance(value, tuple):
        return ",".join(plain(v) for v in value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:g}" if isinstance(value, float) else str(value)


def words_of(kernel: Kernel, images: Sequence[str] = ()) -> list[str]:
    """What one types to set its parameters, with their defaults: ``radius=3``, ``sigma=…``."""
    words = [f"{name}=…" for name in images]
    for p in kernel.params:
        unknown = p.required or p.default is None
        words.append(f"{p.name}={'…' if unknown else plain(p.default)}")
    return words


def _in_a_line(kernel: Kernel) -> str:
    return f"{sentence(kernel)} {' '.join(words_of(kernel))}".strip()


def sentence(kernel: Kernel) -> str:
    """The first line of its docstring, without the marks of code."""
    return kernel.doc.splitlines()[0].replace("``", "") if kernel.doc else ""
