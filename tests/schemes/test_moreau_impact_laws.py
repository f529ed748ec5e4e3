"""Laws of impact inside Moreau's scheme: the row of three masses of Waltersberger 5.1.1 through simulate."""

import numpy as np
import pytest

from klapper.contact_states import IMPACT
from klapper.mechanics import Constraint, Contact, FunctionSystem, LinearSystem, Ramp
from klapper.mechanics.impact import IMPACT_LAWS, Newton, Poisson, Sequential
from klapper.mechanics.options import example_of
from klapper.schemes import EventDriven, Moreau
from klapper.simulation import simulate


def row(e_1: float, e_2: float | None = None, masses=(1.0, 1.0, 1.0)) -> LinearSystem:
    """(5.1)-(5.5): mass 1 flies at 1 m/s against masses 2 and 3, which touch."""
    return LinearSystem(
        masses,
        position=[-0.05, 0.0, 0.0],
        velocity=[1.0, 0.0, 0.0],
        contacts=[
            Contact("1-2", normal=[-1.0, 1.0, 0.0], restitution=e_1),
            Contact("2-3", normal=[0.0, -1.0, 1.0], restitution=e_1 if e_2 is None else e_2),
        ],
    )


EXAMPLES = {
    "5.1 elastic": (None, 1.0, [-1 / 3, 2 / 3, 2 / 3]),
    "5.1 half": (None, 0.5, [0.0, 0.5, 0.5]),
    "5.1 plastic": (None, 0.0, [1 / 3, 1 / 3, 1 / 3]),
    "5.1 elastic, law before the step": (Newton(), 1.0, [-1 / 3, 2 / 3, 2 / 3]),
    "5.1 plastic, law before the step": (Newton(), 0.0, [1 / 3, 1 / 3, 1 / 3]),
    "5.2 elastic": (Poisson(), 1.0, [-1 / 3, 2 / 3, 2 / 3]),
    "5.2 half": (Poisson(), 0.5, [0.0, 0.5, 0.5]),
    "5.4 elastic": (Sequential(), 1.0, [0.0, 0.0, 1.0]),
    "5.4 half": (Sequential(), 0.5, [0.203125, 0.234375, 0.5625]),
}


@pytest.mark.parametrize("theta", [0.5, 1.0])
@pytest.mark.parametrize("name", EXAMPLES)
def test_a_row_of_three_masses_leaves_with_the_velocities_of_the_law_at_once(name: str, theta: float) -> None:
    law, e, after = EXAMPLES[name]
    run = simulate(row(e), 0.1, Moreau(2e-3, theta=theta, impact=law))
    np.testing.assert_allclose(run.velocity[-1], after, atol=1e-12)
    assert run.velocity[-1].sum() == pytest.approx(1.0, abs=1e-12)
    lost = 0.5 - 0.5 * np.sum(np.square(after))
    assert run.ledger.impact[-1] == pytest.approx(lost, abs=1e-12)
    assert np.abs(run.ledger.residual).max() <= 1e-12
    assert np.all(run.impulse >= 0.0)
    hit = np.flatnonzero(np.any(run.state == IMPACT, axis=1))
    assert run.time[hit[0]] == pytest.approx(0.05, abs=5e-3)
    np.testing.assert_allclose(run.velocity[hit[0]], after, atol=1e-12)  # at once, not over several steps


@pytest.mark.parametrize("scheme", [Moreau, EventDriven], ids=lambda scheme: scheme.__name__)
@pytest.mark.parametrize("kind", IMPACT_LAWS)
def test_every_law_serves_in_a_scheme_and_its_books_close(kind: str, scheme: type) -> None:
    """One contact without friction: momentum stays, no energy is gained, and what is lost is booked as impact."""
    run = simulate(row(0.5), 0.1, scheme(2e-3, impact=example_of(IMPACT_LAWS[kind])))
    assert run.velocity[-1].sum() == pytest.approx(1.0, abs=1e-12)
    lost = 0.5 - 0.5 * np.sum(np.square(run.velocity[-1]))
    assert lost >= -1e-12
    assert run.ledger.impact[-1] == pytest.approx(lost, abs=1e-12)
    assert np.abs(run.ledger.residual).max() <= 1e-12
    assert np.all(np.diff(run.velocity[-1]) >= -1e-8)


@pytest.mark.parametrize(
    ("e_1", "e_2"), [(0.8, 0.4), (0.4, 0.8), (0.2, 1.0), (0.25, 1.0), (0.5, 1.0), (0.0, 0.7)]
)
def test_poissons_law_opens_the_row_as_in_example_5_2(e_1: float, e_2: float) -> None:
    """The closed form over (e₁, e₂): ⁺v₂ − ⁺v₁ and ⁺v₃ − ⁺v₂."""
    if e_2 <= e_1:
        opening = (e_1, 0.0)
    elif e_2 <= 4 * e_1:
        opening = (4 * e_1 / 3 - e_2 / 3, 2 * (e_2 - e_1) / 3)
    else:
        opening = (0.0, e_2 / 2)
    run = simulate(row(e_1, e_2), 0.1, Moreau(2e-3, impact=Poisson()))
    np.testing.assert_allclose(np.diff(run.velocity[-1]), opening, atol=1e-12)


def test_two_balls_into_a_cradle_send_two_out_by_the_sequential_law() -> None:
    n = 5
    system = LinearSystem(
        np.ones(n),
        position=[-0.05, -0.05, 0.0, 0.0, 0.0],
        velocity=[1.0, 1.0, 0.0, 0.0, 0.0],
        contacts=[
            Contact(f"c{i}", normal=np.eye(n)[i + 1] - np.eye(n)[i], restitution=1.0) for i in range(n - 1)
        ],
    )
    run = simulate(system, 0.1, Moreau(2e-3, impact=Sequential()))
    np.testing.assert_allclose(run.velocity[-1], [0, 0, 0, 1.0, 1.0], atol=1e-12)
    assert abs(run.ledger.impact[-1]) < 1e-12


def ring(count: int) -> LinearSystem:
    """Ex. 5.5: discs that fill a closed track, one of them moves."""
    unit = np.eye(count)
    return LinearSystem(
        np.ones(count),
        velocity=unit[0],
        contacts=[
            Contact(f"c{i}", normal=unit[(i + 1) % count] - unit[i], restitution=1.0) for i in range(count)
        ],
    )


def test_a_ring_of_discs_never_ends_and_that_is_told() -> None:
    """The wave runs round for ever; nothing is lost, the limit is hit and told."""
    run = simulate(ring(6), 0.01, Moreau(1e-3, theta=1.0, impact=Sequential(limit=40)))
    assert "40 fast impacts" in run.about["audit"]["impacts without end"]
    assert run.velocity[-1].sum() == pytest.approx(1.0, abs=1e-12)
    assert run.about["status"] == "complete"


def test_a_limit_of_fast_impacts_that_is_hit_is_told() -> None:
    run = simulate(row(0.5), 0.1, Moreau(2e-3, impact=Sequential(limit=1)))
    assert "1 fast impact" in run.about["audit"]["impacts without end"]
    assert run.velocity[-1].sum() == pytest.approx(1.0, abs=1e-12)
    assert run.about["status"] == "complete"
    assert (
        "impacts without end" not in simulate(row(0.5), 0.1, Moreau(2e-3, impact=Sequential())).about["audit"]
    )


@pytest.mark.parametrize("law", [Sequential(), Newton(), Poisson()], ids=["sequential", "newton", "poisson"])
@pytest.mark.parametrize(
    "theta",
    [
        0.5,
        pytest.param(1.0),
    ],
)
def test_a_contact_may_open_first_and_be_hit_then(theta: float, law) -> None:
    """Velocities (3, 0, 1), all touching, elastic: mass 2 is hit, then hits mass 3: (0, 1, 3), no energy is lost."""
    system = LinearSystem(
        [1.0, 1.0, 1.0],
        velocity=[3.0, 0.0, 1.0],
        contacts=[
            Contact("1-2", normal=[-1.0, 1.0, 0.0], restitution=1.0),
            Contact("2-3", normal=[0.0, -1.0, 1.0], restitution=1.0),
        ],
    )
    run = simulate(system, 0.01, Moreau(1e-3, theta=theta, impact=law))
    np.testing.assert_allclose(run.velocity[-1], [0.0, 1.0, 3.0], atol=1e-12)
    assert abs(run.ledger.impact[-1]) < 1e-12


def test_friction_at_an_impact_takes_its_share_of_the_normal_impulse() -> None:
    """An oblique drop: the tangential impulse is μ times the normal one while sliding goes on."""
    mu, e = 0.2, 0.6
    system = LinearSystem(
        [1.0, 1.0],
        position=[0.0, 0.1],
        velocity=[3.0, -2.0],
        contacts=[Contact("floor", normal=[0.0, 1.0], tangents=[1.0, 0.0], friction=mu, restitution=e)],
    )
    run = simulate(system, 0.1, Moreau(1e-3, impact=Newton()))
    np.testing.assert_allclose(run.velocity[-1], [3.0 - mu * (1 + e) * 2.0, e * 2.0], atol=1e-12)
    normal = (1 + e) * 2.0
    slip = 0.5 * (3.0 + run.velocity[-1, 0])
    assert run.ledger.friction[-1] == pytest.approx(mu * normal * slip, rel=1e-12)
    assert run.ledger.impact[-1] == pytest.approx(0.5 * (1 - e**2) * 4.0, rel=1e-12)


def test_a_moving_wall_throws_a_mass_by_newtons_law() -> None:
    m, w, e = 3.0, 0.4, 0.6
    wall = Contact("wall", normal=[1.0], gap=Ramp(0.05, -w), restitution=e)
    run = simulate(LinearSystem([m], contacts=[wall]), 0.3, Moreau(1e-3, impact=Newton()))
    assert run.velocity[-1, 0] == pytest.approx((1 + e) * w, rel=1e-12)
    assert run.ledger.loads[-1] == pytest.approx(m * (1 + e) * w**2, rel=1e-12)
    assert run.ledger.impact[-1] == pytest.approx(0.5 * m * (1 - e**2) * w**2, rel=1e-12)


def test_constraints_take_part_in_the_impact() -> None:
    """Two masses on a bar hit by one of them: the bar carries its share at once."""
    system = LinearSystem(
        [1.0, 2.0],
        position=[0.05, 0.05],
        velocity=[-1.0, -1.0],
        contacts=[Contact("floor", normal=[1.0, 0.0], restitution=0.5)],
        constraints=[Constraint("bar", direction=[1.0, -1.0])],
    )
    run = simulate(system, 0.1, Moreau(2e-3, impact=Newton()))
    np.testing.assert_allclose(run.velocity[-1], [0.5, 0.5], atol=1e-12)
    np.testing.assert_allclose(np.sum(run.impulse[:, 0, 0]), 4.5, atol=1e-12)
    assert run.ledger.impact[-1] == pytest.approx(0.5 * 3.0 * (1 - 0.25), rel=1e-12)


def test_the_constraint_impulse_of_the_impact_is_kept() -> None:
    """The bar pulls mass 2 from −1 to 0.5 m/s: 3 N s."""
    system = LinearSystem(
        [1.0, 2.0],
        position=[0.05, 0.05],
        velocity=[-1.0, -1.0],
        contacts=[Contact("floor", normal=[1.0, 0.0], restitution=0.5)],
        constraints=[Constraint("bar", direction=[1.0, -1.0])],
    )
    run = simulate(system, 0.1, Moreau(2e-3, impact=Newton()))
    assert run.samples.constraint_impulse.sum() == pytest.approx(-3.0, rel=1e-9)


def changing_mass(law) -> FunctionSystem:
    """A bead on a parabolic wire falls against a stop: M = 1 + x², so the mass changes during the step."""
    return FunctionSystem(
        [1.0],
        [0.0],
        mass=lambda q: np.array([[1.0 + q[0] ** 2]]),
        force=lambda t, q, v: np.array([-9.81 * q[0] - q[0] * v[0] ** 2]),
        potential=lambda q: 9.81 * q[0] ** 2 / 2,
        contacts=[Contact("stop", normal=[1.0], gap=-0.2, restitution=0.5)],
    )


def test_the_books_of_a_changing_mass_close_with_newtons_law_in_the_step() -> None:
    run = simulate(changing_mass(None), 1.0, Moreau(5e-3))
    assert len(run.impacts()) >= 1
    assert np.abs(run.ledger.residual).max() <= 1e-10 * run.ledger.scale


def test_the_books_of_a_changing_mass_close_with_a_law_before_the_step() -> None:
    run = simulate(changing_mass(Newton()), 1.0, Moreau(5e-3, impact=Newton()))
    assert np.abs(run.ledger.residual).max() <= 1e-10 * run.ledger.scale


def test_a_sparse_chain_is_hit_like_the_dense_row() -> None:
    """A chain of twelve masses has sparse directions: same result as the dense row for its first three."""
    n = 12
    unit = np.eye(n)
    system = LinearSystem(
        np.ones(n),
        position=[-0.05, 0.0, 0.0, *np.arange(10.0, 10.0 + n - 3)],
        velocity=unit[0],
        contacts=[
            Contact(f"c{i}", normal=unit[i + 1] - unit[i], tangents=unit[i], friction=0.0, restitution=0.5)
            for i in range(n - 1)
        ],
    )
    run = simulate(system, 0.1, Moreau(2e-3, impact=Sequential()))
    np.testing.assert_allclose(run.velocity[-1, :3], [0.203125, 0.234375, 0.5625], atol=1e-12)


def test_laws_are_named_in_the_settings() -> None:
    assert Moreau(1e-3).settings["impact"] == "newton"
    assert Moreau(1e-3, impact=Poisson()).settings["impact"].startswith("Poisson(")


def test_parameters_of_laws_are_in_the_settings() -> None:
    """Two runs with different limits are different runs: a store must not take one for the other."""
    assert (
        Moreau(1e-3, impact=Sequential(limit=3)).settings
        != Moreau(1e-3, impact=Sequential(limit=50)).settings
    )
