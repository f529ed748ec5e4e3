"""B36: the forced delaminated beam, event-driven, in the limit cycle that time stepping finds."""

import numpy as np
import pytest
from delaminated_beam import forced_beam

from klapper.schemes import Moreau
from klapper.schemes.event_driven import EventDriven
from klapper.simulation import simulate

POINTS = 9
PERIOD = 1.0 / 22.8


@pytest.mark.slow
def test_the_clattering_beam_has_the_steady_state_of_time_stepping() -> None:
    """Same steady state as Moreau with θ = ½ within 2 %, one period long, and no gap below −1e-8 m."""
    system, rows = forced_beam(points=POINTS)
    settled = simulate(system, 20.0, Moreau(5e-5), every=1000)
    start = {
        "position": settled.position[-1],
        "velocity": settled.velocity[-1],
        "time": settled.time[-1],
        "penetration": 1e-4,
    }
    system, rows = forced_beam(points=POINTS, **start)
    end = system.start.time + 2 * PERIOD
    events = simulate(system, end, EventDriven(1e-7))
    stepped = simulate(system, end, Moreau(1e-5))
    for name in ("middle gap", "end of beam 1"):
        found, expected = events.position @ rows[name], stepped.position @ rows[name]
        assert np.ptp(found) == pytest.approx(np.ptp(expected), rel=0.02)
        again = abs(found[-1] - found[0])
        assert again < 0.02 * np.ptp(expected)
    settled_in = events.time > system.start.time + 1e-3
    assert events.samples.gap[settled_in].min() > -1e-8
    assert np.count_nonzero(np.any(events.samples.state == 3, axis=1)) > 100
