"""Models: five for vision and one for people, on the CPU, on any GPU, and as stages of a pipeline.

    network.py       a network that is open        onnx/          reading its file
    layers/          what layers mean              run/           where they run
    catalogue.py     models by name                store.py       where their weights are
    model.py         a model that is loaded        tasks.py       what each is for
    images.py        pictures, for reading         view.py        a picture inside a network's input
    tensors.py       pictures → tensors            decode/        outputs → results
    results.py       classes, things, faces, poses segmentation.py classes of pixels
    tracker.py       things over frames            smoother.py    against flicker
    labels.py        what numbers mean             kernel.py      a network as a kernel

    picture → tensor (one kernel) → network → outputs → typed results, in the picture's own pixels

``import dala.ml`` loads no network library; loading a model does.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from dala.errors import ParameterError, ShapeError, suggest
from dala.ml.catalogue import ModelInfo, available_models, model_info
from dala.ml.decode.classes import top_k
from dala.ml.images import take_image
from dala.ml.labels import FACE_KEYPOINTS, JOINTS, SKELETON
from dala.ml.model import Model, Prediction, load_model
from dala.ml.results import (
    Class,
    Classes,
    Detection,
    Detections,
    Face,
    Faces,
    Pose,
    Poses,
)
from dala.ml.segmentation import Segmentation
from dala.ml.smoother import Smoother
from dala.ml.tasks import Result as Result
from dala.ml.tensors import InputForm, Triple, tensor_of
from dala.ml.tracker import Tracker
from dala.ml.view import FITS

__all__ = [
    "FACE_KEYPOINTS", "JOINTS", "SKELETON", "Class", "Classes", "Detection", "Detections", "Face", "Faces",
    "Model", "ModelInfo", "Pose", "Poses", "Prediction", "Segmentation", "Smoother", "Tracker",
    "available_models", "free_model", "load_model", "model_info", "predict", "predict_async",
    "predict_batch", "predict_frame", "preprocess", "top_k",
]  # fmt: skip


def preprocess(
    image: object,
    size: tuple[int, int] = (224, 224),
    fit: Literal["stretch", "letterbox", "corner"] = "stretch",
    *,
    mean: Triple = (0.0, 0.0, 0.0),
    std: Triple = (1.0, 1.0, 1.0),
    layout: Literal["nhwc", "nchw"] = "nhwc",
    channels: str = "rgb",
    image_size: tuple[int, int] | None = None,
) -> npt.NDArray[np.float32]:
    """A picture as the input of a network: ``size`` (height, width), bilinear, ``(value - mean) / std`` of
    values in 0..1. ``"letterbox"`` keeps the proportions, in the middle of grey; ``"corner"`` begins at the
    upper left.

    >>> import numpy as np
    >>> from dala import ml
    >>> photo = np.full((480, 640, 3), 255, np.uint8)
    >>> tensor = ml.preprocess(photo, size=(2, 2), mean=(0.5, 0.5, 0.5), std=(0.5, 0.5, 0.5))
    >>> tensor.shape, round(float(tensor.max()), 4)
    ((1, 2, 2, 3), 1.0)
    """
    if fit not in FITS:
        raise ParameterError(
            f"preprocess: fit is one of {', '.join(FITS)}, got {fit!r}{suggest(str(fit), FITS)}"
        )
    if layout not in ("nhwc", "nchw"):
        raise ParameterError(f"preprocess: layout is 'nhwc' or 'nchw', got {layout!r}")
    sides = [int(n) for n in size if not isinstance(n, bool) and isinstance(n, int | np.integer)]
    if len(sides) != 2 or len(size) != 2 or not all(1 <= n <= 65_536 for n in sides):
        raise ShapeError(f"preprocess: size is (height, width), got {size!r}")
    if min(std) <= 0:
        raise ParameterError(f"preprocess: std is above 0, got {std!r}")
    form = InputForm(
        sides[1],
        sides[0],
        fit,
        gain=tuple(1 / (255 * s) for s in std),  # type: ignore[arg-type]
        bias=tuple(-m / s for m, s in zip(mean, std, strict=True)),  # type: ignore[arg-type]
        layout=layout,
        fill=127.5,
    )
    picture = take_image(image, channels=channels, size=image_size, who="preprocess")
    return tensor_of(picture, form)[0]


def predict(model: Model, *tensors: object) -> npt.NDArray[Any] | tuple[npt.NDArray[Any], ...]:
    """The network alone: tensors in, its output (or outputs) out.

    >>> from dala import ml
    >>> def five_best(photo):  # with ml.load_model("mobilenet_v2")
    ...     return ml.top_k(ml.predict(model, ml.preprocess(photo, size=(224, 224))), k=5)
    """
    return model.predict(*tensors)


def predict_frame(
    model: Model,
    image: object,
    *,
    channels: str = "rgb",
    size: tuple[int, int] | None = None,
    **options: object,
) -> Result:
    """What a model sees in a picture: Classes, Detections, Faces, Poses or a Segmentation, in the
    picture's own pixels.

    Pictures are paths, NumPy arrays, PIL images, bytes with ``size=(width, height)``, DLPack, buffers or
    surfaces. Options: ``top`` of classes; ``score``, ``overlap`` and ``limit`` of detections and faces;
    ``score``, ``peak`` and ``limit`` of poses; ``threshold`` of people.

    >>> from dala import ml
    >>> def names_in(photo):  # with model = ml.load_model("yolo_v5")
    ...     return [found.name for found in ml.predict_frame(model, photo, score=0.6)]
    """
    return model.predict_frame(image, channels=channels, size=size, **options)


def predict_async(model: Model, image: object, **options: Any) -> Prediction[Result]:
    """``predict_frame`` on another thread: ``wait()`` or ``await`` it.

    >>> from dala import ml
    >>> async def faces_in(photo):  # with model = ml.load_model("blazeface")
    ...     return await ml.predict_async(model, photo)
    """
    return model.predict_async(image, **options)


def predict_batch(model: Model, images: Iterable[object], **options: Any) -> list[Result]:
    """``predict_frame`` for many pictures, the next one under way meanwhile.

    >>> from dala import ml
    >>> def count_faces(photos):  # with model = ml.load_model("blazeface")
    ...     return [len(faces) for faces in ml.predict_batch(model, photos)]
    """
    return model.predict_batch(images, **options)


def free_model(model: Model) -> None:
    """Give back a model's memory; twice does nothing.

    >>> from dala import ml
    >>> def count(photo):
    ...     with ml.load_model("blazeface") as model:  # frees it at the end, too
    ...         return len(model.predict_frame(photo))
    """
    model.close()
