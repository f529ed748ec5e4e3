"""Piecewise exact integration: linear systems between events in closed form, events as bracketed roots.

Every phase of a linear system with fixed contact modes has a closed-form solution, see
:mod:`klapper.schemes.linear_flow`; only the times at which contacts hit, release, stick or slide are roots of
transcendental equations. There is no step size: a step goes from event to event. Vielsack 1996, section 3.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from klapper.mechanics.contacts import Contact
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.linear_system import LinearSystem
from klapper.mechanics.system import System
from klapper.schemes.base import Snapshot, registered
from klapper.schemes.exact_flow import exact_flow
from klapper.schemes.linear_flow import time_functions
from klapper.schemes.phase_equations import PhaseEquations
from klapper.schemes.phase_flow import Flow
from klapper.schemes.phases import Phased
from klapper.schemes.work import Work


@registered
@dataclass(frozen=True)
class PiecewiseExact(Phased):
    """Closed-form motion from event to event, for :class:`~klapper.mechanics.LinearSystem`.

    The options are those of :class:`~klapper.schemes.phases.Phased`. The motion is exact to round-off whatever the
    ``tolerance`` [m], which only says what counts as a closed gap. With ``sample`` [s] a step also ends at each of its
    multiples.

    Half a period of q = cos 2t in one step:

    >>> import numpy as np
    >>> from klapper.mechanics import LinearSystem
    >>> from klapper.schemes import PiecewiseExact
    >>> from klapper.simulation import simulate
    >>> oscillator = LinearSystem([1.0], stiffness=[4.0], position=[1.0])
    >>> simulate(oscillator, np.pi / 2.0, PiecewiseExact(), every=1).position[:, 0].round(12)
    array([ 1., -1.])
    """

    name = "exact"

    def init(self, system: System) -> Snapshot:
        time_functions(treatable(system))
        return super().init(system)

    def refined(self, factor: float) -> None:
        """There is no parameter of the error."""

    @property
    def citations(self) -> tuple[str, ...]:
        return (*super().citations, "vielsack1996")

    def flow(
        self,
        equations: PhaseEquations,
        t: float,
        q: np.ndarray,
        v: np.ndarray,
        until: float,
        size: float,
        work: Work,
    ) -> Flow:
        return exact_flow(equations, t, q, v, until, self.tolerance, self.slip_speed, work)


def treatable(system: System) -> LinearSystem:
    """The system, if all its phases have a closed form."""
    if not isinstance(system, LinearSystem):
        raise InvalidModel(
            f"'{system.name}' is a {type(system).__name__}, whose motion between events has no closed form: "
            f"PiecewiseExact needs a LinearSystem; use EventDriven."
        )
    for part in system.contacts.parts:
        if isinstance(part, Contact) and not part.friction.constant:
            raise InvalidModel(
                f"{part.called} has friction that depends on the sliding speed, so that sliding has no closed form: "
                f"PiecewiseExact needs a constant coefficient; use EventDriven."
            )
        if part.tangents is not None and len(part.tangents) == 2 and part.rough:
            raise InvalidModel(
                f"{part.called} can slide in two directions, and the turning of its friction has no closed form: "
                f"PiecewiseExact needs one tangential direction; use EventDriven."
            )
    return system
