"""Built-in laws in one compiled pass: the same as laws that Python evaluates over arrays."""

import numpy as np
import pytest

from klapper.continuum import Continuum, MooneyRivlin, NeoHooke, SaintVenantKirchhoff, Solid, Torque, block
from klapper.continuum.elements import ELEMENTS, SOLIDS
from klapper.continuum.laws import coefficients
from klapper.continuum.pattern import Pattern


class OwnSaintVenantKirchhoff(SaintVenantKirchhoff):
    """A class of the user's: may have changed anything."""


class OwnNeoHooke(NeoHooke):
    """A class of the user's."""


class OwnMooneyRivlin(MooneyRivlin):
    """A class of the user's."""


PAIRS = [
    (SaintVenantKirchhoff(100.0, 0.3), OwnSaintVenantKirchhoff(100.0, 0.3)),
    (NeoHooke(100.0, 0.3), OwnNeoHooke(100.0, 0.3)),
    (MooneyRivlin(100.0, 0.3, share=0.2), OwnMooneyRivlin(100.0, 0.3, share=0.2)),
]
MESHES = [
    block((2.0, 1.0), (3, 2)),
    block((2.0, 1.0), (1, 1), element="tri3"),  # consecutive coordinates: also rows of three
    *(
        block(
            (2.0, 1.0, 0.5)[: ELEMENTS[name].dimension], (2, 1, 1)[: ELEMENTS[name].dimension], element=name
        )
        for name in SOLIDS
    ),
]


def some_places(mesh, seed: int) -> np.ndarray:
    return mesh.nodes + 0.05 * np.random.default_rng(seed).standard_normal(mesh.nodes.shape)


@pytest.mark.parametrize("mesh", MESHES, ids=lambda mesh: mesh.element.name)
@pytest.mark.parametrize(("law", "own"), PAIRS, ids=lambda law: type(law).__name__)
def test_compiled_and_general_path_agree_to_rounding(mesh, law, own) -> None:
    assert coefficients(own) is None
    fast, slow = (Solid("body", mesh, each, density=1.0, thickness=0.3) for each in (law, own))
    before, after = some_places(mesh, 1), some_places(mesh, 2)
    pattern = Pattern.of(before.size, [fast.places])
    assert fast.energy(after) == pytest.approx(slow.energy(after), rel=1e-13)
    asked = {
        "pull": lambda solid: solid.pull(after, stiffness=True),
        "between": lambda solid: solid.pull_between(before, after, stiffness=True),
        "mean": lambda solid: solid.pull_at_mean(before, after, stiffness=True),
    }
    for ask in asked.values():
        one, two = ask(fast), ask(slow)
        np.testing.assert_allclose(one.force, two.force, atol=1e-12 * np.abs(two.force).max())
        matrix, expected = (pattern.matrix([-0.5 * found.stiffness]) for found in (one, two))
        assert abs(matrix - expected).max() <= 1e-12 * abs(expected).max()


def test_configurations_are_those_of_the_call_even_if_changed_later() -> None:
    solid = Solid("body", MESHES[0], PAIRS[1][0], density=1.0)
    q = some_places(solid.mesh, 1)
    pattern, pull = Pattern.of(q.size, [solid.places]), solid.pull(q, stiffness=True)
    expected = pattern.matrix([solid.pull(q.copy(), stiffness=True).stiffness])
    q += 1.0 + q**2
    assert abs(pattern.matrix([pull.stiffness]) - expected).max() == 0.0


def test_many_cells_are_shared_by_threads_and_give_the_same_bits() -> None:
    """4900 cells go to all threads in turns; the same cells as two groups go one group after the other."""
    mesh = block((1.0, 1.0), (70, 70))
    solid = Solid("body", mesh, NeoHooke(100.0, 0.3), density=1.0)
    q = mesh.nodes + 1e-3 * np.random.default_rng(0).standard_normal(mesh.nodes.shape)
    pattern = Pattern.of(q.size, [solid.places])
    first, again = (pattern.matrix([solid.pull(q, stiffness=True).stiffness]) for _ in range(2))
    assert np.array_equal(first.data, again.data)
    halves = [mesh.cells[:2000], mesh.cells[2000:]]
    parts = [
        Solid("part", type(mesh)(mesh.nodes[np.unique(c)], np.searchsorted(np.unique(c), c), mesh.element),
              NeoHooke(100.0, 0.3), density=1.0)
        for c in halves
    ]  # fmt: skip
    places = [(c[:, :, None] * 2 + np.arange(2)).reshape(len(c), -1) for c in halves]
    split = Pattern.of(q.size, places)
    pulls = [part.pull(q[np.unique(c)], stiffness=True) for part, c in zip(parts, halves, strict=True)]
    expected = split.matrix([pull.stiffness for pull in pulls])
    assert abs(first - expected).max() <= 1e-14 * abs(expected).max()


def test_a_load_on_some_coordinates_of_its_nodes_shares_the_pattern() -> None:
    """A torque about the third axis couples first and second coordinates only."""
    solid = Solid("body", MESHES[3], NeoHooke(100.0, 0.3), density=1.0)
    mesh = solid.mesh
    top = mesh.with_surface("end", lambda x: x[:, 0] > 2.0 - 1e-9)
    turned = Continuum([Solid("body", top, solid.law, density=1.0)], loads=[Torque("body", "end", 2.0)])
    plain = Continuum([solid])
    q = some_places(mesh, 3).ravel()
    assert abs(turned.stiffness(q) - plain.stiffness(q)).max() <= 1e-13 * abs(plain.stiffness(q)).max()
    along, h = np.random.default_rng(4).standard_normal(q.size), 1e-5
    slope = turned.tangents(0.0, q, 0.0 * q).position @ along
    ahead, behind = (turned.force(0.0, q + s * h * along, 0.0 * q) for s in (1, -1))
    np.testing.assert_allclose(slope, (ahead - behind) / (2 * h), rtol=1e-5, atol=1e-5)
