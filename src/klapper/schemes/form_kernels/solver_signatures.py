"""Signatures of the solvers of contact problems that are compiled only for models that need them."""

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

SOLVE_NARROW = float64(
    float64[::1],
    int64[:, ::1],
    float64[::1],
    float64[::1],
    int64[::1],
    int64[::1],
    float64[::1],
    int64[::1],
    int64[::1],
    float64[::1],
    int64[::1],
    int64[::1],
    float64[::1],
    int64[::1],
    float64[::1],
    float64[::1],
)
"""(b, table, friction, limit, share_start, share_of, share, entry_row, entry_column, entry, start, column, value, rank,
x, change): relative residual."""
