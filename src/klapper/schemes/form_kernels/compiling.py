"""How the functions of this folder are compiled: kept on disk, and without wrappers for Python where none calls them."""

from numba import njit

inner = njit(cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
outer = njit(cache=True, error_model="numpy")
