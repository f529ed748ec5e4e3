"""The one compiled step beside the loop for linear systems, in processor time per step.

python -m benchmarks.dynamics.two_loops
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from benchmarks.dynamics.users_models import Row
from klapper.mechanics import Contact, LinearSystem
from klapper.schemes import Moreau
from klapper.schemes.form_stretch import FormStretch
from klapper.schemes.linear_stretch import LinearStretch

STEP, STEPS, REPEATS = 1e-3, 5000, 7


def ball() -> LinearSystem:
    floor = Contact("floor", normal=[1.0], restitution=0.8)
    return LinearSystem([1.0], force=[-9.81], position=[1.0], contacts=[floor])


def row(stops: int) -> LinearSystem:
    """Ten masses between springs with stops behind the last ones."""
    given, unit = Row(), np.eye(10)
    contacts = [Contact(f"stop {i}", normal=-unit[9 - i], gap=1e-3, restitution=0.5) for i in range(stops)]
    return LinearSystem(
        np.ones(10), stiffness=given.stiffness, damping=given.damping, force=given.load, velocity=given.velocity,
        contacts=contacts,
    )  # fmt: skip


def full(size: int) -> LinearSystem:
    """Coordinates that all depend on each other, as those of a reduced structure, with one stop."""
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((size, size)))[0]
    stiffness = turn @ np.diag(np.linspace(1e2, 1e6, size)) @ turn.T
    stiffness = 0.5 * (stiffness + stiffness.T)
    stop = Contact("stop", normal=np.eye(size)[0], gap=1e-4, restitution=0.5)
    return LinearSystem(
        np.ones(size),
        stiffness=stiffness,
        damping=1e-5 * stiffness,
        force=np.full(size, -1.0),
        contacts=[stop],
    )


def seconds(loop: Any, system: LinearSystem) -> float:
    start, best = Moreau(STEP).init(system), np.inf
    loop.run(start, 10, 1)
    for _ in range(REPEATS):
        begin = time.process_time()
        loop.run(start, STEPS, 1)
        best = min(best, (time.process_time() - begin) / STEPS)
    return best


def main() -> None:
    systems = {
        "ball": ball(),
        "one stop": row(1),
        "nine stops": row(9),
        "full matrices, 20 coordinates": full(20),
        "full matrices, 200 coordinates": full(200),
    }
    for name, system in systems.items():
        scheme = Moreau(STEP)
        options = {"level": scheme.level, "projects": False, "clears": False, "keeps_lasting": True}
        one = FormStretch(system, system.compiled_form(), STEP, scheme.theta, scheme.tolerance, **options)
        linear = LinearStretch(system, STEP, scheme.theta, scheme.tolerance)
        times = seconds(one, system), seconds(linear, system)
        print(
            f"{name}: {1e6 * times[0]:.3g} µs, linear loop {1e6 * times[1]:.3g} µs, ratio {times[0] / times[1]:.2f}"
        )


if __name__ == "__main__":
    main()
