"""LLVM text → machine code, cached by content.

llvmlite is imported on first use, so that ``import dala`` stays light. Its calls release the GIL. Nobody
is inside LLVM while the process is forked, so a child finds it whole; and no thread is cut off in there
when the interpreter leaves.
"""

from __future__ import annotations

import ctypes
import hashlib
import platform
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dala import forking, leaving
from dala.once import OnceByKey, once

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


@once
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
    """Machine code of LLVM text. Dropping the last reference frees it; its functions hold one.

    ``optimise`` runs LLVM's own passes first: for text that keeps its variables in memory.
    """

    def __init__(self, text: str, optimise: bool = False) -> None:
        binding, machine = _binding(), _machine()
        with leaving.native, _compiling:
            module = binding.parse_assembly(text)
            module.triple = machine.triple
            module.data_layout = str(machine.target_data)
            if optimise:
                _optimise(binding, module)
            quickly = text.count("\n") > LONG_TEXT and not optimise
            machine = _new_machine(optimised=not quickly)
            self._engine: Any = binding.create_mcjit_compiler(module, machine)
            self._engine.finalize_object()

    def address(self, name: str) -> int:
        """Where a function of the module begins."""
        with leaving.native, _compiling:
            return int(self._engine.get_function_address(name))

    def function(self, name: str, result: Any, *arguments: Any) -> Callable[..., Any]:
        """A function of the module for Python to call; the GIL is released while it runs.

        It holds the module: whoever calls a function has the function, and so the code that runs.
        """
        function = ctypes.CFUNCTYPE(result, *arguments)(self.address(name))
        function.module = self  # type: ignore[attr-defined]
        return function


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
        self.address = self._module.address("dala_pass")
        self.call = self._module.function("dala_pass", None, ctypes.c_void_p, ctypes.c_void_p)


class CodeCache:
    """Compiled passes by the hash of their text, least recently used ones dropped."""

    def __init__(self, limit: int = CACHED_PASSES) -> None:
        self._passes: OnceByKey[bytes, Compiled] = OnceByKey(limit)

    @property
    def compiled(self) -> int:
        """How many were compiled, for tests and explain()."""
        return self._passes.made

    def get(self, text: str) -> Compiled:
        """The machine code for ``text``, compiled at most once while it stays in the cache."""
        key = hashlib.sha256(text.encode()).digest()
        return self._passes.get(key, lambda: Compiled(text))


_compiling = threading.RLock()  # LLVM's global context is not for several threads at once
forking.hold(_compiling)


@once
def _binding() -> Any:
    with _compiling:  # a fork in the middle of an import would leave it locked in the child
        import llvmlite.binding as binding

        binding.initialize_native_target()
        binding.initialize_native_asmprinter()
        # llvmlite's own: what is collected as garbage is freed under it alone
        forking.hold(binding.ffi.lib._lock)
        return binding


def _new_machine(*, optimised: bool = True) -> Any:
    host = detect_host()
    target = _binding().Target.from_default_triple()
    return target.create_target_machine(
        cpu=host.name, features=host.features,
        opt=int(optimised),
        reloc="default", codemodel="jitdefault",
    )  # fmt: skip


@once
def _machine() -> Any:
    return _new_machine()
