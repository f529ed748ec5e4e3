"""When a block on two feet begins to slide, over the rule that splits its friction and over the step.

A push F = rate · t grows at the upper corner. Friction is at its limit at t = μ m g / rate, whatever the rule; what is
read off a computed motion depends on the rule, on the step and on what is asked: the first step with both feet at their
limits, the stick flag, or a velocity. P. Seiwald (2014), 5.3, Table 5.3.

The projection of the thesis lets a foot stick up to an absolute speed, so that its flag comes later the smaller the
step is; the ``step-safe`` one does not.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_LATE = 1.6  # times the exact start of sliding: until then the motion is computed


def transition(
    method: str,
    step: float,
    projection: str = "thesis",
    force_rate: float = 250.0,
    mu: float = 0.1,
    mass: float = 16.0,
    width: float = 0.2,
    height: float = 0.1,
) -> dict[str, Any]:
    """Times [s] at which sliding starts, by several criteria, with the rule ``method`` and steps of ``step`` [s].

    ``at_limit``       first step with both feet at their limits
    ``flag_first``     first flag of a sliding foot, ``flag_last`` from when on none sticks any more
    ``moves``          first step after which the slower foot slides with more than 1 µm/s
    ``flag_changes``   steps in which a flag changed: 1 if the block does not chatter
    ``exact``          μ m g / rate, and the ``delay`` of ``at_limit`` after it

    ``method`` is one of ``undetermined-block``; the halves of "two-body" allow steps up to 2 µs.
    """
    from klapper.gallery._block import compute, make_block
    from klapper.mechanics import Ramp

    block = make_block(width, height, mass, mu)
    exact = float(block.slip_force / force_rate)
    done = compute(
        method,  # type: ignore[arg-type]
        block,
        load=Ramp([0.0, 0.0, 0.0], [force_rate, 0.0, 0.0]),
        until=step * np.ceil(_LATE * exact / step),
        step=step,
        projection=projection,  # type: ignore[arg-type]
    )
    found = done.onset
    return {
        "at_limit": found.all_saturated,
        "flag_first": float(np.min(found.slips)),
        "flag_last": found.slips_for_good,
        "moves": float(np.max(found.moves)),
        "flag_changes": found.flag_changes,
        "exact": exact,
        "delay": found.all_saturated - exact,
    }
