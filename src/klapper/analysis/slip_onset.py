"""When sticking ends, by several criteria: friction at its limit, the stick flag, the sliding velocity.

    saturation   |λ_T| ≥ μ λ_N − tolerance             the force has no reserve
    flag         the contact state is slip             what the method takes for sliding
    velocity     |v_T| > tolerance                     what is seen

They agree in the limit of small steps only, and a method that chatters has several times by each of them. A time is
the end of the step in which the criterion is first met.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from klapper.contact_states import SLIP, STICK
from klapper.mechanics.errors import InvalidModel
from klapper.results import Run


@dataclass(frozen=True, eq=False)
class SlipOnset:
    """Times [s] of the end of sticking of m contacts; nan where something never happened.

    ``saturated``        (m,) first at the limit, each contact on its own
    ``all_saturated``    first step with all contacts at their limits
    ``last_reserve``     last step in which one was not
    ``slips``            (m,) first step that ends with the flag slip
    ``slips_for_good``   first step after which no contact sticks any more
    ``resticks``         (k,) ends of steps in which a contact went from slip back to stick
    ``flag_changes``     number of steps in which a flag changed
    ``moves``            (m,) first step that ends with more than the given sliding velocity

    A pull that grows by 1 N/s overcomes a friction limit of 5 N in the step after 5 s, see :func:`slip_onset`:

    >>> from klapper.analysis import slip_onset
    >>> from klapper.mechanics import Contact, LinearSystem, Ramp
    >>> from klapper.schemes import Moreau
    >>> from klapper.simulation import simulate
    >>> table = Contact("table", normal=[0.0, 1.0], tangents=[1.0, 0.0], friction=0.5)
    >>> pulled = LinearSystem([1.0, 1.0], force=Ramp([0.0, -10.0], [1.0, 0.0]), contacts=[table])
    >>> run = simulate(pulled, 7.0, Moreau(0.5, compiled=False))
    >>> onset = slip_onset(run, [0.5], run.velocity[:, :1])
    >>> onset.last_reserve, onset.slips
    (5.0, array([5.5]))
    """

    saturated: np.ndarray
    all_saturated: float
    last_reserve: float
    slips: np.ndarray
    slips_for_good: float
    resticks: np.ndarray
    flag_changes: int
    moves: np.ndarray


def slip_onset(
    run: Run, friction: Any, slip: np.ndarray, *, force_tolerance: float = 1e-4, speed: float = 1e-6
) -> SlipOnset:
    """When the contacts of a run with one tangential direction begin to slide.

    ``friction``  coefficients (m,)
    ``slip``      sliding velocities (s, m) [m/s] at the samples; above ``speed`` [m/s] they are seen
    ``force_tolerance``  [N] by which friction may miss its limit and count as there

        saturation  |λ_T| ≥ μ λ_N − tolerance,   flag  slip,   velocity  |v_T| > speed

    A pull that grows by 1 N/s overcomes a friction limit of 5 N in the step after 5 s:

    >>> from klapper.analysis import slip_onset
    >>> from klapper.mechanics import Contact, LinearSystem, Ramp
    >>> from klapper.schemes import Moreau
    >>> from klapper.simulation import simulate
    >>> table = Contact("table", normal=[0.0, 1.0], tangents=[1.0, 0.0], friction=0.5)
    >>> pulled = LinearSystem([1.0, 1.0], force=Ramp([0.0, -10.0], [1.0, 0.0]), contacts=[table])
    >>> run = simulate(pulled, 7.0, Moreau(0.5, compiled=False))
    >>> slip_onset(run, [0.5], run.velocity[:, :1]).slips
    array([5.5])
    """
    if run.layout.tangential != 1:
        raise InvalidModel(f"the run has {run.layout.tangential} tangential directions; expected one.")
    time, force, state = run.time[1:], run.force[1:], run.state[1:]
    limit = np.asarray(friction) * force[:, :, 0]
    at_limit = (np.abs(force[:, :, 1]) >= limit - force_tolerance) & (limit > 0.0)
    every = np.all(at_limit, axis=1)
    slipping = state == SLIP
    changed = np.any(np.diff(state, axis=0) != 0, axis=1)
    back = np.any((state[:-1] == SLIP) & (state[1:] == STICK), axis=1)
    sticking = np.flatnonzero(np.any(state == STICK, axis=1))
    for_good = sticking[-1] + 1 if len(sticking) else 0
    return SlipOnset(
        saturated=_first(time, at_limit),
        all_saturated=float(_first(time, every[:, None])[0]),
        last_reserve=float(time[~every][-1]) if not np.all(every) else np.nan,
        slips=_first(time, slipping),
        slips_for_good=float(time[for_good]) if for_good < len(time) else np.nan,
        resticks=time[1:][back],
        flag_changes=int(np.count_nonzero(changed)),
        moves=_first(time, np.abs(slip[1:]) > speed),
    )


def _first(time: np.ndarray, met: np.ndarray) -> np.ndarray:
    """First time (m,) at which each column of ``met`` (s, m) is true, nan if never."""
    return np.where(met.any(axis=0), time[np.argmax(met, axis=0)], np.nan)
