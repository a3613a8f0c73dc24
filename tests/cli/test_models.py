"""``dala models`` and ``dala detect``, on models that the tests make."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_models import constant_net
from PIL import Image

import dala
from dala import video
from dala.cli import main


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("DALA_CACHE", str(tmp_path / "cache"))
    for name in ("DALA_MODELS", "DALA_MODELS_URL", "DALA_DEVICE"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def say(capfd: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    with dala.use("cpu"):
        code = main(list(words))
    return code, *capfd.readouterr()


def yolo_file(path: Path) -> Path:
    rows = np.zeros((1, 30, 7), np.float32)
    rows[0, 3] = 32, 32, 16, 16, 1, 0.1, 0.9
    path.write_bytes(constant_net([rows], (1, 3, 64, 64)))
    return path


def test_models_are_listed_with_licence_and_state(here: Path, capfd: Any) -> None:
    code, out, _ = say(capfd, "models")
    assert code == 0 and "blazeface         missing" in out and "Apache-2.0" in out
    code, out, _ = say(capfd, "models", "list", "yolo_v5", "--json")
    (state,) = json.loads(out)
    assert code == 0 and state["state"] == "missing" and "AGPL" in state["note"]
    assert len(state["sha256"]) == 64


def test_verify_fails_on_what_is_missing_or_damaged(here: Path, capfd: Any) -> None:
    assert say(capfd, "models", "verify", "selfie")[0] == 1
    cache = here / "cache" / "models"
    cache.mkdir(parents=True)
    (cache / "selfie_segmentation__mediapipe_256.onnx").write_bytes(b"x")
    code, out, _ = say(capfd, "models", "verify", "selfie")
    assert code == 1 and "selfie  damaged" in out


def test_wrong_words_are_usage_mistakes(here: Path, capfd: Any) -> None:
    code, _, err = say(capfd, "models", "lst")
    assert code == 2 and "did you mean 'list'" in err
    code, _, err = say(capfd, "models", "import")
    assert code == 2 and "which file?" in err
    code, _, err = say(capfd, "models", "list", "--from", "https://example.org")
    assert code == 2 and "--from is for dala models fetch" in err
    code, _, err = say(capfd, "models", "import", "none.onnx")
    assert code == 1 and "none.onnx" in err
    code, _, err = say(capfd, "models", "fetch", "selfie")
    assert code == 1 and "give --from URL" in err


def test_a_picture_is_described_in_lines_and_as_json(here: Path, capfd: Any) -> None:
    model = str(yolo_file(here / "own.onnx"))
    Image.fromarray(np.zeros((128, 128, 3), np.uint8)).save("photo.png")
    code, out, _ = say(capfd, "detect", "photo.png", "--model", model)
    assert (code, out) == (0, "class 1 0.90  (48, 48) to (80, 80)\n")
    code, out, _ = say(capfd, "detect", "photo.png", "--model", model, "--json")
    data = json.loads(out)
    assert data["kind"] == "picture" and data["model"] == "own"
    (found,) = data["frames"][0]["found"]
    assert found["box"] == [48, 48, 80, 80] and found["class_id"] == 1
    code, out, _ = say(capfd, "detect", "photo.png", "--model", model, "--score", "0.95")
    assert (code, out) == (0, "")


def test_a_video_is_described_frame_by_frame(here: Path, capfd: Any) -> None:
    model = str(yolo_file(here / "own.onnx"))
    with video.Writer("clip.mp4", fps=25) as writer:
        for level in (10, 90, 170):
            writer.write(np.full((64, 64, 3), level, np.uint8))
    code, out, _ = say(capfd, "detect", "clip.mp4", "--model", model, "--track", "--json")
    frames = json.loads(out)["frames"]
    assert code == 0 and [f["time"] for f in frames] == [0.0, 0.04, 0.08]
    assert [f["found"][0]["track_id"] for f in frames] == [1, 1, 1]
    code, out, _ = say(capfd, "detect", "clip.mp4", "--model", model)
    assert out.splitlines()[1] == "    0.040 s  class 1 0.90  (24, 24) to (40, 40)"


def test_what_cannot_be_is_said_in_a_line(here: Path, capfd: Any) -> None:
    Image.fromarray(np.zeros((8, 8, 3), np.uint8)).save("photo.png")
    code, _, err = say(capfd, "detect", "photo.png", "--model", "blazefac")
    assert code == 1 and "did you mean 'blazeface'" in err
    code, _, err = say(capfd, "detect", "photo.png", "--model", "blazeface")
    assert code == 1 and "dala models import FILE" in err
    scores = constant_net([np.array([[0.1, 0.9]], np.float32)], (1, 3, 8, 8))
    (here / "classes.onnx").write_bytes(scores)
    code, out, _ = say(capfd, "detect", "photo.png", "--model", "classes.onnx")
    assert (code, out) == (0, "class 1 0.90\nclass 0 0.10\n")
    code, _, err = say(capfd, "detect", "photo.png", "--model", "classes.onnx", "--track")
    assert code == 1 and "--track follows detections" in err
    code, _, err = say(capfd, "detect", "photo.png", "--model", "classes.onnx", "--score", "0.5")
    assert code == 1 and "finds nothing that has a --score" in err


def test_what_is_found_is_drawn(here: Path, capfd: Any) -> None:
    model = str(yolo_file(here / "own.onnx"))
    Image.fromarray(np.zeros((128, 128, 3), np.uint8)).save("photo.png")
    assert say(capfd, "detect", "photo.png", "shown.png", "--model", model)[0] == 0
    shown = np.asarray(Image.open("shown.png"))
    assert shown[48, 60].any() and not shown[100, 100].any()
    code, _, err = say(capfd, "detect", "photo.png", "shown.png", "--model", model)
    assert code == 1 and "--overwrite replaces it" in err
    code, _, err = say(capfd, "detect", "photo.png", "shown.mp4", "--model", model)
    assert code == 1 and "IN is a picture, and cannot become .mp4" in err
    with video.Writer("clip.mp4", fps=25, audio=True) as writer:
        writer.write_audio(np.zeros((4800, 1), np.float32), 48_000)
        for _ in range(2):
            writer.write(np.zeros((64, 64, 3), np.uint8))
    assert say(capfd, "detect", "clip.mp4", "shown.mp4", "--model", model)[0] == 0
    with video.Reader("shown.mp4") as reader:
        assert [bool(frame.rgb[24, 32].max() > 60) for frame in reader] == [True, True]
    assert video.probe("shown.mp4").audio == video.probe("clip.mp4").audio != ()
