"""The block on two feet inside a compiled loop: directions, forces, tangents, energies.

The same formulas as the model that gives the form, see :mod:`klapper.mechanics.block_form`. The four contact rows are
N_A, T_A, N_B, T_B; foot A belongs to the first and foot B to the last body.
"""

from __future__ import annotations

import math

import numpy as np

from klapper.machine_code import njit
from klapper.mechanics.block_form import BlockForm


@njit(cache=True, inline="always")
def foot_row(form: BlockForm, foot: int) -> int:
    """First coordinate of the body of a foot."""
    return 3 * (form.mass.size - 1) * foot


@njit(cache=True, inline="always")
def turned(angle: float, place: np.ndarray) -> tuple[float, float]:
    c, s = math.cos(angle), math.sin(angle)
    return c * place[0] - s * place[1], s * place[0] + c * place[1]


@njit(cache=True)
def set_gaps(form: BlockForm, q: np.ndarray, gap: np.ndarray) -> None:
    for i in range(2):
        row = foot_row(form, i)
        gap[i] = q[row + 1] + turned(q[row + 2], form.foot[i])[1]


@njit(cache=True)
def set_columns(form: BlockForm, q: np.ndarray, column: np.ndarray) -> None:
    """Directions (n, 4) of the contacts."""
    for i in range(2):
        row = foot_row(form, i)
        for k in range(q.size):
            column[k, 2 * i] = column[k, 2 * i + 1] = 0.0
        x, y = turned(q[row + 2], form.foot[i])
        column[row + 1, 2 * i], column[row + 2, 2 * i] = 1.0, x
        column[row, 2 * i + 1], column[row + 2, 2 * i + 1] = 1.0, -y


@njit(cache=True)
def set_slip(form: BlockForm, q: np.ndarray, v: np.ndarray, slip: np.ndarray) -> None:
    """Sliding velocities (2,) of the feet."""
    for i in range(2):
        row = foot_row(form, i)
        slip[i] = v[row] - turned(q[row + 2], form.foot[i])[1] * v[row + 2]


@njit(cache=True)
def set_stretch(form: BlockForm, q: np.ndarray, stretch: np.ndarray, rows: np.ndarray) -> None:
    """(Δs_x, Δs_y, Δφ) (3,) of the halves and its derivative (3, 6)."""
    x_1, y_1 = turned(q[2], form.joint[0])
    x_2, y_2 = turned(q[5], form.joint[1])
    stretch[0] = q[3] + x_2 - q[0] - x_1
    stretch[1] = q[4] + y_2 - q[1] - y_1
    stretch[2] = q[5] - q[2]
    for r in range(3):
        for i in range(6):
            rows[r, i] = 0.0
    rows[0, 0], rows[0, 2], rows[0, 3], rows[0, 5] = -1.0, y_1, 1.0, -y_2
    rows[1, 1], rows[1, 2], rows[1, 4], rows[1, 5] = -1.0, -x_1, 1.0, x_2
    rows[2, 2], rows[2, 5] = -1.0, 1.0


@njit(cache=True)
def set_force(
    form: BlockForm,
    load: np.ndarray,
    q: np.ndarray,
    v: np.ndarray,
    stretch: np.ndarray,
    rows: np.ndarray,
    force: np.ndarray,
) -> None:
    """h (n,) for the load (F_x, F_y, M); ``stretch`` (3,) and ``rows`` (3, 6) are room."""
    n = q.size
    for j in range(form.mass.size):
        force[3 * j], force[3 * j + 1], force[3 * j + 2] = 0.0, -form.mass[j] * form.gravity, 0.0
    x, y = turned(q[n - 1], form.corner)
    force[n - 3] += load[0]
    force[n - 2] += load[1]
    force[n - 1] += load[2] + x * load[1] - y * load[0]
    if form.mass.size == 2:
        set_stretch(form, q, stretch, rows)
        for r in range(3):
            kind = r // 2
            rate = 0.0
            for i in range(6):
                rate += rows[r, i] * v[i]
            pull = form.stiffness[kind] * stretch[r] + form.damping[kind] * rate
            for i in range(6):
                force[i] -= rows[r, i] * pull


@njit(cache=True)
def set_tangents(
    form: BlockForm,
    load: np.ndarray,
    load_rate: np.ndarray,
    q: np.ndarray,
    v: np.ndarray,
    by_position: np.ndarray,
    by_velocity: np.ndarray,
    by_time: np.ndarray,
) -> None:
    """H_q, H_v (n, n) and H_t (n,)."""
    n = q.size
    for i in range(n):
        by_time[i] = 0.0
        for j in range(n):
            by_position[i, j] = by_velocity[i, j] = 0.0
    x, y = turned(q[n - 1], form.corner)
    by_position[n - 1, n - 1] -= x * load[0] + y * load[1]
    by_time[n - 3], by_time[n - 2] = load_rate[0], load_rate[1]
    by_time[n - 1] = load_rate[2] + x * load_rate[1] - y * load_rate[0]
    if form.mass.size == 1:
        return
    stretch, rows, bend = np.empty(3), np.empty((3, 6)), np.zeros((2, 2))
    set_stretch(form, q, stretch, rows)
    bend[0, 0], bend[0, 1] = turned(q[2], form.joint[0])
    bend[1, 0], bend[1, 1] = turned(q[5], form.joint[1])
    for r in range(3):
        c, d = form.stiffness[r // 2], form.damping[r // 2]
        pull = c * stretch[r]
        for i in range(6):
            pull += d * rows[r, i] * v[i]
            for j in range(6):
                by_position[i, j] -= c * rows[r, i] * rows[r, j]
                by_velocity[i, j] -= d * rows[r, i] * rows[r, j]
        if r < 2:
            for side in range(2):
                angle, turn = 3 * side + 2, (1.0 - 2.0 * side) * bend[side, r]
                by_position[angle, angle] -= turn * pull
                for i in range(6):
                    by_position[i, angle] -= rows[r, i] * d * turn * v[angle]


@njit(cache=True)
def potential(form: BlockForm, q: np.ndarray, stretch: np.ndarray, rows: np.ndarray) -> float:
    """V [J]; ``stretch`` and ``rows`` are room."""
    energy = 0.0
    for j in range(form.mass.size):
        energy += form.mass[j] * form.gravity * q[3 * j + 1]
    if form.mass.size == 2:
        set_stretch(form, q, stretch, rows)
        for r in range(3):
            energy += 0.5 * form.stiffness[r // 2] * stretch[r] ** 2
    return energy


@njit(cache=True)
def kinetic(form: BlockForm, v: np.ndarray) -> float:
    energy = 0.0
    for j in range(form.mass.size):
        energy += form.mass[j] * (v[3 * j] ** 2 + v[3 * j + 1] ** 2) + form.inertia[j] * v[3 * j + 2] ** 2
    return 0.5 * energy


@njit(cache=True)
def powers(
    form: BlockForm, load: np.ndarray, q: np.ndarray, v: np.ndarray, stretch: np.ndarray, rows: np.ndarray
) -> tuple[float, float]:
    """Power of the load and power that damping takes [W]; ``stretch`` and ``rows`` are room."""
    n = q.size
    x, y = turned(q[n - 1], form.corner)
    given = load[0] * (v[n - 3] - y * v[n - 1]) + load[1] * (v[n - 2] + x * v[n - 1]) + load[2] * v[n - 1]
    if form.mass.size == 1:
        return given, 0.0
    set_stretch(form, q, stretch, rows)
    lost = 0.0
    for r in range(3):
        rate = 0.0
        for i in range(6):
            rate += rows[r, i] * v[i]
        lost += form.damping[r // 2] * rate**2
    return given, lost
