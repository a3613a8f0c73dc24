"""The API reference: every public name with its signature and its docstring, a page for each module.

What is public is what ``__all__`` says (tests/meta/api.txt records it); examples are those of the
docstrings, which tests run.
"""

from __future__ import annotations

import importlib
import inspect
import re
import types
from collections.abc import Iterator

MODULES = {
    "dala": "Devices, kernels, errors: what stands at the top.",
    "dala.compute": "Buffers, kernels, commands, pipelines.",
    "dala.language": "What kernels are written in; the page on the kernel language says more.",
    "dala.media": "Filters on pictures and frames.",
    "dala.media.looks": "Chains with a name.",
    "dala.media.annotate": "Results drawn on pictures.",
    "dala.video": "Files, cameras, streams.",
    "dala.gpu": "Surfaces: drawing, windows, shaders.",
    "dala.gpu.command": "The drawing protocol, as bytes.",
    "dala.text": "Fonts, layouts, text on pictures.",
    "dala.ml": "Models from ONNX files.",
    "dala.ml.network": "Networks of your own.",
    "dala.fleet": "Jobs for many processes.",
    "dala.scene": "Layers over time.",
    "dala.errors": "Every exception.",
}
EMPTY = inspect.Signature.empty
SPECIAL = ("__enter__", "__call__", "__await__", "__getitem__", "__len__", "__array__")
_DOCTEST_NOTE = re.compile(r" *# doctest:.*$", re.MULTILINE)
_PARAMETER = re.compile(
    r"^    (\w+): (.+(?:\n {5,}.+)*)$", re.MULTILINE
)  # what the stubs write of each
_PARAMETERS = re.compile(r"(?:    \w+: .+(?:\n {5,}.+)*(?:\n|$))+")


def pages() -> dict[str, str]:
    """Every page by its path."""
    modules = {name: importlib.import_module(name) for name in MODULES}
    modules = {n: m for n, m in modules.items() if public_names(m)}
    made = {f"reference/{name}.md": page(name, module) for name, module in modules.items()}
    rows = [
        f"| [`{n}`]({n}.md) | {MODULES[n]} | {len(public_names(m))} |" for n, m in modules.items()
    ]
    head = [
        "# API reference",
        "",
        "Written from docstrings and types; the examples are run by the tests.",
        "",
        "| module | | names |",
        "|---|---|---|",
    ]
    made["reference/index.md"] = "\n".join([*head, *rows, ""])
    return made


def public_names(module: types.ModuleType) -> list[str]:
    if module.__name__ == "dala.errors":
        return [
            n for n, thing in vars(module).items() if inspect.isclass(thing) and is_error(thing)
        ]
    return sorted(getattr(module, "__all__", []), key=str.lower)


def is_error(thing: type) -> bool:
    return issubclass(thing, Exception) and thing.__module__ == "dala.errors"


def page(name: str, module: types.ModuleType) -> str:
    """One module."""
    lines = [f"# {name}", "", MODULES[name], ""]
    things = [(n, getattr(module, n)) for n in public_names(module)]
    shown = [(n, t) for n, t in things if not isinstance(t, types.ModuleType)]
    if name == "dala.errors":
        lines += ["```text", inspect.getdoc(module) or "", "```", ""]
    else:
        lines += [*index(shown), ""]
    for n, thing in shown:
        lines += [*describe(n, thing), ""]
    return "\n".join(lines)


def index(things: list[tuple[str, object]]) -> Iterator[str]:
    """A line for each name: where it is, and its first sentence."""
    yield from ("| name | |", "|---|---|")
    for name, thing in things:
        yield f"| [`{name}`](#{anchor(name)}) | {first_sentence(thing)} |"


def anchor(name: str) -> str:
    return name.strip("_").replace("_", "-").lower() + ("-class" if name[:1].isupper() else "")


def describe(name: str, thing: object, level: int = 2) -> Iterator[str]:
    """A heading, the signature, the docstring; of a class, its members as well."""
    yield f"{'#' * level} {name} {{ #{anchor(name)} }}"
    yield ""
    if inspect.isclass(thing):
        yield from fenced(f"class {name}{signature(thing)}")
        yield from documentation(thing)
        for member, value in members(thing):
            yield from describe_member(name, member, value)
    elif callable(thing):
        yield from fenced(f"def {name}{signature(thing)}")
        yield from documentation(thing)
    else:
        yield from fenced(f"{name}: {type(thing).__name__} = {thing!r:.200}")


def describe_member(owner: str, name: str, value: object) -> Iterator[str]:
    where = f"{anchor(owner)}-{name.strip('_').replace('_', '-')}"
    yield f"### {owner}.{name} {{ #{where} }}"
    yield ""
    if isinstance(value, property):
        kind = annotation(inspect.signature(value.fget).return_annotation) if value.fget else ""
        yield from fenced(f"{name}: {kind}" if kind else name)
    else:
        yield from fenced(f"def {name}{signature(value)}")
    yield from documentation(value)


def members(thing: type) -> Iterator[tuple[str, object]]:
    """Public methods and properties of our own, in the order of the source."""
    for name, value in vars(thing).items():
        if name.startswith("_") and name not in SPECIAL:
            continue
        if isinstance(value, classmethod | staticmethod):
            value = value.__func__
        if (inspect.isfunction(value) or isinstance(value, property)) and inspect.getdoc(value):
            yield name, value


def signature(thing: object) -> str:
    """As it is written; long ones with an argument on each line."""
    try:
        found = inspect.signature(thing)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return "(…)"
    parts, seen_star, last = [], False, None
    for number, p in enumerate(found.parameters.values()):
        if number == 0 and p.name in ("self", "cls"):
            continue  # nobody writes it in a call
        if last is p.POSITIONAL_ONLY is not p.kind:
            parts.append("/")
        if p.kind is p.VAR_POSITIONAL:
            seen_star = True
        elif p.kind is p.KEYWORD_ONLY and not seen_star:
            parts.append("*")
            seen_star = True
        parts.append(argument(p))
        last = p.kind
    back = annotation(found.return_annotation)
    arrow = f" -> {back}" if back and back != "None" else ""
    line = f"({', '.join(parts)}){arrow}"
    if len(line) <= 80:
        return line
    return "(\n" + "".join(f"    {part},\n" for part in parts) + f"){arrow}"


def argument(p: inspect.Parameter) -> str:
    stars = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
    kind = annotation(p.annotation)
    text = f"{stars}{p.name}" + (f": {kind}" if kind else "")
    if p.default is EMPTY:
        return text
    default = repr(p.default) if len(repr(p.default)) < 60 else "…"
    return f"{text} = {default}" if kind else f"{text}={default}"


def annotation(kind: object) -> str:
    if kind is EMPTY:
        return ""
    text = kind if isinstance(kind, str) else inspect.formatannotation(kind)
    return text.strip("'\"")


def fenced(code: str) -> Iterator[str]:
    yield from ("```python", code, "```", "")


def documentation(thing: object) -> Iterator[str]:
    """A docstring as Markdown: examples and drawings are code, the rest is prose."""
    text = inspect.getdoc(thing) or ""
    for block in re.split(r"\n\s*\n", text):
        if block.lstrip().startswith(">>>"):
            yield from ("```pycon", _DOCTEST_NOTE.sub("", block), "```", "")
        elif listed := _PARAMETER.findall(block) if _PARAMETERS.fullmatch(block) else []:
            yield from (f"* `{name}`: {prose(' '.join(what.split()))}" for name, what in listed)
            yield ""
        elif block.startswith("    "):
            yield from ("```text", block, "```", "")
        elif block:
            yield prose(block)
            yield ""


def prose(text: str) -> str:
    """Double backticks are single ones here; what looks like HTML or a link is none."""
    text = text.replace("``", "`")
    pieces = re.split(r"(`[^`]*`)", text)
    return "".join(p if p.startswith("`") else escape(p) for p in pieces)


def escape(text: str) -> str:
    return re.sub(r"([<\[\]*_])", r"\\\1", text)


def first_sentence(thing: object) -> str:
    if not (inspect.isclass(thing) or callable(thing)):
        return f"`{type(thing).__name__}`"
    text = " ".join((inspect.getdoc(thing) or "").split("\n\n")[0].split())
    match = re.match(r".*?\.(?=\s|$)", text)
    return prose(match[0] if match else text).replace("|", "\\|")
