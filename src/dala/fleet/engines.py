"""Where tasks run, by name."""

from __future__ import annotations

from typing import get_args

from dala.errors import ParameterError
from dala.fleet.cluster import RayCluster
from dala.fleet.local import LocalPool
from dala.fleet.placement import Placement, Workers
from dala.fleet.running import Engine, EngineName


def find_engine(
    name: str, placement: Placement, address: str | None, device: str | None, workers: Workers
) -> Engine:
    """The engine of that name; a cluster has as many workers as it has room for, unless told."""
    if name not in get_args(EngineName):
        raise ParameterError(f"engine is one of {', '.join(get_args(EngineName))}, got {name!r}")
    if name == "ray":
        return RayCluster(placement, address, device, most=None if workers == "auto" else workers)
    if address is not None:
        raise ParameterError("address belongs to engine='ray'; the local pool has none")
    return LocalPool(placement)
