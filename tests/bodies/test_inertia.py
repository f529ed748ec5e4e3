"""Moments of inertia are what quadrature gives."""

import numpy as np
import pytest

from klapper.bodies import inertia


@pytest.mark.parametrize(
    ("moment", "inside"),
    [
        (inertia.disc(2.0, 0.3), lambda x, y: x**2 + y**2 < 0.3**2),
        (inertia.rectangle(2.0, 0.5, 0.3), lambda x, y: (abs(x) < 0.25) & (abs(y) < 0.15)),
    ],
)
def test_moments_of_plane_bodies_are_those_of_quadrature(moment, inside):
    x, y = np.meshgrid(*[np.linspace(-0.4, 0.4, 1601)] * 2)
    part = inside(x, y)
    assert moment == pytest.approx(2.0 * np.mean((x**2 + y**2)[part]), rel=3e-3)


@pytest.mark.parametrize(
    ("moments", "inside"),
    [
        (inertia.sphere(2.0, 0.3), lambda x, y, z: x**2 + y**2 + z**2 < 0.3**2),
        (inertia.box(2.0, 0.2, 0.4, 0.6), lambda x, y, z: (abs(x) < 0.1) & (abs(y) < 0.2) & (abs(z) < 0.3)),
        (inertia.cylinder(2.0, 0.2, 0.6), lambda x, y, z: (x**2 + y**2 < 0.04) & (abs(z) < 0.3)),
    ],
)
def test_moments_of_spatial_bodies_are_those_of_quadrature(moments, inside):
    x, y, z = np.meshgrid(*[np.linspace(-0.35, 0.35, 141)[:-1] + 0.0025] * 3)
    part = inside(x, y, z)
    found = [2.0 * np.mean((a**2 + b**2)[part]) for a, b in ((y, z), (x, z), (x, y))]
    np.testing.assert_allclose(moments, found, rtol=1e-2)


def test_a_rod_is_a_thin_rectangle_and_a_ring_has_twice_the_inertia_of_a_disc():
    assert inertia.rod(3.0, 0.4) == pytest.approx(inertia.rectangle(3.0, 0.4, 0.0))
    assert inertia.ring(3.0, 0.4) == pytest.approx(2.0 * inertia.disc(3.0, 0.4))
