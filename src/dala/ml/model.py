"""A model that is loaded: a network, how it sees pictures, and how its outputs are read."""

from __future__ import annotations

import functools
import logging
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from dala.closing import Closing
from dala.compute.commands import submit_command
from dala.compute.handle import ResultHandle
from dala.errors import ArgumentError, ModelError, ShapeError, UnsupportedError
from dala.ml.catalogue import ModelInfo, model_info
from dala.ml.images import take_image
from dala.ml.network import Network, open_network
from dala.ml.store import find_weights
from dala.ml.tasks import Result, Task, known_task, own_task
from dala.ml.tensors import Triple, sample_tensor
from dala.ml.view import Window

Array = npt.NDArray[Any]
Answer = TypeVar("Answer")
AHEAD = 2  # pictures of a batch under way at once
log = logging.getLogger("dala.ml")


class Model(Closing):
    """A model, ready for pictures; load_model makes one. ``info`` is None for a file of one's own.

    >>> from dala import ml
    >>> def who_is_there(photo):
    ...     with ml.load_model("blazeface") as model:
    ...         return model.predict_frame(photo)
    """

    def __init__(
        self, name: str, network: Network, task: Task | None, info: ModelInfo | None = None
    ) -> None:
        self.name = name
        self.network = network
        self.task = task
        self.info = info

    def __repr__(self) -> str:
        title = f", {self.info.title}" if self.info is not None else ""
        state = "closed" if self.closed else f"on {self.network.device.name}"
        return f"<dala model {self.name}{title}, {state}>"

    @property
    def labels(self) -> Sequence[str]:
        """What the numbers of its classes mean, as far as it is known."""
        return () if self.task is None else self.task.labels

    def predict(self, *tensors: object) -> Array | tuple[Array, ...]:
        """The network alone, on tensors; its output, or all of them if there are several.

        A network of bytes takes floats of 0..1 too. MobileNetV2's answer is 1,000 probabilities.
        """
        outputs = self.network.run(*self._fitting(tensors))
        if self.info is not None and self.info.task == "classify":
            return outputs[0][:, 1:] / np.float32(255)
        return outputs[0] if len(outputs) == 1 else outputs

    def predict_frame(
        self,
        image: object,
        *,
        channels: str = "rgb",
        size: tuple[int, int] | None = None,
        **options: object,
    ) -> Result:
        """What is in a picture, in its own pixels; see predict_frame of the module."""
        task = self._useful_task()
        who = f"predict_frame: {self.name}"
        chosen = task.with_defaults(options, who)
        picture = take_image(image, channels=channels, size=size, who=who)
        closer = chosen.pop("closer", False)

        def look(window: Window | None = None) -> Result:
            tensor, view = sample_tensor(picture, task.form, window)
            return task.read(self.network.run_on(tensor, task.form.shape), view, **chosen)

        first = look()
        return task.closer(first, look, picture.size) if closer and task.closer else first

    def predict_async(self, image: object, **options: Any) -> Prediction[Result]:
        """The same on another thread; wait or await."""
        self._useful_task()
        return Prediction(functools.partial(self.predict_frame, image, **options))

    def predict_batch(self, images: Iterable[object], **options: Any) -> list[Result]:
        """The same for picture after picture, the next one under way meanwhile."""
        under_way: list[Prediction[Result]] = []
        results: list[Result] = []
        for image in images:
            if len(under_way) == AHEAD:
                results.append(under_way.pop(0).wait())
            under_way.append(self.predict_async(image, **options))
        return [*results, *(p.wait() for p in under_way)]

    def explain(self) -> str:
        """What runs, in words."""
        return self.network.explain()

    def close(self) -> None:
        """Give back the memory. Twice does nothing."""
        self.network.close()

    free = close

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self.network.closed

    def _useful_task(self) -> Task:
        if self.closed:
            raise ModelError(f"{self.name} has been closed; load it again")
        if self.task is None:
            raise UnsupportedError(
                f"{self.name}: what its outputs mean is not known; predict gives them as they are, or "
                "load it with decode='yolo_v5', 'yolo_v8' or 'classes'"
            )
        return self.task

    def _fitting(self, tensors: Sequence[object]) -> list[Array]:
        """Tensors as the network takes them; bytes may be given as floats of 0..1."""
        specs = self.network.inputs
        if len(tensors) != len(specs):
            raise ShapeError(
                f"predict: {self.name} has {len(specs)} inputs, got {len(tensors)} tensors"
            )
        fitting = []
        for given, spec in zip(tensors, specs, strict=True):
            array = np.asarray(given)
            if spec.dtype == np.uint8 and array.dtype.kind == "f":
                array = np.rint(np.clip(array, 0, 1) * 255).astype(np.uint8)
            fitting.append(array)
        return fitting


class Prediction(ResultHandle[Answer], Generic[Answer]):
    """A prediction under way: wait for its result, or await it.

    >>> from dala import ml
    >>> ml.Prediction(lambda: "a cat").wait(timeout=60)
    'a cat'
    """

    _title = "the prediction"

    def __init__(self, work: Callable[[], Answer]) -> None:
        results: list[Answer] = []
        command = submit_command(
            "predict",
            lambda: results.append(work()),
            (),
            reads=(),
            writes=(),
            stream=None,
            inline=False,
        )
        super().__init__(command, results)


def load_model(
    name: str | os.PathLike[str],
    device: str | None = None,
    precision: str = "f32",
    *,
    folder: str | os.PathLike[str] | None = None,
    decode: str | None = None,
    labels: Sequence[str] | str | os.PathLike[str] | None = None,
    mean: Triple = (0.0, 0.0, 0.0),
    std: Triple = (1.0, 1.0, 1.0),
) -> Model:
    """A model by its name, or an ONNX file by its path.

    Weights of a name are looked for in ``folder``, or without one in ``DALA_MODELS`` and the cache, and
    loaded only if their sha256 is the catalogue's. A YOLOv5 or YOLOv8 file of your own is recognised by its
    shapes; ``decode`` says how to read another (``"classes"``, ``"yolo_v5"``, ``"yolo_v8"``), ``labels``
    names its classes (a list, or a text file of one a line), ``mean`` and ``std`` are its training's.

    >>> import dala
    >>> from dala import ml
    >>> try:
    ...     ml.load_model("mobilnet_v2")
    ... except dala.errors.ModelNotFoundError as error:
    ...     print(str(error)[:55])
    no model is named 'mobilnet_v2'; did you mean 'mobilene
    """
    if not isinstance(name, str | os.PathLike):
        raise ArgumentError(f"load_model: a name or a path, got {type(name).__name__}")
    text = os.fspath(name)
    if text.lower().endswith(".onnx") or isinstance(name, os.PathLike):
        network = open_network(Path(text), device=device, precision=precision)
        names = _read_labels(labels)
        task = own_task(network, decode=decode, labels=names, mean=mean, std=std)
        return Model(Path(text).stem, network, task)
    info = model_info(text)
    path = find_weights(info, info.weights, folder)
    lines: tuple[str, ...] = ()
    if info.labels is not None:
        lines = tuple(
            find_weights(info, info.labels, folder).read_text(encoding="utf-8").splitlines()
        )
    if info.note:
        _say_once(info.note)
    network = open_network(path, device=device, precision=precision)
    network.register(info.name)  # a stage of pipelines, until it is closed
    return Model(info.name, network, known_task(info, lines), info)


def _read_labels(labels: Sequence[str] | str | os.PathLike[str] | None) -> Sequence[str] | None:
    if isinstance(labels, str | os.PathLike):
        try:
            return tuple(Path(labels).read_text(encoding="utf-8").splitlines())
        except (OSError, UnicodeDecodeError) as error:
            raise ModelError(f"labels: {labels} cannot be read: {error}") from error
    return labels


_said: set[str] = set()


def _say_once(note: str) -> None:
    if note not in _said:
        _said.add(note)
        log.warning("%s", note)
