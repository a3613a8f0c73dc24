"""dala: real-time GPU compute and media for Python.

    compute:  kernel function → IR → plan (fused passes) → code (LLVM | WGSL) → device

    language   what a kernel is written in
    ir         what a kernel becomes      plan       how stages are fused
    backends   where passes run           kernels    the catalogue
    compute    what a user holds          gpu        surfaces: drawing, windows
    text       fonts, layout, glyphs      media      filters on pictures, frames
    video      files, cameras, streams    ml         models from ONNX files
    scene      layers over time           fleet      jobs for many processes
    cli        the command ``dala`` (__main__.py: ``python -m dala``)

    for all of them:  errors.py, colors.py, once.py (made once), closing.py (held, and let go), threads.py,
                      forking.py, leaving.py, locks.py, png.py (pictures without a library), _version.py

    drawing:  call → command bytes → queue → render thread → spans of pixels → window or file

``import dala`` loads NumPy and nothing heavier; everything else is loaded on first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from dala import errors
from dala._version import __version__
from dala.errors import DalaError

if TYPE_CHECKING:
    from dala import compute, fleet, gpu, media, ml, scene, text, video
    from dala.compute.debug import debug_kernel
    from dala.compute.default import device, devices, use
    from dala.language.decorator import kernel
    from dala.language.parameter import Param, array_param, param, static

__all__ = [
    "DalaError", "Param", "__version__", "array_param", "compute", "debug_kernel", "device", "devices",
    "errors", "fleet", "gpu", "kernel", "media", "ml", "param", "scene", "static", "text", "use", "video",
]  # fmt: skip

_HOMES = {
    "debug_kernel": "dala.compute.debug",
    "device": "dala.compute.default",
    "devices": "dala.compute.default",
    "use": "dala.compute.default",
    "kernel": "dala.language.decorator",
    "Param": "dala.language.parameter",
    "array_param": "dala.language.parameter",
    "param": "dala.language.parameter",
    "static": "dala.language.parameter",
}


def __getattr__(name: str) -> object:
    if name in ("compute", "fleet", "gpu", "media", "ml", "scene", "text", "video"):
        return importlib.import_module(f"dala.{name}")
    if name in _HOMES:
        if name == "kernel":  # the catalogue's names must be known before a user's are entered
            importlib.import_module("dala.kernels")
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'dala' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
