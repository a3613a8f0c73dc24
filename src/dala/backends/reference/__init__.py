"""The reference device: a NumPy interpreter of the IR. Slow, obvious, and what everything means.

interpret.py   a FusedPass on whole arrays
device.py      the contract
"""
