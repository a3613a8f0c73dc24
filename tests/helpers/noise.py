"""How far a right result may lie from the reference.

A device may round otherwise than the reference: contract a product and a sum, say. Most results hardly
change, but a kernel may choose by a comparison, or read where a rounded number points to. So the reference
runs a few times with every rounding disturbed at random; how much a result differs between these runs is
how much it may differ between devices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
from precision import EXCEPTIONS

from dala.backends.reference import interpret
from dala.ir.ops import OPS

ROUNDED = ("add", "sub", "mul", "div", "fma", "average", "sqrt", "exp", "log", "sin", "cos", "tanh")
ROUNDED += ("atan2", "pow")
STEPPED = ("floordiv", "mod")  # they round in the middle
RUNS = 8


@contextmanager
def disturbed(seed: int, levels: float = 0.0) -> Iterator[None]:
    """The reference rounds at random; u8 pixels are up to ``levels`` off before they are rounded."""
    rng = np.random.default_rng(seed)
    noisy = dict(OPS)

    def shake(value: np.ndarray, size: float) -> np.ndarray:
        value = np.asarray(value)
        if value.dtype.kind != "f":
            return value
        size = size if value.dtype == np.float32 else size * 1e-8
        with np.errstate(all="ignore"):
            moved = value * (1 + size * rng.uniform(-1, 1, value.shape))
            return moved.astype(value.dtype)

    def after(name: str) -> Callable[..., np.ndarray]:
        size = max(2.0**-21, 2 * OPS[name].tolerance, 2 * EXCEPTIONS.get(name, 0.0))
        return lambda *args: shake(OPS[name].numpy(*args), size)  # type: ignore[misc]

    def before(name: str) -> Callable[..., np.ndarray]:
        return lambda a, b: OPS[name].numpy(shake(a, 2.0**-20), b)  # type: ignore[misc]

    def level(v: np.ndarray) -> np.ndarray:
        off = rng.uniform(-levels, levels, np.shape(v)) / 255
        return OPS["level"].numpy(np.asarray(v + off, np.float32))  # type: ignore[misc]

    noisy |= {name: replace(OPS[name], numpy=after(name)) for name in ROUNDED}
    noisy |= {name: replace(OPS[name], numpy=before(name)) for name in STEPPED}
    noisy["level"] = replace(OPS["level"], numpy=level)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(interpret, "OPS", noisy)
        yield


def assert_within(
    got: np.ndarray, wanted: np.ndarray, noisy: list[np.ndarray], what: str, *, image: bool
) -> None:
    """The result is the wanted one, as nearly as the disturbed runs agree on it.

    Besides, bytes of an image may be a level off.
    """
    assert got.dtype == wanted.dtype and got.shape == wanted.shape, what
    with np.errstate(all="ignore"):
        off, spread = _distances(got, wanted, noisy)
        limit = 4 * spread + (1.0 if image and wanted.dtype == np.uint8 else 0.0)
        if wanted.dtype.kind == "f":
            limit = limit + 1e-6 + 1e-6 * np.abs(wanted)
        wrong = np.argwhere((off > 0) & ~(off <= limit))
    # the runs may all fall to one side of a jump, though rarely
    if len(wrong) > max(2, wanted.size // 500):
        first = tuple(wrong[0])
        raise AssertionError(
            f"{len(wrong)} of {wanted.size} values differ, first at {first}: "
            f"{got[first]!r} instead of {wanted[first]!r}\n{what}"
        )


def _distances(
    got: np.ndarray, wanted: np.ndarray, noisy: list[np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    base = wanted.astype(float)
    others = np.stack([n.astype(float) for n in noisy])
    spread = np.abs(others - base).max(axis=0)
    settled = (np.isfinite(others) == np.isfinite(base)).all(axis=0)
    spread = np.where(np.isfinite(base), spread, 0.0)
    spread = np.where(settled, spread, np.inf)
    off = np.abs(got.astype(float) - base)
    same = (got == wanted) | (np.isnan(got.astype(float)) & np.isnan(base))
    return np.where(same, 0.0, np.where(np.isnan(off), np.inf, off)), spread
