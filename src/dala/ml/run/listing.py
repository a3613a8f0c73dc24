"""A program in words."""

from __future__ import annotations

from dala.ml.layers.program import Layer, Program


def explain_program(program: Program, device: str) -> str:
    """Every layer with its shape, its epilogue, and why it became what it is."""
    real = [layer for layer in program.layers if layer.kind != "view"]
    lines = [f"{program.name} on {device}: {program.operators} operators, {len(real)} layers"]
    for number, layer in enumerate(real):
        lines.append(f"{number:4}  {describe(program, layer)}")
        for reason in dict.fromkeys(why for _, why in layer.notes):
            fused = ", ".join(what for what, why in layer.notes if why == reason)
            lines.append(f"          fused: {fused} ({reason})")
    return "\n".join(lines)


def describe(program: Program, layer: Layer) -> str:
    """``pointwise 1×7×7×960 → 1×7×7×160, add(input 1)  (Conv 'x')``."""
    source, made = program.values[layer.inputs[0]].shape, program.values[layer.output]
    shapes = f"{'×'.join(map(str, source))} → {made}"
    before = "".join(f"{step}, " for step in layer.before)
    steps = "".join(f", {step}" for step in layer.epilogue)
    return f"{before}{layer.kind} {shapes}{steps}  ({layer.label})"
