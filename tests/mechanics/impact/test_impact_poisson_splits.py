"""Poisson's law where two contacts in one place share the compression at will: does the split change the motion?"""

import numpy as np
import pytest

from klapper.mechanics.impact import ImpactProblem, Poisson


def between(mass, speed, restitution, *, ceiling: bool) -> ImpactProblem:
    """A bar, moved by height and rotation, that falls on two pairs of pads; with a ceiling it touches that, too."""
    pads = np.array([[1.0, 1.0, 1.0, 1.0], [-0.7, -0.7, 0.9, 0.9]])
    normal = np.hstack([pads, -pads[:, ::2]]) if ceiling else pads
    return ImpactProblem(
        [mass, 0.13 * mass],
        [-speed, 0.0],
        normal,
        restitution=[*restitution, *restitution, 0.0, 0.0] if ceiling else [*restitution, *restitution],
    )


@pytest.mark.parametrize("seed", range(4))
def test_a_ceiling_takes_whatever_is_returned(seed: int) -> None:
    """Between pads and ceiling the bar stays at rest, whichever pad returns how much."""
    rng = np.random.default_rng(seed)
    mass, speed, *restitution = rng.uniform(0.1, 0.9, 4)
    result = Poisson().resolve(between(mass, speed, restitution, ceiling=True))
    assert result.after == pytest.approx([0.0, 0.0], abs=1e-12)
    found = result.determinacy()
    assert (found.motion, found.forces) == ("undecided", "not unique")


@pytest.mark.parametrize("seed", range(4))
def test_without_it_pads_of_different_restitution_return_different_speeds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    mass, speed, *restitution = rng.uniform(0.1, 0.9, 4)
    found = Poisson().resolve(between(mass, speed, restitution, ceiling=False)).determinacy()
    assert (found.motion, found.forces) == ("not unique", "not unique")
