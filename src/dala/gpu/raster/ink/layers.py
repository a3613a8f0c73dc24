"""The stacks of transforms and layers: pushed and popped, without painting anything.

Functions of the rasteriser's language (language.py). While a layer is open, its memory is where everything
is painted (``BACK``); what it is for is kept in an entry of the stack until it is popped.
"""

from __future__ import annotations

from dala.gpu.raster.layout import (
    BACK,
    BAND_BOTTOM,
    BAND_TOP,
    BASE,
    BORDER,
    BOTTOM,
    LAYER_BYTES,
    LAYER_PIXELS,
    LAYER_RECORD,
    LAYER_STACK,
    LAYER_TABLE,
    LAYERS,
    LEFT,
    MASKED,
    MATRICES,
    MATRIX,
    MODE,
    OPACITY,
    OPEN_BOTTOM,
    OPEN_LEFT,
    OPEN_RIGHT,
    OPEN_TOP,
    RIGHT,
    TOP,
    TRANSFORMS,
    WIDTH,
)
from dala.gpu.raster.words import (
    copy_bytes,
    load8,
    load64,
    load_f32,
    load_f64,
    magnitude,
    store64,
    store_f64,
)

# a layer's fields: how much of it is seen, how it is blended, whether a path clips it and by which rule
LAYER_OPACITY, LAYER_MODE, LAYER_CLIP, LAYER_RULE, LAYER_PATH = 0, 4, 5, 6, 7
LARGEST = 1e12  # of a transform's numbers


def open_entry(s: int, number: int) -> int:
    return s + LAYER_STACK + number * LAYER_BYTES


def layer_memory(s: int, number: int) -> int:
    return load64(s + LAYER_TABLE) + number * LAYER_RECORD


def layer_top(s: int, entry: int) -> int:
    return max(load64(entry + OPEN_TOP), load64(s + BAND_TOP))


def layer_bottom(s: int, entry: int) -> int:
    return min(load64(entry + OPEN_BOTTOM), load64(s + BAND_BOTTOM))


def open_layer(s: int, p: int) -> None:
    """Paint on a new layer from now on; it counts where the clip is now."""
    depth = load64(s + LAYERS)
    entry = open_entry(s, depth)
    store64(entry + OPACITY, int(load_f32(p + LAYER_OPACITY) * 255.0 + 0.5))
    store64(entry + MODE, load8(p + LAYER_MODE))
    store64(entry + MASKED, load8(p + LAYER_CLIP))
    store64(entry + OPEN_LEFT, load64(s + LEFT))
    store64(entry + OPEN_TOP, load64(s + TOP))
    store64(entry + OPEN_RIGHT, load64(s + RIGHT))
    store64(entry + OPEN_BOTTOM, load64(s + BOTTOM))
    if depth == 0:
        store64(s + BASE, load64(s + BACK))
    store64(s + LAYERS, depth + 1)
    paint_onto(s, load64(layer_memory(s, depth) + LAYER_PIXELS))


def close_layer(s: int) -> None:
    """Paint on what is below the last layer again."""
    depth = load64(s + LAYERS) - 1
    store64(s + LAYERS, depth)
    if depth == 0:
        paint_onto(s, load64(s + BASE))
    else:
        paint_onto(s, load64(layer_memory(s, depth - 1) + LAYER_PIXELS))


def paint_onto(s: int, pixels: int) -> None:
    store64(s + BACK, pixels)
    store64(s + BORDER, pixels + load64(s + BAND_BOTTOM) * load64(s + WIDTH) * 4)


# -- transforms --------------------------------------------------------------------------------------


def push_transform(s: int, p: int) -> int:
    """Multiply by another matrix, kept until it is popped; 0 if its numbers grow too large."""
    depth = load64(s + TRANSFORMS)
    at = s + MATRICES + depth * 48
    copy_bytes(at, s + MATRIX, 48)
    a, b, c, d = load_f64(at), load_f64(at + 8), load_f64(at + 16), load_f64(at + 24)
    most = 0.0
    for i in range(3):  # the columns: two directions, and where the origin goes
        x, y = load_f32(p + i * 8), load_f32(p + i * 8 + 4)
        to_x, to_y = a * x + c * y, b * x + d * y
        if i == 2:
            to_x, to_y = to_x + load_f64(at + 32), to_y + load_f64(at + 40)
        store_f64(s + MATRIX + i * 16, to_x)
        store_f64(s + MATRIX + i * 16 + 8, to_y)
        most = max(most, max(magnitude(to_x), magnitude(to_y)))
    if most > LARGEST:
        copy_bytes(s + MATRIX, at, 48)
        return 0
    store64(s + TRANSFORMS, depth + 1)
    return 1


def pop_transform(s: int) -> None:
    depth = load64(s + TRANSFORMS) - 1
    store64(s + TRANSFORMS, depth)
    copy_bytes(s + MATRIX, s + MATRICES + depth * 48, 48)
