"""Filters on a layer, a group, or everything below: whatever ``dala.media`` takes as a filter.

apply.py       filters on a picture
pipelines.py   what was compiled, by the picture's size
prepare.py     filters that are compiled before they are needed
"""

from __future__ import annotations

from dala.scene.effects.apply import filtered

__all__ = ["filtered"]
