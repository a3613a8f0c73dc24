"""The reference device: a NumPy interpreter of the IR. Slow, obvious, and what everything means."""
