"""Drawing on a GPU: commands become primitives, which a compute shader paints, a tile of pixels at a time.

    layout.py     what machine code, Python and the shader share
    gather.py     commands → primitives, and where they are cut into pieces for several threads
    plain.py      the primitives of the 24 opcodes; primitives.py their memory, by blocks and stretches
    gather_ink.py the same for ink; loops.py has its smallest shapes, buckets.py its largest
    paints.py     gradients, patterns, pictures as records for the shader
    pieces.py     what one thread gathers, and how pieces are joined
    bins.py       stretches → what is sent: primitives, data, lists for squares of the surface
    code.py       those above, compiled
    gathered.py   their memory, and who is called
    shader.py     the shader, from tiles.wgsl (a tile), plain.wgsl (the 24 opcodes), cover.wgsl (coverage),
                  ink.wgsl (paints and layers)
    painter.py    what was gathered, sent and painted by one dispatch
    pictures.py   sprites and images in the GPU's memory
    canvas.py     frames: who looks at one has it painted first

    bytes ─ gather (machine code, all cores) → stretches ─ bins, upload → one dispatch → frame on the GPU

The 24 opcodes paint the CPU's pixels exactly; ink is within one level. design/surfaces.md has the reasons.
"""
