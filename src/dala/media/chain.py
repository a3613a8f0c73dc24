"""A chain of filters: what a user writes, checked once, and then added to pipelines.

    [("blur", {"radius": 3}), "grayscale"]  →  Chain  →  stages of a pipeline, fused into few passes

A filter is any image kernel that makes one picture of a picture, built-in or registered. Kernels with
further inputs take them among their parameters, under the names that the kernel gives them:
``("blend", {"top": logo, "alpha": 0.8})``.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, TypeAlias, cast

from dala import forking
from dala.compute.buffers import Buffer, Scratch, array_type
from dala.compute.pipelines import Pipeline
from dala.errors import ArgumentError, DalaError, LookError, ParameterError, ShapeError
from dala.language.kernel import Kernel
from dala.language.registry import is_builtin
from dala.language.tables import Table
from dala.media.lookfile import find_look, parse_params, read_look
from dala.media.overlays import OVERLAY, fit_overlay
from dala.media.stages import MIX, fit_image
from dala.media.step import Step, filter_names, find_filter, further_inputs, make_step
from dala.once import drop_oldest

__all__ = [
    "Added", "Chain", "Filters", "Step", "filter_names", "find_filter", "further_inputs", "make_step",
]  # fmt: skip

Params: TypeAlias = Mapping[str, object]
Filter: TypeAlias = "str | os.PathLike[str] | Kernel | Step | Chain | tuple[str | Kernel, Params]"
Filters: TypeAlias = "Sequence[Filter] | Filter"


class Added(NamedTuple):
    """What a chain has put into a pipeline."""

    images: list[Buffer]  # those that hold the chain's ``images``; others may stand in for them
    stages: list[int]  # the number of each step's stage; the last is the mix, if there is one


class Chain:
    """Filters in order: checked, unchangeable, and the same for every picture and device.

    >>> from dala.media import Chain
    >>> chain = Chain.of([("blur", {"radius": 2}), "grayscale", ("resize", {"width": 320})])
    >>> chain
    <dala chain: blur radius=2 → grayscale → resize width=320>
    >>> chain.size_after(640, 480)
    (320, 240)
    """

    __slots__ = ("_structure", "images", "steps", "strength")

    def __init__(self, steps: Iterable[Step] = (), strength: float = 1.0) -> None:
        self.steps: tuple[Step, ...] = tuple(steps)
        self.strength = _check_strength(strength)
        # the further images that its filters read, in order
        self.images = tuple(image for step in self.steps for image in step.images.values())
        self._structure: Hashable = None

    @classmethod
    def of(cls, filters: Filters) -> Chain:
        """A chain from a list of filters, the name of a look, or the path of a look's file."""
        if isinstance(filters, Chain):
            return filters
        if isinstance(filters, str | os.PathLike | Kernel):
            return _read_named(filters)
        if isinstance(filters, Step) or _is_pair(filters):
            return cls(_read_item(1, filters))
        if not isinstance(filters, Sequence) or isinstance(filters, bytes | bytearray):
            raise ArgumentError(
                f"filters are a list such as [('blur', {{'radius': 3}}), 'grayscale'] or a look's name, "
                f"got {type(filters).__name__}"
            )
        steps: list[Step] = []
        for number, item in enumerate(filters, 1):
            steps += _read_item(number, item)
        return cls(steps)

    def at(self, strength: float) -> Chain:
        """The same chain mixed with the picture as it was: 0 changes nothing, 1 is all of it.

        >>> from dala.media import Chain
        >>> Chain.of("noir").at(0.5).strength
        0.5
        """
        return Chain(self.steps, strength)

    def __repr__(self) -> str:
        steps = " → ".join(map(repr, self.steps)) or "nothing"
        return f"<dala chain: {steps}{'' if self.strength == 1 else f', at {self.strength:g}'}>"

    def __len__(self) -> int:
        return len(self.steps)

    @property
    def structure(self) -> Hashable:
        """Chains of one structure share their code; they differ in run-time values at most."""
        if self._structure is None:
            self._structure = (*[step.structure for step in self.steps], self.strength < 1)
        return self._structure

    @property
    def is_open(self) -> bool:
        """Whether a filter of it has to look at a picture before it can run (``auto_levels``)."""
        return any(step.is_open for step in self.steps)

    def replaced(self, steps: Iterable[Step]) -> Chain:
        """Other steps at the same strength."""
        return Chain(steps, self.strength)

    @property
    def writes_alpha(self) -> bool:
        """Whether an opaque picture may be transparent in places afterwards."""
        return any(step.kernel.alpha != "kept" for step in self.steps)

    @property
    def _stands_alone(self) -> bool:
        """Whether its filters are built-in and no other file or array is part of it."""
        tables = any(isinstance(v, Table) for s in self.steps for v in s.values.values())
        return not tables and not self.images and all(is_builtin(s.name) for s in self.steps)

    def _steps_alone(self) -> tuple[Step, ...]:
        if self.strength < 1:
            raise ArgumentError("a chain with a strength of its own cannot be part of another")
        return self.steps

    def size_after(self, width: int, height: int) -> tuple[int, int]:
        """The size of the result for a picture of ``width`` × ``height``."""
        for step in self.steps:
            width, height = step.size_after(width, height)
        return width, height

    def add_to(
        self,
        pipeline: Pipeline,
        source: Buffer | Scratch,
        output: Buffer | Scratch,
        *,
        images_are_bgr: bool = False,
    ) -> Added:
        """Add the chain to a pipeline as stages from ``source`` to ``output``: images of one element type
        with as many channels. What lies between is scratch, so that the planner can fuse it.

        ``source`` is RGBA; with ``images_are_bgr`` the arrays among the further images are not.
        """
        if len(source.shape) < 2 or source.shape[2:] not in ((), (1,), (4,)):
            raise ShapeError(f"a chain reads (H, W, 4), (H, W, 1) or (H, W), got {source.shape}")
        rows, columns, *channels = source.shape
        wide, high = self.size_after(columns, rows)
        if output.shape != (high, wide, *channels) or output.dtype != source.dtype:
            raise ShapeError(
                f"the chain makes {(high, wide, *channels)} {source.dtype} of {source.shape}, "
                f"got an output of {output.shape} {output.dtype}"
            )
        added = Added([], [])
        last = source
        for number, step in enumerate(self.steps, 1):
            is_last = number == len(self.steps) and self.strength == 1
            target = output if is_last else None
            last = _add_step(pipeline, step, last, target, added, images_are_bgr)
        if self.strength < 1:
            if last.type != source.type:
                raise ShapeError("a chain that changes the size has no strength between 0 and 1")
            params = {"amount": self.strength}
            added.stages.append(len(pipeline))
            pipeline.add(
                {"kernel": MIX, "inputs": [source, last], "output": output, "params": params}
            )
        elif not self.steps:
            pipeline.add({"op": "copy_buffer", "inputs": [source], "output": output})
        return added


def _add_step(
    pipeline: Pipeline,
    step: Step,
    source: Buffer | Scratch,
    output: Buffer | Scratch | None,
    added: Added,
    images_are_bgr: bool,
) -> Buffer | Scratch:
    if step.is_open:
        raise ArgumentError(
            f"{step.name} looks at a picture first: run the chain through dala.media, or measure it "
            "with chain.measured(picture)"
        )
    rows, columns, *channels = source.shape
    wide, high = step.size_after(columns, rows)
    if output is None:
        output = Scratch(array_type((high, wide, *channels), source.type.dtype))
    inputs: list[Buffer | Scratch] = [source]
    for image in step.images.values():
        added.images.append(image.buffer_on(pipeline.engine))
        size, swap = (rows, columns), images_are_bgr and not image.is_rgb
        if step.kernel is OVERLAY:
            logo = added.images[-1]
            inputs.append(fit_overlay(pipeline, logo, step.values, columns, swap=swap))
            continue
        fitting = fit_image(pipeline, added.images[-1], size, source.type.channels, swap=swap)
        inputs.append(fitting)
    params = step.values_at(columns, rows)
    added.stages.append(len(pipeline))
    pipeline.add({"kernel": step.kernel, "inputs": inputs, "output": output, "params": params})
    return output


# -- from what users write ---------------------------------------------------------------------


def _read_item(number: int, item: object) -> tuple[Step, ...]:
    """The steps of one entry of a list; what is wrong with it is said with its place."""
    try:
        if isinstance(item, Step):
            return (item,)
        if isinstance(item, Chain | str | os.PathLike | Kernel):
            return Chain.of(item)._steps_alone()
        if _is_pair(item):
            name, params = cast("tuple[object, Params]", item)
            return (make_step(find_filter(name), params),)
    except DalaError as error:
        raise type(error)(f"filter {number}: {error}") from error
    raise ArgumentError(
        f"filter {number}: expected a name or a pair such as ('blur', {{'radius': 3}}), got {item!r}"
    )


def _is_pair(item: object) -> bool:
    return (
        isinstance(item, list | tuple)
        and len(item) == 2
        and isinstance(item[0], str | Kernel)
        and isinstance(item[1], Mapping)
    )


def _read_named(given: str | os.PathLike[str] | Kernel) -> Chain:
    """A filter that needs no parameters, or a look."""
    path = None if isinstance(given, Kernel) else find_look(given)
    if path is None:
        return Chain([make_step(find_filter(given), {})])
    try:
        facts = path.stat()
    except OSError:
        return _read_look_file(path)  # says why not
    key = (path, facts.st_mtime_ns, facts.st_size)
    found = _recent.get(key)
    if found is None:
        found = _read_look_file(path)
        if found._stands_alone:
            with _recent_lock:
                _recent[key] = found
                drop_oldest(_recent, REMEMBERED)
    return found


REMEMBERED = 64  # looks: somebody may name one for each frame
_recent: OrderedDict[Hashable, Chain] = OrderedDict()
_recent_lock = forking.lock()


def _read_look_file(path: Path) -> Chain:
    steps = []
    for line in read_look(path).lines:
        try:
            kernel = find_filter(line.name)
            params = parse_params(kernel, further_inputs(kernel), line.words, path.parent)
            steps.append(replace(make_step(kernel, params), relative=True))
        except DalaError as error:
            raise LookError(f"{path.name}, line {line.number}: {error}") from error
    return Chain(steps)


def _check_strength(strength: object) -> float:
    number = isinstance(strength, int | float) and not isinstance(strength, bool)
    if not number or not 0 <= strength <= 1:  # type: ignore[operator]
        raise ParameterError(f"a chain's strength is a number in 0..1, got {strength!r}")
    return float(strength)  # type: ignore[arg-type]
