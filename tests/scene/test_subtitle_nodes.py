"""Subtitles as nodes of a scene: what is shown when is what the cues say, wherever the node is."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dala import cli, media, scene
from dala.errors import ArgumentError, SceneFileError, SceneSourceError, SubtitleError
from dala.scene import Scene, parse_ass, parse_srt, parse_vtt, to_overlay

pytest.importorskip("uharfbuzz")
WIDTH, HEIGHT = 320, 180
SRT = """1
00:00:01,000 --> 00:00:02,000
one <i>slanted</i>

2
00:00:02,000 --> 00:00:03,500
<font color="#ff0000">two</font>
lines
"""
VTT = """WEBVTT

00:01.000 --> 00:02.000 position:10%,line-left align:left size:35% line:0
above

00:02.000 --> 00:03.000 line:60%,end align:right
<00:02.250>ka<00:02.500>ra<00:02.750>oke
"""
ASS = """[Script Info]
PlayResX: 320
PlayResY: 180
[V4+ Styles]
Format: Name, Fontname, Fontsize, PrimaryColour, SecondaryColour, OutlineColour, BackColour, Bold, \
Italic, BorderStyle, Outline, Shadow, Alignment, MarginL, MarginR, MarginV
Style: Default,Noto Sans,18,&H0000FFFF,&H00FF0000,&H00000000,&H80000000,-1,0,1,2,1,2,10,10,9
Style: Boxed,Noto Sans,20,&H00FFFFFF,&H000000FF,&H00112233,&H00000000,0,0,3,2,0,8,0,0,18
[Events]
Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
Dialogue: 0,0:00:01.00,0:00:02.00,Default,,0,0,0,,Hello {\\c&H0000FF&}you
Dialogue: 0,0:00:02.00,0:00:03.00,Boxed,,0,0,0,,{\\k20}ka{\\kf50}raoke{\\k20}s
Dialogue: 0,0:00:03.00,0:00:04.00,Default,,0,0,0,,{\\move(10,20,300,160,200,700)\\an7}moves
"""
FILES = {"film.srt": (SRT, parse_srt), "film.vtt": (VTT, parse_vtt), "film.ass": (ASS, parse_ass)}


def shown(stage: Scene, at: float | Fraction) -> Any:
    return stage.render(at).to_array()


@pytest.mark.parametrize("name", FILES)
def test_what_is_shown_is_the_overlay_of_the_cue(name: str, tmp_path: Path) -> None:
    """Styles, places and karaoke of each kind, at its edges and between: byte for byte."""
    text, parse = FILES[name]
    (tmp_path / name).write_text(text, encoding="utf-8")
    cues = parse(text)
    pictures = set()
    with Scene(WIDTH, HEIGHT) as stage:
        stage.add_subtitles(tmp_path / name)
        assert stage.duration == Fraction(cues.end_us, 1_000_000)
        for cue in cues:
            edges = {cue.start_us, cue.end_us - 1}
            for at in sorted(edges | {cue.start_us + n * 100_000 for n in range(10)}):
                overlay = to_overlay(cue, WIDTH, HEIGHT, time_us=at)
                seen = shown(stage, Fraction(at, 1_000_000))
                if overlay.moves:  # between pixels, so it is sampled
                    ink, wanted = (int(p[..., 3].sum()) for p in (seen, overlay.picture()))
                    assert abs(ink - wanted) < 0.1 * wanted
                    continue
                expected = overlay.picture()
                expected[expected[..., 3] == 0] = 0
                assert np.array_equal(seen, expected), at
                pictures.add(expected.tobytes())
        for at in (0.0, 0.999999, stage.duration, 100.0):
            assert not shown(stage, at).any()
    assert len(pictures) == {"film.srt": 2, "film.vtt": 5, "film.ass": 7}[name]


def test_a_text_and_cues_say_the_same_as_the_file(tmp_path: Path) -> None:
    (tmp_path / "film.srt").write_text(SRT)
    given = (str(tmp_path / "film.srt"), SRT, SRT.encode(), parse_srt(SRT), list(parse_srt(SRT)))
    pictures = []
    for one in given:
        with Scene(WIDTH, HEIGHT) as stage:
            stage.add_subtitles(one)
            pictures.append(shown(stage, 1.5).tobytes())
    assert len(set(pictures)) == 1 and any(pictures[0])


def test_its_own_time_begins_with_the_node_and_stands_still_in_pauses() -> None:
    with Scene(WIDTH, HEIGHT) as plain, Scene(WIDTH, HEIGHT) as stage:
        plain.add_subtitles(SRT)
        stage.add_subtitles(
            SRT, start=10.0, source_start=0.5, speed=2, pauses=((Fraction(1), Fraction(3)),)
        )
        # 10 s is 0.5 of the cues; 11 s is 2.5, where they stand for 3 s; then on to 3.5
        assert stage.duration == Fraction(29, 2)
        for at, place in ((10.3, 1.1), (11.0, 2.5), (13.9, 2.5), (14.25, 3.0), (14.5, 3.5)):
            assert np.array_equal(shown(stage, at), shown(plain, place)), at
        assert shown(stage, 14.25).any() and not shown(stage, 14.5).any()


def test_cues_at_one_time_stand_apart() -> None:
    text = SRT.replace("00:00:02,000 -->", "00:00:01,500 -->")
    below, above = parse_srt(text)
    with Scene(WIDTH, HEIGHT) as stage:
        stage.add_subtitles(text)
        both = shown(stage, 1.75)
    first = to_overlay(below, WIDTH, HEIGHT).picture()
    rows = np.nonzero(first[..., 3].any(axis=1))[0]
    assert np.array_equal(
        both[rows[0] :, :, 3], first[rows[0] :, :, 3]
    )  # the first keeps its place
    count = np.count_nonzero(to_overlay(above, WIDTH, HEIGHT).picture()[..., 3])
    assert np.count_nonzero(both[: rows[0], :, 3]) == count


def test_a_style_is_for_what_the_file_leaves_open() -> None:
    with Scene(WIDTH, HEIGHT) as stage:
        node = stage.add_subtitles(
            SRT, style={"color": "gold", "font_size": 30, "background": "navy", "outline": None}
        )
        assert stage.node(node).color == (255, 215, 0, 255)
        first, second = (stage.render(at).to_array() for at in (1.5, 2.5))
        assert (first == (255, 215, 0, 255)).all(axis=2).any()
        assert (first == (0, 0, 128, 255)).all(axis=2).any()
        assert (second == (255, 0, 0, 255)).all(axis=2).any()  # the file's own colour
        stage.animate(node, "color", to="red", duration_ms=0, at=0.0)
        assert (shown(stage, 1.5) == (255, 0, 0, 255)).all(axis=2).any()
        stage.update_node(node, vertical_align="top")
        assert shown(stage, 1.5)[: HEIGHT // 3].any() and not shown(stage, 1.5)[HEIGHT // 2 :].any()


def test_the_box_says_where() -> None:
    """The node's position, size, opacity and parent are those of any other node."""
    with Scene(WIDTH, HEIGHT) as small, Scene(2 * WIDTH, HEIGHT) as stage:
        small.add_subtitles(SRT)
        group = stage.add_group(position=(WIDTH, 0), size=(WIDTH, HEIGHT))
        node = stage.add_subtitles(SRT, parent=group)
        one = shown(small, 1.5)
        assert np.array_equal(shown(stage, 1.5)[:, WIDTH:], one)
        assert not shown(stage, 1.5)[:, :WIDTH].any()
        stage.update_node(node, parent=None, size=(WIDTH, HEIGHT), position=(5, -20))
        assert np.array_equal(shown(stage, 1.5)[: HEIGHT - 20, 5 : WIDTH + 5], one[20:])
        stage.update_node(node, opacity=0.5)
        assert abs(int(shown(stage, 1.5)[..., 3].max()) - 128) <= 1


def test_frames_that_are_skipped_are_what_would_be_painted() -> None:
    chance = random.Random(2)
    for text in (SRT, VTT, ASS):
        with Scene(64, 36) as stage, Scene(64, 36) as other:
            for one in (stage, other):
                one.add_subtitles(text, start=0.25)
            times = [Fraction(n, 40) for n in range(190)]
            one_way = [shown(stage, at).tobytes() for at in times]
            assert stage.skipped > 20
            for n in chance.sample(range(len(times)), 60):
                other._last = None
                assert shown(other, times[n]).tobytes() == one_way[n], times[n]


def test_what_cannot_be_read_is_said_at_once(tmp_path: Path) -> None:
    (tmp_path / "none.srt").write_text("Once upon a time")
    (tmp_path / "bad.vtt").write_text("WEBVTT\n\n00:01 --> 00:02\nbad clock\n")
    (tmp_path / "half.srt").write_text(SRT + "\n3\n00:00:09,000 --> 00:00:08,000\nbackwards\n")
    with Scene(8, 8) as stage:
        for name, says in (("none.srt", "no subtitles"), ("bad.vtt", "no cue can be read: line 3"),
                           ("missing.srt", "No such file")):  # fmt: skip
            with pytest.raises(SubtitleError, match=says):
                stage.add_subtitles(tmp_path / name)
        for wrong in (7, [], [SRT]):
            with pytest.raises(ArgumentError, match=r"add_subtitles: subtitles: expected a path"):
                stage.add_subtitles(wrong)
        assert stage.nodes() == []
        stage.add_subtitles(tmp_path / "half.srt")
        (told,) = stage.streams.supply.reports
        assert told.source.endswith("half.srt") and "ends before it begins" in told.what


# -- files ---------------------------------------------------------------------------------------------


def document(subtitles: object, **props: object) -> dict[str, Any]:
    node = {"type": "subtitles", "subtitles": subtitles, **props}
    size = {"width": WIDTH, "height": HEIGHT, "fps": 25}
    return {"format": "dala.scene", "version": 1, **size, "nodes": [node]}


def test_in_files_and_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "film.srt").write_text(SRT)
    with Scene(WIDTH, HEIGHT, target_fps=25) as stage:
        stage.add_subtitles(tmp_path / "film.srt", font_size=20, start=0.5)
        stage.add_subtitles(SRT, position=(0, -40), pauses=((Fraction(1, 2), Fraction(1)),))
        path = scene.save(stage, tmp_path / "film.json")
        assert json.loads(path.read_text())["nodes"][0]["subtitles"] == "film.srt"
        with scene.load(path) as loaded:
            for at in (0.4, 1.6, 2.6, 3.1):
                assert np.array_equal(shown(loaded, at), shown(stage, at))
        assert cli.main(["render", str(path), "-o", str(tmp_path / "at.png"), "--at", "1.6"]) == 0
        picture = np.asarray(media.open(tmp_path / "at.png").pixels)
        assert np.array_equal(picture[..., 3], shown(stage, 1.6)[..., 3]) and picture.any()
        assert cli.main(["render", str(path), "-o", str(tmp_path / "out.mp4"), "-q"]) == 0
    with Scene(8, 8) as stage:
        stage.add_subtitles(parse_srt(SRT))
        with pytest.raises(
            SceneFileError, match=r"/nodes/0/subtitles: .*save it and give its path"
        ):
            scene.save(stage, tmp_path / "no.json")


def test_a_strangers_file_names_its_own_folder_only(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (tmp_path / "film.srt").write_text(SRT)
    path = own / "film.json"
    path.write_text(json.dumps(document("../film.srt")))
    with pytest.raises(SceneSourceError, match=r"/nodes/0/subtitles: .*outside the folder"):
        scene.load(path)
    with scene.load(path, sources="any") as stage:
        assert shown(stage, 1.5).any()


@pytest.mark.parametrize(
    ("subtitles", "where", "says"),
    [
        (7, "/nodes/0/subtitles", "expected a path of subtitles"),
        ("", "/nodes/0/subtitles", "1 to 4096 characters"),
        ("none.srt", "/nodes/0", "No such file"),
        ("nothing\nat all", "/nodes/0", "no subtitles of SubRip"),
    ],
)
def test_errors_name_the_place(tmp_path: Path, subtitles: object, where: str, says: str) -> None:
    path = tmp_path / "film.json"
    path.write_text(json.dumps(document(subtitles)))
    (found,) = scene.check(path)
    assert found.where == where and says in str(found)
