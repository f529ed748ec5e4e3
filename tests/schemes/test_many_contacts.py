"""Many contacts in chains and side by side: a band in place of a Delassus matrix, with the same answer."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from tests.schemes.test_form_stretch import compare, compiled

from klapper.bodies import Planar, inertia
from klapper.mechanics.system import System
from klapper.schemes import Moreau

STEP = 2e-3


def chain(links: int, draw: np.random.Generator, friction: float = 0.3) -> System:
    """Hinged links over a floor, bent and thrown a little."""
    model = Planar(gravity=(0.0, -9.81))
    floor = model.wall("floor", normal=(0.0, 1.0), sliding=(draw.uniform(-0.5, 0.5), 0.0))
    place, before = np.array([0.0, 0.01]), None
    for i in range(links):
        angle = draw.uniform(-0.02, 0.03)
        half = 0.1 * np.array([np.cos(angle), np.sin(angle)])
        body = model.body(
            f"link {i}",
            mass=draw.uniform(0.3, 1.0),
            inertia=inertia.rod(0.5, 0.2),
            at=place + half,
            angle=angle,
        )
        if before is not None:
            model.hinge(before.point(0.1, 0.0), body.point(-0.1, 0.0), name=f"hinge {i}")
        model.contact(body.point(0.1, 0.0), floor, friction=friction, restitution=0.2, name=f"foot {i}")
        place, before = place + 2.0 * half, body
    return model.build(penetration=1.0)


def row(blocks: int, draw: np.random.Generator) -> System:
    """Blocks side by side on a belt, which do not touch each other."""
    model = Planar(gravity=(0.0, -9.81))
    belt = model.wall("belt", normal=(0.0, 1.0), sliding=(1.0, 0.0))
    for i in range(blocks):
        block = model.body(
            f"block {i}", mass=draw.uniform(0.5, 2.0), inertia=inertia.rectangle(1.0, 0.2, 0.1),
            at=(float(i), 0.05 + 0.01 * draw.random()), velocity=draw.normal(size=2), spin=draw.normal(),
        )  # fmt: skip
        model.contact(block.corners(0.2, 0.1), belt, friction=0.4, restitution=0.3)
    return model.build(penetration=1.0)


MODELS: dict[str, Callable[[np.random.Generator], System]] = {
    "rough chain": lambda draw: chain(24, draw),
    "smooth chain": lambda draw: chain(30, draw, friction=0.0),
    "row of blocks": lambda draw: row(10, draw),
}


@pytest.mark.parametrize("name", MODELS)
def test_many_contacts_move_as_the_general_code_says(name: str) -> None:
    steps, left = compare(MODELS[name](np.random.default_rng(5)), Moreau(STEP), 25)
    assert (steps, left) == (25, 0)


@pytest.mark.parametrize("build", [chain, row])
def test_the_band_does_not_widen_with_the_number_of_bodies(build: Callable[..., System]) -> None:
    """So that the cost of a step grows with their number and not faster."""
    loops = [compiled(build(count, np.random.default_rng(0)), Moreau(STEP)) for count in (20, 40, 80)]
    widths = [loop._narrow[1] for loop in loops]
    assert widths[0] > 0
    assert widths == [widths[0]] * 3


@pytest.mark.parametrize("seed", range(6))
def test_a_band_obeys_the_laws_of_contact(seed: int) -> None:
    """u = Jᵀ A J x + b of random banded masses with constraints, from a dense matrix by numpy, obeys Signorini and
    Coulomb."""
    from klapper.schemes.form_kernels.narrow import solve_narrow

    draw = np.random.default_rng(seed)
    n, k, p, d = 40, 20, 8, int(seed % 2)
    mass = np.diag(draw.uniform(1.0, 2.0, n)) + 0.2 * (np.eye(n, k=1) + np.eye(n, k=-1))
    rows = [c for c in range(k) for _ in range(1 + d)]
    jacobian = np.zeros((len(rows) + p, n))
    for r in range(len(rows) + p):
        at = 2 * rows[r] if r < len(rows) else 5 * (r - len(rows))
        jacobian[r, at : at + 2] = draw.normal(size=2)
    held = jacobian[len(rows) :]
    inverse = np.linalg.inv(mass)
    gram = held @ inverse @ held.T
    mobility = inverse - inverse @ held.T @ np.linalg.solve(gram, held @ inverse)
    delassus = jacobian[: len(rows)] @ mobility @ jacobian[: len(rows)].T
    free = jacobian[: len(rows)] @ mobility @ draw.normal(size=n)
    table = np.full((k, 3), -1)
    table[:, : 1 + d] = np.arange(len(rows)).reshape(k, 1 + d)
    mu = np.full(k, 0.2)
    entry = np.nonzero(mass)
    where = np.nonzero(jacobian)
    x, change = np.zeros(len(rows) + p), np.zeros(n)
    residual = solve_narrow(
        np.r_[free, np.zeros(p)], table, mu, np.zeros(k), np.zeros(k + 1, np.int64), np.zeros(0, np.int64), np.zeros(0),
        *(index.astype(np.int64) for index in entry), mass[entry], np.r_[0, np.cumsum(np.bincount(where[0]))],
        where[1].astype(np.int64), jacobian[where], np.arange(n), x, change,
    )  # fmt: skip
    assert residual < 1e-12
    np.testing.assert_allclose(change, mobility @ jacobian[: len(rows)].T @ x[: len(rows)], atol=1e-12)
    u = delassus @ x[: len(rows)] + free
    normal = table[:, 0]
    assert np.all(x[normal] >= 0.0)
    assert u[normal].min() > -1e-12
    assert np.abs(x[normal] * u[normal]).max() < 1e-12
    if d:
        slip, force = u[table[:, 1]], x[table[:, 1]]
        assert np.all(np.abs(force) <= mu * x[normal] + 1e-12)
        assert np.abs(mu * x[normal] * np.abs(slip) + force * slip).max() < 1e-12
