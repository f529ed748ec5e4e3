"""A run survives being killed: kill -9 at random moments, resume, and the numbers are the same bit for bit.

Run as a program, this file is the run that is killed: it makes the system warm, then starts the run in a forked process
and kills it, again and again, and lets the last one end.
"""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import klapper.simulation as simulate_module
from klapper.mechanics import (
    Anisotropic,
    Contact,
    FrictionElement,
    FunctionSystem,
    Harmonic,
    LinearSystem,
    System,
)
from klapper.results import Run, read
from klapper.schemes import Moreau

ARRAYS = (
    "step",
    "time",
    "position",
    "velocity",
    "gap",
    "impulse",
    "state",
    "constraint_impulse",
    "energy",
    "residual",
)


def chain() -> tuple[System, float, Moreau, int]:
    """A chain that rattles, with anisotropic friction and a brake: the compiled loop."""
    n = 8
    unit = np.eye(n)
    rng = np.random.default_rng(1)
    stiffness = 400.0 * (2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1))
    rough = {"tangents": unit[[0, 3]], "friction": Anisotropic(0.3, 0.1)}
    system = LinearSystem(
        np.ones(n),
        stiffness=stiffness,
        damping=0.002 * stiffness,
        force=Harmonic(30.0 * rng.standard_normal(n), 11.0),
        contacts=[
            *(Contact(f"gap {i}", normal=unit[i + 1] - unit[i], gap=0.02, restitution=0.4) for i in range(4)),
            Contact("rough", normal=unit[6] - unit[5], gap=0.01, **rough),
            FrictionElement("brake", tangents=unit[5], limit=2.0),
        ],
    )
    return system, 6.0, Moreau(2e-4), 20


def pendulum() -> tuple[System, float, Moreau, int]:
    """A pendulum between two walls, with friction: step by step."""
    system = FunctionSystem(
        [0.4, 0.0],
        [0.0, 1.0],
        mass=lambda q: np.array([[1.0 + 0.1 * np.cos(q[0]), 0.0], [0.0, 1.0]]),
        force=lambda t, q, v: np.array([-9.81 * np.sin(q[0]) + np.cos(7 * t), -20.0 * q[1]]),
        contacts=[
            Contact("left", gap=lambda t, q: q[0] + 0.3, tangents=[0.0, 1.0], friction=0.3, restitution=0.7),
            Contact("right", gap=lambda t, q: 0.5 - q[0] + 0.05 * np.sin(3 * t), restitution=0.6),
        ],
    )
    return system, 8.0, Moreau(4e-3), 3


def adaptive() -> tuple[System, float, Moreau, int]:
    """Steps of different size."""
    system, _, _, _ = pendulum()
    return system, 6.0, Moreau(2e-2, accuracy=1e-6), 1


def layers() -> tuple[System, float, Moreau, int]:
    """Masses with compliant and rigid stops, held on position level: the compiled loop, whose springs hold energy."""
    n = 6
    unit = np.eye(n)
    rng = np.random.default_rng(2)
    system = LinearSystem(
        np.ones(n),
        stiffness=300.0 * (2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)),
        force=Harmonic(30.0 * rng.standard_normal(n), 11.0),
        contacts=[Contact(f"gap {i}", normal=unit[i + 1] - unit[i], gap=0.01) for i in range(n - 1)],
        compliance=np.diag([1e-4, 0.0, 2e-4, 0.0, 1e-5]),
    )
    return system, 12.0, Moreau(1e-4, theta=1.0, level="position"), 200


def adaptive_layers() -> tuple[System, float, Moreau, int]:
    """The same with steps of different size: the energy of the springs needs the duration of the last step."""
    system, _, _, _ = layers()
    return system, 0.6, Moreau(1e-2, theta=1.0, level="position", accuracy=1e-4), 1


def modal() -> tuple[System, float, Moreau, int]:
    """Full matrices: the compiled loop in modal coordinates."""
    n = 70
    rng = np.random.default_rng(3)
    root = rng.standard_normal((n, n))
    stiffness = 200.0 * (root @ root.T / n + np.eye(n))
    system = LinearSystem(
        np.ones(n),
        stiffness=stiffness,
        damping=1e-3 * stiffness,
        force=Harmonic(5.0 * rng.standard_normal(n), 9.0),
        contacts=[Contact(f"stop {i}", normal=rng.standard_normal(n), gap=0.05) for i in range(5)],
    )
    return system, 12.0, Moreau(2e-4), 200


CASES = {
    "chain": chain,
    "pendulum": pendulum,
    "adaptive": adaptive,
    "layers": layers,
    "adaptive layers": adaptive_layers,
    "modal": modal,
}


def run_case(name: str, folder: str | None = None, *, share: float = 1.0) -> Run:
    """The whole run, or a ``share`` of it, with many cuts in a short time."""
    system, until, scheme, every = CASES[name]()
    usual = simulate_module._Loop._compiled_cut
    simulate_module._Loop._compiled_cut = lambda loop: 1000
    try:
        return simulate_module.simulate(system, share * until, scheme, every=every, store=folder)
    finally:
        simulate_module._Loop._compiled_cut = usual


@pytest.mark.parametrize(
    ("name", "kills"),
    [("chain", 10), ("pendulum", 10), ("adaptive", 6), ("layers", 8), ("adaptive layers", 5), ("modal", 8)],
)
def test_a_run_killed_at_random_moments_ends_as_if_it_never_was(
    name: str, kills: int, tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, __file__, name, str(tmp_path), str(kills)],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    killed, resumed, folders = (int(word) for word in done.stdout.split())
    assert killed == kills
    assert resumed >= 2  # not only begun anew
    expected = run_case(name)
    assert expected.about["audit"]["path"] == "compiled"
    assert np.count_nonzero(expected.impulse) >= 5  # contacts took part
    for k in range(folders):
        found = read(tmp_path / str(k))
        assert found.about["status"] == "complete"
        for array in ARRAYS:
            one, other = getattr(found.samples, array), getattr(expected.samples, array)
            np.testing.assert_array_equal(one, other, err_msg=array)
        assert found.about["audit"] == expected.about["audit"]
        assert found.about["steps"] == expected.about["steps"]


def start(name: str, folder: str) -> int:
    """Begin or resume the run in a forked process; its number."""
    process = os.fork()
    if process:
        return process
    try:
        run_case(name, folder)
    except BaseException as error:
        print(repr(error), file=sys.stderr, flush=True)
        os._exit(1)
    os._exit(0)


def running(process: int) -> bool:
    return os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None


def main(name: str, place: str, kills: int) -> None:
    """Kill the run ``kills`` times and let it end; where it ends by itself before that, begin another."""
    simulate_module._PART_EVERY = 0.0
    run_case(name, share=0.05)  # compiles or loads everything
    began = time.perf_counter()
    run_case(name, str(Path(place, "whole")))
    whole = time.perf_counter() - began
    moments = random.Random(7)
    killed = resumed = number = 0
    while True:
        folder = Path(place, str(number))
        resumed += any(folder.glob("part-*.h5"))
        process = start(name, str(folder))
        if killed < kills:
            time.sleep(moments.uniform(0.0, 0.35 * whole))
            while killed % 2 and not any(folder.glob("part-*.h5")) and running(process):
                time.sleep(
                    1e-3
                )  # every other time there is something to go on from, however busy the machine is
            os.kill(process, signal.SIGKILL)
        _, status = os.waitpid(process, 0)
        if os.WIFSIGNALED(status):
            killed += 1
        elif status != 0:
            sys.exit(f"the run ended with {status} after {killed} kills")
        elif killed == kills:
            break
        else:
            number += 1
    print(killed, resumed, number + 1)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
