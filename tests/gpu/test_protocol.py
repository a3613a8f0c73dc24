"""The protocol: bytes as tabled in the seeds, decoded or refused with opcode and offset."""

from __future__ import annotations

import pickle
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from searching import examples

from dala.errors import ArgumentError, ColorError, ParameterError, ProtocolError, ShapeError
from dala.gpu import ConicGradient, LinearGradient, Path, Pattern, RadialGradient, command
from dala.gpu.check import check_commands
from dala.gpu.command import (
    Command,
    Op,
    decode,
    encode,
    encode_fill_path,
    encode_fill_polygon,
    encode_push_layer,
    encode_stroke_path,
)
from dala.gpu.opcodes import FIXED, INK, MAX_DEPTH, MAX_PIXELS, MAX_SIDE

RED = b"\xff\x00\x00\xff"


def u32(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}I", *values)


def i32(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}i", *values)


def u64(value: int) -> bytes:
    return struct.pack("<Q", value)


TABLE: list[tuple[bytes, bytes]] = [  # what the encoder gives, and the seed's table
    (command.encode_clear("red"), b"\x01" + RED),
    (command.encode_fill_rect(1, 2, 3, 4, "red"), b"\x02" + u32(1, 2, 3, 4) + RED),
    (command.encode_draw_line(-1, 2, 3, -4, "red"), b"\x03" + i32(-1, 2, 3, -4) + RED),
    (command.encode_blit(2**64 - 1, -1, 2), b"\x04" + u64(2**64 - 1) + i32(-1, 2)),
    (command.encode_present(), b"\x05"),
    (command.encode_resize(640, 480), b"\x06" + u32(640, 480)),
    (command.encode_load_sprite(9, bytes(8), 2, 1), b"\x07" + u64(9) + u32(2, 1) + bytes(8)),
    (command.encode_remove_sprite(9), b"\x08" + u64(9)),
    (
        command.encode_dispatch_compute("fn", b"xyz", (1, 2, 3)),
        b"\x09" + u32(2) + b"fn" + u32(3) + b"xyz" + u32(1, 2, 3),
    ),
    (command.encode_read_pixels(1, 2, 3, 4), b"\x0a" + u32(1, 2, 3, 4)),
    (command.encode_load_shader("é", "ab"), b"\x0b" + u32(2) + "é".encode() + u32(2) + b"ab"),
    (command.encode_set_uniform("a", b"1234"), b"\x0c" + u32(1) + b"a" + u32(4) + b"1234"),
    (command.encode_draw_circle(-1, 2, 3, "red"), b"\x0d" + i32(-1, 2) + u32(3) + RED),
    (command.encode_fill_circle(-1, 2, 3, "red"), b"\x0e" + i32(-1, 2) + u32(3) + RED),
    (
        command.encode_draw_triangle(1, 2, 3, 4, 5, -6, "red"),
        b"\x0f" + i32(1, 2, 3, 4, 5, -6) + RED,
    ),
    (
        command.encode_fill_triangle(1, 2, 3, 4, 5, -6, "red"),
        b"\x10" + i32(1, 2, 3, 4, 5, -6) + RED,
    ),
    (command.encode_draw_round_rect(1, 2, 3, 4, 5, "red"), b"\x11" + u32(1, 2, 3, 4, 5) + RED),
    (command.encode_fill_round_rect(1, 2, 3, 4, 5, "red"), b"\x12" + u32(1, 2, 3, 4, 5) + RED),
    (command.encode_set_clip(1, 2, 3, 4), b"\x13" + u32(1, 2, 3, 4) + b"\x01"),
    (command.encode_reset_clip(), b"\x14"),
    (command.encode_batch([b"\x05", b"\x14"]), b"\x15" + u32(2) + b"\x05\x14"),
    (command.encode_draw_image(7, -1, 2, 3, 4), b"\x16" + u64(7) + i32(-1, 2) + u32(3, 4)),
    (command.encode_load_image(7, bytes(4), 1, 1), b"\x17" + u64(7) + u32(1, 1) + bytes(4)),
    (command.encode_remove_image(7), b"\x18" + u64(7)),
]


@pytest.mark.parametrize(("encoded", "tabled"), TABLE, ids=[f"{t[0]:#04x}" for _, t in TABLE])
def test_bytes_are_the_tabled_ones(encoded: bytes, tabled: bytes) -> None:
    assert encoded == tabled
    (decoded,) = decode(encoded)
    assert decoded.op == tabled[0]
    assert encode(decoded) == tabled
    assert check_commands(tabled) is not None
    for length in range(1, len(tabled)):
        with pytest.raises(ProtocolError) as caught:
            decode(tabled[:length])
        assert 0 <= caught.value.offset < length
        with pytest.raises(ProtocolError):
            check_commands(tabled[:length])


def test_all_opcodes_are_here() -> None:
    seeds = [op for op in Op if op < INK]
    assert sorted(tabled[0] for _, tabled in TABLE) == list(range(1, 25)) == sorted(seeds)
    assert [op for op in Op if op >= INK] == list(range(0x40, 0x4D))


# -- commands of every kind, generated -------------------------------------------------------------

FIELDS = {
    "B": st.integers(0, 1),
    "i": st.integers(-(2**31), 2**31 - 1),
    "I": st.integers(0, 2**32 - 1),
    "f": st.floats(0, 2.0**20, width=32),
}


def fixed_fields(op: Op) -> st.SearchStrategy[tuple[Any, ...]]:
    if op is Op.RESIZE:
        return st.tuples(st.integers(1, 50), st.integers(1, 50))
    if op is Op.READ_PIXELS:
        return st.tuples(*[FIELDS["I"]] * 2, st.integers(1, 50), st.integers(1, 50))
    if op is Op.INK_VERSION:
        return st.tuples(st.integers(0, 1))
    fields: list[st.SearchStrategy[Any]] = []
    count = ""
    for letter in FIXED[op].format[2:]:
        if letter.isdigit():
            count += letter
        elif letter == "s":
            fields.append(st.binary(min_size=4, max_size=4))
            count = ""
        else:
            kind = st.integers(0, 2**64 - 1) if letter == "Q" else FIELDS[letter]
            fields += [kind] * int(count or 1)
            count = ""
    return st.tuples(*fields)


def load_fields(size: tuple[int, int]) -> st.SearchStrategy[tuple[Any, ...]]:
    count = size[0] * size[1] * 4
    pixels = st.binary(min_size=count, max_size=count)
    return st.tuples(st.integers(0, 2**64 - 1), st.just(size[0]), st.just(size[1]), pixels)


def made_path(points: list[tuple[float, float]], curved: bool) -> Path:
    path = Path().move_to(0, 0)
    for x, y in points:
        path = path.quad_to(y, x, x, y) if curved else path.line_to(x, y)
    return path.close() if curved else path


inked_paths = st.builds(
    made_path, st.lists(st.tuples(FIELDS["f"], FIELDS["f"]), max_size=4), st.booleans()
)
paints = st.sampled_from(
    [
        "red",
        LinearGradient(0, 0, 9, 0, ["red", (0, 0, 0, 9)]),
        RadialGradient(1, 2, 3, [(0.25, "red"), (0.5, "blue")], spread="reflect"),
        ConicGradient(1, 2, ["red"], 90),
        Pattern(3, "none", filter="nearest"),
    ]
)
sized = st.one_of(
    st.builds(encode_fill_path, inked_paths, paints, st.sampled_from(["nonzero", "evenodd"])),
    st.builds(
        encode_stroke_path, inked_paths, paints, FIELDS["f"], st.sampled_from(["miter", "bevel"]),
        st.sampled_from(["butt", "round"]), st.sampled_from([(), (1,), (1, 2, 3, 4)]),
    ),
    st.builds(encode_fill_polygon, st.just([[0, 1], [5, 1], [2, 3]]), st.just("red")),
    st.builds(encode_push_layer, st.floats(0, 1, width=32), st.sampled_from(["over", "erase"])),
    st.builds(encode_push_layer, st.just(1), st.just("add"), inked_paths),
).map(lambda data: decode(data)[0])  # fmt: skip
loads = st.tuples(st.integers(1, 4), st.integers(1, 4)).flatmap(load_fields)
text = st.text(max_size=5)
counts = st.tuples(*[FIELDS["I"]] * 3)
single = st.one_of(
    *[st.builds(Command, st.just(op), fixed_fields(op)) for op in FIXED],
    sized,
    st.builds(Command, st.sampled_from([Op.LOAD_SPRITE, Op.LOAD_IMAGE]), loads),
    st.builds(Command, st.just(Op.LOAD_SHADER), st.tuples(text, text)),
    st.builds(Command, st.just(Op.SET_UNIFORM), st.tuples(text, st.binary(max_size=9))),
    st.builds(
        Command, st.just(Op.DISPATCH_COMPUTE), st.tuples(text, st.binary(max_size=9), counts)
    ),
)
commands = st.recursive(
    single,
    lambda inner: st.builds(Command, st.just(Op.BATCH), st.lists(inner, max_size=4).map(tuple)),
    max_leaves=8,
)


@given(st.lists(commands, max_size=6))
def test_round_trip(made: list[Command]) -> None:
    data = b"".join(map(encode, made))
    assert decode(data) == made
    assert decode(bytearray(data)) == decode(memoryview(data)) == made
    found = check_commands(data)
    assert found.presents == data_presents(made)


def data_presents(made: list[Command]) -> int:
    return sum(
        data_presents(list(c.fields)) if c.op is Op.BATCH else c.op is Op.PRESENT for c in made
    )


@settings(max_examples=examples(500))
@given(st.lists(commands, min_size=1, max_size=4), st.data())
def test_damaged_bytes(made: list[Command], data: st.DataObject) -> None:
    """What the decoder takes, machine code takes, and the other way round."""
    raw = bytearray(b"".join(map(encode, made)))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(raw) - 1))
        raw[at] = data.draw(st.integers(0, 255))
    cut = bytes(raw[: data.draw(st.integers(0, len(raw)))])
    agree(cut)


@settings(max_examples=examples(500))
@given(st.binary(max_size=60))
def test_any_bytes(raw: bytes) -> None:
    agree(raw)


def agree(raw: bytes) -> None:
    wrong = refusal(raw)
    if wrong is None:
        check_commands(raw)
        return
    assert 0 <= wrong.offset < len(raw)
    assert raw[wrong.offset] == wrong.opcode
    with pytest.raises(ProtocolError):
        check_commands(raw)


def refusal(raw: bytes) -> ProtocolError | None:
    try:
        decode(raw)
    except ProtocolError as error:
        return error
    return None


# -- what is refused -------------------------------------------------------------------------------


def nested(depth: int) -> bytes:
    data = b"\x05"
    for _ in range(depth):
        data = b"\x15" + u32(1) + data
    return data


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\x00", "opcode 0x00 at offset 0: no such opcode"),
        (b"\x05\x19", "opcode 0x19 at offset 1: no such opcode"),
        (b"\x05\xff", "opcode 0xff at offset 1: no such opcode"),
        (b"\x05\x01\x00", "opcode 0x01 at offset 1: truncated: 5 more bytes expected, 2 are left"),
        (
            b"\x06" + u32(0, 5),
            f"opcode 0x06 at offset 0: 0 × 5 pixels; expected 1..{MAX_SIDE} each, "
            f"{MAX_PIXELS} in all at most",
        ),
        (b"\x07" + u64(1) + u32(2**32 - 1, 2**32 - 1), "4294967295 × 4294967295 pixels"),
        (b"\x07" + u64(1) + u32(MAX_SIDE, MAX_SIDE), "pixels"),
        (b"\x17" + u64(1) + u32(2, 2) + bytes(15), "16 more bytes expected, 15 are left"),
        (b"\x0a" + u32(0, 0, MAX_SIDE + 1, 1), "32769 × 1 pixels"),
        (b"\x13" + u32(0, 0, 1, 1) + b"\x02", "enabled is 0 or 1, got 2"),
        (b"\x15" + u32(2**32 - 1) + b"\x05", "a batch of 4294967295 commands in 1 bytes"),
        (b"\x15" + u32(2) + b"\x01\x01\x01\x01\x01", "a batch of 2 commands ends after 1"),
        (b"\x15" + u32(2) + b"\x05\x63", "opcode 0x63 at offset 6: no such opcode"),
        (b"\x0b" + u32(2) + b"\xff\xfe" + u32(0), "text is not UTF-8"),
        (b"\x0b" + u32(2**32 - 1) + b"a", "4294967295 more bytes expected"),
        (b"\x09" + u32(0) + u32(0) + u32(1, 1), "4 more bytes expected, 0 are left"),
        (nested(MAX_DEPTH + 1), f"batches are nested deeper than {MAX_DEPTH}"),
    ],
)
def test_refusals(data: bytes, message: str) -> None:
    with pytest.raises(ProtocolError) as caught:
        decode(data)
    assert message in str(caught.value)
    with pytest.raises(ProtocolError) as again:
        check_commands(data)
    assert str(again.value) == str(caught.value)


def test_nesting_up_to_the_limit() -> None:
    assert check_commands(nested(MAX_DEPTH)).presents == 1
    with pytest.raises(ProtocolError, match="nested deeper"):
        decode(nested(100_000))


def test_errors_can_be_sent_elsewhere() -> None:
    with pytest.raises(ProtocolError) as caught:
        decode(b"\x05\x63")
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (copy.opcode, copy.offset, str(copy)) == (0x63, 1, str(caught.value))


def test_texts_in_erlang_s_form() -> None:
    def wrapped(text: bytes) -> bytes:
        term = b"\x83m" + struct.pack(">I", len(text)) + text
        return u32(len(term)) + term

    data = b"\x0b" + wrapped(b"blur") + wrapped("fn é".encode())
    assert decode(data) == [Command(Op.LOAD_SHADER, ("blur", "fn é"))]
    assert check_commands(data).computes


def test_only_bytes_are_commands() -> None:
    with pytest.raises(ArgumentError, match="commands are bytes, got str"):
        decode("x")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: command.encode_fill_rect(0.5, 0, 1, 1, "red"),
            ArgumentError,
            "fill_rect: expected whole numbers, got 0.5",
        ),
        (
            lambda: command.encode_fill_rect(0, 0, -1, 1, "red"),
            ParameterError,
            "fill_rect: a number is out of range",
        ),
        (lambda: command.encode_fill_rect("0", 0, 1, 1, "red"), ArgumentError, "got '0'"),
        (lambda: command.encode_fill_rect(-1.5, 0, 3, 1, "red"), ArgumentError, "got -1.5"),
        # a negative size is refused wherever it begins
        (lambda: command.encode_fill_rect(-1, 0, -1, 1, "red"), ParameterError, "(-1, 0, -1, 1)"),
        (lambda: command.encode_set_clip(5, -1, 1, -1), ParameterError, "(5, -1, 1, -1)"),
        (lambda: command.encode_fill_rects([[-1, 0, -1, 1]], "red"), ParameterError, "got -1"),
        (
            lambda: command.encode_draw_line(0, 2**31, 1, 1, "red"),
            ParameterError,
            "draw_line: a number is out of range",
        ),
        (lambda: command.encode_fill_circle(0, 0, -1, "red"), ParameterError, "fill_circle"),
        (
            lambda: command.encode_fill_circle(0, 0, 1, "redd"),
            ColorError,
            "no colour is named 'redd'; did you mean 'red'?",
        ),
        (lambda: command.encode_resize(0, 5), ParameterError, "resize: 0 × 5 pixels"),
        (
            lambda: command.encode_load_sprite(1, bytes(5), 1, 1),
            ShapeError,
            "1 × 1 pixels need 4 bytes of RGBA, got 5",
        ),
        (
            lambda: command.encode_load_sprite(1, bytes(4)),
            ArgumentError,
            "bytes need a width and a height",
        ),
        (
            lambda: command.encode_dispatch_compute("", b"", (1, 2)),
            ParameterError,
            "three workgroup counts",
        ),
        (
            lambda: command.encode_set_uniform("a", 5),
            ArgumentError,
            "set_uniform: expected bytes or an array, got int",
        ),
        (
            lambda: command.encode_load_shader("a", b""),
            ArgumentError,
            "load_shader: expected a text, got bytes",
        ),
        (
            lambda: command.encode_fill_rects([[1, 2, 3]], "red"),
            ShapeError,
            "fill_rects: expected an array (N, 4), got (1, 3)",
        ),
        (
            lambda: command.encode_fill_rects([[1.5, 2, 3, 4]], "red"),
            ArgumentError,
            "round them first",
        ),
        (
            lambda: command.encode_draw_lines([[1, 2, 3, 2**31]], "red"),
            ParameterError,
            "got 2147483648",
        ),
        (
            lambda: command.encode_fill_circles([[1, 2, -3]], "red"),
            ParameterError,
            "numbers are 0..4294967295 here, got -3",
        ),
        (
            lambda: command.encode_fill_circles([[1, 2, 3]], np.zeros((2, 4), np.uint8)),
            ColorError,
            "expected one colour or 1",
        ),
        (lambda: command.encode_fill_circles([[1, 2, 3]], ["red"] * 2), ColorError, "got 2"),
        (lambda: command.encode_fill_circles([[1, 2, 3]], [0.5] * 3), ColorError, "got [0.5,"),
        (lambda: command.encode_fill_circles([[1, 2, 3], [4]], "red"), ShapeError, "(N, 3)"),
        (
            lambda: command.encode_fill_circles(np.array([[2**64 - 1, 2, 3]], np.uint64), "red"),
            ParameterError,
            "fill_circles: a number is out of range: 18446744073709551615",
        ),
        (lambda: command.encode_blits([1, 2], [[0, 0]]), ShapeError, "expected 1 whole ids"),
    ],
)
def test_wrong_arguments(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        call()
    assert message in str(caught.value)


# -- arrays ----------------------------------------------------------------------------------------

near = st.integers(-40, 60)
positive = st.integers(0, 60)
ROWS = {
    "fill_rect": (near, near, positive, positive),
    "draw_line": (near,) * 4,
    "draw_circle": (near, near, positive),
    "fill_circle": (near, near, positive),
    "draw_triangle": (near,) * 6,
    "fill_triangle": (near,) * 6,
    "draw_round_rect": (near, near, positive, positive, positive),
    "fill_round_rect": (near, near, positive, positive, positive),
}


@pytest.mark.parametrize("name", ROWS)
@given(data=st.data())
def test_arrays_are_what_single_calls_are(name: str, data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.tuples(*ROWS[name]), max_size=6))
    kind = data.draw(st.sampled_from([np.int32, np.int64, np.int16]))
    colors = np.random.default_rng(len(rows)).integers(0, 256, (len(rows), 4), dtype=np.uint8)
    one, many = getattr(command, f"encode_{name}"), getattr(command, f"encode_{name}s")
    table = np.array(rows, kind).reshape(len(rows), len(ROWS[name]))
    before = table.copy()
    assert many(table, colors) == b"".join(
        one(*r, tuple(c)) for r, c in zip(rows, colors.tolist(), strict=True)
    )
    assert many(rows, "tomato") == b"".join(one(*r, "tomato") for r in rows)
    assert (table == before).all()  # the caller's array is not clipped


def test_arrays_of_sprites() -> None:
    ids, places = np.array([1, 2**63, 3], np.uint64), np.array([[1, 2], [-3, 4], [5, -6]])
    single = [command.encode_blit(int(i), *p) for i, p in zip(ids, places.tolist(), strict=True)]
    assert command.encode_blits(ids, places) == b"".join(single)
    assert command.encode_blits([], []) == b""
    assert command.encode_blits(7, places) == b"".join(
        command.encode_blit(7, *p) for p in places.tolist()
    )


def test_data_may_be_an_array() -> None:
    numbers = np.arange(6, dtype=np.float32).reshape(2, 3)
    for array in (numbers, numbers.T):
        wanted = command.encode_set_uniform("a", array.tobytes())
        assert command.encode_set_uniform("a", array) == wanted
    assert command.encode_dispatch_compute("s", numbers) == command.encode_dispatch_compute(
        "s", numbers.tobytes()
    )


def test_batches_count_what_is_in_them() -> None:
    many = command.encode_fill_circles([[1, 2, 3]] * 5, "red")
    (batch,) = decode(command.encode_batch([many, command.encode_present()]))
    assert len(batch.fields) == 6
    with pytest.raises(ProtocolError):
        command.encode_batch([b"\x63"])
