"""Newton's impact as a smooth map: which contacts press, stick and slip in it is kept.

    M (v⁺ − v⁻) = D T x,     J_Nᵀ v⁺ + a_N + ε (J_Nᵀ v⁻ + a_N) = 0  pressing contacts
    J_Tᵀ v⁺ + a_T = 0  sticking patches,   Λ_T = −s μ Λ_N  slipping ones,   J_Bᵀ v⁺ + a_B = 0

With the pattern kept, v⁺ is linear in v⁻ and has a derivative, also where an impact would be without speed. Contacts
that depend on each other share their impulses as they like; v⁺ is unique.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from klapper.complementarity.dense import dense
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.linear_system import LinearSystem
from klapper.schemes.mobility import natural_units
from klapper.schemes.phase_map import Linearised, PhaseMaps
from klapper.schemes.phase_modes import SLIDING, SMOOTH, STICKING
from klapper.schemes.phase_record import Jump
from klapper.schemes.phase_variation import difference, gradient

_NOTHING = 1e-9  # of the largest impulse or velocity: what counts as zero
_RANK = 1e-10


@dataclass(frozen=True, eq=False)
class ImpactPattern:
    """What the contacts do in one impact: numbers (k,), ``pressing`` (k,), ``grip`` (k,) and ``sense`` (k,) = ±1 of
    those that slip after it."""

    contact: np.ndarray
    pressing: np.ndarray
    grip: np.ndarray
    sense: np.ndarray

    @staticmethod
    def of(maps: PhaseMaps, t: float, q: np.ndarray, jump: Jump) -> ImpactPattern:
        """The pattern of an impact that happened."""
        system, contact, impulse = maps.system, jump.contact, jump.impulse
        pressing = impulse[:, 0] > _NOTHING * np.abs(impulse[:, 0]).max(initial=0.0)
        grip, sense = np.full(len(contact), SMOOTH), np.zeros(len(contact))
        if system.contacts.tangential == 0:
            return ImpactPattern(contact, pressing, grip, sense)
        at_rest = system.contacts.laws(contact, np.zeros(len(contact)))
        rough = at_rest.friction_matrix[:, pressing].sum(axis=1) > 0.0
        if system.contacts.tangential == 2 and rough.any():
            names = ", ".join(system.contacts.name(int(i)) for i in contact[rough])
            raise InvalidModel(
                f"{names} can slide in two directions in an impact; give these contacts one tangential direction."
            )
        slip = maps.directions(t, q, contact).slip(jump.after)
        still = np.abs(slip) <= _NOTHING * max(float(np.abs(jump.before).max()), 1e-300)
        grip[rough] = np.where(still, STICKING, SLIDING)[rough]
        sense[rough & ~still] = np.sign(slip)[rough & ~still]
        return ImpactPattern(contact, pressing, grip, sense)

    @cached_property
    def key(self) -> tuple[bytes, ...]:
        """Equal patterns have equal keys."""
        return tuple(part.tobytes() for part in (self.contact, self.pressing, self.grip, self.sense))

    def same_as(self, other: ImpactPattern) -> bool:
        """Whether the same contacts press, stick and slip."""
        return _of_force(self) == _of_force(other)

    def linearised(self, maps: PhaseMaps, t: float, x: np.ndarray) -> Linearised:
        """The state (2n,) after the impact."""
        n = len(x) // 2
        q, v = x[:n], x[n:]
        laws = self._laws(maps, t, q, v)
        by_state, by_time = np.eye(2 * n), np.zeros(2 * n)
        if _steady(maps):
            by_state[n:, n:] += laws.gain @ laws.taken
            by_time[n:] = laws.gain @ laws.change(maps, t, q, v)
            return Linearised(np.concatenate([q, laws.after(maps, t, q, v)]), by_state, by_time)
        reach, speed = max(float(np.abs(q).max()), 1e-12), max(float(np.abs(v).max()), 1e-12)

        def after(time: float, y: np.ndarray) -> np.ndarray:
            return self._laws(maps, time, y[:n], y[n:]).after(maps, time, y[:n], y[n:])

        by_state[n:] = gradient(
            lambda y: after(t, y), x, np.concatenate([np.full(n, reach), np.full(n, speed)])
        )
        along = np.concatenate([v, np.zeros(n)])
        by_time[n:] = (
            difference(lambda s: after(t + s, x + s * along), 1e-3 * reach / speed) - by_state[n:] @ along
        )
        return Linearised(np.concatenate([q, after(t, x)]), by_state, by_time)

    def impulses(self, maps: PhaseMaps, t: float, x: np.ndarray) -> np.ndarray:
        """Normal impulses (k,) [N s], zero where nothing presses."""
        n = len(x) // 2
        laws = self._laws(maps, t, x[:n], x[n:])
        found = np.zeros(len(self.contact))
        found[self.pressing] = laws.impulses(maps, t, x[:n], x[n:])[: laws.m]
        return found

    def margins(self, maps: PhaseMaps, t: float, x: np.ndarray) -> list[tuple[int, float]]:
        """Contact numbers, and in parts of its size what must stay above zero for this pattern: shares of impulses,
        speeds of slip and of separation, friction short of its limit. None changes sign with the impact itself."""
        n, system = len(x) // 2, maps.system
        q, v = x[:n], x[n:]
        laws = self._laws(maps, t, q, v)
        held, after = laws.impulses(maps, t, q, v), laws.after(maps, t, q, v)
        fast, press = max(float(np.abs(v).max()), 1e-300), held[: laws.m]
        found: list[tuple[int, float]] = []
        if laws.m > 1:
            found += zip(self.contact[laws.pressing].tolist(), press / press.sum(), strict=True)
        given = system.contacts.laws(self.contact)
        aside = np.flatnonzero(~self.pressing & given.normal)
        if aside.size or np.any(self.grip != SMOOTH):
            directions = maps.directions(t, q, self.contact)
            opening = directions.approach(after) + given.restitution * directions.approach(v)
            found += [(int(self.contact[i]), opening[i] / fast) for i in aside]
            slip = directions.slip(after)
            for i in np.flatnonzero(self.grip == SLIDING):
                found.append((int(self.contact[i]), float(self.sense[i] * slip[i]) / fast))
            friction = system.contacts.laws(self.contact, np.abs(slip)).friction_matrix
            limits = friction[:, laws.pressing] @ press
            for row, i in enumerate(laws.stick, start=laws.m):
                found.append((int(self.contact[i]), 1.0 - abs(float(held[row] / limits[i]))))
        return [(contact, float(value)) for contact, value in found if abs(value) > _NOTHING]

    def _laws(self, maps: PhaseMaps, t: float, q: np.ndarray, v: np.ndarray) -> _ImpactLaws:
        if not _steady(maps):
            return _ImpactLaws(self, maps, t, q, v)
        if self.key not in maps.shared:
            maps.shared[self.key] = _ImpactLaws(self, maps, t, q, v)
        return maps.shared[self.key]


class _ImpactLaws:
    """v⁺ = v + ``gain`` (``taken`` v + given(t)); ``inverse`` leads to the impulses of the held rows instead."""

    def __init__(
        self, pattern: ImpactPattern, maps: PhaseMaps, t: float, q: np.ndarray, v: np.ndarray
    ) -> None:
        self.contact, self.pressing = pattern.contact, np.flatnonzero(pattern.pressing)
        self.m = m = len(self.pressing)
        self.stick, slide = np.flatnonzero(pattern.grip == STICKING), np.flatnonzero(pattern.grip == SLIDING)
        system, directions = maps.system, maps.directions(t, q, self.contact)
        self.lively = 1.0 + system.contacts.laws(self.contact).restitution[self.pressing]
        held = np.hstack(
            [
                directions.normal[:, self.pressing],
                directions.tangential[:, self.stick],
                dense(system.constraint_directions(t, q)[0]),
            ]
        )
        acting = held.copy()
        if slide.size:
            speeds = np.abs(directions.slip(v))
            friction = system.contacts.laws(self.contact, speeds).friction_matrix[
                np.ix_(slide, self.pressing)
            ]
            acting[:, :m] -= (directions.tangential[:, slide] * pattern.sense[slide]) @ friction
        response = np.asarray(maps.inverse(q)(acting))
        self.inverse = -_pseudo_inverse(held.T @ response)
        self.gain = response @ self.inverse
        self.taken = held.T.copy()
        self.taken[:m] *= self.lively[:, None]

    def impulses(self, maps: PhaseMaps, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Of pressing normals, sticking patches and constraints."""
        return self.inverse @ (self.taken @ v + self._given(maps, t, q))

    def after(self, maps: PhaseMaps, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """v⁺ (n,)."""
        return v + self.gain @ (self.taken @ v + self._given(maps, t, q))

    def _given(self, maps: PhaseMaps, t: float, q: np.ndarray) -> np.ndarray:
        directions = maps.directions(t, q, self.contact)
        joints = maps.system.constraint_directions(t, q)[1]
        return np.concatenate(
            [
                self.lively * directions.normal_rate[self.pressing],
                directions.tangential_rate[self.stick],
                joints,
            ]
        )

    def change(self, maps: PhaseMaps, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Change in time of what is given, for a linear system."""
        normal, tangential = maps.system.curvature(t, q, v, self.contact)
        d = max(maps.system.contacts.tangential, 1)
        stick = tangential[self.stick * d] if len(tangential) else np.zeros(len(self.stick))
        joints = maps.system.constraint_curvature(t, q, v) if maps.system.constraints else np.zeros(0)
        return np.concatenate([self.lively * normal[self.pressing], stick, joints])


def _steady(maps: PhaseMaps) -> bool:
    """Whether the laws of impact do not change with the state."""
    return isinstance(maps.system, LinearSystem) and maps.system.contacts.constant


def _of_force(pattern: ImpactPattern) -> set[tuple[int, ...]]:
    """Contacts with impulses, and how they slip."""
    acts = pattern.pressing | (pattern.grip != SMOOTH)
    rows = (pattern.contact[acts], pattern.pressing[acts], pattern.grip[acts], pattern.sense[acts])
    return {tuple(int(part) for part in row) for row in zip(*rows, strict=True)}


def _pseudo_inverse(matrix: np.ndarray) -> np.ndarray:
    """Of a mobility matrix, rows measured by its diagonal."""
    if matrix.size == 0:
        return matrix.T
    unit = natural_units(matrix.diagonal())
    return np.linalg.pinv(matrix / np.outer(unit, unit), rcond=_RANK) / np.outer(unit, unit)
