"""One step of Moreau's scheme by general code and by a compiled loop, compared to round-off."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from klapper.mechanics.system import System
from klapper.schemes.base import Snapshot

ROUND_OFF = 1e-9
"""Of the largest velocity: both paths solve contact problems to 1e-9 at least, and mostly to 1e-13."""

SOLVED = 1e-13
"""Residual of an answer that is one, but for round-off."""

LOST_DIGITS = 1e-14
"""Of the largest position: round-off of sums that both paths form in their own order."""


def agree(
    system: System, general: Snapshot, ended: Snapshot, samples: dict[str, Any], h: float, speed: float
) -> None:
    """Two answers of one step of length ``h`` [s] are one, in a motion of the given ``speed``."""
    energy = float(np.abs(system.mass(general.position).diagonal()).max(initial=0.0)) * speed**2
    reach = float(np.abs(general.position).max(initial=0.0))
    for name, bound in (
        ("velocity", ROUND_OFF * speed),
        ("position", ROUND_OFF * speed * h + LOST_DIGITS * reach),
        ("sums", 1e-8 * (energy + float(np.abs(general.sums).max()))),
    ):
        one, other = getattr(general, name), getattr(ended, name)
        np.testing.assert_allclose(
            other, one, rtol=0.0, atol=bound, err_msg=f"{name} after step {general.step}"
        )
    assert samples["time"][-1] == pytest.approx(general.time, abs=1e-12)
