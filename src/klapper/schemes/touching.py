"""What touches at a state: the closed contacts with their directions, velocities and laws, ready for a decision."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from klapper.complementarity.dense import dense
from klapper.mechanics.contact_table import ContactLaws
from klapper.mechanics.system import Directions, System
from klapper.schemes.mobility import Inverse

ROUND_OFF = 1e-12  # of the terms of a velocity: what is left of them where they cancel


class Touching:
    """Contacts with a gap of at most ``touch`` [m], and all friction elements, at time t, position q, velocity v.

    Normal velocities up to ``still`` [m/s], or up to round-off of their terms, count as zero.

    ``contact``     numbers (k,), rising
    ``directions``  of them; ``laws`` at their sliding speeds
    ``approach``    ġ (k,) [m/s]; ``slip`` v_T (k, d) [m/s] in scaled directions, ``speed`` |v_T| (k,)
    """

    def __init__(
        self,
        system: System,
        t: float,
        q: np.ndarray,
        v: np.ndarray,
        *,
        touch: float,
        still: float,
        inverse: Inverse | None = None,
    ) -> None:
        self.system, self.t, self.q, self.v, self.touch, self.still = system, t, q, v, touch, still
        near = system.near(t, q)
        gaps = system.gaps(t, q, near)
        element = np.isnan(gaps)
        element[element] = ~system.contacts.laws(near[element]).normal
        self.contact = near[element | (gaps <= touch)].astype(np.int64)
        self.d = system.contacts.tangential
        self._inverse = inverse
        found = system.directions(t, q, self.contact)
        self.directions = Directions(
            dense(found.normal), found.normal_rate, dense(found.tangential), found.tangential_rate
        )
        shape = (len(self.contact), self.d)
        slip = self.directions.tangential_velocity(v).reshape(shape)
        self.speed = np.linalg.norm(slip, axis=1)
        self.laws: ContactLaws = system.contacts.laws(self.contact, self.speed)
        self.scale = np.ones(shape)
        if self.d == 2:
            self.scale[:, 1] = self.laws.ratio
        self.slip = slip * self.scale
        self.approach = self.directions.normal_velocity(v)

    @cached_property
    def normal(self) -> np.ndarray:
        """J_N (n, k), zero columns for friction elements."""
        return np.asarray(self.directions.normal)

    @cached_property
    def tangential(self) -> np.ndarray:
        """J_T (n, k d) in scaled directions."""
        return np.asarray(self.directions.tangential * self.scale.ravel())

    @cached_property
    def inverse(self) -> Inverse:
        """M⁻¹."""
        return self._inverse or Inverse(self.system.mass(self.q))

    @cached_property
    def bilateral(self) -> tuple[np.ndarray, np.ndarray]:
        """J_B (n, p) and a_B (p,)."""
        direction, rate = self.system.constraint_directions(self.t, self.q)
        return dense(direction), rate

    def directions_of(self, places: np.ndarray) -> Directions:
        """Directions of some of the contacts that touch."""
        if len(places) == len(self.contact):
            return self.directions
        every, d = self.directions, self.d
        rows = (places[:, None] * d + np.arange(d)).ravel()
        return Directions(
            every.normal[:, places],
            every.normal_rate[places],
            every.tangential[:, rows],
            every.tangential_rate[rows],
        )

    @cached_property
    def quiet(self) -> np.ndarray:
        """Normal velocities (k,) [m/s] up to which they count as zero."""
        terms = abs(self.directions.normal).T @ np.abs(self.v) + np.abs(self.directions.normal_rate)
        return np.maximum(
            ROUND_OFF * np.maximum(np.asarray(terms), np.abs(self.v).max(initial=0.0)), self.still
        )

    @cached_property
    def constraint_violation(self) -> np.ndarray:
        """J_Bᵀ v + a_B (p,) [m/s]."""
        direction, rate = self.bilateral
        return np.asarray(direction.T @ self.v) + rate

    @property
    def collides(self) -> bool:
        """Whether the velocity must jump: a closed contact approaches, or v contradicts the two-sided constraints."""
        if np.any(self.laws.normal & (self.approach < -self.quiet)):
            return True
        if not self.system.constraints:
            return False
        direction, rate = self.bilateral
        terms = abs(direction).T @ np.abs(self.v) + np.abs(rate)
        return bool(
            np.any(np.abs(self.constraint_violation) > np.maximum(1e-6 * np.asarray(terms), self.still))
        )

    def coefficients(self, speed: np.ndarray) -> np.ndarray:
        """μ (k, k): friction limits from normal forces at sliding speeds (k,) [m/s]."""
        return self.system.contacts.laws(self.contact, speed).friction_matrix

    def place(self, contact: np.ndarray) -> np.ndarray:
        """Places (e,) of contact numbers among those that touch; those that do not touch are left out."""
        return np.flatnonzero(np.isin(self.contact, contact))

    def names(self, places: np.ndarray) -> list[str]:
        return [self.system.contacts.name(int(self.contact[i])) for i in places]
