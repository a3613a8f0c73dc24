"""From a pipeline's stages to fused passes.

steps.py     calls on buffers → steps on values (each write makes a new value), dead ones dropped
group.py     steps → groups that can run as one pass, with the reason for every cut
fuse.py      a group → a FusedPass: point-wise steps inlined, stencil inputs held as rows
planner.py   the ordered list of all this, and the Plan it gives
explain.py   a Plan in words
"""
