"""Selection rules against closed forms, springs, variational inequalities and the numbers of the source."""

import numpy as np
import pytest
from scipy.optimize import brentq, lsq_linear
from tests.complementarity.selection.test_force_set import block, spatial_forces

from klapper.complementarity import InvalidProblem, solve
from klapper.complementarity.selection import (
    Compliant,
    Extreme,
    ExtremeMotion,
    ForceSet,
    LargestMargin,
    MinimumNorm,
    NearPrevious,
    ProxIteration,
    PseudoInverse,
    QualityFunctional,
    select_nearest,
    select_quality,
)
from klapper.complementarity.selection.two_contacts import constrained_minima

RULES = (
    MinimumNorm(),
    Compliant({"A": 7.0}),
    NearPrevious(),
    Extreme("A tangential 1", "max"),
    LargestMargin(),
    QualityFunctional(),
    PseudoInverse("redistribute"),
    ProxIteration(),
)


def common_direction(total: float, limits, **others) -> ForceSet:
    """Friction forces with a given sum, within ±limits."""
    limits = np.asarray(limits, dtype=float)
    start = total * limits / limits.sum()
    n = len(limits)
    names = [f"{'ABCDEFGH'[i]} tangential" for i in range(n)]
    return ForceSet.from_arrays(
        start, np.ones((1, n)), patches=np.arange(n)[:, None], limit=limits, names=names, **others
    )


def water(total: float, lower: np.ndarray, upper: np.ndarray, start=0.0, stiffness=1.0) -> np.ndarray:
    """T_i = clip(start_i + s k_i) with the given sum, the level s by bisection (spec, section 6)."""
    total = np.clip(total, lower.sum(), upper.sum())

    def excess(level: float) -> float:
        return np.clip(start + level * stiffness, lower, upper).sum() - total

    span = (
        10.0 * (np.abs(np.concatenate([lower, upper])).max() + np.abs(start).max() + 1.0) / np.min(stiffness)
    )
    return np.clip(start + brentq(excess, -span, span, xtol=1e-15, rtol=1e-15) * stiffness, lower, upper)


def test_minimum_norm_is_water_filling() -> None:
    rng = np.random.default_rng(0)
    for _ in range(100):
        limits = rng.uniform(0.1, 5.0, rng.integers(2, 9))
        total = rng.uniform(-1.0, 1.0) * limits.sum()
        found = MinimumNorm().select(common_direction(total, limits))
        assert found.exact
        assert found.forces == pytest.approx(water(total, -limits, limits), abs=1e-10)


def test_case_tables_and_the_convex_program_agree() -> None:
    """All 17 cases of Seiwald's Tables C.1-C.4, 20 000 random problems."""
    rng = np.random.default_rng(1)
    n = 20_000
    normal = rng.uniform(0.0, 10.0, (n, 2)) * (rng.random((n, 2)) > 0.15)
    mu, k = rng.uniform(0.0, 1.0, (n, 2)), rng.uniform(0.1, 3.0, n)
    slip = rng.standard_normal((n, 2)) * (rng.random((n, 2)) > 0.6)
    w = 8.0 * k * rng.standard_normal(n)
    expected, cases = constrained_minima(k, w, normal, mu, slip)
    limit = mu * normal
    lower = np.where(slip != 0.0, -np.sign(slip) * limit, -limit)
    upper = np.where(slip != 0.0, -np.sign(slip) * limit, limit)
    root = np.sqrt(k)
    found = select_quality(root[:, None, None] * np.ones((n, 1, 2)), (w / root)[:, None], lower, upper)
    assert found.solved.all()
    assert len(set(cases)) == 17
    assert np.abs(found.forces - expected * normal).max() <= 1e-10


def test_a_quality_functional_is_least_and_its_forces_the_smallest_of_the_face() -> None:
    """First stage against scipy's bounded least squares; second by its optimality: others are larger."""
    rng = np.random.default_rng(2)
    for _ in range(40):
        n, p = int(rng.integers(3, 9)), int(rng.integers(1, 4))
        directions, load = rng.standard_normal((p, n)), 6.0 * rng.standard_normal(p)
        limits = rng.uniform(0.2, 2.0, n)
        mass = np.diag(rng.uniform(0.5, 4.0, p))
        forces = ForceSet.from_arrays(
            np.zeros(n),
            directions,
            patches=np.arange(n)[:, None],
            limit=limits,
            held=np.zeros((0, n)),
            mass=mass,
            load=load,
        )
        for rule in (QualityFunctional(1), QualityFunctional(2), QualityFunctional(weight=np.eye(p))):
            chosen = rule.select(forces)
            root, offset = rule.residual(forces)
            best = lsq_linear(root, -offset, (-limits, limits), tol=1e-14, method="bvls")
            assert np.linalg.norm(root @ chosen.forces + offset) == pytest.approx(
                np.linalg.norm(root @ best.x + offset), rel=1e-8, abs=1e-8
            )
            assert np.all(np.abs(chosen.forces) <= limits * (1.0 + 1e-12))
            other = best.x  # another point of the same face
            assert chosen.forces @ (other - chosen.forces) >= -1e-6
        batch = select_quality(directions, load[None], -limits, limits)
        assert batch.forces[0] == pytest.approx(QualityFunctional(2).select(forces).forces, abs=1e-9)


def test_ten_newtons_on_two_feet_are_shared_as_in_figure_5_5() -> None:
    """E8: 10 N on normal forces 73.48 and 83.48 N give μ = (−0.0680457, −0.0598946)."""
    normal = np.array([73.48, 83.48])
    forces = ForceSet.from_arrays(
        [0.0, 0.0],
        [[1.0, 1.0]],
        patches=[[0], [1]],
        limit=0.1 * normal,
        held=np.zeros((0, 2)),
        mass=[[16.0]],
        load=[10.0],
    )
    assert QualityFunctional(3).select(forces).forces / normal == pytest.approx(
        [-0.0680457, -0.0598946], abs=5e-8
    )


def test_a_functional_without_mass_and_load_says_what_it_used() -> None:
    forces = ForceSet.of(solve(block(60.0, (0.1, 0.5, 0.1), (-0.1, 0.0, 0.1), sliding=0.5)), motion="any")
    chosen = QualityFunctional().select(forces)
    assert chosen.exact and "minimum norm" in chosen.note
    assert chosen.forces == pytest.approx(MinimumNorm().select(forces).forces)
    assert "no mass" in ExtremeMotion(0, "max").select(forces).note


@pytest.mark.parametrize(
    ("factors", "start", "expected"),
    [
        ((1.0, 1.0), (0.0, 0.0), (-1.0, -1.0)),
        ((1.0, 0.5), (0.0, 0.0), (-1.3333, -0.6667)),
        ((0.1, 1.0), (0.0, 0.0), (-0.1818, -1.8182)),
        ((1.0, 1.0), (-3.0, 2.0), (-3.5, 1.5)),
        ((0.5, 1.0), (-3.0, 2.0), (-3.3333, 1.3333)),
    ],
)
def test_the_prox_iteration_ends_at_the_printed_member(factors, start, expected) -> None:
    """Spec 15.7 at F = 2 N."""
    forces = common_direction(-2.0, [7.7, 7.9])
    found = ProxIteration(start=np.array(start), factors=np.array(factors)).select(forces)
    assert found.forces == pytest.approx(expected, abs=5e-5)
    assert not found.note


def test_prox_iteration_is_a_weighted_projection_of_its_start() -> None:
    """argmin Σ (T_i − T_i⁰)²/r_i within the limits; small enough factors keep the defect's sign, so clipping counts."""
    rng = np.random.default_rng(3)
    for _ in range(60):
        limits = rng.uniform(0.5, 3.0, rng.integers(2, 6))
        n = len(limits)
        total = rng.uniform(-0.95, 0.95) * limits.sum()
        start, factors = rng.uniform(-1.0, 1.0, n) * limits, rng.uniform(0.1, 1.0, n)
        found = ProxIteration(start=start, factors=factors).select(common_direction(total, limits))
        assert found.exact
        assert found.forces == pytest.approx(water(total, -limits, limits, start, factors), abs=1e-9)


def test_a_prox_iteration_that_overshoots_a_limit_may_end_elsewhere() -> None:
    forces = common_direction(-1.5, [0.5, 3.0])
    gentle = ProxIteration(start=np.array([0.4, 2.9])).select(forces).forces
    hasty = ProxIteration(start=np.array([0.4, 2.9]), relaxation=1.9).select(forces).forces
    assert gentle == pytest.approx(
        water(-1.5, -np.array([0.5, 3.0]), np.array([0.5, 3.0]), np.array([0.4, 2.9]))
    )
    assert hasty.sum() == pytest.approx(-1.5)
    assert np.abs(hasty - gentle).max() > 0.1


def test_a_prox_iteration_without_time_says_so() -> None:
    found = ProxIteration(relaxation=0.1, max_iterations=3).select(common_direction(-2.0, [3.0, 3.0]))
    assert found.exact
    assert "nearest member" in found.note


def springs(compliance: np.ndarray, directions: np.ndarray, load: np.ndarray) -> np.ndarray:
    """Forces of springs under a rigid body: displacement method."""
    stiffness = directions @ np.diag(1.0 / compliance) @ directions.T
    return -np.diag(1.0 / compliance) @ directions.T @ np.linalg.solve(stiffness, load)


def test_compliant_contacts_are_springs_under_a_rigid_table() -> None:
    rng = np.random.default_rng(4)
    corners = np.array([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])
    directions = np.vstack([np.ones(4), corners.T])
    for _ in range(20):
        place = rng.uniform(-0.2, 0.2, 2)
        load = -100.0 * np.array([1.0, *place])
        compliance = rng.uniform(1.0, 2.0, 4) * 1e-6
        forces = ForceSet.from_arrays(np.linalg.lstsq(directions, -load)[0], directions, normal=np.arange(4))
        assert Compliant(compliance).select(forces).forces == pytest.approx(
            springs(compliance, directions, load)
        )


def test_a_leg_that_is_too_short_is_unloaded_in_proportion() -> None:
    """Equal springs k, one leg short by s: forces change by k s/4 (−1, 1, −1, 1) from the even distribution."""
    directions = np.array([[1.0, 1.0, 1.0, 1.0], [1.0, -1.0, -1.0, 1.0], [1.0, 1.0, -1.0, -1.0]])
    names = ["A", "B", "C", "D"]
    even = ForceSet.from_arrays(np.full(4, 25.0), directions, normal=np.arange(4), names=names)
    compliance, short = 1e-6, 2e-5
    found = Compliant(compliance, misfit={"A": short}).select(even).forces
    assert found == pytest.approx(25.0 + short / compliance / 4.0 * np.array([-1.0, 1.0, -1.0, 1.0]))
    assert Compliant(compliance, misfit={"A": 1.0}).select(even).forces == pytest.approx(
        [0.0, 50.0, 0.0, 50.0]
    )


def test_compliance_may_be_a_matrix() -> None:
    matrix = np.array([[2.0, 0.5], [0.5, 1.0]])
    forces = common_direction(-3.0, [9.0, 9.0])
    share = np.linalg.solve(matrix, np.ones(2))
    assert Compliant(matrix).select(forces).forces == pytest.approx(-3.0 * share / share.sum())


def test_near_previous_keeps_what_is_locked_in_until_a_limit_forces_it_out() -> None:
    limits, forces = np.array([1.0, 3.0]), np.array([0.9, -0.9])
    for total in -np.linspace(0.0, 3.5, 50):
        chosen = NearPrevious().select(common_direction(total, limits), forces)
        assert chosen.forces == pytest.approx(water(total, -limits, limits, forces), abs=1e-10)
        forces = chosen.forces
    assert "no previous" in NearPrevious().select(common_direction(-1.0, limits)).note


def test_extreme_goes_to_the_bound_and_keeps_the_others_small() -> None:
    forces = common_direction(-3.0, [2.0, 2.0, 2.0, 2.0])
    found = Extreme("A tangential", "max").select(forces)
    assert found.forces == pytest.approx([2.0, -5 / 3, -5 / 3, -5 / 3])
    assert found.forces[0] == pytest.approx(forces.upper[0])
    assert Extreme("A tangential", "min").select(forces).forces[0] == pytest.approx(forces.lower[0])
    assert "no force 'Z'" in Extreme("Z", "min").select(forces).note
    wedge = ForceSet.from_arrays([1.0, 1.0], [[1.0, -1.0]], normal=[0, 1], names=["left", "right"])
    assert "no bound" in Extreme("left", "max").select(wedge).note


def test_largest_margin_is_the_middle_of_an_interval() -> None:
    """T_A + T_B = −10 with limits 7 and 9: margins 7 + T_A and 9 + T_B are equal at 3."""
    assert LargestMargin().select(common_direction(-10.0, [7.0, 9.0])).forces == pytest.approx([-4.0, -6.0])
    saturated = LargestMargin().select(common_direction(-16.0, [7.0, 9.0]))
    assert "no margin" in saturated.note
    assert saturated.forces == pytest.approx([-7.0, -9.0])


def test_pseudo_inverse_is_cut_off_or_redistributed() -> None:
    """Seiwald 5.2.2: when the even share lies between both limits only the weaker foot is cut off: the sum is lost."""
    limits, total = np.array([7.1, 8.6]), -15.0
    forces = common_direction(total, limits)
    cut, handed_on = PseudoInverse("clip").select(forces), PseudoInverse("redistribute").select(forces)
    assert cut.forces == pytest.approx([-7.1, -7.5])
    assert not cut.exact and "A tangential" in cut.note
    assert handed_on.exact
    assert handed_on.forces == pytest.approx([-7.1, -7.9])
    assert not handed_on.note
    below = PseudoInverse("clip").select(common_direction(-14.0, limits))
    assert below.exact and below.forces == pytest.approx([-7.0, -7.0])


def test_what_is_cut_off_is_shared_by_the_others() -> None:
    """An even share of 2.5 exceeds the limits 1 and 2; the remaining 7 are shared evenly by the two that can."""
    found = PseudoInverse("redistribute").select(common_direction(-10.0, [1.0, 2.0, 9.0, 9.0]))
    assert found.forces == pytest.approx([-1.0, -2.0, -3.5, -3.5])
    assert not found.note


def test_redistribution_that_fails_says_so() -> None:
    """A member exists, but forces that were cut off first would have to come back."""
    rng = np.random.default_rng(5)
    failed = 0
    for _ in range(300):
        directions, limits = rng.standard_normal((2, 4)), rng.uniform(0.1, 1.0, 4)
        member = rng.choice([-1.0, 1.0], 4) * limits * rng.uniform(0.9, 1.0, 4)
        forces = ForceSet.from_arrays(member, directions, patches=np.arange(4)[:, None], limit=limits)
        found = PseudoInverse("redistribute").select(forces)
        assert found.exact
        if found.note:
            failed += 1
            assert found.forces == pytest.approx(MinimumNorm().select(forces).forces)
    assert failed > 0


@pytest.mark.parametrize("push", [(12.0, 5.0), (20.0, -14.0)])
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_every_rule_gives_a_member_in_space(rule, push) -> None:
    forces = spatial_forces(push)
    previous = np.random.default_rng(6).uniform(-20.0, 20.0, 12)
    found = rule.select(forces, previous)
    assert found.exact
    assert forces.violation(found.forces) <= 1e-9


@pytest.mark.parametrize("push", [(12.0, 5.0), (25.0, -10.0)])
def test_nearest_forces_in_space_satisfy_their_variational_inequality(push) -> None:
    """(x − x₀)ᵀ C (y − x) ≥ 0 for all members y: here those that are extreme in many directions."""
    rng = np.random.default_rng(7)
    forces = spatial_forces(push)
    members = [forces.face.at(forces.face.extreme(direction)) for direction in rng.standard_normal((60, 12))]
    for weight in (np.ones(12), rng.uniform(0.1, 10.0, 12)):
        target = rng.uniform(-30.0, 30.0, 12)
        x = forces.face.at(forces.face.nearest(target, weight))
        slopes = [weight * (x - target) @ (member - x) for member in members]
        assert min(slopes) >= -1e-6 * np.abs(x).max() ** 2


def test_batch_agrees_with_one_by_one() -> None:
    rng = np.random.default_rng(8)
    directions, limits = rng.standard_normal((30, 3, 6)), rng.uniform(0.5, 2.0, (30, 6))
    members = rng.uniform(-1.0, 1.0, (30, 6)) * limits
    target, weight = rng.standard_normal((30, 6)), rng.uniform(0.5, 2.0, (30, 6))
    found = select_nearest(directions, members, -limits, limits, target=target, weight=weight)
    assert found.solved.all()
    for k in range(30):
        one = ForceSet.from_arrays(members[k], directions[k], patches=np.arange(6)[:, None], limit=limits[k])
        expected = one.face.at(one.face.nearest(target[k], weight[k]))
        assert found.forces[k] == pytest.approx(expected, abs=1e-10)


SLACK = ForceSet.from_arrays([-2.0, 0.0], [[1.0, 1.0]], patches=[[0], [1]], limit=[3.0, 3.0])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Extreme("A", "most"), "allowed are 'min' and 'max'"),
        (lambda: ExtremeMotion(0, "most"), "allowed are 'min' and 'max'"),
        (lambda: PseudoInverse("cut"), "allowed are 'clip'"),
        (lambda: QualityFunctional(4), "allowed are 1, 2 and 3"),
        (lambda: QualityFunctional(weight=[[1.0, 0.0], [0.0, -1.0]]), "positive semidefinite"),
        (lambda: QualityFunctional(weight=[[np.nan]]), "finite numbers"),
        (lambda: QualityFunctional(3, contact_weights=-1.0), "contact_weights is -1"),
        (lambda: QualityFunctional(2, contact_weights=2.0), "belongs to ansatz 3"),
        (lambda: QualityFunctional(3, contact_linear={"A": np.nan}), "contact_linear is"),
        (lambda: ExtremeMotion(1.5, "max"), "coordinate is 1.5"),
        (lambda: NearPrevious().select(SLACK, np.zeros(3)), "previous has shape"),
        (lambda: Compliant(np.eye(3)).select(SLACK), "compliance has shape"),
        (lambda: Compliant([[np.nan]]), "finite numbers"),
        (lambda: Compliant(-1.0), "above 0"),
        (lambda: Compliant([[1.0, 2.0], [2.0, 1.0]]), "positive definite"),
        (lambda: ProxIteration(relaxation=2.0), "between 0 and 2"),
        (lambda: ProxIteration(start="yesterday"), "'previous'"),
        (lambda: select_nearest([[1.0, 1.0]], [[1.0, 1.0, 1.0]], 0.0, 1.0), "directions has shape"),
        (lambda: select_nearest([[1.0, 1.0]], [[1.0, 1.0]], 0.0, 1.0, weight=0.0), "least entry of weight"),
        (lambda: select_quality([[1.0, 1.0]], [[1.0, 1.0]], 0.0, 1.0), "residual has shape"),
    ],
)
def test_wrong_options_are_refused(make, message) -> None:
    with pytest.raises(InvalidProblem, match=message):
        make()
