"""Subtitles: a file's text becomes cues, and a cue becomes something to lay over a picture.

    reading.py   bytes, encodings, line ends, limits      cue.py       Cue, Cues, Run, Style, Placement
    srt.py       SubRip                                   markup.py    <b>, <i>, <font …>, <v …> as runs
    vtt.py       WebVTT (vtt_settings.py: where its cues are, vtt_styles.py: the CSS of its STYLE blocks)
    ass.py       Advanced SubStation Alpha (ass_styles.py: its styles, ass_overrides.py: {\\…})
    finding.py   which cue is shown when                  overlay.py   a cue as an Overlay at one time
    opening.py   any of the three, from whatever a user has

    file ─ decode ─ blocks or events ─ cues, sorted by time ─ the active one ─ overlay ─ pixels

Everything here may come from a stranger: sizes are bounded, nothing is evaluated, what cannot be read is
left out and said in ``Cues.problems``.
"""

from __future__ import annotations

from dala.scene.subtitles.ass import parse_ass
from dala.scene.subtitles.cue import Cue, Cues, Placement, Run, Style
from dala.scene.subtitles.finding import active_cue, cues_in_range
from dala.scene.subtitles.overlay import Overlay, to_overlay
from dala.scene.subtitles.srt import parse_srt
from dala.scene.subtitles.vtt import parse_vtt

__all__ = [
    "Cue", "Cues", "Overlay", "Placement", "Run", "Style", "active_cue", "cues_in_range",
    "parse_ass", "parse_srt", "parse_vtt", "to_overlay",
]  # fmt: skip
