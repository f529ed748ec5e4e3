"""Benchmarks of analyses without time."""
