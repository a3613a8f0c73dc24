"""Where tasks run, by name."""

from __future__ import annotations

from typing import get_args

from dala.errors import ParameterError
from dala.fleet.cluster import RayCluster
from dala.fleet.local import LocalPool
from dala.fleet.placement import Placement
from dala.fleet.running import Engine, EngineName


def find_engine(name: str, placement: Placement, address: str | None, device: str | None) -> Engine:
    """The engine of that name."""
    if name not in get_args(EngineName):
        raise ParameterError(f"engine is one of {', '.join(get_args(EngineName))}, got {name!r}")
    if name == "ray":
        return RayCluster(placement, address, device)
    if address is not None:
        raise ParameterError("address belongs to engine='ray'; the local pool has none")
    return LocalPool(placement)
