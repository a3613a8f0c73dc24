"""``dala fleet`` as a person or a script uses it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from dala import cli, fleet, media, scene, video
from dala.cli.fleet import _Shown as shown


@pytest.fixture
def clip(tmp_path: Path) -> Path:
    path = tmp_path / "clip.mp4"
    with video.Writer(path, fps=25, options={"g": "5", "sc_threshold": "0"}) as writer:
        for number in range(20):
            writer.write(np.full((48, 64, 3), number * 10, np.uint8))
    return path


def test_a_long_video(clip: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "out.mp4"
    words = ["fleet", "transcode", str(clip), str(target), "--invert", "--segment", "0.4", "--json"]
    assert cli.main([*words, "--workers", "2"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["finished"] for line in lines[:-1]][-1] == 2
    assert lines[-1]["frames"] == 20
    assert lines[-1]["failures"] == []
    assert video.probe(target).frames == 20


def test_a_scene(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, target = tmp_path / "card.json", tmp_path / "out.mp4"
    with scene.Scene(32, 32, target_fps=10, background="red") as stage:
        scene.save(stage, source)
    words = ["fleet", "export", str(source), str(target), "--to", "1", "--segment", "0.5"]
    assert cli.main([*words, "--workers", "1", "--json"]) == 0
    last = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (last["tasks"], last["frames"], last["failures"]) == (2, 10, [])
    assert video.probe(target).frames == 10


def test_a_file_that_fails_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With its name once; the job's state is one line, too."""
    media.save(np.full((8, 8, 3), 7, np.uint8), tmp_path / "a.png")
    (tmp_path / "bad.png").write_bytes(b"x")
    out = str(tmp_path / "out")
    words = ["fleet", "map", str(tmp_path / "a.png"), str(tmp_path / "bad.png"), out, "--invert"]
    assert cli.main([*words, "--workers", "1", "--json"]) == 1
    told = capsys.readouterr()
    (line,) = told.err.splitlines()
    assert line.count("bad.png") == 1 and "not a picture" in line
    assert json.loads(told.out.splitlines()[-1])["failures"][0]["name"].endswith("bad.png")
    assert cli.main(["fleet", "status", out, "--json"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert json.loads(line) == {
        "output": out, "kind": "map", "finished": 1, "total": 2, "frames": 1,
    }  # fmt: skip


def test_no_such_job(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("status", "resume"):
        assert cli.main(["fleet", command, str(tmp_path / "out.mp4")]) == 1
        assert "no job is under way for it" in capsys.readouterr().err.replace("\n", " ")


def test_help_lists_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["fleet", "--help"]) == 0
    text = capsys.readouterr().out
    for command in ("transcode", "export", "map", "resume", "status"):
        assert command in text


def test_a_job_that_is_interrupted_says_how_to_go_on(
    clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "my film.mp4"
    words = ["fleet", "transcode", str(clip), str(target), "--invert", "--segment", "0.2"]
    told: list[int] = []

    def advance(shown: object, now: fleet.Progress) -> None:
        plain(shown, now)
        if now.finished:
            told.append(now.finished)
            raise KeyboardInterrupt

    plain = shown.advance
    with monkeypatch.context() as interrupted:
        interrupted.setattr(shown, "advance", advance)
        assert cli.main([*words, "--workers", "1"]) == 130
    hint = capsys.readouterr().err.replace("\n", " ")
    assert f"1 of 4 tasks are finished and stay so; dala fleet resume '{target}' goes on" in hint
    assert cli.main(["fleet", "resume", str(target), "--workers", "1"]) == 0
    assert video.probe(target).frames == 20
