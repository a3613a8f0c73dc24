"""Machines with other vectors than this one, for the CPU compiler."""

from __future__ import annotations

from dala.backends.cpu.llvm.jit import Host, detect_host


def machine_with(vector_bytes: int, x86: bool = True) -> Host:
    """This machine with shorter vectors, or without its own instructions.

    Vectors longer than its own are its own: LLVM splits plain operations, but it ends the process when
    it meets an instruction that the machine does not have.
    """
    real = detect_host()
    width = min(vector_bytes, real.vector_bytes)
    shuffles = x86 and real.shuffles_bytes
    return Host(
        real.name, real.features, width, real.fma, x86 and real.x86, shuffles_bytes=shuffles
    )
