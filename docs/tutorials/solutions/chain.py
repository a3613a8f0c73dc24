"""A fused chain: blur, a kernel of one's own, a vignette; one pass, the same bytes as three."""

import numpy as np

import dala
from dala import compute, media


@dala.kernel
def cold(src):
    p = src[0, 0]
    return (p.rgb * rgb(0.8, 0.95, 1.2)).with_alpha(p.a)


STAGES = [("blur", {"radius": 3}), (cold, {}), ("vignette", {"intensity": 0.6})]


def fused(photo, out):
    pipeline = compute.pipeline()
    source = photo
    for number, (kernel, params) in enumerate(STAGES):
        last = number == len(STAGES) - 1
        target = out if last else compute.scratch(photo.shape, "u8")
        pipeline.add({"kernel": kernel, "inputs": [source], "output": target, "params": params})
        source = target
    pipeline.run()
    return pipeline.explain()


def apart(photo, out):
    source = photo
    for kernel, params in STAGES:
        target = compute.buffer_zeros(photo.shape, "u8")
        compute.run_kernel(kernel, [source], target, params)
        source = target
    compute.run_kernel("crop", [source], out, {"x": 0, "y": 0})  # a copy


def main():
    photo = compute.from_array(media.test_pattern(320, 200))
    one, three = (compute.buffer_zeros(photo.shape, "u8") for _ in range(2))
    plan = fused(photo, one)
    apart(photo, three)
    assert "→ 1 pass" in plan
    if not compute.device_info()["gpu"]:  # between shaders a GPU may differ by a level
        assert np.array_equal(one.read(), three.read())
    return plan


if __name__ == "__main__":
    print(main())
