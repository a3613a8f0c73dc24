"""Write docs/kernels.md and its pictures from the kernels' own declarations.

python docs/build.py            the page and the pictures (needs Pillow)
python docs/build.py --check    only compare the page; exit 1 if it is out of date
"""

from __future__ import annotations

import sys
from pathlib import Path

from shown import NAMES, TENSORS, block, call_of

from dala import compute
from dala.language.kernel import Kernel
from dala.language.registry import find_kernel
from photos import PHOTOS

HERE = Path(__file__).parent
MOVING = {  # the clips of clips.py, and what they show
    "grain": "In a video it lives: `frame` is its frame's number, so no two have the same grain. "
    "Left as it came, right with grain:",
}


def page() -> str:
    """The catalogue as Markdown: every parameter with range, default and help."""
    kernels = [find_kernel(name) for name in compute.kernels()]
    images = [k for k in kernels if k.domain == "image"]
    tensors = [k for k in kernels if k.domain == "tensor"]
    lines = [
        "# Kernels",
        "",
        "Every kernel with its parameters, the call, and what it does to a photo: left before, right "
        "after. A picture leads to its kernel; those for tensors are [below](#tensors).",
        "",
        thumbnails(images),
        "",
        "In the calls below:",
        "",
        *block(NAMES),
        'Each is also a stage of a chain, `media.apply_filters(photo, [("blur", {"radius": 8}), '
        '"vignette"])`, and a flag of the command line, `--blur radius=8`. Values are 0..1, offsets clamp '
        "to the edge, alpha is kept unless said. A compile-time parameter makes a specialisation for each "
        "of its values; moving the others never recompiles.",
        "",
        "## Images",
        "",
        f"Photos: {'; '.join(PHOTOS.values())}.",
        "",
    ]
    for kernel in images:
        lines += [*describe(kernel), *block(call_of(kernel.name))]
        if (HERE / "kernels" / f"{kernel.name}.jpg").exists():
            lines += [f"![{kernel.name}](kernels/{kernel.name}.jpg)", ""]
        if kernel.name in MOVING:
            lines += [
                MOVING[kernel.name],
                "",
                f"![{kernel.name}, moving](clips/{kernel.name}.webp)",
                "",
            ]
    names = ", ".join(f"[{k.name}](#{k.name})" for k in tensors)
    lines += ["## Tensors", "", "They are run by name, into an output that one makes:", ""]
    lines += [*block(TENSORS), f"All of them: {names}.", ""]
    for kernel in tensors:
        lines += describe(kernel)
    return "\n".join(lines)


def thumbnails(kernels: list[Kernel]) -> str:
    """An index in pictures."""
    links = [
        f'<a href="#{k.name}"><img src="kernels/{k.name}.jpg" alt="{k.name}" width="180"> {k.name}</a>'
        for k in kernels
    ]
    return "\n".join(['<div class="thumbs">', *links, "</div>"])


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


def main() -> None:
    target = HERE / "kernels.md"
    if "--check" in sys.argv:
        if target.read_text(encoding="utf-8") != page():
            raise SystemExit("docs/kernels.md is out of date: run python docs/build.py")
        return
    from pictures import make_pictures  # needs Pillow; comparing the page does not

    make_pictures()
    target.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
