"""The calls that move things, and let them stand: animate, keyframes, cancel, transition, pause, resume."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from dala.errors import ParameterError
from dala.language.kernel import Kernel
from dala.scene.animation.easing import Easing
from dala.scene.editing import NodeRef
from dala.scene.nodes.node import Node
from dala.scene.sources.timemap import paused, resumed
from dala.scene.times import Time, exact


class Animating(ABC):
    """Animations and transitions are nodes, too: each call gives a number."""

    @abstractmethod
    def _add(self, type: str, props: dict[str, Any], who: str) -> int:
        """Enter a node; ``who`` asks for it, for messages."""

    @abstractmethod
    def _animations(self, ref: NodeRef | None, who: str) -> list[int]:
        """Animations that were not stopped: those of a node, or all."""

    @abstractmethod
    def update_node(self, node: NodeRef, **props: Any) -> None:
        """Change properties of a node; all others stay."""

    @abstractmethod
    def node(self, node: NodeRef) -> Node:
        """A node as it is now."""

    @property
    @abstractmethod
    def now(self) -> Fraction:
        """Its time."""

    def animate(
        self,
        node: NodeRef,
        property: str,
        from_: object = None,
        to: object = None,
        duration_ms: float = 300,
        easing: str | Easing = "ease_in_out",
        delay_ms: float = 0,
        repeat: int | str = 1,
        alternate: bool = False,
        *,
        at: Time | None = None,
    ) -> int:
        """Move a property to a value, from the one it has or from ``from_``; the last value stays.

        It begins at ``at``, or at the time that was rendered last. ``position.x`` is one of the two
        numbers; of an effect also the filter's parameters move. Numbers, tuples and colours go over, all
        else switches at the half. ``repeat="forever"`` does not end.

        >>> from dala import scene
        >>> stage = scene.Scene(100, 10)
        >>> bar = stage.add_shape(size=(10, 10))
        >>> _ = stage.animate(bar, "position", to=(90, 0), duration_ms=1000, easing="linear")
        >>> stage.render(0.5).to_array()[0, 45:55, 0].tolist()
        [255, 255, 255, 255, 255, 255, 255, 255, 255, 255]
        """
        given = {
            "target": node, "property": property, "from_": from_, "to": to, "duration_ms": duration_ms,
            "easing": easing, "delay_ms": delay_ms, "repeat": repeat, "alternate": alternate,
            "at": self.now if at is None else at,
        }  # fmt: skip
        return self._add("animation", given, "animate")

    def keyframes(
        self,
        node: NodeRef,
        property: str,
        values: Mapping[Any, object],
        easing: str | Easing = "linear",
        *,
        repeat: int | str = 1,
        alternate: bool = False,
        at: Time | None = None,
    ) -> int:
        """Values of a property at times of the scene (or after ``at``); between two of them it goes over.

        >>> from dala import scene
        >>> stage = scene.Scene(100, 10)
        >>> bar = stage.add_shape(size=(10, 10))
        >>> _ = stage.keyframes(bar, "opacity", {0.0: 0, 0.5: 1, 3.0: 1, 3.5: 0})
        """
        given = {
            "target": node, "property": property, "keyframes": values, "easing": easing,
            "repeat": repeat, "alternate": alternate, "at": Fraction(0) if at is None else at,
        }  # fmt: skip
        return self._add("animation", given, "keyframes")

    def cancel(self, animation: NodeRef, *, at: Time | None = None) -> None:
        """Stop an animation: the property stays as it is then.

        >>> from dala import scene
        >>> stage = scene.Scene(100, 10)
        >>> moving = stage.animate(stage.add_shape(), "opacity", to=0, duration_ms=1000)
        >>> stage.cancel(moving, at=0.25)
        """
        moment = self.now if at is None else exact(at, "cancel")
        self.update_node(animation, cancelled=moment)

    def cancel_all(self, node: NodeRef | None = None, *, at: Time | None = None) -> None:
        """Stop all animations, or all of one node.

        >>> from dala import scene
        >>> stage = scene.Scene(100, 10)
        >>> stage.cancel_all()
        """
        moment = self.now if at is None else exact(at, "cancel_all")
        for number in self._animations(node, "cancel_all"):
            self.update_node(number, cancelled=moment)

    def pause(self, node: NodeRef, at: Time | None = None, *, until: Time | None = None) -> None:
        """Let a video, a scene, a sound or subtitles stand still from ``at`` (now) on: until then, or
        ``resume``.

        The picture stays, the sound is silent; both go on where they were, to the sample. It is the
        node's property ``pauses``, which counts from its start.

        >>> import numpy as np
        >>> from dala import scene
        >>> stage = scene.Scene(64, 36)
        >>> film = stage.add_video(lambda at: np.full((4, 4, 3), int(at * 10), np.uint8), start=1.0)
        >>> stage.pause(film, at=3.0, until=5.0)
        >>> [int(stage.render(at).to_array()[0, 0, 0]) for at in (2.5, 3.0, 4.9, 5.5)]
        [15, 20, 20, 25]
        """
        found, begin = self._played(node, at, "pause")
        begin = max(begin, Fraction(0))
        end = None if until is None else exact(until, "pause: until") - (found.start or 0)
        if end is not None and end <= begin:
            raise ParameterError(
                f"pause: expected an end after its begin and after the node's start, got {until!r}"
            )
        self.update_node(found, pauses=paused(found.pauses, begin, end))

    def resume(self, node: NodeRef, at: Time | None = None) -> None:
        """Let what stands still at a time (now) run on from then, where it was.

        >>> import numpy as np
        >>> from dala import scene
        >>> stage = scene.Scene(64, 36)
        >>> film = stage.add_video(np.zeros((100, 4, 4, 3), np.uint8))
        >>> stage.pause(film, at=1.0)
        >>> stage.resume(film, at=4.0)
        >>> stage.node(film).pauses
        (Pause(at=Fraction(1, 1), length=Fraction(3, 1)),)
        """
        found, moment = self._played(node, at, "resume")
        left = resumed(found.pauses, moment)
        if left is None:
            when = float(moment + (found.start or 0))
            raise ParameterError(f"resume: node {found.id} does not stand still at {when:g} s")
        self.update_node(found, pauses=left)

    def _played(self, ref: NodeRef, at: Time | None, who: str) -> tuple[Node, Fraction]:
        """A node that has a source, and a time on its own clock."""
        found = self.node(ref)
        if "pauses" not in found.props:
            raise ParameterError(
                f"{who}: a node of type {found.type!r} plays nothing; cancel stops an animation"
            )
        moment = self.now if at is None else exact(at, f"{who}: at")
        return found, moment - (found.start or 0)

    def transition(
        self,
        a: NodeRef,
        b: NodeRef,
        kind: str | Kernel = "fade",
        duration_ms: float = 500,
        at: Time | None = None,
        *,
        easing: str | Easing = "linear",
        **params: object,
    ) -> int:
        """From one node to another: before ``at`` only ``a`` is seen, afterwards only ``b``.

        ``kind`` is one of FFmpeg's xfade names, or a kernel of two pictures with a parameter ``progress``.

        >>> from dala import scene
        >>> stage = scene.Scene(64, 36)
        >>> red, blue = (stage.add_shape(size=(64, 36), fill=color) for color in ("red", "blue"))
        >>> _ = stage.transition(red, blue, "fade", at=1.0)
        """
        given = {
            "a": a, "b": b, "kind": kind, "duration_ms": duration_ms, "easing": easing,
            "at": self.now if at is None else at, "params": params,
        }  # fmt: skip
        return self._add("transition", given, "transition")
