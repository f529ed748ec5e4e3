"""How densely the motion inside a step is looked at, for samples and for statistics over time.

The rules of :mod:`klapper.sampling`, which its Python code and the compiled loop from event to event share.
"""

from __future__ import annotations

import numpy as np

STRAIGHT = 1e-3
"""Of the range of a coordinate: what straight lines between samples may err."""

WAY = 0.04  # of the range from one sample to the next, so that sums of squares of samples are those of the motion
OF_FORCES = 10.0  # what chords of forces may err, in units of what those of coordinates may
EXACT = 5e-7  # of the range: what the last coefficient may be for statistics
SMALL = 1e-6  # of the largest range of coordinates, velocities or forces: smaller ranges count as at rest
ROUND_OFF = 64.0 * float(np.finfo(float).eps)  # of the largest values: no cell is cut for less
FORCE_NOISE = (
    1e-6  # of the largest force: the same; forces are rates of integrals, or stiffness times small lengths
)
MOST_PARTS = 64  # of one cell at once
MOST_HALVINGS = 14  # of one cell for statistics

NODES = -np.cos(np.pi * np.arange(5) / 4.0)
WEIGHTS = np.array([1.0, 8.0, 12.0, 8.0, 1.0]) / 15.0  # Clenshaw and Curtis on [−1, 1]
LAST = np.array([1.0, -2.0, 2.0, -2.0, 1.0]) / 8.0  # of the Chebyshev coefficients of the values at the nodes
_FINE = np.linspace(-1.0, 1.0, 17)
TO_FINE = np.linalg.solve(np.vander(NODES, increasing=True).T, np.vander(_FINE, 5, increasing=True).T).T
OVERSHOOT = 0.25  # of the range in a cell: no near-parabola exceeds its values at the nodes by more
