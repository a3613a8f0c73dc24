"""The process's default device, and how to choose another."""

from __future__ import annotations

from dala.backends.auto import choose_auto, list_devices, open_device
from dala.backends.base import Device
from dala.backends.cpu.run.cores import want_threads, wanted_threads
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


def default_name() -> str:
    """The name of the default device, which is not opened for that."""
    found = _default
    return choose_auto()[0] if found is None else found.device.name


def default_engine() -> Engine:
    """Where buffers go and kernels run unless told otherwise. A GPU that was lost is opened again; buffers
    that were on it are gone."""
    global _default
    found = _default  # read once: another thread may leave a `with dala.use` meanwhile
    if found is None:
        found = _default = engine_for(open_device("auto"))
    elif found.device.lost:
        found = _default = engine_for(open_device(found.device.name))
    return found


class use:
    """Make a device the process's default; as a context manager, only for a while.

    ``threads`` is how many threads of the CPU may work at once, whatever the device is. If nobody has said
    so, they are as many as there are cores for this process (or DALA_THREADS).

    >>> import dala
    >>> with dala.use("reference"):
    ...     dala.compute.device_info()["backend"]
    'numpy'
    >>> with dala.use("cpu", threads=1):
    ...     dala.compute.device_info()["threads"]
    1
    """

    def __init__(self, spec: str, *, threads: int | None = None) -> None:
        global _default
        engine = engine_for(open_device(spec))
        self._threads_before = want_threads(threads) if threads is not None else wanted_threads()
        self.device = engine.device
        self._before = _default  # perhaps none yet, and then none is made
        _default = engine

    def __enter__(self) -> Device:
        return self.device

    def __exit__(self, *exc: object) -> None:
        global _default
        _default = self._before
        want_threads(self._threads_before)
