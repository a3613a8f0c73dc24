"""Subtitles: what files say becomes cues; hostile ones become nothing worse."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from dala.errors import ArgumentError, ParameterError, SubtitleError
from dala.scene.subtitles import (
    Cue,
    Cues,
    Run,
    active_cue,
    cues_in_range,
    parse_ass,
    parse_srt,
    parse_vtt,
    to_overlay,
)

SRT = """1
00:00:01,000 --> 00:00:02,500
Hello <i>slanted</i> <b>bold <u>both</u></b>

2
00:00:02,500 --> 00:00:04,000
<font color="#ff0000" face='Noto Sans'>red</font> 5 < 6 &amp; 7

3
01:00:00,001 --> 01:00:01,000 X1:100 X2:200 Y1:1 Y2:2
{\\an8}above
"""


def test_srt() -> None:
    first, second, third = cues = parse_srt(SRT)
    assert cues.problems == ()
    assert (first.start_us, first.end_us) == (1_000_000, 2_500_000)
    assert first.text == "Hello slanted bold both"
    looks = [(r.text, r.style.italic, r.style.bold, r.style.underline) for r in first.runs]
    assert looks == [
        ("Hello ", False, False, False),
        ("slanted", True, False, False),
        (" ", False, False, False),
        ("bold ", False, True, False),
        ("both", False, True, True),
    ]
    assert second.text == "red 5 < 6 & 7"
    assert (second.runs[0].style.color, second.runs[0].style.font) == (b"\xff\0\0\xff", "Noto Sans")
    assert third.start_us == 3_600_001_000
    assert (third.placement.line, third.placement.anchor) == (0, (0.5, 0.0))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    ("encoding", "mark"),
    [("utf-8", b""), ("utf-8-sig", b""), ("utf-16", b""), ("utf-16-le", b""), ("utf-16-be", b""),
     ("utf-32", b"")],
)  # fmt: skip
def test_encodings_and_line_ends(end: str, encoding: str, mark: bytes) -> None:
    text = SRT.replace("Hello", "Größe 字幕").replace("\n", end)
    assert parse_srt(text.encode(encoding))[0].text == "Größe 字幕 slanted bold both"


def test_an_old_windows_file_and_a_named_encoding() -> None:
    text = SRT.replace("Hello", "Größe “so”")
    assert parse_srt(text.encode("cp1252"))[0].text.startswith("Größe “so”")
    cyrillic = SRT.replace("Hello", "Привет").encode("cp1251")
    assert parse_srt(cyrillic, encoding="cp1251")[0].text.startswith("Привет")
    with pytest.raises(SubtitleError, match="no encoding is named 'klingon'"):
        parse_srt(cyrillic, encoding="klingon")


def test_a_file(tmp_path: Path) -> None:
    path = tmp_path / "film.srt"
    path.write_text(SRT, encoding="utf-8")
    assert parse_srt(path) == parse_srt(SRT)
    with pytest.raises(SubtitleError, match="No such file"):
        parse_srt(tmp_path / "missing.srt")


def test_sloppy_srt_is_read() -> None:
    text = "00:01.5 --> 00:02\nno number\n\nand an empty line\n2\n0:0:3,0 -> 0:0:4,25\nshort arrow"
    cues = parse_srt(text)
    assert [(c.start_us, c.end_us, c.text) for c in cues] == [
        (1_500_000, 2_000_000, "no number\n\nand an empty line"),
        (3_000_000, 4_250_000, "short arrow"),
    ]


def test_what_cannot_be_read_is_named_by_its_line() -> None:
    cues = parse_srt(SRT + "\n4\n00:00:09,000 --> 00:00:08,000\nbackwards\n\n5\n12 --> 13\nno\n")
    assert len(cues) == 3
    assert [p.split(":")[0] for p in cues.problems] == ["line 14", "line 18"]
    assert "it ends before it begins" in cues.problems[0]


@pytest.mark.parametrize("parse", [parse_srt, parse_ass])
def test_no_subtitles_at_all(parse: object) -> None:
    with pytest.raises(SubtitleError, match="expected"):
        parse("Once upon a time")  # type: ignore[operator]
    assert parse("") == ()  # type: ignore[operator]
    with pytest.raises(ArgumentError, match="got int"):
        parse(7)  # type: ignore[operator]


VTT = """WEBVTT - a film

STYLE
::cue { background-color: rgba(0, 0, 0, 0.5); color: yellow }
::cue(.loud) { font-weight: bold; font-size: 150% }
::cue(v[voice="Ann"]) { color: #0f0 }

REGION
id:low
width:40%
lines:3
regionanchor:0%,100%
viewportanchor:10%,90%

NOTE nobody reads this

intro
00:01.000 --> 00:04.000 position:10%,line-left align:left size:35% line:0
<v Ann>Hello <c.loud>you</c> &lt;there&gt;

00:04.000 --> 00:06.000 line:80%,end align:right
<00:04.500>ka<00:05.000>ra<00:09.000>oke

00:06.000 --> 00:07.000 region:low
down there

00:07.000 --> 00:08.000 vertical:rl line:-2 nonsense:7
<i>upright</b></i>
"""


def test_vtt_places() -> None:
    first, second, third, fourth = cues = parse_vtt(VTT)
    assert cues.problems == ()
    placement = first.placement
    assert (first.id, first.voice) == ("intro", "Ann")
    assert (placement.x, placement.anchor, placement.align) == (0.1, (0.0, 0.0), "left")
    assert (placement.width, placement.line, placement.y) == (0.35, 0, None)
    assert (second.placement.y, second.placement.anchor) == (0.8, (1.0, 1.0))
    assert (second.placement.x, second.placement.align) == (1.0, "right")
    assert third.placement.x == pytest.approx(0.3)
    assert third.placement.y == pytest.approx(0.9)
    assert third.placement.width == pytest.approx(0.4)
    assert (fourth.placement.vertical, fourth.placement.line) == ("rl", -2)


def test_vtt_styles_and_karaoke() -> None:
    first, second, _, fourth = parse_vtt(VTT)
    assert first.text == "Hello you <there>"
    hello, you, _ = first.runs
    assert hello.style.color == b"\0\xff\0\xff"  # of the voice, not of all cues
    assert hello.style.box == bytes([0, 0, 0, 128])
    assert (you.style.bold, you.style.scale) == (True, 1.5)
    assert second.runs[0].style.color == b"\xff\xff\0\xff"
    times = [(run.text, run.begin_us, run.end_us) for run in second.runs]
    assert times == [("ka", 500_000, 1_000_000), ("raoke", 1_000_000, 2_000_000)]
    assert fourth.runs[0].style.italic


def test_vtt_needs_its_header_and_names_what_it_leaves_out() -> None:
    with pytest.raises(SubtitleError, match="begins with a line WEBVTT"):
        parse_vtt(SRT)
    cues = parse_vtt("WEBVTT\n\n00:01 --> 00:02\nbad clock\n\n00:03.000 --> 00:02.000\nback\n")
    assert len(cues) == 0
    assert [p.split(":")[0] for p in cues.problems] == ["line 3", "line 6"]


ASS = """[Script Info]
PlayResX: 1280
PlayResY: 720
; a comment

[V4+ Styles]
Format: Name, Fontname, Fontsize, PrimaryColour, SecondaryColour, OutlineColour, BackColour, Bold, Italic, \
Underline, StrikeOut, ScaleX, ScaleY, Spacing, Angle, BorderStyle, Outline, Shadow, Alignment, MarginL, \
MarginR, MarginV, Encoding
Style: Default,Noto Sans,36,&H0000FFFF,&H00FF0000,&H00000000,\
&H80000000,-1,0,0,0,100,100,0,0,1,2,1,2,10,10,36,1
Style: Top,Noto Sans,72,&H00FFFFFF,&H000000FF,&H00112233,&H00000000,0,-1,0,0,100,100,0,0,3,2,0,8,0,0,72,1

[Events]
Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
Comment: 0,0:00:00.00,0:00:09.00,Default,,0,0,0,,not shown
Dialogue: 0,0:00:01.00,0:00:03.00,Default,Ann,0,0,0,,Hello, {\\b0\\i1\\c&H0000FF&}you{\\r}\\Nthere
Dialogue: 3,0:00:03.00,0:00:05.00,Top,,0,0,0,,{\\k50}ka{\\kf50}ra{\\k100}oke
Dialogue: 0,0:00:05.00,0:00:06.00,Default,,0,0,0,,{\\an7\\pos(128,72)\\fad(200,300)\\t(0,500,\\fs20)}placed
Dialogue: 0,0:00:06.00,0:00:07.00,Default,,0,0,0,,{\\move(0,0,1280,720,0,500)}{\\p1}m 0 0 l 9 9{\\p0}moves
Dialogue: 0,0:00:09.00,0:00:08.00,Default,,0,0,0,,backwards
"""


def test_ass() -> None:
    first, second, third, fourth = cues = parse_ass(ASS)
    assert [p.split(":")[0] for p in cues.problems] == ["line 18", "passed over"]
    assert "\\t" in cues.problems[1]
    assert (first.text, first.voice) == ("Hello, you\nthere", "Ann")
    hello, you, there = (run.style for run in first.runs)
    assert (hello.bold, hello.italic, hello.color) == (True, False, b"\xff\xff\0\xff")
    assert (you.bold, you.italic, you.color) == (False, True, b"\xff\0\0\xff")
    assert there == hello
    assert (hello.size, hello.outline, hello.shadow) == (36 / 720, 2 / 720, 1 / 720)
    assert hello.shadow_color == bytes([0, 0, 0, 127])
    assert first.placement.margin == pytest.approx(0.05)
    assert (second.layer, second.runs[0].style.box) == (3, bytes([0x33, 0x22, 0x11, 255]))
    assert [(r.text, r.begin_us, r.end_us, r.karaoke) for r in second.runs] == [
        ("ka", 0, 500_000, "switch"),
        ("ra", 500_000, 1_000_000, "sweep"),
        ("oke", 1_000_000, 2_000_000, "switch"),
    ]
    assert (third.placement.x, third.placement.y) == (0.1, 0.1)
    assert (third.placement.anchor, third.fade_us) == ((0.0, 0.0), (200_000, 300_000))
    assert fourth.text == "moves"
    assert fourth.placement.movement is not None


def cue(start: int, end: int, name: str = "") -> Cue:
    return Cue(start, end, (Run(name or f"{start}"),))


def test_the_active_cue_is_the_one_that_began_last_and_ends_are_open() -> None:
    cues = Cues([cue(10, 20, "b"), cue(0, 100, "a"), cue(20, 30, "c")])
    named = [
        c.text if (c := active_cue(cues, t)) else None for t in (0, 9, 10, 19, 20, 30, 99, 100)
    ]
    assert named == ["a", "a", "b", "b", "c", "a", "a", None]
    assert active_cue(cues, -1) is None
    assert [c.text for c in cues_in_range(cues, 20, 21)] == ["a", "c"]
    assert cues_in_range(cues, 20, 20) == []
    with pytest.raises(ParameterError, match="ends after its start"):
        cues_in_range(cues, 2, 1)
    with pytest.raises(ArgumentError, match="whole number of microseconds"):
        active_cue(cues, 1.5)  # type: ignore[arg-type]


def test_finding_equals_looking_at_all() -> None:
    random_ = random.Random(3)
    for _ in range(50):
        cues = Cues(
            cue(s := random_.randrange(50), s + random_.randrange(1, 20)) for _ in range(30)
        )
        a, b = sorted(random_.sample(range(80), 2))
        assert cues_in_range(cues, a, b) == [c for c in cues if c.start_us < b and c.end_us > a]
        assert cues_in_range(list(cues)[::-1], a, b) == sorted(
            (c for c in list(cues)[::-1] if c.start_us < b and c.end_us > a),
            key=lambda c: c.start_us,
        )


def test_overlay_of_karaoke_and_fades() -> None:
    _, sung, placed, moves = parse_ass(ASS)
    at = sung.start_us
    white, red = b"\xff\xff\xff\xff", b"\xff\0\0\xff"
    parts = [(w, s["color"]) for w, s in to_overlay(sung, 640, 360, time_us=at + 750_000).runs]
    assert parts == [("ka", white), ("r", white), ("a", red), ("oke", red)]
    assert to_overlay(sung, 640, 360).size == pytest.approx(360 * 0.0533)
    assert to_overlay(placed, 640, 360).opacity == 0
    assert to_overlay(placed, 640, 360, time_us=placed.start_us + 100_000).opacity == 0.5
    assert to_overlay(placed, 640, 360, time_us=placed.end_us - 150_000).opacity == 0.5
    assert to_overlay(placed, 640, 360).position == (64.0, 36.0)
    assert to_overlay(moves, 640, 360, time_us=moves.start_us + 250_000).position == (320.0, 180.0)
    with pytest.raises(ParameterError, match="width is 1"):
        to_overlay(moves, 0, 360)


def test_overlay_pictures_are_where_the_cue_says() -> None:
    pytest.importorskip("uharfbuzz")
    below, _, _ = parse_srt(SRT)
    picture = to_overlay(below, 640, 360).picture()
    rows, columns = np.nonzero(picture[..., 3])
    assert picture.shape == (360, 640, 4)
    assert rows.min() > 300 and rows.max() < 350
    assert abs((columns.min() + columns.max()) / 2 - 320) < 6
    above = to_overlay(parse_vtt(VTT)[0], 640, 360).picture()
    rows, columns = np.nonzero(above[..., 3])
    assert rows.max() < 60 and columns.min() < 70


HOSTILE = [
    "1\n00:00:01,000 --> 00:00:02,000\n" + "<b>" * 50_000,
    "1\n00:00:01,000 --> 00:00:02,000\n" + "<" * 100_000,
    "1\n99999999999:00:00,0 --> 0\nx",
    "WEBVTT\n\n00:01.000 --> 00:02.000\n" + "<c.a.b.c" * 20_000,
    "WEBVTT\n\nSTYLE\n" + "::cue(" * 50_000,
    "WEBVTT\n\nSTYLE\n" + "a{b:" * 50_000,
    "WEBVTT\n\n00:01.000 --> 00:02.000 " + "line:-9999 position:999% " * 5_000 + "\nx",
    "[Events]\nDialogue: 0,0:00:01.00,0:00:02.00,D,,0,0,0,," + "{\\t(" * 50_000,
    "[Events]\nDialogue: 0,0:00:01.00,0:00:02.00,D,,0,0,0,," + "{\\k9999999999}a" * 10_000,
    "[Script Info]\nPlayResX: 1e999\nPlayResY: -7\n[V4 Styles]\nStyle: A,,,,,\n[Events]\n"
    "Dialogue: 9e9,0:00:01.00,0:00:02.00,A,,x,y,z,,{\\fs1e9\\pos(nan,inf)\\fn../../etc/passwd}x",
]


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_hostile_texts_are_bounded(number: int) -> None:
    for parse in (parse_srt, parse_vtt, parse_ass):
        try:
            cues = parse(HOSTILE[number])
        except SubtitleError:
            continue
        for found in cues:
            assert len(found.text) <= 4_000 and len(found.runs) <= 512
            to_overlay(found, 320, 180, time_us=found.start_us)


def test_random_bytes_raise_only_subtitle_errors() -> None:
    random_ = random.Random(7)
    for text, parse in ((SRT, parse_srt), (VTT, parse_vtt), (ASS, parse_ass)):
        for _ in range(150):
            data = bytearray(text.encode())
            for _ in range(random_.randrange(1, 30)):
                data[random_.randrange(len(data))] = random_.randrange(256)
            try:
                cues = parse(bytes(data))
            except SubtitleError:
                continue
            for found in cues:
                assert found.start_us < found.end_us
                to_overlay(found, 64, 36)
