"""Passes that are worked at by several threads, however small they are and whatever the machine is."""

from __future__ import annotations

import pytest

from dala.backends.cpu.run import bands, cores, launch
from dala.gpu.raster import painter
from dala.gpu.tiles import gathered


def use_threads(patch: pytest.MonkeyPatch, count: int) -> None:
    """Passes that are made from now on, copies and drawings are cut into bands for so many threads."""
    for module in (launch, bands, painter, gathered):
        patch.setattr(module, "useful_helpers", lambda _work_ns: count - 1)
    patch.setattr(cores, "machine_threads", lambda: count)
    patch.setattr(painter, "LEAST_WORK", 1)
