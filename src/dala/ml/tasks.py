"""What each model is for: how it wants to see a picture, and how its outputs are read.

    picture ── InputForm ──→ tensor ── network ──→ outputs ── read ──→ typed results

Options are what callers may set for each picture; their defaults are here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from dala.errors import ModelError, ParameterError, UnsupportedError, suggest
from dala.ml.catalogue import ModelInfo
from dala.ml.decode.classes import name_of, read_classes, softmax, top_k
from dala.ml.decode.faces import look_closer, read_faces
from dala.ml.decode.poses import Fields, read_poses
from dala.ml.decode.ssd import read_ssd
from dala.ml.decode.yolo import Version, read_yolo, version_of
from dala.ml.labels import COCO_80, COCO_IDS, PEOPLE, VOC
from dala.ml.network import Network
from dala.ml.results import Class, Classes, Detections, Faces, Poses
from dala.ml.segmentation import Segmentation
from dala.ml.tensors import InputForm, Layout, Triple
from dala.ml.view import View, Window

Array = npt.NDArray[Any]
Outputs: TypeAlias = Sequence[Array]
Result: TypeAlias = "Classes | Detections | Faces | Poses | Segmentation"
Closer: TypeAlias = "Callable[[Any, Callable[[Window], Any], tuple[int, int]], Result]"
Read: TypeAlias = "Callable[..., Result]"  # of the outputs, the view and the options

SHARES: list[float] = (np.arange(256) / np.float32(255)).astype(np.float32).tolist()  # of a byte
SIGNED = {"gain": (1 / 127.5,) * 3, "bias": (-1.0,) * 3}  # 0..255 as -1..1
UNIT = {"gain": (1 / 255,) * 3}  # as 0..1
GREY = 127.5  # 0 in -1..1
YOLO_GREY = 114.0


@dataclass(frozen=True, slots=True)
class Task:
    """From a picture to a tensor, and from outputs to results."""

    form: InputForm
    read: Read
    options: Mapping[str, object] = field(default_factory=dict)
    labels: Sequence[str] = ()
    # of a first result, a way to look at a window of the picture, and the picture's size: a better one
    closer: Closer | None = None

    def with_defaults(self, options: Mapping[str, object], who: str) -> dict[str, object]:
        """All options, checked."""
        for name, value in options.items():
            if name not in self.options:
                raise ParameterError(
                    f"{who}: there is no option {name!r}{suggest(name, self.options)}; it takes "
                    f"{', '.join(self.options)}"
                )
            _check_option(name, value, who)
        return {**self.options, **options}


def _check_option(name: str, value: object, who: str) -> None:
    if name == "closer":
        if not isinstance(value, bool):
            raise ParameterError(f"{who}: closer is True or False, got {value!r}")
        return
    if name in ("top", "limit"):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
            raise ParameterError(f"{who}: {name} is a whole number from 1 up, got {value!r}")
    elif (
        isinstance(value, bool)
        or not isinstance(value, int | float | np.floating)
        or not 0 <= value <= 1
    ):
        raise ParameterError(f"{who}: {name} is a number of 0..1, got {value!r}")


# -- the models of the catalogue ----------------------------------------------------------------------


def known_task(info: ModelInfo, labels: Sequence[str] = ()) -> Task:
    """How a model of the catalogue is used; ``labels`` are those of its file."""
    make = {
        "classify": _classify,
        "detect": _detect,
        "faces": _faces,
        "poses": _poses,
        "segment": _segment,
        "people": _people,
    }[info.task]
    return make(info, labels)


def _form(info: ModelInfo, **how: Any) -> InputForm:
    _, height, width, _ = info.input_shape
    return InputForm(width, height, dtype="u8" if info.input_dtype == "u8" else "f32", **how)


def _classify(info: ModelInfo, labels: Sequence[str]) -> Task:
    def read(outputs: Outputs, view: View, *, top: int) -> Classes:
        found = top_k(outputs[0].reshape(-1)[1:], top)  # the first one is the background
        return Classes([Class(k, name_of(names, k), SHARES[int(level)]) for level, k in found])

    names = labels[1:]
    return Task(_form(info), read, {"top": 5}, names)


def _detect(info: ModelInfo, labels: Sequence[str]) -> Task:
    def read(outputs: Outputs, view: View, **options: Any) -> Detections:
        scores, boxes = outputs
        return read_ssd(scores[0], boxes[0, :, 0], COCO_IDS, view, **options)

    return Task(_form(info), read, {"score": 0.5, "overlap": 0.5, "limit": 100}, COCO_80)


def _faces(info: ModelInfo, labels: Sequence[str]) -> Task:
    size = info.input_shape[1]
    strides = (16, 32, 32, 32) if size == 256 else (8, 16, 16, 16)

    def read(outputs: Outputs, view: View, **options: Any) -> Faces:
        logits = _joined([o.reshape(-1) for o in outputs if o.shape[-1] == 1])
        regressors = _joined([o.reshape(-1, 16) for o in outputs if o.shape[-1] == 16])
        return read_faces(logits, regressors, size, strides, view, **options)

    form = _form(info, fit="letterbox", fill=GREY, **SIGNED)
    options = {"score": 0.5, "overlap": 0.3, "limit": 50, "closer": True}
    return Task(form, read, options, closer=look_closer)


def _joined(parts: Sequence[Array]) -> Array:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _poses(info: ModelInfo, labels: Sequence[str]) -> Task:
    def read(outputs: Outputs, view: View, **options: Any) -> Poses:
        return read_poses(Fields(*(o[0] for o in outputs)), view, **options)

    form = _form(info, fit="letterbox", fill=GREY, **SIGNED)
    return Task(form, read, {"score": 0.25, "peak": 0.5, "limit": 20})


def _segment(info: ModelInfo, labels: Sequence[str]) -> Task:
    def read(outputs: Outputs, view: View) -> Segmentation:
        size = view.picture_width, view.picture_height
        shown = outputs[0][(0, *view.filled)].astype(np.uint8)
        return Segmentation(shown, VOC, size=size)

    return Task(_form(info, fit="corner", fill=GREY), read, labels=VOC)


def _people(info: ModelInfo, labels: Sequence[str]) -> Task:
    def read(outputs: Outputs, view: View, *, threshold: float) -> Segmentation:
        soft = outputs[0][0, :, :, 0]
        size = view.picture_width, view.picture_height
        return Segmentation((soft >= threshold).astype(np.uint8), PEOPLE, soft=soft, size=size)

    return Task(_form(info, **UNIT), read, {"threshold": 0.5}, PEOPLE)


# -- a user's own files -------------------------------------------------------------------------------

DECODERS = ("yolo_v5", "yolo_v8", "classes")


def own_task(
    network: Network,
    *,
    decode: str | None = None,
    labels: Sequence[str] | None = None,
    mean: Triple = (0.0, 0.0, 0.0),
    std: Triple = (1.0, 1.0, 1.0),
) -> Task | None:
    """How a network of a user's own is used, by its shapes; None if they do not tell, and then only
    ``predict`` works."""
    if decode is not None and decode not in DECODERS:
        raise ParameterError(
            f"decode is one of {', '.join(DECODERS)}, got {decode!r}{suggest(decode, DECODERS)}"
        )
    shapes = [tuple(n or 0 for n in spec.shape) for spec in network.outputs]
    found = decode or _guess(shapes)
    if found is None or len(network.inputs) != 1:
        if decode is None:
            return None
        raise ModelError(f"{network.name}: {decode} reads a network of one input, a picture")
    if found == "classes":
        form = _own_form(network, 224, "stretch", mean, std)
        names = tuple(labels or ())
        return Task(form, _reading_classes(names), {"top": 5}, names)
    version: Version = "yolo_v5" if found == "yolo_v5" else "yolo_v8"
    count = min(shapes[0][1:], default=0) - (5 if version == "yolo_v5" else 4)
    names = tuple(labels or _names_in(network) or (COCO_80 if count == len(COCO_80) else ()))
    form = _own_form(network, 640, "letterbox", mean, std)
    options = {"score": 0.25, "overlap": 0.45, "limit": 300}
    return Task(form, _reading_yolo(version, names), options, names)


def _guess(shapes: Sequence[tuple[int, ...]]) -> str | None:
    if len(shapes) != 1:
        return None
    (shape,) = shapes
    if len(shape) == 2 and shape[0] in (0, 1) and shape[1] > 1:
        return "classes"
    return version_of(shape)


def _own_form(network: Network, size: int, fit: Any, mean: Triple, std: Triple) -> InputForm:
    (spec,) = network.inputs
    shape = spec.shape
    last = len(shape) == 4 and shape[3] == 3
    if len(shape) != 4 or not (last or shape[1] == 3) or spec.dtype not in (np.float32, np.uint8):
        raise UnsupportedError(
            f"{network.name}: its input {spec} is no picture of (1, 3, H, W) or (1, H, W, 3)"
        )
    layout: Layout = "nhwc" if last else "nchw"
    height, width = (shape[1], shape[2]) if last else (shape[2], shape[3])
    in_bytes = spec.dtype == np.uint8
    if in_bytes and (tuple(mean), tuple(std)) != ((0.0,) * 3, (1.0,) * 3):
        raise ParameterError(f"{network.name}: takes bytes, which have no mean and std")
    return InputForm(
        width or size,
        height or size,
        fit,
        gain=(1.0,) * 3 if in_bytes else tuple(1 / (255 * s) for s in std),  # type: ignore[arg-type]
        bias=(0.0,) * 3 if in_bytes else tuple(-m / s for m, s in zip(mean, std, strict=True)),  # type: ignore[arg-type]
        dtype="u8" if in_bytes else "f32",
        layout=layout,
        fill=YOLO_GREY,
    )


def _reading_classes(names: Sequence[str]) -> Read:
    def read(outputs: Outputs, view: View, *, top: int) -> Classes:
        scores = outputs[0].reshape(-1).astype(np.float32)
        if scores.min() < 0 or abs(float(scores.sum()) - 1) > 1e-2:  # logits
            scores = softmax(scores)
        return read_classes(scores, names, top=top)

    return read


def _reading_yolo(version: Version, names: Sequence[str]) -> Read:
    by_number = MappingProxyType(dict(enumerate(names)))

    def read(outputs: Outputs, view: View, **options: Any) -> Detections:
        return read_yolo(outputs[0][0], version, by_number, view, **options)

    return read


MOST_NAMES_TEXT = 200_000
_NAME = re.compile(r"(\d+)\s*:\s*(?:'([^']*)'|\"([^\"]*)\")")


def _names_in(network: Network) -> tuple[str, ...]:
    """The classes that Ultralytics writes beside a network: ``{0: 'person', 1: 'bicycle', …}``."""
    text = network.metadata.get("names", "")[:MOST_NAMES_TEXT]
    found = {int(number): one or other for number, one, other in _NAME.findall(text)}
    return (
        tuple(found[n] for n in range(len(found))) if set(found) == set(range(len(found))) else ()
    )
