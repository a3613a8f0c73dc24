"""Whatever bytes come: a ProtocolError or obedience; never a crash, never half of it.

``make fuzz`` tries other cases each time, and more of them; a failure names its seed.
"""

from __future__ import annotations

import random
import struct

import numpy as np
import pytest
from searching import examples, first_seed

from dala import gpu
from dala.errors import ProtocolError, UnsupportedError
from dala.gpu import Surface, command
from dala.gpu.opcodes import FIXED, INK, SIZED, Op

CASES = examples(10_000)
SEEDS = range(first_seed(), first_seed() + 10)
SIZE = (24, 18)


def random_command(rng: random.Random, depth: int = 0) -> bytes:
    """Mostly right, with numbers from all over."""
    op = rng.choice(list(Op))
    if op is Op.BATCH:
        inner = (
            [random_command(rng, depth + 1) for _ in range(rng.randrange(4))] if depth < 3 else []
        )
        return b"\x15" + struct.pack("<I", len(inner)) + b"".join(inner)
    if op in (Op.LOAD_SPRITE, Op.LOAD_IMAGE):
        w, h = rng.randrange(1, 9), rng.randrange(1, 9)
        return struct.pack("<BQ2I", op, rng.randrange(4), w, h) + rng.randbytes(w * h * 4)
    if op in (Op.RESIZE, Op.READ_PIXELS):  # small, or a case would take a second
        small = struct.pack("<2I", rng.randrange(1, 40), rng.randrange(1, 40))
        return bytes([op]) + (b"" if op is Op.RESIZE else random_numbers(rng, 8)) + small
    if op >= INK:
        return random_ink(rng, op)
    if op in FIXED:
        data = bytes([op]) + random_numbers(rng, FIXED[op].size - 1)
        if op is Op.SET_CLIP:
            return data[:-1] + bytes([rng.randrange(2)])
        if op in (Op.BLIT, Op.IMAGE_BLIT, Op.REMOVE_SPRITE, Op.REMOVE_IMAGE):
            return data[:1] + struct.pack("<Q", rng.randrange(4)) + data[9:]
        return data
    parts = [rng.randbytes(rng.randrange(5)) if rng.random() < 0.3 else b"ab" for _ in range(2)]
    data = bytes([op]) + b"".join(struct.pack("<I", len(p)) + p for p in parts)
    return data + rng.randbytes(12) if op is Op.DISPATCH_COMPUTE else data


def random_ink(rng: random.Random, op: Op) -> bytes:
    """Floats from all over, the rest mostly right."""
    if op in SIZED:
        return random_sized(rng, op)
    floats = FIXED[op].format.count("f") and int(FIXED[op].format[2])
    data = b"".join(random_float(rng) for _ in range(floats))
    data += random_numbers(rng, FIXED[op].size - 1 - len(data))
    if op in (Op.DRAW_SPRITE, Op.DRAW_PICTURE):
        data = (
            data[:32]
            + struct.pack("<Q4sB", rng.randrange(4), b"abcd", rng.randrange(4))
            + data[45:]
        )
    elif op is Op.STROKE_LINE:
        data = data[:16] + struct.pack("<fB", rng.random() * 9, rng.randrange(3)) + data[21:]
    elif op is Op.INK_VERSION:
        data = struct.pack("<I", rng.randrange(3))
    return bytes([op]) + data


def random_float(rng: random.Random) -> bytes:
    kind = rng.random()
    if kind < 0.8:
        return struct.pack("<f", rng.uniform(-20, 40))
    return struct.pack("<f", rng.choice([0.0, 1e38, -1e38, 1e-40, 1e9, 3e4]))


def random_sized(rng: random.Random, op: Op) -> bytes:
    path = gpu.Path().move_to(rng.uniform(-9, 30), rng.uniform(-9, 30))
    for _ in range(rng.randrange(5)):
        numbers = [rng.choice([rng.uniform(-20, 40), 1e30, -1e12]) for _ in range(6)]
        if rng.random() < 0.5:
            path.line_to(*numbers[:2])
        else:
            path.cubic_to(*numbers)
    paint = rng.choice(
        ["red", (1, 2, 3, 4), gpu.Pattern(rng.randrange(4)), gpu.ConicGradient(3, 4, ["red", "blue"]),
         gpu.RadialGradient(3, 4, 0, ["red", "blue"]), gpu.LinearGradient(0, 0, 0, 0, ["red", "blue"])]
    )  # fmt: skip
    if op is Op.FILL_PATH:
        return command.encode_fill_path(path, paint, rng.choice(["nonzero", "evenodd"]))
    if op is Op.STROKE_PATH:
        dash = rng.choice([(), (3, 2), (1e-30, 1e-30), (0, 5)])
        width, cap = rng.choice([0, 1, 3, 1e20]), rng.choice(["butt", "round", "square"])
        return command.encode_stroke_path(path, paint, width, "round", cap, dash)
    if op is Op.FILL_POLYGON:
        points = [[rng.uniform(-9, 30), rng.uniform(-9, 30)] for _ in range(rng.randrange(6))]
        return command.encode_fill_polygon(np.reshape(points, (-1, 2)), "gold")
    clip = path if rng.random() < 0.5 else None
    return command.encode_push_layer(rng.random(), rng.choice(["over", "erase", "screen"]), clip)


def random_numbers(rng: random.Random, size: int) -> bytes:
    data = b""
    while len(data) < size:
        kind = rng.random()
        if kind < 0.6:
            data += struct.pack("<i", rng.randrange(-30, 60))
        elif kind < 0.8:
            data += struct.pack(
                "<i", rng.choice([-(2**31), 2**31 - 1, -1, 0, 2**31 - 40, 40 - 2**31])
            )
        else:
            data += rng.randbytes(4)
    return data[:size]


def damage(rng: random.Random, data: bytes) -> bytes:
    raw = bytearray(data)
    for _ in range(rng.randrange(3)):
        if raw:
            raw[rng.randrange(len(raw))] = rng.randrange(256)
    return bytes(raw[: rng.randrange(len(raw) + 1)] if rng.random() < 0.3 else raw)


def huge(data: bytes) -> bool:
    """A damaged number may ask for a gigabyte, rightly; that would only be slow."""
    try:
        commands = command.decode(data)
    except ProtocolError:
        return False
    while commands:
        op, fields = commands.pop()
        if op is Op.BATCH:
            commands += fields
        elif op in (Op.RESIZE, Op.READ_PIXELS) and fields[-1] * fields[-2] > 1 << 16:
            return True
    return False


@pytest.mark.parametrize("seed", SEEDS)
def test_whatever_comes(seed: int) -> None:
    rng = random.Random(seed)
    with gpu.create_surface(*SIZE, device="cpu") as surface:
        surface._renderer._reporter.tell = lambda error: None  # type: ignore[method-assign]
        for number in range(CASES // len(SEEDS)):
            data = b"".join(random_command(rng) for _ in range(rng.randrange(1, 4)))
            if rng.random() < 0.5:
                data = damage(rng, data)
            if rng.random() < 0.1:
                data = rng.randbytes(rng.randrange(40))
            if not huge(data):
                submit_and_compare(surface, data, check=number % 8 == 0)
        still_draws(surface)


def submit_and_compare(surface: Surface, data: bytes, *, check: bool) -> None:
    before = snapshot(surface) if check else None
    try:
        receipt = surface.submit(data)
    except (ProtocolError, UnsupportedError):
        if before is not None:
            assert snapshot(surface) == before
        return
    receipt.await_done()
    single_batch = data[:1] == b"\x15" and len(command.decode(data)) == 1
    if before is not None and single_batch and receipt.errors:
        assert snapshot(surface) == before


def snapshot(surface: Surface) -> tuple[object, ...]:
    pixels = surface.read_pixels(0, 0, surface.width, surface.height).tobytes()
    canvas = surface._renderer.canvas
    known = [sorted(p._known) for p in (canvas.sprites, canvas.images)]
    return surface.width, surface.height, pixels, known, surface.get_pixels()


def still_draws(surface: Surface) -> None:
    surface.present().await_done()  # what is still pushed is popped
    surface.resize(*SIZE)
    surface.reset_clip()
    surface.clear("red")
    surface.fill_rect(2, 3, 4, 5, "blue")
    surface.present().wait()
    wanted = np.empty((SIZE[1], SIZE[0], 4), np.uint8)
    wanted[...] = (255, 0, 0, 255)
    wanted[3:8, 2:6] = (0, 0, 255, 255)
    assert (np.asarray(surface) == wanted).all()
