"""The block on two feet as a system: one rigid body, or two halves with springs and dampers. Seiwald B.4.

    M = diag(m_j, m_j, θ_j),   h = weight + load at the corner − ∂V/∂q − damping,   W by the feet      (B.54)-(B.59)
    V = Σ m_j g y_j + ½ c_T |Δs|² + ½ c_R Δφ²                                                          (B.48), (B.50)

with Δs = r_C2 − r_C1 and Δφ of the halves; their forces are −Δ_qᵀ (c Δ + d Δ̇), so that action is reaction.
"""

from __future__ import annotations

from functools import partial
from math import cos, sin
from typing import Any, Literal

import numpy as np

from klapper.bodies.block_halves import Coupling, Halves
from klapper.bodies.footed_block import FootedBlock
from klapper.bodies.picture import footed_picture
from klapper.mechanics.arguments import finite
from klapper.mechanics.block_form import BlockForm
from klapper.mechanics.compiled_form import CompiledForm, NotCompiled
from klapper.mechanics.contact_table import ContactList
from klapper.mechanics.contacts import Contact
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.picture import Picture
from klapper.mechanics.signals import Signal, as_signal
from klapper.mechanics.system import Directions, ForceTangents, State, System, check_start

Start = Literal["static", "static of turning springs", "relaxed"]
NAMES = ("x", "y", "angle")


class FootedSystem(System):
    """A block on two feet A and B with a load at its upper right corner.

    Made by :func:`rigid_block` and :func:`split_block`. Position and velocity are (x, y, φ) of the centre of each body.

    ``form``   masses [kg], inertias [kg m²], places of the feet [m], friction and coupling of the bodies
    ``load``   (F_x, F_y, M) [N, N, N m] over time
    ``start``  time, position and velocity at the start; ``name`` is that of the system

    M v' = weight + load + J_N λ_N + J_T λ_T. A block of 16 kg under a push of 5 N, which acts 0.05 m above the centre:

    >>> block = rigid_block(FootedBlock(0.2, 0.1, 16.0, gravity=10.0), load=(5.0, 0.0, 0.0))
    >>> block.force(0.0, block.start.position, block.start.velocity).round(12).tolist()
    [5.0, -160.0, -0.25]
    """

    def __init__(self, form: BlockForm, load: Any, start: State, name: str) -> None:
        self.form, self.start, self.name = form, start, name
        self.load: Signal = as_signal(load, "load")
        if self.load.shape != (3,):
            raise InvalidModel(
                f"load has shape {self.load.shape}; expected (3,): F_x, F_y in N and a moment in N m."
            )
        bodies = len(form.mass)
        sides = ("",) if bodies == 1 else ("left ", "right ")
        self.coordinates = self.velocities = tuple(side + name for side in sides for name in NAMES)
        self.constraints = ()
        self._mass = np.diag(np.column_stack([form.mass, form.mass, form.inertia]).ravel())
        self._foot_body = (0, bodies - 1)
        self.contacts = ContactList(
            [
                Contact(
                    foot,
                    gap=partial(self._gap, i),
                    normal=partial(self._direction, i, 1),
                    tangents=partial(self._direction, i, 0),
                    friction=form.friction[i],
                )
                for i, foot in enumerate("AB")
            ],
            start.time,
            start.position,
        )
        check_start(self)

    def compiled_form(self) -> CompiledForm:
        raise NotCompiled(
            "the block on two feet is compiled for NestedProx, the scheme of its source; for Moreau make it a body of "
            "Planar with two points in contact"
        )

    def block_form(self) -> BlockForm:
        """The model as plain arrays."""
        return self.form

    def mass(self, q: np.ndarray) -> np.ndarray:
        return self._mass

    def picture(self, until: float = 0.0) -> Picture:
        return footed_picture(self)

    def force(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        form, total = self.form, np.zeros(len(q))
        total[1::3] -= form.mass * form.gravity
        push = self.load.value(t)
        x, y = _turned(q[-1], form.corner)
        total[-3:] += (push[0], push[1], push[2] + x * push[1] - y * push[0])
        if len(form.mass) == 2:
            stretch, rows = self._stretch(q)
            springs, dampers = self._laws()
            total -= rows.T @ (springs * stretch + dampers * (rows @ v))
        return total

    def tangents(self, t: float, q: np.ndarray, v: np.ndarray) -> ForceTangents:
        n, form = len(q), self.form
        by_position, by_velocity, by_time = np.zeros((n, n)), np.zeros((n, n)), np.zeros(n)
        push, rate = self.load.value(t), self.load.rate(t)
        x, y = _turned(q[-1], form.corner)
        by_position[-1, -1] -= x * push[0] + y * push[1]
        by_time[-3:] = (rate[0], rate[1], rate[2] + x * rate[1] - y * rate[0])
        if len(form.mass) == 2:
            stretch, rows = self._stretch(q)
            springs, dampers = self._laws()
            pull = springs * stretch + dampers * (rows @ v)
            by_velocity -= rows.T @ (dampers[:, None] * rows)
            by_position -= rows.T @ (springs[:, None] * rows)
            for angle, sign, place in ((2, 1.0, form.joint[0]), (5, -1.0, form.joint[1])):
                bend = np.zeros(3)  # ∂ rows[:, angle] / ∂ angle
                bend[:2] = sign * np.array(_turned(q[angle], place))
                by_position[angle, angle] -= bend @ pull
                by_position[:, angle] -= rows.T @ (dampers * bend) * v[angle]
        return ForceTangents(by_position, by_velocity, by_time, complete=True)

    def gaps(self, t: float, q: np.ndarray, which: np.ndarray) -> np.ndarray:
        return np.array([self._gap(int(i), t, q) for i in which], dtype=float)

    def directions(self, t: float, q: np.ndarray, which: np.ndarray) -> Directions:
        normal, tangential = np.zeros((2, len(q), len(which)))
        for column, i in enumerate(which):
            normal[:, column] = self._direction(int(i), 1, t, q)
            tangential[:, column] = self._direction(int(i), 0, t, q)
        return Directions(normal, np.zeros(len(which)), tangential, np.zeros(len(which)))

    def curvature(
        self, t: float, q: np.ndarray, v: np.ndarray, which: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        normal, tangential = np.zeros((2, len(which)))
        for row, i in enumerate(which):
            body = 3 * self._foot_body[i]
            x, y = _turned(q[body + 2], self.form.foot[i])
            normal[row], tangential[row] = -y * v[body + 2] ** 2, -x * v[body + 2] ** 2
        return normal, tangential

    def potential(self, q: np.ndarray) -> float:
        energy = self.form.gravity * float(self.form.mass @ q[1::3])
        if len(self.form.mass) == 2:
            stretch, _ = self._stretch(q)
            energy += 0.5 * float(self._laws()[0] @ stretch**2)
        return energy

    def powers(self, t: float, q: np.ndarray, v: np.ndarray) -> tuple[float, float]:
        push = self.load.value(t)
        x, y = _turned(q[-1], self.form.corner)
        load = push[0] * (v[-3] - y * v[-1]) + push[1] * (v[-2] + x * v[-1]) + push[2] * v[-1]
        if len(self.form.mass) == 1:
            return float(load), 0.0
        _, rows = self._stretch(q)
        return float(load), float(self._laws()[1] @ (rows @ v) ** 2)

    def foot_velocities(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Sliding velocities (s, 2) [m/s] of A and B at s positions and velocities (s, n)."""
        found = []
        for foot, body in zip(self.form.foot, self._foot_body, strict=True):
            height = np.sin(q[:, 3 * body + 2]) * foot[0] + np.cos(q[:, 3 * body + 2]) * foot[1]
            found.append(v[:, 3 * body] - height * v[:, 3 * body + 2])
        return np.column_stack(found)

    def _gap(self, foot: int, t: float, q: np.ndarray) -> float:
        body = 3 * self._foot_body[foot]
        return float(q[body + 1] + _turned(q[body + 2], self.form.foot[foot])[1])

    def _direction(self, foot: int, axis: int, t: float, q: np.ndarray) -> np.ndarray:
        """J_T (axis 0) or J_N (axis 1) of a foot (n,)."""
        body, direction = 3 * self._foot_body[foot], np.zeros(len(q))
        x, y = _turned(q[body + 2], self.form.foot[foot])
        direction[body + axis] = 1.0
        direction[body + 2] = x if axis else -y
        return direction

    def _stretch(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(Δs_x, Δs_y, Δφ) (3,) and its derivative (3, 6), (B.14)-(B.16)."""
        (x_1, y_1), (x_2, y_2) = (_turned(q[2], self.form.joint[0]), _turned(q[5], self.form.joint[1]))
        stretch = np.array([q[3] + x_2 - q[0] - x_1, q[4] + y_2 - q[1] - y_1, q[5] - q[2]])
        rows = np.array([[-1, 0, y_1, 1, 0, -y_2], [0, -1, -x_1, 0, 1, x_2], [0, 0, -1, 0, 0, 1.0]])
        return stretch, rows

    def _laws(self) -> tuple[np.ndarray, np.ndarray]:
        """Stiffnesses and dampings (3,) of (Δs_x, Δs_y, Δφ)."""
        (c_t, c_r), (d_t, d_r) = self.form.stiffness, self.form.damping
        return np.array([c_t, c_t, c_r]), np.array([d_t, d_t, d_r])


def rigid_block(
    block: FootedBlock,
    *,
    load: Any = (0.0, 0.0, 0.0),
    at: Any = None,
    velocity: Any = (0.0, 0.0, 0.0),
    time: float = 0.0,
) -> FootedSystem:
    """The block as one rigid body (2.4), standing with A at the origin if not placed ``at`` (3,) (x, y, φ).

    ``load``      (F_x, F_y, M) [N, N, N m] at the upper right corner: numbers, a signal or a function of t
    ``velocity``  (3,) [m/s, m/s, rad/s] and ``time`` [s] of the start

    >>> block = rigid_block(FootedBlock(0.2, 0.1, 16.0, friction=(0.3, 0.3)))
    >>> block.start.position.tolist(), block.gaps(0.0, block.start.position, np.array([0, 1])).tolist()
    ([0.1, 0.05, 0.0], [0.0, 0.0])
    """
    a, b = block.width, block.height
    assert block.inertia is not None
    form = BlockForm(
        np.array([block.mass], dtype=float),
        np.array([block.inertia], dtype=float),
        np.array([[-a / 2, -b / 2], [a / 2, -b / 2]]),
        np.array([a / 2, b / 2]),
        np.zeros((2, 2)),
        np.zeros(2),
        np.zeros(2),
        float(block.gravity),
        np.array(block.friction),
    )
    place = np.array([a / 2, b / 2, 0.0]) if at is None else finite(at, "at", (3,))
    start = State(float(time), place, finite(velocity, "velocity", (3,)))
    return FootedSystem(form, load, start, "block on two feet")


def split_block(
    block: FootedBlock,
    coupling: Coupling,
    *,
    load: Any = (0.0, 0.0, 0.0),
    start: Start = "static",
    lifted: float = 0.0,
    velocity: Any = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    time: float = 0.0,
) -> FootedSystem:
    """The block as two halves (2.5) with their coupling.

    ``start``   "static": equilibrium with A and B where they are in :func:`rigid_block`; "static of turning springs":
                the same without the horizontal springs, (B.29); "relaxed": no spring is stretched, (5.1)
    ``lifted``  height [m] by which everything is lifted, (5.3)

    ``load``    as of :func:`rigid_block`, ``velocity`` (6,) of both halves and ``time`` [s] of the start

    Dropped from 0.01 m without a stretched spring, both feet are that far above the ground:

    >>> halves = split_block(FootedBlock(0.4, 0.2, 16.0), Coupling(1e5, 1000.0), start="relaxed", lifted=0.01)
    >>> len(halves.coordinates), halves.gaps(0.0, halves.start.position, np.array([0, 1])).round(12).tolist()
    (6, [0.01, 0.01])
    """
    a, b = block.width, block.height
    halves = Halves(block, coupling)
    angles = {
        "static": halves.sag,
        "static of turning springs": halves.sag_of_turning_springs,
        "relaxed": 0.0,
    }
    if start not in angles:
        raise InvalidModel(f"start is {start!r}; allowed are {', '.join(map(repr, angles))}.")
    foot = np.array([[-a / 4, -b / 2], [a / 4, -b / 2]])
    form = BlockForm(
        np.full(2, halves.mass),
        np.full(2, halves.inertia),
        foot,
        np.array([a / 4, b / 2]),
        np.array([[a / 4, 0.0], [-a / 4, 0.0]]),
        np.array([coupling.stiffness, coupling.turning_stiffness], dtype=float),
        np.array([coupling.damping, coupling.turning_damping], dtype=float),
        float(block.gravity),
        np.array(block.friction),
    )
    place = []
    for foot_at, on, turn in ((0.0, foot[0], angles[start]), (a, foot[1], -angles[start])):
        x, y = _turned(turn, on)
        place += [foot_at - x, lifted - y, turn]
    state = State(float(time), np.array(place), finite(velocity, "velocity", (6,)))
    return FootedSystem(form, load, state, "halves of a block on two feet")


def _turned(angle: float, place: np.ndarray) -> tuple[float, float]:
    """A(angle) place."""
    c, s = cos(angle), sin(angle)
    return c * place[0] - s * place[1], s * place[0] + c * place[1]
