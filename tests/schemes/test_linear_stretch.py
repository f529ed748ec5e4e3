"""The compiled loop for linear systems: the same steps as the general path, to round-off."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import given, settings, strategies as st

from klapper.contact_states import IMPACT, OPEN, SLIP, STICK
from klapper.mechanics import (
    Anisotropic,
    Constraint,
    Contact,
    FrictionElement,
    FunctionOfTime,
    Harmonic,
    LinearSystem,
    Ramp,
    Stribeck,
)
from klapper.results import Run
from klapper.schemes import Moreau
from klapper.schemes.base import kinetic_energy
from klapper.schemes.form_stretch import FormStretch
from klapper.schemes.linear_stretch import LinearStretch, obstacle
from klapper.simulation import simulate


def random_system(seed: int, kind: str, *, walls: bool, band: str) -> LinearSystem:
    """A rattling system. ``kind``: smooth, planar, spatial, brakes, gyroscopic; ``band``: dense, banded, sparse."""
    rng = np.random.default_rng(seed)
    n = {"dense": 5, "banded": 12, "sparse": 30}[band]
    m = int(rng.integers(1, 5))

    def positive(size: float) -> Any:
        if band == "dense":
            a = rng.standard_normal((n, n))
            return size * (a @ a.T / n + np.eye(n))
        diagonal, beside = rng.uniform(1.0, 2.0, n), rng.uniform(-0.4, 0.4, n - 1)
        full = size * (np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1))
        if band == "sparse":  # far couplings: neither banded nor dense
            full[0, -1] = full[-1, 0] = 0.1 * size
            return sparse.csr_array(full)
        return full

    local = band != "dense" and rng.random() < 0.5  # directions of one or two coordinates, or of all

    def direction() -> np.ndarray:
        row = rng.standard_normal(n)
        return np.where(np.isin(np.arange(n), rng.integers(n, size=2)), row, 0.0) if local else row

    d = {"planar": 1, "spatial": 2}.get(kind, 0)
    contacts: list[Any] = []
    for i in range(m):
        more: dict[str, Any] = {"restitution": float(rng.choice([0.0, rng.uniform(0, 1)]))}
        if d:
            more["tangents"] = np.array([direction() for _ in range(d)])
            more["friction"] = rng.uniform(0.0, 1.2)
            if d == 2 and rng.random() < 0.4:
                more["friction"] = Anisotropic(rng.uniform(0.1, 0.5), rng.uniform(0.1, 0.5))
            if rng.random() < 0.3:
                more["tangential_rate"] = Harmonic(rng.standard_normal(d), 3.0)
        gap: Any = 0.1
        if walls:
            gap = [
                Ramp(0.1, -0.05),
                Harmonic(0.05, 6.0) + 0.1,
                FunctionOfTime(lambda t: 0.1 + 0.02 * np.sin(9 * t)),
            ][int(rng.integers(3))]
        contacts.append(Contact(f"c{i}", normal=direction(), gap=gap, **more))
    if kind == "brakes":
        for i in range(2):
            contacts.append(
                FrictionElement(
                    f"f{i}", tangents=[direction(), direction()][: 1 + i], limit=rng.uniform(0.5, 3.0)
                )
            )
    skew = None
    if kind == "gyroscopic":
        a = rng.standard_normal((n, n))
        skew = a - a.T
    pressed = -8.0 * sum(contact.normal for contact in contacts[:m])
    forced = Harmonic(15 * rng.standard_normal(n), 5.0) + pressed
    return LinearSystem(
        positive(1.0),
        stiffness=positive(60.0),
        damping=positive(0.3),
        gyroscopic=skew,
        circulatory=None if skew is None else 0.5 * skew,
        force=forced if rng.random() < 0.7 else pressed,
        velocity=rng.standard_normal(n),
        contacts=contacts,
    )


def both(system: LinearSystem, until: float, h: float, theta: float, every: int = 1) -> tuple[Run, Run]:
    compiled = simulate(system, until, Moreau(h, theta=theta), every=every)
    general = simulate(system, until, Moreau(h, theta=theta, compiled=False), every=every)
    assert (compiled.about["audit"]["path"], general.about["audit"]["path"]) == ("compiled", "general")
    return compiled, general


def assert_same(one: Run, other: Run, tolerance: float = 1e-9) -> None:
    """Motion, impulses, states and books; contact problems are solved to 1e-13, errors grow a little in rattling."""
    np.testing.assert_array_equal(one.samples.step, other.samples.step)
    np.testing.assert_array_equal(one.time, other.time)
    for name in ("position", "velocity", "gap"):
        a, b = getattr(one, name), getattr(other, name)
        np.testing.assert_allclose(
            a, b, atol=tolerance * (1.0 + np.nanmax(np.abs(a), initial=0.0)), err_msg=name
        )
    scale = np.abs(one.impulse).max(initial=0.0)
    np.testing.assert_allclose(one.impulse, other.impulse, atol=tolerance * (1e-3 + scale))
    np.testing.assert_allclose(
        one.samples.energy, other.samples.energy, atol=10 * tolerance * (1.0 + one.ledger.scale)
    )


@settings(max_examples=50)
@given(
    st.integers(0, 10**6),
    st.sampled_from(["smooth", "planar", "spatial", "brakes", "gyroscopic"]),
    st.booleans(),
    st.sampled_from(["dense", "banded", "sparse"]),
    st.sampled_from([0.5, 1.0]),
)
def test_general_and_compiled_path_agree(seed: int, kind: str, walls: bool, band: str, theta: float) -> None:
    system = random_system(seed, kind, walls=walls, band=band)
    assert obstacle(system) == ""
    compiled, general = both(system, 0.2, 5e-3, theta)
    assert_same(compiled, general)
    size = np.abs(compiled.impulse).max(axis=2)
    loaded = (size == 0.0) & np.all(general.impulse == 0.0, axis=2) | (size > 1e-9 * size.max(initial=0.0))
    np.testing.assert_array_equal(compiled.state[loaded], general.state[loaded])
    assert np.abs(compiled.ledger.residual).max() <= 1e-10 * compiled.ledger.scale


@pytest.mark.parametrize("compiled", [True, False])
def test_a_separating_contact_is_open(compiled: bool) -> None:
    """No slipping where a contact opens and carries nothing that could be told from rounding."""
    system = random_system(126176, "spatial", walls=True, band="dense")
    run = simulate(system, 0.2, Moreau(5e-3, compiled=compiled))
    nothing = np.abs(run.impulse).max(axis=2) <= 1e-14 * np.abs(run.impulse).max()
    assert set(run.state[nothing].tolist()) == {OPEN}


@pytest.mark.parametrize("kind", ["smooth", "planar", "spatial", "brakes"])
def test_random_systems_do_touch_stick_and_slip(kind: str) -> None:
    """What the comparison above compares: all states occur."""
    found = set()
    for seed in range(12):
        run = simulate(random_system(seed, kind, walls=bool(seed % 2), band="dense"), 0.6, Moreau(5e-3))
        found |= set(run.state.ravel().tolist())
    assert found >= ({OPEN, SLIP, IMPACT} if kind == "smooth" else {OPEN, STICK, SLIP, IMPACT})


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("kind", ["smooth", "planar"])
@pytest.mark.parametrize("every", [2, 7, 60, 1000])
def test_sampling_sums_impulses_and_impacts_win(every: int, kind: str, compiled: bool) -> None:
    """Saving every k-th step: same motion at these steps, impulses added up, an impact in between is not lost."""
    system = random_system(5, kind, walls=True, band="dense")
    scheme = Moreau(5e-3, compiled=compiled)
    fine, coarse = simulate(system, 0.6, scheme), simulate(system, 0.6, scheme, every=every)
    picked = np.append(np.arange(0, 120, every), 120) if 120 % every else np.arange(0, 121, every)
    np.testing.assert_array_equal(coarse.samples.step, picked)
    np.testing.assert_array_equal(coarse.position, fine.position[picked])
    np.testing.assert_array_equal(coarse.velocity, fine.velocity[picked])
    np.testing.assert_array_equal(coarse.samples.energy, fine.samples.energy[picked])
    for k in range(1, len(picked)):
        stretch = slice(picked[k - 1] + 1, picked[k] + 1)
        np.testing.assert_allclose(coarse.impulse[k], fine.impulse[stretch].sum(axis=0), atol=1e-13)
        states = fine.state[stretch]
        hit = np.any(states == IMPACT, axis=0)
        np.testing.assert_array_equal(coarse.state[k], np.where(hit, IMPACT, states[-1]))
        assert coarse.samples.residual[k] == fine.samples.residual[stretch].max()


@pytest.mark.parametrize("kind", ["smooth", "planar", "spatial", "brakes", "gyroscopic"])
@pytest.mark.parametrize("pieces", [(60, 60), (1, 119), (7, 50, 63), (1,) * 120])
def test_chunk_boundaries_do_not_matter(kind: str, pieces: tuple[int, ...]) -> None:
    """The loop called for 120 steps at once or in pieces: the same samples."""
    system = random_system(11, kind, walls=True, band="dense")
    scheme = Moreau(5e-3)
    stretch = LinearStretch(system, 5e-3, 0.5, 1e-9)
    snapshot = scheme.init(system)
    at_once, samples, why = stretch.run(snapshot, 120, 1)
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
    assert (snapshot.step, snapshot.time) == (at_once.step, at_once.time)
    np.testing.assert_array_equal(snapshot.contact, at_once.contact)


def test_stretch_leaves_its_snapshot_alone() -> None:
    system = random_system(3, "planar", walls=True, band="dense")
    stretch, snapshot = LinearStretch(system, 5e-3, 0.5, 1e-9), Moreau(5e-3).init(system)
    kept = (snapshot.position.copy(), snapshot.velocity.copy(), snapshot.sums.copy())
    first = stretch.run(snapshot, 50, 1)
    second = stretch.run(snapshot, 50, 1)
    for before, after in zip(kept, (snapshot.position, snapshot.velocity, snapshot.sums), strict=True):
        np.testing.assert_array_equal(before, after)
    np.testing.assert_array_equal(first[1]["position"], second[1]["position"])


def test_samples_have_the_energies_of_their_states() -> None:
    system = random_system(8, "smooth", walls=False, band="banded")
    run = simulate(system, 0.2, Moreau(5e-3))
    for k in (0, 10, 40):
        assert run.ledger.kinetic[k] == pytest.approx(
            kinetic_energy(system, run.position[k], run.velocity[k])
        )
        assert run.ledger.potential[k] == pytest.approx(system.potential(run.position[k]))


OBSTACLES = {
    "constraints": {"constraints": [Constraint("rod", direction=[1.0, 0.0])]},
    "sliding speed": {
        "contacts": [Contact("c", normal=[0, 1.0], tangents=[1.0, 0], friction=Stribeck(0.3, 0.2, 0.1))]
    },
    "several contacts": {
        "contacts": [
            Contact("c", normal=[0, 1.0]),
            FrictionElement("f", tangents=[1.0, 0], shares={"c": 0.3}),
        ]
    },
    "unsymmetric": {
        "contacts": [Contact("c", normal=[0, 1.0], tangents=[1.0, 0], friction=0.3)],
        "gyroscopic": [[0.0, 1.0], [-1.0, 0.0]],
    },
}


@pytest.mark.parametrize("word", OBSTACLES)
def test_what_the_linear_loop_cannot_do_is_left_to_the_loop_of_all_forms(word: str) -> None:
    system = LinearSystem([1.0, 1.0], force=[0.0, -9.81], **OBSTACLES[word])
    assert word in obstacle(system)
    assert isinstance(Moreau(1e-3, theta=1.0).stretch(system), FormStretch)
    run = simulate(system, 0.02, Moreau(1e-3, theta=1.0, compiled="require"))
    assert run.about["audit"]["path"] == "compiled"


def test_a_contact_problem_that_the_compiled_loop_does_not_solve_is_left_to_the_general_path() -> None:
    """Two walls that close on a mass from both sides: no answer in either path, told with the run so far."""
    from klapper.simulation import SimulationFailed

    system = LinearSystem(
        [1.0],
        contacts=[
            Contact("left", normal=[1.0], gap=Ramp(0.01, -1.0)),
            Contact("right", normal=[-1.0], gap=Ramp(0.01, -1.0)),
        ],
    )
    with pytest.raises(SimulationFailed) as caught:
        simulate(system, 0.1, Moreau(1e-3))
    run = caught.value.run
    assert run.about["audit"]["path"] == "compiled"
    assert run.about["status"] == "failed"
    assert 0.009 < run.time[-1] < 0.013
    assert "left" in str(caught.value) or "right" in str(caught.value)


def test_redundant_contacts_give_the_same_motion() -> None:
    """Every contact twice: forces are not unique, the motion is, and both paths find it."""
    rng = np.random.default_rng(9)
    rows = rng.standard_normal((2, 4))
    plain = [Contact(f"c{i}", normal=row, gap=0.05) for i, row in enumerate(rows)]
    twice = [*plain, *(Contact(f"d{i}", normal=row, gap=0.05) for i, row in enumerate(rows))]
    common = {
        "stiffness": np.full(4, 80.0),
        "velocity": rng.standard_normal(4),
        "force": Harmonic(10 * np.ones(4), 6.0),
    }
    single = simulate(LinearSystem(np.ones(4), contacts=plain, **common), 0.5, Moreau(5e-3))
    double, general = both(LinearSystem(np.ones(4), contacts=twice, **common), 0.5, 5e-3, 0.5)
    np.testing.assert_allclose(double.position, single.position, atol=1e-10)
    np.testing.assert_allclose(general.position, single.position, atol=1e-10)
    joined = double.impulse[:, :2, 0] + double.impulse[:, 2:, 0]
    np.testing.assert_allclose(joined, single.impulse[:, :, 0], atol=1e-10)


def test_forces_of_twin_contacts_are_not_unique() -> None:
    """A mass on two equal supports: any share of the weight is a solution."""
    system = LinearSystem(
        [1.0], force=[-9.81], contacts=[Contact("one", normal=[1.0]), Contact("other", normal=[1.0])]
    )
    for compiled in (True, False):
        run = simulate(system, 0.05, Moreau(5e-3, compiled=compiled))
        assert "not unique" in run.about["audit"]["forces at the end"]


def test_dense_normals_beside_sparse_tangents_give_the_motion_of_the_general_path() -> None:
    """Normals over all coordinates are stored dense, tangents of single coordinates sparse."""
    n = 12
    rng = np.random.default_rng(1)
    system = LinearSystem(
        np.ones(n),
        stiffness=np.full(n, 50.0),
        velocity=rng.standard_normal(n),
        contacts=[
            Contact(f"c{i}", normal=rng.standard_normal(n), gap=0.02, tangents=np.eye(n)[i], friction=0.3)
            for i in range(4)
        ],
    )
    compiled, general = both(system, 0.2, 5e-3, 0.5)
    assert_same(compiled, general)
