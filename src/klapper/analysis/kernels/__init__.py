"""Compiled analyses: numbers in, numbers out. Caches are dropped when a kernel of this folder changes."""

from pathlib import Path

from klapper.complementarity.kernels import discard_stale_caches

discard_stale_caches(Path(__file__).parent)
