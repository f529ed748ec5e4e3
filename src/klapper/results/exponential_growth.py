"""Whether a motion grows exponentially up to its end: then no bound is in sight."""

from __future__ import annotations

import numpy as np

from klapper.results.run import Run

_WINDOWS = 8  # of the second half of a run
_GROWS = 2.0  # from each window to the next. A power tⁿ grows by ((k + 1)/k)ⁿ from window k = 8 … 15, less for n < 5


def exponential_growth(run: Run) -> dict[str, str]:
    """In words, if the largest coordinate grows twofold in every sixteenth of the run since its middle."""
    time, position = run.samples.time, run.samples.position
    if len(time) < 4 * _WINDOWS or position.shape[1] == 0:
        return {}
    away = np.abs(position - position[0]).max(axis=1)
    edges = np.linspace(0.5 * (time[0] + time[-1]), time[-1], _WINDOWS + 1)
    ends = np.searchsorted(time, edges, side="right")
    if np.any(np.diff(ends) < 1) or ends[0] < 1:
        return {}
    largest = np.array([away[a:b].max() for a, b in zip([0, *ends[:-1]], ends, strict=True)])
    if not np.all(np.isfinite(largest)) or largest[0] <= 0.0 or np.any(largest[1:] < _GROWS * largest[:-1]):
        return {}
    rate = np.log(largest[-1] / largest[0]) / (edges[-1] - edges[0])
    return {
        "growth": f"the motion grows without a bound in sight, by {rate:.3g} 1/s in the second half of the run, up to "
        f"{largest[-1]:.3g} (coordinates in SI units); see klapper.analysis.contact_growth and linear stability"
    }
