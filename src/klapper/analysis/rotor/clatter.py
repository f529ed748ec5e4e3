"""Joints of rotors that centrifugal forces open and gravity shakes once per turn, without contact.

    (K_el − Ω² K_c) q = Ω² f_c                                                          Waltersberger (5.161)
    (K_el + Ω (P + j D) + Ω² (j G − M − K_c)) q̂ = f_cos − j f_sin                       Waltersberger (5.163)

Where the amplitude of the second exceeds the opening by the first, the joint clatters, (5.166).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from klapper.analysis.rotor.bands import Band, positive_bands, speed_grid
from klapper.analysis.rotor.matrices import (
    RotorMatrices,
    batches,
    checked_speeds,
    dense_matrices,
    small_dense,
)
from klapper.analysis.rotor.stability import critical_speeds
from klapper.mechanics.arguments import finite
from klapper.mechanics.errors import InvalidModel

GRAVITY = (-9.81, 0.0)
"""Acceleration of gravity [m/s²] along directions 1 and 2 of the frame that stands still."""


@dataclass(frozen=True)
class GravityResonance:
    """A speed at which the load that turns backward meets a motion of the rotor.

    ``speed`` [Hz]; ``damping_ratio``, small if sharp; ``participation`` share of gravity that drives it, 0 to 1

    >>> GravityResonance(speed=0.8, damping_ratio=0.01, participation=0.3).speed
    0.8
    """

    speed: float
    damping_ratio: float
    participation: float


@dataclass(frozen=True, eq=False)
class ClatterMap:
    """Opening of a joint by centrifugal forces against its shaking by gravity, without contact.

    ``speeds`` (k,) [Hz]; ``opening`` g_stat (k, p) [m]; ``amplitude`` g_dyn (k, p) [m] ≥ 0 at p points

    >>> ClatterMap(np.array([1.0]), opening=np.array([[0.002]]), amplitude=np.array([[0.003]])).margin.round(9).tolist()
    [[-0.001]]
    """

    speeds: np.ndarray
    opening: np.ndarray
    amplitude: np.ndarray

    @property
    def margin(self) -> np.ndarray:
        """g_stat − g_dyn (k, p) [m]: negative where the joint may clatter. (5.166)"""
        return self.opening - self.amplitude


def centrifugal_deflection(rotor: RotorMatrices, speeds: Any, rows: Any = None) -> np.ndarray:
    """Static deflection (k, n) [m] of a ``rotor`` at the ``speeds`` (k,) [Hz], external damping neglected.

    (K_el − Ω² K_c) q = Ω² f_c, Waltersberger (5.161), (5.162). With ``rows`` (p, n),
    dimensionless, it is rows · q (k, p).

    A disc with ω = 10 rad/s, 1 mm off the axis, at Ω = 8 rad/s: q = e Ω²/(ω² − Ω²) = 64/36 mm.

    >>> from klapper.structures import Structure, rotating
    >>> disc = Structure(np.diag([2.0, 2.0]), np.diag([200.0, 200.0]), coordinates=["x", "y"])
    >>> rotor = rotating(disc, [[0, 1]], eccentricity=[0.001, 0.0], translation=[1.0, 0.0])
    >>> centrifugal_deflection(rotor, [8.0 / (2 * np.pi)], [[1.0, 0.0]]).round(9).tolist()
    [[0.001777778]]
    """
    omega = 2 * np.pi * checked_speeds(speeds)
    stiffness, centrifugal = small_dense(rotor.stiffness), small_dense(rotor.centrifugal)
    found = []
    for part in batches(omega, stiffness.size):
        squared = (part**2)[:, None, None]
        found.append(_solved(stiffness - squared * centrifugal, squared[..., 0] * rotor.unbalance))
    return _seen(np.concatenate(found), rows)


def gravity_response(
    rotor: RotorMatrices, speeds: Any, rows: Any = None, *, gravity: Any = GRAVITY
) -> np.ndarray:
    """Complex amplitude q̂ (k, n) [m] of the motion Re(q̂ e^jΩt) of a ``rotor`` under ``gravity`` (2,) [m/s²].

    At the ``speeds`` (k,) [Hz]; ``rows`` as for :func:`centrifugal_deflection`. Seen from the rotor, gravity turns
    backward, Waltersberger (5.163) with f_cos − j f_sin.

    A disc of 2 kg on 200 N/m hangs down by m g/c = 0.1 m at every speed, which the turning frame sees as a turn:

    >>> from klapper.structures import Structure, rotating
    >>> disc = Structure(np.diag([2.0, 2.0]), np.diag([200.0, 200.0]), coordinates=["x", "y"])
    >>> rotor = rotating(disc, [[0, 1]], eccentricity=[0.001, 0.0], translation=[1.0, 0.0])
    >>> abs(gravity_response(rotor, [8.0 / (2 * np.pi)], gravity=(-10.0, 0.0))).round(9).tolist()
    [[0.1, 0.1]]
    """
    omega = 2 * np.pi * checked_speeds(speeds)
    mass, damping, gyroscopic, stiffness, centrifugal, circulatory = dense_matrices(rotor)
    load = _gravity_phasor(rotor, gravity)
    found = []
    for part in batches(omega, 2 * mass.size):
        w = part[:, None, None]
        matrix = stiffness + w * (circulatory + 1j * damping) + w**2 * (1j * gyroscopic - mass - centrifugal)
        found.append(_solved(matrix, np.broadcast_to(load, (len(part), len(load)))))
    return _seen(np.concatenate(found), rows)


def gravity_resonances(
    rotor: RotorMatrices, up_to: float, *, gravity: Any = GRAVITY, damping_ratio: float = 0.1
) -> list[GravityResonance]:
    """Speeds up to ``up_to`` [Hz] at which a ``rotor`` is in resonance with ``gravity`` (2,) [m/s²]. (5.163)

    ``damping_ratio``, dimensionless, is the largest of those that count. They are close to the
    real axis among the eigenvalues Ω of K_el + Ω (P + j D) + Ω² (j G − M − K_c).

    A shaft that is not round, with ω = 10 and 12 rad/s, is shaken at Ω = 120/√488 rad/s, as
    :func:`gravity_resonance_of_pair` says:

    >>> from klapper.structures import Structure, rotating
    >>> disc = Structure(np.diag([2.0, 2.0]), np.diag([200.0, 288.0]), coordinates=["x", "y"])
    >>> rotor = rotating(disc, [[0, 1]], translation=[1.0, 0.0])
    >>> [found] = gravity_resonances(rotor, 1.0)
    >>> (2 * np.pi * found.speed).round(6).item()
    5.432145
    """
    mass, damping, gyroscopic, stiffness, centrifugal, circulatory = dense_matrices(rotor)
    n = len(mass)
    first = circulatory + 1j * damping
    second = 1j * gyroscopic - mass - centrifugal
    companion = np.block([[-np.linalg.solve(stiffness, np.hstack([first, second]))], [np.eye(n, 2 * n)]])
    inverse = np.linalg.eigvals(companion)
    inverse = inverse[np.abs(inverse) > 1.0 / (4 * np.pi * up_to)]
    found = 1.0 / inverse
    chosen = found[(found.real > 0.0) & (found.real <= 2 * np.pi * up_to)]
    chosen = chosen[np.abs(chosen.imag) <= damping_ratio * np.abs(chosen)]
    load = _gravity_phasor(rotor, gravity)
    resonances = []
    for omega in np.sort_complex(chosen):
        matrix = stiffness + omega * first + omega**2 * second
        left = np.linalg.svd(matrix)[0][:, -1]
        share = abs(np.vdot(left, load)) / (np.linalg.norm(load) or 1.0)
        resonances.append(
            GravityResonance(omega.real / (2 * np.pi), abs(omega.imag) / abs(omega), float(share))
        )
    return resonances


def gravity_resonance_of_pair(first: Any, second: Any) -> Any:
    """Speed [Hz] of the resonance of one mode shape with frequencies [Hz] ``first`` and ``second`` in both directions.

        Ω = ω₁ ω₂/√(2 (ω₁² + ω₂²)),

    ω/2 for equal ones, where however nothing is excited: gravity does not move in the frame that stands still.

    >>> gravity_resonance_of_pair(2.0, 2.0).item()
    1.0
    """
    one, two = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    return one * two / np.sqrt(2 * (one**2 + two**2))


def clatter_map(rotor: RotorMatrices, rows: Any, speeds: Any, *, gravity: Any = GRAVITY) -> ClatterMap:
    """Opening and shaking of the gaps with ``rows`` (p, n) of a ``rotor`` at the ``speeds`` (k,) [Hz]. (5.161)–(5.166)

    ``gravity`` (2,) [m/s²] along directions 1 and 2 of the frame that stands still.

    The disc of :func:`centrifugal_deflection` under 0.1 m/s²: opened by 1.778 mm, shaken by 0.1/ω² = 1 mm:

    >>> from klapper.structures import Structure, rotating
    >>> disc = Structure(np.diag([2.0, 2.0]), np.diag([200.0, 200.0]), coordinates=["x", "y"])
    >>> rotor = rotating(disc, [[0, 1]], eccentricity=[0.001, 0.0], translation=[1.0, 0.0])
    >>> clatter_map(rotor, [[1.0, 0.0]], [8.0 / (2 * np.pi)], gravity=(-0.1, 0.0)).margin.round(6).tolist()
    [[0.000778]]
    """
    return ClatterMap(
        checked_speeds(speeds),
        centrifugal_deflection(rotor, speeds, rows),
        np.abs(gravity_response(rotor, speeds, rows, gravity=gravity)),
    )


def clatter_bands(
    rotor: RotorMatrices,
    rows: Any,
    low: float,
    high: float,
    *,
    gravity: Any = GRAVITY,
    samples: int = 400,
    accuracy: float = 1e-6,
) -> list[Band]:
    """Ranges of speed [Hz] in which gravity shakes one of the gaps harder than it is open. (5.166)

    Between ``low`` and ``high`` [Hz], their limits bracketed to ``accuracy`` [Hz]; ``rotor``, ``rows`` and ``gravity``
    as for :func:`clatter_map`. Resonances with gravity and critical speeds are looked at in addition to ``samples`` at
    equal distances.

    The disc of :func:`clatter_map` is shaken more than opened up to e Ω²/(ω² − Ω²) = g/ω², Ω = √50 rad/s:

    >>> from klapper.structures import Structure, rotating
    >>> disc = Structure(np.diag([2.0, 2.0]), np.diag([200.0, 200.0]), coordinates=["x", "y"])
    >>> rotor = rotating(disc, [[0, 1]], eccentricity=[0.001, 0.0], translation=[1.0, 0.0])
    >>> bands = clatter_bands(rotor, [[1.0, 0.0]], 0.9, 1.5, gravity=(-0.1, 0.0))
    >>> [round((2 * np.pi * band.high) ** 2, 3) for band in bands]
    [50.0]
    """
    special = [each.speed for each in gravity_resonances(rotor, high, gravity=gravity)]
    grid = speed_grid(
        low, high, samples, np.union1d(special, critical_speeds(rotor, up_to=high) * (1 + 1e-9))
    )

    def excess(speeds: np.ndarray) -> np.ndarray:
        return -clatter_map(rotor, rows, speeds, gravity=gravity).margin.min(axis=1)

    return positive_bands(excess, grid, accuracy)


def _gravity_phasor(rotor: RotorMatrices, gravity: Any) -> np.ndarray:
    """f_cos − j f_sin (n,) [N]. (5.164)"""
    first, second = finite(gravity, "gravity", (2,))
    return rotor.weight @ np.array([first, second]) - 1j * (rotor.weight @ np.array([second, -first]))


def _solved(matrices: np.ndarray, loads: np.ndarray) -> np.ndarray:
    """Responses (k, n) of matrices (k, n, n) to loads (k, n); infinite exactly in a resonance that the load excites."""
    try:
        return np.linalg.solve(matrices, loads[..., None])[..., 0]
    except np.linalg.LinAlgError:
        pass
    answers = np.empty(loads.shape, dtype=np.result_type(matrices, loads))
    for i, (matrix, load) in enumerate(zip(matrices, loads, strict=True)):
        answers[i] = np.linalg.lstsq(matrix, load, rcond=None)[0]
        error = np.abs(matrix @ answers[i] - load).max()
        if error > 1e-8 * np.abs(load).max(initial=1e-300):
            answers[i] = np.inf
    return answers


def _seen(states: np.ndarray, rows: Any) -> np.ndarray:
    if rows is None:
        return states
    looked = np.atleast_2d(np.asarray(rows, dtype=float))
    if looked.shape[1] != states.shape[1]:
        raise InvalidModel(f"rows have shape {looked.shape}, expected (p, {states.shape[1]}).")
    return states @ looked.T
