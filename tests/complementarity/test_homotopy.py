"""Branches along a parameter: closed forms of a mass at a stop, folds, loss and resumption."""

import numpy as np
import pytest

from klapper.complementarity import InvalidProblem, LinearComplementarity, enumerate_solutions, follow, solve

STIFFNESS, GAP = 100.0, 0.02


def rotor(load):
    """One mass on a spring in a rotating frame with a stop: A = 1/(k − Ω²), b = g₀ + f/(k − Ω²)."""
    return lambda speed: LinearComplementarity(
        [[1 / (STIFFNESS - speed**2)]], [GAP + load / (STIFFNESS - speed**2)]
    )


def test_contact_branch_continues_above_the_critical_speed():
    """Pressed into the stop: λ = −f − g₀ (k − Ω²) on the branch from Ω = 0, through the critical speed Ω = 10."""
    branch = follow(rotor(-5.0), 0.0, 20.0, steps=33)
    expected = 5.0 - GAP * (STIFFNESS - branch.parameter**2)
    assert branch.x[:, 0] == pytest.approx(expected, rel=1e-9)
    assert [event.kind for event in branch.events] == ["critical", "end"]
    assert branch.events[0].parameter == pytest.approx(10.0)
    assert set(branch.number) == {0}


def test_above_the_critical_speed_the_followed_solution_is_one_of_two():
    branch = follow(rotor(-5.0), 0.0, 20.0, steps=33)
    both = enumerate_solutions(rotor(-5.0)(20.0))
    assert len(both) == 2
    assert any(np.allclose(piece.point, branch.x[-1]) for piece in both.pieces)


def test_contact_opens_where_the_force_vanishes():
    """Load s at a stop: λ = −s for s < 0, gap = s for s > 0."""
    branch = follow(lambda s: LinearComplementarity([[1.0]], [s]), -1.0, 1.0, steps=7)
    assert [event.kind for event in branch.events] == ["opens", "end"]
    assert branch.events[0].parameter == pytest.approx(0.0, abs=1e-12)
    assert branch.x[:, 0] == pytest.approx(np.maximum(-branch.parameter, 0.0))
    assert branch.y[:, 0] == pytest.approx(np.maximum(branch.parameter, 0.0))


def test_fold_turns_the_branch_back():
    """A = −1: the open branch y = s and the closed branch x = s meet in a fold at s = 0."""
    branch = follow(lambda s: LinearComplementarity([[-1.0]], [s]), 1.0, -1.0, first=[0.0])
    assert branch.folds == pytest.approx([0.0], abs=1e-12)
    assert branch.parameter[-1] == pytest.approx(1.0)
    assert branch.x[-1] == pytest.approx([1.0])


def test_convex_problem_equals_the_quadratic_program_everywhere():
    """Below the first critical speed every point of the branch is the solution of the convex program, to 1e-10."""
    rng = np.random.default_rng(2)
    root = rng.standard_normal((5, 5))
    stiffness = root @ root.T + 5.0 * np.eye(5)
    directions = rng.standard_normal((5, 4))
    load, gap = rng.standard_normal(5), 0.02 * np.ones(4)

    def family(speed):
        inverse = np.linalg.inv(stiffness - speed**2 * np.eye(5))
        return LinearComplementarity(directions.T @ inverse @ directions, gap + directions.T @ inverse @ load)

    critical = np.sqrt(np.linalg.eigvalsh(stiffness)[0])
    branch = follow(family, 0.0, 0.95 * critical, steps=40)
    assert not any(event.kind in ("lost", "fold") for event in branch.events)
    for speed, x in zip(branch.parameter, branch.x, strict=True):
        assert x == pytest.approx(solve(family(speed), "active-set").x, abs=1e-10 * max(1.0, np.abs(x).max()))


def test_every_point_above_the_critical_speed_is_a_solution():
    rng = np.random.default_rng(7)
    modes = np.array([1.0, 2.0, 3.5])
    directions = rng.standard_normal((3, 4))
    load = rng.standard_normal(3)

    def family(speed):
        flexibility = 1 / (modes**2 - speed**2)
        return LinearComplementarity(
            directions.T @ (flexibility[:, None] * directions), 0.3 + directions.T @ (flexibility * load)
        )

    branch = follow(family, 0.0, 4.5, steps=150, at_fold="jump")
    assert branch.parameter[-1] == pytest.approx(4.5)
    for speed, x in zip(branch.parameter, branch.x, strict=True):
        assert family(speed).residuals(x).natural_map <= 1e-8


def test_lost_branch_is_reported_and_resumed():
    """x = 1/(1 − s) while closed: the force grows without bound at s = 1; beyond it the contact is open."""
    branch = follow(
        lambda s: LinearComplementarity([[1.0 - s]], [-1.0 if s < 1 else 1.0]), 0.0, 2.0, steps=20
    )
    kinds = [event.kind for event in branch.events]
    assert kinds[:2] == ["lost", "resumed"]
    assert branch.events[0].parameter == pytest.approx(1.0, abs=1e-3)
    assert branch.number[-1] >= 1


def test_no_solution_beyond_is_the_end():
    branch = follow(lambda s: LinearComplementarity([[1.0 - s]], [-1.0]), 0.0, 2.0, steps=20)
    assert [event.kind for event in branch.events] == ["lost", "end"]
    assert "no solution was found beyond" in str(branch)


def test_wrong_range_is_refused():
    with pytest.raises(InvalidProblem, match="start ≠ end"):
        follow(rotor(-5.0), 1.0, 1.0)


def test_wrong_first_point_is_refused():
    with pytest.raises(InvalidProblem, match="not a solution of the problem at start"):
        follow(lambda s: LinearComplementarity([[1.0]], [s]), 1.0, 2.0, first=[3.0])


def test_a_step_exactly_on_the_critical_speed_changes_nothing():
    on, off = follow(rotor(-5.0), 0.0, 20.0, steps=20), follow(rotor(-5.0), 0.0, 20.0, steps=33)
    assert [event.kind for event in on.events] == [event.kind for event in off.events] == ["critical", "end"]
    assert on.x[-1] == pytest.approx(off.x[-1])


def test_an_open_branch_is_lost_at_its_pole_and_found_again_where_a_solution_exists():
    """Pulled off the stop: the gap g₀ + f/(k − Ω²) is unbounded at Ω = 10; then no solution up to g₀ (Ω² − k) = f."""
    branch = follow(rotor(5.0), 0.0, 30.0, steps=50)
    assert [event.kind for event in branch.events] == ["lost", "resumed", "end"]
    assert branch.events[0].parameter == pytest.approx(10.0, abs=1e-4)
    first_again = np.sqrt(STIFFNESS + 5.0 / GAP)
    assert first_again <= branch.events[1].parameter <= first_again + 2 * 30.0 / 50
    assert branch.x.max() == 0.0


def test_a_contact_that_closes_just_before_a_pole_is_not_missed():
    """A light load closes the gap within the same coarse step in which the critical speed lies."""
    load = 1e-3
    branch = follow(rotor(-load), 0.0, 20.0, steps=33)
    closing = np.sqrt(STIFFNESS - load / GAP)
    assert branch.events[0].kind == "closes"
    assert branch.events[0].parameter == pytest.approx(closing, rel=1e-9)
    assert branch.x[-1, 0] == pytest.approx(load + GAP * (400.0 - STIFFNESS), rel=1e-9)
