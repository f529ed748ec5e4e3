"""Compiled time loops: arrays in, arrays out. Caches are dropped when these or the contact kernels change."""

from pathlib import Path

import klapper.complementarity.kernels as contact_kernels

contact_kernels.discard_stale_caches(Path(__file__).parent, Path(contact_kernels.__file__).parent)
