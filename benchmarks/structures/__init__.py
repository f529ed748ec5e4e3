"""Benchmarks of rotors and reduced structures."""
