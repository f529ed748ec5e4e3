"""The side of klapper: assembly, factorisation and a step of the midpoint rule, by what a user calls."""

from __future__ import annotations

import os
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.continuum import problem
from klapper import __version__
from klapper.continuum import Continuum, NeoHooke, Solid, Support, block, threads
from klapper.schemes import EnergyMomentum, stable_step
from klapper.schemes.base import kinetic_energy
from klapper.schemes.sparse_factor import _pardiso, factorised

PROCESSORS = os.sched_getaffinity(0)


def _block(dimension: int, n: int) -> Solid:
    mesh = block((1.0,) * dimension, (n,) * dimension, element="quad4" if dimension == 2 else "hex8")
    return Solid("block", mesh, NeoHooke(problem.YOUNG, problem.POISSON), density=problem.DENSITY)


def assemble(dimension: int, n: int, repeats: int) -> dict[str, Any]:
    """Force and stiffness of one configuration, and the same between two; ``clock`` is that on all processors."""
    body = Continuum([_block(dimension, n)], lumped=True)
    places = body.bodies[0].mesh.nodes
    q = (places + problem.displacement(places)).ravel()
    found: list[Any] = []

    def both() -> None:
        found[:] = [-body.force(0.0, q, q), body.stiffness(q)]

    between = partial(body.force_between, 0.0, places.ravel(), q, slope=True)
    both()
    peak = problem.peak_bytes()
    order = problem.grid_order(places, n)
    along = found[1] @ problem.probe(places).ravel()
    answer = {
        "seconds": problem.clocked(both, repeats),
        "force_alone": problem.clocked(lambda: body.force(0.0, q, q), repeats),
        "force": found[0].reshape(places.shape)[order],
        "along": along.reshape(places.shape)[order],
        "peak": peak,
    }
    between()
    answer["between"] = problem.clocked(between, repeats)
    os.sched_setaffinity(0, PROCESSORS)
    threads._workers.cache_clear()
    both()
    clocks = []
    for _ in range(repeats):
        start = perf_counter()
        both()
        clocks.append(perf_counter() - start)
    return answer | {"clock": min(clocks), "processors": len(PROCESSORS)}


def factorise(dimension: int, n: int, repeats: int) -> dict[str, Any]:
    """The matrix of a step: first time, and once its structure is known."""
    solid = _block(dimension, n)
    body = Continuum([solid], lumped=True)
    places = solid.mesh.nodes
    q = (places + problem.displacement(places)).ravel()
    matrix = (2.0 / problem.STEP) * body.mass_matrix + (0.5 * problem.STEP) * body.stiffness(q)
    right = np.ones(body.size)
    first = problem.clocked(lambda: factorised(matrix)(right), 1)
    seconds = problem.clocked(lambda: factorised(matrix)(right), repeats)
    return {
        "first": first,
        "seconds": seconds,
        "pardiso": _pardiso() is not None,
        "peak": problem.peak_bytes(),
    }


def step(
    dimension: int, n: int, step_size: float = problem.STEP, forces: Any = "midpoint", support: bool = False
) -> dict[str, Any]:
    """One step of the common problem, or of an energy-momentum step; ``support`` holds the left side."""
    solid = _block(dimension, n)
    places = solid.mesh.nodes
    body = _moving(solid, support)
    scheme = EnergyMomentum(step_size, forces=forces)
    start = scheme.init(body)
    small = _moving(_block(dimension, 2), support)
    scheme.step(small, scheme.init(small))  # compiles
    found: list[Any] = []

    def work() -> None:
        found[:] = [scheme.step(body, start)]

    before = problem.peak_bytes()
    seconds = problem.clocked(work, 1)
    peak = problem.peak_bytes()
    after = found[0].after
    change = (after.position - start.position).reshape(places.shape)
    return {
        "seconds": seconds,
        "change": change[problem.grid_order(places, n)],
        "rounds": int(after.memory[-1]),
        "grown": peak - before,
        "peak": peak,
        "energy": abs(float(after.sums[-1])) / kinetic_energy(body, start.position, start.velocity),
    }


def _moving(solid: Solid, support: bool) -> Continuum:
    speed = problem.velocity(solid.mesh.nodes)
    if support:
        speed[solid.mesh.surface_nodes("left")] = 0.0
    supports = [Support("block", "left")] if support else []
    return Continuum([solid], velocity={"block": speed}, supports=supports)


def limit(dimension: int, n: int) -> dict[str, Any]:
    """Longest step [s] of an explicit scheme for the same block."""
    return {"limit": stable_step(Continuum([_block(dimension, n)], lumped=True))}


if __name__ == "__main__":
    problem.serve(__version__, {"assemble": assemble, "factorise": factorise, "step": step, "limit": limit})
