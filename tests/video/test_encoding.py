"""How a file is encoded: one value, or its parts by themselves."""

from __future__ import annotations

import os
import pickle
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dala import video
from dala.errors import ArgumentError, ParameterError
from dala.video.codecs import choose_encoder
from dala.video.encoding import Words, with_words

SMALL = video.Encoding("hevc", crf=40, preset="ultrafast")


@pytest.fixture
def clip(tmp_path: Path) -> Path:
    return write(tmp_path / "clip.mp4", crf=5)


def write(path: Path, **encoding: Any) -> Path:
    noise = np.random.default_rng(0).integers(0, 256, (3, 64, 96, 3), dtype=np.uint8)
    with video.Writer(path, fps=25, **encoding) as writer:
        for picture in noise:
            writer.write(picture)
    return path


def test_whatever_writes_files_takes_it(clip: Path, tmp_path: Path) -> None:
    made = tmp_path / "made.mp4"
    write(made, encoding=SMALL)
    assert video.probe(made).codec == "hevc"
    video.transcode(clip, made, encoding=SMALL)
    assert video.probe(made).codec == "hevc"
    video.side_by_side(clip, clip, made, encoding=SMALL)
    video.grid([clip, clip], made, encoding=SMALL)
    video.picture_in_picture(clip, clip, made, margin=0, encoding=SMALL)
    video.letterbox(clip, made, width=64, height=64, encoding=SMALL)
    assert video.probe(made).codec == "hevc"


def test_its_parts_count_more(clip: Path, tmp_path: Path) -> None:
    sizes = []
    for name, crf in (("a.mp4", None), ("b.mp4", 5)):
        video.transcode(clip, tmp_path / name, encoding=SMALL, crf=crf)
        sizes.append((tmp_path / name).stat().st_size)
        assert video.probe(tmp_path / name).codec == "hevc"
    assert sizes[1] > 2 * sizes[0]


def test_the_parts_are_those_of_the_value() -> None:
    assert list(Words.__annotations__) == [part.name for part in fields(video.Encoding)]
    assert with_words(None, {}) == video.Encoding()
    assert with_words(SMALL, {"crf": None}) == SMALL
    assert with_words(SMALL, {"crf": 3, "options": {"g": "1"}}) == video.Encoding(
        "hevc", 3, "ultrafast", options={"g": "1"}
    )


def test_it_is_a_value() -> None:
    options = {"g": "10"}
    encoding = video.Encoding(options=options)
    options["g"] = "20"
    assert encoding.options == {"g": "10"}
    assert pickle.loads(pickle.dumps(encoding)) == encoding
    assert hash(encoding) == hash(video.Encoding(options={"g": "10"}))
    with pytest.raises(AttributeError):
        encoding.crf = 3  # type: ignore[misc]


def test_what_an_encoder_gets() -> None:
    with pytest.raises(ParameterError, match=r"preset is one of ultrafast, .* got 'warp'"):
        choose_encoder("a.mp4", video.Encoding(preset="warp"))
    chosen = choose_encoder("a.mp4", video.Encoding(bit_rate=400_000, options={"g": "9"}))
    assert chosen.bit_rate == 400_000 and "crf" not in chosen.options
    assert chosen.options["g"] == "9" and chosen.audio_encoder == "aac"
    assert choose_encoder("a.webm", video.Encoding()).audio_encoder == "libopus"


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({"codec": 7}, "codec is a word, got 7"),
        ({"crf": "high"}, "crf is a number, got 'high'"),
        ({"crf": True}, "crf is a number, got True"),
        ({"preset": 1.5}, r"preset is a word or a number, got 1\.5"),
        ({"bit_rate": 0}, "bit_rate is bits per second, got 0"),
        ({"options": "g=10"}, "options is a dict of words, got 'g=10'"),
    ],
)
def test_refusals(part: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=message):
        video.Encoding(**part)
    with pytest.raises(ParameterError, match=message):
        video.Writer(tmp_path / "a.mp4", **part)


def test_what_is_no_encoding(tmp_path: Path) -> None:
    with pytest.raises(
        ArgumentError, match=r"encoding is a video\.Encoding, such as Encoding\('hevc'\)"
    ):
        video.Writer(tmp_path / "a.mp4", encoding="hevc")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match=r"no argument 'bitrate'; did you mean 'bit_rate'"):
        video.transcode("a.mp4", tmp_path / "b.mp4", bitrate=3)  # type: ignore[call-arg]


@pytest.mark.skipif(not hasattr(os, "sched_getscheduler"), reason="only Linux tells")
def test_an_encoder_leaves_its_callers_thread_as_it_was(tmp_path: Path) -> None:
    """SVT-AV1 makes it a real-time one where it is run by root, and later processes inherit that."""
    before = os.sched_getscheduler(0)
    with video.Writer(tmp_path / "made.mkv", fps=25, codec="av1") as writer:
        writer.write(np.zeros((64, 64, 3), np.uint8))
        assert os.sched_getscheduler(0) == before
    assert os.sched_getscheduler(0) == before
