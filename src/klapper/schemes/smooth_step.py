"""One accepted step of an ordinary differential equation y' = rate(t, y), with dense output.

The integrators are scipy's one-step methods: Dormand & Prince of order 8 ("dop853") and 5 ("rk45") for smooth motion,
Radau IIA of order 5 ("radau") for stiff motion. Between two steps nothing is kept but the state and a proposed step
size, so that a run can be cut anywhere and taken up again with the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.integrate import DOP853, RK45, Radau

from klapper.schemes.base import StepFailed

Method = Literal["dop853", "rk45", "radau"]
METHODS: dict[str, Any] = {"dop853": DOP853, "rk45": RK45, "radau": Radau}

_SMALLEST_TOLERANCE = 100 * np.finfo(float).eps  # below it scipy warns and takes this one


@dataclass(frozen=True, eq=False)
class SmoothStep:
    """A step from ``start`` to ``end`` [s].

    ``after`` (n,) is y at the end; ``dense`` maps times (k,) in between to states (k, n); ``next_size`` [s] is what the
    error control proposes for the next step; ``evaluations`` counts calls of the rate.
    """

    start: float
    end: float
    after: np.ndarray
    dense: Callable[[np.ndarray], np.ndarray]
    next_size: float
    evaluations: int


def smooth_step(
    method: Method,
    rate: Callable[[float, np.ndarray], np.ndarray],
    t: float,
    y: np.ndarray,
    *,
    until: float,
    size: float | None,
    relative: float,
    absolute: Any,
    jacobian: Callable[[float, np.ndarray], Any] | None = None,
) -> SmoothStep:
    """One step that meets the tolerances and does not go past ``until`` [s].

    ``size``      [s] to try first; None: chosen from the rate and its change
    ``relative``  allowed error relative to y; ``absolute`` allowed error, one number or (n,)
    ``jacobian``  ∂rate/∂y (n, n) for "radau"; None: by differences

    >>> step = smooth_step(
    ...     "dop853", lambda t, y: -y, 0.0, np.ones(1), until=1.0, size=0.1, relative=1e-9, absolute=1e-12
    ... )
    >>> bool(abs(step.after[0] - np.exp(-step.end)) < 1e-9)
    True
    """
    options: dict[str, Any] = {"jac": jacobian} if method == "radau" else {}
    first = None if size is None or not size > 0.0 else min(size, until - t)
    solver = METHODS[method](
        rate,
        t,
        y,
        until,
        first_step=first,
        rtol=max(relative, _SMALLEST_TOLERANCE),
        atol=absolute,
        **options,
    )
    complaint = solver.step()
    if solver.status == "failed":
        raise StepFailed(
            f"The integration does not get past {t:.9g} s: {complaint} The forces are not smooth enough there, or grow "
            f"without bound; a looser tolerance may pass, or method='radau' if the motion is stiff."
        )
    inner = solver.dense_output()
    return SmoothStep(
        start=t,
        end=float(solver.t),
        after=solver.y,
        dense=lambda times: inner(np.asarray(times, dtype=float)).T,
        next_size=float(solver.h_abs),
        evaluations=int(solver.nfev),
    )
