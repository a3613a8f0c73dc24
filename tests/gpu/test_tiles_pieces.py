"""Commands that several threads gather for a GPU: what is sent is the same, and so is what fails."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from several_threads import use_threads
from streams import InkWriter, Writer, apply_to, load_pictures, new_canvas

from dala.compute.default import device
from dala.gpu import Recorder, command
from dala.gpu.canvas import Outcome
from dala.gpu.shaders import ShaderSet
from dala.gpu.tiles import gathered
from dala.gpu.tiles.canvas import TileCanvas
from dala.gpu.tiles.layout import MOST_BINNED, MOST_STRETCHES, NEXT_STRETCH, PRIM_BYTES

pytestmark = pytest.mark.webgpu
WIDTH, HEIGHT = 700, 300
MANY = 6_000
Sent = list[bytes]
Make = Callable[[Recorder], None]


def tile_canvas(width: int = WIDTH, height: int = HEIGHT) -> TileCanvas:
    shaders = ShaderSet(device("webgpu"))  # type: ignore[arg-type]
    return load_pictures(TileCanvas(width, height, replace=False, shaders=shaders))


def gather(
    data: bytes,
    patch: pytest.MonkeyPatch,
    threads: int,
    size: tuple[int, int] = (WIDTH, HEIGHT),
) -> tuple[Sent, list[str], int]:
    """What would be painted: primitives, data and bins of each dispatch; errors; how many pieces."""
    sent: Sent = []
    with patch.context() as inner:
        use_threads(inner, threads)
        canvas = tile_canvas(*size)
        painter, memory = canvas.tiles, canvas.tiles._gathered
        place, send, gather_pieces = memory.place, painter._send, memory._gather_pieces
        pieces = 0

        def note(counts: Any, targets: Any) -> None:
            place(counts, targets)
            sent.extend(bytes(target) for target in targets[:2])

        def note_bins(bins: Any, *rest: Any) -> Any:
            arrays = send(bins, *rest)
            sent.append(bytes(bins))
            return arrays

        def count(state: int, data: int, found: int) -> None:
            nonlocal pieces
            pieces += found
            gather_pieces(state, data, found)

        inner.setattr(memory, "place", note)
        inner.setattr(painter, "_send", note_bins)
        inner.setattr(memory, "_gather_pieces", count)
        inner.setattr(painter, "_dispatch", lambda *_: None)
        outcome = Outcome()
        canvas.apply(data, outcome)
        canvas.flush()
        return sent, [str(error) for error in outcome.errors], pieces


def draw_plain(to: Recorder) -> None:
    writer = Writer(4)
    for name in ("fill_rect", "draw_triangle", "blit", "draw_image", "draw_line", "fill_circle"):
        data = b"".join(writer.draw(name) for _ in range(MANY // 6))
        to.commands.append(data)


def places(rng: np.random.Generator, many: int = MANY) -> np.ndarray:
    return rng.uniform((-30, -30), (WIDTH + 30, HEIGHT + 30), (many, 2))


def draw_turned(to: Recorder) -> None:
    rng = np.random.default_rng(2)
    to.draw_sprites(rng.integers(1, 4, MANY), places(rng), rotation=rng.uniform(0, 6, MANY))


def draw_edges(to: Recorder) -> None:
    rng = np.random.default_rng(3)
    at = places(rng, MANY // 2)
    to.fill_polygons(at[:, None] + rng.uniform(-40, 40, (MANY // 2, 9, 2)), (200, 90, 30, 100))
    to.stroke_lines(np.concatenate([at, at[::-1]], 1), (0, 90, 255, 80), 3, "round")


def draw_everything(to: Recorder) -> None:
    """Random commands, with whatever needs Python between them."""
    rng = random.Random(8)
    draw_turned(to)
    to.commands.append(Writer(1).stream(300))
    to.push_transform(scale=1.5, rotate=0.2)
    draw_edges(to)
    to.push_layer(0.5, "screen", "M5 5 L500 8 L300 238 Z")
    draw_plain(to)
    to.pop_layer()
    to.pop_transform()
    for seed in range(6):
        to.commands.append(InkWriter(seed).stream(20))
        to.fill_circles([(rng.randrange(700), 9, 30)] * 4_000, "gold")


JOBS: tuple[Make, ...] = (draw_plain, draw_turned, draw_edges, draw_everything)


@pytest.mark.parametrize("draw", JOBS)
def test_as_many_threads_as_one_likes_send_the_same(
    draw: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder = Recorder()
    recorder.clear("navy")
    draw(recorder)
    data = bytes(recorder)
    alone, failed, pieces = gather(data, monkeypatch, 1)
    assert pieces == 0
    for threads in (2, 5):
        sent, told, pieces = gather(data, monkeypatch, threads)
        assert pieces > 1
        assert sent == alone
        assert told == failed


def test_what_needs_python_in_a_piece_is_told_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures that are unknown, in many pieces: those behind are gathered again."""
    rects = [command.encode_fill_rect(i % 600, i % 200, 9, 9, (9, 9, 9, 99)) for i in range(20_000)]
    for number, at in enumerate((5_000, 11_000, 11_001, 19_999)):
        rects[at] = command.encode_blit(77 + number, 5, 5)
    alone, failed, _ = gather(b"".join(rects), monkeypatch, 1)
    sent, told, pieces = gather(b"".join(rects), monkeypatch, 4)
    assert pieces > 1
    assert told == failed
    assert len(told) == 4
    assert sent == alone


def test_the_same_commands_are_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch cannot be done any more without its picture; pieces are found again."""
    use_threads(monkeypatch, 3)
    recorder = Recorder()
    recorder.fill_circles([(i % 90, 9, 5) for i in range(MANY)], "gold")
    blit = command.encode_fill_rect(0, 0, 50, 50, (255, 0, 0, 90)) + command.encode_blit(2, 5, 5)
    data = bytes(recorder) + command.encode_batch([blit[:21], blit[21:]])
    canvases = (
        new_canvas(90, 40),
        tile_canvas(90, 40),
    )
    found = []
    gather_pieces = gathered.Gathered._gather_pieces
    monkeypatch.setattr(
        gathered.Gathered,
        "_gather_pieces",
        lambda *args: (found.append(args[3]), gather_pieces(*args)),
    )
    for canvas in canvases:
        canvas.apply(data, Outcome())
        canvas.sprites.remove(2)
    first, again = (apply_to(canvas, data) for canvas in canvases)
    assert first == again
    assert len(found) == 2


def test_a_command_that_finds_no_room_is_gathered_by_one_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Triangles of a rectangle for each row; large geometry; more data than there are blocks for."""
    monkeypatch.setattr(gathered, "WORD_BLOCKS", 4)
    rng, recorder = np.random.default_rng(5), Recorder()
    circles = np.concatenate([places(rng), np.full((MANY, 1), 5)], 1).astype(int)
    recorder.fill_circles(circles, "gold")
    recorder.fill_triangle(-(2**31), 5, 2**31 - 1, 9, 50, 2**31 - 1, "red")
    recorder.fill_polygon(places(rng, 9_000), "teal")
    recorder.fill_circles(circles[::-1], "gold")
    corners = places(rng)[:, None] + rng.uniform(-9, 9, (MANY, 24, 2))
    recorder.fill_polygons(corners, (5, 5, 90, 50))
    use_threads(monkeypatch, 4)
    data = bytes(recorder)
    assert apply_to(tile_canvas(), data) == apply_to(new_canvas(WIDTH, HEIGHT), data)


def zigzag(corners: int, left: int, right: int) -> bytes:
    """A polygon of so many corners."""
    points = np.empty((corners, 2), np.float32)
    points[:, 0] = np.linspace(left, right, corners)
    points[::2, 1], points[1::2, 1] = 10, 280
    recorder = Recorder()
    recorder.fill_polygon(points, (255, 0, 0, 64))
    return bytes(recorder)


@pytest.mark.parametrize("threads", [1, 4])
def test_data_of_what_is_clipped_away_leaves_room_for_others(
    threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is to be painted, and yet blocks were taken."""
    use_threads(monkeypatch, threads)
    monkeypatch.setattr(gathered, "WORD_BLOCKS", 8)
    tiles, plain = tile_canvas(), load_pictures(new_canvas(WIDTH, HEIGHT))
    shown = command.encode_fill_rect(0, 0, 5, 5, (255, 0, 0, 255))
    assert apply_to(tiles, shown) == apply_to(plain, shown)
    enlarge, tried = tiles.tiles.enlarge, []

    def count() -> None:
        tried.append(1)
        assert len(tried) < 9, "room is sought for ever"
        enlarge()

    monkeypatch.setattr(tiles.tiles, "enlarge", count)
    data = zigzag(55_000, -100, -10) + zigzag(70_000, 10, 600)
    assert apply_to(tiles, data) == apply_to(plain, data)
    assert tried


def test_pieces_together_are_not_too_much_for_one_dispatch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Rectangles that are in every bin: a part of them is painted before the rest is gathered."""
    size = (3840, 2160)
    rect = command.encode_fill_rect(0, 0, *size, (255, 0, 0, 64))
    alone, _, _ = gather(rect * 20_000, monkeypatch, 1, size)
    sent, _, pieces = gather(rect * 20_000, monkeypatch, 2, size)
    assert pieces > 4
    assert len(alone) > 3
    assert max(map(len, sent)) < 4 * MOST_BINNED + 16_384  # a list, its head and one rectangle
    assert sent == alone


def test_a_large_triangle_has_all_its_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where there are nearly as many places in bins as one dispatch may have."""
    size = (1920, 1080)
    rect = command.encode_fill_rect(0, 0, *size, (255, 0, 0, 64))
    triangle = command.encode_fill_triangle(0, 0, 40_000, 0, 0, 1080, (0, 255, 0, 255))
    for rects in (0, 31_060):
        sent, failed, _ = gather(rect * rects + triangle, monkeypatch, 1, size)
        prims = sum(map(len, sent[::3])) // PRIM_BYTES
        assert not failed
        assert prims == rects + 1080


def test_data_stays_whole_where_stretches_run_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last block is not begun, and what was gathered before is painted first."""
    use_threads(monkeypatch, 1)
    data = b"".join(zigzag(9_000, x, x + 90) for x in range(0, 600, 100))
    painted = apply_to(new_canvas(WIDTH, HEIGHT), data)
    for left in range(1, 5):
        tiles = tile_canvas()
        tiles.tiles._gathered._memory[NEXT_STRETCH // 8] = MOST_STRETCHES - left
        assert apply_to(tiles, data) == painted


def test_after_a_large_shape_threads_help_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The memory that it needed was given back."""
    use_threads(monkeypatch, 4)
    monkeypatch.setattr(gathered, "WORD_BLOCKS", 1)
    tiles, found = tile_canvas(), []
    memory = tiles.tiles._gathered
    gather_pieces, least = memory._gather_pieces, memory._words.size
    tiles.apply(zigzag(40_000, 10, 600), Outcome())
    assert memory._words.size > least
    tiles.flush()
    assert memory._words.size == least

    def note(state: int, data: int, count: int) -> None:
        found.append(count)
        gather_pieces(state, data, count)

    monkeypatch.setattr(memory, "_gather_pieces", note)
    tiles.apply(command.encode_fill_rect(5, 5, 9, 9, (9, 9, 9, 99)) * MANY, Outcome())
    assert found
