"""Kernels by name: the built-in catalogue and what users registered."""

from __future__ import annotations

from dala import forking
from dala.errors import KernelError, KernelNotFoundError, suggest
from dala.language.kernel import Kernel

_builtin: dict[str, Kernel] = {}
_custom: dict[str, Kernel] = {}
_lock = forking.lock()


def add_builtin(kernel: Kernel) -> Kernel:
    """Enter a catalogue kernel; its name is taken for good."""
    assert kernel.name not in _builtin, kernel.name
    _builtin[kernel.name] = kernel
    return kernel


def builtin_kernels() -> list[Kernel]:
    """The catalogue, by name."""
    return [_builtin[name] for name in sorted(_builtin)]


def is_builtin(name: str) -> bool:
    """Whether the catalogue owns this name."""
    return name in _builtin


def add_custom(name: str, kernel: Kernel) -> None:
    """Enter or replace a user's kernel; names of the catalogue are refused."""
    if name in _builtin:
        raise KernelError(f"{name!r} is a built-in kernel; register yours under another name")
    with _lock:
        _custom[name] = kernel


def remove_custom(name: str) -> None:
    """Forget a user's kernel."""
    if not isinstance(name, str):
        raise KernelNotFoundError(f"a kernel is named by a string, got {type(name).__name__}")
    if name in _builtin:
        raise KernelError(f"{name!r} is a built-in kernel and cannot be unregistered")
    with _lock:
        if _custom.pop(name, None) is None:
            raise KernelNotFoundError(f"no kernel {name!r} is registered{suggest(name, _custom)}")


def find_kernel(name: object) -> Kernel:
    """The kernel of that name, or an error with the nearest names. A Kernel is its own name."""
    if type(name) is not str:  # most often it is
        if isinstance(name, Kernel):
            return name
        if not isinstance(name, str):
            raise KernelNotFoundError(f"a kernel is named by a string, got {type(name).__name__}")
    kernel = _custom.get(name) or _builtin.get(name)
    if kernel is None:
        hint = suggest(name, [*_builtin, *_custom])
        raise KernelNotFoundError(f"no kernel is named {name!r}{hint or '; see compute.kernels()'}")
    return kernel


def kernel_names() -> list[str]:
    """Every known name, sorted."""
    return sorted({*_builtin, *_custom})
