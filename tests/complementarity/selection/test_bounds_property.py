"""Bounds, rules and answers of random contact problems beside linear programs of another library."""

from __future__ import annotations

import numpy as np
import pytest

from klapper.complementarity import ComplementarityError, Solution, solve, uniqueness
from klapper.complementarity.selection import (
    Extreme,
    ForceSet,
    LargestMargin,
    MinimumNorm,
    ProxIteration,
    Selection,
)

from .force_set_cases import Case, case
from .reference_bounds import disagreement

_NOTHING = 1e-16  # N: forces of the cases are of 1e-2 N and more, or zero
_SOLVERS = ("auto", "admm", "gauss-seidel", "newton")


def wrong_bounds(given: Case, motion: str) -> str:
    """What bounds of a known answer say wrong, or what a rule chooses outside of them."""
    forces = ForceSet.of(Solution(given.problem, given.x, ()), motion=motion)
    state = given.same if motion == "same" else given.any
    found = disagreement(state, forces.lower, forces.upper)
    return found or rule_outside(forces)


def rule_outside(forces: ForceSet) -> str:
    """A rule whose choice is no member, or lies beyond the bounds."""
    for rule in (
        MinimumNorm(),
        LargestMargin(),
        Extreme(forces.names[0], "max"),
        ProxIteration(max_iterations=300),
    ):
        picked: Selection = rule.select(forces)
        size = max(
            float(np.abs(forces.forces).max(initial=0.0)), float(np.abs(picked.forces).max(initial=0.0))
        )
        beyond = np.maximum(forces.lower - picked.forces, picked.forces - forces.upper).max(initial=0.0)
        far = (
            "still change" in picked.note
        )  # what is nearest to forces that grow without end has their round-off
        if not (picked.exact or far) or not beyond <= 1e-6 * size + _NOTHING:
            return f"{rule.name}: {picked.forces}, beyond by {beyond}, exact {picked.exact}, {picked.note}"
        ends = np.abs(np.concatenate([forces.forces, forces.lower, forces.upper]))
        if size > _NOTHING + 1e3 * ends[np.isfinite(ends)].max(initial=0.0) and not picked.note:
            return f"{rule.name}: {size} N without a note"
    return ""


def wrong_answer(given: Case, solver: str) -> str:
    """What :func:`uniqueness` says wrong about the verified answer of a solver."""
    try:
        solution = solve(given.problem, solver)
        found = uniqueness(solution)
    except ComplementarityError:
        return ""
    size = float(np.abs(np.concatenate([given.x, solution.x])).max(initial=0.0)) or 1.0
    speed = np.abs(given.velocity).max(initial=0.0)
    nothing = _NOTHING + 1e-14 * float(
        speed / np.abs(given.problem.delassus).max(initial=1e-300)
    )  # round-off
    for name, answer in (("known", given.x), (solver, solution.x)):
        beyond = np.maximum(found.lower - answer, answer - found.upper).max(initial=0.0)
        if found.complete and not beyond <= 1e-5 * size + nothing:
            return f"{name} answer beyond bounds by {beyond}: {answer}, {found}"
    terms = np.abs(given.problem.free_velocity) + np.abs(given.problem.delassus) @ np.abs(solution.x)
    same = np.abs(solution.y - given.velocity).max(initial=0.0) <= 1e-8 * terms.max(initial=0.0)
    if same and found.motion == "unique" and not _far_out(given, solution.x):
        return disagreement(given.same, found.lower, found.upper, answer=solution.x)
    return ""


def _far_out(given: Case, x: np.ndarray) -> bool:
    """Whether the undetermined forces of an answer are so far above the known ones that the velocities which are
    known, or the forces, are less than its own accuracy."""
    moving = np.abs(given.velocity[given.velocity != 0.0]).min(initial=np.inf)
    terms = float((np.abs(given.problem.delassus) @ np.abs(x)).max(initial=0.0))
    small = np.abs(given.x[given.x != 0.0]).min(initial=np.inf)
    return bool(moving <= 1e-8 * terms or small <= 1e-8 * float(np.abs(x).max(initial=0.0)))


def check(seeds: range) -> list[str]:
    faults = []
    for seed in seeds:
        given = case(seed)
        for what, text in (
            ("same", lambda c: wrong_bounds(c, "same")),
            ("any", lambda c: wrong_bounds(c, "any")),
            ("answer", lambda c, s=seed: wrong_answer(c, _SOLVERS[(s // 8) % len(_SOLVERS)])),
        ):
            try:
                found = text(given)
            except ComplementarityError as error:
                found = f"{type(error).__name__}: {error}"
            if found:
                faults.append(f"{seed} {given.family} {what}: {found}")
    return faults


@pytest.mark.parametrize("start", range(0, 120, 40))
def test_bounds_rules_and_answers_agree_with_linear_programs(start):
    assert check(range(start, start + 40)) == []


@pytest.mark.parametrize("seed", [4684, 9270])
def test_narrow_cones_of_directions_have_no_bounds(seed):
    """A barrier method ends in them at some hundred times the forces at hand."""
    assert check(range(seed, seed + 1)) == []


@pytest.mark.parametrize("seed", [936, 3993, 5289])
def test_bounds_contain_answers_of_ill_conditioned_problems(seed):
    assert check(range(seed, seed + 1)) == []


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, 10_000, 500))
def test_bounds_of_ten_thousand_problems(start):
    assert check(range(start, start + 500)) == []
