"""MuJoCo steps those models of users' kinds that it can describe, with klapper's step.

    python -m benchmarks.dynamics.users_mujoco request.npz answer.npz

Joints are minimal coordinates, contacts are springs: less work than klapper does, for another answer. Timed is
`mj_step(model, data, nstep)`, whose loop is C, in seconds of processor time.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import mujoco
import numpy as np

GRAVITY = 9.81


def double_pendulum() -> tuple[str, list[float], list[float]]:
    """Point masses on rods of 1 m; the wall stands at x = 1.2 m."""
    ball = '<geom type="sphere" size="0.001" pos="0 0 -1" mass="1"/>'
    free = '<geom type="sphere" size="0.001" pos="0 0 -1" mass="1" contype="0" conaffinity="0"/>'
    hinge = '<joint type="hinge" axis="0 -1 0"/>'
    wall = '<geom type="plane" size="5 5 1" pos="1.2 0 0" zaxis="-1 0 0" condim="1"/>'
    arms = f'<body>{hinge}{free}<body pos="0 0 -1">{hinge}{ball}</body></body>'
    return wall + arms, [1.0, -0.7], [1.0, 1.0]


def chain(links: int = 20, length: float = 0.2, mass: float = 0.5) -> tuple[str, list[float], list[float]]:
    """Planar links with a foot at the end of each, as klapper's."""
    slope, text = 0.1, ""
    inertia = mass * length**2 / 12.0
    for i in reversed(range(links)):
        joints = '<joint type="hinge" axis="0 -1 0"/>'
        place = f'pos="{length} 0 0"'
        if i == 0:
            place = f'pos="0 0 0.02" euler="0 {-np.degrees(slope)} 0"'
            joints = '<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>' + joints
        first = '<geom type="sphere" size="0.0005" friction="0.3 0 0" contype="1" conaffinity="2"/>'
        text = (
            f"<body {place}>{joints}{first if i == 0 else ''}"
            f'<inertial pos="{0.5 * length} 0 0" mass="{mass}" diaginertia="1e-5 {inertia} {inertia}"/>'
            f'<geom type="sphere" size="0.0005" pos="{length} 0 0" friction="0.3 0 0" contype="1" conaffinity="2"/>'
            f"{text}</body>"
        )
    return '<geom type="plane" size="50 50 1" friction="0.3 0 0" contype="2" conaffinity="1"/>' + text, [], []


def turntable() -> tuple[str, list[float], list[float]]:
    """A disc that a motor keeps at 4 rad/s, a ball that cannot turn as coin."""
    disc = (
        '<body><joint name="turn" type="hinge" axis="0 0 1"/>'
        '<geom type="cylinder" size="0.5 0.01" pos="0 0 -0.01" mass="5" friction="0.3 0 0"/></body>'
    )
    slides = "".join(f'<joint type="slide" axis="{axis}"/>' for axis in ("1 0 0", "0 1 0", "0 0 1"))
    coin = f'<body pos="0.15 0 0.01">{slides}<geom type="sphere" size="0.01" mass="0.2" friction="0.3 0 0"/></body>'
    motor = '</worldbody><actuator><velocity joint="turn" kv="100" ctrlrange="4 4"/></actuator><worldbody>'
    return disc + coin + motor, [], [4.0, 0.0, 0.0, 0.0]


def block() -> tuple[str, list[float], list[float]]:
    """A box that slides on a plane at rest, seen from the belt."""
    joints = "".join(
        f'<joint type="{kind}" axis="{axis}"/>'
        for kind, axis in (("slide", "1 0 0"), ("slide", "0 0 1"), ("hinge", "0 -1 0"))
    )
    box = f'<body pos="0 0 0.08">{joints}<geom type="box" size="0.1 0.05 0.05" mass="1" friction="0.4 0 0"/></body>'
    return '<geom type="plane" size="50 50 1" friction="0.4 0 0"/>' + box, [], [-1.5, 0.0, 0.0]


MODELS = {
    "double pendulum, wall": double_pendulum,
    "chain of 20 hinged bodies on the ground": chain,
    "coin on a turntable": turntable,
    "block on a moving belt": block,
}


def answer(request: dict[str, Any]) -> dict[str, Any]:
    world, position, velocity = MODELS[str(request["model"])]()
    step, steps = float(request["step"]), int(request["steps"])
    options = f'timestep="{step}" gravity="0 0 {-GRAVITY}" integrator="implicitfast" cone="elliptic"'
    text = f'<mujoco><compiler inertiafromgeom="auto"/><option {options}/><worldbody>{world}</worldbody></mujoco>'
    model: Any = mujoco.MjModel.from_xml_string(text)
    best, contacts = np.inf, 0
    for _ in range(3):
        data: Any = mujoco.MjData(model)
        data.qpos[: len(position)] = position
        data.qvel[: len(velocity)] = velocity
        data.ctrl[:] = 4.0
        start = time.process_time()
        mujoco.mj_step(model, data, nstep=steps)
        best = min(best, (time.process_time() - start) / steps)
        contacts = data.ncon
    return {
        "seconds_per_step": best,
        "settings": f"implicitfast, elliptic cone, {contacts} contacts in the end",
        "position": data.qpos,
    }


if __name__ == "__main__":
    with np.load(sys.argv[1]) as stored:
        asked = dict(stored)
    reply = {"version": mujoco.__version__} if str(asked["task"]) == "version" else answer(asked)
    np.savez(sys.argv[2], **reply)
