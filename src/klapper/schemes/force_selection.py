"""A selection rule inside a step: which of the forces that the contact problem leaves open are used and reported.

In time stepping the rule chooses among all impulses of the contact state that the solver found,

    Λ = h x,   x ∈ {forces of this state},   J_hᵀ v⁺ as solved at the rows h that contacts hold

If the motion is unique, it stays what it was; if normal forces that depend on each other feed different friction, v⁺
follows the choice. A choice outside the set (a clipped pseudo-inverse) changes v⁺, too. Between events of smooth phases
the motion is given, and the rule only distributes forces:

    ∫ x dt = ∫ x̄ dt + Σ w_i (x_i − x̄_i)   with Gauss' weights, each x_i − x̄_i without effect on the motion.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from klapper.complementarity import ComplementarityError, Solution
from klapper.complementarity.selection import ForceSet
from klapper.complementarity.selection.rule import Selection
from klapper.contact_states import SLIP, STICK
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.force_sets import closed_forces
from klapper.schemes.phase_equations import PhaseEquations
from klapper.schemes.phase_modes import STICKING

_ROUNDS = 20  # of turning sliding directions in space with the motion that they cause
_TOLERANCE = 1e-9
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(3)
_LAGRANGE = np.linalg.inv(
    np.vander(_NODES, increasing=True)
)  # columns: coefficients of the basis polynomials


def require_rule(rule: Any) -> None:
    """Refuse what is no selection rule."""
    if rule is not None and (isinstance(rule, type) or not hasattr(rule, "select")):
        raise InvalidModel(
            f"selection is {rule!r}; allowed are None (as the solver finds them) and rules of "
            f"klapper.complementarity.selection, e.g. MinimumNorm()."
        )


@dataclass(frozen=True, eq=False)
class Dynamics:
    """M v̇ = h + W x of a step: ``mass`` (n, n), ``load`` h (n,) [N], ``directions`` W (n, r)."""

    mass: np.ndarray
    load: np.ndarray
    directions: np.ndarray


@dataclass(frozen=True, eq=False)
class Chosen:
    """A solution with the impulses of a rule in it, and what is to be said about it."""

    solution: Solution[Any]
    notes: dict[str, str] = field(default_factory=dict)


def choose(
    rule: Any,
    solution: Solution[Any],
    duration: float,
    previous: np.ndarray | None,
    when: float,
    dynamics: Callable[[], Dynamics] | None = None,
) -> Chosen:
    """The impulses of a solved contact problem as the rule wants them.

    ``duration``  [s] turns impulses into forces (1 at an impact)
    ``previous``  (r,) [N] of the last step, ``when`` [s]
    ``dynamics``  for rules that look at accelerations; asked for only where these depend on the choice
    """

    def possible(at: Solution[Any]) -> ForceSet:
        forces = ForceSet.of(at, motion="any", duration=duration)
        if at is not solution:
            forces = _turned(forces, solution.x / duration)
        if dynamics is None or forces.motion_unique:
            return forces
        given = dynamics()
        return replace(forces, mass=given.mass, load=given.load, directions=given.directions)

    forces = possible(solution)
    if forces.dimension == 0:
        return Chosen(solution)
    picked = rule.select(forces, previous)
    notes = _remarks(rule, picked, when)
    found = _with(solution, picked, duration)
    if not picked.exact:
        return Chosen(found, notes)
    if forces.motion_unique:
        return Chosen(found, notes)
    for _ in range(_ROUNDS):
        if found.residuals.worst <= _TOLERANCE:
            notes["motion by selection"] = (
                f"at {when:.6g} s the motion depends on forces that the model leaves open, and follows those of "
                f"{rule.name}"
            )
            return Chosen(found, notes)
        picked = rule.select(possible(found), previous)
        found = _with(solution, picked, duration)
    notes["force selection"] = (
        f"at {when:.6g} s the forces of {rule.name} do not agree with the sliding that they cause: those of the solver "
        f"were kept"
    )
    return Chosen(solution, notes)


def _turned(forces: ForceSet, member: np.ndarray) -> ForceSet:
    """The set with friction along the sliding directions of its own velocities, held rows as at a ``member`` (r,) [N]
    of the set for other directions."""
    x = forces.forces.copy()
    limits = forces.limits(x)
    for k in np.flatnonzero(forces.sliding):
        x[forces.patches[k]] = -limits[k] * forces.sense[k]
    assert forces.held is not None
    matrix = forces.held @ forces.basis
    x = x + forces.basis @ np.linalg.lstsq(matrix, forces.held @ (member - x), rcond=None)[0]
    return replace(forces, forces=x)


def _with(solution: Solution[Any], picked: Selection, duration: float) -> Solution[Any]:
    return Solution(solution.problem, picked.forces * duration, solution.attempts)


def _remarks(rule: Any, picked: Selection, when: float) -> dict[str, str]:
    if picked.exact and not picked.note:
        return {}
    effect = "" if picked.exact else "; these forces change the motion"
    return {"force selection": f"at {when:.6g} s, {rule.name}: {picked.note or 'outside the set'}{effect}"}


@dataclass(frozen=True, eq=False)
class Distribution:
    """What a rule adds to the forces of a phase from ``start`` to ``end`` [s]: quadratic in time through Gauss' nodes.

    ``contacts``  (3, k, 1 + d) [N] at the nodes, ``joints`` (3, p) [N] of the constraints
    ``remarks``   what is to be said about it
    """

    start: float
    end: float
    contacts: np.ndarray
    joints: np.ndarray
    remarks: dict[str, str]

    def rates(self, times: np.ndarray) -> np.ndarray:
        """(t, k, 1 + d) [N] at times (t,)."""
        basis = np.vander(self._place(times), 3, increasing=True) @ _LAGRANGE
        return np.tensordot(basis, self.contacts, 1)

    def impulses(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(t, k, 1 + d) and (t, p) [N s] from the start up to times (t,)."""
        place, powers = self._place(times)[:, None], np.arange(1, 4)
        basis = (place**powers - (-1.0) ** powers) / powers @ _LAGRANGE * (0.5 * (self.end - self.start))
        return np.tensordot(basis, self.contacts, 1), basis @ self.joints

    def _place(self, times: np.ndarray) -> np.ndarray:
        return 2.0 * (times - self.start) / (self.end - self.start) - 1.0


def distributed(rule: Any, equations: PhaseEquations, flow: Any, end: float) -> Distribution:
    """What the rule adds to the forces of a phase from its start to ``end`` [s]."""
    modes, system, d = equations.modes, equations.system, equations.d
    change, joints = np.zeros((3, len(modes.contact), 1 + d)), np.zeros((3, len(system.constraints)))
    times = flow.start + 0.5 * (end - flow.start) * (1.0 + _NODES)
    positions, velocities = flow.states(times)
    reactions = flow.reactions(times)
    state = np.where(modes.grip == STICKING, STICK, SLIP)
    previous: np.ndarray | None = None
    remarks: dict[str, str] = {}
    for i, (t, q, v, x) in enumerate(zip(times, positions, velocities, reactions, strict=True)):
        given = np.zeros((len(modes.contact), 1 + d))
        given[equations.normal, 0] = x[: len(equations.normal)]
        given[equations.patch, 1:] = x[equations.patch_rows] * equations.scale
        held = x[equations.size - len(system.constraints) :]
        closed = closed_forces(
            system, float(t), q, v, modes.contact, given, state=state, constraint_force=held
        )
        if closed is None:
            remarks = {"force selection": "there are too many forces to choose from: not done"}
            return Distribution(flow.start, end, 0.0 * change, 0.0 * joints, remarks)
        forces = closed.set.same_motion()
        if forces.dimension == 0:
            continue
        if previous is None or previous.size != forces.size:
            previous = forces.forces
        try:
            picked = rule.select(forces, previous)
        except ComplementarityError as error:
            remarks["force selection"] = f"at {t:.6g} s, {rule.name}: {error}"
            continue
        remarks |= _remarks(rule, picked, float(t))
        if not picked.exact:
            remarks["force selection"] = (
                f"at {t:.6g} s, {rule.name}: {picked.note}; as the motion between events is unique, the forces closest "
                f"to these were used"
            )
            near = forces.face.at(forces.face.nearest(picked.forces, np.ones(forces.size)))
            picked = Selection(near, picked.rule, True)
        table, of_joints = closed.by_contact(picked.forces - forces.forces)
        place = np.searchsorted(modes.contact, closed.contact)
        change[i, place] = table
        joints[i] = of_joints
        previous = picked.forces
    return Distribution(flow.start, end, change, joints, remarks)
