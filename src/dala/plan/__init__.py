"""From a pipeline's stages to fused passes.

steps.py     calls on buffers → steps on values (each write makes a new value), dead ones dropped
group.py     steps → groups that can run as one pass, with the reason for every cut
fuse.py      a group → a FusedPass: point-wise steps inlined, stencil inputs buffered
whole.py     passes that are not made of expressions: whole-array ops, copies
capabilities.py   what one pass may be on a device; where that is less than a group needs:
  sizes.py   images of several sizes → a pass for each size
  join.py    bodies that need no rows between them → one body
  cut.py     what has no room, or too many arrays → parts, through temporaries
temporaries.py    memory that several temporaries share
planner.py   the ordered list of all this, and the Plan it gives: its passes are what runs
explain.py   a Plan in words
"""
