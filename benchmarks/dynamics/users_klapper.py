"""klapper steps models of users' kinds: a call of `simulate`, its compiled loop alone, and its general code.

    python -m benchmarks.dynamics.users_klapper request.npz answer.npz

Seconds of processor time per step, best of the repeats. A call of `simulate` has the energy ledger, the verification
of every step and a hundred samples; a call with one step is taken off, as set-up is for the other programs.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.dynamics import trial_loop
from benchmarks.dynamics.users_models import MODELS, flying_chain, lying_chain, row_of_blocks, row_of_masses
from klapper import __version__
from klapper.mechanics import System
from klapper.schemes import Moreau
from klapper.simulation import simulate

GENERAL_STEPS = 60
REPEATS = 4


def simulated(
    system: System, step: float, steps: int, repeats: int = REPEATS, **options: Any
) -> tuple[float, Any]:
    """Seconds per step of `simulate`, and the run."""
    scheme, begin = Moreau(step, **options), system.start.time

    def called(count: int) -> tuple[float, Any]:
        start = time.process_time()
        run = simulate(system, begin + count * step, scheme, every=max(count // 100, 1))
        return time.process_time() - start, run

    called(2)
    first = min(called(1)[0] for _ in range(repeats))
    best, run = min((called(steps) for _ in range(repeats)), key=lambda pair: pair[0])
    return (best - first) / (steps - 1), run


def loop_alone(system: System, step: float, steps: int) -> tuple[float, str]:
    """Seconds per step of the compiled loop, and which loop it is; steps of the general code are not timed."""
    scheme = Moreau(step)
    loop = scheme.stretch(system)
    if loop is None:
        return np.nan, "none"
    best = np.inf
    for _ in range(REPEATS):
        snapshot, done, seconds = scheme.init(system), 0, 0.0
        while snapshot.step < steps:
            before = snapshot.step
            start = time.process_time()
            snapshot, _, why = loop.run(snapshot, min(steps - before, 5000), 1)
            seconds += time.process_time() - start
            done += snapshot.step - before
            if why:
                snapshot = scheme.step(system, snapshot).after
        best = min(best, seconds / done)
    return best, type(loop).__name__


def measured(name: str) -> dict[str, Any]:
    model = MODELS[name]
    system = model.system()
    seconds, run = simulated(system, model.step, model.steps)
    loop, which = loop_alone(system, model.step, model.steps)
    general, _ = simulated(system, model.step, GENERAL_STEPS, 2, compiled=False)
    audit = run.about["audit"]
    answer = {
        "seconds": seconds,
        "loop": loop,
        "which": which,
        "general": general,
        "fallbacks": audit.get("steps by the general path", 0),
        "because": str(audit.get("because", "")),
        "not_compiled": str(audit.get("not compiled", "")),
        "coordinates": len(system.start.velocity),
        "contacts": system.contacts.count,
        "constraints": len(system.constraints),
        "steps": model.steps,
        "position": run.position[-1],
        "touching": float(np.mean(run.state > 0)) if system.contacts.count else 0.0,
    }
    if model.without is not None:
        answer["without"] = simulated(model.without(), model.step, model.steps)[0]
    if name.startswith("double pendulum"):
        start = system.start
        answer["trial"], end = trial_loop.seconds_per_step(
            start.position, start.velocity, model.step, model.steps
        )
        answer["difference"] = float(np.abs(end - run.position[-1]).max())
    return answer


def lengths(build: Callable[[int], System], sizes: np.ndarray, step: float, work: float) -> np.ndarray:
    """Seconds per step of the loop alone, by size."""
    return np.array([loop_alone(build(int(n)), step, max(int(work / n), 20))[0] for n in sizes])


def chains(sizes: np.ndarray) -> dict[str, Any]:
    """Hinged chains in free fall and on the ground, by the number of bodies."""
    return {
        "hinged chain in free flight, bodies": lengths(flying_chain, sizes, 1e-3, 4000.0),
        "hinged chain lying on the ground, bodies": lengths(lying_chain, sizes, 1e-3, 1000.0),
        "blocks side by side on a belt, bodies": lengths(row_of_blocks, sizes, 1e-3, 4000.0),
        "row of masses with a stop and a moved base, coordinates": lengths(
            row_of_masses, sizes, 1e-3, 20000.0
        ),
    }


if __name__ == "__main__":
    with np.load(sys.argv[1]) as stored:
        asked = dict(stored)
    task = str(asked["task"])
    reply: dict[str, Any]
    if task == "version":
        reply = {"version": __version__}
    elif task == "growth":
        reply = chains(asked["sizes"])
    else:
        reply = measured(str(asked["model"]))
    np.savez(sys.argv[2], **reply)
