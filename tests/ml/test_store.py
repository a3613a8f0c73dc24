"""Where weights are found, that they are checked, and how they come into the cache."""

from __future__ import annotations

import hashlib
import http.server
import os
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from made_models import constant_net

from dala import compute, ml
from dala.errors import ModelError, ModelNotFoundError, ParameterError
from dala.ml import catalogue, store
from dala.ml.catalogue import Weights


def weights_of(data: bytes, file: str) -> Weights:
    return Weights(file, hashlib.sha256(data).hexdigest(), len(data))


LABELS = "\n".join(["background", *(f"thing {i}" for i in range(1000))]).encode()
NET = constant_net([np.zeros((1, 1001), np.uint8)], (1, 224, 224, 3), "uint8")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and a catalogue whose mobilenet_v2 is a net of the tests."""
    monkeypatch.setenv("DALA_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("DALA_MODELS", raising=False)
    monkeypatch.delenv("DALA_MODELS_URL", raising=False)
    monkeypatch.setenv("no_proxy", "*")  # the server is on this machine
    info = catalogue.MODELS["mobilenet_v2"]
    small = replace(
        info, weights=weights_of(NET, "net.onnx"), labels=weights_of(LABELS, "labels.txt")
    )
    monkeypatch.setitem(catalogue.MODELS, "mobilenet_v2", small)
    return tmp_path / "cache" / "models"


def fill(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "net.onnx").write_bytes(NET)
    (folder / "labels.txt").write_bytes(LABELS)
    return folder


def test_weights_are_found_in_each_place(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(
        ModelNotFoundError, match=r"mobilenet_v2: no net.onnx in .*dala models import FILE"
    ):
        ml.load_model("mobilenet_v2", device="cpu")
    given = fill(tmp_path / "given")
    with ml.load_model("mobilenet_v2", device="cpu", folder=given) as model:
        assert model.name == "mobilenet_v2" and "mobilenet_v2" in compute.kernels()
    assert "mobilenet_v2" not in compute.kernels()
    listed = os.pathsep.join([str(tmp_path / "nowhere"), str(fill(tmp_path / "listed"))])
    monkeypatch.setenv("DALA_MODELS", listed)
    info = ml.model_info("mobilenet_v2")
    assert store.find_weights(info, info.weights).parent.name == "listed"
    monkeypatch.delenv("DALA_MODELS")
    fill(cache)
    assert store.find_weights(info, info.weights).parent == cache
    with ml.load_model("mobilenet_v2", device="cpu") as model:
        assert len(model.labels) == 1000 and model.labels[0] == "thing 0"


def test_a_changed_file_is_refused(cache: Path) -> None:
    fill(cache)
    ml.load_model("mobilenet_v2", device="cpu").close()
    damaged = bytearray(NET)
    damaged[-1] ^= 1
    (cache / "net.onnx").write_bytes(damaged)
    os.utime(cache / "net.onnx", ns=(1, 1))
    with pytest.raises(ModelError, match=r"net.onnx: its sha256 is .*: damaged, or another model"):
        ml.load_model("mobilenet_v2", device="cpu")


def test_files_are_imported_by_what_they_are(cache: Path, tmp_path: Path) -> None:
    (tmp_path / "whatever.bin").write_bytes(NET)
    assert store.import_file(tmp_path / "whatever.bin") == ("mobilenet_v2", cache / "net.onnx")
    assert (cache / "net.onnx").read_bytes() == NET
    (tmp_path / "other.onnx").write_bytes(b"other")
    with pytest.raises(ModelError, match="a file of your own needs no import"):
        store.import_file(tmp_path / "other.onnx")
    assert sorted(p.name for p in cache.iterdir()) == ["net.onnx"]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """Files of a folder over HTTP, on this machine."""
    folder = tmp_path / "served"
    folder.mkdir()

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args: object) -> None:
            super().__init__(*args, directory=str(folder))  # type: ignore[arg-type]

        def log_message(self, format: str, *args: object) -> None:
            """Nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet) as served:
        thread = threading.Thread(target=served.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{served.server_port}/"
        served.shutdown()
        thread.join()


def test_a_model_is_fetched_once_and_whole(cache: Path, tmp_path: Path, server: str) -> None:
    fill(tmp_path / "served")
    seen: list[tuple[int, int]] = []
    paths = store.fetch("mobilenet_v2", server, lambda done, total: seen.append((done, total)))
    assert paths == [cache / "net.onnx", cache / "labels.txt"]
    assert seen[-1] == (len(LABELS), len(LABELS))
    (tmp_path / "served" / "net.onnx").unlink()
    assert store.fetch("mobilenet_v2", server) == paths  # nothing is asked for again
    ml.load_model("mobilenet_v2", device="cpu").close()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (NET[:-1] + b"?", "it was not kept"),
        (NET + b"more", "larger than the"),
        (None, "the server says 404, File not found"),
    ],
    ids=["other", "longer", "missing"],
)
def test_what_is_not_the_model_is_not_kept(
    cache: Path, tmp_path: Path, server: str, content: bytes | None, words: str
) -> None:
    if content is not None:
        (tmp_path / "served" / "net.onnx").write_bytes(content)
    with pytest.raises(ModelError, match=words):
        store.fetch("mobilenet_v2", server)
    assert not cache.exists() or list(cache.iterdir()) == []


def test_an_address_is_needed(cache: Path) -> None:
    with pytest.raises(
        ParameterError, match="from where\\? give --from URL or set DALA_MODELS_URL"
    ):
        store.fetch("mobilenet_v2")
    with pytest.raises(ParameterError, match="models are fetched by https, got 'file:///tmp'"):
        store.fetch("mobilenet_v2", "file:///tmp")
    with pytest.raises(ModelError, match=r"http://127.0.0.1:9/net.onnx: "):
        store.fetch("mobilenet_v2", "http://127.0.0.1:9")


def test_a_loaded_model_is_a_stage_of_pipelines(cache: Path, on_cpu: None) -> None:
    fill(cache)
    photo = compute.from_array(np.full((30, 40, 4), 90, np.uint8))
    tensor = compute.buffer_zeros((1, 224, 224, 3))
    scores, shares = compute.buffer_zeros((1, 1001)), compute.buffer_zeros((1, 1001))
    with ml.load_model("mobilenet_v2", device="cpu"):
        pipeline = compute.pipeline()
        params = {"size": (224, 224), "normalize": False, "layout": "nhwc"}
        pipeline.add(
            {"kernel": "preprocess", "inputs": [photo], "output": tensor, "params": params}
        )
        pipeline.add({"kernel": "mobilenet_v2", "inputs": [tensor], "output": scores})
        pipeline.add({"kernel": "softmax", "inputs": [scores], "output": shares})
        pipeline.run()
        np.testing.assert_allclose(shares.read(), np.full((1, 1001), 1 / 1001), rtol=1e-5)
