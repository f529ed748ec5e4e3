"""A scheme keeps nothing of what it has stepped: caches belong to the run."""

import copy
import gc
import pickle
import weakref
from typing import Any

import numpy as np
import pytest
from tests.schemes.test_every_scheme import every_scheme, made, oscillator

from klapper.bodies import FootedBlock, rigid_block
from klapper.continuum import Continuum, NeoHooke, Solid, block
from klapper.schemes import Moreau, NestedProx, Work
from klapper.simulation import simulate


def world() -> Continuum:
    """A soft block of 12 × 12 cells at rest: a sparse system."""
    solid = Solid("block", block((1.0, 1.0), (12, 12)), NeoHooke(1e5, 0.3), density=1000.0)
    return Continuum([solid])


def require_unchanged(scheme: Any, make: Any, until: float) -> None:
    system, before = make(), dict(vars(scheme))
    simulate(system, until, scheme, progress=False)
    assert vars(scheme) == before
    assert pickle.loads(pickle.dumps(scheme)) == scheme
    assert copy.deepcopy(scheme) == scheme
    seen = weakref.ref(system)
    del system
    gc.collect()
    assert seen() is None


@every_scheme
def test_a_run_leaves_the_scheme_as_it_was_and_nothing_holds_the_system(kind: str) -> None:
    require_unchanged(made(kind), oscillator, 0.1)


def test_sparse_factors_do_not_stay_in_the_scheme() -> None:
    require_unchanged(Moreau(1e-3), world, 3e-3)


def test_nested_prox_stays_as_it_was() -> None:
    scheme = NestedProx(1e-3, compiled=False)
    require_unchanged(scheme, lambda: rigid_block(FootedBlock(0.2, 0.1, 16.0, friction=(0.5, 0.5))), 3e-3)


@every_scheme
def test_a_step_with_work_of_its_own_gives_the_same_bits(kind: str) -> None:
    system, scheme, work = oscillator(), made(kind), Work()
    one = two = scheme.init(system)
    for _ in range(4):
        one, two = scheme.step(system, one, 1.0, work).after, scheme.step(system, two, 1.0).after
        for name in ("time", "position", "velocity", "sums", "memory"):
            np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
        if one.time >= 1.0:
            break


def test_factors_of_a_constant_matrix_serve_all_steps_of_a_run() -> None:
    run = simulate(oscillator(), 0.1, Moreau(1e-3, compiled=False))
    assert (run.statistics.steps, run.statistics.factorisations) == (100, 1)


def test_a_factor_is_made_anew_for_another_step_size() -> None:
    """Adaptive steps change the size: M̂ depends on it."""
    run = simulate(oscillator(), 0.5, Moreau(0.1, accuracy=1e-5, compiled=False))
    assert run.position[-1, 0] == pytest.approx(np.exp(-0.05) * np.cos(np.sqrt(3.99) * 0.5), abs=0.05)
    assert run.statistics.factorisations > 1
