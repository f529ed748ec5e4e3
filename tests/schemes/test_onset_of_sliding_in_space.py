"""Sliding begins along the force, and turns with it at once: friction follows the velocity from its first moment on."""

import numpy as np
import pytest

from klapper.mechanics import Contact, LinearSystem
from klapper.schemes import EventDriven
from klapper.simulation import simulate

G, MU, GROWTH = 10.0, 0.3, 4.0  # m/s², 1, m/s³
BEGIN, TAU = 0.5, 0.02  # s, onset and duration of sliding


def force(t):
    """[N] that moves 1 kg on a rough floor with the speed ½ b τ² in the direction τ · 1 rad/s, from τ = 0 on."""
    after, before = max(t - BEGIN, 0.0), min(t - BEGIN, 0.0)
    along = np.array([np.cos(after), np.sin(after)])
    across = np.array([-along[1], along[0]])
    push = (MU * G * (1.0 + before) + GROWTH * after) * along + 0.5 * GROWTH * after**2 * across
    return np.array([*push, -G])


def test_a_mass_that_begins_to_slide_under_a_turning_force_moves_as_the_force_was_made_for():
    floor = Contact("floor", normal=[0, 0, 1.0], tangents=[[1.0, 0, 0], [0, 1.0, 0]], friction=MU)
    run = simulate(LinearSystem([1.0, 1.0, 1.0], force=force, contacts=[floor]), BEGIN + TAU, EventDriven())
    turned = np.exp(1j * TAU)
    speed = 0.5 * GROWTH * TAU**2 * turned
    way = 0.5 * GROWTH * (turned * (-1j * TAU**2 + 2.0 * TAU + 2j) - 2j)  # its integral
    assert run.velocity[-1] == pytest.approx([speed.real, speed.imag, 0.0], abs=1e-9)
    assert run.position[-1] == pytest.approx([way.real, way.imag, 0.0], abs=1e-9)
