"""The photos of the gallery: who took them, under which licence, as scikit-image says."""

PHOTOS = {
    "astronaut": "the astronaut Eileen Collins (NASA, public domain)",
    "coffee": "coffee (Rachel Michetti, CC0)",
    "chelsea": "the cat Chelsea (Stéfan van der Walt, CC0)",
    "rocket": "a Falcon 9 (SpaceX, public domain)",
    "hubble_deep_field": "the Hubble deep field (NASA, public domain)",
    "camera": "a man with a camera (Lav Varshney, CC0)",
    "coins": "Greek coins (Brooklyn Museum, no known restrictions)",
    "brick": "bricks (CC0Textures, CC0)",
}
