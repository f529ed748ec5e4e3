"""The side of GetFEM: large-strain bodies, contact by rays from the integration points of one surface to the other.

Its brick for large sliding (Poulios and Renard 2015) has vector multipliers of the first order on the secondary
surface and an augmented Lagrangian, all unknowns in one Newton iteration. The contact integral is that of the Gauss
points of secondary facets, whatever edges of the primary surface lie in between. Motion: the midpoint rule,

    ρ (4 (ū − u₀)/h² − 2 v₀/h) = div P(ū) + contact at ū,   u₁ = 2 ū − u₀,   v₁ = 4 (ū − u₀)/h − v₀
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import getfem
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.contact import problem

REGION = 1  # the surface that touches
ROUNDS, TOLERANCE = 100, 1e-10


class Body:
    """A mesh of quadrilaterals, and where (n, 2) the displacements of its nodes stand in GetFEM's vectors."""

    def __init__(self, name: str, nodes: np.ndarray, cells: np.ndarray, facets: np.ndarray) -> None:
        self.name, self.nodes = name, nodes
        self.mesh = getfem.Mesh("empty", 2)
        points = self.mesh.add_point(nodes.T)
        shape = getfem.GeoTrans("GT_QK(2,1)")
        for corners in nodes[cells[:, [0, 1, 3, 2]]]:  # first coordinate fastest
            self.mesh.add_convex(shape, corners.T)
        self.mesh.set_region(REGION, self.mesh.faces_from_pid(points[np.unique(facets)]))
        self.field = getfem.MeshFem(self.mesh, 2)
        self.field.set_classical_fem(1)
        self.inside = self.gauss(2)
        self.rows = _rows(self.field.basic_dof_nodes(), nodes)

    def gauss(self, points: int) -> Any:
        """So many Gauss points in each direction, and along each facet."""
        rule = getfem.Integ(f"IM_GAUSS_PARALLELEPIPED(2,{2 * points - 1})")
        return getfem.MeshIm(self.mesh, rule)


def _rows(places: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """Where (n, 2) components of nodes (n, 2) stand among those with ``places`` (2, N); −1 for nodes without any."""
    number = {tuple(place.round(9) + 0.0): row for row, place in enumerate(places[:, ::2].T)}
    first = np.array([number.get(tuple(node.round(9) + 0.0), -1) for node in nodes])
    return np.where(first[:, None] < 0, -1, 2 * first[:, None] + np.arange(2))


class Pair:
    """Two bodies that may touch; contact integrated with ``points`` Gauss points on each secondary facet."""

    def __init__(self, request: dict[str, Any], points: int) -> None:
        self.request = request
        self.bodies = [
            Body(name, *(request[f"{part}_{name}"] for part in ("nodes", "cells", "facets")))
            for name in problem.BODIES
        ]
        self.model = getfem.Model("real")
        self._data("law", [request["first_lame"], request["second_lame"]])
        for body in self.bodies:
            self.model.add_fem_variable(body.name, body.field)
            self.model.add_finite_strain_elasticity_brick(
                body.inside, "SaintVenant Kirchhoff", body.name, "law"
            )
        self._touch(points)

    def _data(self, name: str, value: Any) -> None:
        self.model.add_initialized_data(name, value)

    def _touch(self, points: int) -> None:
        low, up = self.bodies
        linear, along, other = getfem.MeshFem(up.mesh, 2), up.gauss(points), low.gauss(2)
        linear.set_classical_fem(1)
        self.kept = linear, along, other  # the model refers to them
        self.model.add_filtered_fem_variable("multiplier", linear, REGION)
        for name, value in (("r", self.request["augmentation"]), ("friction", 0.0), ("alpha", 1.0)):
            self._data(name, [value])
        brick = self.model.add_integral_large_sliding_contact_brick_raytracing(
            "r", float(self.request["reach"]), "friction", "alpha", 0
        )
        self.model.add_slave_contact_boundary_to_large_sliding_contact_brick(
            brick, along, REGION, up.name, "multiplier"
        )
        self.model.add_master_contact_boundary_to_large_sliding_contact_brick(brick, other, REGION, low.name)
        on = np.sort(linear.basic_dof_on_region(REGION))
        self.multiplier_rows = _rows(linear.basic_dof_nodes()[:, on], up.nodes)

    def hold_and_load(self) -> None:
        for body in self.bodies:
            held, moved, load = (self.request[f"{part}_{body.name}"] for part in ("held", "moved", "load"))
            names = [f"{what}_{body.name}" for what in ("places", "axes", "moved")]
            values = (body.nodes[held[:, 0]].ravel(), np.eye(2)[held[:, 1]].ravel(), moved)
            for name, value in zip(names, values, strict=True):
                self._data(name, value)
            self.model.add_pointwise_constraints_with_multipliers(body.name, *names)
            forces = np.zeros(load.size)
            forces[body.rows] = load
            self.model.add_explicit_rhs(body.name, forces)
        start = np.tile(problem.guess(self.request), len(self.model.variable("multiplier")) // 2)
        self.model.set_variable("multiplier", start)  # a body under load would float without

    def solve(self) -> int:
        """Rounds of Newton's method."""
        rounds, done = self.model.solve("max_iter", ROUNDS, "max_res", TOLERANCE, "lsearch", "simplest")
        if not done:
            raise ArithmeticError(f"GetFEM did not converge in {ROUNDS} rounds")
        return int(rounds)

    def displacements(self) -> list[np.ndarray]:
        return [self.model.variable(body.name)[body.rows] for body in self.bodies]

    def pressure(self) -> np.ndarray:
        """(k,) [N/m²] on the deformed secondary surface; multipliers are forces per undeformed length."""
        chosen, facets = problem.surface_nodes(self.request, "secondary"), self.request["facets_secondary"]
        nodes = self.bodies[1].nodes
        traction = self.model.variable("multiplier")[self.multiplier_rows[chosen]]
        before, after = (
            problem.surface_shares(place, facets)[chosen]
            for place in (nodes, nodes + self.displacements()[1])
        )
        return np.linalg.norm(traction, axis=1) * before / after


def equilibrium(points: int, **request: Any) -> dict[str, Any]:
    pair = Pair(request, points)
    pair.hold_and_load()
    found: list[int] = []
    seconds = problem.clocked(lambda: found.append(pair.solve()), 1)
    moved = {f"u_{name}": u for name, u in zip(problem.BODIES, pair.displacements(), strict=True)}
    return {"seconds": seconds, "rounds": found[0], "pressure": pair.pressure(), **moved}


def rings(points: int, step: float, steps: int, density: float, **request: Any) -> dict[str, Any]:
    """Positions and velocities (s, n) after every step; nodes of the secondary body first, as in klapper's model."""
    pair = Pair(request, points)
    model = pair.model
    for body in pair.bodies:
        model.add_fem_data(f"target_{body.name}", body.field)
        model.add_linear_term(
            body.inside, f"{4.0 * density / step**2!r}*({body.name}-target_{body.name}).Test_{body.name}"
        )

    def places(moved: list[np.ndarray]) -> list[np.ndarray]:
        return [body.nodes + change for body, change in zip(pair.bodies, moved, strict=True)]

    u = [np.zeros_like(body.nodes) for body in pair.bodies]
    v = [request[f"velocity_{body.name}"] for body in pair.bodies]
    history, rounds = [(u, v)], []

    def one() -> None:
        u0, v0 = history[-1]
        for body, place, speed in zip(pair.bodies, u0, v0, strict=True):
            target = np.zeros(place.size)
            target[body.rows] = place + 0.5 * step * speed
            model.set_variable(f"target_{body.name}", target)
            model.set_variable(body.name, target)
        rounds.append(pair.solve())
        middle = pair.displacements()
        history.append(
            (
                [2.0 * m - a for m, a in zip(middle, u0, strict=True)],
                [(4.0 / step) * (m - a) - b for m, a, b in zip(middle, u0, v0, strict=True)],
            )
        )

    def run() -> None:
        for _ in range(steps):
            one()

    seconds = problem.clocked(run, 1)
    return {
        "seconds": seconds,
        "rounds": sum(rounds),
        "steps": steps,
        "step": step,
        "position": np.array([_joined(places(u)) for u, _ in history]),
        "velocity": np.array([_joined(v) for _, v in history]),
    }


def _joined(parts: list[np.ndarray]) -> np.ndarray:
    return np.concatenate(parts[::-1]).ravel()


def _version() -> str:
    asked = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", "python3-getfem"], capture_output=True)
    return asked.stdout.decode().partition("+")[0] or "of unknown version"


if __name__ == "__main__":
    getfem.util_trace_level(1)
    getfem.util_warning_level(0)
    problem.serve(_version(), {"equilibrium": equilibrium, "rings": rings})
