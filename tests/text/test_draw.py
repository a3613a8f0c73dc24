"""Ink on pictures: exact compositing, every kind of picture, outlines, shadows, boxes, gradients."""

from __future__ import annotations

import threading

import numpy as np
import numpy.typing as npt
import pytest
from made_fonts import color_font, plain_font
from PIL import Image

from dala import compute, text
from dala.errors import ArgumentError, ColorError, DTypeError, ParameterError, ShapeError
from dala.text.blendcode import blend_function
from dala.text.font import Font
from dala.text.glyphs import GlyphCache, glyph_cache, glyph_tile, make_tile
from dala.text.outline import blur, dilate

Bytes = npt.NDArray[np.uint8]


@pytest.fixture(scope="module")
def font() -> Font:
    return Font.load(
        plain_font()
    )  # its A at size 100 is the box (10, 10) to (50, 80) of its line of 100


def over(below: Bytes, color: Bytes, alpha: Bytes) -> Bytes:
    """Straight alpha, in exact integers."""
    a, d = alpha.astype(np.int64)[..., None], below.astype(np.int64)
    mixed = (2 * (d * (255 - a) + color[..., : d.shape[2]] * a) + 255) // 510
    if d.shape[2] < 4:
        return mixed.astype(np.uint8)
    under, above = d[..., 3:] * (255 - a), a * 255
    total = np.maximum(under + above, 1)
    blended = (color[..., :3] * above + d[..., :3] * under + total // 2) // total
    opaque = d[..., 3:] == 255
    rgb = np.where(opaque, mixed[..., :3], np.where(above + under > 0, blended, d[..., :3]))
    return np.concatenate([rgb, (above + under + 127) // 255], 2).astype(np.uint8)


@pytest.mark.parametrize("channels", [1, 3, 4])
@pytest.mark.parametrize("kind", [0, 1])
def test_compositing_is_exact(channels: int, kind: int) -> None:
    """Against integers, at every width of a block, over every edge, opaque and not."""
    random = np.random.default_rng(7)
    for case in range(60):
        width, height = int(random.integers(1, 40)), int(random.integers(1, 6))
        picture = random.integers(0, 256, (12, 48, channels), np.uint8)
        if case % 3 == 0:
            picture[..., -1] = 255
        elif case % 3 == 1:
            picture[..., -1] = 0
        tile = random.integers(0, 256, (height, width, 4) if kind else (height, width), np.uint8)
        x, y = int(random.integers(-12, 44)), int(random.integers(-4, 11))
        color = random.integers(0, 256, 4)
        color[3] = 255 if case % 2 else color[3]
        wanted = picture.copy()
        x0, y0, x1, y1 = max(x, 0), max(y, 0), min(x + width, 48), min(y + height, 12)
        if x1 > x0 and y1 > y0:
            seen = tile[y0 - y : y1 - y, x0 - x : x1 - x]
            coverage = (seen[..., 3] if kind else seen).astype(np.int64)
            alpha = (2 * coverage * color[3] + 255) // 510
            shade = (
                seen.astype(np.int64)
                if kind
                else np.broadcast_to([*color[:3], 255], (*seen.shape, 4))
            )
            wanted[y0:y1, x0:x1] = over(picture[y0:y1, x0:x1], shade, alpha)
        packed = int.from_bytes(bytes(color.astype(np.uint8)), "little")
        row = (tile.ctypes.data, tile.strides[0], x - 2, y + 1, width, height, packed, kind)
        command = np.array([row], np.int64)
        blend_function(channels)(
            picture.ctypes.data, picture.strides[0], 48, 12, command.ctypes.data, 1, 2, -1
        )
        assert np.array_equal(picture, wanted), case


def test_a_box_stands_where_it_should(font: Font) -> None:
    frame = np.zeros((120, 80), np.uint8)
    text.paint(frame, text.layout("A", font, 100, line_height=1), (5, 7))
    assert (frame[17:87, 15:55] == 255).all() and frame.sum() == 70 * 40 * 255


def test_parts_of_pixels(font: Font) -> None:
    made = text.layout("A", font, 100, line_height=1)
    frame = np.zeros((120, 80), np.uint8)
    text.paint(frame, made, (0.25, 0.5))
    row, column = frame[50], frame[:, 30]
    assert row[10] == 191 and row[11] == 255 and row[50] == 64
    assert column[10] == 128 and column[80] == 128
    assert {(t.x, t.y) for t in text.rasterise(made, (0.25, 0.5))} == {(10, 10)}
    assert text.rasterise(made, (-3.75, 0))[0].x == 6


KINDS = {
    "grey": np.full((40, 90), 10, np.uint8),
    "grey, one channel": np.full((40, 90, 1), 10, np.uint8),
    "RGB": np.full((40, 90, 3), 10, np.uint8),
    "RGBA": np.full((40, 90, 4), 255, np.uint8),
    "16 bits": np.full((40, 90, 3), 1000, np.uint16),
    "float": np.full((40, 90, 4), 0.5, np.float32),
    "turned": np.full((90, 40, 3), 10, np.uint8).transpose(1, 0, 2),
    "every other": np.full((40, 180, 3), 10, np.uint8)[:, ::2],
    "upside down": np.full((40, 90, 3), 10, np.uint8)[::-1],
}


@pytest.mark.parametrize("kind", KINDS)
def test_arrays_of_every_kind(kind: str, font: Font) -> None:
    picture = KINDS[kind]
    before = picture.copy()
    drawn = text.draw(picture, "A", (0, 0), font=font, size=50, color="red")
    assert drawn.shape == picture.shape and drawn.dtype == picture.dtype
    assert np.array_equal(picture, before)
    white = {"u": np.iinfo(picture.dtype).max if picture.dtype.kind == "u" else 1, "f": 1}[
        picture.dtype.kind
    ]
    inside = np.atleast_1d(drawn[25, 15]).astype(float) / white
    wanted = [76 / 255] if inside.size == 1 else [1.0, 0.0, 0.0]
    assert inside[:3] == pytest.approx(wanted, abs=1e-6)
    assert np.array_equal(drawn[:, 40:], picture[:, 40:])
    copy = np.array(picture, order="K")
    assert text.draw(copy, "A", (0, 0), font=font, size=50, color="red", in_place=True) is copy
    assert np.array_equal(copy, drawn)


@pytest.mark.parametrize("mode", ["L", "RGB", "RGBA", "LA", "P", "1", "CMYK", "YCbCr"])
def test_pil_images(mode: str, font: Font) -> None:
    image = Image.new("RGB", (90, 40), (10, 10, 10)).convert(mode)
    image.info["note"] = "kept"
    drawn = text.draw(image, "A", (0, 0), font=font, size=50)
    assert drawn.mode == {"P": "RGB", "1": "L"}.get(mode, mode)
    assert drawn.size == image.size and drawn.info["note"] == "kept"
    assert min(drawn.convert("RGB").getpixel((15, 25))) >= 250
    assert image.convert("RGB").getpixel((15, 25))[0] < 20
    if mode in ("L", "RGB", "RGBA"):
        assert text.draw(image, "A", (0, 0), font=font, size=50, in_place=True) is image
        assert image.tobytes() == drawn.tobytes()


def test_buffers_stay_buffers(font: Font) -> None:
    buffer = compute.buffer_zeros((40, 90, 4), "u8")
    drawn = text.draw(buffer, "A", (0, 0), font=font, size=50)
    assert drawn.read()[25, 15].tolist() == [255] * 4 and not buffer.read().any()
    assert text.draw(buffer, "A", (0, 0), font=font, size=50, in_place=True) is buffer
    assert np.array_equal(buffer.read(), drawn.read())


def test_what_is_no_picture_is_said() -> None:
    for picture, error in (
        ("photo.jpg", ArgumentError), (np.zeros((4, 4, 2), np.uint8), ShapeError),
        (np.zeros((0, 4), np.uint8), ShapeError), (np.zeros((4, 4)), DTypeError), (b"1234", ArgumentError),
    ):  # fmt: skip
        with pytest.raises(error):
            text.draw(picture, "A", (0, 0))
    fixed = np.zeros((9, 9), np.uint8)
    fixed.setflags(write=False)
    with pytest.raises(ArgumentError, match="cannot be written"):
        text.draw(fixed, "A", (0, 0), in_place=True)
    picture = np.zeros((9, 9, 3), np.uint8)
    for place in ((float("nan"), 0), (1e9, 0), (1, 2, 3), "middle", 7, None):
        with pytest.raises((ArgumentError, ParameterError)):
            text.draw(picture, "A", place)  # type: ignore[arg-type]
    with pytest.raises(ColorError):
        text.draw(picture, "A", (0, 0), color="glod")
    with pytest.raises(ArgumentError, match=r"outline is a colour or text\.Outline"):
        text.draw(picture, "A", (0, 0), outline=text.Shadow())  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="takes no size"):
        text.draw(picture, text.layout("A"), (0, 0), size=3)
    for wrong in (lambda: text.Outline("red", -1), lambda: text.Gradient(["red"]),
                  lambda: text.Shadow("red", offset=(1, 2, 3)), lambda: text.Box("red", padding=1e9)):  # type: ignore[arg-type]  # fmt: skip
        with pytest.raises(ParameterError):
            wrong()


def test_far_away_is_nowhere() -> None:
    picture = np.zeros((20, 20, 3), np.uint8)
    for place in ((-500, 0), (500, 0), (0, -500), (0, 1e6), (-1e6, -1e6)):
        assert not text.draw(picture, "AB", place, shadow=True, background="red").any()


@pytest.mark.parametrize("place", ["top-left", "top", "top-right", "left", "center", "right", "bottom-left",
                                   "bottom", "bottom-right"])  # fmt: skip
def test_places(place: str, font: Font) -> None:
    picture = np.zeros((100, 200), np.uint8)
    drawn = text.draw(picture, "A", place, font=font, size=20)
    down, across = (np.flatnonzero(drawn.any(axis)) for axis in (1, 0))
    middle = np.array([across.mean(), down.mean()])
    rough = [0 if "left" in place else 2 if "right" in place else 1,
             0 if "top" in place else 2 if "bottom" in place else 1]  # fmt: skip
    assert np.array([0, 67, 134])[rough[0]] < middle[0] < np.array([66, 133, 200])[rough[0]]
    assert np.array([0, 33, 67])[rough[1]] < middle[1] < np.array([33, 66, 100])[rough[1]]


def test_a_long_text_at_a_place_is_wrapped() -> None:
    picture = np.zeros((200, 120), np.uint8)
    drawn = text.draw(picture, "many words that do not fit", "bottom", size=20)
    assert drawn.any() and not drawn[:, :3].any() and not drawn[:, -3:].any()


# -- outlines and the like ------------------------------------------------------------------------------


def test_dilation_is_the_largest_cone() -> None:
    random = np.random.default_rng(3)
    coverage = np.where(random.random((9, 11)) < 0.2, random.integers(1, 256, (9, 11)), 0).astype(
        np.uint8
    )
    for radius in (1.0, 2.5, 4.0):
        grown, margin = dilate(coverage, radius)
        padded = np.pad(coverage, margin) / 255.0
        ys, xs = np.nonzero(padded)
        y, x = np.mgrid[: padded.shape[0], : padded.shape[1]]
        reach = [
            padded[b, a] + radius - np.hypot(x - a, y - b) for b, a in zip(ys, xs, strict=True)
        ]
        wanted = np.rint(np.clip(np.max(reach, axis=0), 0, 1) * 255)
        assert np.abs(grown - wanted).max() <= 1


def test_an_outline_is_around_the_letter(font: Font) -> None:
    frame = np.zeros((120, 80, 3), np.uint8)
    made = text.layout("A", font, 100, line_height=1)
    text.paint(frame, made, (5, 5), color="red", outline=text.Outline("blue", 4))
    assert frame[50, 30].tolist() == [255, 0, 0]
    assert frame[50, 11:15].tolist() == [[0, 0, 255]] * 4 and not frame[50, 10].any()
    assert not frame[11, 11].any()  # the corner is round


def test_blur_keeps_the_ink() -> None:
    spot = np.zeros((21, 21), np.uint8)
    spot[8:13, 8:13] = 255
    soft, margin = blur(spot, 2.0)
    assert (
        soft.shape == (21 + 2 * margin,) * 2
        and abs(int(soft.sum()) - int(spot.sum())) < 0.03 * spot.sum()
    )
    assert np.array_equal(soft, soft[::-1]) and np.array_equal(soft, soft.T)
    assert blur(spot, 0)[0] is spot


def test_shadow_box_and_gradient(font: Font) -> None:
    made = text.layout("A", font, 100, line_height=1)
    frame = np.full((140, 120, 3), 255, np.uint8)
    text.paint(frame, made, (20, 20), color="red", shadow=text.Shadow("black", (8, 8), 0))
    assert frame[60, 40].tolist() == [255, 0, 0] and frame[105, 75].tolist() == [0, 0, 0]
    frame[:] = 0
    text.paint(
        frame, made, (20, 20), color="black", background=text.Box("blue", padding=5, radius=0)
    )
    assert frame[15:125, 15:85, 2].min() == 0 and frame[16, 16].tolist() == [0, 0, 255]
    assert not frame[14].any() and not frame[:, 14].any()
    frame[:] = 0
    text.paint(frame, made, (20, 20), color=text.Gradient(["red", "blue"]))
    assert frame[32, 40, 0] > 200 and frame[98, 40, 2] > 190 and 116 <= frame[65, 40, 0] <= 140
    assert np.array_equal(frame[65, 35], frame[65, 60])  # only downwards


def test_half_clear_outlines_meet_as_one(font: Font) -> None:
    frame = np.zeros((60, 120, 3), np.uint8)
    made = text.layout("AA", font, 40)
    text.paint(frame, made, (5, 0), color="white", outline=text.Outline((255, 0, 0, 128), 8))
    assert set(frame[28, 25:28, 0].tolist()) == {128}  # both outlines reach here


def test_a_run_s_own_colour_and_emoji_in_grey() -> None:
    boxes, colours = Font.load(plain_font()), Font.load(color_font())
    frame = np.zeros((60, 120, 3), np.uint8)
    text.paint(
        frame, text.layout([("A", {}), ("A", {"color": "red"})], boxes, 40), (0, 0), color="blue"
    )
    assert frame[30, 10].tolist() == [0, 0, 255] and frame[30, 34].tolist() == [255, 0, 0]
    grey = np.zeros((60, 120), np.uint8)
    text.paint(grey, text.layout("A", colours, 40), (0, 0))
    assert {29, 76} <= set(np.unique(grey).tolist())  # blue and red as light
    faint = text.draw(
        np.zeros((60, 60, 3), np.uint8), "A", (0, 0), font=colours, size=40, color=(0, 0, 0, 128)
    )
    assert faint.max() == 128


# -- the cache ---------------------------------------------------------------------------------------------


def test_the_cache_is_bounded_and_forgets_the_oldest() -> None:
    cache = GlyphCache(limit=10_000)
    tile = make_tile(np.zeros((40, 25), np.uint8), 0, 0)
    for number in range(100):
        cache.get((number,), lambda: tile)
        cache.get((0,), lambda: tile)  # in use
    assert cache.bytes <= 10_000 and len(cache) == 6 and cache.made == 100
    assert cache.get((1,), lambda: None) is None and cache.made == 101
    huge = make_tile(np.zeros((200, 200), np.uint8), 0, 0)
    assert cache.get(("huge",), lambda: huge) is huge and cache.bytes <= 10_000
    cache.clear()
    assert cache.bytes == len(cache) == 0


def test_a_glyph_is_drawn_once_for_each_quarter(font: Font) -> None:
    glyph = text.layout("B", font, 37.5).glyphs[0]
    first = glyph_tile(font, 37.5, glyph.id, (1, 2))
    assert first is glyph_tile(font, 37.5, glyph.id, (1, 2))
    assert first is not glyph_tile(font, 37.5, glyph.id, (2, 2)) and first is not None
    assert not first.pixels.flags.writeable
    assert glyph_tile(font, 37.5, 1) is None  # a space
    assert glyph_cache.bytes <= glyph_cache.limit


def test_threads_draw_the_same() -> None:
    """While glyphs are forgotten all the time."""
    wanted = text.draw(np.zeros((80, 300), np.uint8), "Threads 123", (3.3, 4), size=41)
    results: list[bool] = []
    start = threading.Barrier(4)

    def work(seed: int) -> None:
        start.wait(300)
        for number in range(30):
            if (number + seed) % 3 == 0:
                glyph_cache.clear()
            made = text.layout([("Threads 123", {})], size=41)
            drawn = np.zeros((80, 300), np.uint8)
            made.inks.clear()
            text.paint(drawn, made, (3.3, 4))
            results.append(np.array_equal(drawn, wanted))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
    assert results == [True] * 120
