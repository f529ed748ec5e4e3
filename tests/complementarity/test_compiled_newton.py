"""Which contact problems Newton's method gives to its compiled kernel, and that both ways end in the same forces."""

import numpy as np
import pytest

from klapper.complementarity import FrictionalContact
from klapper.complementarity.kernels import alart_curnier as kernel
from klapper.complementarity.newton import COMPILED_SIZE, SemismoothNewton


@pytest.mark.parametrize(("beyond", "compiled"), [(0, True), (2, False)])
def test_small_dense_contact_problems_are_solved_by_the_kernel(monkeypatch, beyond, compiled) -> None:
    """Blocks side by side, each pressed by 1 and pushed aside by a force of its own: −min(push, μ)."""
    calls, original = [], kernel.alart_curnier
    monkeypatch.setattr(kernel, "alart_curnier", lambda *given: calls.append(1) or original(*given))
    push = np.linspace(0.0, 1.0, (COMPILED_SIZE + beyond) // 2)
    free = np.column_stack([np.full(len(push), -1.0), push]).ravel()
    problem = FrictionalContact(np.eye(len(free)), free, [0.5] * len(push), dimension=2)
    forces = SemismoothNewton().attempt(problem, None, 1e-9).x.reshape(-1, 2)
    assert bool(calls) == compiled
    assert forces[:, 0] == pytest.approx(np.ones(len(push)), abs=1e-7)
    assert forces[:, 1] == pytest.approx(-np.minimum(push, 0.5), abs=1e-7)
