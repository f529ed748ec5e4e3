"""klapper steps the clattering rotor from the same arrays as the other program, compiled and not.

The path without compiled loop is timed over the last turns, where the rotor clatters, and the compiled one over the
same turns from the same state.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.structures.clattering_rotor import STEPS_PER_TURN, ClatteringRotor
from benchmarks.structures.side import serve, stepping_seconds
from klapper.mechanics import Constant, Contact, Harmonic, LinearSystem
from klapper.schemes import Moreau
from klapper.simulation import simulate

PENETRATION = 1e-3  # m that a start out of time stepping may have


def system(rotor: ClatteringRotor) -> LinearSystem:
    """The rotor as a user would write it down from its matrices."""
    gravity = Harmonic(rotor.cosine, rotor.omega) + Harmonic(rotor.sine, rotor.omega, -np.pi / 2)
    return LinearSystem(
        rotor.mass,
        damping=0.5 * (rotor.rate + rotor.rate.T),
        gyroscopic=0.5 * (rotor.rate - rotor.rate.T),
        stiffness=0.5 * (rotor.position + rotor.position.T),
        circulatory=0.5 * (rotor.position - rotor.position.T),
        force=Constant(rotor.steady) + gravity,
        contacts=[Contact(f"joint {i + 1}", normal=row) for i, row in enumerate(rotor.directions.T)],
        position=rotor.start_position,
        velocity=rotor.start_velocity,
        time=rotor.start_time,
        penetration=PENETRATION,
        name="clattering rotor",
    )


def measure(steps: int, repeats: int, general_turns: int, **arrays: Any) -> dict[str, Any]:
    """Seconds on the processor, the gap in the middle after every step (steps,) [m], and both paths over the last
    turns."""
    rotor = ClatteringRotor.from_arrays(arrays)
    scheme, made = Moreau(rotor.step), system(rotor)
    answer: dict[str, Any] = {
        "settings": "Moreau, θ = 0.5",
        "seconds": stepping_seconds(made, scheme, steps, repeats),
    }
    late = max(steps - general_turns * STEPS_PER_TURN, 1)
    before = simulate(made, rotor.start_time + late * rotor.step, scheme, every=1, progress=False)
    time, position, velocity = before.final
    rest = system(replace(rotor, start_position=position, start_velocity=velocity, start_time=time))
    count, both = steps - late, {}
    for name, path in (("compiled", scheme), ("general", Moreau(rotor.step, compiled=False))):
        answer[f"{name}_seconds"] = stepping_seconds(rest, path, count, repeats)
        both[name] = simulate(rest, time + count * rotor.step, path, every=1, progress=False)
        answer[f"{name}_path"] = both[name].about["audit"]["path"]
    answer["paths_apart"] = np.abs(both["general"].position - both["compiled"].position).max()
    answer["touching"] = np.any(both["compiled"].impulse[1:, :, 0] > 0.0, axis=1).mean()
    gaps = [each.position[1:] @ rotor.middle for each in (before, both["compiled"])]
    return {**answer, "general_steps": count, "gap": np.concatenate(gaps)}


if __name__ == "__main__":
    serve(measure)
