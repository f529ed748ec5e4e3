"""Friction of two contacts with one common direction, chosen by the smallest acceleration.

    z = v̇ᵀ P v̇ = k S² + 2 w S + c,   S = λ_TA + λ_TB = μ_A λ_NA + μ_B λ_NB            Seiwald (4.14)-(4.16)

z sees the sum S only. Its unconstrained optimum S = −w/k is a line in the plane of (μ_A, μ_B), the bottom of a
parabolic cylinder; within Coulomb's law the minimum is found by cases (Tables C.1-C.4), and where it is still not one
point the smallest λ_TA² + λ_TB² decides. For any number of contacts the same choice is water filling:

    T_i = clip(s, lower_i, upper_i),   Σ T_i = S

The rule assumes that the normal forces are given, that all contacts push in the same direction, and that nothing is
known about the stiffness of the contacts; where something is known, :func:`water_filling` takes it as a weight.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from klapper.complementarity.checking import as_vector
from klapper.complementarity.errors import InvalidProblem
from klapper.complementarity.selection.reading import as_rows

Ansatz = Literal[1, 2, 3]


@dataclass(frozen=True)
class Quality:
    """The functional z = k S² + 2 w S + c of the friction sum S [N]; its unit depends on the ansatz."""

    k: float
    w: float
    c: float

    def value(self, total: Any) -> Any:
        """z at one friction sum [N] or an array of them."""
        return self.k * np.square(total) + 2.0 * self.w * np.asarray(total) + self.c

    @property
    def best_sum(self) -> float:
        """S [N] of the optimum without limits of friction."""
        return -self.w / self.k

    @property
    def least(self) -> float:
        """z of that optimum, (4.40)."""
        return self.c - self.w**2 / self.k


def block_quality(
    ansatz: Ansatz,
    *,
    mass: float,
    inertia: float,
    width: float,
    height: float,
    force: Any,
    normal: Any,
) -> Quality:
    """The constants of Table 4.2 for a block on two feet.

    ``ansatz``  1: z = q̈ᵀ q̈ (4.17); 2: z = q̈ᵀ M M q̈ (4.44); 3: z = (m ẍ)² (4.45), printed as (ẍ)²
    ``force``   generalised forces h (3,) [N, N, N m] without those of the contacts
    ``normal``  λ_NA, λ_NB (2,) [N]
    """
    h = as_vector(force, "force", 3)
    if not (mass > 0.0 and inertia > 0.0):
        raise InvalidProblem(f"mass is {mass!r} and inertia {inertia!r}; allowed are numbers above 0.")
    normal_a, normal_b = _pair(normal, "normal", at_least=0.0)
    lift = h[1] + normal_a + normal_b
    turn = h[2] + 0.5 * width * (normal_b - normal_a)
    if ansatz == 3:
        return Quality(1.0, float(h[0]), float(h[0] ** 2))
    if ansatz == 2:
        mass, inertia = 1.0, 1.0
    elif ansatz != 1:
        raise InvalidProblem(f"ansatz is {ansatz!r}; allowed are 1, 2 and 3.")
    return Quality(
        1.0 / mass**2 + (0.5 * height / inertia) ** 2,
        float(h[0] / mass**2 + 0.5 * height * turn / inertia**2),
        float((h[0] ** 2 + lift**2) / mass**2 + (turn / inertia) ** 2),
    )


@dataclass(frozen=True, eq=False)
class Quadric:
    """xᵀ A x + 2 bᵀ x + c = 0 in x = (μ_A, μ_B, z), and its normal form z₁²/d² − 2 z₂ = 0. Seiwald (4.15)-(4.33).

    ``matrix`` A (3, 3), ``vector`` b (3,), ``constant`` c
    ``eigenvalues`` (3,) and ``axes`` V (3, 3), columns: along the bottom line, along z, across it; x = V y
    ``turned_vector`` Vᵀ b (3,), ``half_width`` d
    """

    matrix: np.ndarray
    vector: np.ndarray
    constant: float
    eigenvalues: np.ndarray
    axes: np.ndarray
    turned_vector: np.ndarray
    half_width: float


def quadric(quality: Quality, normal: Any) -> Quadric:
    """The functional over (μ_A, μ_B) as a quadric, for normal forces (2,) [N] that are not both zero."""
    pressed = np.array(_pair(normal, "normal", at_least=0.0))
    size = float(np.hypot(*pressed))
    if size == 0.0:
        raise InvalidProblem(
            "normal is (0, 0): z is a plane without axes; give at least one normal force above 0."
        )
    matrix = np.zeros((3, 3))
    matrix[:2, :2] = quality.k * np.outer(pressed, pressed)
    vector = np.array([pressed[0] * quality.w, pressed[1] * quality.w, -0.5])
    (a, b) = pressed / size
    axes = np.array([[-b, 0.0, a], [a, 0.0, b], [0.0, 1.0, 0.0]])  # (4.28)
    return Quadric(
        matrix,
        vector,
        quality.c,
        np.array([0.0, 0.0, quality.k * size**2]),
        axes,
        np.array([0.0, -0.5, quality.w * size]),  # (4.31)
        1.0 / (np.sqrt(quality.k) * size),  # (4.33)
    )


@dataclass(frozen=True)
class Optimum:
    """The minimum of z without limits of friction, Table 4.1.

    ``case``  1 no normal force, 2 only B, 3 only A, 4 both
    ``mu``    (μ_A, μ_B): the point of the optimum nearest to zero, nan where any value will do
    ``z``     its value
    """

    case: int
    mu: tuple[float, float]
    z: float


def optimum(quality: Quality, normal: Any) -> Optimum:
    """The unconstrained optimum for normal forces (2,) [N]."""
    a, b = _pair(normal, "normal", at_least=0.0)
    total = quality.best_sum
    if a == 0.0 and b == 0.0:
        return Optimum(1, (np.nan, np.nan), quality.c)
    if a == 0.0:
        return Optimum(2, (np.nan, total / b), quality.least)
    if b == 0.0:
        return Optimum(3, (total / a, np.nan), quality.least)
    share = total / (a**2 + b**2)
    return Optimum(4, (a * share, b * share), quality.least)


@dataclass(frozen=True)
class Minimum:
    """The minimum of z within Coulomb's law.

    ``mu``     (μ_A, μ_B), each between its limits
    ``force``  friction forces μ_i λ_Ni [N]
    ``case``   one of the 17 cases of Tables C.1-C.4, such as "4d-i"
    ``z``      its value
    """

    mu: tuple[float, float]
    force: tuple[float, float]
    case: str
    z: float


def constrained_minimum(quality: Quality, normal: Any, friction: Any, slip: Any = (0.0, 0.0)) -> Minimum:
    """The minimum by the case tables.

    ``normal``    λ_NA, λ_NB (2,) [N]
    ``friction``  coefficients (2,)
    ``slip``      sliding velocities (2,) [m/s], exactly zero where a contact sticks

    >>> push = Quality(1.0, 10.0, 100.0)  # ansatz 3 with 10 N to the right
    >>> found = constrained_minimum(push, (73.48, 83.48), (0.1, 0.1))
    >>> found.case, round(found.mu[0], 7), round(found.mu[1], 7)
    ('4d-i', -0.0680457, -0.0598946)
    """
    from klapper.complementarity.kernels.friction_split import LABELS, case_minimum

    pressed = _pair(normal, "normal", at_least=0.0)
    limits, speeds = _pair(friction, "friction", at_least=0.0), _pair(slip, "slip")
    mu_a, mu_b, number = case_minimum(quality.k, quality.w, *pressed, *limits, *speeds)
    force = (mu_a * pressed[0], mu_b * pressed[1])
    return Minimum((mu_a, mu_b), force, LABELS[number], float(quality.value(sum(force))))


def constrained_minima(k: Any, w: Any, normal: Any, friction: Any, slip: Any) -> tuple[np.ndarray, list[str]]:
    """μ (n, 2) and case labels of n problems at once: ``k``, ``w`` (n,), the others (n, 2), as in
    :func:`constrained_minimum`."""
    from klapper.complementarity.kernels.friction_split import LABELS, case_minima

    first = as_vector(k, "k")
    pairs = [
        as_rows(given, name, 2)
        for given, name in ((normal, "normal"), (friction, "friction"), (slip, "slip"))
    ]
    columns = [first, as_vector(w, "w", len(first)), *pairs]
    if any(len(part) != len(first) for part in pairs):
        raise InvalidProblem(f"normal, friction and slip must have the {len(first)} rows of k.")
    mu, number = case_minima(*columns)
    return mu, [LABELS[i] for i in number]


def water_filling(
    total: float, lower: Any, upper: Any, *, start: Any = 0.0, stiffness: Any = 1.0
) -> np.ndarray:
    """Friction forces (n,) [N] of contacts with one common direction, nearest to ``start`` with the given sum.

    T_i = clip(start_i + s stiffness_i, lower_i, upper_i), Σ T_i = total: the minimum of Σ (T_i − start_i)²/stiffness_i
    within the bounds, which is how springs of these stiffnesses share a load. A sum that the bounds do not allow gives
    the nearest one.

    ``lower``, ``upper``  bounds (n,) [N]; equal for a contact that slides
    ``stiffness``         above 0, one or (n,); only ratios count

    >>> water_filling(-15.0, [-7.0, -9.0], [7.0, 9.0]).tolist()
    [-7.0, -8.0]
    """
    from klapper.complementarity.kernels.friction_split import water_fill

    lower, upper, start, stiffness = (
        np.ascontiguousarray(part, dtype=float)
        for part in np.broadcast_arrays(lower, upper, start, stiffness)
    )
    if np.any(lower > upper):
        worst = int(np.argmax(lower - upper))
        raise InvalidProblem(f"lower[{worst}] = {lower[worst]} exceeds upper[{worst}] = {upper[worst]}.")
    if not np.all(stiffness > 0.0):
        raise InvalidProblem(
            "stiffness must be above 0 for every contact; leave out contacts that carry nothing."
        )
    return water_fill(float(total), lower, upper, start, stiffness)


def _pair(given: Any, name: str, *, at_least: float = -np.inf) -> tuple[float, float]:
    values = np.asarray(given, dtype=float)
    if values.shape != (2,) or not np.all(np.isfinite(values)) or np.any(values < at_least):
        bound = f" from {at_least:g} on" if np.isfinite(at_least) else ""
        raise InvalidProblem(
            f"{name} is {given!r}; allowed are two finite numbers{bound}, of contacts A and B."
        )
    return float(values[0]), float(values[1])
