"""Stronge's law at a jump: a contact returns e² of the work that it took, and slip is followed within the impact.

    dy/dp = W (1, c),   p = Λ_N,   y = (v_N, v_T)
    slip:    c = −μ v_T/|v_T|                          stick:   c = −W_TT⁻¹ W_TN  if  |c| ≤ μ
    slip from rest, where that is too much:   W_TN + W_TT c = −κ c/μ,  |c| = μ,  κ ≥ 0
    compression until v_N = 0,   restitution until  ∫ v_N dp = −e² ∫_compression v_N dp

Slip may end or turn round while the contact is pressed, so that laws which look at the end of a phase only can give
energy; this one never does. In the plane y(p) is followed exactly from one change of slip to the next; in space the
direction of slip turns, and is followed in short pieces. One contact collides at a time, the one that approaches
fastest, until none does. Stronge, Proc. R. Soc. A 431 (1990) 169-181; Keller, J. Appl. Mech. 53 (1986) 1-4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Annotated, ClassVar

import numpy as np
from scipy.optimize import brentq

from klapper.complementarity import NoSolution
from klapper.complementarity.dense import dense
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.impact.law import ImpactLaw, impact_law
from klapper.mechanics.impact.problem import ImpactProblem
from klapper.mechanics.impact.result import Impact, ImpactDeterminacy, Stage
from klapper.mechanics.options import Option

_TURN = 0.01  # rad, by which slip turns within a piece
_STILL = 1e-10  # share of the largest contact speed below which nothing slips
_TURNING_STILL = 1e4  # by how much more where the direction of slip turns, which it does faster and faster
_ROUNDING = 1e-14
_TIE = 1e-9  # relative difference of approach speeds that decides nothing


@dataclass(frozen=True, eq=False)
class EnergeticImpact(Impact):
    """An impact by Stronge's law; its stages are the pieces of every collision in which slip keeps its direction.

    ``order``     numbers (l,) of the contacts in the order in which they collided
    ``tied``      whether another contact approached as fast as one that was chosen
    ``finished``  whether nothing approaches any more

    >>> impact = Energetic().resolve(ImpactProblem([2.0], [-3.0], [[1.0]], restitution=0.5))
    >>> impact.order.tolist(), [stage.name for stage in impact.stages]
    ([0], ['contact 0, compression', 'contact 0, restitution'])
    """

    order: np.ndarray
    tied: bool
    finished: bool

    def determinacy(self) -> ImpactDeterminacy:
        """A collision of one contact has one outcome; the order of collisions is chosen where speeds are equal."""
        if self.tied:
            words = (
                "Several contacts approach equally fast, and the motion may depend on which collides first."
            )
            return ImpactDeterminacy("undecided", "undecided", words)
        return ImpactDeterminacy("unique", "unique", "The motion is unique. All forces are unique.")

    def _words_of_approach(self) -> str:
        if self.finished:
            return ""
        return (
            f"Not finished after {len(self.order)} collisions: {np.count_nonzero(self.remaining)} of "
            f"{self.problem.contacts} contacts still approaching. Raise limit or least_approach, or take a law for all "
            f"contacts at once, such as Newton's."
        )


@impact_law("energetic")
@dataclass(frozen=True)
class Energetic(ImpactLaw):
    """Stronge's law, contact by contact; ``restitution`` of the problem is the energetic coefficient e.

    ∫ v_N dΛ_N over restitution is −e² times that over compression, each contact for itself.

    ``limit``      greatest number of collisions
    ``least_approach``  approach speeds below this share of the largest contact speed at the start count as none

    Other options as of :class:`ImpactLaw`. It needs no solver and has the exact disc. A ball of 2 kg at −3 m/s with
    e = 0.5 leaves with 1.5 m/s:

    >>> Energetic().resolve(ImpactProblem([2.0], [-3.0], [[1.0]], restitution=0.5)).after.round(12).tolist()
    [1.5]
    """

    limit: Annotated[int, Option("greatest number of collisions", at_least=1)] = 1000
    least_approach: Annotated[float, Option("share of the largest contact speed", above=0.0)] = 1e-9
    name: ClassVar[str] = "the energetic law"
    in_sequence: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.limit < 1:
            raise InvalidModel(f"limit is {self.limit}; at least 1 collision must be allowed.")
        if not 0.0 <= self.least_approach < 1.0:
            raise InvalidModel(
                f"least_approach is {self.least_approach}; allowed are numbers from 0 to below 1."
            )

    def resolve(self, impact: ImpactProblem) -> EnergeticImpact:
        patch_of, friction = one_patch_each(impact)
        compliance, holding = held_by_constraints(impact)
        walk = _Walk(impact, holding)
        speed = float(np.abs(walk.velocity).max(initial=0.0))
        if impact.constraints:
            walk.hold_constraints()
        order: list[int] = []
        tied, contacts = False, impact.contacts
        while len(order) < self.limit:
            approach = -walk.velocity[:contacts]
            if not approach.max(initial=0.0) > self.least_approach * speed:
                break
            contact = int(np.argmax(approach))
            tied = tied or int(np.count_nonzero(approach >= (1.0 - _TIE) * approach[contact])) > 1
            rows = impact.rows(np.array([contact]), patch_of[contact])[1].ravel()
            rows = np.concatenate([[contact], rows])
            local = Collision(compliance[np.ix_(rows, rows)], friction[contact], impact.restitution[contact])
            for phase, impulse in local.pieces(walk.velocity[rows], _STILL * speed):
                walk.push(f"{impact.names[contact]}, {phase}", rows, impulse)
            order.append(contact)
        finished = not (-walk.velocity[:contacts]).max(initial=0.0) > self.least_approach * speed
        return EnergeticImpact(
            impact, self.name, tuple(walk.stages), order=np.array(order, int), tied=tied, finished=finished
        )


class _Walk:
    """The way through an impact: velocities reached, and the stages behind."""

    def __init__(self, impact: ImpactProblem, holding: np.ndarray) -> None:
        self.impact, self.holding = impact, holding
        self.stages: list[Stage] = []
        self.total = np.zeros(impact.rates.size)
        self.reached = impact.before
        self.velocity = impact.contact_velocity(impact.before)

    def hold_constraints(self) -> None:
        """Two-sided constraints that the velocities before the impact do not meet."""
        first = self.velocity.size - self.impact.constraints
        impulse = np.zeros(self.velocity.size)
        impulse[first:] = self.holding[:, first:] @ self.velocity[first:]
        if impulse.any():
            self._jump("two-sided constraints", impulse)

    def push(self, name: str, rows: np.ndarray, local: np.ndarray) -> None:
        impulse = np.zeros(self.velocity.size)
        impulse[rows] = local
        if self.impact.constraints:
            first = self.velocity.size - self.impact.constraints
            impulse[first:] = self.holding @ (self.impact.delassus @ impulse)
        self._jump(name, impulse)

    def _jump(self, name: str, impulse: np.ndarray) -> None:
        self.total = self.total + impulse
        before, self.reached = self.reached, self.impact.before + self.impact.response @ self.total
        self.velocity = self.impact.contact_velocity(self.reached)
        self.stages.append(Stage(name, impulse, before, self.reached))


@dataclass(frozen=True)
class Collision:
    """One contact in (normal, tangential) coordinates: W (1 + d, 1 + d) [1/kg], μ and e.

    A rod that slides while it hits, in the plane, W_NT = −1/kg: friction turns slip into stick.

    >>> rod = Collision(np.array([[2.0, -1.0], [-1.0, 2.0]]), friction=1.0, restitution=0.0)
    >>> [(phase, piece.round(6).tolist()) for phase, piece in rod.pieces(np.array([-1.0, 0.5]), 1e-12)]
    [('compression', [0.166667, -0.166667]), ('compression', [0.333333, 0.166667])]
    """

    compliance: np.ndarray
    friction: float
    restitution: float

    def pieces(self, velocity: np.ndarray, still: float) -> Iterator[tuple[str, np.ndarray]]:
        """Phase and impulses (1 + d,) [N s] of every piece, from velocities (1 + d,) [m/s] on."""
        y, taken = velocity.copy(), 0.0
        while y[0] < 0.0:
            push, reach = self._push(y, still, _until_rest)
            rate = float(self.compliance[0] @ push)
            p = min(reach, _until_rest(y[0], rate))
            if not p < np.inf:
                raise NoSolution(
                    "the energetic law: the contact is pressed without end, since no impulse stops its approach."
                )
            taken -= y[0] * p + 0.5 * rate * p**2
            over = p != reach
            y = y + p * (self.compliance @ push)
            if over or y[0] > _ROUNDING * velocity[0]:
                y[0] = 0.0
            yield "compression", p * push
        left, noise = self.restitution**2 * taken, _ROUNDING * taken
        while left > noise:
            ends = partial(_until_returned, left)
            push, reach = self._push(y, still, ends)
            rate = float(self.compliance[0] @ push)
            p = min(reach, ends(y[0], rate))
            left -= y[0] * p + 0.5 * rate * p**2
            y = y + p * (self.compliance @ push)
            yield "restitution", p * push
            if y[0] <= 0.0:
                break

    def _push(
        self, y: np.ndarray, still: float, ends: Callable[[float, float], float]
    ) -> tuple[np.ndarray, float]:
        """dΛ/dΛ_N (1 + d,), and up to which Λ_N [N s] it holds; ``ends`` is that of v_N and its rate."""
        slip = y[1:]
        if self.friction == 0.0 or slip.size == 0:
            return np.concatenate([[1.0], np.zeros(slip.size)]), np.inf
        speed = float(np.linalg.norm(slip))
        if speed <= still * (1.0 if slip.size == 1 else _TURNING_STILL):
            return np.concatenate([[1.0], self._from_rest()]), np.inf
        along = slip / speed
        push = np.concatenate([[1.0], -self.friction * along])
        rate = self.compliance @ push
        slower = -float(along @ rate[1:])
        turning = float(np.linalg.norm(rate[1:] + slower * along))
        stop = speed / slower if slower > 0.0 else np.inf
        if turning <= 1e-12 * abs(slower):
            return push, stop
        reach = min(0.5 * stop, _TURN * speed / turning, ends(y[0], rate[0]))
        middle = slip + 0.5 * reach * rate[1:]
        push[1:] = -self.friction * middle / np.linalg.norm(middle)
        return push, reach

    def _from_rest(self) -> np.ndarray:
        """Friction c (d,) per normal impulse where nothing slips: it holds, or slip begins in one direction."""
        drive, own = self.compliance[1:, 0], self.compliance[1:, 1:]
        holding = -np.linalg.lstsq(own, drive, rcond=1e-12)[0]
        if np.linalg.norm(holding) <= self.friction:
            return holding
        values, vectors = np.linalg.eigh(own)
        values = np.maximum(values, 0.0)
        parts = vectors.T @ drive

        def excess(kappa: float) -> float:
            return float(np.linalg.norm(parts / (values + kappa))) - self.friction

        highest = 2.0 * float(np.linalg.norm(drive)) / self.friction
        lowest = 1e-12 * highest
        kappa = brentq(excess, lowest, highest, xtol=1e-3 * lowest) if excess(lowest) > 0.0 else lowest
        return -vectors @ (parts / (values + kappa))


def _until_rest(speed: float, rate: float) -> float:
    """Λ_N [N s] until v_N vanishes."""
    return -speed / rate if rate > 0.0 else np.inf


def _until_returned(work: float, speed: float, rate: float) -> float:
    """Λ_N [N s] until ∫ v_N dΛ_N is the ``work`` [J], or v_N vanishes again."""
    root = speed**2 + 2.0 * rate * work
    return 2.0 * work / (speed + float(np.sqrt(root))) if root > 0.0 else -speed / rate


def one_patch_each(impact: ImpactProblem) -> tuple[list[np.ndarray], np.ndarray]:
    """Friction patch (0 or 1,) and coefficient μ (m,) of every contact."""
    patches: list[np.ndarray] = []
    friction = np.zeros(impact.contacts)
    shares = impact.friction.tocsc()
    for contact in range(impact.contacts):
        part = slice(shares.indptr[contact], shares.indptr[contact + 1])
        found = shares.indices[part]
        if len(found) > 1:
            raise InvalidModel(
                f"{impact.names[contact]} presses {len(found)} friction patches; the energetic law follows one "
                f"for each contact."
            )
        patches.append(found.astype(int))
        friction[contact] = shares.data[part].sum()
    return patches, friction


def held_by_constraints(impact: ImpactProblem) -> tuple[np.ndarray, np.ndarray]:
    """W (q, q) [1/kg] with two-sided constraints held, and −W_BB⁺ (k, k): their impulses per velocity."""
    delassus = dense(impact.delassus)
    first = delassus.shape[0] - impact.constraints
    own = delassus[first:, first:]
    answer = -np.linalg.pinv(own, hermitian=True, rcond=1e-12)
    holding = np.zeros((impact.constraints, delassus.shape[0]))
    holding[:, first:] = answer
    return delassus + delassus[:, first:] @ answer @ delassus[first:], holding
