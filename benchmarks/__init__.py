"""Side-by-side timings of klapper and its peers on the same problems: ``python -m benchmarks.run``."""
