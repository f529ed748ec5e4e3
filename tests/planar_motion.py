"""Motion with contact, friction and impact by a method of its own, for tests: no code of the package is used.

Smooth pieces by scipy's DOP853, cut where a gap closes, a contact force or a sliding velocity vanishes, or friction
reaches its limit. At each cut all combinations of states (open, stick, slip to either side) are tried:

    M a = f + Σ n λ_N + Σ t λ_T,   n·a + c_N = 0 where closed,   t·a + c_T = 0 where it sticks

and the one that meets Coulomb's law is taken; in impacts the same with velocities and Newton's v_N⁺ = −ε v_N⁻.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise, product
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

OPEN, SMOOTH, STICK, FORTH, BACK = "open", "smooth", "stick", "forth", "back"
SLIPS = {FORTH: 1.0, BACK: -1.0}


class NotFollowed(Exception):
    """The motion is not for this method: impacts accumulate, or no combination (or more than one) is found."""


@dataclass
class Touch:
    """A contact: ``gap(t, q)``, ``normal(t, q)`` (n,), ``gap_rate(t)`` = ∂g/∂t, ``normal_turn(t, q, v)`` = g̈ − n·a.

    ``tangent(t, q)`` (n,), ``given`` its velocity besides t·v [m/s], ``tangent_turn``; ``friction`` μ, ``restitution``.
    Without a gap it is a friction element with a ``limit`` [N].
    """

    gap: Callable[..., float] | None = None
    normal: Callable[..., np.ndarray] | None = None
    gap_rate: Callable[..., float] = lambda t: 0.0
    normal_turn: Callable[..., float] = lambda t, q, v: 0.0
    tangent: Callable[..., np.ndarray] | None = None
    tangent_turn: Callable[..., float] = lambda t, q, v: 0.0
    given: float = 0.0
    friction: float = 0.0
    restitution: float = 0.0
    limit: float = 0.0

    @property
    def rough(self) -> bool:
        return self.friction > 0.0 or self.limit > 0.0

    def slip(self, t: float, q: np.ndarray, v: np.ndarray) -> float:
        return float(self.tangent(t, q) @ v) + self.given

    def approach(self, t: float, q: np.ndarray, v: np.ndarray) -> float:
        return float(self.normal(t, q) @ v) + self.gap_rate(t)


@dataclass
class Statistics:
    """Least, largest, mean and rms (n,) of y over pieces of smooth motion."""

    size: int
    time: float = 0.0
    least: np.ndarray = field(init=False)
    largest: np.ndarray = field(init=False)
    sums: np.ndarray = field(init=False)
    squares: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.least, self.largest = np.full(self.size, np.inf), np.full(self.size, -np.inf)
        self.sums, self.squares = np.zeros(self.size), np.zeros(self.size)

    def piece(self, dense: Callable[[np.ndarray], np.ndarray], steps: Any) -> None:
        """``dense(times)`` (n, k) between the ``steps`` of an integrator: Gauss for integrals, looks for extremes."""
        nodes, weights = np.polynomial.legendre.leggauss(12)
        for begin, end in pairwise(steps):
            half = 0.5 * (end - begin)
            values = dense(begin + half * (1.0 + nodes))
            self.sums += half * (values @ weights)
            self.squares += half * (values**2 @ weights)
            self.time += end - begin
            looks = dense(np.linspace(begin, end, 301))
            for name, sign in (("least", -1.0), ("largest", 1.0)):
                tip = _tips(sign * looks)
                setattr(self, name, sign * np.maximum(sign * getattr(self, name), tip))

    @property
    def mean(self) -> np.ndarray:
        return self.sums / self.time

    @property
    def rms(self) -> np.ndarray:
        return np.sqrt(self.squares / self.time)


def _tips(looks: np.ndarray) -> np.ndarray:
    """Largest values (n,) of curves (n, k), by a parabola through three looks."""
    at = np.clip(np.argmax(looks, axis=1), 1, looks.shape[1] - 2)
    rows = np.arange(len(looks))
    left, here, right = looks[rows, at - 1], looks[rows, at], looks[rows, at + 1]
    bend = left - 2.0 * here + right
    inside = (bend < 0.0) & (here >= np.maximum(left, right))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(inside, here - (right - left) ** 2 / (8.0 * bend), looks.max(axis=1))


@dataclass
class Moved:
    """A system of n coordinates: ``mass(q)`` (n, n), ``force(t, q, v)`` (n,), ``touches``."""

    mass: Callable[[np.ndarray], np.ndarray]
    force: Callable[..., np.ndarray]
    touches: list[Touch]

    def follow(
        self, q: Any, v: Any, until: float, *, longest: float, most: int = 200, shown: Any = None
    ) -> Statistics:
        """Statistics of (q, v), or of ``shown(t, y)``, from rest or flight up to ``until`` [s]."""
        n, t, y = len(q), 0.0, np.concatenate([q, v]).astype(float)
        self.impacts = 0
        shown = shown or (lambda times, states: states)
        found = Statistics(len(shown(np.zeros(1), y[:, None])))
        touching: set[int] = set()
        for i, touch in enumerate(self.touches):
            if touch.gap is None or (
                abs(touch.gap(t, y[:n])) < 1e-12 and abs(touch.approach(t, y[:n], y[n:])) < 1e-12
            ):
                touching.add(i)
        still = {
            i
            for i in touching
            if self.touches[i].rough and abs(self.touches[i].slip(t, y[:n], y[n:])) < 1e-12
        }
        forced: dict[int, str] = {}  # what an event says of its contact, where accelerations are zero yet
        for _ in range(most):
            modes = self._modes(t, y[:n], y[n:], touching, still, forced)
            touching = {i for i, mode in modes.items() if mode != OPEN}
            watched = self._watched(n, modes)
            step = longest
            while True:
                piece = solve_ivp(
                    lambda s, x, modes=modes: np.concatenate([x[n:], self._solved(s, x[:n], x[n:], modes)[0]]),
                    (t, until), y, "DOP853", rtol=1e-12, atol=1e-12, dense_output=True,
                    events=[event for event, _ in watched], max_step=step,
                )  # fmt: skip
                if not self._passed(piece, watched):
                    break
                step /= 4.0
                if step < 2e-4:
                    raise NotFollowed("a flight too short to be seen")
            found.piece(lambda s, piece=piece: shown(s, piece.sol(s)), piece.t)
            t, y = float(piece.t[-1]), piece.y[:, -1].copy()
            if piece.status != 1:
                return found
            number, kind = next(
                label for (_, label), times in zip(watched, piece.t_events, strict=True) if len(times)
            )
            still, forced = {i for i, mode in modes.items() if mode == STICK}, {}
            if kind in (OPEN, FORTH, BACK):
                forced = {number: kind}
            elif kind == "hits":
                y[n:], still = self._impact(t, y[:n], y[n:], touching | {number}, still)
                self.impacts += 1
                after = self.touches[number].approach(t, y[:n], y[n:])
                touching = {
                    i
                    for i in touching | {number}
                    if self.touches[i].gap is None or abs(self.touches[i].approach(t, y[:n], y[n:])) < 1e-11
                }
                if 0.0 < after < 1e-3 and number not in touching:
                    raise NotFollowed("impacts accumulate")
            elif kind == "stops":
                still |= {number}
        raise NotFollowed("too many events")

    def _passed(self, piece: Any, watched: list[Any]) -> bool:
        """Whether an event function changes its sign twice within a step, so that no event is seen."""
        times = np.linspace(piece.t[:-1], piece.t[1:], 9).ravel()
        return any(
            -event.direction * event(s, piece.sol(s)) < -1e-9 for s in times.tolist() for event, _ in watched
        )

    def _watched(self, n: int, modes: dict[int, str]) -> list[Any]:
        found = []

        def watch(function: Callable[..., float], direction: float, label: tuple[int, str]) -> None:
            function.terminal, function.direction = True, direction  # type: ignore[attr-defined]
            found.append((function, label))

        for i, touch in enumerate(self.touches):
            mode = modes.get(i, OPEN)
            if mode == OPEN:
                watch(lambda t, y, touch=touch: touch.gap(t, y[:n]), -1.0, (i, "hits"))
                continue
            if touch.gap is not None:
                watch(lambda t, y, i=i: self._solved(t, y[:n], y[n:], modes)[1][i], -1.0, (i, OPEN))
            if mode in SLIPS:
                watch(lambda t, y, touch=touch: touch.slip(t, y[:n], y[n:]), -SLIPS[mode], (i, "stops"))
            if mode == STICK:
                for sign in (1.0, -1.0):

                    def room(
                        t: float, y: np.ndarray, i: int = i, touch: Touch = touch, sign: float = sign
                    ) -> float:
                        _, normal, across = self._solved(t, y[:n], y[n:], modes)
                        return touch.limit + touch.friction * normal[i] - sign * across[i]

                    watch(room, -1.0, (i, BACK if sign > 0.0 else FORTH))
        return found

    def _solved(self, t: float, q: np.ndarray, v: np.ndarray, modes: dict[int, str]) -> Any:
        """Accelerations (n,), and normal and tangential forces by number of the contact."""
        directions, held, given = [], [], []
        force = self.force(t, q, v)
        places: dict[tuple[int, str], int] = {}
        for i, mode in modes.items():
            touch = self.touches[i]
            if mode == OPEN:
                continue
            across = touch.tangent(t, q) if touch.rough else None
            if mode in SLIPS:
                force = force - SLIPS[mode] * touch.limit * across
            if touch.gap is not None:
                push = touch.normal(t, q)
                places[i, "normal"] = len(held)
                held.append(push)
                given.append(touch.normal_turn(t, q, v))
                directions.append(push - SLIPS[mode] * touch.friction * across if mode in SLIPS else push)
            if mode == STICK:
                places[i, "tangent"] = len(held)
                held.append(across)
                given.append(touch.tangent_turn(t, q, v))
                directions.append(across)
        mass = self.mass(q)
        free = np.linalg.solve(mass, force)
        if not held:
            return free, {}, {}
        rows, columns = np.array(held), np.linalg.solve(mass, np.array(directions).T)
        try:
            forces = -np.linalg.solve(rows @ columns, rows @ free + given)
        except np.linalg.LinAlgError as error:
            raise NotFollowed("singular") from error
        normal = {i: forces[places[i, "normal"]] if (i, "normal") in places else 0.0 for i in modes}
        tangent = {}
        for i, mode in modes.items():
            touch = self.touches[i]
            tangent[i] = (
                forces[places[i, "tangent"]]
                if mode == STICK
                else -SLIPS.get(mode, 0.0) * (touch.limit + touch.friction * normal[i])
            )
        return free + columns @ forces, normal, tangent

    def _modes(
        self,
        t: float,
        q: np.ndarray,
        v: np.ndarray,
        touching: set[int],
        still: set[int],
        forced: dict[int, str],
    ) -> dict[int, str]:
        """The states of the touching contacts that the motion goes on with."""
        order = sorted(touching)
        choices = []
        for i in order:
            touch = self.touches[i]
            open_ = [] if touch.gap is None else [OPEN]
            if i in forced:
                choices.append([forced[i]])
            elif not touch.rough:
                choices.append([*open_, SMOOTH])
            elif i in still:
                choices.append([*open_, STICK, FORTH, BACK])
            else:
                choices.append([*open_, FORTH if touch.slip(t, q, v) > 0.0 else BACK])
        valid = []
        for combination in product(*choices):
            modes = dict(zip(order, combination, strict=True))
            try:
                acceleration, normal, across = self._solved(t, q, v, modes)
            except NotFollowed:
                continue
            if all(
                i in forced or self._fits(i, mode, t, q, v, acceleration, normal, across, still)
                for i, mode in modes.items()
            ):
                valid.append((modes, acceleration))
        if not valid:
            raise NotFollowed("no combination")
        if max(np.abs(a - valid[0][1]).max() for _, a in valid) > 1e-6:
            raise NotFollowed("several motions")
        return valid[0][0]

    def _fits(
        self,
        i: int,
        mode: str,
        t: float,
        q: Any,
        v: Any,
        a: np.ndarray,
        normal: Any,
        across: Any,
        still: set[int],
    ) -> bool:
        touch, noise = self.touches[i], 1e-9
        if mode == OPEN:
            return touch.normal(t, q) @ a + touch.normal_turn(t, q, v) > noise
        if touch.gap is not None and normal[i] < -noise:
            return False
        if mode == STICK:
            return abs(across[i]) <= touch.limit + touch.friction * normal[i] + noise
        if mode in SLIPS and i in still:
            return SLIPS[mode] * (touch.tangent(t, q) @ a + touch.tangent_turn(t, q, v)) > noise
        return True

    def _impact(self, t: float, q: np.ndarray, v: np.ndarray, part: set[int], still: set[int]) -> Any:
        """Velocity after an impact, and the contacts that stick after it."""
        struck = sorted(i for i in part if self.touches[i].gap is not None)
        mass = self.mass(q)
        before = {i: self.touches[i].approach(t, q, v) for i in struck}
        before = {i: 0.0 if abs(rate) < 1e-10 else rate for i, rate in before.items()}
        valid = []
        for combination in product(
            *[[OPEN, STICK, FORTH, BACK] if self.touches[i].rough else [OPEN, SMOOTH] for i in struck]
        ):
            held, directions, given = [], [], []
            for i, mode in zip(struck, combination, strict=True):
                touch = self.touches[i]
                if mode == OPEN:
                    continue
                push, across = touch.normal(t, q), touch.tangent(t, q) if touch.rough else None
                held.append(push)
                given.append(touch.gap_rate(t) + touch.restitution * before[i])
                directions.append(push - SLIPS[mode] * touch.friction * across if mode in SLIPS else push)
                if mode == STICK:
                    held.append(across)
                    given.append(touch.given)
                    directions.append(across)
            after, impulses = v, np.zeros(0)
            if held:
                rows, columns = np.array(held), np.linalg.solve(mass, np.array(directions).T)
                try:
                    impulses = -np.linalg.solve(rows @ columns, rows @ v + given)
                except np.linalg.LinAlgError:
                    continue
                after = v + columns @ impulses
            fits, place = True, 0
            for i, mode in zip(struck, combination, strict=True):
                touch = self.touches[i]
                rate = touch.approach(t, q, after)
                if mode == OPEN:
                    fits &= rate + touch.restitution * before[i] > 1e-11
                    continue
                normal = impulses[place]
                fits &= normal >= -1e-12
                if mode == STICK:
                    fits &= abs(impulses[place + 1]) <= touch.friction * normal + 1e-12
                elif mode in SLIPS:
                    fits &= SLIPS[mode] * touch.slip(t, q, after) > 1e-11
                place += 2 if mode == STICK else 1
            if fits:
                valid.append(
                    (after, {i for i, mode in zip(struck, combination, strict=True) if mode == STICK})
                )
        if not valid or max(np.abs(one - valid[0][0]).max() for one, _ in valid) > 1e-9:
            raise NotFollowed("no impact, or several")
        after, stuck = valid[0]
        return after, stuck | {
            i for i in part if self.touches[i].rough and abs(self.touches[i].slip(t, q, after)) < 1e-11
        }
