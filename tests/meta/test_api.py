"""The public surface: recorded, complete, documented, and its examples run.

DALA_UPDATE_GOLDEN=1 rewrites api.txt; look at the difference before you commit it.
"""

from __future__ import annotations

import doctest
import enum
import importlib
import inspect
import os
import pkgutil
import types
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import dala
from dala import compute, fleet, gpu, media, ml, scene, text, video

RECORD = Path(__file__).with_name("api.txt")
MODULES = {
    "dala": dala,
    "dala.compute": compute,
    "dala.fleet": fleet,
    "dala.gpu": gpu,
    "dala.gpu.command": gpu.command,
    "dala.media": media,
    "dala.media.looks": media.looks,
    "dala.ml": ml,
    "dala.scene": scene,
    "dala.text": text,
    "dala.video": video,
}
SPECIAL = ("__array__", "__await__", "__call__", "__dlpack__", "__dlpack_device__", "__enter__",
           "__exit__", "__index__", "__int__", "__len__")  # fmt: skip


# -- the recorded surface ----------------------------------------------------------------------


def describe() -> list[str]:
    """One line for every public name and every public member of a public class."""
    lines: list[str] = []
    for module, content in MODULES.items():
        for name in sorted(content.__all__):
            lines += describe_name(f"{module}.{name}", getattr(content, name))
    for name, error in sorted(vars(dala.errors).items()):
        if inspect.isclass(error) and issubclass(error, dala.DalaError):
            bases = ", ".join(base.__name__ for base in error.__bases__)
            lines.append(f"dala.errors.{name}({bases})")
    return lines


def describe_name(path: str, thing: object) -> Iterator[str]:
    if inspect.isclass(thing):
        yield f"class {path}{signature(thing)}"
        for name, member in sorted(members(thing).items()):
            if isinstance(member, property):
                yield f"{path}.{name}: {annotation(inspect.signature(member.fget))}"  # type: ignore[arg-type]
            elif isinstance(member, staticmethod | classmethod) or inspect.isfunction(member):
                yield f"{path}.{name}{signature(getattr(thing, name))}"
            elif not inspect.isdatadescriptor(member) and not callable(member):
                yield f"{path}.{name} = {member!r}"
    elif inspect.isfunction(thing):
        yield f"{path}{signature(thing)}"
    elif inspect.ismodule(thing):
        yield f"module {path}"
    elif callable(thing):
        yield f"{path}: callable"
        yield from describe_members(path, type(thing))
    else:
        yield f"{path}: {type(thing).__name__}"


def describe_members(path: str, kind: type) -> Iterator[str]:
    for name, member in sorted(members(kind).items()):
        if callable(member) or isinstance(member, staticmethod):
            yield f"{path}.{name}{signature(getattr(kind, name))}"


def members(kind: type) -> dict[str, object]:
    """Its own and what it inherits within dala."""
    ours = [base for base in reversed(kind.__mro__) if base.__module__.startswith("dala.")]
    found = {name: member for base in ours for name, member in vars(base).items()}
    return {n: m for n, m in found.items() if not n.startswith("_") or n in SPECIAL}


def signature(thing: object) -> str:
    """As it is written in the source, annotations included."""
    if inspect.isclass(thing) and issubclass(thing, Exception | enum.Enum):  # not Python's own
        return f"({', '.join(base.__name__ for base in thing.__bases__)})"
    found = inspect.signature(thing)  # type: ignore[arg-type]
    parts: list[str] = []
    kinds = [p.kind for p in found.parameters.values()]
    for number, p in enumerate(found.parameters.values()):
        first_keyword = p.kind is p.KEYWORD_ONLY and p.KEYWORD_ONLY not in kinds[:number]
        if first_keyword and p.VAR_POSITIONAL not in kinds[:number]:
            parts.append("*")
        stars = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        text = stars + p.name
        if p.annotation is not p.empty:
            text += f": {word(p.annotation)}"
        if p.default is not p.empty:
            text += f" = {p.default!r}"
        parts.append(text)
        is_last_positional = (
            p.kind is p.POSITIONAL_ONLY and p.POSITIONAL_ONLY not in (kinds[number + 1 :])
        )
        if is_last_positional:
            parts.append("/")
    return f"({', '.join(parts)}) -> {annotation(found)}"


def annotation(found: inspect.Signature) -> str:
    return "?" if found.return_annotation is found.empty else word(found.return_annotation)


def word(value: object) -> str:
    return value if isinstance(value, str) else getattr(value, "__name__", repr(value))


def test_the_surface_is_the_recorded_one() -> None:
    text = "\n".join(describe()) + "\n"
    assert " at 0x" not in text
    if os.environ.get("DALA_UPDATE_GOLDEN"):
        RECORD.write_text(text, encoding="utf-8")
    recorded = RECORD.read_text(encoding="utf-8").splitlines()
    now = text.splitlines()
    gone = [line for line in recorded if line not in now]
    new = [line for line in now if line not in recorded]
    assert (gone, new) == ([], []), "run with DALA_UPDATE_GOLDEN=1 if this is meant"
    assert now == recorded


def test_all_names_exist_once() -> None:
    for module in MODULES.values():
        assert sorted(set(module.__all__)) == sorted(module.__all__)
        assert all(hasattr(module, name) for name in module.__all__)
    assert dir(dala) == sorted(dala.__all__)
    with pytest.raises(AttributeError, match="module 'dala' has no attribute 'nothing'"):
        dala.nothing  # type: ignore[attr-defined]  # noqa: B018


# -- what the spec promises --------------------------------------------------------------------

PROMISED = {
    "device_info": [],
    "has_gpu": [],
    "device_count": [],
    "version": [],
    "supported_dtypes": [],
    "kernels": [],
    "buffer": ["data", "shape", "dtype"],
    "buffer_zeros": ["shape", "dtype"],
    "buffer_from_binary": ["data", "shape", "dtype"],
    "scratch": ["shape", "dtype"],
    "shape": ["b"],
    "dtype": ["b"],
    "size": ["b"],
    "read": ["b", "out"],
    "read_list": ["b"],
    "read_binary": ["b"],
    "free": ["b"],
    "free_many": ["buffers"],
    "from_array": ["x", "dtype"],
    "to_array": ["b", "shape", "dtype"],
    "run_kernel": ["name", "inputs", "output", "params"],
    "run_kernel_async": ["name", "inputs", "output", "params"],
    "submit": ["spec"],
    "poll": ["command"],
    "wait": ["command", "timeout"],
    "stream": [],
    "synchronize": [],
    "pipeline": [],
    "pipeline_add": ["p", "stage"],
    "pipeline_run": ["p"],
    "free_pipeline": ["p"],
    "add": ["a", "b", "out"],
    "multiply": ["a", "b", "out"],
    "relu": ["x", "out"],
    "scale": ["x", "k", "out"],
    "matmul": ["a", "b", "out"],
    "register": ["name", "source", "inputs", "params"],
    "unregister": ["name"],
    "run_to_surface": ["kernel", "inputs", "output", "surface", "params"],
}


@pytest.mark.parametrize("name", PROMISED)
def test_every_promised_function_exists(name: str) -> None:
    assert name in compute.__all__
    function = getattr(compute, name)
    given = [
        p.name
        for p in inspect.signature(function).parameters.values()
        if p.kind is p.POSITIONAL_OR_KEYWORD
    ]
    assert given == PROMISED[name]


def test_promised_defaults() -> None:
    def default(function: object, name: str) -> object:
        return inspect.signature(function).parameters[name].default  # type: ignore[arg-type]

    assert default(compute.buffer, "shape") is None
    assert default(compute.buffer, "dtype") == "f32"
    assert default(compute.buffer_zeros, "dtype") == "f32"
    assert default(compute.buffer_from_binary, "dtype") == "u8"
    assert default(compute.wait, "timeout") is None
    assert default(compute.run_kernel, "params") is None
    assert default(dala.device, "spec") == "auto"


def test_promised_objects() -> None:
    for name in ("device", "use", "devices", "kernel", "DalaError", "compute"):
        assert name in dala.__all__
    for name in ("add", "stages", "stage_count", "run", "submit", "explain", "__len__"):
        assert hasattr(compute.Pipeline, name)
    for name in ("__array__", "__dlpack__", "__dlpack_device__"):
        assert hasattr(compute.Buffer, name)
    for name in ("wait", "__await__", "status", "id"):
        assert hasattr(compute.Command("x", lambda: None), name)
    assert compute.kernel is dala.kernel
    assert callable(compute.kernel.register)


# -- documentation -----------------------------------------------------------------------------

DOCUMENTED = sorted(
    f"{module}.{name}"
    for module, content in MODULES.items()
    for name in content.__all__
    if inspect.isclass(getattr(content, name)) or callable(getattr(content, name))
)


@pytest.mark.parametrize("path", DOCUMENTED)
def test_every_public_thing_has_an_example(path: str) -> None:
    module, name = path.rsplit(".", 1)
    doc = inspect.getdoc(getattr(MODULES[module], name)) or ""
    assert doc.splitlines()[0].strip()
    assert doctest.DocTestParser().get_examples(doc), f"{path} has no example"


def test_every_public_method_has_a_docstring() -> None:
    missing = [
        f"{kind.__name__}.{name}"
        for module in MODULES.values()
        for kind in (getattr(module, n) for n in module.__all__)
        if inspect.isclass(kind)
        and kind.__module__.startswith(
            (
                "dala.compute.",
                "dala.gpu.",
                "dala.media.",
                "dala.ml.",
                "dala.scene.",
                "dala.text.",
                "dala.video.",
            )
        )
        for name, member in vars(kind).items()
        if not name.startswith("_")
        and (inspect.isfunction(member) or isinstance(member, property))
        and not inspect.getdoc(member)
    ]
    assert missing == []


def test_every_error_says_what_it_is_for() -> None:
    for name, error in vars(dala.errors).items():
        if inspect.isclass(error) and issubclass(error, dala.DalaError):
            assert inspect.getdoc(error), name
            assert name in (dala.errors.__doc__ or ""), f"{name} is not in the tree"


def modules() -> list[str]:
    return [dala.__name__, *(m.name for m in pkgutil.walk_packages(dala.__path__, "dala."))]


OF_MEDIA = ("dala.media.automatic", "dala.media.overlays")  # kernels of media's own


@pytest.mark.usefixtures("registry")
@pytest.mark.parametrize("name", modules())
def test_examples_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if name.startswith("dala.video") or name == "dala.errors":
        pytest.importorskip("av")
    monkeypatch.chdir(tmp_path)  # some write files
    module: types.ModuleType = importlib.import_module(name)
    report: list[str] = []
    runner = doctest.DocTestRunner(verbose=False)
    # a kernel's example is that of its function in dala.media, which adds these imports
    declares = name.startswith("dala.kernels.") or name in OF_MEDIA
    known = {"np": np, "media": media} if declares else None
    for test in doctest.DocTestFinder(exclude_empty=True).find(module, name, extraglobs=known):
        runner.run(test, out=report.append, clear_globs=False)
    assert runner.summarize(verbose=False).failed == 0, "".join(report)
