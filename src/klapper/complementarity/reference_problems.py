"""Problems whose solutions are known by hand; every solver is tested on every one of them.

A new solver joins the tests by ``@solver`` over its class, a new problem by being listed here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from klapper.complementarity.frictional_contact import FrictionalContact
from klapper.complementarity.problem import (
    LinearComplementarity,
    MixedComplementarity,
    NonlinearComplementarity,
)


@dataclass(frozen=True)
class ReferenceProblem:
    """A problem with all its motions (images) known.

    ``motions``   every complementary quantity y that a solution can have; empty if there is no solution
    ``forces``    the solution x, if it is unique, else None
    ``friendly``  whether every applicable solver must succeed (convex, or friction of moderate size)
    ``certain``   solvers that must succeed even if the problem is not friendly
    """

    name: str
    problem: Any
    motions: tuple[np.ndarray, ...]
    source: str
    forces: np.ndarray | None = None
    friendly: bool = True
    certain: tuple[str, ...] = ("enumeration",)


def reference_problems() -> list[ReferenceProblem]:
    """All reference problems, freshly built."""
    return [
        *_frictionless_impacts(),
        *_frictionless_equilibria(),
        *_pivoting_classics(),
        *_friction(),
        *_mixed_and_nonlinear(),
    ]


def _reference(
    name: str,
    problem: Any,
    forces: Any,
    source: str,
    *,
    friendly: bool = True,
    certain: tuple[str, ...] = ("enumeration",),
) -> ReferenceProblem:
    """A problem with a unique solution given by its forces."""
    x = np.asarray(forces, dtype=float)
    return ReferenceProblem(name, problem, (problem.image(x),), source, x, friendly, certain)


def _frictionless_impacts() -> list[ReferenceProblem]:
    carts = np.linalg.inv([[1.0, -1.0], [-1.0, 2.0]])
    mirrored = np.diag([1.0, -1.0])
    return [
        _reference(
            "two carts, stop on the right",
            LinearComplementarity(carts, [0.0, -1.0], names=["A", "B"]),
            [0.0, 1.0],
            "Waltersberger Ex. 1.1b",
        ),
        _reference(
            "two carts, stop on the left",
            LinearComplementarity(mirrored @ carts @ mirrored, [0.0, -1.0], names=["A", "B"]),
            [1.0, 2.0],
            "Waltersberger Ex. 1.1b, mirrored",
        ),
        _reference(
            "one cart, plastic and elastic stop",
            LinearComplementarity(np.ones((2, 2)), [-1.0, -2.0]),
            [0.0, 2.0],
            "Waltersberger Ex. 1.1c",
        ),
        _reference(
            "row of three masses, elastic",
            LinearComplementarity([[2.0, -1.0], [-1.0, 2.0]], [-2.0, 0.0]),
            [4 / 3, 2 / 3],
            "Waltersberger Ex. 5.1, ε = 1",
        ),
        _reference(
            "row of three masses, plastic",
            LinearComplementarity([[2.0, -1.0], [-1.0, 2.0]], [-1.0, 0.0]),
            [2 / 3, 1 / 3],
            "Waltersberger Ex. 5.1, ε = 0",
        ),
    ]


def _frictionless_equilibria() -> list[ReferenceProblem]:
    alpha, beta = np.deg2rad(30.0), np.deg2rad(60.0)
    wedge = np.array([[0.0, np.sin(alpha)], [1.0, -np.cos(alpha)]])
    load = np.array([np.sin(beta), -np.cos(beta)])
    legs = np.array([[1.0, 1.0, 1.0], [1.0, -1.0, 1.0], [1.0, -1.0, -1.0], [1.0, 1.0, -1.0]])
    table = legs @ np.diag([0.1, 1.0, 1.0]) @ legs.T
    count = 25
    modes = np.cos(np.outer(np.linspace(0.0, 3.0, count), np.arange(1, 4)))
    closed = np.zeros(count)
    closed[[3, 11, 20]] = [1.0, 2.0, 0.5]
    gaps = np.where(closed > 0, 0.0, 1.0 + np.arange(count) / count)
    return [
        _reference(
            "point in a wedge",
            LinearComplementarity(wedge.T @ wedge, wedge.T @ load),
            [0.5, 0.0],
            "Waltersberger Ex. 4.2b, α = 30°, β = 60°",
        ),
        ReferenceProblem(
            "four-legged table",
            LinearComplementarity(table, -10.0 * np.ones(4), names=["A", "B", "C", "D"]),
            (np.zeros(4),),
            "three equations, four forces, each between 0 and 50 N",
        ),
        ReferenceProblem(
            "25 contacts on 3 modes",
            LinearComplementarity(modes @ modes.T, gaps - modes @ (modes.T @ closed)),
            (gaps,),
            "Waltersberger B11: redundant constraints; constructed from its solution",
        ),
        _reference(
            "nothing to do", LinearComplementarity(np.eye(3), np.ones(3)), np.zeros(3), "all contacts open"
        ),
        _reference(
            "touching without force",
            LinearComplementarity([[2.0, 1.0], [1.0, 2.0]], [0.0, 0.0]),
            [0.0, 0.0],
            "doubly degenerate: x = y = 0",
        ),
        _reference("no contacts", LinearComplementarity(np.empty((0, 0)), []), np.empty(0), "empty problem"),
        ReferenceProblem(
            "crushing walls",
            LinearComplementarity([[1.0, -1.0], [-1.0, 1.0]], [-1.0, -1.0]),
            (),
            "a mass between two walls that approach each other: no solution",
            friendly=False,
        ),
    ]


def _pivoting_classics() -> list[ReferenceProblem]:
    size = 10
    murty = np.eye(size) + 2.0 * np.triu(np.ones((size, size)), 1)
    last = np.zeros(size)
    last[-1] = 1.0
    return [
        _reference(
            "Murty's staircase",
            LinearComplementarity(murty, -np.ones(size)),
            last,
            "Murty (1978): exponentially many pivots for simple rules",
            friendly=False,
            certain=("enumeration", "lemke", "newton"),
        ),
        ReferenceProblem(
            "sliding rod before the paradox",
            LinearComplementarity([[-0.5]], [1.0]),
            (np.array([1.0]), np.array([0.0])),
            "Painlevé: W_NN − μ W_NT < 0 while the free motion separates: two solutions",
            friendly=False,
            certain=("enumeration", "lemke", "newton"),
        ),
        ReferenceProblem(
            "sliding rod in the paradox",
            LinearComplementarity([[-0.5]], [-1.0]),
            (),
            "Painlevé: W_NN − μ W_NT < 0 while the free motion penetrates: no solution",
            friendly=False,
        ),
        _reference(
            "skew coupling",
            LinearComplementarity([[0.0, 1.0], [-1.0, 0.0]], [-1.0, 2.0]),
            [2.0, 1.0],
            "monotone, not symmetric, zero diagonal",
            friendly=False,
            certain=("enumeration", "lemke", "newton"),
        ),
    ]


def wedged_disc(
    friction: float,
    moment_ratio: float,
    *,
    angle: float = np.pi / 4,
    force: float = 9.81,
    radius: float = 0.1,
    mass: float = 1.0,
) -> FrictionalContact:
    """Accelerations of a disc pressed into a wedge and turned by a moment, Waltersberger (5.17)-(5.25).

    ``friction`` μ, ``moment_ratio`` M/M₀ with M₀ of (5.16), ``angle`` α of the wedge [rad], ``force`` f [N] along
    the bisector,
    ``radius`` r [m], ``mass`` m [kg]. Rows: normal and tangential at wall 1, normal and tangential at wall 2.
    """
    inertia = mass * radius**2 / 2
    phi = (np.pi - angle) / 2
    moment = moment_ratio * radius * force * friction / (np.cos(phi) * (1 + friction**2))  # (5.16)
    load = np.array([-force * np.cos(angle / 2), -force * np.sin(angle / 2), moment])  # (5.19)
    s, c = np.sin(angle), np.cos(angle)
    directions = np.array(
        [[0, 1, 0], [1, 0, radius], [s, -c, 0], [c, s, -radius]]
    )  # (5.20)-(5.23), ccw positive
    flexibility = directions / np.array([mass, mass, inertia])
    return FrictionalContact(
        flexibility @ directions.T, flexibility @ load, friction, dimension=2, names=["wall 1", "wall 2"]
    )


def _friction() -> list[ReferenceProblem]:
    stick = FrictionalContact(np.diag([1.0, 2.0, 2.0]), [-1.0, 0.3, -0.4], 0.6)
    slide = FrictionalContact(np.diag([1.0, 2.0, 2.0]), [-1.0, 3.0, -4.0], 0.5)
    planar = FrictionalContact(np.eye(2), [-1.0, 2.0], 0.3, dimension=2)
    blocks = FrictionalContact.from_parts(
        [[2.0, -1.0, 1.0], [-1.0, 1.0, 0.0], [1.0, 0.0, 1.0]],
        [-1.5, -0.5, -2.0],
        normal=[0],
        tangential=[1, 2],
        limit=1.0,
        normal_names=["A"],
        tangential_names=["block 1", "block 2"],
    )
    rotating = wedged_disc(0.3, 1.2)
    speed = 0.2 * 0.1 * 9.81 * 0.3 / (np.cos(3 * np.pi / 8) * 1.09) / 0.005 * 0.1  # r (M − M₀)/J_S
    both = wedged_disc(0.5, 1.2)
    fast = 0.2 * 0.1 * 9.81 * 0.5 / (np.cos(3 * np.pi / 8) * 1.25) / 0.005 * 0.1
    return [
        _reference(
            "3D contact that sticks", stick, [1.0, -0.15, 0.2], "closed form: λ_T = −v_T/W_TT inside the disc"
        ),
        _reference("3D contact that slides", slide, [1.0, -0.3, 0.4], "closed form: λ_T = −μ λ_N v_T/|v_T|"),
        _reference("planar contact that slides", planar, [1.0, -0.3], "closed form"),
        _reference(
            "3D contact that separates",
            FrictionalContact(np.eye(3), [0.5, 1.0, 1.0], 0.7),
            [0.0, 0.0, 0.0],
            "open contact carries no friction",
        ),
        ReferenceProblem(
            "block pair",
            blocks,
            (np.array([0.0, -0.25, -0.25]),),
            "Waltersberger Ex. 1.1d: both blocks slide left with 0.25",
            np.array([0.75, 1.0, 1.0]),
        ),
        ReferenceProblem(
            "wedged disc that turns",
            rotating,
            (np.array([0.0, speed, 0.0, -speed]),),
            "Waltersberger 5.1.4, μ = 0.3, M = 1.2 M₀: one solution",
            friendly=False,
            certain=("enumeration", "lemke", "newton"),
        ),
        ReferenceProblem(
            "wedged disc, both",
            both,
            (np.zeros(4), np.array([0.0, fast, 0.0, -fast])),
            "Waltersberger 5.1.4, μ = 0.5, M = 1.2 M₀: rest and rotation",
            friendly=False,
            certain=("enumeration", "lemke", "newton"),
        ),
    ]


def _mixed_and_nonlinear() -> list[ReferenceProblem]:
    mass = np.diag([1.0, 1.0, 1.0])
    normals = np.array([[-1.0, 0.0], [1.0, -1.0], [0.0, 1.0]])
    before = np.array([1.0, 0.0, 0.0])
    impact = MixedComplementarity(
        np.block([[mass, -normals], [normals.T, np.zeros((2, 2))]]),
        np.concatenate([-mass @ before, np.array([-1.0, 0.0])]),  # ε = 1
        free=3,
    )
    doubled = np.hstack([normals[:, :1], normals[:, :1]])
    redundant = MixedComplementarity(
        np.block(
            [
                [mass, -doubled, -normals[:, 1:]],
                [doubled.T, np.zeros((2, 3))],
                [normals[:, 1:].T, np.zeros((1, 3))],
            ]
        ),
        np.concatenate([-mass @ before, np.zeros(3)]),
        free=5,
    )
    spring = NonlinearComplementarity(
        lambda x: np.array([x[0] ** 3 + x[1] - 9.0, x[1] - 1.0]),
        lambda x: np.array([[3 * x[0] ** 2, 1.0], [0.0, 1.0]]),
        2,
    )
    return [
        _reference(
            "impact in a row, velocities kept",
            impact,
            [-1 / 3, 2 / 3, 2 / 3, 4 / 3, 2 / 3],
            "Waltersberger (3.97), Ex. 5.1, ε = 1",
        ),
        ReferenceProblem(
            "joint counted twice",
            redundant,
            (np.zeros(6),),
            "two equal two-sided constraints: motion (1/3, 1/3, 1/3), forces of the pair not unique",
        ),
        _reference("hardening spring", spring, [2.0, 1.0], "x³ + y = 9, y = 1"),
    ]
