"""What one trace collects, and how much it may: kernels come from strangers, so each cost is bounded."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from dala.errors import KernelError
from dala.ir.graph import ArrayView, Domain, Node, Stage, accesses, code_length, walk

MAX_NODES = 30_000  # a kernel that unrolls past this is refused; blur at radius 100 needs 5,000
MAX_LENGTH = 60_000  # instructions of one kernel: so many take a CPU 15 s to compile
MAX_STAGES = 64  # intermediate images in one kernel


class Trace:
    """What one run of a kernel function collects: intermediate stages and a count of nodes."""

    def __init__(self, views: Sequence[ArrayView], domain: Domain = "image") -> None:
        self.views = views  # what the sources in memory are
        self.domain = domain
        self.stages: list[Stage] = []
        self.nodes = 0  # made while tracing
        self.compiled = 0  # in all stages: a shared expression counts in each
        self.length = 0  # of what is compiled, in instructions

    def add_stage(self, body: tuple[Node, ...], mip: int, margin: int = 0) -> int:
        """Add a stage's operations to what will be compiled; refuses past the limit. Its source number."""
        self.compiled += sum(1 for _ in walk(body))
        if self.compiled > MAX_NODES:
            raise _too_long()
        self.length += code_length(body)
        if self.length > MAX_LENGTH:
            raise KernelError(
                f"the kernel is about {self.length} instructions long, and at most {MAX_LENGTH} are "
                "compiled; use fewer functions such as sin and pow, or split it into several kernels"
            )
        for access in accesses(body):
            if not -2 <= mip - self._mip_of(access.source) <= 1:
                raise KernelError(
                    "an image is read by one of half, the same, twice or four times its size; put an "
                    "intermediate image of a size between them"
                )
        self.stages.append(Stage(body, mip=mip, margin=margin))
        return len(self.views) + len(self.stages) - 1

    def _mip_of(self, source: int) -> int:
        inside = source - len(self.views)
        return self.views[source].mip if inside < 0 else self.stages[inside].mip

    def __enter__(self) -> Trace:
        self._outer = getattr(_state, "trace", None)
        _state.trace = self
        return self

    def __exit__(self, *exc: object) -> None:
        _state.trace = self._outer


_state = threading.local()


def current_trace() -> Trace | None:
    """The trace under way on this thread, if any."""
    return getattr(_state, "trace", None)


def count_nodes(count: int = 1) -> None:
    """Count operations of the kernel being traced; refuses past the limit."""
    trace = current_trace()
    if trace is not None:
        trace.nodes += count
        if trace.nodes > MAX_NODES:
            raise _too_long()


def _too_long() -> KernelError:
    return KernelError(
        f"the kernel unrolls to more than {MAX_NODES} operations; "
        "shorten its loops or split it into several kernels"
    )
