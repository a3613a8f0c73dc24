"""Devices: one contract (base.py), several implementations.

base.py       what a device must be able to do
host.py       arrays in main memory, shared by the two host devices
reference/    NumPy: the meaning
cpu/          LLVM: the speed
auto.py       which device "auto" means here, and why
"""
