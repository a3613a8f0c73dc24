"""Asking Vulkan for its GPUs where there is no XDG_RUNTIME_DIR, as in a container or a service.

Mesa's device selection layer then asks a Wayland compositor which GPU it uses, in every
vkEnumeratePhysicalDevices, and libwayland writes "error: XDG_RUNTIME_DIR is invalid or not set in the
environment" to stderr, which concerns nobody: there is no compositor. With a runtime directory that holds
no socket it finds out the same, and says nothing.

The variable is there for that call alone (a child that inherited it, podman say, would believe it) and is
set by os.putenv: os.environ, which other threads read, never shows it. What remains is that setenv and a
getenv of some native thread may meet, as with every change of os.environ. Rejected: NODEVICE_SELECT=1 (an
environment variable as well, and the order of the GPUs changes), a log handler for libwayland (a process
has one, the one before cannot be put back, and it would outlive Python), stderr elsewhere (hides errors).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from dala import forking

_NAME = "XDG_RUNTIME_DIR"
_EMPTY = "/dev/null"  # absolute, as libwayland wants it, and nobody can put a socket under it
_lock = forking.lock()


@contextmanager
def some_runtime_dir() -> Iterator[None]:
    """Within it, libraries find an XDG_RUNTIME_DIR: the user's, or one that is empty."""
    given = os.environ.get(_NAME)
    if not sys.platform.startswith("linux") or (given or "").startswith("/"):
        yield
        return
    with _lock:
        os.putenv(_NAME, _EMPTY)
        try:
            yield
        finally:
            if given is None:
                os.unsetenv(_NAME)
            else:
                os.putenv(_NAME, given)
