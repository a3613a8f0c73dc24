"""A scene: nodes that anybody may change at any time, and pictures of them at any time.

A thread may change the scene while another renders it: a frame shows the scene as it was before a change or
after it, never half of one.
"""

from __future__ import annotations

import os
import time as machine
from collections import deque
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dala import forking
from dala.closing import Closing
from dala.colors import Color
from dala.errors import ParameterError, SceneError
from dala.scene.adding import Adding
from dala.scene.animating import Animating
from dala.scene.clock import Clock
from dala.scene.description import Description, track_of
from dala.scene.editing import NodeRef, Nodes
from dala.scene.evaluate.composing import evaluate
from dala.scene.evaluate.playing import last_moment
from dala.scene.evaluate.resources import read_picture
from dala.scene.evaluate.streams import Streams
from dala.scene.frame import Frame
from dala.scene.layers import Composition
from dala.scene.nodes.kinds import read_color
from dala.scene.nodes.media import is_scene
from dala.scene.nodes.node import Node
from dala.scene.nodes.tables import LAYOUTS
from dala.scene.painting import Pixels, painting_for
from dala.scene.times import Time, exact
from dala.video.production import Report

LARGEST = 16_384


@dataclass(frozen=True, eq=False)
class _Painted:
    """The last picture, and for which description and times it holds."""

    version: int
    begin: Fraction
    until: Fraction | None
    composition: Composition
    pixels: Pixels

    def holds_for(self, version: int, time: Fraction) -> bool:
        if version != self.version or time < self.begin:
            return False
        return time == self.begin or self.until is None or time < self.until


class Scene(Adding, Animating, Closing):
    """A canvas and the nodes on it.

    >>> from dala import scene
    >>> with scene.Scene(640, 360, background="navy") as stage:
    ...     title = stage.add_text("Hello", position=(320, 180), anchor=(0.5, 0.5), font_size=64)
    ...     _ = stage.animate(title, "opacity", from_=0, to=1, duration_ms=500)
    ...     stage.render(0.5).to_array().shape
    (360, 640, 4)
    """

    def __init__(
        self,
        width: int,
        height: int,
        *,
        target_fps: float | Fraction = 60,
        background: Color = "transparent",
        device: str | None = None,
        clock: Clock | None = None,
    ) -> None:
        for name, value in (("width", width), ("height", height)):
            if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= LARGEST:
                raise ParameterError(f"Scene: {name} is 1 to {LARGEST} pixels, got {value!r}")
        self._device = device
        self._painter = painting_for(device, width, height, "Scene")
        self._nodes = Nodes(width, height, read_color(background, "Scene: background"))
        self._streams = Streams()
        self._clock = clock
        self._fps = _read_fps(target_fps)
        self._painting = forking.rlock()  # one frame at a time
        self._last: _Painted | None = None
        self._time = Fraction(0)
        self._times: deque[float] = deque(maxlen=120)
        self._rendered = self._skipped = 0
        self._images = 0
        self._closed = False

    # -- what it is --------------------------------------------------------------------------------

    @property
    def width(self) -> int:
        """Pixels in a row."""
        return self._nodes.width

    @property
    def height(self) -> int:
        """Rows of pixels."""
        return self._nodes.height

    @property
    def device(self) -> str | None:
        """What it is painted by: a name of ``dala.devices()``; None is the CPU."""
        return self._device

    @property
    def background(self) -> tuple[int, int, int, int]:
        """The colour behind everything: red, green, blue, alpha."""
        return self._nodes.background

    def set_background(self, color: Color) -> None:
        """Another colour behind everything."""
        self._check()
        self._nodes.set_background(read_color(color, "set_background"))

    @property
    def target_fps(self) -> Fraction:
        """Frames a second that it is made for."""
        return self._fps

    def set_target_fps(self, fps: float | Fraction) -> None:
        """Another number of frames a second."""
        self._fps = _read_fps(fps)

    @property
    def clock(self) -> Clock:
        """What ``render()`` without a time goes by."""
        if self._clock is None:
            with self._painting:
                if self._clock is None:
                    self._clock = Clock("real")
        return self._clock

    @property
    def now(self) -> Fraction:
        """Its time: the clock's while that runs, else the one that was rendered last."""
        if self._clock is not None and self._clock.is_running:
            return self._clock.now
        return self._time

    @property
    def duration(self) -> Fraction | None:
        """When the last thing in it is over: nodes that end, sources, animations. None: nothing ends."""
        description = self._nodes.describe()
        ends = [
            end for node in description.nodes.values() if (end := self._end_of(node)) is not None
        ]
        return max(ends, default=None)

    def _end_of(self, node: Node) -> Fraction | None:
        if node.type == "animation":
            return track_of(node).end
        if node.type == "transition":
            end: Fraction = node.at + node.duration_ms
            return end
        if node.type in ("video", "scene"):
            media = node.props["stream" if node.type == "video" else "scene"]
            length = media.of.duration if is_scene(media) else self._streams.source(node).duration
            return last_moment(node.props, length)
        if node.type == "audio":
            return last_moment(node.props, None)
        if node.type == "subtitles":
            cues = self._streams.resources.cues(node.subtitles)
            return last_moment(node.props, Fraction(cues.end_us, 1_000_000))
        return node.props.get("end")

    def describe(self) -> Description:
        """All nodes as they are now, as a value that does not change."""
        return self._nodes.describe()

    @property
    def evaluated(self) -> tuple[Description, Streams]:
        """What a scene around this one needs of it."""
        return self._nodes.describe(), self._streams

    @property
    def streams(self) -> Streams:
        """Its open sources."""
        return self._streams

    def holds_nodes(self, nodes: object) -> bool:
        """Whether these are its nodes."""
        return nodes is self._nodes

    # -- nodes -------------------------------------------------------------------------------------

    def _add(self, type: str, props: dict[str, Any], who: str) -> int:
        self._check()
        parent = props.get("parent")
        if parent is not None and props.get("start") is None and self._is_live():
            group = self._nodes.find(parent, f"{who}: parent")
            if group.type in LAYOUTS and type != "effect":
                props = {**props, "start": self.now}  # the others make room from now on
        return self._nodes.add(type, props, who, self._streams)

    def add_read(self, type: str, props: dict[str, Any]) -> int:
        """A node whose values are canonical already: what a file's reader has."""
        self._check()
        return self._nodes.add(type, props, type, self._streams, is_read=True)

    def _is_live(self) -> bool:
        return self._clock is not None and self._clock.is_running

    def update_node(self, node: NodeRef, **props: Any) -> None:
        """Change properties of a node; all others stay."""
        self._check()
        self._nodes.change(node, props, "update_node", self._streams)

    def set_transform(self, node: NodeRef, **props: Any) -> None:
        """Change ``position``, ``size``, ``scale``, ``rotation``, ``anchor`` or ``opacity`` of a node."""
        allowed = ("position", "size", "scale", "rotation", "anchor", "opacity", "z_index")
        for name in props:
            if name not in allowed:
                raise ParameterError(
                    f"set_transform: expected {', '.join(allowed)}; got {name!r}: update_node changes it"
                )
        self._check()
        self._nodes.change(node, props, "set_transform", self._streams)

    def set_pip_transform(
        self,
        node: NodeRef,
        position: tuple[float, float] | None = None,
        size: tuple[float, float] | None = None,
    ) -> None:
        """Move or resize a picture in picture; what is not given stays.

        >>> import numpy as np
        >>> from dala import scene
        >>> stage = scene.Scene(1920, 1080)
        >>> pip = stage.add_video(np.zeros((90, 160, 3), np.uint8), pip=True)
        >>> stage.set_pip_transform(pip, size=(400, 300))
        >>> stage.node(pip).pip_position, stage.node(pip).pip_size
        ((1700.0, 20.0), (400.0, 300.0))
        """
        self._check()
        found = self._nodes.find(node, "set_pip_transform")
        if not found.props.get("pip", False):
            raise ParameterError(
                f"set_pip_transform: node {found.id} is no picture in picture; set_transform moves it"
            )
        changes = {"pip_position": position, "pip_size": size}
        given = {name: value for name, value in changes.items() if value is not None}
        self._nodes.change(found, given, "set_pip_transform", self._streams)

    def remove_node(self, node: NodeRef) -> None:
        """Take a node out, with its animations and effects, and what is in it if it is a group."""
        self._check()
        self._nodes.remove(node, "remove_node", self.now if self._is_live() else None)

    def node(self, node: NodeRef) -> Node:
        """A node by its number or name, as it is now."""
        return self._nodes.find(node, "node")

    def nodes(self, type: str | None = None) -> list[Node]:
        """All nodes in the order they were added, or those of a type."""
        found = self._nodes.describe().nodes.values()
        return [node for node in found if type is None or node.type == type]

    def _animations(self, ref: NodeRef | None, who: str) -> list[int]:
        wanted = None if ref is None else self._nodes.find(ref, who).id
        return [
            node.id
            for node in self.nodes("animation")
            if node.cancelled is None and wanted in (None, node.target)
        ]

    def load_image(self, picture: object) -> int:
        """Keep a picture; its number is what ``add_image`` takes as ``image_id``."""
        self._check()
        made = read_picture(picture)
        with self._nodes.lock:
            self._images += 1
            self._streams.resources.load(self._images, made)
            return self._images

    def remove_image(self, image_id: int) -> None:
        """Let a loaded picture go; no node may show it any more."""
        users = [n.id for n in self.nodes() if n.props.get("image") == image_id]
        if users:
            raise SceneError(
                f"remove_image: node {users[0]} shows image {image_id}; remove it first"
            )
        self._streams.resources.unload(image_id)

    # -- pictures ----------------------------------------------------------------------------------

    def evaluate(self, time: Time) -> Composition:
        """What is to be painted at a time: layers with their places, from the lowest to the topmost."""
        self._check()
        description = self._nodes.describe()
        return evaluate(description, exact(time), self._streams, 1 / self._fps).composition

    def render(self, time: Time | None = None) -> Frame:
        """The picture at a time, or now by its clock. The same time gives the same picture, in any order.

        >>> from dala import scene
        >>> stage = scene.Scene(4, 2, background="red")
        >>> stage.render(1.0).to_array()[0, 0].tolist()
        [255, 0, 0, 255]
        """
        if time is None:
            self.clock.start()
            moment = self.clock.now
        else:
            moment = exact(time)
        with self._painting:
            self._check()
            self._time = moment
            self._times.append(machine.perf_counter())
            pixels = self._paint(self._nodes.describe(), moment)
            return Frame(pixels, moment, int(moment * self._fps // 1))

    def _paint(self, description: Description, moment: Fraction) -> Pixels:
        last = self._last
        if last is not None and not self._painter.holds(last.pixels):
            last = None
        if last is not None and last.holds_for(description.version, moment):
            self._skipped += 1
            return last.pixels
        made = evaluate(description, moment, self._streams, 1 / self._fps)
        if last is not None and made.composition.key == last.composition.key:
            self._skipped += 1
            pixels = last.pixels
        else:
            self._rendered += 1
            before = None if last is None else (last.composition, last.pixels)
            pixels = self._painter.paint(made.composition, before)
        self._last = _Painted(description.version, moment, made.until, made.composition, pixels)
        return pixels

    def transcode(self, src: Any, dst: str | os.PathLike[str], **options: Any) -> Report:
        """Write a video as this scene shows it in its node ``input``: ``video.transcode(…, scene=self)``.

        Rate, length and sound are the video's own; ``options`` are those of ``scene.export``.
        """
        from dala.scene.out.transcoding import transcode_through

        self._check()
        return transcode_through(self, src, dst, **options)

    @property
    def frame_count(self) -> int:
        """Frames that were painted."""
        return self._rendered

    @property
    def skipped(self) -> int:
        """Frames that were asked for and looked like the one before."""
        return self._skipped

    @property
    def fps(self) -> float:
        """Frames a second of late, as they were asked for."""
        times = list(self._times)
        return (
            (len(times) - 1) / (times[-1] - times[0])
            if len(times) > 1 and times[-1] > times[0]
            else 0.0
        )

    # -- the end -----------------------------------------------------------------------------------

    def close(self) -> None:
        """Close its sources and free its pictures; frames that are held stay."""
        with self._painting:
            self._closed = True
            self._streams.close()
            self._last = None
            self._painter.close()
            if self._clock is not None:
                self._clock.close()

    destroy = close

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._closed

    def _check(self) -> None:
        if self._closed:
            raise SceneError("the scene is destroyed; make another one")

    def __repr__(self) -> str:
        count = len(self._nodes.describe().nodes)
        return f"<scene {self.width} × {self.height}, {count} nodes>"


def _read_fps(fps: object) -> Fraction:
    if isinstance(fps, bool) or not isinstance(fps, int | float | Fraction):
        raise ParameterError(f"target_fps: expected a number of frames a second, got {fps!r}")
    if not 0 < fps <= 1000:
        raise ParameterError(f"target_fps is above 0, up to 1000, got {fps!r}")
    return Fraction(repr(fps)) if isinstance(fps, float) else Fraction(fps)
