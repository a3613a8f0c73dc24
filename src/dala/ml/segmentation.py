"""A class for every pixel; or for people, how much of a pixel is theirs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dala.backends.auto import open_device
from dala.compute.buffers import Buffer, array_type
from dala.compute.calls import run_kernel
from dala.compute.engine import engine_for
from dala.errors import ParameterError, ShapeError, suggest

Array = npt.NDArray[Any]


class Segmentation:
    """Classes of pixels. ``classes`` is an (H, W) array of numbers, ``names`` says what they mean.

    A network looks at a smaller picture than the caller's; ``size`` (width, height) is the caller's, to
    which everything is scaled when it is asked for. ``soft`` (0..1), where a network tells it, is how much
    of each pixel belongs to the last class.

    >>> import numpy as np
    >>> from dala import ml
    >>> found = ml.Segmentation(np.array([[0, 1], [1, 1]]), ("background", "person"))
    >>> found.mask("person").tolist(), found.share("person")
    ([[0, 255], [255, 255]], 0.75)
    """

    def __init__(
        self,
        classes: Array,
        names: Sequence[str],
        *,
        soft: Array | None = None,
        size: tuple[int, int] | None = None,
    ) -> None:
        if classes.ndim != 2 or classes.dtype.kind not in "iu":
            raise ShapeError(
                f"classes are whole numbers of (H, W), got {classes.shape} {classes.dtype}"
            )
        if soft is not None and soft.shape != classes.shape:
            raise ShapeError(f"soft must be as large as classes, {classes.shape}, got {soft.shape}")
        self.names = tuple(names)
        self.small_classes = classes
        self.soft = soft
        self.size = size or (classes.shape[1], classes.shape[0])
        same = self.size == (classes.shape[1], classes.shape[0])
        self._classes: Array | None = classes if same else None  # else scaled when asked for

    def __repr__(self) -> str:
        listed = ", ".join(f"{name} {self.share(name):.0%}" for name in self.present)
        return f"<dala segmentation {self.size[0]} × {self.size[1]}: {listed}>"

    @property
    def classes(self) -> Array:
        """The class of every pixel of the picture, (H, W)."""
        if self._classes is None:
            (width, height), (rows, columns) = self.size, self.small_classes.shape
            y = (2 * np.arange(height) + 1) * rows // (2 * height)
            x = (2 * np.arange(width) + 1) * columns // (2 * width)
            self._classes = self.small_classes[y][:, x]
        return self._classes

    @property
    def present(self) -> list[str]:
        """The classes that are there, the largest first."""
        counts = np.bincount(self.small_classes.reshape(-1), minlength=len(self.names))
        order = np.argsort(-counts, kind="stable")
        return [self.names[i] for i in order if counts[i] and i < len(self.names)]

    def share(self, name: str) -> float:
        """How much of the picture it is, 0..1."""
        return float(np.mean(self.small_classes == self._number(name)))

    def mask(self, name: str = "person") -> Array:
        """255 where it is and 0 elsewhere, as large as the picture; edges are soft where it was scaled."""
        return _scale(self.small_mask(name), self.size)

    def small_mask(self, name: str = "person") -> Array:
        """The same as small as the network made it."""
        number = self._number(name)
        if self.soft is not None and number in (0, len(self.names) - 1):
            share = self.soft if number else 1 - self.soft
            levels: Array = np.rint(np.clip(share, 0, 1) * 255).astype(np.uint8)
            return levels
        return np.where(self.small_classes == number, np.uint8(255), np.uint8(0))

    def to_arrays(self) -> dict[str, Array]:
        """``classes`` (H, W) and ``names``, by number."""
        return {"classes": self.classes, "names": np.array(self.names, np.str_)}

    def _number(self, name: str) -> int:
        try:
            return self.names.index(name)
        except ValueError:
            raise ParameterError(
                f"there is no class {name!r}{suggest(str(name), self.names)}; there are "
                f"{', '.join(self.names)}"
            ) from None


def _scale(mask: Array, size: tuple[int, int]) -> Array:
    """A mask in another size, by dala's own resize."""
    width, height = size
    if mask.shape == (height, width):
        return mask
    engine = engine_for(open_device("cpu"))
    types = array_type(mask.shape, "u8"), array_type((height, width), "u8")
    source, target = (Buffer(engine, t, engine.device.allocate(t)) for t in types)
    source.write(mask)
    run_kernel("resize", [source], target)
    return target.read()
