"""Motion of a linear system in fixed contact modes, in closed form over any length of time.

In the coordinates u = Lᵀ q, M = L Lᵀ, what is held and the forces that hold it are

    ü = f̃ − C̃ u̇ − K̃ u + F λ,      Dᵀ u = c(t),      λ = −G⁺ (Dᵀ f̃ − c̈),   G = Dᵀ F           Waltersberger (4.58)

with F = D but for sliding friction, which follows its normal force, F_N = D_N − s μ D_T (4.49). With Z, an orthonormal
basis of what D leaves free, u = Z y + D⁺ᵀ c: nothing that is held can drift. The given functions of time are solutions
of a linear equation themselves (:mod:`klapper.schemes.time_functions`), so that x = (y, ẏ, these) obeys x' = A x, which
:mod:`klapper.schemes.matrix_exponential` solves for any length of time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.linalg

from klapper.complementarity.dense import dense
from klapper.mechanics.contacts import Contact, FrictionElement
from klapper.mechanics.linear_system import LinearSystem
from klapper.schemes.linear_phase_equations import LinearPhaseEquations
from klapper.schemes.linear_search import Pieces
from klapper.schemes.matrix_exponential import Exponential
from klapper.schemes.mobility import natural_units
from klapper.schemes.phase_flow import Integrals
from klapper.schemes.time_functions import TimeFunctions

_RANK = 1e-10  # relative size below which a held direction counts as redundant
_AT_ONCE = 6144  # nodes of a quadrature
_MANY, _PARTS_AT_ONCE = 16, 512  # equal parts of a quadrature from which on products of matrices serve
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)


def time_functions(system: LinearSystem) -> TimeFunctions:
    """The given functions of a linear system; refuses, by name, what has no closed form."""
    parts = system.contacts.parts
    signals = [(system.load, "the force")]
    signals += [(part.gap, f"the gap of {part.called}") for part in parts if isinstance(part, Contact)]
    signals += [(part.tangential_rate, f"the tangential_rate of {part.called}") for part in parts]
    signals += [(part.offset, f"the offset of {part.called}") for part in system.constraint_parts]
    return TimeFunctions(signals)


class LinearModel:
    """The matrices and given functions of a linear system, in coordinates in which the mass is the identity.

    Refuses, by name, what has no closed form: forces, walls or belts that are arbitrary functions of time.
    """

    def __init__(self, system: LinearSystem) -> None:
        self.system = system
        n = system.size
        parts = system.contacts.parts
        self.functions = time_functions(system)
        coefficients = self.functions.coefficients
        self.factor = np.linalg.cholesky(dense(system.mass_matrix))
        self.inverse_factor = scipy.linalg.solve_triangular(self.factor, np.eye(n), lower=True)
        self.load = self.lighter(coefficients(system.load))
        self.rate_matrix = self._scaled(system.rate_matrix)
        self.position_matrix = self._scaled(system.position_matrix)
        self.gap = np.array(
            [coefficients(part.gap) if isinstance(part, Contact) else self._nothing for part in parts]
        )
        self.gap = self.gap.reshape(len(parts), self.functions.count)
        self.belt = self._tangential_rates(parts)
        self.offset = np.array([coefficients(part.offset) for part in system.constraint_parts])
        self.offset = self.offset.reshape(len(system.constraint_parts), self.functions.count)
        self.normal = dense(system.normal_directions).reshape(n, -1)
        self.tangential = dense(system.tangential_directions).reshape(n, -1)
        self.bilateral = dense(system.constraint_matrix).reshape(n, -1)

    @property
    def _nothing(self) -> np.ndarray:
        return np.zeros(self.functions.count)

    def lighter(self, columns: np.ndarray) -> np.ndarray:
        """L⁻¹ of forces or directions (n, k)."""
        return self.inverse_factor @ columns

    def _scaled(self, matrix: Any) -> np.ndarray:
        if matrix is None:
            return np.zeros(self.factor.shape)
        return self.lighter(self.lighter(dense(matrix)).T).T

    def _tangential_rates(self, parts: Sequence[Contact | FrictionElement]) -> np.ndarray:
        """a_T (m d, s), contact by contact."""
        d = self.system.contacts.tangential
        rows = np.zeros((len(parts), d, self.functions.count))
        for row, part in zip(rows, parts, strict=True):
            given = self.functions.coefficients(part.tangential_rate)
            if d:
                row[: max(len(given), 1) if given.ndim == 2 else 1] = given
        return rows.reshape(len(parts) * d, self.functions.count)


@dataclass(frozen=True, eq=False)
class Held:
    """What is held in a phase, and the forces of it; all arrays in the coordinates of the system.

    ``directions``    (n, h) whose motion is given
    ``place``         (h, s) coefficients of −Dᵀ q over the given functions of time, up to a constant where
    ``free_place``    (h,) is True: there the place reached is kept, as in sticking
    ``forces``        (n, h) columns by which the unknown forces act: the directions, with the sliding friction that
                      follows them
    ``given_force``   (n,) [N] sliding friction of given limits
    ``preferred``     (h,) [N]: where the forces are not unique, those nearest to these are taken
    """

    directions: np.ndarray
    place: np.ndarray
    free_place: np.ndarray
    forces: np.ndarray
    given_force: np.ndarray
    preferred: np.ndarray

    @staticmethod
    def of(model: LinearModel, equations: LinearPhaseEquations) -> Held:
        """What the modes of a phase hold; sliding in the plane keeps its sense."""
        matrix, given = equations.distribution(equations.sense, equations.at_rest)
        patches = slice(len(equations.normal), equations.size - len(model.offset))
        belts = (equations.which[equations.patch, None] * equations.d + np.arange(equations.d)).ravel()
        belt = model.functions.integral(model.belt[belts]) * equations.scale.reshape(-1, 1)
        place = np.concatenate([model.gap[equations.which[equations.normal]], belt, model.offset])
        kept = np.zeros(equations.size, dtype=bool)
        kept[patches] = True
        held = equations.held
        return Held(
            equations.columns[:, held],
            place[held],
            kept[held],
            equations.columns @ matrix,
            equations.columns @ given,
            equations.modes.reference[held],
        )


class LinearPhase:
    """The closed-form motion in one set of modes, whatever the start.

    Rows of the matrices below act on the extended state x (N,) = (y, ẏ, σ, κ), κ being the places kept by sticking.
    Not ``precise``, it is made many times as fast, with an error that grows by round-off in every oscillation.
    """

    def __init__(self, model: LinearModel, held: Held, *, precise: bool = True) -> None:
        self.model, self.held = model, held
        functions = model.functions
        directions, forces = model.lighter(held.directions), model.lighter(held.forces)
        h = directions.shape[1]
        self.free, self._reach = _split(directions)
        m, s = self.free.shape[1], functions.count
        kept = np.flatnonzero(held.free_place)
        size = 2 * m + s + len(kept)
        self.size, self._moving, self.signals = size, 2 * m, slice(2 * m, 2 * m + s)

        place = np.zeros((h, size))
        place[:, self.signals] = -held.place
        place[kept, 2 * m + s + np.arange(len(kept))] = 1.0
        speed, change = np.zeros((h, size)), np.zeros((h, size))
        speed[:, self.signals] = -held.place @ functions.derivative
        change[:, self.signals] = -held.place @ functions.derivative @ functions.derivative
        self._scaled_position = self._reach @ place
        self._scaled_position[:, :m] += self.free
        self._scaled_velocity = self._reach @ speed
        self._scaled_velocity[:, m : 2 * m] += self.free

        applied = -model.rate_matrix @ self._scaled_velocity - model.position_matrix @ self._scaled_position
        applied[:, self.signals] += model.load
        applied[:, 2 * m] += model.lighter(held.given_force[:, None])[:, 0]
        inverse, null = _pseudo_inverse(directions.T @ forces)
        self.determined = not null.any()
        self.force_rows = inverse @ (change - directions.T @ applied)
        self.force_rows[:, 2 * m] += null @ held.preferred
        moved = self.free.T @ (applied + forces @ self.force_rows)

        self.matrix = np.zeros((size, size))
        self.matrix[:m, m : 2 * m] = np.eye(m)
        self.matrix[m : 2 * m] = moved
        self.matrix[self.signals, self.signals] = functions.derivative
        self.position_rows = model.inverse_factor.T @ self._scaled_position
        self.velocity_rows = model.inverse_factor.T @ self._scaled_velocity
        self.exponential = Exponential(self.matrix, self._units(), precise=precise)

    @cached_property
    def fastest(self) -> float:
        """Highest angular frequency [rad/s] of free vibrations and given functions."""
        own = np.abs(np.linalg.eigvals(self.matrix[: self._moving, : self._moving]).imag).max(initial=0.0)
        return float(max(own, self.model.functions.frequencies.max(initial=0.0)))

    @cached_property
    def oscillations(self) -> Pieces:
        """Pieces of half the fastest oscillation, for the search of events."""
        return Pieces(self.exponential, np.pi / self.fastest)

    @cached_property
    def quadrature_pieces(self) -> np.ndarray:
        """e^{A τ} (12, N, N) at the nodes of the quadrature rule on [0, 2 h], h the step of the exponential."""
        length = 2.0 * self.exponential.step
        return np.array([self.exponential.matrix(0.5 * length * (1.0 + x)) for x in _NODES])

    def start(self, time: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Extended state (N,); what q and v have of held motions is replaced by what is given."""
        u, w = self.model.factor.T @ q, self.model.factor.T @ v
        kept = (self.held.directions.T @ q)[self.held.free_place]
        functions = self.model.functions.values(time)
        kept = kept + self.held.place[self.held.free_place] @ functions
        return np.concatenate([self.free.T @ u, self.free.T @ w, functions, kept])

    def _units(self) -> np.ndarray:
        """Powers of two (N,) in which the states are measured, so that all entries of A are of one size or less."""
        m = self._moving // 2
        a = self.matrix
        rate = np.linalg.norm(a[m : 2 * m, m : 2 * m], 2) if m else 0.0
        square = np.linalg.norm(a[m : 2 * m, :m], 2) if m else 0.0
        fastest = max(rate, np.sqrt(square), self.model.functions.frequencies.max(initial=0.0)) or 1.0
        acts = np.linalg.norm(a[m : 2 * m], axis=0)
        units = np.ones(self.size)
        units[:m] = 1.0 / fastest
        units[2 * m :] = fastest / np.where(acts[2 * m :] > 0.0, acts[2 * m :], fastest)
        one, line, square_of_time = 2 * m, 2 * m + 1, 2 * m + 2
        units[line] = min(units[line], units[square_of_time] * fastest)
        units[one] = min(units[one], units[line] * fastest)
        for cos in range(2 * m + 3, self.signals.stop, 2):
            units[cos : cos + 2] = units[cos : cos + 2].min()
        return 2.0 ** np.round(np.log2(units))


class LinearFlow:
    """The motion from one state on, a :class:`~klapper.schemes.phase_flow.Flow` without any step size."""

    next_size, drifts = 0.0, False

    def __init__(
        self,
        phase: LinearPhase,
        equations: LinearPhaseEquations,
        start: float,
        q: np.ndarray,
        v: np.ndarray,
        end: float,
    ) -> None:
        self._phase, self._equations = phase, equations
        self.start, self.end = start, end
        self.pieces = max(int(np.ceil((end - start) * phase.fastest / np.pi)), 1)
        self._from = phase.start(start, q, v)
        matrix, given = equations.distribution(equations.sense, equations.at_rest)
        self._reactions = matrix @ phase.force_rows
        self._given = given
        self._last = (np.zeros(0), np.zeros((0, phase.size)))

    def states(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Positions (k, n) [m] and velocities (k, n) [m/s] at times (k,) [s]."""
        return self._states(self._at(times))

    def _states(self, extended: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return extended @ self._phase.position_rows.T, extended @ self._phase.velocity_rows.T

    def reactions(self, times: np.ndarray) -> np.ndarray:
        """Forces (k, r) [N] in the order of the rows of the phase's equations."""
        return self._forces(self._at(times))

    def _forces(self, extended: np.ndarray) -> np.ndarray:
        return extended @ self._reactions.T + self._given

    forces = reactions

    def gap_rows(self, which: np.ndarray) -> np.ndarray:
        """Rows (w, N) that give gaps from the extended state."""
        model, phase = self._phase.model, self._phase
        rows = model.normal[:, which].T @ phase.position_rows
        rows[:, phase.signals] += model.gap[which]
        return np.asarray(rows)

    def force_rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows (r, N) and offset (r,) of the reactions."""
        return self._reactions, self._given

    def slip_rows(self) -> np.ndarray:
        """Rows (s d, N) that give the sliding velocities in scaled directions."""
        model, phase, equations = self._phase.model, self._phase, self._equations
        d, patch = equations.d, equations.which[equations.patch]
        at = (patch[:, None] * d + np.arange(d)).ravel()
        rows = model.tangential[:, at].T @ phase.velocity_rows
        rows[:, phase.signals] += model.belt[at]
        return np.asarray(rows * equations.scale.reshape(-1, 1))

    def first_doubtful(
        self, rows: np.ndarray, offset: np.ndarray, after: float
    ) -> tuple[float, float] | None:
        """The first interval [s] of half an oscillation, from ``after`` on, in which a function may come near zero."""
        pieces = self._phase.oscillations
        done = round((after - self.start) / pieces.length)
        count = int(np.ceil((self.end - self.start) / pieces.length)) - done
        if count <= 0:
            return None
        begin = self.start + done * pieces.length
        found = pieces.first_doubtful(rows, offset, self._at(np.array([begin]))[0], count)
        if found == count:
            return None
        begin = self.start + (done + found) * pieces.length
        return begin, min(self.start + (done + found + 1) * pieces.length, self.end)

    def integrals(self, times: np.ndarray) -> Integrals:
        """Impulses and works from the start up to rising times (k,), by Gauss and Legendre to round-off."""
        longest = 2.0 * self._phase.exponential.step
        edges = np.concatenate([[self.start], times])
        whole = int((times[0] - self.start) / longest) if len(times) == 1 else 0
        if whole >= _MANY:
            begun = self.start + whole * longest
            sums = self._over_whole_pieces(whole, longest)
            rest = LinearFlow.__new__(LinearFlow)
            rest.__dict__ = {**self.__dict__, "start": begun, "_from": self._at(np.array([begun]))[0]}
            rest._last = (np.zeros(0), np.zeros((0, self._phase.size)))
            last = rest.integrals(times)
            return Integrals(
                last.impulses + sums[:-3],
                last.loads + sums[-3],
                last.damping + sums[-2],
                last.friction + sums[-1],
            )
        rules = [quadrature(begin, end, longest) for begin, end in pairwise(edges.tolist())]
        nodes, weights = (np.concatenate(parts) for parts in zip(*rules, strict=True))
        interval = np.repeat(np.arange(len(times)), [len(rule[0]) for rule in rules])
        sums = np.zeros((len(times), self._equations.size + 3))
        for first in range(0, len(nodes), _AT_ONCE):
            part = slice(first, first + _AT_ONCE)
            extended = self._at(nodes[part])
            values = np.column_stack([self._forces(extended), self._powers(nodes[part], extended)])
            np.add.at(sums, interval[part], weights[part, None] * values)
        sums = np.cumsum(sums, axis=0)
        return Integrals(sums[:, :-3], *sums[:, -3:].T)

    def _over_whole_pieces(self, count: int, length: float) -> np.ndarray:
        """Impulses and works (r + 3,) over equal parts from the start, whose states are products of matrices."""
        nodes, sums = self._phase.quadrature_pieces, np.zeros(self._equations.size + 3)
        pieces = Pieces(self._phase.exponential, length)
        state, done = self._from, 0
        while done < count:
            states = pieces.starts(state, min(_PARTS_AT_ONCE, count - done) + 1)
            c = states.shape[1] - 1
            extended = (nodes @ states[:, :-1]).transpose(2, 0, 1).reshape(c * len(_NODES), -1)
            begin = self.start + (done + np.arange(c)[:, None]) * length
            times = (begin + 0.5 * length * (1.0 + _NODES)).ravel()
            values = np.column_stack([self._forces(extended), self._powers(times, extended)])
            sums += np.tile(0.5 * length * _WEIGHTS, c) @ values
            state, done = states[:, -1], done + c
        return sums

    def _powers(self, times: np.ndarray, extended: np.ndarray) -> np.ndarray:
        """Powers (k, 3) [W] of loads with walls and belts, of damping and of friction."""
        equations, system = self._equations, self._phase.model.system
        (q, v), forces = self._states(extended), self._forces(extended)
        patches = slice(len(equations.normal), equations.size - len(system.constraints))
        powers = np.zeros((len(times), 3))
        if not system.load.constant:
            powers[:, 0] = np.sum(v * system.load.value(times), axis=1)
        if system.circulatory is not None:
            powers[:, 0] -= np.sum(v * (system.circulatory @ q.T).T, axis=1)
        powers[:, 0] -= np.sum(forces * equations.rates(times), axis=1)
        if system.damping is not None:
            powers[:, 1] = np.sum(v * (system.damping @ v.T).T, axis=1)
        slips = equations.slips(times, q, v).reshape(len(times), -1)
        powers[:, 2] = -np.sum(forces[:, patches] * slips, axis=1)
        return powers

    def _at(self, times: np.ndarray) -> np.ndarray:
        if not np.array_equal(times, self._last[0]):
            extended = self._phase.exponential(np.asarray(times) - self.start, self._from)
            self._last = (np.array(times), extended)
        return self._last[1]


def quadrature(start: float, end: float, longest: float) -> tuple[np.ndarray, np.ndarray]:
    """Times and weights of Gauss and Legendre on equal parts of an interval, none longer than ``longest``."""
    parts = max(int(np.ceil((end - start) / longest)), 1)
    edges = np.linspace(start, end, parts + 1)
    half = 0.5 * np.diff(edges)[:, None]
    times = 0.5 * (edges[:-1] + edges[1:])[:, None] + half * _NODES
    return times.ravel(), (half * _WEIGHTS).ravel()


def _split(directions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Orthonormal basis (n, n − r) of what is free, and the pseudo-inverse (n, h) of Dᵀ."""
    n, h = directions.shape
    if h == 0:
        return np.eye(n), np.zeros((n, 0))
    unit = np.linalg.norm(directions, axis=0)
    unit = np.where(unit > 0.0, unit, 1.0)
    left, values, right = np.linalg.svd(directions / unit, full_matrices=True)
    rank = int(np.count_nonzero(values > _RANK * values.max(initial=0.0)))
    reach = (left[:, :rank] / values[:rank]) @ right[:rank] / unit
    return left[:, rank:], reach


def _pseudo_inverse(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """G⁺ and the projector onto what G does not see, both measured by the diagonal of G."""
    if matrix.size == 0:
        return matrix.T, matrix.T
    unit = natural_units(matrix.diagonal())
    left, values, right = np.linalg.svd(matrix / np.outer(unit, unit))
    kept = values > _RANK * values.max(initial=0.0)
    inverse = (right[kept].T / values[kept]) @ left[:, kept].T / np.outer(unit, unit)
    null = (right[~kept].T @ right[~kept]) * unit / unit[:, None]
    return inverse, null
