"""The CPU: ONNX Runtime, within dala's share of threads.

Its threads do not spin while they wait: beside a busy neighbour MobileNetV2 takes 7 ms then, and 15 with
spinning. It lets go of the interpreter while it runs.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Sequence
from typing import Any

import numpy.typing as npt

from dala import forking
from dala.backends.cpu.run.cores import thread_count
from dala.errors import DeviceError, ModelError
from dala.ir.arrays import ArrayType
from dala.ir.library import OwnBody
from dala.leaving import native
from dala.ml.onnx.graph import Model
from dala.ml.run.base import Runner
from dala.ml.run.stage import HostBody, Request, to_bytes

Array = npt.NDArray[Any]
QUIET = 3  # of ONNX Runtime's log: errors, which are raised as well


class OnnxRuntimeRunner(Runner):
    """A session of ONNX Runtime; another one once another number of threads is wanted, or after a fork."""

    def __init__(self, data: bytes, model: Model, name: str) -> None:
        self._data = data
        self._inputs = [spec.name for spec in model.graph.inputs]
        self._outputs = [spec.name for spec in model.graph.outputs]
        self._name = name
        self._lock = forking.lock()
        self._session: Any = None
        self._threads = 0  # of the session
        _runners.add(self)
        self._find_session()

    def run(self, inputs: Sequence[Array]) -> tuple[Array, ...]:
        return self._compute(inputs, self._outputs)

    def _compute(self, inputs: Sequence[Array], outputs: Sequence[str]) -> tuple[Array, ...]:
        session = self._find_session()
        given = dict(zip(self._inputs, inputs, strict=True))
        try:
            with native:
                return tuple(session.run(list(outputs), given))
        except Exception as error:  # its errors have no common base but this
            raise ModelError(f"{self._name}: ONNX Runtime refuses: {_reason(error)}") from error

    def stage(self, request: Request) -> tuple[OwnBody, ArrayType | None]:
        name = self._outputs[request.output]

        def work(inputs: Sequence[Array]) -> Array:
            given = [
                to_bytes(a) if floats else a
                for a, floats in zip(inputs, request.floats, strict=True)
            ]
            return self._compute(given, [name])[0]

        return HostBody(
            self._name, "cpu", request, work, lambda: self.explain(request.shapes)
        ), None

    def explain(self, shapes: Sequence[tuple[int, ...]]) -> str:
        import onnxruntime

        threads = f"{thread_count()} thread{'s' if thread_count() > 1 else ''}"
        return (
            f"{self._name} on cpu: ONNX Runtime {onnxruntime.__version__}, {threads}, no spinning\n"
            "    the whole graph in its own kernels: the fastest there are for a CPU"
        )

    def close(self) -> None:
        with self._lock:
            self._session = None

    def _find_session(self) -> Any:
        wanted = thread_count()
        with self._lock:
            if self._session is None or self._threads != wanted:
                self._session, self._threads = self._make_session(wanted), wanted
            return self._session

    def leave_behind(self) -> None:
        """In a forked process: to free a session is to wait for its threads, which are not here."""
        if self._session is not None:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._session))
            self._session = None

    def _make_session(self, threads: int) -> Any:
        ort = import_onnxruntime()
        options = ort.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = QUIET
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        try:
            with native:
                return ort.InferenceSession(
                    self._data, sess_options=options, providers=["CPUExecutionProvider"]
                )
        except Exception as error:  # its errors have no common base but this
            raise ModelError(f"{self._name}: ONNX Runtime refuses: {_reason(error)}") from error


_runners: weakref.WeakSet[OnnxRuntimeRunner] = weakref.WeakSet()


def _leave_sessions_behind() -> None:
    for runner in tuple(_runners):
        runner.leave_behind()


forking.in_child(_leave_sessions_behind)


def import_onnxruntime() -> Any:
    """ONNX Runtime, or how to get it."""
    try:
        import onnxruntime
    except ImportError as error:
        raise DeviceError(
            "models on the CPU need ONNX Runtime: pip install 'dala-gpu[ml]'; "
            "device='reference' and device='webgpu' do without"
        ) from error
    return onnxruntime


def _reason(error: Exception) -> str:
    return " ".join(str(error).split())[:400]
