"""Every solver on every reference problem: the known answer, or a clear refusal; never a wrong answer."""

import numpy as np
import pytest

from klapper.complementarity import SOLVERS, ComplementarityError, NoSolution, enumerate_solutions, solve
from klapper.complementarity.reference_problems import reference_problems

PROBLEMS = {reference.name: reference for reference in reference_problems()}


def is_known(reference, y):
    scale = max((np.abs(motion).max(initial=0.0) for motion in reference.motions), default=0.0)
    scale = max(
        scale, np.abs(reference.problem.image(np.zeros(reference.problem.size))).max(initial=0.0), 1e-300
    )
    return any(np.abs(y - motion).max(initial=0.0) <= 1e-7 * scale for motion in reference.motions)


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("solver", SOLVERS)
def test_solver_gives_the_known_answer_or_refuses(solver, name):
    reference = PROBLEMS[name]
    obstacle = SOLVERS[solver]().obstacle(reference.problem)
    if obstacle:
        with pytest.raises(ComplementarityError) as refusal:
            solve(reference.problem, solver)
        assert str(refusal.value) == obstacle
        return
    try:
        solution = solve(reference.problem, solver)
    except ComplementarityError as error:
        must = reference.motions and (reference.friendly or solver in reference.certain)
        assert not must, f"{solver} failed on {name}: {error}"
        return
    assert is_known(reference, solution.y)
    assert solution.residuals.worst <= 1e-9
    if reference.forces is not None:
        assert solution.x == pytest.approx(reference.forces, abs=1e-7)


@pytest.mark.parametrize("name", PROBLEMS)
def test_auto_decides_every_reference_problem(name):
    reference = PROBLEMS[name]
    if not reference.motions:
        with pytest.raises(NoSolution):
            solve(reference.problem)
    else:
        assert is_known(reference, solve(reference.problem).y)


@pytest.mark.parametrize(
    "name", [name for name in PROBLEMS if not SOLVERS["enumeration"]().obstacle(PROBLEMS[name].problem)]
)
def test_enumeration_finds_all_known_motions_and_no_other(name):
    reference = PROBLEMS[name]
    motions = enumerate_solutions(reference.problem).motions()
    assert len(motions) == len(reference.motions)
    assert all(is_known(reference, motion) for motion in motions)
