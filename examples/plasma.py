"""Plasma, by a compute shader: every pixel a few waves, on the GPU. Needs a WebGPU adapter (Mesa's
lavapipe will do); drawing goes on top of it as on any surface."""

from __future__ import annotations

import struct

from dala import gpu
from stage import Example

WIDTH, HEIGHT = 640, 360
SHADER = """
@group(0) @binding(0) var<storage, read_write> pixels: array<u32>;
@group(0) @binding(1) var<uniform> surface: vec4u;  // width, height, frame
@group(0) @binding(2) var<uniform> params: vec4f;   // seconds

fn wave(p: vec2f, t: f32) -> f32 {
    let ring = length(p - 0.6 * vec2f(sin(t * 0.7), cos(t * 0.9)));
    let straight = sin(p.x * 5.0 + t) + sin(p.y * 7.0 - t * 1.3) + sin((p.x + p.y) * 4.0 + t * 0.6);
    return straight + sin(ring * 9.0 - t);
}

@compute @workgroup_size(8, 8)
fn plasma(@builtin(global_invocation_id) at: vec3u) {
    if (at.x >= surface.x || at.y >= surface.y) { return; }
    let size = vec2f(surface.xy);
    let p = (vec2f(at.xy) * 2.0 - size) / size.y;
    let v = wave(p, params.x);
    let color = 0.5 + 0.5 * cos(v * 0.9 + vec3f(0.4, 1.3, 2.4));
    pixels[at.y * surface.x + at.x] = pack4x8unorm(vec4f(color, 1.0));
}
"""


def setup(surface: gpu.Surface) -> None:
    if not surface.supports_compute:
        raise SystemExit(
            "plasma needs a GPU: run with DALA_DEVICE=webgpu (pip install 'dala-gpu[webgpu]')"
        )
    surface.load_shader("plasma", SHADER)


def draw(surface: gpu.Surface, seconds: float) -> None:
    groups = (-(-surface.width // 8), -(-surface.height // 8), 1)
    surface.dispatch_compute("plasma", struct.pack("<4f", seconds, 0, 0, 0), groups)
    surface.draw_round_rect(16, 16, WIDTH - 32, HEIGHT - 32, 24, "#ffffffa0")
    surface.present()


EXAMPLE = Example("plasma", (WIDTH, HEIGHT), setup, draw, at=4.0)

if __name__ == "__main__":
    EXAMPLE.main()
