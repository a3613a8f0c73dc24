"""How the kernels' declarations become functions: parameters, defaults, checks, help.

    kernel  →  make_filter(kernel, run)  →  blur(image, radius=3, sigma=None, *, width=None, …)

What follows a picture that knows its size are the kernel's further images and parameters, in its order:
``blur(photo, 3)``. Raw bytes are followed by their width and height first: ``blur(data, 640, 480, 3)``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter
from typing import Any, TypeAlias

from dala.errors import ArgumentError, ParameterError
from dala.language.kernel import Kernel
from dala.language.parameter import Param
from dala.media.apply import Size
from dala.media.generate import run_generator
from dala.media.pictures import take_picture
from dala.media.step import further_inputs

Function: TypeAlias = Callable[..., Any]
Run: TypeAlias = Callable[
    [Kernel, Any, Size | None, str | None, str | None, Mapping[str, object]], object
]  # a kernel on an image of that size and channels, on a device, with parameters
RAW = (bytes, bytearray, memoryview)
SIZE_HINT = "give a width and a height with bytes alone: a picture of any other kind knows its size"


def make_filter(kernel: Kernel, run: Run, module: str) -> Function:
    """The function of a kernel that reads an image."""
    names = (*further_inputs(kernel), *(p.name for p in kernel.params))
    size_words = _size_words(kernel)

    def function(
        image: Any,
        *args: object,
        channels: str | None = None,
        device: str | None = None,
        **given: Any,
    ) -> object:
        sizes = [given.pop(word, None) for word in size_words]
        size: Size | None = sizes[0] if len(sizes) == 1 else (sizes[0], sizes[1])
        is_raw = isinstance(image, RAW)
        if is_raw and sizes.count(None) == len(sizes):
            size, args = _leading_size(kernel.name, args)
        params = _join(kernel.name, names, args, given, "the size" if is_raw else "the picture")
        try:
            return run(kernel, image, size, channels, device, params)
        except ParameterError as error:
            if is_raw or not _begin_with_size(image, args):
                raise
            raise ParameterError(f"{error}; {SIZE_HINT}") from None

    return _declare(function, kernel, module, _filter_signature(kernel))


def make_generator(kernel: Kernel, module: str) -> Function:
    """The function of a kernel that makes a picture of nothing."""
    names = [p.name for p in kernel.params]

    def function(
        width: int, height: int, *args: object, device: str | None = None, **given: object
    ) -> object:
        params = _join(kernel.name, names, args, given, "the size")
        return run_generator(kernel, width, height, device, params)

    return _declare(function, kernel, module, _generator_signature(kernel))


def _declare(
    function: Function, kernel: Kernel, module: str, signature: inspect.Signature
) -> Function:
    """What help(), editors and pickle want to know."""
    function.__name__ = function.__qualname__ = kernel.name
    function.__module__ = module
    function.__doc__ = _docstring(kernel)
    function.__signature__ = signature  # type: ignore[attr-defined]
    return function


# -- arguments ---------------------------------------------------------------------------------


def _size_words(kernel: Kernel) -> tuple[str, ...]:
    """How the size of bytes is named; ``width`` and ``height`` may be those of the result."""
    own = any(p.name == "width" for p in kernel.params)
    return ("image_size",) if own else ("width", "height")


def _leading_size(who: str, args: tuple[object, ...]) -> tuple[Size, tuple[object, ...]]:
    """The width and the height that follow bytes, and what follows those."""
    sides = args[:2]
    if len(sides) < 2 or any(hasattr(side, "__array__") for side in sides):
        raise ArgumentError(
            f"{who}: bytes need a width and a height right after them: {who}(data, width, height, …)"
        )
    return sides, args[2:]  # type: ignore[return-value]  # whether they are numbers is seen later


def _begin_with_size(image: object, args: tuple[object, ...]) -> bool:
    """Whether the width and height of a picture follow it, as if it were bytes."""
    size = tuple(side for side in args[:2] if isinstance(side, int))
    return size == take_picture(image, who="size").size


def _join(
    who: str,
    names: Sequence[str],
    args: tuple[object, ...],
    given: Mapping[str, object],
    before: str,
) -> Mapping[str, object]:
    """Arguments by position and by name, as parameters."""
    if len(args) > len(names):
        hint = f"; {SIZE_HINT}" if before == "the picture" else ""
        raise ArgumentError(
            f"{who}: {before} is followed by {', '.join(names) or 'nothing'}, "
            f"got {len(args)} values{hint}"
        )
    twice = [name for name in names[: len(args)] if name in given]
    if twice:
        raise ArgumentError(f"{who}: {twice[0]} is given twice, by position and by name")
    return {**dict(zip(names, args, strict=False)), **given}


# -- declarations ------------------------------------------------------------------------------


def _filter_signature(kernel: Kernel) -> inspect.Signature:
    size = {"width": "int | None", "height": "int | None", "image_size": "tuple[int, int] | None"}
    words = {word: size[word] for word in _size_words(kernel)}
    words |= {"channels": "Channels | None", "device": "str | None"}
    further = further_inputs(kernel)
    optional = further[len(further) - kernel.optional_inputs :]
    return inspect.Signature(
        [
            Parameter("image", Parameter.POSITIONAL_OR_KEYWORD, annotation="Image"),
            *(_image(name, optional=name in optional) for name in further),
            *map(_parameter, kernel.params),
            *(_keyword(word, annotation) for word, annotation in words.items()),
        ],
        return_annotation="Image",
    )


def _generator_signature(kernel: Kernel) -> inspect.Signature:
    sides = [
        Parameter(side, Parameter.POSITIONAL_OR_KEYWORD, annotation="int")
        for side in ("width", "height")
    ]
    return inspect.Signature(
        [*sides, *map(_parameter, kernel.params), _keyword("device", "str | None")],
        return_annotation="npt.NDArray[np.uint8]",
    )


def _image(name: str, *, optional: bool) -> Parameter:
    default, annotation = (None, "object | None") if optional else (Parameter.empty, "object")
    return Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation=annotation)


def _keyword(name: str, annotation: str) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def _parameter(p: Param) -> Parameter:
    return Parameter(
        p.name,
        Parameter.POSITIONAL_OR_KEYWORD,
        default=Parameter.empty if p.required else p.default,
        annotation=_annotation(p),
    )


def _annotation(p: Param) -> str:
    word: str = p.type
    if p.choices:
        word = "Literal[" + ", ".join(f'"{choice}"' for choice in p.choices) + "]"
    elif p.type == "array":
        word = "npt.ArrayLike | str | os.PathLike[str]" if p.load else "npt.ArrayLike"
    elif p.length:
        word = "npt.ArrayLike"
    return f"{word} | None" if p.default is None else word


def _docstring(kernel: Kernel) -> str:
    """The kernel's sentence, its parameters, how bytes are given, an example that runs."""
    paragraphs = [kernel.doc]
    if kernel.params:
        paragraphs.append(
            "\n".join(f"    {p.name}: {p.describe()}. {p.help}" for p in kernel.params)
        )
    if kernel.alpha == "added":
        paragraphs.append("The result has an alpha channel even if the picture came without.")
    if kernel.inputs:
        words = " and ".join(_size_words(kernel))
        paragraphs.append(
            f"Raw bytes are followed by their width and height, or have them in {words}."
        )
    paragraphs.append(f">>> import numpy as np\n>>> from dala import media\n{kernel.example}")
    return "\n\n".join(paragraphs) + "\n"
