"""Eigenvalues, zero eigenvalues, verdicts and borders against closed forms and published numbers."""

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings, strategies as st

from klapper.analysis.linear_stability import Stability, critical_value, stability
from klapper.mechanics import InvalidModel


def ziegler(load: float, damping: float = 0.0) -> Stability:
    """Ziegler's double pendulum with masses 2 and 1, unit springs, bars and dampers, under a follower load."""
    return stability(
        [[3.0, 1.0], [1.0, 1.0]],
        damping * np.array([[2.0, -1.0], [-1.0, 1.0]]),
        [[2.0 - load, load - 1.0], [-1.0, 1.0]],
    )


def test_zieglers_pendulum_flutters_from_its_follower_load_on() -> None:
    assert critical_value(ziegler, 0.5, 3.0) == pytest.approx(3.5 - np.sqrt(2), abs=1e-10)
    assert ziegler(2.5).verdict == "flutter"


@pytest.mark.parametrize("damping", [1e-3, 0.1, 0.5])
def test_damping_lowers_the_follower_load(damping: float) -> None:
    border = critical_value(lambda load: ziegler(load, damping), 0.5, 3.0)
    assert border == pytest.approx(41 / 28 + damping**2 / 2, abs=1e-6)


@given(st.integers(0, 2**31), st.integers(1, 6), st.booleans())
@settings(max_examples=40)
def test_every_mode_satisfies_the_equation(seed: int, n: int, damped: bool) -> None:
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n, n)) + 2.0 * np.eye(n)
    mass, stiffness = root @ root.T + np.eye(n), 100.0 * rng.normal(size=(n, n))
    damping = rng.normal(size=(n, n)) if damped else np.zeros((n, n))
    judged = stability(mass, damping, stiffness)
    assert len(judged.eigenvalues) == 2 * n
    for s, mode in zip(judged.eigenvalues, judged.modes.T, strict=True):
        terms = np.array([s**2 * mass @ mode, s * damping @ mode, stiffness @ mode])
        assert np.abs(terms.sum(axis=0)).max() <= 1e-9 * np.abs(terms).max()
    assert np.sum(judged.eigenvalues) == pytest.approx(-np.trace(np.linalg.solve(mass, damping)), abs=1e-6)


def test_symmetric_structures_have_no_real_parts() -> None:
    rng = np.random.default_rng(3)
    root = rng.normal(size=(5, 5))
    mass, stiffness = np.diag(rng.uniform(1, 2, 5)), root @ root.T + np.eye(5)
    judged = stability(mass, None, stiffness)
    frequencies = np.sqrt(scipy.linalg.eigh(stiffness, mass, eigvals_only=True))
    assert np.sort(judged.eigenvalues.imag[judged.eigenvalues.imag > 0]) == pytest.approx(
        frequencies, rel=1e-10
    )
    assert not judged.eigenvalues.real.any()
    assert judged.stable
    assert not judged.decays


@pytest.mark.parametrize(("ground", "zeros"), [(0.0, 2), (3.0, 1)])
def test_a_chain_that_nothing_holds_has_one_free_motion(ground: float, zeros: int) -> None:
    """In coordinates that mix all masses, so that no zero stands in the matrices."""
    n = 4
    chain = 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    chain[0, 0] = chain[-1, -1] = 1.0
    mixed, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(n, n)))
    mass, stiffness = mixed.T @ np.diag([1.0, 2.0, 3.0, 4.0]) @ mixed, 1e4 * mixed.T @ chain @ mixed
    damping = 0.1 * mixed.T @ chain @ mixed + ground * np.outer(mixed[0], mixed[0])
    judged = stability(mass, damping, stiffness)
    assert (judged.zeros, judged.free_motions) == (zeros, 1)
    assert judged.decays
    if ground:
        assert judged.growth == pytest.approx(-ground / 10.0, rel=1e-2)


def test_eigenvalues_do_not_depend_on_units() -> None:
    rng = np.random.default_rng(5)
    mass, damping, stiffness = np.eye(3), rng.normal(size=(3, 3)), rng.normal(size=(3, 3))
    units = np.diag([1.0, 1e-4, 1e5])
    first = stability(mass, damping, stiffness).eigenvalues
    second = stability(units @ mass @ units, units @ damping @ units, units @ stiffness @ units).eigenvalues
    assert second == pytest.approx(first, abs=1e-9)


def test_negative_stiffness_is_divergence_and_is_said_so() -> None:
    judged = stability([[2.0]], [[1.0]], [[-3.0]])
    assert judged.verdict == "divergence"
    assert judged.growth == pytest.approx(1.0, abs=1e-12)
    assert str(judged).startswith("Divergence: disturbances grow with 1 1/s.")


def test_a_system_of_free_motions_only_is_stable() -> None:
    judged = stability(np.eye(2), None, None)
    assert (judged.zeros, judged.free_motions, judged.verdict) == (4, 2, "stable")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[1.0, 0.5], [0.0, 1.0]], None, None), "mass is not symmetric"),
        (([[1.0, 2.0], [2.0, 1.0]], None, None), "mass is not positive definite"),
        ((np.eye(2), np.eye(3), None), r"damping has shape \(3, 3\), expected \(2, 2\)"),
        ((np.eye(2), None, [[np.nan, 0.0], [0.0, 1.0]]), "stiffness has entries that are not finite"),
    ],
)
def test_wrong_matrices_are_refused_in_one_sentence(
    arguments: tuple[object, object, object], message: str
) -> None:
    with pytest.raises(InvalidModel, match=message):
        stability(*arguments)


def test_a_border_needs_two_verdicts() -> None:
    with pytest.raises(InvalidModel, match="stable at both ends"):
        critical_value(ziegler, 0.1, 0.5)
