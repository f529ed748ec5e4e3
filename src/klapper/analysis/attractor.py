"""Where a motion goes in the long run: the search for an attractor.

The motion is followed block by block. After each block its returns to a section tell whether it rests, repeats after p
of them (x_{k+p} = x_k), or grows. A periodic orbit x* = φ_T(x*) is polished by Newton's method, and counts only if it
attracts: all multipliers of its return map lie inside the unit circle. What has not settled is called that, not a
period.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from klapper.analysis.closed_orbit import Orbit
from klapper.analysis.poincare_section import PoincareSection, Returns, Stroboscope, order_of_period
from klapper.analysis.sampled_motion import Advance, Motion, Quantity, extrema
from klapper.counting import counted
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.system import State, System, require_system
from klapper.schemes.base import Scheme, require_scheme


@dataclass(frozen=True, eq=False)
class Attractor:
    """What a motion settles to.

    ``kind``         "periodic", "rest", "not settled" (quasi-periodic, chaotic, or only slow) or "unbounded"
    ``order``        returns to the section in one period; 0 unless periodic
    ``period``       [s]; nan unless periodic
    ``points``       the ``order`` return points (order, nq + nv) [m, rad, m/s, rad/s], or the last ones seen
    ``cycle``        the motion over one period, or the last block of the search
    ``extrema``      (least, greatest) of every quantity over ``cycle``, in its unit
    ``multipliers``  (k,) of the return map, complex, dimensionless, the largest first; empty if the orbit was not
                     polished
    ``residual``     |φ_T(x) − x| of the polished orbit, relative to its size; nan without polishing
    ``time``         [s] at which the search ended, after ``blocks`` blocks and ``returned`` returns

    x'' + x' + x = cos t settles to x = sin t; at the times 2π k it is found at x = 0 with the velocity 1:

    >>> import numpy as np
    >>> from klapper.analysis import Stroboscope, advancing, find_attractor
    >>> from klapper.mechanics import Harmonic, LinearSystem
    >>> from klapper.schemes import PiecewiseExact
    >>> driven = LinearSystem([1.0], damping=[1.0], stiffness=[1.0], force=Harmonic([1.0], 1.0))
    >>> turn = 2.0 * np.pi
    >>> advance = advancing(driven, PiecewiseExact(sample=turn / 16.0))
    >>> found = find_attractor(advance, driven.start, section=Stroboscope(turn), block=4.0 * turn, patience=99.0 * turn)
    >>> found.kind, found.order, abs(found.points.round(6))
    ('periodic', 1, array([[0., 1.]]))
    """

    kind: str
    order: int
    period: float
    points: np.ndarray
    cycle: Motion
    extrema: Mapping[str, tuple[float, float]]
    time: float
    blocks: int
    returned: int
    multipliers: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=complex))
    residual: float = np.nan

    @property
    def settled(self) -> bool:
        return self.kind in ("periodic", "rest")

    def __str__(self) -> str:
        after = f"after {self.time:.6g} s and {self.returned} returns to the section"
        head = {
            "periodic": f"Periodic: {self.period:.8g} s, {counted(self.order, 'return')} to the section; found {after}",
            "rest": f"Rest: the motion has died away {after}",
            "unbounded": f"Unbounded: the motion keeps growing {after}",
            "not settled": f"Not settled {after}: quasi-periodic, chaotic, or only slow",
        }[self.kind]
        lines = [f"{head}."]
        if len(self.multipliers):
            lines.append(
                f"  largest multiplier {abs(self.multipliers[0]):.6g}, residual of the orbit {self.residual:.1e}"
            )
        lines += [f"  {name}: {low:.6g} … {high:.6g}" for name, (low, high) in self.extrema.items()]
        return "\n".join(lines)


def find_attractor(
    advance: Advance,
    start: State,
    *,
    section: PoincareSection | Stroboscope,
    block: float,
    patience: float,
    tolerance: float = 1e-6,
    most: int = 16,
    polish: bool = True,
    coordinates: Sequence[int] | None = None,
    quantities: Mapping[str, Quantity] | None = None,
    bound: float = 1e4,
    report: Callable[[str], None] | None = None,
) -> Attractor:
    """Follow a motion block by block until it settles, or until the patience is over.

    ``advance``      function (state, until) → motion; :func:`advancing` makes one of a system and a scheme
    ``start``        where to begin, e.g. near a stationary state that is not stable
    ``section``      :class:`PoincareSection` or :class:`Stroboscope`
    ``block``        [s] after which to look; several returns should fall into it
    ``patience``     [s] after which to give up
    ``tolerance``    of repeating return points, relative to the size of the motion in the block
    ``most``         largest order of a period that is looked for
    ``polish``       improve a periodic orbit by Newton's method and compute its multipliers; an orbit that repels, or
                     that Newton does not find, is not accepted and the search goes on
    ``coordinates``  numbers of the coordinates that belong to the attractor, default all; leave out those that only
                     drift, such as an angle of rotation (needs q' = v)
    ``quantities``   functions (t (k,), q (k, nq), v (k, nv)) → (k,) by name, whose extrema are wanted
    ``bound``        a motion that exceeds its first block by this factor is unbounded
    ``report``       called with one sentence after every block

    >>> import numpy as np
    >>> from klapper.analysis import PoincareSection, Trajectory, find_attractor
    >>> from klapper.mechanics import State
    >>> decay = lambda s, until: Trajectory(np.array([s.time, until]), *(np.array([x, x * np.exp(s.time - until)])
    ...     for x in (s.position, s.velocity)))
    >>> find_attractor(decay, State(0.0, np.ones(1), np.ones(1)), section=PoincareSection.coordinate(0), block=1.0,
    ...     patience=100.0).kind
    'rest'
    """
    if not callable(advance) or not hasattr(section, "returns") or not isinstance(start, State):
        raise InvalidModel(
            f"advance is {advance!r}, start {start!r} and section {section!r}; give advancing(system, scheme), a State "
            f"such as system.start, and a PoincareSection or a Stroboscope."
        )
    if not (0.0 < block <= patience):
        raise InvalidModel(
            f"block is {block} s; it must be above 0 and not above the patience of {patience} s."
        )
    search = _Search(
        advance, section, tolerance, most, _columns(coordinates, start), dict(quantities or {}), start
    )
    end, blocks = start.time + patience, 0
    motion: Motion | None = None
    while search.state.time < end * (1.0 - 1e-12):
        motion = search.go(min(search.state.time + block, end))
        blocks += 1
        if search.size.max(initial=0.0) > bound * search.first_size.max() or not search.finite:
            return search.answer("unbounded", motion, blocks)
        if search.at_rest:
            return search.answer("rest", motion, blocks)
        order = search.order()
        if report is not None:
            report(search.sentence(order))
        if order is not None:
            found = search.periodic(order, blocks, polish)
            if found is not None:
                return found
    assert motion is not None
    return search.answer("not settled", motion, blocks)


def advancing(system: System, scheme: Scheme) -> Advance:
    """The function (state, until) → run that advances a system by a scheme, for :func:`find_attractor`.

    >>> import numpy as np
    >>> from klapper.analysis import advancing
    >>> from klapper.mechanics import LinearSystem, State
    >>> from klapper.schemes import EventDriven
    >>> advance = advancing(LinearSystem([1.0]), EventDriven())
    >>> advance(State(0.0, np.zeros(1), np.array([2.0])), 3.0).position[-1].round(9)  # 2 m/s for 3 s
    array([6.])
    """
    from klapper.simulation import simulate

    require_system(system)
    require_scheme(scheme)

    def advance(state: State, until: float) -> Motion:
        begun = copy.copy(system)
        begun.start = state
        return simulate(begun, until, scheme, progress=False)

    return advance


@dataclass
class _Search:
    """State of a search: where the motion is, what it returned to, how large it was."""

    advance: Advance
    section: PoincareSection | Stroboscope
    tolerance: float
    most: int
    columns: np.ndarray
    quantities: dict[str, Quantity]
    state: State
    points: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    times: np.ndarray = field(default_factory=lambda: np.zeros(0))
    size: np.ndarray = field(default_factory=lambda: np.zeros(0))
    first_size: np.ndarray = field(default_factory=lambda: np.zeros(0))
    largest: np.ndarray = field(default_factory=lambda: np.zeros(0))
    returned: int = 0
    finite: bool = True

    def go(self, until: float) -> Motion:
        motion = self.advance(self.state, until)
        all_states = np.hstack([motion.position, motion.velocity])[:, self.columns]
        self.finite = bool(np.all(np.isfinite(all_states)))
        self.size = np.ptp(all_states, axis=0)
        if not self.first_size.size:
            self.first_size = np.maximum(self.size, np.abs(all_states).max(axis=0))
            self.points = np.zeros((0, len(self.columns)))
        self.largest = self.size if not self.largest.size else np.maximum(self.largest, self.size)
        self.state = State(float(motion.time[-1]), motion.position[-1].copy(), motion.velocity[-1].copy())
        if self.finite:
            self._take(self.section.returns(motion))
        return motion

    def _take(self, found: Returns) -> None:
        keep = (3 + 1) * self.most + 8
        new = found.time > self.times[-1] + 1e-12 * abs(self.times[-1]) if len(self.times) else slice(None)
        self.returned += len(found.time[new])
        self.points = np.vstack([self.points, found.states[new][:, self.columns]])[-keep:]
        self.times = np.concatenate([self.times, found.time[new]])[-keep:]

    @property
    def at_rest(self) -> bool:
        return bool(np.all(self.size <= self.tolerance * np.maximum(self.largest, 1e-300)))

    def order(self) -> int | None:
        return order_of_period(self.points, self.size, tolerance=self.tolerance, most=self.most)

    def periodic(self, order: int, blocks: int, polish: bool) -> Attractor | None:
        """The attractor through the present state, or None if Newton does not confirm that it attracts."""
        period, forced = self._period(order), isinstance(self.section, Stroboscope)
        unit = np.where(self.size > 0.0, self.size, 1.0)
        orbit = Orbit(self.advance, forced, self.columns, unit, self.state)
        if not polish:
            return self._found(self.advance(self.state, self.state.time + period), order, period, blocks)
        polished = orbit.polish(period)
        if polished is None or abs(polished.multipliers[0]) >= 1.0:
            return None
        shorter = orbit.smallest_order(polished, order)
        if shorter < order:
            self.state = polished.state
            return self.periodic(shorter, blocks, polish)
        answer = self._found(orbit.cycle(polished.state, polished.period), order, polished.period, blocks)
        return replace(answer, multipliers=polished.multipliers, residual=polished.residual)

    def _period(self, order: int) -> float:
        if isinstance(self.section, Stroboscope):
            return order * self.section.period
        passes = len(self.times) - 1 - (len(self.times) - 1) % order
        return float(self.times[-1] - self.times[-1 - passes]) * order / passes

    def _found(self, cycle: Motion, order: int, period: float, blocks: int) -> Attractor:
        answer = self.answer("periodic", cycle, blocks)
        points = self.section.returns(cycle).states[:order, self.columns]
        if len(points) < order:
            points = self.points[-order:]
        return replace(answer, order=order, period=period, points=points)

    def answer(self, kind: str, motion: Motion, blocks: int) -> Attractor:
        measured = self.quantities if self.finite else {}
        return Attractor(
            kind,
            0,
            np.nan,
            self.points[-1:].copy(),
            motion,
            {name: extrema(motion, quantity) for name, quantity in measured.items()},
            self.state.time,
            blocks,
            self.returned,
        )

    def sentence(self, order: int | None) -> str:
        seen = "not settled" if order is None else f"repeats after {counted(order, 'return')}"
        return f"{self.state.time:.6g} s, {self.returned} returns, largest excursion {self.size.max():.3g}: {seen}"


def _columns(coordinates: Sequence[int] | None, start: State) -> np.ndarray:
    """Columns of (q, v) that belong to the attractor."""
    nq, nv = len(start.position), len(start.velocity)
    if coordinates is None:
        return np.arange(nq + nv)
    chosen = np.array(list(coordinates), dtype=int)
    if nq != nv:
        raise InvalidModel("coordinates can be chosen only where every coordinate has its own velocity.")
    if chosen.size == 0 or chosen.min() < 0 or chosen.max() >= nq:
        raise InvalidModel(f"coordinates are {list(coordinates)}; allowed are numbers from 0 to {nq - 1}.")
    return np.concatenate([chosen, nq + chosen])
