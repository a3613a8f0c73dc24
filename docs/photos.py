"""The photos of the gallery: who took them, under which licence, as the libraries that bring them say."""

from __future__ import annotations

import numpy as np

PHOTOS = {
    "astronaut": "the astronaut Eileen Collins (NASA, public domain)",
    "coffee": "coffee (Rachel Michetti, CC0)",
    "chelsea": "the cat Chelsea (Stéfan van der Walt, CC0)",
    "rocket": "a Falcon 9 (SpaceX, public domain)",
    "hubble_deep_field": "the Hubble deep field (NASA, public domain)",
    "camera": "a man with a camera (Lav Varshney, CC0)",
    "coins": "Greek coins (Brooklyn Museum, no known restrictions)",
    "brick": "bricks (CC0Textures, CC0)",
    "china": "a tower of the Summer Palace in Beijing ([danielbuechele]"
    "(https://www.flickr.com/photos/danielbuechele/), "
    "[CC BY 2.0](https://creativecommons.org/licenses/by/2.0/), cut and filtered)",
}


def load_photo(name: str) -> np.ndarray:
    """Its pixels. All are scikit-image's but the landscape, which is scikit-learn's."""
    if name == "china":
        from sklearn.datasets import load_sample_image

        return np.array(load_sample_image("china.jpg"))
    from skimage import data

    return getattr(data, name)()
