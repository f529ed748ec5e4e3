"""Averaged contact: normalisation, exact integrals, virtual work, friction patches, and what is refused."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from klapper.complementarity import FrictionalContact, solve
from klapper.mechanics.areal import AveragedContact, FrictionPatches, friction_matrix
from klapper.mechanics.contact_area import ContactArea
from klapper.mechanics.errors import InvalidModel

EDGES = np.array([0.0, 0.1, 0.35, 0.5, 0.8])
NODES = np.array([0.0, 0.2, 0.5, 0.8])
BREAKS = np.unique(np.concatenate([EDGES, NODES]))


@pytest.fixture
def strip() -> ContactArea:
    return ContactArea.line(0.8, panels=BREAKS, order=5)


@pytest.fixture
def plate() -> ContactArea:
    return ContactArea.rectangle((0.8, 0.3), panels=(BREAKS, 3), order=3)


def families(area: ContactArea) -> list[AveragedContact]:
    """Boxes, hats, collocation and two functions of a user on a line or a rectangle."""
    if area.dimension == 1:
        return [
            AveragedContact.boxes(area, EDGES),
            AveragedContact.hats(area, NODES),
            AveragedContact.diracs(area, [0.0, 0.33, 0.8]),
            AveragedContact(area, [lambda x: np.exp(x), lambda x: 0.8 - x]),
        ]
    across = np.linspace(0.0, 0.3, 4)
    return [
        AveragedContact.boxes(area, EDGES, across),
        AveragedContact.hats(area, NODES, across),
        AveragedContact.diracs(area, [[0.1, 0.1], [0.4, 0.2]]),
        AveragedContact(area, [lambda x, y: x * y, lambda x, y: 1.0]),
    ]


@pytest.mark.parametrize("kind", ["strip", "plate"])
def test_a_constant_gap_is_its_own_average(kind: str, request: pytest.FixtureRequest) -> None:
    for contact in families(request.getfixturevalue(kind)):
        gap = np.full(len(contact.points), 0.37)
        np.testing.assert_allclose(contact.average(gap), 0.37, rtol=1e-14)
        if not contact.concentrated:
            normal = contact.area.integrate(contact.weights().T)  # (3.12)
            np.testing.assert_allclose(normal, 1.0, rtol=1e-13)
            assert contact.weights().min() >= 0.0


def test_averages_of_a_parabola_are_the_closed_forms(strip: ContactArea) -> None:
    """g = x²: over a box (b³ − a³)/(3 (b − a)); with a hat a² + … by exact integration of its two sides."""
    squares = strip.points[:, 0] ** 2
    boxes = AveragedContact.boxes(strip, EDGES)
    a, b = EDGES[:-1], EDGES[1:]
    np.testing.assert_allclose(boxes.average(squares), (a**2 + a * b + b**2) / 3, rtol=1e-13)
    hats = AveragedContact.hats(strip, NODES)
    # a linear side from 0 at p to 1 at n has ∫ h x² = L (p² + 2 p n + 3 n²)/12 and ∫ h = L/2
    p, n, q = NODES[0], NODES[1], NODES[2]
    sides = (n - p) * (p**2 + 2 * p * n + 3 * n**2) + (q - n) * (q**2 + 2 * q * n + 3 * n**2)
    assert hats.average(squares)[1] == pytest.approx(sides / 12 / ((q - p) / 2), rel=1e-13)
    p, n = NODES[-2], NODES[-1]
    assert hats.average(squares)[-1] == pytest.approx((p**2 + 2 * p * n + 3 * n**2) / 6, rel=1e-13)


def test_gauss_rule_is_exact_up_to_its_degree() -> None:
    area = ContactArea.line(2.0, panels=3, order=3, start=-0.5)
    x = area.points[:, 0]
    for degree in range(6):
        exact = (1.5 ** (degree + 1) - (-0.5) ** (degree + 1)) / (degree + 1)
        assert area.integrate(x**degree) == pytest.approx(exact, rel=1e-13)
    assert abs(area.integrate(x**6) - (1.5**7 + 0.5**7) / 7) > 1e-6
    plate = ContactArea.rectangle((2.0, 1.0), panels=(1, 2), order=2, start=(1.0, 0.0))
    assert plate.integrate(plate.points[:, 0] ** 3 * plate.points[:, 1] ** 2) == pytest.approx(
        20 / 3, rel=1e-13
    )


def test_patch_means_reproduce_the_global_mean(strip: ContactArea) -> None:
    gap = np.cos(3 * strip.points[:, 0])
    boxes = AveragedContact.boxes(strip, EDGES)
    together = np.diff(EDGES) @ boxes.average(gap) / strip.measure
    assert together == pytest.approx(np.sin(2.4) / 3 / 0.8, rel=1e-9)  # Gauss with five points a panel
    patches = FrictionPatches(strip, EDGES)
    assert patches.measures @ patches.average(gap) / strip.measure == pytest.approx(together, rel=1e-13)


def test_dirac_is_collocation(strip: ContactArea) -> None:
    """The gap of a bent beam w(x) = Σ q_j x^j at the positions, and the directions are the shapes there."""
    positions = np.array([0.07, 0.4, 0.8])
    contact = AveragedContact.diracs(strip, positions)
    np.testing.assert_array_equal(contact.points[:, 0], positions)
    shapes = contact.points ** np.arange(4)
    q = np.array([0.1, -0.3, 0.2, 0.7])
    np.testing.assert_allclose(
        contact.directions(shapes).T @ q, np.polynomial.polynomial.polyval(positions, q)
    )


@settings(max_examples=25)
@given(st.integers(0, 10**6))
def test_averaged_forces_do_the_virtual_work_of_the_pressure(seed: int) -> None:
    """(3.59): ∫ F_N δw dΓ = λ_Nᵀ J_Nᵀ δq, with F_N of (3.60) and any shapes w = Σ N_j(x) q_j."""
    rng = np.random.default_rng(seed)
    area = (
        ContactArea.line(0.8, panels=BREAKS)
        if seed % 2
        else ContactArea.rectangle((0.8, 0.3), panels=(BREAKS, 3))
    )
    frequency = rng.normal(size=(area.dimension, 6))
    for contact in families(area):
        shapes = np.sin(contact.points @ frequency)
        force, variation = rng.random(contact.count), rng.normal(size=6)
        work = force @ contact.directions(shapes).T @ variation
        if contact.concentrated:
            expected = float(np.sum(force * (shapes @ variation)))
        else:
            pressure = contact.pressure(force)
            assert pressure.min() >= 0.0
            expected = float(area.integrate(pressure * (shapes @ variation)))
            assert area.integrate(pressure) == pytest.approx(force.sum(), rel=1e-12)  # C6
        assert work == pytest.approx(expected, rel=1e-11, abs=1e-13)


def test_pressure_is_force_times_weight_function_at_any_place_and_time(strip: ContactArea) -> None:
    hats = AveragedContact.hats(strip, NODES)
    force = np.array([0.0, 5.0, 0.0, 2.0])
    # the hat at 0.2 m spans 0.5 m: its peak is 2/0.5; the half hat at 0.8 m spans 0.3 m
    np.testing.assert_allclose(
        hats.pressure(force, [0.2, 0.35, 0.5, 0.8]), [20.0, 10.0, 0.0, 2 / 0.15], atol=1e-12
    )
    history = np.column_stack([force, 2 * force])
    np.testing.assert_allclose(hats.pressure(history)[:, 1], 2 * hats.pressure(force))
    at_edge = AveragedContact.boxes(strip, EDGES).pressure([1.0, 2.0, 3.0, 4.0], [0.1, 0.8])
    np.testing.assert_allclose(
        at_edge, [2.0 / 0.25, 4.0 / 0.3]
    )  # an inner edge belongs to the box on its right


@pytest.mark.parametrize("kind", ["strip", "plate"])
def test_rigid_translation_slides_every_patch_alike(kind: str, request: pytest.FixtureRequest) -> None:
    """v_T of a patch is the tangential part of a translation; a rotation gives the velocity of its centre."""
    area = request.getfixturevalue(kind)
    patches = (
        FrictionPatches(area, EDGES)
        if area.dimension == 1
        else FrictionPatches(area, EDGES, np.array([0.0, 0.1, 0.3]))
    )
    x = area.points[:, 0]
    y = area.points[:, 1] if area.dimension == 2 else 0 * x
    one, zero = np.ones_like(x), np.zeros_like(x)
    # velocity of a plate in its plane: v₁ − ω y, v₂ + ω x, in the coordinates (v₁, v₂, v₃, ω)
    gradients = np.stack([np.stack([one, zero, zero, -y], 1), np.stack([zero, one, zero, x], 1)], axis=1)
    directions = patches.directions(gradients)
    assert directions.shape == (4, 2 * patches.count)
    sliding = (directions.T @ [0.3, -0.7, 5.0, 0.0]).reshape(-1, 2)
    np.testing.assert_allclose(sliding, np.tile([0.3, -0.7], (patches.count, 1)), rtol=1e-13)
    centres = np.column_stack([patches.average(x), patches.average(y)])
    turning = (directions.T @ [0.0, 0.0, 0.0, 2.0]).reshape(-1, 2)
    np.testing.assert_allclose(turning, 2.0 * np.column_stack([-centres[:, 1], centres[:, 0]]), atol=1e-14)
    np.testing.assert_allclose(patches.traction(np.ones((patches.count, 2)))[:, 0], 1 / patches.measures)


def test_planar_directions_take_one_row_per_point(strip: ContactArea) -> None:
    patches = FrictionPatches(strip, EDGES)
    shapes = strip.points ** np.arange(3)
    np.testing.assert_allclose(patches.directions(shapes).T[:, 1], (EDGES[:-1] + EDGES[1:]) / 2)


def test_matching_patches_give_a_diagonal_friction_matrix(strip: ContactArea, plate: ContactArea) -> None:
    mu = np.array([0.1, 0.2, 0.3, 0.4])
    matrix = friction_matrix(AveragedContact.boxes(strip, EDGES), FrictionPatches(strip, EDGES), mu)
    np.testing.assert_allclose(matrix, np.diag(mu), atol=1e-15)
    across = np.linspace(0.0, 0.3, 4)
    both = friction_matrix(
        AveragedContact.boxes(plate, EDGES, across), FrictionPatches(plate, EDGES, across), 0.3
    )
    np.testing.assert_allclose(both, 0.3 * np.eye(12), atol=1e-15)


def test_a_patch_takes_the_part_of_each_weight_function_that_lies_on_it(strip: ContactArea) -> None:
    """Hats on two patches; columns sum up to one."""
    hats = AveragedContact.hats(strip, NODES)
    halves = FrictionPatches(strip, [0.0, 0.35, 0.8])
    shares = halves.shares(hats)
    np.testing.assert_allclose(shares.sum(axis=0), 1.0, rtol=1e-13)
    # of the hat at 0.2 m (base 0 to 0.5) the tail beyond 0.35 has half the height and half the base of the right side
    tail = 0.15 * 0.5 / 2 / 0.25
    np.testing.assert_allclose(shares[:, 1], [1 - tail, tail], rtol=1e-12)
    limits = friction_matrix(hats, halves, [0.5, 0.2]) @ [1.0, 2.0, 3.0, 4.0]
    assert limits @ [1 / 0.5, 1 / 0.2] == pytest.approx(10.0)


def test_dirac_shares_go_to_the_patch_it_lies_on(plate: ContactArea) -> None:
    patches = FrictionPatches(plate, [0.0, 0.5, 0.8], [0.0, 0.1, 0.3])
    points = AveragedContact.diracs(plate, [[0.2, 0.05], [0.5, 0.2], [0.5, 0.1]])
    expected = np.array([[1, 0, 0, 0], [0, 0.5, 0, 0.5], [0.25, 0.25, 0.25, 0.25]])
    np.testing.assert_allclose(patches.shares(points).T, expected)


def test_labelled_patches_equal_those_by_edges(strip: ContactArea) -> None:
    by_edges = FrictionPatches(strip, EDGES)
    labels = np.searchsorted(EDGES, strip.points[:, 0]) - 1
    labelled = FrictionPatches.labelled(strip, labels)
    gap = np.exp(strip.points[:, 0])
    np.testing.assert_array_equal(labelled.average(gap), by_edges.average(gap))
    with pytest.raises(InvalidModel, match="labelled patches do not tell"):
        labelled.shares(AveragedContact.diracs(strip, [0.1]))


def test_any_quadrature_rule_will_do() -> None:
    """A trapezoidal rule on nodes, as a finite element surface may offer it; boxes and patches cut it alike."""
    x = np.linspace(0.0, 1.0, 11)
    area = ContactArea(x, np.r_[0.05, np.full(9, 0.1), 0.05])
    boxes = AveragedContact.boxes(area, [0.0, 0.5, 1.0])
    np.testing.assert_allclose(boxes.average(np.ones(11)), 1.0)
    matrix = friction_matrix(boxes, FrictionPatches(area, [0.0, 0.5, 1.0]), 0.4)
    np.testing.assert_allclose(matrix, 0.4 * np.eye(2), atol=1e-15)


def test_a_rigid_block_rests_with_a_linear_pressure() -> None:
    """A block under an eccentric weight on two boxes: λ by equilibrium, Navier's mean pressures on both halves."""
    area = ContactArea.line(1.0, panels=2)
    contact = AveragedContact.boxes(area, [0.0, 0.5, 1.0])
    x = area.points[:, 0]
    normal = contact.directions(np.column_stack([np.ones_like(x), x - 0.5]))  # heave and pitch
    weight, eccentricity, mass, inertia = 10.0, 0.1, 1.0, 1 / 12
    load = np.array([-weight, -weight * eccentricity])
    inverse = np.diag([1 / mass, 1 / inertia])
    forces = solve(FrictionalContact(normal.T @ inverse @ normal, normal.T @ inverse @ load, dimension=1)).x
    np.testing.assert_allclose(
        forces, [weight / 2 - 2 * weight * eccentricity, weight / 2 + 2 * weight * eccentricity]
    )
    np.testing.assert_allclose(contact.pressure(forces, [0.2, 0.7]), forces / 0.5)


@pytest.mark.parametrize(
    ("functions", "message"),
    [
        ([lambda x: x, lambda x: x - 0.4], "'weight function 1' is negative"),
        ([lambda x: x, lambda x: 0 * x], "'weight function 1' vanishes"),
        ([lambda x: 1.0, lambda x: x, lambda x: 2 * x + 3], "'weight function 2' is a combination"),
        (
            [lambda x: 1.0, lambda x: 1 / x, lambda x: np.where(x > 0.5, np.nan, 1.0)],
            "'weight function 2' is not finite",
        ),
        ([], "at least one weight function"),
    ],
)
def test_bad_weight_functions_are_refused_by_name(strip: ContactArea, functions: list, message: str) -> None:
    with pytest.raises(InvalidModel, match=message):
        AveragedContact(strip, functions)


def test_refusals_call_contacts_by_their_own_names() -> None:
    area = ContactArea.line(1.0, order=2)
    powers = [lambda x, k=k: x**k for k in range(3)]
    with pytest.raises(InvalidModel, match=r"'cubic' is a combination .* only 2 points"):
        AveragedContact(area, powers, names=["flat", "linear", "cubic"])
    with pytest.raises(InvalidModel, match="'b' lies where 'a' does"):
        AveragedContact.diracs(area, [0.5, 0.1, 0.5], names=["a", "c", "b"])
    with pytest.raises(InvalidModel, match=r"'heel' lies at 1.2 m, outside"):
        AveragedContact.diracs(area, [0.5, 1.2], names=["toe", "heel"])
    with pytest.raises(InvalidModel, match="different entries"):
        AveragedContact.diracs(area, [0.5, 0.7], names=["toe", "toe"])


def test_areas_patches_and_weights_that_do_not_fit_are_refused(
    strip: ContactArea, plate: ContactArea
) -> None:
    with pytest.raises(InvalidModel, match=r"break at 0.3 m lies inside a panel"):
        AveragedContact.boxes(strip, [0.0, 0.3, 0.8])
    with pytest.raises(InvalidModel, match="leave out part"):
        FrictionPatches(strip, [0.0, 0.5])
    with pytest.raises(InvalidModel, match="along 1 direction, but the area has 2"):
        AveragedContact.hats(plate, NODES)
    with pytest.raises(InvalidModel, match="rising coordinates"):
        AveragedContact.hats(strip, [0.0, 0.5, 0.2])
    with pytest.raises(InvalidModel, match="different areas"):
        friction_matrix(
            AveragedContact.boxes(strip, EDGES), FrictionPatches(ContactArea.line(0.8), [0, 0.8]), 0.3
        )
    with pytest.raises(InvalidModel, match="from 0 on"):
        friction_matrix(AveragedContact.boxes(strip, EDGES), FrictionPatches(strip, EDGES), -0.3)
    with pytest.raises(InvalidModel, match="concentrated at the points"):
        AveragedContact.diracs(strip, [0.5]).pressure([1.0])
    with pytest.raises(InvalidModel, match="'patch 1' holds no quadrature point"):
        FrictionPatches.labelled(strip, np.where(strip.points[:, 0] > 0.4, 2, 0))
    with pytest.raises(InvalidModel, match=r"expected \(25, ...\), one row for every point"):
        AveragedContact.boxes(strip, EDGES).average(np.zeros(3))
    with pytest.raises(InvalidModel, match="weights positive"):
        ContactArea([0.0, 1.0], [1.0, 0.0])
    with pytest.raises(InvalidModel, match="panels reach from"):
        ContactArea.line(1.0, panels=[0.0, 0.5])
