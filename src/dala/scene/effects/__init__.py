"""Filters on a layer, a group, or everything below: whatever ``dala.media`` takes as a filter.

apply.py   filters on a picture, with what was compiled kept from frame to frame
"""

from __future__ import annotations

from dala.scene.effects.apply import filtered

__all__ = ["filtered"]
