"""The colours of stresses: viridis, as in the report pages."""

from __future__ import annotations

import numpy as np

VIRIDIS = np.array(
    [
        [68, 1, 84],
        [72, 40, 120],
        [62, 74, 137],
        [49, 104, 142],
        [38, 130, 142],
        [31, 158, 137],
        [53, 183, 121],
        [109, 205, 89],
        [180, 222, 44],
        [253, 231, 37],
    ]
)


def heat(share: np.ndarray) -> np.ndarray:
    """(n, 3) colours from 0 to 1 of shares (n,) of the largest value."""
    places = np.linspace(0.0, 1.0, len(VIRIDIS))
    return np.column_stack([np.interp(share, places, each) for each in VIRIDIS.T]) / 255.0
