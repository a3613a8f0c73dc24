"""Compute shaders on a surface, and frames that stay on the GPU."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import numpy as np
import pytest

import dala
from dala import compute, gpu
from dala.errors import PictureNotFoundError, ShaderError, SurfaceError
from dala.gpu import Surface, command
from dala.gpu.shaders import find_entry, find_variables

pytestmark = pytest.mark.webgpu
INVERT = """
@group(0) @binding(0) var<storage, read_write> pixels: array<u32>;
@group(0) @binding(1) var<uniform> surface: vec4u;

@compute @workgroup_size(8, 8)
fn invert(@builtin(global_invocation_id) at: vec3u) {
    if (at.x >= surface.x || at.y >= surface.y) { return; }
    let i = at.y * surface.x + at.x;
    pixels[i] = pixels[i] ^ 0xffffffu;
}
"""
FILL = """
@group(0) @binding(7) var<storage, read_write> pixels: array<u32>;
@binding(2) @group(0) var<uniform> tint: vec4f;  // set_uniform
@group(0) @binding(3) var<uniform> params: vec4u;
@group(0) @binding(4) var<storage, read> more: array<u32>;

@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) at: vec3u) {
    pixels[at.x + params.x] = pack4x8unorm(tint) + more[0];
}
"""
GROUPS = (5, 4, 1)  # of 8 × 8, for 40 × 30


@pytest.fixture
def surface() -> Iterator[Surface]:
    with gpu.create_surface(40, 30, device="webgpu") as made:
        yield made


def test_a_shader_between_drawing(surface: Surface) -> None:
    assert surface.supports_compute is gpu.supports_compute(surface) is True
    surface.clear((10, 20, 30))
    surface.dispatch_compute(INVERT, b"", GROUPS)
    surface.fill_rect(0, 0, 1, 1, "red")  # over it
    surface.present().wait()
    seen = np.asarray(surface)
    assert (seen[0, 0] == (255, 0, 0, 255)).all()
    assert (seen[1:] == (245, 235, 225, 255)).all()
    surface.dispatch_compute(INVERT, b"", GROUPS)  # begins with what was presented
    surface.present().wait()
    assert (np.asarray(surface)[1:] == (10, 20, 30, 255)).all()


def test_named_shaders_and_uniforms(surface: Surface) -> None:
    surface.load_shader("fill", FILL)
    surface.set_uniform("tint", struct.pack("<4f", 1, 0, 0, 1))
    surface.set_uniform("more", struct.pack("<I", 0x0100))
    surface.dispatch_compute("fill", struct.pack("<I", 3), (2, 1, 1))
    surface.set_uniform("tint", struct.pack("<4f", 0, 0, 1, 1))
    surface.dispatch_compute("fill", struct.pack("<I", 5), (1, 1, 1))
    seen = surface.read_pixels(0, 0, 8, 1)[0]
    red, blue, none = [255, 1, 0, 255], [0, 1, 255, 255], [0, 0, 0, 0]
    assert seen.tolist() == [none, none, none, red, red, blue, none, none]


def test_hot_reload(surface: Surface) -> None:
    surface.clear("black")
    surface.load_shader("it", INVERT)
    surface.dispatch_compute("it", b"", GROUPS)
    assert surface.read_pixels(0, 0, 1, 1)[0, 0].tolist() == [255, 255, 255, 255]
    surface.load_shader("it", INVERT.replace("0xffffffu", "0x0000ffu"))
    surface.dispatch_compute("it", b"", GROUPS)
    assert surface.read_pixels(0, 0, 1, 1)[0, 0].tolist() == [0, 255, 255, 255]
    wrong = INVERT.replace("pixels[i] ^", "pixels[i] ^^")
    with pytest.raises(ShaderError, match="refuses the shader"):
        surface.load_shader("it", wrong)
    receipt = surface.batch([command.encode_load_shader("it", wrong)])  # as bytes it is told later
    with pytest.raises(ShaderError, match="refuses the shader"):
        receipt.wait()
    surface.dispatch_compute("it", b"", GROUPS)  # the one before is still there
    surface.present().wait()
    assert np.asarray(surface)[0, 0].tolist() == [255, 255, 255, 255]


@pytest.mark.parametrize(
    ("shader", "error", "message"),
    [
        ("nonsense", ShaderError, "no @compute function in 'nonsense'"),
        (FILL, SurfaceError, "the shader reads 'tint', which nobody has set"),
    ],
)
def test_what_goes_wrong_is_told(
    surface: Surface, shader: str, error: type[Exception], message: str
) -> None:
    surface.clear("red")
    surface.dispatch_compute(shader)
    with pytest.raises(error) as caught:
        surface.present().wait()
    assert message in str(caught.value)
    assert np.asarray(surface)[0, 0].tolist() == [255, 0, 0, 255]


@pytest.mark.parametrize(
    ("shader", "message"),
    [
        ("@compute @workgroup_size(1) fn main() { oh }", "refuses the shader"),
        ("@group(1) @binding(0) var<uniform> a: u32; @compute fn main() {}", "group 1"),
    ],
)
def test_a_wrong_text_is_refused_at_once(surface: Surface, shader: str, message: str) -> None:
    surface.clear("red")
    with pytest.raises(ShaderError) as caught:
        surface.dispatch_compute(shader)
    assert message in str(caught.value)
    surface.present().wait()
    assert np.asarray(surface)[0, 0].tolist() == [255, 0, 0, 255]


def test_a_batch_with_shaders_is_whole_or_not_at_all(surface: Surface) -> None:
    surface.clear("red")
    surface.set_uniform("tint", struct.pack("<4f", 1, 0, 0, 1))
    surface.set_uniform("more", bytes(4))
    bad = [
        command.encode_set_uniform("tint", bytes(16)),
        command.encode_load_shader("fill", INVERT),
        command.encode_dispatch_compute("fill", b"", GROUPS),
        command.encode_blit(99, 0, 0),
    ]
    with pytest.raises(PictureNotFoundError):
        surface.batch(bad).wait()
    assert (surface.read_pixels(0, 0, 40, 30) == (255, 0, 0, 255)).all()
    surface.dispatch_compute(FILL, bytes(4))
    assert surface.read_pixels(0, 0, 1, 1)[0, 0].tolist() == [255, 0, 0, 255]
    surface.dispatch_compute("fill", b"", GROUPS)
    with pytest.raises(ShaderError):
        surface.present().wait()
    surface.batch(bad[1:3]).wait()
    assert surface.read_pixels(9, 9, 1, 1)[0, 0].tolist() == [0, 255, 255, 255]


def test_frames_of_kernels_stay_on_the_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    with dala.use("webgpu") as device, gpu.create_surface(64, 48) as surface:
        image = np.random.default_rng(0).integers(0, 256, (48, 64, 4), dtype=np.uint8)
        source, out = compute.from_array(image), compute.buffer_zeros((48, 64, 4), "u8")
        surface.present().wait()
        moved: list[str] = []
        for name in ("download", "upload", "fetch"):
            monkeypatch.setattr(device, name, lambda *a, name=name: moved.append(name))
        compute.run_to_surface("invert", [source], out, surface)
        surface.present().wait()
        compute.run_to_surface("invert", [source], None, surface)
        surface.dispatch_compute(INVERT, b"", (8, 6, 1))
        surface.present().wait()
        surface.clear("red")  # nor is a frame fetched that is painted all over
        compute.run_to_surface("invert", [source], None, surface)
        surface.dispatch_compute(INVERT, b"", (8, 6, 1))
        surface.present().wait()
        assert moved == []
        monkeypatch.undo()
        assert (np.asarray(surface)[..., :3] == image[..., :3]).all()
        compute.run_kernel("invert", [out], out)
        assert (out.read() == image).all()


def test_variables_are_found() -> None:
    assert find_variables(INVERT) == {"pixels": (0, "storage"), "surface": (1, "uniform")}
    assert find_variables(FILL)["more"] == (4, "read-only-storage")
    assert find_variables("// @group(0) @binding(0) var<uniform> no: u32;\n") == {}
    assert (find_entry(INVERT), find_entry(FILL)) == ("invert", "main")
