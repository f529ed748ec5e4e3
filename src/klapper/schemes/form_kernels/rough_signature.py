"""Signature of the solver of contact problems with friction, which is compiled only where there is friction."""

from numba import float64, int64

SOLVE_ROUGH = float64(
    float64[:, ::1],
    float64[::1],
    int64[:, ::1],
    float64[::1],
    float64[::1],
    int64[::1],
    int64[::1],
    float64[::1],
    float64,
    float64[::1],
)
"""(W, b, table, friction, limit, share_start, share_of, share, tolerance, x): relative residual."""
