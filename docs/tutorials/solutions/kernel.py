"""A kernel: edges in orange over a darkened photo."""

import numpy as np

import dala
from dala import media


@dala.kernel
def bloom_edges(src, gain: float = dala.param(6.0, min=0, max=20, help="How strongly.")):
    p = src[0, 0]
    right = luma(src[1, 0]) - luma(src[-1, 0])
    down = luma(src[0, 1]) - luma(src[0, -1])
    edge = clamp(sqrt(right * right + down * down) * gain, 0.0, 1.0)
    return mix(p.rgb / 3.0, rgb(1.0, 0.55, 0.1), edge).with_alpha(p.a)


def main():
    plain = np.full((60, 80, 3), 90, np.uint8)
    assert (media.apply_filter(plain, bloom_edges) == 30).all()
    photo = media.test_pattern(320, 200)[..., :3]
    shown = media.apply_filter(photo, bloom_edges, gain=8.0)
    assert shown.max() > 200 and media.apply_filter(photo, bloom_edges, gain=0.0).max() <= 85
    return shown


if __name__ == "__main__":
    media.save(main(), "kernel.png")
