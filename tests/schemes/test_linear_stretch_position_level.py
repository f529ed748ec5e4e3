"""The compiled loop on position level, with and without contact compliance: the same steps as the general path."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from klapper.contact_states import IMPACT, OPEN, SLIP
from klapper.mechanics import Contact, FrictionElement, Harmonic, LinearSystem, Ramp
from klapper.results import Run
from klapper.schemes import Moreau
from klapper.schemes.linear_stretch import LinearStretch, obstacle
from klapper.simulation import simulate

H = 5e-3


def random_system(seed: int, kind: str, springs: str, *, walls: bool, narrow: bool) -> LinearSystem:
    """A rattling system without restitution.

    ``kind``     smooth, twins (every contact twice), rough, brakes, gyroscopic
    ``springs``  none, full (all contacts coupled), some (every second contact is rigid), singular (of rank one)
    """
    rng = np.random.default_rng(seed)
    n, m = (12, 4) if narrow else (5, 4)

    def positive(size: float) -> np.ndarray:
        if narrow:
            beside = rng.uniform(-0.4, 0.4, n - 1)
            return size * (np.diag(rng.uniform(1.0, 2.0, n)) + np.diag(beside, 1) + np.diag(beside, -1))
        a = rng.standard_normal((n, n))
        return size * (a @ a.T / n + np.eye(n))

    contacts: list[Any] = []
    for i in range(m):
        normal = contacts[-1].normal if kind == "twins" and i % 2 else rng.standard_normal(n)
        gap: Any = [Ramp(0.03, -0.05), Harmonic(0.02, 6.0) + 0.04][i // 2 % 2] if walls else 0.03
        more: dict[str, Any] = {}
        if kind == "rough":
            more = {"tangents": rng.standard_normal(n), "friction": rng.uniform(0.1, 0.8)}
        contacts.append(Contact(f"c{i}", normal=normal, gap=gap, **more))
    pressed = -10.0 * sum(contact.normal for contact in contacts)
    if kind == "brakes":
        contacts.append(FrictionElement("brake", tangents=rng.standard_normal(n), limit=2.0))
    factor = np.zeros((len(contacts), len(contacts)))
    factor[:m, : 1 if springs == "singular" else m] = rng.standard_normal(
        (m, 1 if springs == "singular" else m)
    )
    if springs == "some":
        factor = np.diag(np.arange(len(contacts)) % 2 * (np.arange(len(contacts)) < m)).astype(float)
    skew = rng.standard_normal((n, n))
    turning = kind == "gyroscopic"
    return LinearSystem(
        positive(1.0),
        stiffness=positive(60.0),
        damping=positive(0.3),
        gyroscopic=skew - skew.T if turning else None,
        circulatory=0.5 * (skew - skew.T) if turning else None,
        force=Harmonic(15 * rng.standard_normal(n), 5.0) + pressed,
        velocity=rng.standard_normal(n),
        contacts=contacts,
        compliance=None if springs == "none" else 1e-4 * factor @ factor.T,
    )


def both(system: LinearSystem, until: float, **options: Any) -> tuple[Run, Run]:
    runs = [
        simulate(system, until, Moreau(H, theta=1.0, level="position", compiled=compiled, **options))
        for compiled in (True, False)
    ]
    assert [run.about["audit"]["path"] for run in runs] == ["compiled", "general"]
    return runs[0], runs[1]


def spring_energy(system: LinearSystem, run: Run) -> np.ndarray:
    """½ λᵀ C λ (s,) [J] of every sample."""
    force = run.impulse[:, :, 0] / H
    return 0.5 * np.einsum("si,ij,sj->s", force, system.compliance, force)


@settings(max_examples=60)
@given(
    st.integers(0, 10**6),
    st.sampled_from(["smooth", "twins", "rough", "brakes", "gyroscopic"]),
    st.sampled_from(["none", "full", "some", "singular"]),
    st.booleans(),
    st.booleans(),
)
def test_general_and_compiled_path_agree(
    seed: int, kind: str, springs: str, walls: bool, narrow: bool
) -> None:
    """Motion, impulses, states and books, to round-off that grows a little in rattling; both books close."""
    system = random_system(seed, kind, springs, walls=walls, narrow=narrow)
    assert obstacle(system) == ""
    compiled, general = both(system, 0.2)
    for name in ("position", "velocity", "gap"):
        one, other = getattr(compiled, name), getattr(general, name)
        np.testing.assert_allclose(
            one, other, atol=1e-9 * (1 + np.nanmax(np.abs(one))), equal_nan=True, err_msg=name
        )
    scale = np.abs(compiled.impulse).max(initial=0.0)
    unique = kind != "twins" or springs == "full"
    if unique:
        np.testing.assert_allclose(compiled.impulse, general.impulse, atol=1e-8 * (1e-3 + scale))
        size = np.abs(general.impulse).max(axis=2)
        clear = (size == 0.0) & np.all(compiled.impulse == 0.0, axis=2) | (size > 1e-9 * scale)
        np.testing.assert_array_equal(compiled.state[clear], general.state[clear])
    for run in (compiled, general):
        assert np.abs(run.ledger.residual).max() <= 1e-10 * run.ledger.scale
    if unique or springs == "none":
        np.testing.assert_allclose(
            compiled.samples.energy, general.samples.energy, atol=1e-8 * (1 + general.ledger.scale)
        )


@pytest.mark.parametrize("springs", ["none", "full", "some", "singular"])
def test_the_law_holds_at_every_sample(springs: str) -> None:
    """0 ≤ λ ⟂ g + C λ ≥ 0; the springs' energy is in the books, and what they hold is no loss."""
    system = random_system(4, "smooth", springs, walls=False, narrow=False)
    run, _ = both(system, 0.6)
    force = run.impulse[1:, :, 0] / H
    slack = run.gap[1:] if springs == "none" else run.gap[1:] + force @ system.compliance
    assert force.min() >= 0.0
    assert slack.min() >= -1e-13
    assert np.abs(force * slack).max() <= 1e-11
    assert np.count_nonzero(force) > 50
    assert set(run.state.ravel().tolist()) >= {OPEN, SLIP, IMPACT}
    held = np.zeros(len(run.time)) if springs == "none" else spring_energy(system, run)
    own = np.array([system.potential(q) for q in run.position])
    np.testing.assert_allclose(run.ledger.potential, own + held, atol=1e-12 * run.ledger.scale)
    assert (held.max() > 0.0) == (springs != "none")
    if springs == "full":
        np.testing.assert_array_equal(run.ledger.impact, 0.0)
    elif springs == "none":
        assert run.ledger.impact[-1] > 0.0


@pytest.mark.parametrize("compiled", [True, False])
def test_a_layer_gives_back_what_it_takes(compiled: bool) -> None:
    """A thrown mass stays for half a vibration at 1/√(m C) on a layer; only the implicit step loses, in step with h."""
    mass, c, speed = 2.0, 1e-4, 1.5
    system = LinearSystem(
        [mass],
        position=[0.05],
        velocity=[-speed],
        contacts=[Contact("layer", normal=[1.0])],
        compliance=[[c]],
    )
    duration = np.pi * np.sqrt(mass * c)
    lost = []
    for h in (2e-4, 1e-4, 5e-5):
        run = simulate(system, 0.09, Moreau(h, theta=1.0, level="position", compiled=compiled))
        pressing = run.time[run.impulse[:, 0, 0] > 0.0]
        assert pressing[-1] - pressing[0] == pytest.approx(duration, abs=4 * h)
        np.testing.assert_array_equal(run.ledger.impact, 0.0)
        assert np.abs(run.ledger.residual).max() <= 1e-12
        lost.append(run.ledger.numerical[-1])
        assert run.ledger.kinetic[-1] + lost[-1] == pytest.approx(0.5 * mass * speed**2, rel=1e-12)
        deepest = np.argmin(run.gap[:, 0])
        assert run.ledger.potential[deepest] == pytest.approx(0.5 * run.gap[deepest, 0] ** 2 / c, rel=1e-9)
    assert lost[0] / lost[1] == pytest.approx(2.0, rel=0.1)
    assert lost[1] / lost[2] == pytest.approx(2.0, rel=0.1)


def test_adaptive_steps_know_how_long_the_last_one_was() -> None:
    """With λ = Λ/h of steps of different length the springs hold g²/(2 C), and the books close."""
    c = 1e-4
    system = LinearSystem(
        [1.0],
        force=[-9.81],
        position=[0.02],
        contacts=[Contact("layer", normal=[1.0])],
        compliance=[[c]],
    )
    run = simulate(system, 0.25, Moreau(5e-3, theta=1.0, level="position", accuracy=1e-6))
    steps = np.diff(run.time)
    assert steps.max() > 3 * steps.min()
    closed = run.gap[:, 0] < 0.0
    held = np.where(closed, run.gap[:, 0] ** 2 / (2 * c), 0.0)
    own = 9.81 * run.position[:, 0]
    np.testing.assert_allclose(run.ledger.potential - own, held, atol=1e-12)
    assert held.max() > 0.05
    assert np.abs(run.ledger.residual).max() <= 1e-12


def test_a_contact_that_carries_nothing_leaves_the_one_that_is_hit_alone() -> None:
    """The first mass rests without load where it was stopped, uncoupled, when the second one arrives."""
    system = LinearSystem(
        [1.0, 1.0],
        velocity=[-1.0, -1.0],
        position=[0.01, 0.05],
        contacts=[Contact("first", normal=[1.0, 0.0]), Contact("second", normal=[0.0, 1.0])],
    )
    for level, theta in (("velocity", 0.5), ("position", 1.0)):
        run = simulate(system, 0.1, Moreau(1e-3, theta=theta, level=level))
        assert run.about["audit"]["path"] == "compiled"
        np.testing.assert_allclose(run.velocity[-1], 0.0, atol=1e-15)
        np.testing.assert_allclose(run.impulse[:, :, 0].sum(axis=0), 1.0, rtol=1e-12)


@pytest.mark.parametrize("springs", ["none", "full"])
@pytest.mark.parametrize("pieces", [(60, 60), (7, 50, 63), (1,) * 120])
def test_chunk_boundaries_do_not_matter(springs: str, pieces: tuple[int, ...]) -> None:
    """The loop called for 120 steps at once or in pieces: the same samples, the springs' energy carried on."""
    system = random_system(11, "smooth", springs, walls=True, narrow=False)
    stretch = LinearStretch(system, H, 1.0, 1e-9, "position")
    snapshot = Moreau(H, theta=1.0, level="position").init(system)
    _, samples, why = stretch.run(snapshot, 120, 1)
    assert why == ""
    parts = []
    for count in pieces:
        snapshot, part, why = stretch.run(snapshot, count, 1)
        assert why == ""
        parts.append(part)
    for name in ("position", "velocity", "impulse", "energy"):
        joined = np.concatenate([part[name] for part in parts])
        scale = 1.0 + np.abs(samples[name]).max()
        np.testing.assert_allclose(joined, samples[name], atol=1e-12 * scale, err_msg=name)
    np.testing.assert_array_equal(np.concatenate([part["state"] for part in parts]), samples["state"])


def test_of_many_contacts_on_few_coordinates_no_more_press_than_there_are_coordinates() -> None:
    """60 contacts on 4 coordinates: no penetration, the motion of the general path, and no more than 4 that press."""
    rng = np.random.default_rng(2)
    n, places = 4, np.linspace(0.0, 1.0, 60)
    normals = np.cos(np.pi * np.outer(places, np.arange(n)))
    system = LinearSystem(
        np.ones(n),
        stiffness=np.array([0.0, 100.0, 400.0, 900.0]),
        force=np.array([-10.0, 0.0, 0.0, 0.0]),
        velocity=0.2 * rng.standard_normal(n),
        contacts=[Contact(f"c{i}", normal=row, gap=0.02) for i, row in enumerate(normals)],
    )
    compiled, general = both(system, 1.0)
    np.testing.assert_allclose(compiled.position, general.position, atol=1e-10)
    assert compiled.gap.min() >= -1e-13
    assert np.count_nonzero(compiled.impulse[-1, :, 0]) <= n
