"""The rotating delaminated beam: Ritz matrices, contacts in the joint, and clattering under gravity."""

import numpy as np
import pytest

from klapper.mechanics import Contact, FrictionElement, Harmonic, InvalidModel
from klapper.schemes import Moreau
from klapper.simulation import simulate
from klapper.structures.delaminated_beam import DelaminatedBeam, DelaminatedModel

DRAG = (1.0, 2.0, 3.0, 4.0)  # unlike, so that no weight can be mistaken for another


def beam(**changes: float) -> DelaminatedBeam:
    data = {"length": 1.0, "delamination": 0.6, "height": 0.01, "width": 0.012, "depth": 0.0075}
    return DelaminatedBeam(**(data | changes), young=210e9, density=7500.0)


def example_5_14(modes: int) -> DelaminatedModel:
    """Waltersberger Ex. 5.14 with the delamination of 1.6 m that its results belong to."""
    shaft = DelaminatedBeam(3.0, 1.6, 0.045, 0.04, 0.8 * 0.045, 69e9, 2800.0)
    return shaft.model(modes, external_damping=1.0, material_damping=1e-5)


@pytest.fixture(scope="module")
def both() -> tuple[DelaminatedModel, DelaminatedModel]:
    made = [
        beam(centre=0.45).model(16, external_damping=DRAG, material_damping=1e-5, method=method)
        for method in ("semi-analytical", "fe")
    ]
    return made[0], made[1]


def signs(first: DelaminatedModel, second: DelaminatedModel) -> np.ndarray:
    places = np.linspace(0.0, 1.0, 21)
    seen = [
        np.concatenate([model.rows(part, places, axis) for part in (1, 2, 3, 4) for axis in (1, 2)])
        for model in (first, second)
    ]
    return np.sign((seen[0] * seen[1]).sum(axis=0))


def test_ritz_matrices_are_those_of_the_finite_elements(both) -> None:
    """Two ways that share nothing but the data: all matrices and loads of (5.115)–(5.129)."""
    exact, elements = both
    sign = signs(exact, elements)
    for name in (
        "mass",
        "stiffness",
        "internal_damping",
        "external_damping",
        "gyroscopic",
        "centrifugal",
        "circulatory",
    ):
        first, second = getattr(exact.rotor, name), getattr(elements.rotor, name)
        scale = np.abs(first).max()
        np.testing.assert_allclose(second * sign * sign[:, None], first, atol=1e-4 * scale, err_msg=name)
    for name in ("unbalance", "drag", "weight"):
        first, second = getattr(exact.rotor, name), getattr(elements.rotor, name)
        np.testing.assert_allclose((second.T * sign).T, first, atol=1e-4 * np.abs(first).max(), err_msg=name)


def test_ritz_matrices_are_exactly_symmetric_or_skew(both) -> None:
    """B27."""
    rotor = both[0].rotor
    for symmetric in (rotor.external_damping, rotor.centrifugal):
        np.testing.assert_array_equal(symmetric, symmetric.T)
    for skew in (rotor.gyroscopic, rotor.circulatory):
        np.testing.assert_array_equal(skew, -skew.T)
        assert np.abs(skew).max() > 0.1
    assert np.linalg.eigvalsh(rotor.external_damping)[0] > 0.0
    assert np.linalg.eigvalsh(rotor.centrifugal)[0] > 0.0
    assert np.linalg.eigvalsh(rotor.centrifugal)[-1] <= 1.0 + 1e-12  # the mass but for its lengthwise part
    np.testing.assert_allclose(np.diag(rotor.stiffness), (2 * np.pi * both[0].frequencies) ** 2)
    np.testing.assert_allclose(rotor.internal_damping, 1e-5 * rotor.stiffness)


def test_the_beam_is_balanced_as_a_whole() -> None:
    """ν₂ y₂ + ν₃ y₃ = 0: the unbalance does no work on displacements that both laminae share."""
    pieces = beam().segments
    assert sum(piece.line_mass * piece.offset for piece in pieces) == pytest.approx(0.0, abs=1e-12)
    middle = beam(depth=0.005).model(12)
    loaded = np.abs(middle.rotor.unbalance) > 1e-9 * np.abs(middle.rotor.unbalance).max()
    opening = np.abs(middle.gap_rows(np.linspace(0.1, 0.9, 9))).max(axis=0) > 1e-6
    assert set(np.flatnonzero(loaded)) <= set(np.flatnonzero(opening))


@pytest.mark.parametrize("method", ["semi-analytical", "fe"])
def test_weight_functions_give_the_gap_or_its_means(method: str) -> None:
    """∫ h_i = 1, (3.12): boxes give means, Dirac functions the gap itself, hats a mean weighted to the middle."""
    model = beam().model(12, method=method)
    points, weights = np.polynomial.legendre.leggauss(200)
    xi = 0.5 * (1 + points)
    diracs = model.contacts(3)
    np.testing.assert_allclose([c.normal for c in diracs], model.gap_rows([0.25, 0.5, 0.75]), atol=1e-12)
    boxes = model.contacts(1, weight="box")
    mean = 0.5 * weights @ model.gap_rows(xi)
    np.testing.assert_allclose(boxes[0].normal, mean, atol=1e-6 * np.abs(mean).max())
    hats = model.contacts(3, weight="hat")
    assert len(hats) == 3
    middle = 0.5 * weights @ (2 * (1 - np.abs(2 * xi - 1))[:, None] * model.gap_rows(xi))
    np.testing.assert_allclose(hats[1].normal, middle, atol=1e-4 * np.abs(middle).max())


@pytest.mark.parametrize("method", ["semi-analytical", "fe"])
def test_friction_patches_slide_by_the_mean_and_are_pressed_by_their_contacts(method: str) -> None:
    """Means of the sliding velocity, without the factor L₂ of (5.159), and limits from contacts that press on them."""
    model = beam(delamination=0.4).model(14, method=method)
    parts = model.contacts(4, weight="box", friction=0.3, patches=2)
    contacts, patches = parts[:4], parts[4:]
    assert all(isinstance(part, Contact) for part in contacts)
    assert all(isinstance(part, FrictionElement) for part in patches)
    points, weights = np.polynomial.legendre.leggauss(200)
    for i, patch in enumerate(patches):
        mean = 0.5 * np.tensordot(weights, model.slip_rows(0.25 * (1 + points) + 0.5 * i), axes=1)
        np.testing.assert_allclose(patch.tangents, mean, atol=1e-4 * np.abs(mean).max())
        assert patch.shares == pytest.approx({f"joint {2 * i + 1}": 0.3, f"joint {2 * i + 2}": 0.3})
    assert model.system(3.0, parts).contacts.tangential == 2


def test_touching_surfaces_do_not_slide_at_the_tips() -> None:
    """u₃₂ − u₃₃ = −(a/2) u₁' of the axes is what the slopes of the laminae make good."""
    model = beam().model(12)
    tips = model.slip_rows([0.0, 1.0])
    assert np.abs(tips).max() < 1e-12 * np.abs(model.slip_rows([0.5])).max()
    axes = model.slip_rows([0.0], slip="axis")[0, 1]
    np.testing.assert_allclose(axes, -0.5 * 0.01 * model.row(1, 1.0, 1, 1), atol=1e-12)
    with pytest.raises(InvalidModel, match="allowed are 'surface' and 'axis'"):
        model.slip_rows([0.5], slip="line")


def test_full_elements_sag_like_a_simply_supported_beam() -> None:
    """At rest the intact parts of a short delamination sag like a simply supported beam, 5 ν g L⁴/(384 E I)."""
    model = beam(delamination=0.02, width=0.01).model(None, method="fe")
    structure = model.rotor.structure(0.0)
    sag = model.row(2, 0.5, 1) @ structure.deflection()
    closed = -5 * 7500.0 * 1e-4 * 9.81 / (384 * 210e9 * 1e-8 / 12)
    assert sag == pytest.approx(closed, rel=1e-4)


def test_at_rest_the_load_is_that_of_the_row_and_nothing_gyroscopic_acts() -> None:
    """Waltersberger Ex. 5.10: 10 N in the middle of beam 1; the load is that of the row."""
    model = beam(width=0.02).model(11, plane="1-3", external_damping=0.5)
    push = model.row(1, 0.5, 1)
    system = model.system(0.0, gravity=(0.0, 0.0), force=Harmonic(10.0, 2 * np.pi * 22.8), row=push)
    np.testing.assert_allclose(system.load.value(0.0), 10.0 * push)
    assert system.gyroscopic is None
    assert system.circulatory is None


@pytest.fixture(scope="module")
def clatter() -> dict[int, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Middle gap and end of beam 1 in the last 2.5 s of 40 s at 5.2 Hz, and the smallest of all gaps, by modes."""
    found = {}
    for modes in (6, 16):
        model = example_5_14(modes)
        run = simulate(model.system(5.2, model.contacts(39)), 40.0, Moreau(2e-4), every=5)
        late = run.position[run.time > 37.5]
        gaps = late @ model.gap_rows(np.arange(1, 40) / 40).T
        found[modes] = (gaps[:, 19], late @ model.row(1, 1.0, 1), gaps.min(axis=1))
    return found


def test_gravity_makes_the_rotor_clatter(clatter) -> None:
    """Ex. 5.14 at its resonance: the gap opens by 12.15 mm and closes, the end of beam 1 moves by 10.16 mm."""
    gap, end, lowest = clatter[16]
    assert gap.max() == pytest.approx(12.15e-3, rel=0.01)
    assert abs(gap.min()) < 2e-4
    assert np.abs(end).max() == pytest.approx(10.16e-3, rel=0.01)
    assert 0.25 < np.mean(lowest < 1e-5) < 0.6


def test_six_modes_do_not_close_the_middle(clatter) -> None:
    """Ex. 5.14, Fig. 5.49: contact exists elsewhere, the middle stays open by 0.15 mm."""
    gap, _, lowest = clatter[6]
    assert gap.max() == pytest.approx(11.76e-3, rel=0.01)
    assert gap.min() == pytest.approx(0.15e-3, abs=0.03e-3)
    assert lowest.min() < 1e-5


def test_one_call_gives_the_system_of_model_and_contacts() -> None:
    system = beam().system(5.0, external_damping=1.0, material_damping=1e-5, modes=8, contacts=5)
    model = beam().model(8, external_damping=1.0, material_damping=1e-5)
    other = model.system(5.0, model.contacts(5))
    assert system.contacts.count == 5
    q, v = np.random.default_rng(4).standard_normal((2, 8))
    np.testing.assert_allclose(system.force(0.3, q, v), other.force(0.3, q, v))
