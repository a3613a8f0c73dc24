"""A scene in another size: the same nodes, seen through a part of it. Canvases share one evaluation."""

from __future__ import annotations

import weakref
from dataclasses import replace
from fractions import Fraction
from typing import Any, Literal

from dala import locks
from dala.errors import ParameterError
from dala.scene.frame import Frame
from dala.scene.layers import Composition, Entry, Layer, Rectangle
from dala.scene.out.stage import Composed, check_stage
from dala.scene.paint import paint
from dala.scene.times import Time, exact

LARGEST = 16_384
Fit = Literal["cover", "contain"]


class _Shared:
    """The last composition of a scene, for all of its canvases: sources are asked once for a time."""

    def __init__(self) -> None:
        self._lock = locks.lock()
        self._last: tuple[Fraction, int, Composition] | None = None

    def evaluate(self, scene: Composed, time: Fraction) -> Composition:
        with self._lock:
            version = scene.describe().version
            if self._last is None or self._last[:2] != (time, version):
                self._last = time, version, scene.evaluate(time)
            return self._last[2]


_shared: weakref.WeakKeyDictionary[Any, _Shared] = weakref.WeakKeyDictionary()
_lock = locks.lock()


class Canvas:
    """A scene as a picture of another size, e.g. 9:16 of one that is 16:9.

    ``fit="cover"`` fills the canvas and cuts off what is beyond; ``focus`` says which point of the scene
    stays in view, as shares of its size. ``"contain"`` shows all of the scene, with its background around.
    What is shown is painted at the canvas' own resolution. ``export``, ``stream`` and ``show`` take a
    canvas wherever they take a scene.

    >>> from dala import scene
    >>> with scene.Scene(160, 90, background="navy") as stage:
    ...     tall = scene.Canvas(stage, 90, 160)
    ...     tall.render(0.0).to_array().shape
    (160, 90, 4)
    """

    def __init__(
        self,
        scene: Composed,
        width: int,
        height: int,
        *,
        fit: Fit = "cover",
        focus: tuple[float, float] = (0.5, 0.5),
    ) -> None:
        check_stage(scene, "Canvas")
        for name, value in (("width", width), ("height", height)):
            if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= LARGEST:
                raise ParameterError(f"Canvas: {name} is 1 to {LARGEST} pixels, got {value!r}")
        if fit not in ("cover", "contain"):
            raise ParameterError(f"Canvas: fit is 'cover' or 'contain', got {fit!r}")
        if len(focus) != 2 or not all(0 <= share <= 1 for share in focus):
            raise ParameterError(f"Canvas: focus is two shares from 0 to 1, got {focus!r}")
        self.scene = scene
        self.width, self.height = width, height
        self.fit, self.focus = fit, (float(focus[0]), float(focus[1]))
        across, down = width / scene.width, height / scene.height
        self._scale = max(across, down) if fit == "cover" else min(across, down)
        self._offset = (
            _placed(width, scene.width * self._scale, focus[0]),
            _placed(height, scene.height * self._scale, focus[1]),
        )
        with _lock:
            self._from = _shared.setdefault(scene, _Shared())

    @property
    def target_fps(self) -> Fraction:
        """The scene's."""
        return self.scene.target_fps

    @property
    def device(self) -> str | None:
        """What it is painted by: the scene's."""
        return self.scene.device

    @property
    def duration(self) -> Fraction | None:
        """The scene's."""
        return self.scene.duration

    @property
    def streams(self) -> Any:
        """The scene's open sources."""
        return getattr(self.scene, "streams", None)

    def describe(self) -> Any:
        """The scene's nodes."""
        return self.scene.describe()

    def evaluate(self, time: Time) -> Composition:
        """What is to be painted at a time."""
        whole = self._from.evaluate(self.scene, exact(time))
        layers = tuple(self._moved(layer) for layer in whole.layers)
        return Composition(self.width, self.height, whole.background, layers)

    def render(self, time: Time) -> Frame:
        """The picture at a time."""
        moment = exact(time)
        pixels = paint(self.evaluate(moment), device=self.device)
        return Frame(pixels, moment, int(moment * self.target_fps // 1))

    def _moved(self, entry: Entry) -> Entry:
        clip = None if entry.clip is None else self._rectangle(entry.clip)
        if not isinstance(entry, Layer):
            return replace(entry, clip=clip)
        s, (x, y) = self._scale, self._offset
        a, b, c, d, e, f = entry.matrix
        return replace(
            entry,
            matrix=(a * s, b * s, c * s, d * s, e * s + x, f * s + y),
            clip=clip,
            corner_radius=entry.corner_radius * s,
            softness=entry.softness * s,
        )

    def _rectangle(self, box: Rectangle) -> Rectangle:
        s, (x, y) = self._scale, self._offset
        return (box[0] * s + x, box[1] * s + y, box[2] * s + x, box[3] * s + y)

    def __repr__(self) -> str:
        return f"<canvas {self.width} × {self.height} of {self.scene!r}>"


def _placed(room: float, length: float, share: float) -> float:
    """Where a length begins so that its ``share`` is as near to the middle as its ends allow."""
    if length <= room:
        return (room - length) / 2
    return min(max(room / 2 - share * length, room - length), 0.0)
