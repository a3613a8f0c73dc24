"""Foreign bytes, checked whole by machine code before any of them is queued."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dala.errors import VerificationError
from dala.gpu.canvas import SIZES
from dala.gpu.decode import decode
from dala.gpu.opcodes import Op
from dala.gpu.raster import protocol
from dala.gpu.raster.code import code
from dala.gpu.raster.ink.code import checks_code

_TEXTS = 1 << Op.DISPATCH_COMPUTE | 1 << Op.LOAD_SHADER | 1 << Op.SET_UNIFORM


@dataclass(frozen=True, slots=True)
class Found:
    """What commands will do, as far as the caller has to know."""

    presents: int
    resizes: bool
    computes: bool  # whether shaders are involved


def check_commands(data: bytes) -> Found:
    """Raises ProtocolError unless every command is whole, known and within the limits."""
    report = np.zeros(protocol.REPORT_BYTES // 8, np.int64)
    address = int(np.frombuffer(data, np.uint8).ctypes.data) if data else 0
    sizes, noted = int(SIZES.ctypes.data), int(report.ctypes.data)
    end = code().check(address, 0, len(data), -1, 0, sizes, noted)
    if end == protocol.INK_UNKNOWN:
        report[:] = 0, 0, checks_code().address("check_ink")
        end = code().check(address, 0, len(data), -1, 0, sizes, noted)
    texts = bool(report[protocol.SEEN // 8] & _TEXTS)
    if end < 0 or texts:  # decoding says exactly what is wrong; texts are UTF-8 or not
        decode(data)
        if end < 0:
            raise VerificationError("the compiled check refuses what the decoder takes")
    resizes = bool(report[protocol.SEEN // 8] & 1 << Op.RESIZE)
    return Found(int(report[protocol.PRESENTS // 8]), resizes, texts)
