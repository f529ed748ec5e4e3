"""How functions here are compiled: kept on disk, and without wrappers for Python where none calls them.

What neither allocates arrays nor takes them out of groups needs no counts of references.
"""

from typing import Any

from numba import njit

_made: Any = njit
outer: Any = _made(cache=True, error_model="numpy")
inner: Any = _made(cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
leaf: Any = _made(cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True, _nrt=False)
