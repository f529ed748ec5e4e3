"""Where a motion goes in the long run: Poincaré sections, periods, and the search for an attractor.

A section is a surface s(t, q, v) = 0 crossed in one direction, or every period of a forcing (a stroboscope). The motion
is periodic of order p if its return points repeat after p of them,

    x_{k+p} = x_k,   x_{k+1} = P(x_k)

A periodic orbit x* = φ_T(x*) is polished by Newton's method on (x, T) with finite differences of the flow φ. The
eigenvalues of the derivative of the return map P (its multipliers) say whether the orbit attracts: all inside the unit
circle. What has not settled is called that, not a period.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.system import State, System, require_system
from klapper.schemes.base import Scheme, require_scheme

Advance = Callable[[State, float], "Motion"]
Quantity = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
_ROUND_OFF = 1e-13  # misses of a periodic orbit up to this part of its size are as good as none
_CONVERGED = 1e-6  # up to this one Newton's method has found an orbit
_SPACING = 1e-6  # of finite differences, in parts of the size of the orbit and of its period
_DISTINCT = 100.0  # how much worse shorter steps must repeat than a period
_SUBDIVISION = 8  # of an interval between samples, for extrema
_REFINEMENTS = 8


class Motion(Protocol):
    """Samples of a motion, such as a :class:`~klapper.results.Run`: ``time`` (k,) [s], not falling, ``position``
    (k, nq) and ``velocity`` (k, nv). Equal times are the two sides of a jump. An attribute ``acceleration`` (k, nv)
    makes the values between the samples more exact."""

    @property
    def time(self) -> np.ndarray: ...

    @property
    def position(self) -> np.ndarray: ...

    @property
    def velocity(self) -> np.ndarray: ...


@dataclass(frozen=True, eq=False)
class Trajectory:
    """Samples of a motion, as a function that advances a state returns them.

    ``time``          (k,) [s]
    ``position``      (k, nq) [m, rad], ``velocity`` (k, nv) [m/s, rad/s]
    ``acceleration``  (k, nv), None: not known

    A throw, q = t − t², by its ends:

    >>> import numpy as np
    >>> from klapper.analysis import Trajectory, extrema
    >>> throw = Trajectory(np.array([0.0, 1.0]), np.zeros((2, 1)), np.array([[1.0], [-1.0]]))
    >>> tuple(round(end, 9) for end in extrema(throw, lambda t, q, v: q[:, 0]))
    (0.0, 0.25)
    """

    time: np.ndarray
    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Section:
    """The surface s(t, q, v) = 0 crossed from below (``rising``) or from above.

    ``function`` takes t (k,), q (k, nq), v (k, nv) and returns (k,).

    q = t − 1.5 rises through zero at 1.5 s:

    >>> import numpy as np
    >>> from klapper.analysis import Section, Trajectory
    >>> time = np.arange(4.0)
    >>> Section.coordinate(0).returns(Trajectory(time, time[:, None] - 1.5, np.ones((4, 1)))).time
    array([1.5])
    """

    function: Quantity
    rising: bool = True

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InvalidModel(
                f"the function of a section is {self.function!r}; give a function of (t, q, v)."
            )

    @classmethod
    def coordinate(cls, number: int, value: float = 0.0, *, rising: bool = True) -> Section:
        """Where a position coordinate, by its number, passes a value [m or rad]."""
        return cls(lambda t, q, v: q[:, number] - value, rising)

    @classmethod
    def turning(cls, number: int, *, rising: bool = True) -> Section:
        """Where a velocity coordinate, by its number, changes its sign; rising: at the lowest points of its
        coordinate."""
        return cls(lambda t, q, v: v[:, number], rising)

    def returns(self, motion: Motion) -> Returns:
        """The points where the motion passes the section, located between its samples to round-off; where it passes in
        a jump, the state after it."""
        between = _Between.of(motion)
        values = self._values(between.time, between.position, between.velocity)
        intervals = np.flatnonzero((values[:-1] < 0.0) & (values[1:] >= 0.0))
        low, high = np.where(between.regular[intervals], 0.0, 1.0), np.ones(len(intervals))
        for _ in range(60):
            middle = 0.5 * (low + high)
            below = self._values(*between.at(intervals, middle)) < 0.0
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return Returns(*between.at(intervals, high))

    def _values(self, t: np.ndarray, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        values = np.asarray(self.function(t, q, v), dtype=float)
        if values.shape != t.shape:
            raise InvalidModel(f"the section function returned the shape {values.shape}, expected {t.shape}.")
        return values if self.rising else -values


@dataclass(frozen=True)
class Stroboscope:
    """One point in every ``period`` [s] of a forcing, at the times ``phase`` + k ``period``.

    q = t − 1.5, seen at 0.5 s, 1.5 s and 2.5 s:

    >>> import numpy as np
    >>> from klapper.analysis import Stroboscope, Trajectory
    >>> time = np.arange(4.0)
    >>> motion = Trajectory(time, time[:, None] - 1.5, np.ones((4, 1)))
    >>> Stroboscope(1.0, phase=0.5).returns(motion).position[:, 0]
    array([-1.,  0.,  1.])
    """

    period: float
    phase: float = 0.0

    def __post_init__(self) -> None:
        if not (np.isfinite(self.period) and self.period > 0.0):
            raise InvalidModel(f"the period is {self.period}; allowed are finite numbers above 0, in s.")

    def returns(self, motion: Motion) -> Returns:
        between = _Between.of(motion)
        t = between.time
        slack = 1e-9 * self.period
        first = np.ceil((t[0] - slack - self.phase) / self.period)
        last = np.floor((t[-1] + slack - self.phase) / self.period)
        times = np.clip(self.phase + self.period * np.arange(first, last + 1), t[0], t[-1])
        intervals = np.clip(np.searchsorted(t, times, side="right") - 1, 0, len(t) - 2)
        lengths = t[intervals + 1] - t[intervals]
        share = np.divide(times - t[intervals], lengths, out=np.ones(len(times)), where=lengths > 0.0)
        return Returns(*between.at(intervals, share))


@dataclass(frozen=True, eq=False)
class Returns:
    """Points of a motion on a section: ``time`` (k,) [s], ``position`` (k, nq), ``velocity`` (k, nv)."""

    time: np.ndarray
    position: np.ndarray
    velocity: np.ndarray

    def __len__(self) -> int:
        return len(self.time)

    @property
    def states(self) -> np.ndarray:
        """(k, nq + nv)."""
        return np.hstack([self.position, self.velocity])


def order_of_period(
    points: Any, size: Any, *, tolerance: float = 1e-6, most: int = 16, repeats: int = 3
) -> int | None:
    """Smallest p ≤ ``most`` after which the last return points (k, n) repeat, or None if there is none.

    They repeat if x_{k+p} and x_k differ by at most ``tolerance`` times ``size`` (n,) for the last ``repeats`` p
    points, but at least four. Fewer points decide nothing. A motion that still spirals towards a shorter cycle nearly
    repeats after several turns; therefore shorter steps must miss a hundred times as much as p does.

    >>> import numpy as np
    >>> from klapper.analysis import order_of_period
    >>> order_of_period(np.tile([[0.0], [1.0]], (10, 1)), 1.0)
    2
    """
    values = np.asarray(points, dtype=float) / np.maximum(np.asarray(size, dtype=float), 1e-300)
    nearest = np.inf
    for p in range(1, most + 1):
        wanted = max(repeats * p, 4)
        if len(values) < wanted + p:
            return None
        last = values[-(wanted + p) :]
        miss = float(np.abs(last[p:] - last[:-p]).max())
        if miss <= tolerance:
            return p if _DISTINCT * miss <= nearest else None
        nearest = min(nearest, miss)
    return None


@dataclass(frozen=True, eq=False)
class Attractor:
    """What a motion settles to.

    ``kind``         "periodic", "rest", "not settled" (quasi-periodic, chaotic, or only slow) or "unbounded"
    ``order``        returns to the section in one period; 0 unless periodic
    ``period``       [s]; nan unless periodic
    ``points``       the ``order`` return points (order, nq + nv), or the last ones seen
    ``cycle``        the motion over one period, or the last block of the search
    ``extrema``      (least, greatest) of every quantity over ``cycle``
    ``multipliers``  of the return map (complex), the largest first; empty if the orbit was not polished
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
            "periodic": f"Periodic: {self.period:.8g} s, {self.order} return(s) to the section; found {after}",
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
    section: Section | Stroboscope,
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
    ``start``        where to begin, e.g. near an equilibrium that is not stable
    ``section``      :class:`Section` or :class:`Stroboscope`
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
    >>> from klapper.analysis import Section, Trajectory, find_attractor
    >>> from klapper.mechanics import State
    >>> decay = lambda s, until: Trajectory(np.array([s.time, until]), *(np.array([x, x * np.exp(s.time - until)])
    ...     for x in (s.position, s.velocity)))
    >>> find_attractor(decay, State(0.0, np.ones(1), np.ones(1)), section=Section.coordinate(0), block=1.0,
    ...     patience=100.0).kind
    'rest'
    """
    if not callable(advance) or not hasattr(section, "returns") or not isinstance(start, State):
        raise InvalidModel(
            f"advance is {advance!r}, start {start!r} and section {section!r}; give advancing(system, scheme), a State "
            f"such as system.start, and a Section or a Stroboscope."
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
    from klapper.simulate import simulate

    require_system(system)
    require_scheme(scheme)

    def advance(state: State, until: float) -> Motion:
        begun = copy.copy(system)
        begun.start = state
        return simulate(begun, until, scheme, progress=False)

    return advance


def extrema(motion: Motion, quantity: Quantity) -> tuple[float, float]:
    """Least and greatest value of a quantity over a motion, also between its samples.

    A throw, q = t − t², is highest in the middle between its two samples:

    >>> import numpy as np
    >>> from klapper.analysis import Trajectory, extrema
    >>> throw = Trajectory(np.array([0.0, 1.0]), np.zeros((2, 1)), np.array([[1.0], [-1.0]]))
    >>> tuple(round(end, 9) for end in extrema(throw, lambda t, q, v: q[:, 0]))
    (0.0, 0.25)
    """
    between = _Between.of(motion)
    return -_greatest(between, lambda t, q, v: -np.asarray(quantity(t, q, v))), _greatest(between, quantity)


def _greatest(between: _Between, quantity: Quantity) -> float:
    """The best of a grid over all intervals, then of finer and finer grids in its own and the neighbouring ones."""
    intervals = np.flatnonzero(between.regular)
    share = np.linspace(0.0, 1.0, _SUBDIVISION + 1)
    values = quantity(*between.at(np.repeat(intervals, len(share)), np.tile(share, len(intervals))))
    row = int(np.argmax(values)) // len(share)
    near = range(max(row - 1, 0), min(row + 2, len(intervals)))
    table = np.reshape(values, (len(intervals), len(share)))
    return max(_greatest_within(between, quantity, intervals[i], share[np.argmax(table[i])]) for i in near)


def _greatest_within(between: _Between, quantity: Quantity, interval: int, best: float) -> float:
    """The greatest value in one interval, near the part ``best`` of it."""
    reach, greatest = 1.0 / _SUBDIVISION, -np.inf
    for _ in range(_REFINEMENTS):
        grid = np.clip(np.linspace(best - reach, best + reach, 2 * _SUBDIVISION + 1), 0.0, 1.0)
        values = quantity(*between.at(np.full(len(grid), interval), grid))
        best, greatest = float(grid[np.argmax(values)]), max(greatest, float(np.max(values)))
        reach /= _SUBDIVISION
    return greatest


@dataclass
class _Search:
    """State of a search: where the motion is, what it returned to, how large it was."""

    advance: Advance
    section: Section | Stroboscope
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
        orbit = _Orbit(self.advance, forced, self.columns, unit, self.state)
        if not polish:
            return self._found(self.advance(self.state, self.state.time + period), order, period, blocks)
        polished = orbit.polish(period)
        if polished is None or abs(polished.multipliers[0]) >= 1.0:
            return None
        answer = self._found(orbit.cycle(polished.state, polished.period), order, polished.period, blocks)
        shorter = _smallest_order(answer.points / unit)
        if shorter < order:
            self.state = polished.state
            return self.periodic(shorter, blocks, polish)
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
        seen = "not settled" if order is None else f"repeats after {order} return(s)"
        return f"{self.state.time:.6g} s, {self.returned} returns, largest excursion {self.size.max():.3g}: {seen}"


@dataclass(frozen=True, eq=False)
class _Polished:
    state: State
    period: float
    multipliers: np.ndarray
    residual: float


@dataclass(frozen=True, eq=False)
class _Orbit:
    """Newton's method on z = φ_T(z) in states z scaled by the size of the motion; T is unknown unless forced."""

    advance: Advance
    forced: bool
    columns: np.ndarray
    unit: np.ndarray
    start: State

    def polish(self, period: float, rounds: int = 15) -> _Polished | None:
        """The periodic orbit near the start, or None if there is none."""
        z, best = self._read(self.start), np.inf
        across = self._rate(z, period)
        for _ in range(rounds):
            miss = self._flow(z, period) - z
            residual = float(np.abs(miss).max())
            if residual <= _ROUND_OFF or not residual < 0.9 * best:
                break
            best = residual
            change, longer = self._correction(z, period, miss, across)
            if not (np.all(np.isfinite(change)) and 0.0 < period + longer < 2.0 * period):
                return None
            z, period = z + change, period + longer
        residual = float(np.abs(self._flow(z, period) - z).max())
        if not residual <= _CONVERGED:
            return None
        return _Polished(self._state(z), period, self._multipliers(z, period), residual)

    def _correction(
        self, z: np.ndarray, period: float, miss: np.ndarray, across: np.ndarray
    ) -> tuple[np.ndarray, float]:
        """Changes of z and T; without a forcing z moves across the flow."""
        matrix = self._monodromy(z, period) - np.eye(len(z))
        if self.forced:
            return np.linalg.solve(matrix, -miss), 0.0
        along = period * self._rate(z + miss, period)
        bordered = np.block([[matrix, along[:, None]], [across[None], np.zeros((1, 1))]])
        solved = np.linalg.solve(bordered, np.append(-miss, 0.0))
        return solved[:-1], period * float(solved[-1])

    def _multipliers(self, z: np.ndarray, period: float) -> np.ndarray:
        """Eigenvalues of the return map: those of the monodromy matrix, without the direction of the flow."""
        matrix = self._monodromy(z, period)
        if not self.forced:
            across = np.linalg.svd(self._rate(z, period)[None])[2][1:]
            matrix = across @ matrix @ across.T
        values = np.linalg.eigvals(matrix).astype(complex)
        return values[np.argsort(-np.abs(values), kind="stable")]

    def _monodromy(self, z: np.ndarray, period: float) -> np.ndarray:
        """∂φ_T/∂z (n, n) by central differences."""
        steps = _SPACING * np.eye(len(z))
        return np.array([self._flow(z + d, period) - self._flow(z - d, period) for d in steps]).T / (
            2 * _SPACING
        )

    def _rate(self, z: np.ndarray, period: float) -> np.ndarray:
        """z' (n,) [1/s] by a one-sided difference of second order."""
        duration = _SPACING * period
        return (4.0 * self._flow(z, duration) - self._flow(z, 2.0 * duration) - 3.0 * z) / (2.0 * duration)

    def _flow(self, z: np.ndarray, duration: float) -> np.ndarray:
        motion = self.cycle(self._state(z), duration)
        return np.concatenate([motion.position[-1], motion.velocity[-1]])[self.columns] / self.unit

    def cycle(self, state: State, duration: float) -> Motion:
        until = state.time + duration
        motion = self.advance(state, until)
        if abs(motion.time[-1] - until) > 1e-3 * _SPACING * duration:
            raise InvalidModel(
                f"the motion was to end after {duration:.6g} s and ended after {motion.time[-1] - state.time:.6g} s; "
                f"polishing needs a scheme that ends where it is told. Take another one, or polish=False."
            )
        return motion

    def _read(self, state: State) -> np.ndarray:
        return np.concatenate([state.position, state.velocity])[self.columns] / self.unit

    def _state(self, z: np.ndarray) -> State:
        full = np.concatenate([self.start.position, self.start.velocity])
        full[self.columns] = z * self.unit
        nq = len(self.start.position)
        return State(self.start.time, full[:nq], full[nq:])


@dataclass(frozen=True, eq=False)
class _Between:
    """Values between the samples of a motion: cubic polynomials that fit values and rates at both ends.

    Positions follow (q, v) where q' = v, else straight lines; velocities follow (v, v̇) if v̇ is known, else the rate of
    the position polynomial, else straight lines.
    """

    time: np.ndarray
    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray | None

    @classmethod
    def of(cls, motion: Motion) -> _Between:
        if len(motion.time) < 2:
            raise InvalidModel(f"the motion has {len(motion.time)} samples; at least two are needed.")
        return cls(motion.time, motion.position, motion.velocity, getattr(motion, "acceleration", None))

    @property
    def regular(self) -> np.ndarray:
        """Intervals (k − 1,) that take time; the others are jumps."""
        return np.diff(self.time) > 0.0

    def at(self, interval: np.ndarray, share: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Time, position and velocity at parts 0 … 1 of the numbered intervals."""
        h = (self.time[interval + 1] - self.time[interval])[:, None]
        x = share[:, None]
        time = self.time[interval] + share * h[:, 0]
        smooth = self.position.shape == self.velocity.shape
        q = self._fit(self.position, self.velocity if smooth else None, interval, h, x)
        if self.acceleration is not None or not smooth:
            v = self._fit(self.velocity, self.acceleration, interval, h, x)
        else:
            v = self._slope(interval, h, x)
        return time, q, v

    def _fit(
        self, values: np.ndarray, rates: np.ndarray | None, interval: np.ndarray, h: np.ndarray, x: np.ndarray
    ) -> np.ndarray:
        a, b = values[interval], values[interval + 1]
        line = a + x * (b - a)
        if rates is None:
            return line
        first, last = h * rates[interval] - (b - a), (b - a) - h * rates[interval + 1]
        return line + x * (1 - x) * ((1 - x) * first + x * last)

    def _slope(self, interval: np.ndarray, h: np.ndarray, x: np.ndarray) -> np.ndarray:
        """The rate of the position polynomial; the velocity itself at its ends and over jumps."""
        a, b = self.velocity[interval], self.velocity[interval + 1]
        mean = np.divide(
            self.position[interval + 1] - self.position[interval], h, out=0.5 * (a + b), where=h > 0.0
        )
        return (1 - x) * (1 - 3 * x) * a + x * (3 * x - 2) * b + 6 * x * (1 - x) * mean


def _smallest_order(points: np.ndarray) -> int:
    """The smallest divisor p of the number of points of a periodic orbit after which they repeat."""
    count = len(points)
    repeating = (
        p
        for p in range(1, count + 1)
        if count % p == 0 and np.abs(points - np.roll(points, p, axis=0)).max() <= _CONVERGED
    )
    return next(repeating)


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
