"""Siconos steps the clattering rotor: TimeStepping with MoreauJeanOSI, run by the interpreter of python3-siconos.

    python3 -m benchmarks.structures.siconos_rotor request.npz answer.npz

One LagrangianLinearTIDS with all matrices, one interaction per contact, one linear complementarity problem per step.
The load that turns is a compiled plug-in, so nothing of Python runs inside the timed `TimeStepping.run()`. Siconos takes
the mean of the loads at both ends of a step where klapper takes the load in its middle; for a harmonic load both differ
by the factor cos Ωh/2 = 1 − 5·10⁻⁶, by which the amplitudes are divided here, so that both programs compute the same
numbers. As for the other benchmarks the costliest assertions of Debian's build are removed, see
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
SOLVERS = {"Lemke": sn.SICONOS_LCP_LEMKE, "Newton-min": sn.SICONOS_LCP_NEWTONMIN, "PGS": sn.SICONOS_LCP_PGS}
THETA = 0.5


def build(rotor: ClatteringRotor, steps: int, plugin: str, solver: str) -> tuple[Any, Any]:
    """The time stepping and the rotor in it."""
    body = sk.LagrangianLinearTIDS(rotor.start_position, rotor.start_velocity, rotor.mass, rotor.position, rotor.rate)
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
    stepping = sk.TimeStepping(world, discretisation, scheme, sk.LCP(SOLVERS[solver]))
    stepping.setNewtonOptions(sk.SICONOS_TS_LINEAR)
    return stepping, body
