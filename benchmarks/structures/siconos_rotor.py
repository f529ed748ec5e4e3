"""Siconos steps the clattering rotor: TimeStepping with MoreauJeanOSI, run by the interpreter of python3-siconos.

    python3 -m benchmarks.structures.siconos_rotor request.npz answer.npz

One LagrangianLinearTIDS with all matrices, one interaction per contact, one linear complementarity problem per step,
solved by Lemke's method. Of Siconos' other solvers the pivoting ones (PIVOT, AVI_CAOFERRIS) give the same motion in the
same time but do not call it solved; Newton, PGS, PATH, Bard and Murty are slower or go astray.
The load that turns is a compiled plug-in, so nothing of Python runs inside the timed `TimeStepping.run()`. Siconos
takes the mean of the loads at both ends of a step where klapper takes the load in its middle; for a harmonic load both
differ by the factor cos Ωh/2 = 1 − 5·10⁻⁶, by which the amplitudes are divided here, so that both programs compute the
same numbers. As for the other benchmarks the costliest assertions of Debian's build are removed, see
`benchmarks.dynamics.siconos_dynamics`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import siconos.kernel as sk
import siconos.numerics as sn

from benchmarks.dynamics.models import ROUND_OFF
from benchmarks.dynamics.siconos_dynamics import PRELOAD, package, unchecked_library
from benchmarks.siconos_peer import version
from benchmarks.structures.clattering_rotor import ClatteringRotor

LOAD = Path(__file__).with_name("rotating_load.cpp")
THETA = 0.5


def build(rotor: ClatteringRotor, steps: int, plugin: str) -> tuple[Any, Any]:
    """The time stepping and the rotor in it."""
    body = sk.LagrangianLinearTIDS(
        rotor.start_position, rotor.start_velocity, rotor.mass, rotor.position, rotor.rate
    )
    scale = 1.0 / np.cos(0.5 * rotor.omega * rotor.step)
    body.setzPtr(np.concatenate([[rotor.omega], rotor.steady, scale * rotor.cosine, scale * rotor.sine]))
    body.setComputeFExtFunction(plugin, "rotating_load")
    end = rotor.start_time + (steps + 0.5) * rotor.step
    world = sk.NonSmoothDynamicalSystem(rotor.start_time, end)
    world.insertDynamicalSystem(body)
    law = sk.NewtonImpactNSL(0.0)
    for direction in rotor.directions.T:
        world.link(sk.Interaction(law, sk.LagrangianLinearTIR(direction[None, :].copy())), body)
    scheme = sk.MoreauJeanOSI(THETA, 1.0 - THETA)
    scheme.setConstraintActivationThreshold(ROUND_OFF)
    discretisation = sk.TimeDiscretisation(rotor.start_time, rotor.step)
    stepping = sk.TimeStepping(world, discretisation, scheme, sk.LCP(sn.SICONOS_LCP_LEMKE))
    stepping.setNewtonOptions(sk.SICONOS_TS_LINEAR)
    return stepping, body


def run(rotor: ClatteringRotor, steps: int, repeats: int) -> dict[str, Any]:
    """Seconds on the processor of the whole motion, and the gap in the middle after every step (steps,) [m]."""
    with tempfile.TemporaryDirectory() as folder:
        plugin = compiled_load(Path(folder))
        seconds = min(clocked(build(rotor, steps, plugin)[0]) for _ in range(repeats))
        gaps = sampled(rotor, *build(rotor, steps, plugin), steps)
    return {"settings": f"Lemke, {package()}", "seconds": seconds, "gap": gaps}


def clocked(stepping: Any) -> float:
    start = time.process_time()
    stepping.run()
    return time.process_time() - start


def sampled(rotor: ClatteringRotor, stepping: Any, body: Any, steps: int) -> np.ndarray:
    gaps = np.empty(steps)
    for number in range(steps):
        stepping.computeOneStep()
        gaps[number] = rotor.middle @ body.q()
        stepping.nextStep()
    return gaps


def compiled_load(folder: Path) -> str:
    """Path of the plug-in; Siconos knows a library by its ending."""
    library = folder / "rotating_load.so"
    command = ["g++", "-O2", "-std=c++17", "-shared", "-fPIC", str(LOAD), "-o", str(library)]
    try:
        subprocess.run(command, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        sys.exit("the load of the rotor cannot be compiled, g++ is missing")
    return str(library)


def main() -> None:
    if PRELOAD not in os.environ:
        os.environ[PRELOAD] = unchecked_library()
    preloaded = os.environ.get("LD_PRELOAD", "").split(":")
    if os.environ[PRELOAD] and os.environ[PRELOAD] not in preloaded:
        os.environ["LD_PRELOAD"] = ":".join([os.environ[PRELOAD], *filter(None, preloaded)])
        os.execv(sys.executable, sys.orig_argv)
    with np.load(sys.argv[1]) as stored:
        request = dict(stored)
    if str(request["task"]) == "version":
        np.savez(sys.argv[2], version=version())
        return
    rotor = ClatteringRotor.from_arrays(request)
    np.savez(sys.argv[2], version=version(), **run(rotor, int(request["steps"]), int(request["repeats"])))


if __name__ == "__main__":
    main()
