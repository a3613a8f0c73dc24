"""Lines: wrapped, aligned, justified, shortened; runs; carets and hits. In a font of known widths."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_fonts import plain_font

from dala import text
from dala.errors import ArgumentError, ColorError, ParameterError
from dala.text.font import Font

# at size 10: A, B, V are 6 wide, f 3, i 2, a space 3


@pytest.fixture(scope="module")
def font() -> Font:
    return Font.load(plain_font())


def words(made: text.Layout) -> list[str]:
    return [line.text for line in made.lines]


def test_lines_end_where_they_may(font: Font) -> None:
    made = text.layout("AA BB AA", font, 10, max_width=30)
    assert words(made) == ["AA BB ", "AA"]
    assert [line.width for line in made.lines] == pytest.approx([27, 12])
    assert [line.y for line in made.lines] == [0, 12] and made.height == 24
    assert made.width == pytest.approx(27)
    assert words(text.layout("AA BB AA", font, 10)) == ["AA BB AA"]


def test_a_long_word_is_cut(font: Font) -> None:
    assert words(text.layout("AAAAA B", font, 10, max_width=20)) == ["AAA", "AA ", "B"]
    assert words(text.layout("AAA", font, 10, max_width=0)) == ["A", "A", "A"]
    assert words(text.layout("A\u0301A\u0301", font, 10, max_width=1)) == ["A\u0301", "A\u0301"]


def test_hard_ends(font: Font) -> None:
    assert words(text.layout("A\nB\r\nV\u2028A\n", font, 10)) == ["A", "B", "V", "A", ""]
    assert words(text.layout("", font, 10)) == [""]
    assert text.layout("", font, 10).height == 12


@pytest.mark.parametrize(
    ("align", "begins"),
    [("start", 0), ("left", 0), ("end", 24), ("right", 24), ("center", 12), ("justify", 0)],
)
def test_alignment(font: Font, align: str, begins: float) -> None:
    made = text.layout("A", font, 10, max_width=30, align=align)  # type: ignore[arg-type]
    assert made.lines[0].x == pytest.approx(begins)
    assert made.glyphs[0].x == pytest.approx(begins)


def test_right_to_left_begins_at_the_right(font: Font) -> None:
    options = {"max_width": 30.0, "direction": "rtl"}
    assert text.layout("A", font, 10, **options).lines[0].x == pytest.approx(24)  # type: ignore[arg-type]
    assert text.layout("A", font, 10, align="end", **options).lines[0].x == 0  # type: ignore[arg-type]
    made = text.layout("א", direction="auto")
    assert made.lines[0].rtl and not text.layout("a").lines[0].rtl


def test_white_space_hangs_over_the_end(font: Font) -> None:
    made = text.layout("AA   ", font, 10, max_width=12, align="right")
    assert words(made) == ["AA   "] and made.lines[0].x == pytest.approx(0)
    rtl = text.layout("AA   ", font, 10, max_width=20, direction="rtl")
    assert [g.x for g in rtl.glyphs if g.id != 1] == pytest.approx([8, 14])


def test_justified_lines_fill_the_width(font: Font) -> None:
    made = text.layout("A A A A A", font, 10, max_width=28, align="justify")
    assert words(made) == ["A A A ", "A A"]
    assert made.lines[0].width == pytest.approx(28) and made.lines[1].width == pytest.approx(15)
    assert [g.x for g in made.glyphs if g.id == 2][:3] == pytest.approx([0, 11, 22])


def test_what_does_not_fit_is_left_out(font: Font) -> None:
    made = text.layout("AA BB AA BB", font, 10, max_width=30, max_lines=1, ellipsis="V")
    assert words(made) == ["AA BV"] and made.lines[0].width <= 30  # A and V are kerned, B and V not
    assert made.glyphs[-1].cluster == made.lines[0].stop == 4
    assert words(text.layout("A\nB\nV", font, 10, max_lines=2, ellipsis="i")) == ["A", "Bi"]
    assert words(text.layout("A\nB", font, 10, max_lines=2)) == ["A", "B"]
    assert words(text.layout("\n\n", font, 10, max_lines=1, ellipsis="i")) == ["i"]
    assert words(text.layout("AAAA", font, 10, max_width=1, max_lines=1, ellipsis="i")) == ["i"]
    assert words(text.layout("AA BB", font, 10, max_width=15, max_lines=1, ellipsis="")) == ["AA"]


def test_letters_are_spaced(font: Font) -> None:
    assert text.layout("AB", font, 10, letter_spacing=4).width == pytest.approx(20)
    assert text.layout("A\u0301B", font, 10, letter_spacing=4).width == pytest.approx(20)


def test_a_tab_is_four_spaces(font: Font) -> None:
    assert text.layout("A\tA", font, 10).width == pytest.approx(6 + 12 + 6)


def test_runs_have_styles_of_their_own(font: Font) -> None:
    made = text.layout(
        [("A", {}), ("B", {"color": "gold", "size": 20}), "A", ("", {"size": 99})], font, 10
    )
    assert made.text == "ABA" and made.width == pytest.approx(6 + 12 + 6)
    assert [run.color for run in made.runs] == [None, b"\xff\xd7\x00\xff", None]
    assert made.lines[0].height == 24
    assert len({glyph.y for glyph in made.glyphs}) == 1  # one base line
    bold = text.layout([("A", {"weight": 700}), ("A", {"font": Font.default()})], font, 10)
    assert bold.runs[0].font.weight == 700 and bold.runs[1].font is Font.default()


@pytest.mark.parametrize(
    ("runs", "error", "words"),
    [
        ([("A", {"colour": "red"})], ParameterError, "did you mean 'color'"),
        ([("A", {"color": "rde"})], ColorError, "did you mean 'red'"),
        ([("A",)], ArgumentError, r"a run is \(text, style\)"),
        ([7], ArgumentError, "a run is"),
        (7, ArgumentError, "expected text or a list"),
        ("A" * 70_000, ParameterError, "at most 65536 characters"),
    ],
)
def test_wrong_runs(font: Font, runs: object, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        text.layout(runs, font)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "options",
    [
        {"size": 0}, {"size": 1e9}, {"size": float("nan")}, {"size": "big"}, {"max_width": -1},
        {"max_width": float("inf")}, {"max_lines": 0}, {"max_lines": 1.5}, {"align": "middle"},
        {"direction": "up"}, {"language": "???"}, {"line_height": 0}, {"letter_spacing": 1e9},
        {"ellipsis": "a\nb"}, {"ellipsis": 7}, {"font": []},
    ],
)  # fmt: skip
def test_wrong_options(options: dict[str, object]) -> None:
    with pytest.raises((ParameterError, ArgumentError)):
        text.layout("A", **options)  # type: ignore[arg-type]


def test_a_layout_is_made_once(font: Font) -> None:
    assert text.layout("AB", font, 10) is text.layout("AB", font, 10)
    assert text.layout("AB", font, 10) is not text.layout("AB", font, 11)


# -- carets ------------------------------------------------------------------------------------


def test_carets_stand_between_characters(font: Font) -> None:
    made = text.layout("AB V", font, 10)
    assert [made.caret(i).x for i in range(5)] == pytest.approx([0, 6, 12, 15, 21])
    assert made.caret(0).y == 0 and made.caret(0).height == 12
    assert [made.hit(x, 5) for x in (-5, 2, 4, 9.5, 100)] == [0, 0, 1, 2, 4]


def test_a_ligature_is_divided(font: Font) -> None:
    made = text.layout("fi", font, 10)
    assert len(made.glyphs) == 1
    assert [made.caret(i).x for i in range(3)] == pytest.approx([0, 2.5, 5])
    assert made.hit(2.4, 0) == 1


def test_carets_run_with_the_text() -> None:
    made = text.layout("אבג")
    places = [made.caret(i).x for i in range(4)]
    assert places == sorted(places, reverse=True) and places[3] == pytest.approx(0)
    assert made.hit(places[1] + 0.1, 0) == 1


def test_carets_of_lines(font: Font) -> None:
    made = text.layout("A B\nV", font, 10, max_width=8)
    assert [line.text for line in made.lines] == ["A ", "B", "V"]
    assert made.caret(2).y == 12 and made.caret(4).y == 24 and made.caret(5).x == pytest.approx(6)
    assert made.hit(0, 13) == 2 and made.hit(0, 1000) == 4 and made.hit(0, -5) == 0
    for wrong in (-1, 6, 1.5, True):
        with pytest.raises(ParameterError):
            made.caret(wrong)  # type: ignore[arg-type]
    assert text.layout("", font).caret(0).x == 0 and text.layout("", font).hit(5, 5) == 0


@given(
    st.text("AB fi\u0301אב1(,)\n\t\u202e\u2067\u2069", max_size=24),
    st.sampled_from([None, 0.0, 20.0, 45.0]),
)
def test_every_text_has_its_carets_and_all_of_its_characters(
    string: str, width: float | None
) -> None:
    made = text.layout(string, size=10, max_width=width)
    shown = sum(line.stop - line.start for line in made.lines)
    ends = sum(c in "\n" for c in string)
    assert shown == len(string) - ends
    for index in range(len(string) + 1):
        caret = made.caret(index)
        assert 0 <= made.hit(caret.x, caret.y + 1) <= len(string)
    for glyph in made.glyphs:
        assert 0 <= glyph.cluster < len(string)
