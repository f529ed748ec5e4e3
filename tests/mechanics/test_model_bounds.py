"""Possible forces of random models beside linear programs of another library."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest
from tests.complementarity.selection.reference_bounds import KnownState, disagreement
from tests.complementarity.selection.test_bounds_property import rule_outside
from tests.mechanics.model_cases import model

from klapper.complementarity import ComplementarityError
from klapper.complementarity.dense import dense
from klapper.mechanics import possible_forces
from klapper.mechanics.acceleration_solution import ModeDecision
from klapper.mechanics.force_sets import closed_forces, mode_forces


def known_state(decision: ModeDecision) -> KnownState:
    """The contact state of a decision, with what all forces of it share, from its arrays alone."""
    problem = decision.problem
    m, (_, d) = problem.contacts, problem.sliding_velocity.shape
    columns = np.hstack([problem.normal, problem.tangential, problem.bilateral])
    patches = m + np.arange(m * d).reshape(m, d)
    x = np.concatenate([decision.normal_force, decision.tangential_force.ravel(), decision.bilateral_force])
    size = np.abs(decision.solution.problem.free_velocity).max(initial=1e-300)
    closed = decision.normal_acceleration <= 1e-6 * size
    change = decision.tangential_acceleration
    begins = np.linalg.norm(change, axis=1) > 1e-6 * size
    along = np.where(
        problem.sliding[:, None], problem.sliding_velocity, np.where(begins[:, None], change, 0.0)
    )
    length = np.linalg.norm(along, axis=1, keepdims=True)
    sense = np.divide(along, length, out=np.zeros_like(along), where=length > 0.0)
    slides = closed & (length[:, 0] > 0.0)
    mobility = columns.T @ problem._solve_mass(columns)
    rest = np.concatenate(
        [np.flatnonzero(closed), patches[closed & ~slides].ravel(), np.arange(m + m * d, len(x))]
    )
    starts = [sense[i] @ mobility[patches[i]] for i in np.flatnonzero(slides & ~problem.sliding)]
    rates = [sense[i] @ change[i] for i in np.flatnonzero(slides & ~problem.sliding)]
    keeping = (
        np.vstack([mobility[:m][~closed], *starts]).reshape(-1, len(x)),
        np.concatenate([decision.normal_acceleration[~closed], rates]),
    )
    held = mobility[rest.astype(int)] if np.any(slides) else columns
    return KnownState(
        x, held, np.arange(m), patches, np.diag(problem.friction), closed, slides, sense, keeping
    )


def wrong(seed: int) -> str:
    """What possible forces of a model say wrong."""
    family, system = model(seed)
    found = possible_forces(system)
    state = known_state(found.decision)
    text = disagreement(state, found.lower, found.upper) or rule_outside(found.set)
    return text or _noise(family, system, found, seed)


def _noise(family, system, found, seed) -> str:
    """A body at rest is at rest with velocities of round-off."""
    if np.any(system.start.velocity) or np.any(found.decision.problem.sliding):
        return ""
    if not found.decision.sticks.all():
        return ""
    rng, problem = np.random.default_rng(seed), found.decision.problem
    m, d = problem.contacts, problem.sliding_velocity.shape[1]
    force = np.column_stack([found.decision.normal_force, found.decision.tangential_force.reshape(m, d)])
    velocity = 1e-17 * rng.normal(size=len(system.start.velocity))
    closed = closed_forces(
        system, 0.0, system.start.position, velocity, np.arange(m), force,
        constraint_force=found.decision.bilateral_force,
    )  # fmt: skip
    return disagreement(known_state(found.decision), closed.set.lower, closed.set.upper)


def check(seeds: Iterable[int]) -> list[str]:
    faults = []
    for seed in seeds:
        try:
            found = wrong(seed)
        except ComplementarityError as error:
            found = f"{type(error).__name__}: {error}"
        if found:
            faults.append(f"{seed} {model(seed)[0]}: {found}")
    return faults


def test_possible_forces_agree_with_linear_programs():
    assert check([*range(24), 75]) == []  # 75: forces at hand of 1e-15 N


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, 500, 50))
def test_possible_forces_of_five_hundred_models(start):
    assert check(range(start, start + 50)) == []


def test_motion_between_rough_walls_depends_on_the_forces():
    """v̇ = −g + 2 μ N / m with any N ≥ 0 up to the stop of sliding: not unique."""
    system = model(3)[1]
    assert np.isclose(np.abs(dense(system.mass(system.start.position))).max() > 0.0, True)
    found = possible_forces(system)
    assert found.motion_unique == (system.start.velocity[1] == 0.0 and bool(found.decision.sticks.all()))
    assert mode_forces(found.decision).dimension > 0
