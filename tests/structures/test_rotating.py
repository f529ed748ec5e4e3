"""A structure in a frame that turns with it, against the motion seen from the frame that stands still."""

import numpy as np
import pytest
import scipy.linalg

from klapper.mechanics import InvalidModel
from klapper.structures import Frame, Material, Member, Section
from klapper.structures.rotating import Rotor, rotating
from klapper.structures.structure import Structure

PAIRS = np.array(
    [[0, 2], [1, 3]]
)  # two masses with displacements in directions 1 and 2, and one along the axis
ALONG = np.array([1.0, 1.0, 0.0, 0.0, 0.0])


def positive(rng: np.random.Generator, size: int) -> np.ndarray:
    root = rng.standard_normal((size, size))
    return root @ root.T + size * np.eye(size)


def example(seed: int = 3) -> tuple[Structure, np.ndarray, np.ndarray]:
    """Elastic and internal damping forces unlike in both directions, inertia and external damping alike."""
    rng = np.random.default_rng(seed)
    mass, drag = positive(rng, 2), positive(rng, 2)
    whole = scipy.linalg.block_diag(mass, mass, 2.0)
    structure = Structure(whole, positive(rng, 5), damping=positive(rng, 5))
    return structure, scipy.linalg.block_diag(drag, drag, 0.5), np.append(rng.standard_normal(4), 0.0)


def turn(angle: float) -> np.ndarray:
    """From coordinates in the turning frame to those in the frame that stands still, T^AB, (5.74) corrected."""
    c, s = np.cos(angle), np.sin(angle)
    return scipy.linalg.block_diag(np.kron(np.array([[c, -s], [s, c]]), np.eye(2)), 1.0)


@pytest.mark.parametrize("time", [0.0, 0.37, 1.9])
def test_newtons_law_holds_in_the_frame_that_stands_still(time: float) -> None:
    """For any motion q(t): R[M q̈ − f] of the turning frame is M p̈ + D_a ṗ − M g + R(D_in q̇ + K q), p = R (q + e)."""
    structure, drag, away = example()
    speed, gravity = 0.8, np.array([-9.81, 2.5])
    rotor = rotating(structure, PAIRS, translation=ALONG, eccentricity=away, external_damping=drag)
    system = rotor.system(speed, gravity=gravity)
    omega = 2 * np.pi * speed
    q, v, a = np.random.default_rng(8).standard_normal((3, 5))
    turning = system.mass(q) @ a - system.force(time, q, v)

    step = 1e-4
    moments = time + step * np.arange(-3, 4)
    course = np.array(
        [turn(omega * t) @ (q + (t - time) * v + 0.5 * (t - time) ** 2 * a + away) for t in moments]
    )
    velocity = np.array([-1, 9, -45, 0, 45, -9, 1]) @ course / (60 * step)
    acceleration = np.array([2, -27, 270, -490, 270, -27, 2]) @ course / (180 * step**2)
    mass, stiffness, internal = (
        x.toarray() for x in (structure.mass, structure.stiffness, structure.damping)
    )
    weight = mass @ np.array([gravity[0], gravity[0], gravity[1], gravity[1], 0.0])
    inner = turn(omega * time) @ (internal @ v + stiffness @ q)
    standing = mass @ acceleration + drag @ velocity - weight + inner
    np.testing.assert_allclose(turn(omega * time) @ turning, standing, rtol=1e-6, atol=1e-5)


def test_gyroscopic_and_circulatory_matrices_are_skew_and_the_centrifugal_one_not_negative() -> None:
    structure, drag, away = example()
    rotor = rotating(structure, PAIRS, translation=ALONG, eccentricity=away, external_damping=drag)
    basis = np.random.default_rng(1).standard_normal((5, 3))
    for each in (rotor, rotor.projected(basis)):
        for skew in (each.gyroscopic, each.circulatory):
            assert abs(skew + skew.T).max() < 1e-12
        centrifugal = np.asarray(each.centrifugal.toarray() if each is rotor else each.centrifugal)
        assert np.linalg.eigvalsh(centrifugal)[0] > -1e-12
    assert isinstance(rotor.projected(basis), Rotor)
    assert not np.any(rotor.centrifugal.toarray()[4])


def test_a_projected_rotor_is_the_rotor_on_the_subspace() -> None:
    structure, drag, away = example()
    rotor = rotating(structure, PAIRS, translation=ALONG, eccentricity=away, external_damping=drag)
    basis = np.random.default_rng(1).standard_normal((5, 3))
    whole, part = rotor.system(1.3), rotor.projected(basis).system(1.3)
    y, v = np.random.default_rng(2).standard_normal((2, 3))
    expected = basis.T @ whole.force(0.2, basis @ y, basis @ v)
    np.testing.assert_allclose(part.force(0.2, y, v), expected, rtol=1e-12)


def test_gravity_turns_backward() -> None:
    """Seen from a rotor that turns from 1 to 2, gravity along −1 is along +2 after a quarter turn."""
    rotor = rotating(Structure(np.eye(2), np.eye(2)), [[0, 1]], translation=[1.0, 0.0])
    load = rotor.load(1.0)
    np.testing.assert_allclose(load.value(0.0), [-9.81, 0.0], atol=1e-12)
    np.testing.assert_allclose(load.value(0.25), [0.0, 9.81], atol=1e-12)
    assert rotor.load(0.0).constant
    assert rotor.load(1.0, (0.0, 0.0)).constant


def test_material_damping_is_proportional_to_the_elastic_stiffness() -> None:
    structure, drag, _ = example()
    rotor = rotating(structure, PAIRS, external_damping=drag).with_material_damping(1e-3)
    np.testing.assert_allclose(
        rotor.internal_damping.toarray(),
        structure.damping.toarray() + 1e-3 * structure.stiffness.toarray(),
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"pairs": [[0, 0]]}, "different numbers"),
        ({"pairs": [0, 2]}, r"shape \(2,\)"),
        ({"pairs": [[0, 7]]}, "from 0 to 4"),
        ({"translation": np.ones(3)}, "translation has shape"),
        ({"external_damping": np.diag([1.0, 1.0, 2.0, 1.0, 0.0])}, "differs between directions"),
        ({"external_damping": np.ones((2, 2))}, "external_damping has shape"),
    ],
)
def test_wrong_pairs_translations_and_matrices_are_refused(change: dict, words: str) -> None:
    structure, _, _ = example()
    with pytest.raises(InvalidModel, match=words):
        rotating(structure, **({"pairs": PAIRS} | change))


def test_a_rotor_does_not_rotate_twice() -> None:
    structure, _, _ = example()
    with pytest.raises(InvalidModel, match="rotate already"):
        rotating(rotating(structure, PAIRS).structure(2.0), PAIRS)


def test_a_frame_turns_as_a_simply_supported_shaft() -> None:
    """A shaft of the frame's beam elements, pinned: frequencies and sag of the simply supported beam in both planes."""
    section = Section.rectangle(height=0.01, width=0.02)
    shaft = Member(
        "A", "B", Material(210e9, 7500.0, 81e9), section, elements=8, theory="euler-bernoulli", up=(1, 0, 0)
    )
    free = Frame({"A": (0, 0, 0), "B": (0, 0, 1)}, {"shaft": shaft})
    places = np.linspace(0.0, 1.0, 33)
    across = [free.rows("shaft", places, axis) for axis in "xy"]
    names = np.array(free.coordinates)
    joints = [
        [f"{joint} {one}", f"{joint} {two}"] for joint in "AB" for one, two in (("x", "y"), ("rx", "ry"))
    ]
    inner = [np.flatnonzero(rows.any(axis=0) & np.char.startswith(names, "shaft")) for rows in across]
    pairs = [[int(np.flatnonzero(names == name)[0]) for name in pair] for pair in joints]
    unit = np.linalg.lstsq(across[0], np.ones(places.size), rcond=None)[0]
    rotor = rotating(free, [*pairs, *np.column_stack(inner).tolist()], translation=unit)
    held = ["A x", "A y", "A z", "A rz", "B x", "B y"]
    kept = np.flatnonzero(~np.isin(names, held))
    pinned = rotor.projected(np.eye(free.size)[:, kept])

    closed = 0.5 * np.pi * np.sqrt(210e9 * 0.01**2 / (12 * 7500.0))
    inverse = scipy.linalg.eigvalsh(pinned.centrifugal, pinned.stiffness)[::-1][:4]
    np.testing.assert_allclose(0.5 / np.pi / np.sqrt(inverse), closed * np.array([1, 2, 4, 8]), rtol=1e-3)
    for axis, gravity, second_moment in (
        (0, (-9.81, 0.0), 0.02 * 0.01**3),
        (1, (0.0, -9.81), 0.01 * 0.02**3),
    ):
        sag = across[axis][16, kept] @ np.linalg.solve(pinned.stiffness, pinned.gravity_load(gravity)[0])
        expected = -5 * 7500.0 * 0.0002 * 9.81 / (384 * 210e9 * second_moment / 12)
        assert sag == pytest.approx(expected, rel=1e-6)
