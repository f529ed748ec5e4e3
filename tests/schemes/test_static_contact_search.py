"""States of rest with friction: the search finds them where they exist, and says why where they do not."""

import numpy as np
import pytest

from klapper.continuum import Continuum, Gravity, NeoHooke, Solid, block
from klapper.gallery.patch_test import Patch
from klapper.gallery.sliding_block import DENSITY, GRAVITY, NEAR, OnSlope
from klapper.schemes import QuasiStatic, StepFailed, quasi_static
from klapper.simulation import SimulationFailed, simulate

SLOPES = [("wall", 0.2, 38.0, (7, 2)), ("mortar", 0.2, 30.0, (6, 2))]  # found no rest before


def drawn(seed: int) -> tuple[str, float, float, tuple[int, int]]:
    chance = np.random.default_rng(seed)
    kind = str(chance.choice(["wall", "nts", "mortar-dual"]))
    cells = int(chance.integers(3, 9)), int(chance.integers(1, 4))
    return kind, float(chance.uniform(0.1, 0.6)), float(chance.uniform(10.0, 55.0)), cells


def rests(kind: str, mu: float, angle: float, cells: tuple[int, int]) -> None:
    """Loads up to 0.99 of what friction can bear have a state of rest: forces balance them and obey their laws."""
    model = OnSlope(kind, mu, np.radians(angle), 0.005, 0.2, 1e6, cells)
    down, out = model.pull
    pull = min(down, -NEAR * mu * out), out
    run = simulate(model.world(pull), 1.0, QuasiStatic(1.0))
    normal, along = run.force[-1].T
    weight, world = model.mass * GRAVITY, model.world(pull)
    mass = DENSITY * sum(body.volume_load().sum() for body in world.bodies)
    held = run.constraint_force[-1].reshape(-1, 2).sum(axis=0)  # the other mesh is fixed
    if kind == "wall":
        held = np.array([-abs(along.sum()), normal.sum()])
    np.testing.assert_allclose(held, -mass * np.array(pull), rtol=0.0, atol=1e-7 * weight)
    assert normal.min() >= -1e-9 * weight
    assert np.all(np.abs(along) <= mu * normal + 1e-9 * weight)


@pytest.mark.parametrize(("kind", "mu", "angle", "cells"), SLOPES + [drawn(seed) for seed in range(4)])
def test_what_friction_can_hold_is_found_at_rest(kind, mu, angle, cells) -> None:
    rests(kind, mu, angle, cells)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4, 60))
def test_what_friction_can_hold_is_found_at_rest_on_many_slopes(seed: int) -> None:
    rests(*drawn(seed))


@pytest.mark.slow
def test_a_corner_that_slides_off_the_end_of_a_surface_is_named() -> None:
    patch = Patch("nts", (5, 3), (8, 4), "quad4", "flat", "free", "dead", 1.0, 100.0)
    with pytest.raises(SimulationFailed, match="'up bottom 0' carried a force and has left the end"):
        simulate(patch.world, 1.0, QuasiStatic(1.0))


def test_what_stays_the_same_is_not_tried_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A state of rest whose loads last is not looked for again in parts of the step."""
    model = OnSlope("wall", 0.5, np.radians(20.0), 0.005, 0.2, 1e6, (2, 1))
    scheme, world = QuasiStatic(1.0), model.world(model.pull)
    rest = scheme.step(world, scheme.init(world)).after
    tried = []

    def refused(*given) -> None:
        tried.append(given)
        raise StepFailed("refused")

    monkeypatch.setattr(quasi_static._RestAtEnd, "done", refused)
    with pytest.raises(StepFailed, match="refused"):
        scheme.step(world, rest)
    assert len(tried) == 1
    with pytest.raises(StepFailed, match="refused"):
        scheme.step(world, scheme.init(world))
    assert len(tried) > 2  # out of balance at the beginning: let go bit by bit


def test_a_body_without_supports_is_told_to_need_one() -> None:
    body = Solid("body", block((1.0, 1.0), (1, 1)), NeoHooke(100.0, 0.3), density=1.0)
    with pytest.raises(SimulationFailed, match="support what can move freely"):
        simulate(Continuum([body], loads=[Gravity((0.0, -1.0))]), 1.0, QuasiStatic(1.0))
