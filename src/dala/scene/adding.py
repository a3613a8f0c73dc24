"""The calls that add nodes, one for each type: what is special about it by position, all else by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from dala.language.kernel import Kernel
from dala.scene.editing import NodeRef


class Adding(ABC):
    """Adds nodes; each call gives the number of the new one. The properties are those of the tables."""

    def add_node(self, type: str, **props: Any) -> int:
        """A node of any type, with any of its properties.

        >>> from dala import scene
        >>> stage = scene.Scene(640, 360)
        >>> stage.add_node("text", text="Hello", position=(20, 10))
        1
        """
        return self._add(type, props, f"add_node({type!r})")

    @abstractmethod
    def _add(self, type: str, props: dict[str, Any], who: str) -> int: ...

    def add_video(self, stream: object, **props: Any) -> int:
        """Moving pictures with their sound: a file, a camera, a screen, an address, an array, a scene.

        With ``pip=True`` a picture in picture: ``pip_size`` (200, 150) at ``pip_position``, by default in
        the right top corner with 20 pixels to both edges.

        >>> import numpy as np
        >>> from dala import scene
        >>> stage = scene.Scene(1920, 1080)
        >>> pip = stage.add_video(np.zeros((90, 160, 3), np.uint8), pip=True, z_index=100)
        >>> stage.node(pip).pip_position
        (1700.0, 20.0)
        """
        return self._add("video", {"stream": stream, **props}, "add_video")

    def add_image(self, image: object = None, **props: Any) -> int:
        """A picture: a path, an array, a PIL image, or the number that ``load_image`` gave (``image_id``).

        >>> import numpy as np
        >>> from dala import scene
        >>> stage = scene.Scene(640, 360)
        >>> logo = stage.add_image(np.zeros((8, 8, 4), np.uint8), position=(100, 100), size=(300, 200))
        """
        if "image_id" in props:
            image = props.pop("image_id")
        return self._add("image", {"image": image, **props}, "add_image")

    def add_overlay(self, image: object, **props: Any) -> int:
        """A picture in its own size, over what is there.

        >>> import numpy as np
        >>> from dala import scene
        >>> stage = scene.Scene(640, 360)
        >>> frame = stage.add_overlay(np.zeros((360, 640, 4), np.uint8), z_index=1000)
        """
        return self._add("overlay", {"image": image, **props}, "add_overlay")

    def add_text(self, text: object, **props: Any) -> int:
        """Text in any script, as it is; or runs of ``(text, {style})``.

        >>> from dala import scene
        >>> stage = scene.Scene(640, 360)
        >>> title = stage.add_text("Hello", position=(20, 10), font_size=48, shadow=True)
        """
        return self._add("text", {"text": text, **props}, "add_text")

    def add_shape(self, shape: str = "rect", **props: Any) -> int:
        """A rectangle, an ellipse, a line, a polygon (``points``) or a path (as SVG writes it).

        >>> from dala import scene
        >>> stage = scene.Scene(640, 360)
        >>> bar = stage.add_shape("rect", size=(640, 80), fill="#00000080", corner_radius=12)
        """
        return self._add("shape", {"shape": shape, **props}, "add_shape")

    def add_effect(
        self, filter: str | Kernel, *, input: NodeRef | None = None, **props: Any
    ) -> int:
        """A filter on a node or group (``input``), or on everything below it: a kernel, a look, a kernel's
        text. Its parameters are given by name.

        >>> from dala import scene
        >>> stage = scene.Scene(640, 360)
        >>> soft = stage.add_effect("blur", radius=5)
        >>> stage.animate(soft, "radius", to=0)
        2
        """
        table = ("name", "start", "end", "parent", "params", "opacity", "z_index", "visible")
        own = {name: value for name, value in props.items() if name in table}
        params = {**own.pop("params", {}), **{k: v for k, v in props.items() if k not in table}}
        given = {"filter": filter, "input": input, "params": params, **own}
        return self._add("effect", given, "add_effect")

    def add_animation(self, target: NodeRef, property: str, **props: Any) -> int:
        """A property that changes in time, as a node; ``animate`` and ``keyframes`` say it shorter.

        >>> from dala import scene
        >>> stage = scene.Scene(640, 360)
        >>> bar = stage.add_shape(size=(50, 50))
        >>> moving = stage.add_animation(bar, "position", to=(590, 0), duration_ms=1000)
        """
        return self._add(
            "animation", {"target": target, "property": property, **props}, "add_animation"
        )

    def add_group(self, **props: Any) -> int:
        """A group; nodes with ``parent=`` its number move, fade and are filtered with it.

        >>> from dala import scene
        >>> stage = scene.Scene(640, 360)
        >>> group = stage.add_group(opacity=0.5)
        >>> text = stage.add_text("in it", parent=group)
        """
        return self._add("group", props, "add_group")

    def add_row(self, **props: Any) -> int:
        """Members side by side; they move when one comes or goes.

        >>> from dala import scene
        >>> stage = scene.Scene(640, 360)
        >>> row = stage.add_row(gap=10, padding=10)
        >>> for color in ("red", "gold", "teal"):
        ...     _ = stage.add_shape(fill=color, parent=row)
        """
        return self._add("row", props, "add_row")

    def add_column(self, **props: Any) -> int:
        """Members one below the other.

        >>> from dala import scene
        >>> column = scene.Scene(640, 360).add_column(gap=10)
        """
        return self._add("column", props, "add_column")

    def add_grid(self, **props: Any) -> int:
        """Members in rows and columns.

        >>> from dala import scene
        >>> grid = scene.Scene(640, 360).add_grid(columns=3, gap=8)
        """
        return self._add("grid", props, "add_grid")

    def add_tiles(self, **props: Any) -> int:
        """Members of one proportion (``aspect``), as large as they can be.

        >>> from dala import scene
        >>> tiles = scene.Scene(640, 360).add_tiles(aspect=16 / 9, gap=8)
        """
        return self._add("tiles", props, "add_tiles")

    def add_scene(self, scene: object, **props: Any) -> int:
        """A scene in a scene, with its own time from ``start`` on.

        >>> from dala import scene
        >>> stage, inner = scene.Scene(640, 360), scene.Scene(320, 180, background="navy")
        >>> node = stage.add_scene(inner, position=(160, 90))
        """
        return self._add("scene", {"scene": scene, **props}, "add_scene")

    def add_audio(self, source: object, **props: Any) -> int:
        """Sound: a file, or samples.

        >>> import numpy as np
        >>> from dala import scene
        >>> stage = scene.Scene(640, 360)
        >>> beep = stage.add_audio(np.zeros((48_000, 2), np.float32), start=1.0, volume=0.5)
        """
        return self._add("audio", {"source": source, **props}, "add_audio")
