"""Diagrams by simulation show the motions that shooting finds."""

import numpy as np
import pytest
from oscillators import driven_slider, impact_oscillator, single, van_der_pol

from klapper.analysis import PoincareSection, bifurcation_diagram, periodic_motion
from klapper.mechanics.errors import InvalidModel
from klapper.schemes import EventDriven


def lively(frequency):
    return impact_oscillator(frequency, restitution=0.5, damping=0.05).system()


def test_returns_are_the_start_of_the_periodic_motion():
    values = [1.5, 1.4]
    diagram = bifurcation_diagram(lively, values, settle=40, keep=3)
    for value, seen in zip(values, diagram.seen, strict=True):
        motion = periodic_motion(lively(value))
        expected = np.concatenate([motion.start.position, motion.start.velocity])
        assert seen.shape == (3, 2)
        np.testing.assert_allclose(seen, np.tile(expected, (3, 1)), atol=1e-8)
    parameters, places = diagram.scatter(0)
    np.testing.assert_array_equal(parameters, np.repeat(values, 3))
    assert places.shape == (6,)


def test_a_diagram_may_show_any_quantity_of_the_run():
    diagram = bifurcation_diagram(
        lively, [1.5], settle=40, keep=3, quantity=lambda run: run.impacts().impulse[:, 0] / 1.5
    )
    known = single(impact_oscillator(1.5, restitution=0.5, damping=0.05))
    np.testing.assert_allclose(diagram.seen[0], known.u, rtol=1e-8)


def test_up_and_down_show_hysteresis():
    # between grazing and fold both a motion with and one without impacts attract
    def family(frequency):
        return impact_oscillator(frequency, damping=0.1).system()

    counts = []
    for values in ([1.9, 1.8, 1.75], [1.65, 1.7, 1.75]):
        start = periodic_motion(family(values[0])).start
        diagram = bifurcation_diagram(
            family, values, settle=20, keep=4, start=start, quantity=lambda run: run.impacts().time
        )
        counts.append(len(diagram.seen[-1]))
    assert counts == [0, 4]


def test_without_forcing_a_diagram_shows_the_returns_to_a_section():
    diagram = bifurcation_diagram(
        lambda _: van_der_pol(),
        [0.0],
        settle=2,
        keep=2,
        period=6.66,
        section=PoincareSection.turning(0, rising=False),
        scheme=EventDriven(1e-10, sample=0.02),
    )
    np.testing.assert_allclose(diagram.seen[0][:, 0], 2.00861986087484, atol=1e-6)  # amplitude, published


def test_interrupted_diagrams_keep_what_there_is():
    def stops(frequency):
        if frequency < 1.45:
            raise KeyboardInterrupt
        return lively(frequency)

    diagram = bifurcation_diagram(stops, [1.5, 1.4], settle=1, keep=1)
    assert len(diagram.seen) == 1
    np.testing.assert_array_equal(diagram.values, [1.5])


def test_a_diagram_needs_values_returns_to_keep_a_period_and_a_scheme():
    with pytest.raises(InvalidModel, match="values has shape"):
        bifurcation_diagram(lively, 1.0)
    with pytest.raises(InvalidModel, match="keep 0"):
        bifurcation_diagram(lively, [1.5], keep=0)
    with pytest.raises(InvalidModel, match="give a period to count in"):
        bifurcation_diagram(lambda _: van_der_pol(), [0.0])
    with pytest.raises(InvalidModel, match="schemes of klapper"):
        bifurcation_diagram(lambda limit: driven_slider(0.6, limit), [0.3], scheme=3)
