"""Devices: one contract (base.py), several implementations.

base.py       what a device must be able to do
host.py       arrays in main memory, shared by the two host devices
reference/    NumPy: the meaning
cpu/          LLVM: the speed
webgpu/       WGSL: any GPU
auto.py       which device "auto" means here, and why
library.py    whole-array ops on host memory
copying.py    copies on several threads
borrowed.py   frames in somebody else's memory
groups.py     what a container allows
"""
