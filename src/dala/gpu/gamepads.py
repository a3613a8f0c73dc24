"""Gamepads whose buttons and axes GLFW knows, by SDL's mappings: under SDL's names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

SLOTS = 16  # that GLFW numbers
# in GLFW's order
BUTTONS = (
    "a", "b", "x", "y", "leftshoulder", "rightshoulder", "back", "start", "guide", "leftstick",
    "rightstick", "dpup", "dpright", "dpdown", "dpleft",
)  # fmt: skip
AXES = ("leftx", "lefty", "rightx", "righty", "lefttrigger", "righttrigger")
FIRST_TRIGGER = 4  # GLFW's triggers go from −1, like sticks
EVENTS = ("gamepad_connect", "gamepad_disconnect", "gamepad_down", "gamepad_up")


@dataclass(frozen=True, slots=True)
class Gamepad:
    """A gamepad at one moment: which buttons are down, and where its sticks (−1 to 1, right and down) and
    triggers (0 to 1) are, under SDL's names.

    >>> from dala import gpu
    >>> pad = gpu.Gamepad(0, "Pad", frozenset({"a", "dpleft"}), {"leftx": -0.5})
    >>> "a" in pad.buttons, pad.axes["leftx"]
    (True, -0.5)
    """

    number: int
    name: str
    buttons: frozenset[str]
    axes: Mapping[str, float]


class Gamepads:
    """Those that are connected, asked from GLFW (its module) by ``poll``."""

    def __init__(self, glfw: Any) -> None:
        self._glfw = glfw
        self._known: dict[int, tuple[str, Gamepad]] = {}  # with what tells one model from another

    @property
    def now(self) -> tuple[Gamepad, ...]:
        """As they were when they were polled last, by number."""
        return tuple(pad for _, pad in self._known.values())

    def poll(self) -> list[dict[str, Any]]:
        """Look at all; what has happened since, as events."""
        found = {number: seen for number in range(SLOTS) if (seen := self._look(number))}
        events: list[dict[str, Any]] = []
        for number, (model, pad) in self._known.items():
            if number not in found or found[number][0] != model:
                events.append(_event("gamepad_disconnect", pad))
        for number, (model, pad) in found.items():
            known = self._known.get(number)
            held: frozenset[str] = frozenset()
            if known is None or known[0] != model:
                events.append(_event("gamepad_connect", pad))
            else:
                held = known[1].buttons
            for button in BUTTONS:
                if (button in pad.buttons) != (button in held):
                    kind = "gamepad_down" if button in pad.buttons else "gamepad_up"
                    events.append(_event(kind, pad) | {"button": button})
        self._known = found
        return events

    def _look(self, number: int) -> tuple[str, Gamepad] | None:
        glfw = self._glfw
        if not glfw.joystick_present(number) or not glfw.joystick_is_gamepad(number):
            return None
        state = glfw.get_gamepad_state(number)
        if state is None:  # unplugged meanwhile
            return None
        name = _text(glfw.get_gamepad_name(number))
        buttons = frozenset(b for b, down in zip(BUTTONS, state.buttons, strict=True) if down)
        axes = dict(zip(AXES, map(float, state.axes), strict=True))
        for trigger in AXES[FIRST_TRIGGER:]:
            axes[trigger] = (axes[trigger] + 1) / 2
        model = name + _text(glfw.get_joystick_guid(number))
        return model, Gamepad(number, name, buttons, MappingProxyType(axes))


def _text(said: Any) -> str:
    return said.decode() if isinstance(said, bytes) else str(said or "")


def _event(kind: str, pad: Gamepad) -> dict[str, Any]:
    return {"event_type": kind, "gamepad": pad}
