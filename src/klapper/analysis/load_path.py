"""Statics at large displacements: loads are brought on in steps, each solved by Newton's method.

    R(x, s) = 0,   s = s₁, s₂, …                                        see :mod:`klapper.analysis.static_problem`

A step that fails is halved. Where the load cannot rise further, at a limit point, stepping either ends with an
exception or jumps to a state far away, as the structure would; :func:`klapper.analysis.follow_load` follows the path.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from klapper.analysis.critical_point import CriticalPoint
from klapper.analysis.static_problem import StaticProblem, StaticState
from klapper.mechanics.arguments import whole
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.system import System
from klapper.schemes.newton import NewtonIteration, NotConverged, require_newton

_CUTS = 12  # halvings of a step after which it is given up


@dataclass(frozen=True, eq=False)
class LoadPath:
    """The ``states`` of rest of a ``system`` in the order in which they were found, ``critical`` points between them,
    and why it ``ended``, in a sentence.

    A spring of 4 N/m under a half and under all of 8 N:

    >>> from klapper.analysis import load_path
    >>> from klapper.mechanics import LinearSystem
    >>> path = load_path(LinearSystem([1.0], stiffness=[4.0], force=[8.0]), [0.5, 1.0])
    >>> path.factors, path.positions[:, 0]
    (array([0.5, 1. ]), array([1., 2.]))
    """

    system: System
    states: tuple[StaticState, ...]
    critical: tuple[CriticalPoint, ...] = ()
    ended: str = "the last load factor was reached"

    @property
    def events(self) -> tuple[CriticalPoint, ...]:
        """What happens on the path: its critical points."""
        return self.critical

    @property
    def factors(self) -> np.ndarray:
        """s (k,)."""
        return np.array([state.factor for state in self.states])

    @property
    def positions(self) -> np.ndarray:
        """(k, n) [m, rad]."""
        return np.array([state.position for state in self.states])

    @property
    def constraint_forces(self) -> np.ndarray:
        """Λ (k, p) [N]."""
        return np.array([state.constraint_forces for state in self.states])

    @property
    def residuals(self) -> np.ndarray:
        """(k,), in units of the forces and lengths that occur."""
        return np.array([state.residual for state in self.states])


class NoStaticState(RuntimeError):
    """A load was not reached; the text says how far it went and what to do, ``path`` holds what was found.

    A shallow arch carries q (q − 1) (q − 2) N, at most 0.385 N:

    >>> from klapper.analysis import load_path
    >>> from klapper.mechanics import FunctionSystem
    >>> from klapper.schemes import NewtonIteration
    >>> arch = FunctionSystem([0.0], [0.0], mass=[[1.0]], force=lambda t, q, v: 0.5 - q * (q - 1.0) * (q - 2.0))
    >>> load_path(arch, [0.7, 0.8], newton=NewtonIteration(most=5, largest=0.1))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    klapper.analysis.load_path.NoStaticState: 'system of functions' was brought to a load factor of 0.7...
    """

    def __init__(self, text: str, path: LoadPath) -> None:
        super().__init__(text)
        self.path = path


def static_state(
    system: System,
    *,
    steps: int = 1,
    factor: float = 1.0,
    time: float | None = None,
    start: StaticState | None = None,
    newton: NewtonIteration | None = None,
) -> StaticState:
    """The state of rest of a system under its loads.

    ``steps``   number of equal load steps
    ``factor``  of all loads at the end, dimensionless
    ``time``    [s] at which loads and supports that change are taken; the start of the system if not given
    ``start``   a state to begin with, the start of the system without loads if not given
    ``newton``  how the equations are solved

    >>> from klapper.analysis import static_state
    >>> from klapper.continuum import Continuum, SaintVenantKirchhoff, Solid, Support, Traction, block
    >>> bar = Solid("bar", block((2.0, 1.0), (2, 1)), SaintVenantKirchhoff(100.0, 0.0), density=1.0)
    >>> loads = [Traction("bar", "right", (11.55, 0.0))]  # E ½ (λ² − 1) λ at λ = 1.1
    >>> state = static_state(Continuum([bar], loads=loads, supports=[Support("bar", "left")]))
    >>> state.position.max().round(9)
    np.float64(2.2)
    """
    whole(steps, "steps")
    begin = 0.0 if start is None else start.factor
    factors = begin + (factor - begin) * np.arange(1, steps + 1) / steps
    return load_path(system, factors, time=time, start=start, newton=newton).states[-1]


def load_path(
    system: System,
    factors: Sequence[float] | np.ndarray,
    *,
    time: float | None = None,
    start: StaticState | None = None,
    newton: NewtonIteration | None = None,
) -> LoadPath:
    """States of rest at load ``factors`` one after the other, and at those in between that were needed.

    ``factors`` (k,) of all loads, dimensionless. Other arguments as for :func:`static_state`. Raises
    :class:`NoStaticState` where a load is not reached.

    A spring of 4 N/m under a half and under all of 8 N:

    >>> from klapper.analysis import load_path
    >>> from klapper.mechanics import LinearSystem
    >>> load_path(LinearSystem([1.0], stiffness=[4.0], force=[8.0]), [0.5, 1.0]).positions[:, 0]
    array([1., 2.])
    """
    wanted = np.asarray(factors, dtype=float)
    if wanted.ndim != 1 or not len(wanted) or not np.all(np.isfinite(wanted)):
        raise InvalidModel(f"factors are {factors!r}; expected a list of at least one finite number.")
    solver = newton or NewtonIteration()
    require_newton(solver)
    return stepped(StaticProblem(system, time), wanted, start, solver)


def stepped(
    problem: StaticProblem, wanted: np.ndarray, start: StaticState | None, newton: NewtonIteration
) -> LoadPath:
    """The states of a problem at the ``wanted`` factors (k,), and at those in between that were needed."""
    name = problem.system.name
    x, s = (problem.start(float(wanted[0])), 0.0) if start is None else (start.unknowns, start.factor)
    states: list[StaticState] = []
    for target in wanted:
        step, cuts = target - s, 0
        while not states or states[-1].factor != target:
            ahead = target if abs(target - s) <= abs(step) * (1.0 + 1e-9) else s + step
            try:
                state = problem.solved_at(x, ahead, newton)
            except NotConverged as failure:
                cuts, step = cuts + 1, 0.5 * step
                if cuts > _CUTS:
                    raise NoStaticState(
                        f"'{name}' was brought to a load factor of {s:.6g} but not to {ahead:.6g}: {failure}. If the "
                        f"load cannot rise on, use follow_load; else a better start or NewtonIteration(largest=…).",
                        LoadPath(problem.system, tuple(states)),
                    ) from None
                continue
            states.append(state)
            x, s = state.unknowns, ahead
            if cuts:
                step *= 1.5
    return LoadPath(problem.system, tuple(states))
