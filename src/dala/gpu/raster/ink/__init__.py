"""Anti-aliased drawing: paths, strokes, gradients, transforms, layers, turned pictures, in compiled code.

    walk.py       commands foreseen and drawn     checks.py     foreign ones, before they are queued
    paths.py      curves → points → edges         strokes.py    pens: joins, caps, dashes
    simple.py     ellipses, rings, lines          ring.py       an ellipse's corners, with vectors
    edges.py      outlines, clipped to the surface
    cells.py      edges → areas of pixels         cut.py        edges → pieces within rows, with vectors
    sweep.py      areas → coverage → colour, with vectors
    paints.py     what else is painted with       shades.py     gradients
    pictures.py   sprites, images, patterns       sampled.py    their pixels, with vectors
    layers.py     transforms and layers           modes.py      blend modes
    scratch.py    memory of a thread              code.py       compiled in two parts, when first drawn

    command ─ foresee_ink: transform, flatten, clip → edges in the arena (once)
            ─ draw_ink, in every band: edges → pieces → cells → coverage → pixels

Coverage is the exact area, in integers, so every machine paints the same pixels whatever the bands are.
"""
