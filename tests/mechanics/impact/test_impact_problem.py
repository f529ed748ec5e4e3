"""An impact as data: what is refused, what the parts mean, dense and sparse alike."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sparse
from impact_cases import random_impact, row, three

from klapper.complementarity import NoSolution
from klapper.mechanics import InvalidModel
from klapper.mechanics.impact import IMPACT_LAWS, Fremond, ImpactProblem, Newton, Sequential
from klapper.mechanics.options import example_of

LAWS = [example_of(law) for law in IMPACT_LAWS.values()]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"mass": [1.0, 2.0]}, "mass has shape (2,), expected (1, 1) or the diagonal (1,)."),
        ({"mass": [-1.0]}, "the mass of velocity 0 is -1; it must be above 0."),
        ({"mass": [np.nan]}, "mass[0] is nan; all entries must be finite numbers."),
        ({"normal": [1.0]}, "normal has shape (1,), expected (1, number of columns)"),
        ({"normal": [[1.0], [1.0]]}, "normal has shape (2, 1), expected (1, number of columns)"),
        ({"restitution": 1.2}, "contact 0: restitution is 1.2; allowed are numbers from 0 to 1."),
        ({"restitution": [0, -0.1], "normal": [[1.0, 1.0]], "names": ["left", "right"]}, "right: restitution is -0.1"),
        ({"restitution": [0.1, 0.2]}, "restitution has shape (2,), expected shape (1,)."),
        ({"friction": 0.3}, "friction is given, but no tangential directions"),
        ({"friction": -0.3, "tangential": [[1.0]]}, "the least entry of friction is -0.3; "),
        ({"friction": 0.3, "tangential": [[1.0, 1.0]]}, "friction is one number per patch, but there are 2 patches"),
        ({"friction": [[0.3, 0.1]], "tangential": [[1.0]]}, "friction has shape (1, 2), expected (1, 1)."),
        ({"tangential": [[1.0]], "dimension": 2}, "tangential has 1 columns, expected a multiple of dimension = 2."),
        ({"dimension": 3}, "dimension is 3; allowed are 1 (in the plane) and 2 (in space)."),
        ({"normal_rate": [0.0, 1.0]}, "normal_rate has shape (2,), expected shape (1,)."),
        ({"names": ["a", "b"]}, "names has 2 entries, expected 1."),
    ],
)  # fmt: skip
def test_bad_data_are_told_in_a_sentence(given: dict[str, Any], sentence: str) -> None:
    data = {"mass": [1.0], "before": [-1.0], "normal": [[1.0]]} | given
    with pytest.raises(InvalidModel) as told:
        ImpactProblem(**data)
    assert str(told.value).startswith(sentence)


@pytest.mark.parametrize("convert", [np.array, sparse.csr_array])
def test_a_mass_matrix_that_is_none_is_refused_when_the_problem_is_built(convert: Any) -> None:
    with pytest.raises(InvalidModel, match="not positive definite"):
        ImpactProblem(convert([[1.0, 2.0], [2.0, 1.0]]), [0.0, 0.0], [[1.0], [0.0]])
    with pytest.raises(InvalidModel, match="not symmetric"):
        ImpactProblem(convert([[1.0, 0.5], [0.0, 1.0]]), [0.0, 0.0], [[1.0], [0.0]])


def test_options_of_laws_are_checked() -> None:
    with pytest.raises(InvalidModel, match=r"mass_parameters is -1\.0"):
        Fremond(-1.0)
    with pytest.raises(InvalidModel, match=r"mass_parameters has shape \(3,\)"):
        Fremond([1.0, 1.0, 1.0]).resolve(three(0.0))
    with pytest.raises(InvalidModel, match="limit is 0"):
        Sequential(limit=0)
    with pytest.raises(InvalidModel, match="least_approach is 1"):
        Sequential(least_approach=1.0)
    for law in LAWS:
        with pytest.raises(InvalidModel, match="polygon is 5; allowed are even numbers"):
            replace(law, polygon=5)
    with pytest.raises(InvalidModel, match="tolerance is 0"):
        Fremond(1.0, tolerance=0.0)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
@pytest.mark.parametrize("dimension", [0, 1, 2])
def test_mass_and_directions_may_be_sparse(law: Any, dimension: int) -> None:
    given = random_impact(np.random.default_rng(3), restitution=0.3, dimension=dimension)
    other = ImpactProblem(
        sparse.csr_array(given.mass),
        given.before,
        sparse.csr_array(given.normal),
        restitution=0.3,
        tangential=sparse.csr_array(given.tangential),
        friction=given.friction,
        dimension=max(dimension, 1),
    )
    assert law.resolve(other).after == pytest.approx(law.resolve(given).after, abs=1e-9)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_diagonal_vector_and_full_matrix_are_the_same_mass(law: Any) -> None:
    masses, before = [1.0, 2.0, 0.5], [1.0, 0.0, 0.2]
    normal = row(masses, before).normal
    results = [
        law.resolve(ImpactProblem(mass, before, normal, restitution=0.4)).after
        for mass in (masses, np.diag(masses), sparse.diags_array(masses))
    ]
    assert results[1] == pytest.approx(results[0], abs=1e-14)
    assert results[2] == pytest.approx(results[0], abs=1e-14)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_nothing_happens_without_contacts_or_approach(law: Any) -> None:
    free = ImpactProblem([1.0, 1.0], [1.0, -1.0], np.empty((2, 0)))
    assert law.resolve(free).after.tolist() == [1.0, -1.0]
    assert law.resolve(free).unique.motion == "unique"
    if not isinstance(law, Fremond):  # its percussion opposes opening too
        leaving = three(0.5, before=(-1.0, 0.0, 2.0))
        assert law.resolve(leaving).after == pytest.approx([-1.0, 0.0, 2.0])
        assert not law.resolve(leaving).normal.any()


def test_approaching_contacts_are_those_that_do_not_open() -> None:
    """A_N2 of (3.18): closed and ġ ≤ 0, the ones at rest included."""
    normal = row([1.0] * 4, [0.0] * 4).normal
    problem = ImpactProblem(
        [1.0] * 4,
        [1.0, 0.0, 0.0, 2.0],
        normal,
        restitution=[0.1, 0.2, 0.3],
        tangential=np.eye(4)[:, :3],
        friction=[0.5, 0.0, 0.7],
        normal_rate=[0.0, 0.0, 0.5],
        names=["a", "b", "c"],
    )
    part, contacts, patches = problem.approaching()
    assert contacts.tolist() == patches.tolist() == [0, 1]
    assert part.names == ("a", "b")
    assert part.restitution.tolist() == [0.1, 0.2]
    assert part.friction.toarray().tolist() == [[0.5, 0.0], [0.0, 0.0]]
    assert part.contact_velocity(part.before).tolist() == [-1.0, 0.0, 1.0, 0.0]
    assert part.response == pytest.approx(np.hstack([normal[:, :2], np.eye(4)[:, :2]]))
    assert problem.approaching(tolerance=2.5).contacts.tolist() == [0, 1, 2]


def test_a_patch_pressed_by_several_contacts_stays_while_one_of_them_does() -> None:
    problem = ImpactProblem(
        np.eye(3),
        [-1.0, 1.0, 1.0],
        [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]],
        tangential=[[0.0], [0.0], [1.0]],
        friction=[[0.2, 0.6]],
    )
    part = problem.approaching().problem
    assert part.friction.toarray().tolist() == [[0.2]]
    assert Newton().resolve(part).after == pytest.approx([0.0, 1.0, 0.8])  # 1 − 0.2 · 1


def test_contacts_met_with_other_velocities_are_a_problem_of_their_own() -> None:
    problem = random_impact(np.random.default_rng(0), restitution=0.5)
    fresh = ImpactProblem(problem.mass, 2 * problem.before, problem.normal, restitution=0.5)
    again = problem.starting_from(2 * problem.before)
    assert Newton().resolve(again).after == pytest.approx(Newton().resolve(fresh).after, abs=1e-12)
    assert Newton().resolve(again).after == pytest.approx(2 * Newton().resolve(problem).after, abs=1e-12)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
@pytest.mark.parametrize("copies", [1, 2])
def test_a_bead_on_a_wire_is_a_mass_in_one_dimension(law: Any, copies: int) -> None:
    """A two-sided constraint along the wire's normal; a second one is redundant and changes nothing."""
    wire = np.array([0.6, 0.8])
    across = np.tile([[-0.8], [0.6]], (1, copies))
    normal = np.array([[1.0], [0.0]])
    bead = law.resolve(ImpactProblem([2.0, 2.0], -wire, normal, restitution=0.5, bilateral=across))
    mass = law.resolve(ImpactProblem([2.0], [-1.0], normal.T @ wire[:, None], restitution=0.5))
    assert bead.after == pytest.approx(mass.after[0] * wire, abs=1e-12)
    assert bead.normal == pytest.approx(mass.normal, abs=1e-12)
    assert abs(bead.audit.residual) < 1e-14


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_a_frictionless_constraint_that_moves_puts_in_work(law: Any) -> None:
    """The wire is lifted with 0.3 m/s: in its frame it rests."""
    across, normal = np.array([[-0.8], [0.6]]), np.array([[1.0], [0.0]])
    lift = 0.3 * across.ravel()
    still = law.resolve(ImpactProblem([2.0, 2.0], [-0.6, -0.8], normal, restitution=0.5, bilateral=across))
    moving = law.resolve(
        ImpactProblem(
            [2.0, 2.0],
            lift - [0.6, 0.8],
            normal,
            restitution=0.5,
            normal_rate=-normal.T @ lift,
            bilateral=across,
            bilateral_rate=[-0.3],
        )
    )
    assert moving.after == pytest.approx(still.after + lift, abs=1e-12)
    assert moving.bilateral == pytest.approx(still.bilateral, abs=1e-12)
    assert abs(moving.audit.residual) < 1e-14
    assert moving.audit.dissipated == pytest.approx(still.audit.dissipated)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_every_law_sees_relative_velocities_only(law: Any) -> None:
    """v → v + u, a → a − Jᵀ u: the same impulses, the result shifted by u."""
    rng = np.random.default_rng(8)
    for _ in range(10):
        still = random_impact(rng, restitution=rng.uniform(size=3), approaching=False)
        shift = rng.normal(size=5)
        moving = ImpactProblem(
            still.mass,
            still.before + shift,
            still.normal,
            restitution=still.restitution,
            normal_rate=-still.normal.T @ shift,
        )
        one, two = law.resolve(still), law.resolve(moving)
        assert two.after - shift == pytest.approx(one.after, abs=1e-9 * np.abs(one.after).max())
        assert two.audit.dissipated == pytest.approx(one.audit.dissipated, abs=1e-9 * one.audit.energy_before)


def test_a_body_crushed_between_closing_walls_has_no_velocity() -> None:
    crushed = ImpactProblem([1.0], [0.0], [[1.0, -1.0]], normal_rate=[-1.0, -1.0], names=["left", "right"])
    with pytest.raises(NoSolution, match="Newton's law: "):
        Newton().resolve(crushed)


def test_a_result_prints_itself() -> None:
    text = str(Newton().resolve(three(1.0, before=(3.0, 0.0, 1.0))))
    assert ["contact", "1", "0.666667", "-1"] in [line.split() for line in text.splitlines()]
    assert "still approaching: contact 1 with 1 m/s" in text
