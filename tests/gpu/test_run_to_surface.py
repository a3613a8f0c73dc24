"""Kernels that write onto a surface."""

from __future__ import annotations

import numpy as np
import pytest

import dala
from dala import compute, gpu
from dala.errors import ArgumentError, ShapeError


@pytest.mark.usefixtures("device")
def test_through_a_buffer() -> None:
    out = compute.buffer_zeros((30, 40, 4), "u8")
    with gpu.create_surface(40, 30) as surface:
        compute.run_to_surface("generate_gradient", [], out, surface, {})
        compute.run_kernel("invert", [out], out)  # afterwards: the surface has its own copy
        surface.present().wait()
        expected = out.read()
        expected[..., :3] = 255 - expected[..., :3]
        assert (np.asarray(surface) == expected).all()


@pytest.mark.usefixtures("device")
def test_straight_into_the_surface() -> None:
    image = np.random.default_rng(0).integers(0, 256, (30, 40, 4), dtype=np.uint8)
    source, out = compute.from_array(image), compute.buffer_zeros((30, 40, 4), "u8")
    with gpu.create_surface(40, 30) as surface:
        for _ in range(3):
            compute.run_to_surface("blur", [source], None, surface, {"radius": 2})
            surface.fill_rect(0, 0, 1, 1, "red")  # over it
            surface.present()
        compute.run_kernel("blur", [source], out, {"radius": 2})
        expected = out.read()
        expected[0, 0] = (255, 0, 0, 255)
        assert (np.asarray(surface) == expected).all()


def test_nothing_is_copied_on_the_cpu() -> None:
    with dala.use("cpu"), gpu.create_surface(40, 30, device="cpu") as surface:
        compute.run_to_surface("generate_gradient", [], None, surface)
        surface.present().wait()
        front = surface._renderer.canvas.front.host()
        buffer = compute.buffer_zeros((30, 40, 4), "u8")
        storage = buffer.storage()
        surface.take_buffer(buffer)
        surface.present().wait()
        assert surface._renderer.canvas.front.host() is storage is not front
        assert buffer.freed


def test_what_does_not_fit() -> None:
    with gpu.create_surface(40, 30) as surface:
        small = compute.buffer_zeros((30, 39, 4), "u8")
        with pytest.raises(ShapeError, match=r"takes a buffer of \(30, 40, 4\) u8"):
            compute.run_to_surface("generate_gradient", [], small, surface)
        with pytest.raises(ShapeError):
            surface.take_buffer(compute.buffer_zeros((30, 40, 4), "f32"))
    with pytest.raises(ArgumentError, match="expected a surface, got int"):
        compute.run_to_surface("generate_gradient", [], None, 3)  # type: ignore[arg-type]
