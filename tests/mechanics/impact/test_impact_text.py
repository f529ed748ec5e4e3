"""An impact of many bodies is written in a few lines."""

import numpy as np
import pytest

from klapper.mechanics.impact import ImpactProblem, Newton


@pytest.mark.parametrize(("bodies", "more"), [(3, ""), (12, ""), (13, "… and 1 more"), (20, "… and 8 more")])
def test_twelve_velocities_are_written_and_the_others_counted(bodies: int, more: str) -> None:
    """The first of many bodies hits a wall, the others fly on."""
    wall = np.eye(bodies)[:, :1]
    text = str(Newton().resolve(ImpactProblem([1.0] * bodies, [-1.0] * bodies, wall)))
    lines = [line.strip() for line in text.splitlines()]
    begin = next(i for i, line in enumerate(lines) if line.startswith("velocity"))
    end = next(i for i, line in enumerate(lines) if line.startswith("contact"))
    assert end - begin - 1 == min(bodies, 12) + bool(more)
    assert [line for line in lines if "more" in line] == [more] * bool(more)
