"""Primitives as spans of pixels, in compiled integer code.

    language.py   Python functions on integers → LLVM text
    words.py      what those functions may say: loads, stores, square roots, whole rows of pixels
    rows.py       filling and blending rows, with vectors; sampling.py scaling them
    layout.py     what Python and machine code share: state, tables, sizes of commands
    shapes.py     rectangles, lines, circles, triangles
    pictures.py   sprites and scaled images
    protocol.py   bytes: checked, then walked
    forecast.py   how far commands go without Python, and how much work that is
    bands.py      the same commands painted by several threads, each some of the rows
    ink/          anti-aliased paths, strokes, gradients, layers; compiled when first drawn
    code.py       all of it compiled; painter.py calls it, with as many threads as that is worth

Everything is exact: a primitive is a set of horizontal spans, a span is clipped in 64-bit integers,
and a pixel is painted at most once by a primitive. design/surfaces.md states every rule.
"""
