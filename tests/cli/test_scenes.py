"""``dala scene`` and ``dala render`` as a person types them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from dala import cli, media, scene, video

CARD = {
    "format": "dala.scene",
    "version": 1,
    "width": 32,
    "height": 16,
    "parameters": {"color": {"type": "color", "default": "red"}},
    "nodes": [
        {"type": "shape", "size": [32, 16], "fill": {"$param": "color"}, "start": 1, "end": 3},
    ],
}


@pytest.fixture
def card(tmp_path: Path) -> Path:
    path = tmp_path / "card.json"
    path.write_text(json.dumps(CARD))
    return path


def test_a_picture_of_a_template(
    card: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "card.png"
    words = ["render", str(card), "-o", str(target), "--at", "2", "--set", "color=blue"]
    assert cli.main(words) == 0
    assert (np.asarray(media.open(target).pixels)[0, 0, :3] == (0, 0, 255)).all()
    assert cli.main(words) == 1
    assert "--overwrite replaces it" in capsys.readouterr().err.replace("\n", " ")
    assert cli.main([*words, "--overwrite"]) == 0
    assert cli.main([*words, "--overwrite", "--set", "colour=red"]) == 1
    assert "did you mean" in capsys.readouterr().err.replace("\n", " ")
    assert cli.main([*words, "--set", "color"]) == 2


def test_a_video_of_a_template(card: Path, tmp_path: Path) -> None:
    target = tmp_path / "card.mp4"
    assert (
        cli.main(
            ["render", str(card), "-o", str(target), "--from", "1", "--to", "1.5", "--fps", "25"]
        )
        == 0
    )
    assert video.probe(target).frames == 13  # those that begin before 1.5 s
    assert sorted(path.name for path in tmp_path.iterdir()) == ["card.json", "card.mp4"]


def test_a_file_is_checked(card: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["scene", "check", str(card)]) == 0
    assert "32×16, 1 nodes, 3 s" in capsys.readouterr().out.replace("\n", "")
    card.write_text(
        json.dumps({**CARD, "nodes": [{"type": "text", "opacity": 2}, {"type": "shap"}]})
    )
    assert cli.main(["scene", "check", str(card)]) == 1
    said = " ".join(capsys.readouterr().err.split())
    assert "/nodes/0/opacity: expected a number from 0 to 1" in said
    assert "/nodes/1: expected a node" in said and "did you mean 'shape'" in said


def test_the_schema_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["scene", "schema"]) == 0
    assert json.loads(capsys.readouterr().out) == scene.schema()


def test_a_file_names_its_own_folder_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    red = tmp_path / "red.png"
    media.save(np.full((16, 32, 4), (255, 0, 0, 255), np.uint8), red)
    (tmp_path / "own").mkdir()
    path = tmp_path / "own" / "card.json"
    photo = {"photo": {"type": "file", "default": "../red.png"}}
    nodes = [{"type": "image", "image": {"$param": "photo"}, "size": [32, 16]}]
    path.write_text(json.dumps({**CARD, "parameters": photo, "nodes": nodes}))
    render = ["render", str(path), "-o", str(tmp_path / "out.png")]
    for words in (render, ["scene", "check", str(path)], ["play", str(path)]):
        assert cli.main(words) == 1
        said = " ".join(capsys.readouterr().err.split())
        assert "/nodes/0/image: '../red.png' is outside" in said and "--allow-sources" in said
    assert not (tmp_path / "out.png").exists()
    assert cli.main(["scene", "check", str(path), "--allow-sources"]) == 0
    assert cli.main([*render, "--allow-sources"]) == 0
    assert cli.main([*render, "--overwrite", "--set", f"photo={red}"]) == 0
    assert (np.asarray(media.open(tmp_path / "out.png").pixels)[0, 0, :3] == (255, 0, 0)).all()
    assert cli.main([*render, "--set", "sources=any"]) == 2


def test_the_value_of_an_option_stays_where_it_is(
    card: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["render", str(card), "-o", "-.mkv", "--from", "1", "--to", "1.2", "--fps", "25"]
    assert cli.main(words) == 0
    with video.Reader(tmp_path / "-.mkv") as reader:
        assert sum(1 for _ in reader) == 5
