"""Bytes → commands: everything is checked before anything is made of it."""

from __future__ import annotations

from typing import Any, NamedTuple

from dala.errors import ArgumentError, ProtocolError
from dala.gpu.ink_fields import body_fields, fixed_reason
from dala.gpu.opcodes import FIXED, HEADS, INK, MAX_DEPTH, MAX_PIXELS, MAX_SIDE, SIZED, Op

_ERLANG_BINARY = b"\x83m"  # a term in Erlang's external format that is a binary; no UTF-8 begins so


class Command(NamedTuple):
    """One command: its opcode, and its fields as on the wire; those of a batch are commands.

    >>> from dala.gpu import command
    >>> command.decode(b"\\x05")[0].op.name
    'PRESENT'
    """

    op: Op
    fields: tuple[Any, ...]


def decode(data: bytes | bytearray | memoryview) -> list[Command]:
    """The commands in ``data``; raises ProtocolError if one is truncated, too large or unknown.

    >>> from dala.gpu import command
    >>> [c.op.name for c in command.decode(b"\\x01\\xff\\x00\\x00\\xff\\x05")]
    ['CLEAR', 'PRESENT']
    """
    reader = _Reader(as_bytes(data))
    commands = []
    while reader.at < len(reader.data):
        commands.append(reader.command(0))
    return commands


def decode_one(data: bytes, at: int) -> tuple[Command, int]:
    """The command at an offset, and where the next one is."""
    reader = _Reader(data)
    reader.at = at
    return reader.command(0), reader.at


def count_commands(data: bytes) -> int:
    """How many commands there are, batches being one each."""
    op = data[0] if data else 0
    fixed = FIXED.get(op)  # type: ignore[call-overload]
    if fixed is not None and fixed.size == len(data):
        return 1
    return len(decode(data))


def as_bytes(data: object) -> bytes:
    """Commands as immutable bytes."""
    if isinstance(data, bytes):
        return data
    if isinstance(data, bytearray | memoryview):
        return bytes(data)
    raise ArgumentError(f"commands are bytes, got {type(data).__name__}")


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0
        self.start = 0  # of the command that is being read
        self.op = 0

    def fail(self, reason: str) -> ProtocolError:
        return ProtocolError(reason, opcode=self.op, offset=self.start)

    def command(self, depth: int) -> Command:
        self.start = self.at
        self.op = self.data[self.at]
        try:
            op = Op(self.op)
        except ValueError:
            raise self.fail("no such opcode") from None
        if op in FIXED:
            _, *fields = FIXED[op].unpack(self.take(FIXED[op].size))
            self.check_fields(op, fields)
            return Command(op, tuple(fields))
        if op is Op.BATCH:
            return self.batch(depth)
        if op in SIZED:
            return self.sized(op)
        if op in HEADS:
            _, identity, w, h = HEADS[op].unpack(self.take(HEADS[op].size))
            self.check_size(w, h)
            return Command(op, (identity, w, h, self.take(w * h * 4)))
        self.take(1)
        first = self.text()
        if op is Op.LOAD_SHADER:
            return Command(op, (first, self.text()))
        data = self.block()
        if op is Op.SET_UNIFORM:
            return Command(op, (first, data))
        counts = [int.from_bytes(self.take(4), "little") for _ in range(3)]
        return Command(op, (first, data, tuple(counts)))

    def sized(self, op: Op) -> Command:
        self.take(1)
        try:
            return Command(op, body_fields(op, self.block()))
        except ValueError as error:
            if isinstance(error, ProtocolError):
                raise
            raise self.fail(str(error)) from None

    def batch(self, depth: int) -> Command:
        if depth == MAX_DEPTH:
            raise self.fail(f"batches are nested deeper than {MAX_DEPTH}")
        start = self.start
        _, count = HEADS[Op.BATCH].unpack(self.take(5))
        if count > len(self.data) - self.at:  # each has one byte at least
            raise self.fail(f"a batch of {count} commands in {len(self.data) - self.at} bytes")
        commands = []
        for number in range(count):
            if self.at >= len(self.data):
                self.start, self.op = start, Op.BATCH
                raise self.fail(f"a batch of {count} commands ends after {number}")
            commands.append(self.command(depth + 1))
        return Command(Op.BATCH, tuple(commands))

    def take(self, count: int) -> bytes:
        left = len(self.data) - self.at
        if count > left:
            raise self.fail(f"truncated: {count} more bytes expected, {left} are left")
        self.at += count
        return self.data[self.at - count : self.at]

    def block(self) -> bytes:
        return self.take(int.from_bytes(self.take(4), "little"))

    def text(self) -> str:
        """UTF-8, or the original's form of it: an Erlang term that is a binary."""
        raw = self.block()
        if raw.startswith(_ERLANG_BINARY) and len(raw) - 6 == int.from_bytes(raw[2:6], "big"):
            raw = raw[6:]
        try:
            return raw.decode()
        except UnicodeDecodeError as error:
            raise self.fail(f"text is not UTF-8: {error.reason}") from None

    def check_fields(self, op: Op, fields: list[Any]) -> None:
        if op is Op.RESIZE:
            self.check_size(*fields)
        elif op is Op.READ_PIXELS:
            self.check_size(*fields[2:])
        elif op is Op.SET_CLIP and fields[4] > 1:
            raise self.fail(f"enabled is 0 or 1, got {fields[4]}")
        elif op >= INK:
            reason = fixed_reason(op, fields)
            if reason:
                raise self.fail(reason)

    def check_size(self, w: int, h: int) -> None:
        if not (1 <= w <= MAX_SIDE and 1 <= h <= MAX_SIDE and w * h <= MAX_PIXELS):
            raise self.fail(
                f"{w} × {h} pixels; expected 1..{MAX_SIDE} each, {MAX_PIXELS} in all at most"
            )
