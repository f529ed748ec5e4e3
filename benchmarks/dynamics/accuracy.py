"""Accuracy of a trajectory, measured the same way for every program and, where there is one, against the
exact solution.

Arrays of a trajectory, k samples at multiples of the model's step, the initial state not included:

    time              (k,)  [s]
    position          ball (k,), chain (k, n), block (k, 3), bar: node 0 (k,), spheres: centres (k, n, 3)  [m]
    velocity          ball, chain, block, spheres: like position  [m/s]
    force             bar: wall force, mean over each step (k,)  [N]
    final_position    bar: all nodes (n,)  [m]
    final_velocity    bar: all nodes (n,)  [m/s]
    contacts          spheres: contact points in the solver (k,)
"""

from __future__ import annotations

import numpy as np

from benchmarks.dynamics.models import (
    BouncingBall,
    ImpactingBar,
    InclinedBlock,
    MassChain,
    Model,
    SettlingSpheres,
)

Trajectory = dict[str, np.ndarray]


def judge(model: Model, trajectory: Trajectory) -> dict[str, float]:
    """Named numbers of the model's kind, SI units; see the function of the kind."""
    if isinstance(model, BouncingBall):
        return judge_ball(model, trajectory)
    if isinstance(model, MassChain):
        return judge_chain(model, trajectory)
    if isinstance(model, InclinedBlock):
        return judge_block(model, trajectory)
    if isinstance(model, ImpactingBar):
        return judge_bar(model, trajectory)
    return judge_spheres(model, trajectory)


def judge_ball(model: BouncingBall, trajectory: Trajectory) -> dict[str, float]:
    """Apex after the third bounce and its relative error (which is that of the energy), lowest point, end."""
    time, height = trajectory["time"], trajectory["position"]
    flight = (time > model.bounce_time(3)) & (time < model.bounce_time(4))
    apex = float(height[flight].max())
    before = time < model.bounce_time(4)
    exact = np.array([model.exact_height(t) for t in time[before]])
    return {
        "third_apex": apex,
        "energy_error": apex / model.apex(3) - 1.0,
        "largest_error": float(np.abs(height[before] - exact).max()),
        "penetration": float(-height.min()),
        "final_height": float(height[-1]),
    }


def judge_chain(model: MassChain, trajectory: Trajectory) -> dict[str, float]:
    """Greatest overlap, part of the contacts closed at the end, energy lost to impacts."""
    gaps = np.diff(trajectory["position"], axis=1)
    start = model.energy(model.positions(), model.velocities())
    end = model.energy(trajectory["position"][-1], trajectory["velocity"][-1])
    return {
        "penetration": float(-gaps.min()),
        "closed_at_end": float((gaps[-1] <= 1e-6).mean()),
        "energy_ratio": float(end / start),
        "momentum_swing": float(np.abs(model.mass * trajectory["velocity"].sum(axis=1)).max()),
    }


def judge_block(model: InclinedBlock, trajectory: Trajectory) -> dict[str, float]:
    """Way downhill and its error, final speed, mean creep speed [m/s], deepest normal position."""
    time, place = trajectory["time"], trajectory["position"]
    displacement = float(np.linalg.norm(place[-1, 1:]))
    exact = model.exact_displacement(float(time[-1]))
    return {
        "displacement": displacement,
        "displacement_error": displacement - exact,
        "speed": float(np.linalg.norm(trajectory["velocity"][-1, 1:])),
        "creep_speed": (displacement - exact) / float(time[-1]),
        "penetration": float(-place[:, 0].min()),
    }


def judge_bar(model: ImpactingBar, trajectory: Trajectory) -> dict[str, float]:
    """Everything as a part of the exact value: duration, mean and peak force, energy and rebound speed."""
    time, force = trajectory["time"], trajectory["force"]
    pressed = force > 1e-6 * model.contact_force
    velocity, masses = trajectory["final_velocity"], model.node_masses()
    nodes = np.zeros(model.elements + 1)
    start = model.energy(nodes, nodes - model.speed)
    return {
        "contact_duration": float(time[pressed][-1]) / model.contact_duration,
        "mean_force": float(force.sum() * model.step / (model.contact_duration * model.contact_force)),
        "peak_force": float(force.max() / model.contact_force),
        "energy_ratio": model.energy(trajectory["final_position"], velocity) / start,
        "rebound_speed": float(masses @ velocity / masses.sum() / model.speed),
        "penetration": float(-trajectory["position"].min()),
    }


def judge_spheres(model: SettlingSpheres, trajectory: Trajectory) -> dict[str, float]:
    """Greatest overlap over the samples and at the end, contacts, mean height and energy of motion at the end."""
    overlaps = [greatest_overlap(model, centres) for centres in trajectory["position"]]
    velocity = trajectory["velocity"][-1]
    return {
        "penetration": max(overlaps),
        "final_penetration": overlaps[-1],
        "contacts": float(trajectory["contacts"][-1]),
        "mean_height": float(trajectory["position"][-1, :, 2].mean()),
        "kinetic_energy": float(0.5 * model.mass * (velocity**2).sum()),
    }


def greatest_overlap(model: SettlingSpheres, centres: np.ndarray) -> float:
    """Depth [m] of the deepest overlap among the spheres and with floor and walls; negative if all are apart."""
    planes = model.planes()
    walls = float((model.radius - centres @ planes[:, :3].T - planes[:, 3]).max())
    order = np.argsort(centres[:, 2])
    sorted_centres = centres[order]
    deepest = walls
    for shift in range(1, len(centres)):
        between = sorted_centres[shift:] - sorted_centres[:-shift]
        near = between[:, 2] < 2.0 * model.radius
        if not near.any():
            break
        distance = np.linalg.norm(between[near], axis=1)
        deepest = max(deepest, float(2.0 * model.radius - distance.min()))
    return deepest


def difference(model: Model, one: Trajectory, other: Trajectory) -> float:
    """Largest difference of the positions of two programs at the times both sampled [m].

    Settling spheres are chaotic: there it is the difference of the mean heights.
    """
    common, first, second = np.intersect1d(
        np.round(one["time"] / model.step).astype(int),
        np.round(other["time"] / model.step).astype(int),
        return_indices=True,
    )
    if common.size == 0:
        raise ValueError(
            "The two trajectories have no sample time in common; sample both at the model's steps."
        )
    apart = one["position"][first] - other["position"][second]
    if isinstance(model, SettlingSpheres):
        return float(np.abs(apart[..., 2].mean(axis=1)).max())
    return float(np.abs(apart).max())
