"""Jobs on a Ray cluster of two nodes on this machine; without Ray, the word on what to install."""

from __future__ import annotations

import importlib.util
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from in_threads import wait_until

from dala import fleet, scene, video
from dala.errors import FleetError, UnsupportedError
from dala.fleet.cluster import run_remotely

HAS_RAY = importlib.util.find_spec("ray") is not None
needs_ray = pytest.mark.skipif(
    not HAS_RAY, reason="Ray is not installed: pip install 'dala-gpu[fleet]'"
)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A head and another node, each with one core."""
    from ray.cluster_utils import Cluster

    node: dict[str, Any] = {"num_cpus": 1, "object_store_memory": 100 << 20}
    made = Cluster(initialize_head=True, head_node_args={**node, "include_dashboard": False})
    try:
        made.add_node(**node)
        made.wait_for_nodes()
        yield made.address
    finally:
        made.shutdown()


def write_clip(path: Path) -> Path:
    with video.Writer(path, fps=25, options={"g": "5", "sc_threshold": "0"}) as writer:
        for number in range(40):
            writer.write(np.full((48, 64, 3), number * 5, np.uint8))
    return path


def frames_of(path: Path) -> list[tuple[Any, bytes]]:
    with video.Reader(path) as reader:
        return [(frame.time, frame.rgb.tobytes()) for frame in reader]


@needs_ray
def test_the_frames_of_the_local_pool(address: str, tmp_path: Path) -> None:
    clip = write_clip(tmp_path / "clip.mp4")
    asked: dict[str, Any] = {"workers": 2, "threads": 1, "segment_s": 0.4, "device": "cpu"}
    fleet.transcode(clip, tmp_path / "local.mp4", ["invert"], **asked)
    report = fleet.transcode(
        clip, tmp_path / "ray.mp4", ["invert"], engine="ray", address=address, **asked
    )
    assert (report.tasks, report.frames, report.failures) == (4, 40, ())
    assert frames_of(tmp_path / "ray.mp4") == frames_of(tmp_path / "local.mp4")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["clip.mp4", "local.mp4", "ray.mp4"]


@needs_ray
def test_tasks_have_names(address: str, tmp_path: Path) -> None:
    """By which a dashboard shows them: the film and its part, or the file."""
    grpc = pytest.importorskip("grpc")
    wire = importlib.import_module("ray.core.generated.gcs_service_pb2")
    services = importlib.import_module("ray.core.generated.gcs_service_pb2_grpc")
    clip = write_clip(tmp_path / "clip.mp4")
    fleet.transcode(
        clip, tmp_path / "named.mp4", ["invert"], engine="ray", address=address, segment_s=0.8,
        device="cpu",
    )  # fmt: skip

    def are_known() -> bool:
        with grpc.insecure_channel(address) as channel:
            stub = services.TaskInfoGcsServiceStub(channel)
            told = stub.GetTaskEvents(wire.GetTaskEventsRequest()).events_by_task
        names = {event.task_info.name for event in told}
        return {"dala named.mp4 part-00000", "dala named.mp4 part-00001"} <= names

    wait_until(are_known)


@needs_ray
def test_a_machine_with_another_version_is_told(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clip = write_clip(tmp_path / "clip.mp4")
    monkeypatch.setattr("dala.fleet.cluster.__version__", "9.9")
    with pytest.raises(FleetError, match=r"a machine of the cluster has dala .*, this one 9\.9"):
        fleet.transcode(
            clip, tmp_path / "o.mp4", ["invert"], engine="ray", address=address, device="cpu"
        )


@needs_ray
def test_a_scene_by_the_same_tasks(address: str, tmp_path: Path) -> None:
    asked: dict[str, Any] = {"workers": 2, "threads": 1, "segment_s": 0.4, "device": "cpu"}
    with scene.Scene(64, 48, target_fps=25, background="navy") as stage:
        box = stage.add_shape(position=(4, 4), size=(16, 16), fill="gold")
        stage.animate(box, "position", from_=(4, 4), to=(40, 24), duration_ms=800)
        scene.export(stage, tmp_path / "one.mp4", codec="ffv1", device="cpu")
        report = fleet.export(
            stage, tmp_path / "ray.mp4", engine="ray", address=address, codec="ffv1", **asked
        )
    assert (report.tasks, report.frames, report.failures) == (2, 20, ())
    assert frames_of(tmp_path / "ray.mp4") == frames_of(tmp_path / "one.mp4")


@needs_ray
def test_where_no_cluster_answers(tmp_path: Path) -> None:
    """It is said at once; Ray would go on trying."""
    clip = write_clip(tmp_path / "clip.mp4")
    with socket.socket() as taken:  # and nobody listens
        taken.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(
            FleetError, match=f"no Ray cluster answers at {address}.*ray start --head"
        ):
            fleet.transcode(clip, tmp_path / "out.mp4", engine="ray", address=address)
    assert not (tmp_path / "out.mp4").exists()


def test_whatever_goes_wrong_is_told_in_a_line() -> None:
    """What Ray makes of an exception is a page that begins with a process number."""
    answer = run_remotely("filter_file", {"device": "cpu"})
    assert answer == {"failed": "KeyError: 'source'"}


def test_without_ray_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)  # so it cannot be imported
    clip = write_clip(tmp_path / "clip.mp4")
    with pytest.raises(UnsupportedError, match=r"pip install 'dala-gpu\[fleet\]'.*engine='local'"):
        fleet.transcode(clip, tmp_path / "out.mp4", engine="ray", segment_s=0.4)
    assert not (tmp_path / "out.mp4").exists()
