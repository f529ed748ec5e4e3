"""Compiled kernels: arrays in, arrays out, no Python object inside the loops."""
