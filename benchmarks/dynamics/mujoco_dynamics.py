"""MuJoCo steps the models it can describe: ball, inclined block, settling spheres.

    python -m benchmarks.dynamics.mujoco_dynamics request.npz answer.npz

Its contact is soft: a constrained acceleration follows a = (1 − d) a₀ + d (−b v − k r) with stiffness k, damping b
and impedance d < 1, so bodies sink in and a block under load creeps. Restitution is that of a damped spring
whose contact lasts `CONTACT_STEPS` steps. Timed is `mj_step(model, data, nstep)`, whose loop is C; a second,
untimed run gives the trajectory.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np

from benchmarks.dynamics.exchange import NotModelled, Run, serve
from benchmarks.dynamics.models import BouncingBall, InclinedBlock, Model, SettlingSpheres

RADIUS = 0.1  # m, of the sphere that stands for ball and block
CONTACT_STEPS = 20  # one bounce lasts so many steps
SPHERE_TIME_CONSTANT = 5.0  # steps in which a critically damped contact of the spheres decays
IMPEDANCE = 0.9999
SAMPLES = 20  # of the spheres

Sample = dict[str, Any]


def run(model: Model, repeats: int) -> list[Run]:
    if isinstance(model, BouncingBall):
        settings = f"implicitfast, contact of {CONTACT_STEPS} steps, impedance {IMPEDANCE}"
        return [timed(model, ball(model), settings, repeats, ball_sample, every=1)]
    if isinstance(model, InclinedBlock):
        return [
            timed(model, block(model, ratio), f"implicitfast, elliptic cone, default contact, impratio {ratio}",
                  repeats, block_sample, every=10)
            for ratio in (1, 100)
        ]  # fmt: skip
    if isinstance(model, SettlingSpheres):
        settings = (
            "implicitfast, elliptic cone, CG, time constant 5 steps, tolerance and iterations as default"
        )
        return [timed(model, spheres(model), settings, 0, spheres_sample, every=model.steps // SAMPLES)]
    raise NotModelled(f"MuJoCo has no {model.kind}")


def timed(
    model: Any, xml: str, settings: str, repeats: int, take: Callable[[Any], Sample], *, every: int
) -> Run:
    compiled = mujoco.MjModel.from_xml_string(xml)
    seconds = []
    for _ in range(repeats):
        data = mujoco.MjData(compiled)
        start = time.perf_counter()
        mujoco.mj_step(compiled, data, nstep=model.steps)
        seconds.append(time.perf_counter() - start)
    data = mujoco.MjData(compiled)
    samples, pieces = [], []
    for _ in range(model.steps // every):
        start = time.perf_counter()
        mujoco.mj_step(compiled, data, nstep=every)
        pieces.append(time.perf_counter() - start)
        samples.append(take(data))
    trajectory = {key: np.array([sample[key] for sample in samples]) for key in samples[0]}
    trajectory["time"] = model.step * every * np.arange(1, len(samples) + 1)
    return Run(settings, model.steps, min(seconds, default=sum(pieces)), trajectory)


def ball(model: BouncingBall) -> str:
    """Half a period of the undamped contact spring lasts CONTACT_STEPS steps."""
    frequency = np.pi / (CONTACT_STEPS * model.step)
    stiffness, damping = frequency**2, 2.0 * damping_ratio(model.restitution) * frequency
    contact = f'condim="1" solref="{-stiffness} {-damping}" solimp="{IMPEDANCE} {IMPEDANCE} 0.001" margin="0" gap="0"'
    return _world(
        f'timestep="{model.step}" gravity="0 0 {-model.gravity}" integrator="implicitfast"',
        f'<geom type="plane" size="1 1 1" {contact}/>'
        f'<body pos="0 0 {model.height + RADIUS}"><joint type="slide" axis="0 0 1" ref="{model.height}"/>'
        f'<geom type="sphere" size="{RADIUS}" mass="{model.mass}" {contact}/></body>',
    )


def damping_ratio(restitution: float) -> float:
    """ζ of a linear spring and damper that only pushes, by bisection.

    The contact ends when the force vanishes: ε = exp(−ζ/η (π − arctan2(2 ζ η, η² − ζ²))), η = √(1 − ζ²)
    (Schwager, Pöschel, Coefficient of restitution and linear-dashpot model revisited, 2007).
    """
    low, high = 0.0, 0.7
    for _ in range(60):
        ratio = 0.5 * (low + high)
        eta = np.sqrt(1.0 - ratio**2)
        rebound = np.exp(-ratio / eta * (np.pi - np.arctan2(2.0 * ratio * eta, eta**2 - ratio**2)))
        low, high = (ratio, high) if rebound > restitution else (low, ratio)
    return 0.5 * (low + high)


def ball_sample(data: Any) -> Sample:
    return {"position": data.qpos[0], "velocity": data.qvel[0]}


def block(model: InclinedBlock, impedance_ratio: int) -> str:
    """A sphere that slides along (tangent 1, tangent 2, normal) but cannot turn."""
    normal, first, second = model.gravity_vector()
    contact = f'condim="3" friction="{model.friction} 0 0"'
    axes = "".join(f'<joint type="slide" axis="{axis}"/>' for axis in ("1 0 0", "0 1 0", "0 0 1"))
    return _world(
        f'timestep="{model.step}" gravity="{first} {second} {normal}" integrator="implicitfast" '
        f'cone="elliptic" impratio="{impedance_ratio}"',
        f'<geom type="plane" size="1 1 1" {contact}/>'
        f'<body pos="0 0 {RADIUS}">{axes}<geom type="sphere" size="{RADIUS}" mass="{model.mass}" {contact}/></body>',
    )


def block_sample(data: Any) -> Sample:
    return {"position": data.qpos[[2, 0, 1]], "velocity": data.qvel[[2, 0, 1]]}


def spheres(model: SettlingSpheres) -> str:
    walls = "".join(
        f'<geom type="plane" size="1 1 1" pos="{_words(-offset * normal)}" zaxis="{_words(normal)}"/>'
        for normal, offset in ((plane[:3], plane[3]) for plane in model.planes())
    )
    bodies = "".join(
        f'<body pos="{_words(centre)}"><freejoint/><geom type="sphere" size="{model.radius}"/></body>'
        for centre in model.centres()
    )
    return _world(
        f'timestep="{model.step}" gravity="0 0 {-model.gravity}" integrator="implicitfast" '
        'cone="elliptic" solver="CG"',
        walls + bodies,
        f'<size memory="1G"/><default><geom condim="3" friction="{model.friction} 0 0" density="{model.density}" '
        f'solref="{SPHERE_TIME_CONSTANT * model.step} 1"/></default>',
    )


def spheres_sample(data: Any) -> Sample:
    return {
        "position": data.qpos.reshape(-1, 7)[:, :3].copy(),
        "velocity": data.qvel.reshape(-1, 6)[:, :3].copy(),
        "contacts": data.ncon,
    }


def _world(options: str, bodies: str, extra: str = "") -> str:
    return f"<mujoco><option {options}/>{extra}<worldbody>{bodies}</worldbody></mujoco>"


def _words(numbers: np.ndarray) -> str:
    return " ".join(repr(float(number)) for number in numbers)


if __name__ == "__main__":
    serve(mujoco.__version__, run)
