"""LLVM text → machine code, cached by content.

llvmlite is imported on first use, so that ``import dala`` stays light. Its calls release the GIL.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import platform
import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

CACHED_PASSES = 256  # compiled passes kept; the oldest unused one is freed beyond that
# Lines of text beyond which code is made quickly rather than well; the results are the same. The time
# LLVM takes to make it well grows with the square: 8,000 lines took 5 s, 62,000 took 218 (quickly: 16). The
# longest pass of the catalogue has 1,000.
LONG_TEXT = 5_000


@dataclass(frozen=True, slots=True)
class Host:
    """The machine the code is for."""

    name: str
    features: str
    vector_bytes: int
    fma: bool
    x86: bool = False
    permutes_bytes: bool = False  # any byte of two vectors in one instruction (AVX-512 VBMI)


@functools.cache
def detect_host() -> Host:
    """The CPU's name, features and the widest vectors worth using."""
    binding = _binding()
    name = binding.get_host_cpu_name()
    found: dict[str, bool] = dict(binding.get_host_cpu_features())
    features = ",".join(("+" if on else "-") + feature for feature, on in sorted(found.items()))
    if platform.machine().lower() in ("arm64", "aarch64"):
        return Host(name, features, 16, fma=True)
    wide = 64 if found.get("avx512f") and found.get("avx512bw") and found.get("avx512vl") else 0
    width = wide or (32 if found.get("avx2") else 16)
    tables = width == 64 and bool(found.get("avx512vbmi"))
    return Host(name, features, width, bool(found.get("fma")), x86=True, permutes_bytes=tables)


class Module:
    """Machine code of LLVM text. Dropping the last reference frees it.

    ``optimise`` runs LLVM's own passes first: for text that keeps its variables in memory.
    """

    def __init__(self, text: str, optimise: bool = False) -> None:
        binding = _binding()
        with _compiling:
            module = binding.parse_assembly(text)
            module.triple = _machine().triple
            module.data_layout = str(_machine().target_data)
            if optimise:
                _optimise(binding, module)
            quickly = text.count("\n") > LONG_TEXT and not optimise
            machine = _new_machine(optimised=not quickly)
            self._engine: Any = binding.create_mcjit_compiler(module, machine)
            self._engine.finalize_object()

    def address(self, name: str) -> int:
        """Where a function of the module begins."""
        with _compiling:
            return int(self._engine.get_function_address(name))


def _optimise(binding: Any, module: Any) -> None:
    """Slots to registers, inlining, invariants out of loops; vectors are written by hand."""
    options = binding.create_pipeline_tuning_options(speed_level=2)
    options.inlining_threshold = 75  # more takes twice as long to compile, and runs no faster
    options.loop_vectorization = options.slp_vectorization = options.loop_unrolling = False
    builder = binding.create_pass_builder(_new_machine(), options)
    builder.getModulePassManager().run(module, builder)


class Compiled:
    """Machine code of one pass."""

    def __init__(self, text: str) -> None:
        self._module = Module(text)
        # CFUNCTYPE releases the GIL for the whole native call
        prototype = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
        self.address = self._module.address("dala_pass")
        self.call = prototype(self.address)


class CodeCache:
    """Compiled passes by the hash of their text, least recently used ones dropped."""

    def __init__(self, limit: int = CACHED_PASSES) -> None:
        self.limit = limit
        self.compiled = 0  # how many were compiled, for tests and explain()
        self._passes: OrderedDict[bytes, Compiled] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, text: str) -> Compiled:
        """The machine code for ``text``, compiled at most once while it stays in the cache."""
        key = hashlib.sha256(text.encode()).digest()
        with self._lock:
            found = self._passes.get(key)
            if found is not None:
                self._passes.move_to_end(key)
                return found
        fresh = Compiled(text)
        with self._lock:
            self.compiled += 1
            kept = self._passes.setdefault(key, fresh)
            while len(self._passes) > self.limit:
                self._passes.popitem(last=False)
        return kept


_compiling = threading.Lock()  # LLVM's global context is not for several threads at once


@functools.cache
def _binding() -> Any:
    import llvmlite.binding as binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding


def _new_machine(*, optimised: bool = True) -> Any:
    host = detect_host()
    target = _binding().Target.from_default_triple()
    return target.create_target_machine(
        cpu=host.name, features=host.features,
        opt=int(optimised),
        reloc="default", codemodel="jitdefault",
    )  # fmt: skip


@functools.cache
def _machine() -> Any:
    return _new_machine()
