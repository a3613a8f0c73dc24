"""The calls that move things: animate, keyframes, cancel, transition."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from dala.language.kernel import Kernel
from dala.scene.animation.easing import Easing
from dala.scene.editing import NodeRef
from dala.scene.times import Time, exact


class Animating(ABC):
    """Animations and transitions are nodes, too: each call gives a number."""

    @abstractmethod
    def _add(self, type: str, props: dict[str, Any], who: str) -> int: ...

    @abstractmethod
    def _animations(self, ref: NodeRef | None, who: str) -> list[int]: ...

    @abstractmethod
    def update_node(self, node: NodeRef, **props: Any) -> None: ...

    @property
    @abstractmethod
    def now(self) -> Fraction: ...

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
