"""Compiled kernels: arrays in, arrays out, no Python object inside the loops. Compiled once and cached on disk.

numba renews a cached kernel when its own file changes, but not when a kernel it calls changes in another file. Caches
older than the newest source they may have been made from are therefore discarded on import.
"""

from pathlib import Path


def discard_stale_caches(folder: Path, *sources: Path) -> None:
    """Remove caches in ``folder`` that are older than a kernel there or in one of the folders ``sources``."""
    newest = max(source.stat().st_mtime for place in (folder, *sources) for source in place.glob("*.py"))
    for cached in (folder / "__pycache__").glob("*.nb[ic]"):
        try:
            if cached.stat().st_mtime < newest:
                cached.unlink()
        except OSError:  # another process was faster, or the folder is read-only
            continue


discard_stale_caches(Path(__file__).parent)
