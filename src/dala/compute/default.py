"""The process's default device, and how to choose another."""

from __future__ import annotations

from dala.backends.auto import choose_auto, list_devices, open_device
from dala.backends.base import Device
from dala.compute.engine import Engine, engine_for

_default: Engine | None = None  # the process's own, once somebody needs or sets it


def device(spec: str = "auto") -> Device:
    """The device of that name: ``"auto"``, ``"cpu"``, ``"webgpu"``, ``"webgpu:1"`` … or ``"reference"``.

    >>> import dala
    >>> dala.device("cpu").backend
    'llvm'
    """
    return open_device(spec)


def devices() -> list[str]:
    """The names of the devices that can be used here, best first.

    >>> import dala
    >>> "cpu" in dala.devices()
    True
    """
    best = choose_auto()[0]
    return sorted(list_devices(), key=lambda s: s != best)


def default_engine() -> Engine:
    """Where buffers go and kernels run unless told otherwise."""
    global _default
    found = _default  # read once: another thread may leave a `with dala.use` meanwhile
    if found is None:
        found = _default = engine_for(open_device("auto"))
    return found


class use:
    """Make a device the process's default; as a context manager, only for a while.

    >>> import dala
    >>> with dala.use("reference"):
    ...     dala.compute.device_info()["backend"]
    'numpy'
    """

    def __init__(self, spec: str) -> None:
        global _default
        engine = engine_for(open_device(spec))
        self.device = engine.device
        self._before = _default  # perhaps none yet, and then none is made
        _default = engine

    def __enter__(self) -> Device:
        return self.device

    def __exit__(self, *exc: object) -> None:
        global _default
        _default = self._before
