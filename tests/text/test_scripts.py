"""Glyphs and positions are HarfBuzz's own, in twelve scripts; what is joined is joined."""

from __future__ import annotations

import os

import pytest
import uharfbuzz as hb

from dala import text
from dala.text.fallback import find_fallback
from dala.text.font import Font

SAMPLES = {
    "Latn": "Hamburgefonstiv AVATAR office",
    "Grek": "Γειά σου Κόσμε",
    "Cyrl": "Здравствуй мир",
    "Arab": "السلام عليكم ورحمة",
    "Hebr": "שָׁלוֹם עולם",
    "Deva": "नमस्ते क्षत्रिय",
    "Beng": "ওহে বিশ্ব স্বাগতম",
    "Taml": "வணக்கம் உலகம்",
    "Thai": "สวัสดีชาวโลก ที่นี่",
    "Hang": "안녕하세요 세계",
    "Hani": "你好世界漢字",
    "Kana": "カタカナ",
}
FAMILY = "👨‍👩‍👧‍👦"


def font_for(sample: str, script: str, *, emoji: bool = False) -> Font:
    """A font of this machine, or a skip; where fonts must be there, a failure."""
    codes = tuple(sorted({ord(c) for c in sample if c not in " \u200d"}))
    found = find_fallback(codes, script, None, Font.default(), emoji=emoji)
    if found is None:
        if os.environ.get("DALA_REQUIRE_TEXT"):
            pytest.fail(f"no font for {script}: apt-get install fonts-noto-core and the like")
        pytest.skip(f"no font here for {script}")
    return found


@pytest.mark.parametrize("script", SAMPLES)
def test_glyphs_are_harfbuzz_s(script: str) -> None:
    sample, size = SAMPLES[script], 40.0
    font = font_for(sample, script)
    buffer = hb.Buffer()
    buffer.add_codepoints([ord(c) for c in sample])
    buffer.guess_segment_properties()
    buffer.language = "und"
    hb.shape(font.harfbuzz, buffer, {})
    made = text.layout(sample, font, size)
    assert {run.font for run in made.runs} == {font}
    assert [g.id for g in made.glyphs] == [i.codepoint for i in buffer.glyph_infos]
    assert [g.cluster for g in made.glyphs] == [i.cluster for i in buffer.glyph_infos]
    assert 0 not in [g.id for g in made.glyphs]
    place, scale, baseline = 0, size / font.upem, made.lines[0].baseline
    for glyph, position in zip(made.glyphs, buffer.glyph_positions, strict=True):
        dx, dy, advance, _ = position.position
        assert glyph.x == pytest.approx((place + dx) * scale, abs=1e-9)
        assert glyph.y == pytest.approx(baseline - dy * scale, abs=1e-9)
        place += advance
    assert made.width == pytest.approx(place * scale)


@pytest.mark.parametrize("script", ["Arab", "Deva", "Hang", "Hani", "Kana", "Thai"])
def test_the_default_font_falls_back(script: str) -> None:
    font_for(SAMPLES[script], script)
    made = text.layout(SAMPLES[script])
    assert 0 not in [g.id for g in made.glyphs]
    assert all(run.font is not Font.default() for run in made.runs)


def test_han_beside_kana_are_of_one_font() -> None:
    font_for("世界のカナ", "Kana")
    assert len({run.font for run in text.layout("世界のカナ世").runs}) == 1


@pytest.mark.parametrize("cluster", [FAMILY, "🇩🇪", "👍🏽", "❤️", "1️⃣"])
def test_a_joined_emoji_is_one_glyph_in_colour(cluster: str) -> None:
    font_for("😀", "Zyyy", emoji=True)
    made = text.layout(cluster, size=50)
    (glyph,) = made.glyphs
    assert glyph.font.is_colored
    (tile,) = text.rasterise(made, color="red")
    pixels = tile.tile.pixels
    assert pixels.ndim == 3 and pixels[..., 3].max() == 255
    assert pixels[..., :3].reshape(-1, 3).std(axis=0).max() > 10  # not one colour


def test_the_text_form_of_an_emoji_is_ink() -> None:
    font_for("☺", "Zyyy")
    made = text.layout("☺\ufe0e")
    assert not made.glyphs[0].font.is_colored
