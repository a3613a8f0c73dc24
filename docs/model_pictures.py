"""The pictures of docs/models.md: every model on a photo of scikit-image. DALA_MODELS names the weights.

DALA_MODELS=~/models python docs/model_pictures.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image
from skimage import data

import dala
from dala import media, ml
from dala.cli.detect import draw_result

FOLDER = Path(__file__).parent / "models"
SHOWN = {  # picture → model and photo
    "classes": ("mobilenet_v2", "coffee"),
    "detections": ("yolo_v5", "coffee"),
    "faces": ("blazeface", "astronaut"),
    "poses": ("posenet", "astronaut"),
    "segmentation": ("deeplab", "chelsea"),
}


def main() -> None:
    """Write all of them."""
    dala.use("cpu")
    FOLDER.mkdir(exist_ok=True)
    for name, (model, photo) in SHOWN.items():
        picture = getattr(data, photo)()
        with ml.load_model(model) as loaded:
            save(name, draw_result(picture, loaded.predict_frame(picture)))
    astronaut = data.astronaut()
    with ml.load_model("selfie") as selfie:
        save("people", media.background_blur(astronaut, selfie, 20))
        save("replaced", media.background_replace(astronaut, selfie, data.rocket()))


def save(name: str, pixels: np.ndarray) -> None:
    """As a JPEG of at most 400 pixels."""
    image = Image.fromarray(np.ascontiguousarray(pixels[..., :3]))
    image.thumbnail((400, 400))
    image.save(FOLDER / f"{name}.jpg", quality=85, optimize=True)


if __name__ == "__main__":
    main()
