"""More harmonics are never worse than fewer: what has a balance of few harmonics has one of many."""

from collections.abc import Iterable

import numpy as np
import pytest

from klapper.analysis import harmonic_response
from klapper.mechanics import Contact, FrictionElement, Harmonic, LinearSystem


def chain(draw: np.random.Generator) -> tuple[LinearSystem, float]:
    """Three masses in a row with stops and a pad, and a frequency [Hz] below their highest resonance."""
    springs = draw.uniform(0.5, 2.0, 3)
    stiffness = (
        np.diag(springs + np.append(springs[1:], 0.0)) - np.diag(springs[1:], 1) - np.diag(springs[1:], -1)
    )
    sides = draw.choice([-1.0, 1.0], 2)
    gaps = draw.uniform(0.2, 1.2, 2)
    contacts = [
        Contact("one", normal=sides[0] * np.eye(3)[2], gap=gaps[0], restitution=1.0),
        Contact("two", normal=sides[1] * np.eye(3)[0], gap=gaps[1], restitution=1.0),
        FrictionElement("pad", tangents=[np.eye(3)[1]], limit=draw.uniform(0.05, 0.3)),
    ]
    system = LinearSystem(
        np.ones(3),
        stiffness=stiffness,
        damping=0.05 * stiffness + 0.02 * np.eye(3),
        force=Harmonic([0.0, 0.0, 1.0], 1.0),
        contacts=contacts,
    )
    return system, draw.uniform(0.3, 1.8) / (2.0 * np.pi)


def settled(seeds: Iterable[int], harmonics: tuple[int, ...]) -> None:
    for seed in seeds:
        system, hertz = chain(np.random.default_rng(seed))
        for h in harmonics:
            found = harmonic_response(system, hertz, harmonics=h)
            left = found.balance.residual(found.unknowns, found.omega)
            assert np.linalg.norm(left) < 1e-9 * np.linalg.norm(found.unknowns)
            assert found.residual.balance < 1e-12


def test_a_balance_of_many_harmonics_is_found_from_cold() -> None:
    settled((1, 5), (9, 25))


@pytest.mark.slow
def test_forty_chains_have_balances_of_up_to_sixty_harmonics() -> None:
    settled(range(40), (3, 9, 25, 60))
