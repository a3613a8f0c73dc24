"""LLVM text → machine code, cached by content.

llvmlite is imported on first use, so that ``import dala`` stays light. Its calls release the GIL. It works
on a thread of its own (``_on_its_own_thread``), where no signal comes: a Ctrl-C that ends one of
llvmlite's own functions half-way makes it free things twice, or keep its lock for good.
"""

from __future__ import annotations

import ctypes
import hashlib
import math
import platform
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any, TypeVar

from dala import forking, leaving, locks
from dala.once import OnceByKey, once
from dala.threads import NoThread, call_with_stack

T = TypeVar("T")

CACHED_PASSES = 256  # compiled passes kept; the oldest unused one is freed beyond that
# Lines of text beyond which code is made quickly rather than well; the results are the same. The time
# LLVM takes to make it well grows with the square: 8,000 lines took 5 s, 62,000 took 218 (quickly: 16). The
# longest pass of the catalogue has 1,000.
LONG_TEXT = 5_000
SHUFFLED_TABLE = 66.0  # vector operations: 16 shuffles, and what they need, for a vector of pixels
STACK = 16 << 20  # bytes, for LLVM's recursions


@dataclass(frozen=True, slots=True)
class Host:
    """The machine the code is for."""

    name: str
    features: str
    vector_bytes: int
    fma: bool
    x86: bool = False
    permutes_bytes: bool = False  # any byte of two vectors in one instruction (AVX-512 VBMI)
    shuffles_bytes: bool = False  # any byte within 16 (SSSE3 and its wider forms)

    @property
    def least_table(self) -> float:
        """Vector operations from which a function of a byte is faster as a table (tables.py)."""
        return 0.0 if self.permutes_bytes else SHUFFLED_TABLE if self.shuffles_bytes else math.inf


@once
def detect_host() -> Host:
    """The CPU's name, features and the widest vectors worth using."""
    name, found = _on_its_own_thread(
        lambda binding: (binding.get_host_cpu_name(), dict(binding.get_host_cpu_features()))
    )
    features = ",".join(("+" if on else "-") + feature for feature, on in sorted(found.items()))
    if platform.machine().lower() in ("arm64", "aarch64"):
        return Host(name, features, 16, fma=True)
    wide = 64 if found.get("avx512f") and found.get("avx512bw") and found.get("avx512vl") else 0
    width = wide or (32 if found.get("avx2") else 16)
    tables = width == 64 and bool(found.get("avx512vbmi"))
    return Host(
        name, features, width, bool(found.get("fma")),
        x86=True, permutes_bytes=tables, shuffles_bytes=bool(found.get("ssse3")),
    )  # fmt: skip


class Module:
    """Machine code of LLVM text. Dropping the last reference frees it; its functions hold one.

    ``optimise`` runs LLVM's own passes first: for text that keeps its variables in memory. It is code for
    this machine, or for another ``host``.
    """

    def __init__(self, text: str, optimise: bool = False, host: Host | None = None) -> None:
        chosen = host or detect_host()
        self._addresses: dict[str, int] = {}
        _on_its_own_thread(lambda binding: self._compile(binding, chosen, text, optimise))

    def _compile(self, binding: Any, host: Host, text: str, optimise: bool) -> None:
        quickly = text.count("\n") > LONG_TEXT and not optimise
        machine = _machine(binding, host, optimised=not quickly)
        module = binding.parse_assembly(text)
        module.triple = machine.triple
        module.data_layout = str(machine.target_data)
        if optimise:
            _optimise(binding, module, machine)
        names = [f.name for f in module.functions if not f.is_declaration]
        # An engine that compiled it itself would keep LLVM's text and a machine: 20 times as much memory.
        # This one has nothing to compile.
        code = binding.ObjectFileRef.from_data(machine.emit_object(module))
        engine = binding.create_mcjit_compiler(
            binding.parse_assembly(""), _new_machine(binding, host, optimised=False)
        )
        engine.add_object_file(code)
        engine.finalize_object()
        self._addresses = {name: int(engine.get_function_address(name)) for name in names}
        # the callback is C: when the last reference is dropped, no Python runs that a signal could end
        _engines[weakref.ref(self, _dropped.put)] = engine

    def address(self, name: str) -> int:
        """Where a function of the module begins."""
        return self._addresses[name]

    def function(self, name: str, result: Any, *arguments: Any) -> Callable[..., Any]:
        """A function of the module for Python to call; the GIL is released while it runs.

        It holds the module: whoever calls a function has the function, and so the code that runs.
        """
        function = ctypes.CFUNCTYPE(result, *arguments)(self.address(name))
        function.module = self  # type: ignore[attr-defined]
        return function


def _optimise(binding: Any, module: Any, machine: Any) -> None:
    """Slots to registers, inlining, invariants out of loops; vectors are written by hand."""
    options = binding.create_pipeline_tuning_options(speed_level=2)
    options.inlining_threshold = 75  # more takes twice as long to compile, and runs no faster
    options.loop_vectorization = options.slp_vectorization = options.loop_unrolling = False
    builder = binding.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)


# LLVM's machines by name, features and whether the code is optimised; one makes large tables
_machines: dict[tuple[str, str, bool], Any] = {}


def _machine(binding: Any, host: Host, *, optimised: bool) -> Any:
    key = (host.name, host.features, optimised)
    if key not in _machines:
        _machines[key] = _new_machine(binding, host, optimised=optimised)
    return _machines[key]


def _new_machine(binding: Any, host: Host, *, optimised: bool) -> Any:
    target = binding.Target.from_default_triple()
    return target.create_target_machine(
        cpu=host.name, features=host.features,
        opt=int(optimised),
        reloc="default", codemodel="jitdefault",
    )  # fmt: skip


class Compiled:
    """Machine code of one pass."""

    def __init__(self, text: str, host: Host | None = None) -> None:
        self._module = Module(text, host=host)
        self.address = self._module.address("dala_pass")
        self.call = self._module.function("dala_pass", None, ctypes.c_void_p, ctypes.c_void_p)


class CodeCache:
    """Compiled passes by machine and hash of their text, least recently used ones dropped."""

    def __init__(self, limit: int = CACHED_PASSES) -> None:
        self._passes: OnceByKey[tuple[Host, bytes], Compiled] = OnceByKey(limit)

    @property
    def compiled(self) -> int:
        """How many were compiled, for tests and explain()."""
        return self._passes.made

    def get(self, text: str, host: Host) -> Compiled:
        """The machine code for ``text``, compiled at most once while it stays in the cache."""
        key = (host, hashlib.sha256(text.encode()).digest())
        return self._passes.get(key, lambda: Compiled(text, host))


# -- the thread of its own ---------------------------------------------------------------------------------

# LLVM's global context is not for several threads at once. Whoever forks holds the lock, so a child finds
# LLVM whole.
_compiling = locks.rlock()
forking.hold(lambda: [_compiling])
_engines: dict[weakref.ref[Module], Any] = {}  # the machine code of each module that is in use
_dropped: SimpleQueue[weakref.ref[Module]] = (
    SimpleQueue()
)  # modules whose machine code can be freed


def _free_dropped() -> None:
    while not _dropped.empty():
        del _engines[_dropped.get()]


def _on_its_own_thread(work: Callable[[Any], T]) -> T:
    """What ``work`` makes of llvmlite's bindings; it leaves no object of llvmlite's behind.

    The caller may be interrupted while it waits: then the work is done nevertheless, under the lock.
    """
    binding = _binding()

    def alone() -> T:
        with _compiling:
            _free_dropped()
            return work(binding)

    with leaving.native:
        return _call(alone)


@once
def _binding() -> Any:
    def load() -> Any:
        with _compiling:  # a fork in the middle of an import would leave it locked in the child
            import llvmlite.binding as binding

            binding.initialize_native_target()
            binding.initialize_native_asmprinter()
            # llvmlite's own: what is collected as garbage is freed under it alone
            forking.hold(lambda: [binding.ffi.lib._lock._lock])
            return binding

    with leaving.native:
        return _call(load)


def _call(work: Callable[[], T]) -> T:
    try:
        return call_with_stack(STACK, work)
    except NoThread:  # then here: that a Ctrl-C falls into it is less likely than that it is needed
        return work()


@leaving.at_leave
def _finish() -> None:
    """Nobody is cut off within LLVM: a caller who was interrupted has left its thread to itself."""
    with _compiling:
        pass
