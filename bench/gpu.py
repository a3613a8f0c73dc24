"""The GPU by numbers: right first, then how fast, side by side with whoever else is installed.

    python bench/gpu.py [--size 3840x2160] [--quick] [--variants] [--json FILE] [--if-real]

1. correctness: every kernel against the reference device, and pipelines fused against unfused, on this GPU.
   (CI runs on a software GPU that has no fused multiply-add; this is where a real one is checked.)
2. GPU time per run: median of many, by timestamp queries; and wall time of many runs in one submit, which
   holds without them. A copy of the frame is the bound.
3. --variants: the sizes that tiles.Tuning chooses, others beside them.
4. upload, download, overhead of a run, matmul; torch, torchvision and CuPy where they are installed.
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import json
import platform
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "src"))
sys.path.insert(0, str(Path(__file__).parent.parent / "examples"))

import dala
from dala import compute
from dala.backends.webgpu.adapters import best_real_gpu
from dala.backends.webgpu.device import WebGpuDevice
from dala.backends.webgpu.execute import GpuExecutable
from dala.backends.webgpu.pipelines import PipelineCache
from dala.compute.engine import Engine
from dala.compute.pipelines import Pipeline
from photo_chain import CHAIN

BUSY = 40  # runs that keep the clocks up before each that is timed
BUSY_PEERS = 10  # … for CUDA
KERNELS: list[tuple[str, dict[str, Any], float | None]] = [  # and the goal on an H200, µs
    ("brightness", {"value": 0.1}, 25),
    ("contrast", {"value": 0.2}, 25),
    ("invert", {}, 25),
    ("gamma", {"value": 2.2}, 25),
    ("saturation", {"value": 0.3}, 25),
    ("grayscale", {}, 30),
    ("sharpen", {}, 30),
    ("blur", {"radius": 1}, None),
    ("blur", {"radius": 3}, 45),
    ("blur", {"radius": 7}, 80),
    ("blur", {"radius": 10}, None),
    ("blur", {"radius": 25}, None),
    ("median", {"radius": 1}, 60),
    ("denoise", {"strength": 0.5}, 100),
    ("edge_detect", {}, None),
    ("vignette", {}, None),
    ("rotate", {"degrees": 10}, None),
]
VARIANTS: dict[str, dict[str, Any]] = {
    "as chosen": {},
    "no halves": {"half": False},
    "unchecked": {},  # the shaders without wgpu's checks of indices and loops
    "point 4x2": {"point_rows": 2},
    "point 8x1": {"point_columns": 8},
    "stencil 4x1": {"stencil_rows": 1},
    "stencil 4x4": {"stencil_rows": 4},
    "stencil 8x1": {"stencil_columns": 8, "stencil_rows": 1},
    "stencil 1x4": {"stencil_columns": 1, "stencil_rows": 4},
    "stencil workgroup 64x4": {"stencil_workgroup": (64, 4)},
    "stencil workgroup 32x2": {"stencil_workgroup": (32, 2)},
    "threads 256, tiles 256": {"threads": 256, "tile_columns": (256,)},
    "threads 192, tiles 192": {"threads": 192, "tile_columns": (192, 256)},
    "4 rows": {"tile_rows": (4, 2)},
    "8 rows": {"tile_rows": (8, 4, 2), "half_rows": 8},
}
VARIED = [("brightness", {"value": 0.1}), ("sharpen", {}), ("median", {"radius": 1}),
          ("denoise", {"strength": 0.5}), ("blur", {"radius": 3}), ("blur", {"radius": 7})]  # fmt: skip


def picture(shape: tuple[int, ...]) -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)


def pipeline_of(stages: Sequence[tuple[str, dict[str, Any]]], a: Any, out: Any) -> Pipeline:
    p = Pipeline(a.engine)
    last = a
    for number, (kernel, params) in enumerate(stages):
        target = out if number == len(stages) - 1 else compute.scratch(a.shape, "u8")
        p.add({"kernel": kernel, "inputs": [last], "output": target, "params": params})
        last = target
    return p


# -- right? ------------------------------------------------------------------------------------


def levels_apart(a: np.ndarray, b: np.ndarray) -> tuple[int, float]:
    """The largest difference, and the share of values that differ."""
    off = np.abs(a.astype(int) - b.astype(int))
    return int(off.max()), float(np.count_nonzero(off) / off.size)


def check(rows: list[dict[str, Any]]) -> bool:
    """Every kernel against the reference; the chain and some pairs fused against unfused."""
    fine = True
    print("\n| right? | against | worst, levels | values that differ |\n|---|---|---|---|")

    def say(what: str, against: str, worst: int, share: float, ok: bool) -> None:
        nonlocal fine
        fine = fine and ok
        rows.append({"what": what, "against": against, "worst": worst, "share": share, "ok": ok})
        print(f"| {what} | {against} | {worst}{'' if ok else ' **too many**'} | {share:.6f} |")

    for shape in ((270, 480, 4), (271, 483, 4)):
        source = picture(shape)
        for kernel, params, _ in KERNELS:
            got, want = (run_on(d, [(kernel, params)], source) for d in ("webgpu", "reference"))
            worst, share = levels_apart(got, want)
            say(f"{name_of(kernel, params)} {shape[1]}", "reference", worst, share, worst <= 1)
        some = [(k, p) for k, p, _ in KERNELS if k in ("blur", "sharpen", "contrast", "grayscale")]
        chains = [CHAIN, *([a, b] for a, b in itertools.permutations(some[:4], 2))]
        for chain in chains:
            together = run_on("webgpu", chain, source)
            apart = source
            for stage in chain:
                apart = run_on("webgpu", [stage], apart)
            worst, share = levels_apart(together, apart)
            what = " → ".join(name_of(k, p) for k, p in chain)
            say(f"{what} {shape[1]}", "unfused", worst, share, worst <= 1 and share <= 1e-3)
    return fine


def run_on(
    device: str, stages: Sequence[tuple[str, dict[str, Any]]], data: np.ndarray
) -> np.ndarray:
    with dala.use(device):
        a, out = compute.from_array(data), compute.buffer_zeros(data.shape, "u8")
        pipeline_of(stages, a, out).run()
        return out.read().copy()


def name_of(kernel: str, params: dict[str, Any]) -> str:
    return f"{kernel} {params['radius']}" if "radius" in params else kernel


# -- how fast? ---------------------------------------------------------------------------------


def gpu_times_us(
    executable: GpuExecutable, slots: list[Any], params: Any, runs: int
) -> list[float]:
    """By timestamps, one run at a time; empty where there are none.

    Each comes right behind a batch of the same: an idle GPU lowers its clocks to a third.
    """
    times = []
    for _ in range(runs):
        executable.repeat(slots, params, BUSY)
        timer = executable.launch(slots, params, timed=True)
        measured = timer() if timer is not None else None
        if measured is None:
            return []
        times.append(measured * 1e3)
    return times


def many_in_one_submit_us(
    device: WebGpuDevice, executable: GpuExecutable, slots: list[Any], params: Any, repeats: int
) -> float:
    """Wall time of one run among many that are submitted together."""
    executable.launch(slots, params)
    best = []
    for _ in range(5):
        device.wait()
        begin = time.perf_counter()
        executable.repeat(slots, params, repeats)
        device.wait()
        best.append((time.perf_counter() - begin) / repeats * 1e6)
    return statistics.median(best)


def measure(device: WebGpuDevice, p: Pipeline, runs: int) -> dict[str, Any]:
    ready = p._prepared()
    executable = ready.executable
    assert isinstance(executable, GpuExecutable)
    slots = [b.storage() if isinstance(b, compute.Buffer) else None for b in ready.buffers]
    gpu_times_us(executable, slots, ready.numbers, 5)
    times = gpu_times_us(executable, slots, ready.numbers, runs)
    return {
        "gpu_us": statistics.median(times) if times else None,
        "gpu_us_best": min(times) if times else None,
        "batch_us": many_in_one_submit_us(device, executable, slots, ready.numbers, 50),
        "dispatches": len(executable.steps),
    }


def warm_up(device: WebGpuDevice, p: Pipeline, seconds: float = 2.0) -> None:
    """Work until the clocks are up."""
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        measure(device, p, 1)


def shown(value: float | None) -> str:
    return "–" if value is None else f"{value:,.1f}"


def bench_kernels(device: WebGpuDevice, shape: tuple[int, ...], runs: int) -> list[dict[str, Any]]:
    rows = []
    a, out = compute.from_array(picture(shape)), compute.buffer_zeros(shape, "u8")
    print(
        "\n| pass | GPU µs (median) | best | µs in a batch | dispatches | goal |\n|---|---|---|---|---|---|"
    )
    copy = Pipeline(a.engine).add({"op": "copy_buffer", "inputs": [a], "output": out})
    work: list[tuple[str, Pipeline, float | None]] = [("copy (the bound)", copy, None)]
    for kernel, params, goal in KERNELS:
        work.append((name_of(kernel, params), pipeline_of([(kernel, params)], a, out), goal))
    work.append(("chain of five", pipeline_of(CHAIN, a, out), 70))
    warm_up(device, work[-1][1])
    for name, p, goal in work:
        found = measure(device, p, runs)
        rows.append({"name": name, "goal_us": goal, **found})
        print(
            f"| {name} | {shown(found['gpu_us'])} | {shown(found['gpu_us_best'])} "
            f"| {shown(found['batch_us'])} | {found['dispatches']} | {goal or ''} |"
        )
    return rows


def bench_variants(device: WebGpuDevice, shape: tuple[int, ...], runs: int) -> list[dict[str, Any]]:
    """Each variant in an engine of its own, so that nothing compiled for another is used."""
    rows = []
    names = [name_of(k, p) for k, p in VARIED] + ["chain of five"]
    print("\n| variant | " + " | ".join(names) + " |\n|---|" + "---|" * len(names))
    kept = device.tuning, device.pipelines
    wanted: dict[str, np.ndarray] = {}  # by stages, from the first variant
    for title, change in VARIANTS.items():
        device.tuning, device.pipelines = replace(kept[0], **change), kept[1]
        if title == "unchecked":
            device.pipelines = PipelineCache(Unchecked(device.gpu))
        engine = Engine(device)
        type_ = compute.buffer_zeros(shape, "u8").type
        a, out = (compute.Buffer(engine, type_, device.allocate(type_)) for _ in range(2))
        a.write(picture(shape))
        cells = []
        for stages in [[s] for s in VARIED] + [CHAIN]:
            try:
                found = measure(device, pipeline_of(stages, a, out), max(5, runs // 3))
                result = out.read()
                first = wanted.setdefault(str(stages), result)
                if levels_apart(result, first)[0] > 1:  # fast and wrong is not a variant
                    raise dala.DalaError(f"{stages[-1][0]} gives another picture")
                cells.append(found["gpu_us"] or found["batch_us"])
            except dala.DalaError as error:  # a variant may not fit this GPU: say so, go on
                print(f"<!-- {title}: {error} -->")
                cells.append(None)
        rows.append({"variant": title, **dict(zip(names, cells, strict=True))})
        print(f"| {title} | " + " | ".join(shown(c) for c in cells) + " |")
    device.tuning, device.pipelines = kept
    return rows


class Unchecked:
    """A wgpu device whose shaders run without checks: what do they cost? (An experiment; through parts of
    wgpu-py that are not public.)"""

    def __init__(self, gpu: Any) -> None:
        self.gpu = gpu

    def __getattr__(self, name: str) -> Any:
        return getattr(self.gpu, name)

    def create_shader_module(self, *, code: str, label: str = "") -> Any:
        from wgpu.backends.wgpu_native import _api

        source = _api.new_struct_p("WGPUShaderSourceWGSL *", code=_api.to_c_string_view(code))
        source[0].chain.next = _api.ffi.NULL
        source[0].chain.sType = _api.lib.WGPUSType_ShaderSourceWGSL
        chain = _api.ffi.cast("WGPUChainedStruct *", source)
        described = _api.new_struct_p(
            "WGPUShaderModuleDescriptor *", nextInChain=chain, label=_api.to_c_string_view(label)
        )
        create = _api.libf.wgpuDeviceCreateShaderModuleTrusted
        return _api.GPUShaderModule(label, create(self.gpu._internal, described, 0), self.gpu)


def median_s(run: Callable[[], object], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def bench_transfers(shape: tuple[int, ...]) -> dict[str, float]:
    data = picture(shape)
    b = compute.from_array(data)
    target = np.empty_like(data)
    target[:] = 0  # its pages exist
    b.read(target)

    def upload() -> None:
        b.write(data)
        b.engine.device.wait()  # type: ignore[attr-defined]

    found = {
        "upload_gb_s": data.nbytes / median_s(upload, 20) / 1e9,
        "upload_queued_gb_s": data.nbytes / median_s(lambda: b.write(data), 20) / 1e9,
        "download_view_gb_s": data.nbytes / median_s(lambda: b.read(), 20) / 1e9,
        "download_into_gb_s": data.nbytes / median_s(lambda: b.read(target), 20) / 1e9,
    }
    print("\n| transfer | GB/s |\n|---|---|")
    for name, value in found.items():
        print(f"| {name.removesuffix('_gb_s').replace('_', ' ')} | {value:.1f} |")
    return found


def bench_overhead(device: WebGpuDevice) -> dict[str, float]:
    """A tiny image: what is left is Python, the API and the way to the GPU and back."""
    a, out = compute.from_array(picture((8, 8, 4))), compute.buffer_zeros((8, 8, 4), "u8")
    p = pipeline_of(CHAIN, a, out)
    p.run()
    ready = p._prepared()
    executable = ready.executable
    assert isinstance(executable, GpuExecutable)
    slots = [b.storage() if isinstance(b, compute.Buffer) else None for b in ready.buffers]
    found = {
        "run_and_wait_us": median_s(p.run, 500) * 1e6,
        "encode_and_submit_us": median_s(lambda: executable.submit(slots, ready.numbers), 500)
        * 1e6,
    }
    device.wait()
    print("\n| overhead | µs |\n|---|---|")
    for name, value in found.items():
        print(f"| {name.removesuffix('_us').replace('_', ' ')} | {value:.1f} |")
    return found


def bench_matmul(device: WebGpuDevice, side: int) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    factors = [rng.standard_normal((side, side), dtype=np.float32) for _ in range(2)]
    a, b = map(compute.from_array, factors)
    out = compute.buffer_zeros((side, side))
    p = Pipeline(a.engine).add({"kernel": "matmul", "inputs": [a, b], "output": out})
    found = measure(device, p, 10)
    took = found["gpu_us"] or found["batch_us"]
    found |= {"side": side, "tflops": 2 * side**3 / took / 1e6}
    rows = slice(0, min(side, 64))
    want = factors[0][rows].astype(np.float64) @ factors[1]
    found["error"] = float(np.abs(out.read()[rows] - want).max())
    torch = optional("torch")
    if torch is not None and torch.cuda.is_available():
        torch.backends.cuda.matmul.allow_tf32 = False
        x, y = (torch.from_numpy(f).cuda() for f in factors)
        found["torch_tflops"] = 2 * side**3 / cuda_us(torch, lambda: x @ y) / 1e6
        found["ratio"] = found["tflops"] / found["torch_tflops"]
    print(f"\nmatmul {side}³ f32: {found['tflops']:.2f} TFLOP/s, largest error {found['error']:.2g}"
          f"; torch (TF32 off): {shown(found.get('torch_tflops'))}")  # fmt: skip
    return found


def cooperative_matrices(device: WebGpuDevice) -> str:
    """Whether this wgpu hands out a device for f16 matrices by tensor cores, or what it says instead."""
    adapter = device.adapter.handle
    if "cooperative-matrix" not in adapter.features:
        return "not offered by the adapter"
    try:
        adapter.request_device_sync(required_features=["shader-f16", "cooperative-matrix"])
    except RuntimeError as refused:
        return " ".join(f"offered by the adapter, but wgpu refuses the device: {refused}".split())
    return "can be used"


# -- peers -------------------------------------------------------------------------------------


def optional(name: str) -> Any:
    """A module, or None where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def cuda_us(torch: Any, run: Callable[[], object], runs: int = 30) -> float:
    """Like gpu_times_us: each right behind some of the same, so that clocks are up and launches wait."""
    for _ in range(3):
        run()
    times = []
    for _ in range(runs):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        for _ in range(BUSY_PEERS):
            run()
        begin.record()
        run()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1e3)
    return statistics.median(times)


def bench_peers(shape: tuple[int, ...]) -> list[dict[str, Any]]:
    torch = optional("torch")
    if torch is None or not torch.cuda.is_available():
        print("\n(no CUDA peers here: torch is not installed or sees no GPU)")
        return []
    rows: list[dict[str, Any]] = []
    image = torch.from_numpy(picture(shape)).cuda()
    planes = image.permute(2, 0, 1).contiguous()
    other = torch.empty_like(image)
    found: list[tuple[str, str, Callable[[], object]]] = [
        ("torch", "copy", lambda: other.copy_(image)),
        ("torch", "brightness", lambda: (image.to(torch.int16) + 25).clamp(0, 255).to(torch.uint8)),
        ("torch", "invert", lambda: 255 - image),
    ]  # fmt: skip
    vision = optional("torchvision")
    if vision is not None:
        f = vision.transforms.functional
        rgb = planes[:3].contiguous()
        found += [
            ("torchvision", "blur 3", lambda: f.gaussian_blur(planes, [7, 7], [1.5, 1.5])),
            ("torchvision", "blur 7", lambda: f.gaussian_blur(planes, [15, 15], [3.5, 3.5])),
            ("torchvision", "grayscale", lambda: f.rgb_to_grayscale(rgb, 3)),
            ("torchvision", "brightness", lambda: f.adjust_brightness(rgb, 1.1)),
            ("torchvision", "sharpen", lambda: f.adjust_sharpness(rgb, 1.5)),
        ]
    for library, name, run in found:
        took = cuda_us(torch, run)
        rows.append({"library": library, "version": getattr(optional(library), "__version__", ""),
                     "name": name, "gpu_us": took})  # fmt: skip
    rows += bench_cvcuda(torch, image) + bench_cupy(torch, image)
    print("\n| peer | pass | GPU µs |\n|---|---|---|")
    for row in rows:
        print(f"| {row['library']} {row['version']} | {row['name']} | {row['gpu_us']:,.1f} |")
    return rows


def bench_cvcuda(torch: Any, image: Any) -> list[dict[str, Any]]:
    """NVIDIA's own, into outputs that exist already."""
    cvcuda = optional("cvcuda")
    if cvcuda is None:
        return []
    batch = image[None].contiguous()
    grey = torch.empty_like(batch[..., :1])
    outputs = [torch.empty_like(batch), grey]
    source, target, single = (cvcuda.as_tensor(t, "NHWC") for t in (batch, *outputs))
    stream = torch.cuda.Stream()
    own = cvcuda.as_stream(stream)
    edge = cvcuda.Border.REPLICATE

    def blur(radius: int) -> Callable[[], object]:
        size, sigma = (2 * radius + 1,) * 2, (radius / 2,) * 2
        return lambda: cvcuda.gaussian_into(target, source, size, sigma, edge, stream=own)

    to_grey = cvcuda.ColorConversion.RGBA2GRAY
    work: dict[str, Callable[[], object]] = {
        "brightness": lambda: cvcuda.convertto_into(target, source, 1.0, 25.0, stream=own),
        "grayscale": lambda: cvcuda.cvtcolor_into(single, source, to_grey, stream=own),
        "blur 1": blur(1),
        "blur 3": blur(3),
        "blur 7": blur(7),
        "median 1": lambda: cvcuda.median_blur_into(target, source, (3, 3), stream=own),
        "denoise": lambda: cvcuda.bilateral_filter_into(
            target, source, 5, 50.0, 2.0, edge, stream=own
        ),
    }
    rows = []
    with torch.cuda.stream(stream):
        for name, run in work.items():
            took = cuda_us(torch, run, 10)
            rows.append({"library": "cvcuda", "version": cvcuda.__version__,
                         "name": name, "gpu_us": took})  # fmt: skip
    return rows


def bench_cupy(torch: Any, image: Any) -> list[dict[str, Any]]:
    cupy = optional("cupy")
    filters = optional("cupyx.scipy.ndimage")
    if cupy is None or filters is None:
        return []
    data = cupy.from_dlpack(image).astype(cupy.float32)
    stream = cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream)
    work = {
        "blur 3": lambda: filters.gaussian_filter(data, (1.5, 1.5, 0), truncate=2.0),
        "median 1": lambda: filters.median_filter(data, (3, 3, 1)),
    }
    rows = []
    with stream:
        for name, run in work.items():
            took = cuda_us(torch, run, 10)
            row = {"library": "cupy", "version": cupy.__version__, "name": name, "gpu_us": took}
            rows.append(row)
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--size", default="3840x2160")
    parser.add_argument("--quick", action="store_true", help="fewer runs, a smaller matmul")
    parser.add_argument("--variants", action="store_true")
    parser.add_argument("--device", default="webgpu")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--if-real", action="store_true", help="only where there is a real GPU")
    options = parser.parse_args()
    real, why = best_real_gpu()
    if options.if_real and real is None:
        print(f"\nThe GPU bench is left out: {why}.")
        return 0
    width, height = map(int, options.size.split("x"))
    shape, runs = (height, width, 4), 9 if options.quick else 60
    device = dala.use(options.device).device
    assert isinstance(device, WebGpuDevice)
    report: dict[str, Any] = {
        "date": time.strftime("%Y-%m-%d"),
        "device": str(device.adapter),
        "driver": device.adapter.driver,
        "wgpu": optional("wgpu").__version__,
        "python": platform.python_version(),
        "dala": dala.__version__,
        "size": options.size,
        "limits": device.limits,
        "cooperative_matrix": cooperative_matrices(device),
        "timestamps": device.timers is not None,
        "command": "python bench/gpu.py " + " ".join(sys.argv[1:]),
    }
    print(f"# {report['device']}, {report['driver']}; {options.size} RGBA u8; {report['date']}")
    print(f"\ncooperative matrices (f16): {report['cooperative_matrix']}")
    report["checks"] = []
    right = check(report["checks"])
    print("\nAll right." if right else "\n**Some results are off: see above.**")
    steps: list[tuple[str, Callable[[], object]]] = [
        ("kernels", lambda: bench_kernels(device, shape, runs)),
        ("transfers", lambda: bench_transfers(shape)),
        ("overhead", lambda: bench_overhead(device)),
        ("matmul", lambda: bench_matmul(device, 256 if options.quick else 4096)),
        ("peers", lambda: bench_peers(shape)),
    ]
    if options.variants:
        steps.insert(1, ("variants", lambda: bench_variants(device, shape, runs)))
    for name, run in steps:
        report[name] = run()
        if options.json:  # after every step: a run cut short leaves what it has
            options.json.write_text(json.dumps(report, indent=1) + "\n")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
