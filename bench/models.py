"""Networks by numbers: right first, then how fast, with ONNX Runtime alone beside them.

    python bench/models.py FOLDER [--device webgpu] [--runs 50] [--threads N] [--json FILE]
    python bench/models.py FOLDER --device webgpu --layers --tune     (network_layers.py)
    python bench/models.py FOLDER --device webgpu --moments           (model_moments.py)

For every ONNX file of a folder: the largest difference to ONNX Runtime, and the best of many runs. On the
CPU what dala adds to ONNX Runtime is measured by turns in the same run; on a GPU the device's own time, if
it has timestamps, and the wall time from arrays to arrays. Where the catalogue knows the file, also what
``predict_frame`` of a picture of 1920 × 1080 (on a GPU, one that lies there) takes beyond the network.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent.parent / "src"))

import dala
from dala import compute, ml
from dala.backends.webgpu.device import WebGpuDevice
from dala.ml.layers import lower
from dala.ml.network import Network, open_network
from dala.ml.run import stage
from dala.ml.run.cpu import import_onnxruntime
from model_moments import print_moments
from network_layers import compile_alone, print_layers, print_tilings

PHOTO = Path(__file__).parent.parent / "examples/assets/astronaut.jpg"
FREE = {"deeplab": (1, 513, 513, 3), "ssdlite": (1, 300, 300, 3), "posenet": (1, 257, 257, 3)}


def best_ms(run: Callable[[], object], runs: int) -> float:
    """The quickest of many runs."""
    taken = []
    for _ in range(runs):
        begun = time.perf_counter()
        run()
        taken.append(time.perf_counter() - begun)
    return 1e3 * min(taken)


def by_turns(
    one: Callable[[], object], other: Callable[[], object], runs: int
) -> tuple[list[float], list[float]]:
    """Each run of one beside a run of the other, so that both see the same machine."""
    taken: tuple[list[float], list[float]] = ([], [])
    for number in range(-(runs // 3), 3 * runs):
        for run, times in zip((one, other), taken, strict=True):
            begun = time.perf_counter()
            run()
            if number >= 0:
                times.append(1e3 * (time.perf_counter() - begun))
    return taken


def example(network: Network, name: str) -> list[np.ndarray[Any, Any]]:
    """Inputs of a fitting shape: a photo, as of noise alone a mask is empty and compares with nothing."""
    found = []
    for spec in network.inputs:
        free = next((s for key, s in FREE.items() if key in name), None)
        shape = free if free is not None else tuple(n or 1 for n in spec.shape)
        _, height, width, _ = shape
        photo = np.asarray(Image.open(PHOTO).convert("RGB").resize((width, height)))[None]
        bytes_ = spec.dtype == np.uint8
        found.append(photo if bytes_ else (photo / 255).astype(spec.dtype))
    return found


def runtime_alone(file: Path, threads: int) -> Any:
    """ONNX Runtime as its own documentation says, but for spinning."""
    ort = import_onnxruntime()
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return ort.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])


def difference(
    found: Sequence[np.ndarray[Any, Any]], wanted: Sequence[np.ndarray[Any, Any]]
) -> float:
    """The largest, relative to the largest value; of whole numbers, the part that differs."""
    worst = 0.0
    for a, b in zip(found, wanted, strict=True):
        if b.dtype.kind == "f":
            worst = max(worst, float(np.abs(a - b).max() / max(1e-30, np.abs(b).max())))
        else:
            worst = max(
                worst, float((np.abs(a.astype("i8") - b.astype("i8")) > (b.dtype == "u1")).mean())
            )
    return worst


def gpu_ms(network: Network, inputs: Sequence[np.ndarray[Any, Any]], runs: int) -> float | None:
    """What the GPU itself says it took."""
    device, runner = network.device, network._runner
    assert isinstance(device, WebGpuDevice)
    body = runner.body([a.shape for a in inputs])  # type: ignore[union-attr]
    executable = compile_alone(body)
    arrays = [device.allocate(t) for t in (*body.input_types, *body.output_types)]
    for storage, array in zip(arrays, inputs, strict=False):
        device.upload(storage, array)
    taken = []
    warm_up(lambda: executable.repeat(arrays, (), 20), device)
    for _ in range(runs):
        if not device.adapter.is_software:
            executable.repeat(arrays, (), 20)
        timer = executable.launch(arrays, (), timed=True)
        found = None if timer is None else timer()
        if found is not None:
            taken.append(found)
    return min(taken, default=None)


def warm_up(work: Callable[[], object], device: WebGpuDevice, seconds: float = 0.2) -> None:
    """Keep a GPU busy until its clocks are up: idle, an H200 takes 2.5 times as long for the same."""
    end = time.perf_counter() + seconds
    while time.perf_counter() < end and not device.adapter.is_software:
        work()
        device.wait("warming up")


def frame_adds_ms(file: Path, device: str, runs: int) -> float | None:
    """From a picture of 1920 × 1080 to results in its pixels, with one look, less the network alone."""
    named = [n for n in ml.available_models() if ml.model_info(n).weights.file == file.name]
    if not named:
        return None
    photo = np.asarray(Image.open(PHOTO).convert("RGB").resize((1920, 1080)))
    with dala.use(device), ml.load_model(named[0], folder=file.parent) as model:
        tensors = example(model.network, file.stem)
        picture = compute.from_array(photo) if device.startswith("webgpu") else photo
        once = {"closer": False} if "blazeface" in named[0] else {}
        whole, net = by_turns(
            lambda: model.predict_frame(picture, **once),
            lambda: model.network.run(*tensors),
            runs,
        )
    return float(np.median(np.array(whole) - np.array(net)))


def on_frames(file: Path, device: str, look: Callable[[str, ml.Model, Any], Any]) -> Any:
    """``look`` at a model of the catalogue, and what predicts a picture of 1920 × 1080 on the GPU."""
    named = [n for n in ml.available_models() if ml.model_info(n).weights.file == file.name]
    if not named:
        return None
    photo = np.asarray(Image.open(PHOTO).convert("RGB").resize((1920, 1080)))
    with dala.use(device), ml.load_model(named[0], folder=file.parent) as model:
        picture = compute.from_array(photo)
        once = {"closer": False} if "blazeface" in named[0] else {}
        return look(named[0], model, lambda: model.predict_frame(picture, **once))


def frame_ms(file: Path, device: str, runs: int) -> float | None:
    """The wall time from a picture on the GPU to results, in a row."""
    found: float | None = on_frames(file, device, lambda _n, _m, predict: best_ms(predict, runs))
    return found


def measure(file: Path, device: str, runs: int, threads: int) -> dict[str, Any]:
    session = runtime_alone(file, threads)
    with open_network(file, device=device) as network:
        inputs = example(network, file.stem)
        given = {spec.name: a for spec, a in zip(network.inputs, inputs, strict=True)}
        wanted, found = session.run(None, given), network.run(*inputs)
        row: dict[str, Any] = {"model": file.stem, "difference": difference(found, wanted)}
        ours, theirs = by_turns(
            lambda: network.run(*inputs), lambda: session.run(None, given), runs
        )
        row |= {"wall_ms": min(ours), "onnxruntime_ms": min(theirs)}
        row["ratio"] = float(np.median(ours) / np.median(theirs))
        row["frame_adds_ms"] = frame_adds_ms(file, device, runs)
        if device.startswith("webgpu"):
            row["gpu_ms"] = gpu_ms(network, inputs, runs)
            row["wall_ms"] = best_ms(lambda: network.run(*inputs), 3 * runs)
            row["frame_ms"] = frame_ms(file, device, 3 * runs)
    return row


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--layers", action="store_true", help="each dispatch of each network")
    parser.add_argument("--moments", action="store_true", help="of a frame's way to its results")
    parser.add_argument("--brief", action="store_true", help="only what the options above ask for")
    parser.add_argument("--tune", action="store_true", help="each product with many tilings")
    parser.add_argument("--without", default="", help="a rewrite of layers/fuse.py: join_separable")
    parser.add_argument(
        "--uniforms", action="store_true", help="sizes in uniforms, not in the text"
    )
    parser.add_argument("--repeats", type=int, default=20, help="of a dispatch that is timed")
    parser.add_argument("--only", default="", help="part of a file's name")
    options = parser.parse_args()
    for module in (lower, stage):
        module.PASSES = tuple(p for p in module.PASSES if p.__name__ != options.without)  # type: ignore[attr-defined]
    threads = options.threads or int(dala.compute.device_info().get("threads", 1) or 1)  # type: ignore[call-overload]
    rows = []
    print(
        f"{'model':48} {'difference':>10} {'wall ms':>9} {'GPU ms':>8} "
        f"{'frame adds':>10} {'frame ms':>9} {'ONNX Runtime, CPU':>18} {'ratio':>6}"
    )
    with dala.use("cpu", threads=threads):
        for file in sorted(options.folder.glob("*.onnx")):
            if options.only in file.stem and not options.brief:
                row = measure(file, options.device, options.runs, threads)
                rows.append(row)
                spent, frame = row.get("gpu_ms"), row["frame_adds_ms"]
                print(
                    f"{row['model'][:48]:48} {row['difference']:10.1e} {row['wall_ms']:9.3f} "
                    f"{'' if spent is None else f'{spent:.3f}':>8} "
                    f"{'' if frame is None else f'{frame:.3f}':>10} "
                    f"{row.get('frame_ms') or 0.0:9.3f} {row['onnxruntime_ms']:18.3f} "
                    f"{row['ratio']:6.3f}"
                )
        for file in sorted(options.folder.glob("*.onnx")) if options.moments else ():
            if options.only in file.stem:
                on_frames(file, options.device, print_moments)
        for wanted, show in (
            (options.layers, print_layers),
            (options.tune, print_tilings),
        ):
            for file in sorted(options.folder.glob("*.onnx")) if wanted else ():
                if options.only in file.stem:
                    with open_network(file, device=options.device) as network:
                        show(file.stem, network, example(network, file.stem), options.repeats)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
