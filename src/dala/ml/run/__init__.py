"""Where networks run: one contract (base.py), one file for each place.

base.py        what a runner must be able to do      cpu.py       ONNX Runtime
reference.py   layers in NumPy                       programs.py  layers by the shapes of inputs
listing.py     a program in words                    stage.py    one output as a stage of a pipeline
webgpu/        dispatches of our own
"""
