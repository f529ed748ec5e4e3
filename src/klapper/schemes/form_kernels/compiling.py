"""How functions here are compiled: kept on disk, and without wrappers for Python where none calls them."""

from typing import Any

from numba import njit

outer: Any = njit(cache=True, error_model="numpy")
inner: Any = njit(cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)  # type: ignore[call-overload]
