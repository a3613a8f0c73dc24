"""Write docs/kernels.md and its pictures from the kernels' own declarations.

python docs/build.py            the page and the pictures (needs Pillow)
python docs/build.py --check    only compare the page; exit 1 if it is out of date
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from dala import compute
from dala.language.kernel import Kernel
from dala.language.registry import find_kernel

HERE = Path(__file__).parent
PHOTO = HERE.parent / "examples" / "assets" / "astronaut.jpg"
SIDE = 288

# What a picture is made with, where the defaults would show nothing.
SHOWN: dict[str, dict[str, object]] = {
    "blur": {"radius": 6}, "sharpen": {"amount": 1.5}, "brightness": {"value": 0.2},
    "contrast": {"value": 0.6}, "saturation": {"value": 1.0}, "gamma": {"value": 1.8},
    "hue": {"degrees": 120}, "white_balance": {"temperature": 9000}, "exposure": {"stops": 0.8},
    "beauty": {"strength": 0.9}, "denoise": {"strength": 0.8}, "median": {"radius": 3},
    "rotate": {"degrees": 20}, "vignette": {"intensity": 0.9}, "pixelate": {"size": 12},
    "warp_affine": {"matrix": (0.9, 0.25, 0, -0.15, 0.9, 40)},
    "warp_perspective": {"matrix": (1, 0.15, 0, 0.05, 1, 0, 0.0002, 0.0009, 1)},
    "crop": {"x": 120, "y": 20},
    "flip": {"horizontal": True},
}  # fmt: skip


def page() -> str:
    """The catalogue as Markdown: every parameter with range, default and help."""
    kernels = [find_kernel(name) for name in compute.kernels()]
    images = [k for k in kernels if k.domain == "image"]
    tensors = [k for k in kernels if k.domain == "tensor"]
    lines = [
        "# Kernels",
        "",
        "Written by `docs/build.py` from the kernels' own declarations. Values are 0..1, offsets clamp "
        "to the edge, alpha is kept unless said.",
        "",
        "## Images",
        "",
    ]
    for kernel in images:
        lines += describe(kernel)
        if (HERE / "kernels" / f"{kernel.name}.jpg").exists():
            lines += [f"![{kernel.name}](kernels/{kernel.name}.jpg)", ""]
    lines += ["## Tensors", ""]
    for kernel in tensors:
        lines += describe(kernel)
    return "\n".join(lines)


def describe(kernel: Kernel) -> list[str]:
    """One kernel: its sentence and its parameters."""
    inputs = kernel.inputs_in_words.replace("1 inputs", "1 input")
    lines = [f"### {kernel.name}", "", f"{kernel.doc.splitlines()[0]} ({inputs})", ""]
    if kernel.params:
        lines += ["| parameter | default | takes | |", "|---|---|---|---|"]
        for p in kernel.params:
            default = "required" if p.required else f"`{p.default}`"
            kind = " (compile-time)" if p.static else ""
            lines.append(f"| `{p.name}` | {default} | {p.describe()}{kind} | {p.help} |")
        lines.append("")
    return lines


def make_pictures() -> None:
    """Each image kernel on a photo, before and after side by side."""
    from PIL import Image

    with Image.open(PHOTO) as opened:
        photo = opened.convert("RGBA").resize((SIDE, SIDE))
    source = compute.from_array(photo)
    folder = HERE / "kernels"
    folder.mkdir(exist_ok=True)
    for name in compute.kernels():
        kernel = find_kernel(name)
        picture = draw(kernel, source) if kernel.domain == "image" else None
        if picture is None:
            continue
        sheet = Image.new("RGB", (2 * SIDE + 4, SIDE), "white")
        sheet.paste(photo.convert("RGB"), (0, 0))
        squares = np.indices((SIDE, SIDE)) // 16
        checker = (squares.sum(0) % 2 * 40 + 190).astype(np.uint8)
        right = Image.fromarray(checker).convert("RGBA")
        right.alpha_composite(Image.fromarray(picture))
        sheet.paste(right.convert("RGB"), (SIDE + 4, 0))
        sheet.save(folder / f"{name}.jpg", quality=82)
        print(name)


def draw(kernel: Kernel, source: compute.Buffer) -> np.ndarray | None:
    """The kernel's picture, or None where one photo does not show it."""
    if kernel.name.startswith(("yuv", "nv12", "rgba_to")) or kernel.name == "lut":
        return None
    gradient = compute.buffer_zeros(source.shape, "u8")
    compute.run_kernel("generate_gradient", [], gradient)
    inputs = [source, gradient, gradient][: kernel.inputs - kernel.optional_inputs]
    half = (SIDE // 2, SIDE // 2, 4)
    output = compute.buffer_zeros(half if kernel.name == "crop" else source.shape, "u8")
    compute.run_kernel(kernel, inputs, output, SHOWN.get(kernel.name, {}))
    whole = output.read()
    return whole if whole.shape == source.shape else np.pad(whole, ((72, 72), (72, 72), (0, 0)))


def main() -> None:
    target = HERE / "kernels.md"
    if "--check" in sys.argv:
        if target.read_text(encoding="utf-8") != page():
            raise SystemExit("docs/kernels.md is out of date: run python docs/build.py")
        return
    make_pictures()
    target.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
