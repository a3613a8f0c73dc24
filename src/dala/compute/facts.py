"""What there is: the default device, its element types, the kernels."""

from __future__ import annotations

from dala._version import __version__
from dala.backends.auto import choose_auto
from dala.compute.default import default_engine, devices
from dala.language.kernel import Kernel
from dala.language.registry import find_kernel as _find_kernel
from dala.language.registry import kernel_names


def device_info() -> dict[str, object]:
    """The default device: name, whether it is a GPU, backend, version, and why it was chosen.

    >>> import dala
    >>> with dala.use("cpu"):
    ...     info = dala.compute.device_info()
    >>> info["device"], info["backend"], info["gpu"]
    ('cpu', 'llvm', False)
    """
    chosen = default_engine().device
    auto, reason = choose_auto()
    if chosen.name != auto:
        reason = f"dala.use({chosen.name!r}) asked for it"
    return {
        **chosen.describe(),
        "gpu": chosen.is_gpu,
        "backend": chosen.backend,
        "version": __version__,
        "device": chosen.name,
        "dtypes": supported_dtypes(),
        "reason": reason,
    }


def has_gpu() -> bool:
    """Whether the default device is a GPU.

    >>> from dala import compute
    >>> compute.has_gpu() in (True, False)
    True
    """
    return default_engine().device.is_gpu


def device_count() -> int:
    """How many devices can be used here.

    >>> from dala import compute
    >>> compute.device_count() >= 2
    True
    """
    return len(devices())


def version() -> str:
    """dala's version.

    >>> from dala import compute
    >>> compute.version().count(".")
    2
    """
    return __version__


def supported_dtypes() -> list[str]:
    """The element types of the default device.

    >>> from dala import compute
    >>> compute.supported_dtypes()
    ['f32', 'f64', 's32', 's64', 'u32', 'u16', 'u8']
    """
    return [d.name for d in default_engine().device.dtypes]


def find_kernel(name: str | Kernel) -> Kernel:
    """The kernel of that name, with its parameters and its text; suggests the nearest if there is none.

    >>> from dala import compute
    >>> [p.name for p in compute.find_kernel("blur").params]
    ['radius', 'sigma']
    """
    return _find_kernel(name)


def kernels() -> list[str]:
    """The names of all kernels, built-in and registered.

    >>> from dala import compute
    >>> "blur" in compute.kernels()
    True
    """
    return kernel_names()
