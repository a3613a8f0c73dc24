"""One picture becomes another: kernels of two images with a parameter ``progress``.

mixing.py   a transition found by its name, and applied
fades.py    those that mix colours        edges.py    those with an edge that moves
moves.py    those that move pictures
"""

from __future__ import annotations

from dala.scene.transitions.mixing import mixed, names

__all__ = ["mixed", "names"]
