"""The side of klapper: parts of a contact step, whole steps, and the models that other programs solve, too."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.contact import models, problem
from klapper import __version__
from klapper.contact_states import STICK
from klapper.continuum import Continuum, Mortar, NodeToSegment, block, contact_pressure
from klapper.continuum.contact.mortar import MortarSearch
from klapper.continuum.contact.node_to_segment import NodeSearch
from klapper.continuum.contact.surface import Surface
from klapper.gallery._interfaces import InterfaceName
from klapper.schemes import EnergyMomentum, QuasiStatic
from klapper.schemes.contact_rounds import HardContact
from klapper.schemes.held_contacts import EnergyOption, GapTargets, HeldContacts
from klapper.schemes.motion_balance import MotionBalance
from klapper.schemes.saddle_point import saddle_point

STEP = 1e-3  # s, of the balance whose matrix is factorised
RING_STEP = 0.1  # s


def search(interface: InterfaceName, sizes: np.ndarray, repeats: int) -> dict[str, Any]:
    """Seconds (s,), and pairs (s,) that were found, for ``sizes`` (s,) of segments."""
    seconds, pairs = [], []
    for n in sizes.tolist():
        find = _search(interface, n)
        pairs.append(len(find()[0]))
        seconds.append(problem.clocked(find, repeats))
    return {"seconds": np.array(seconds), "pairs": np.array(pairs)}


def _search(interface: InterfaceName, n: int) -> Callable[[], Any]:
    """Finds partners of two wavy surfaces of n and 9 n/10 segments."""
    up = block((1.0, 1.0 / n), (n, 1))
    low = block((1.0, 1.0 / n), (max(9 * n // 10, 1), 1), corner=(0.0, -1.0 / n))
    places = np.concatenate([up.nodes, low.nodes])
    places = places + np.column_stack([0.0 * places[:, 0], 0.1 * np.sin(7.0 * places[:, 0])])
    sides = Surface.of(up, "up", "bottom"), Surface.of(low, "low", "top", len(up.nodes))
    secondary, primary = ("up", "bottom"), ("low", "top")
    if interface == "mortar":
        mortar = Mortar(secondary=secondary, primary=primary)
        return partial(MortarSearch(mortar, *sides, mortar.distance(sides, places), 1.0 / n).segments, places)
    nodes = NodeToSegment(secondary=secondary, primary=primary)
    return partial(NodeSearch(nodes, *sides, nodes.distance(sides, places), 1.0 / n).partners, places)


def parts(interface: InterfaceName, sizes: np.ndarray, friction: float) -> dict[str, Any]:
    """What one round of an energy-momentum step with all contacts closed is made of, for cells along the interface."""
    _parts(models.blocks(interface, 8, friction), 1)  # compiles
    found = [_parts(models.blocks(interface, n, friction), 3 if n < 200 else 2) for n in sizes.tolist()]
    return {name: np.array([each[name] for each in found]) for name in found[0]}


def _parts(world: Continuum, repeats: int) -> dict[str, Any]:
    q0 = world.start.position
    q1 = q0 + 1e-4 / np.sqrt(world.size) * np.random.default_rng(0).standard_normal(len(q0))
    pairing = world.pair(0.0, q1, 1e-3, q0)
    k = len(pairing.which)
    zero = np.zeros(k)
    held = HeldContacts(pairing, np.full(k, STICK, np.int8), GapTargets(zero, zero), q0, STEP, "between")
    balance = MotionBalance(world, q0, np.zeros_like(q0), 0.0, STEP, exact=True)
    closed, matrix = held.at(q1), balance.matrix(q1)
    balance.residual(q1)
    multipliers = np.ones(held.count)
    curved = matrix - STEP * held.curvature(q1, multipliers)
    right = np.ones(world.size + held.count)
    work = {
        "pairing": lambda: world.pair(0.0, q1, 1e-3, q0),
        "gaps": lambda: held.at(q1),
        "curvature": lambda: held.curvature(q1, multipliers),
        "bulk": lambda: (balance.residual(q1), balance.matrix(q1)),
        "factor": lambda: saddle_point(curved, -STEP * closed.push, closed.slope, closed.active)(right),
    }
    times = {name: problem.clocked(each, repeats) for name, each in work.items()}
    return {**times, "unknowns": world.size, "contacts": k}


def step(interface: InterfaceName, n: int, friction: float) -> dict[str, Any]:
    """A quasi-static step that closes the contact of two blocks under load."""
    scheme = QuasiStatic(1.0)
    small, world = models.blocks(interface, 8, friction), models.blocks(interface, n, friction)
    scheme.step(small, scheme.init(small))  # compiles
    found: list[Any] = []
    start = scheme.init(world)
    seconds = problem.clocked(lambda: found.append(scheme.step(world, start)), 1)
    return {"seconds": seconds, "rounds": int(found[0].after.memory[-1]), "unknowns": world.size}


def patch(interface: InterfaceName, upper: np.ndarray, lower: np.ndarray) -> dict[str, Any]:
    _equilibrium(models.patch(interface, (3, 2), (4, 2)).world)  # compiles
    return _equilibrium(models.patch(interface, tuple(upper.tolist()), tuple(lower.tolist())).world)


def hertz(interface: InterfaceName, elements: int) -> dict[str, Any]:
    _equilibrium(models.cylinders(interface, 2).world)  # compiles
    return _equilibrium(models.cylinders(interface, elements).world)


def _equilibrium(world: Continuum) -> dict[str, Any]:
    """One step of the whole load: displacements (n, 2) [m] by body, pressure (k,) [N/m²] by secondary node."""
    scheme = QuasiStatic(1.0)
    start, found = scheme.init(world), []
    seconds = problem.clocked(lambda: found.append(scheme.step(world, start)), 1)
    done = found[0]
    forces = np.zeros(world.contacts.count)
    forces[done.contact] = done.impulse[:, 0]
    search = world.contacts.searches[0]
    here = contact_pressure(world, done.after.position, forces)[search.surface.body, search.surface.name]
    change = (done.after.position - models.reference(world)).reshape(-1, 2)
    answer = {f"u_{name}": change[part] for name, part in models.parts_of(world).items()}
    order = np.argsort(here.nodes)
    return {
        **answer, "pressure": here.pressure[order], "seconds": seconds, "rounds": int(done.after.memory[-1])
    }  # fmt: skip


def rings(interface: InterfaceName, energy: EnergyOption, until: float) -> dict[str, Any]:
    """Collision of two rings: positions and velocities (s, n) after every step."""
    world = models.rings(interface)
    scheme = EnergyMomentum(RING_STEP, contact=HardContact(energy))
    start = scheme.init(world)
    scheme.step(world, start)  # compiles
    history, rounds = [start], []

    def run() -> None:
        for _ in range(round(until / RING_STEP)):
            done = scheme.step(world, history[-1])
            history.append(done.after)
            rounds.append(done.after.memory[-1])

    seconds = problem.clocked(run, 1)
    return {
        "seconds": seconds,
        "rounds": int(np.sum(rounds)),
        "steps": len(rounds),
        "step": RING_STEP,
        "position": np.array([each.position for each in history]),
        "velocity": np.array([each.velocity for each in history]),
    }


if __name__ == "__main__":
    tasks: dict[str, Callable[..., dict[str, Any]]] = {
        "search": search,
        "parts": parts,
        "step": step,
        "patch": patch,
        "hertz": hertz,
        "rings": rings,
    }
    problem.serve(__version__, tasks)
