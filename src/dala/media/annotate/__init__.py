"""Results drawn on pictures: boxes, labels, masks, keypoints, skeletons, heat maps, traces.

    detections.py   boxes and labels            people.py    keypoints and skeletons
    areas.py        masks and heat maps         motion.py    traces
    canvas.py       a picture that is drawn on  reading.py   plain arrays, or objects with results
    palette.py      colours that differ

Any picture that filters take is taken, and a surface; what comes back is of the same kind, and the picture
itself is not changed (a surface is drawn on). Results are plain arrays or objects with the attributes that
those of ``dala.ml`` have. Sizes follow the picture's; every line has a dark rim and every text a box of its
own, so both are seen on any background. Texts need the extra ``text``.
"""

from __future__ import annotations

from dala.media.annotate.areas import heatmap, masks
from dala.media.annotate.detections import boxes, labels
from dala.media.annotate.motion import traces
from dala.media.annotate.people import keypoints, skeletons

__all__ = ["boxes", "heatmap", "keypoints", "labels", "masks", "skeletons", "traces"]
