"""Nearest forces of a friction cone ‖(x, y)‖ ≤ n close to its tip: ½ (a + b)(1, 0, 1) for (a, 0, b), or the tip."""

import numpy as np
import pytest

from klapper.complementarity.selection.discs import Discs, sharpened
from klapper.complementarity.selection.face import Face

CONE = Discs(np.eye(2, 3)[None], np.zeros((1, 2)), np.array([[0.0, 0.0, 1.0]]), np.zeros(1))


def nearest(a: float, b: float) -> np.ndarray:
    """The projection on a cone of 45°, of (a, 0, b) with a > |b| or b < −a."""
    return max(0.5 * (a + b), 0.0) * np.array([1.0, 0.0, 1.0])


@pytest.mark.parametrize("height", [-1e-3, 1e-7, 5e-7, 2e-6, 1e-3])
def test_a_force_close_to_the_tip_is_found_to_round_off(height: float) -> None:
    """In units of the largest force, which is one."""
    start = np.array([0.0, 0.0, 1.0])
    face = Face(start, np.eye(3), np.zeros((0, 3)), np.zeros(0), CONE.moved(start, np.eye(3)))
    found = face.at(face.nearest(np.array([1.0, 0.0, 2.0 * height - 1.0]), np.ones(3)))
    assert found == pytest.approx(nearest(1.0, 2.0 * height - 1.0), abs=1e-14)


@pytest.mark.parametrize(("height", "begin"), [(5e-7, 5e-7), (-1e-2, 5e-7), (0.3, 0.30001)])
def test_sharpening_goes_to_the_tip_only_if_the_tip_is_nearest(height: float, begin: float) -> None:
    target = np.array([1.0, 0.0, 2.0 * height - 1.0])
    nothing = (np.zeros((0, 3)), np.zeros(0))
    found = sharpened(
        np.eye(3),
        -target,
        *nothing,
        CONE,
        begin * np.array([1.0, 0.0, 1.0]),
        multipliers=np.zeros(0),
        by_disc=np.ones(1),
    )
    assert found == pytest.approx(nearest(1.0, 2.0 * height - 1.0), abs=1e-14)
