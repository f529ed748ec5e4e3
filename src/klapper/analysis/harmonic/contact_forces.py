"""Contact forces over one period for a given motion and given forces in harmonics: the alternation to time and back.

    normal       λ_N = max(0, λ*_N − g / S)
    tangential   predicted as if it stuck, corrected onto |λ_T| ≤ R   (:mod:`klapper.analysis.kernels.friction_period`)

with the flexibilities S and d of :mod:`klapper.analysis.harmonic.tail`. Where a contact opens or closes between two
samples, the force ends where the line between them vanishes, so that its harmonics change smoothly with the motion.
The derivative of the force's harmonics by those of λ* and of the displacement x is exact between changes of state.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from klapper.analysis.harmonic.directions import ContactDirections, ContactPart
from klapper.analysis.harmonic.fourier import Grid
from klapper.analysis.harmonic.tail import Tail
from klapper.analysis.kernels.friction_period import pass_derivative, pass_period
from klapper.contact_states import OPEN, SLIP, STICK


@dataclass(frozen=True, eq=False)
class Dependence:
    """How the harmonics of the force in direction ``row`` depend on those in direction ``column``.

    Rows (2 K + 1, K + 1) of functionals of λ* and of x.
    """

    row: int
    column: int
    by_force: np.ndarray
    by_displacement: np.ndarray


@dataclass(frozen=True, eq=False)
class ContactLaws:
    """The contacts of a system on a grid of one period."""

    directions: ContactDirections
    grid: Grid
    tail: Tail

    def forces(self, star: np.ndarray, displacement: np.ndarray, drift: np.ndarray) -> Alternation:
        """Forces for λ* (K + 1, c) [N], displacements x (K + 1, c) [m] and steady drift (c,) [m] per sample."""
        grid, normal = self.grid, self.directions.is_normal
        force = np.zeros((grid.samples, self.directions.count))
        predicted = grid.to_time(star[:, normal] - displacement[:, normal] / self.tail.spring[normal])
        force[:, normal] = np.maximum(predicted, 0.0)
        slides: dict[int, Slide] = {}
        for part in self.directions.parts:
            if part.tangential:
                slide = self._slide(part, star, displacement, drift, force)
                force[:, part.tangential] = slide.force
                slides[part.contact] = slide
        pressed = {
            int(column): Pressed.of(p) for column, p in zip(np.flatnonzero(normal), predicted.T, strict=True)
        }
        return Alternation(self, force, pressed, slides)

    def memory(self, part: ContactPart) -> tuple[float, float]:
        """a and the flexibility [m/N] of a tangential direction over one sample."""
        first = part.tangential[0]
        spring = float(self.tail.spring[first])
        whole = spring + float(self.tail.damper[first]) * self.grid.spacing
        return spring / whole, whole

    def increment_factors(self, memory: float) -> np.ndarray:
        """Increment of a displacement over a sample by its amplitudes (K + 1,): between samples as far as it is
        remembered, at the sample as far as it is not."""
        step = 1j * self.grid.spacing * self.grid.orders
        return memory * (1.0 - np.exp(-step)) + (1.0 - memory) * step

    def limit(self, part: ContactPart, force: np.ndarray) -> np.ndarray:
        """R (N,) [N] under the forces (N, c)."""
        limit = np.full(self.grid.samples, part.limit)
        for column, coefficient in part.shares:
            limit += coefficient * force[:, column]
        return limit

    def _slide(
        self,
        part: ContactPart,
        star: np.ndarray,
        displacement: np.ndarray,
        drift: np.ndarray,
        force: np.ndarray,
    ) -> Slide:
        across = list(part.tangential)
        memory, whole = self.memory(part)
        amplitudes = self.increment_factors(memory)[:, None] * displacement[:, across]
        increment = (self.grid.to_time(amplitudes) + drift[across]) / whole
        given = self.grid.to_time(star[:, across])
        return Slide(*pass_period(given, increment, self.limit(part, force), memory))


@dataclass(frozen=True, eq=False)
class Pressed:
    """The positive part of a predicted normal force p, by samples.

    ``force`` (N,) [N] stands for the pieces of lines to the neighbours as far as they are positive; it depends by
    ``slopes`` (3, N) on p at the sample before, at the same and at the next one.
    """

    force: np.ndarray
    slopes: np.ndarray

    @classmethod
    def of(cls, predicted: np.ndarray) -> Pressed:
        closed = predicted > 0.0
        force, slopes = np.zeros_like(predicted), np.zeros((3, len(predicted)))
        for row, shift in ((0, 1), (2, -1)):
            beside = np.roll(predicted, shift)
            apart = np.where(closed & (beside < 0.0), predicted - beside, 1.0)
            share = np.where(closed, np.where(beside < 0.0, predicted / apart, 1.0), 0.0)
            force += 0.5 * share * predicted
            slopes[1] += 0.5 * np.where(share < 1.0, share * (2.0 - share), 1.0)
            slopes[row] = 0.5 * np.where(share < 1.0, share**2, 0.0)
        return cls(force, slopes)


@dataclass(frozen=True, eq=False)
class Slide:
    """Friction over the period: forces (N, d), derivative (N, d, d) and direction (N, d) of the projection, sticking
    samples (N,), passes."""

    force: np.ndarray
    slope: np.ndarray
    outward: np.ndarray
    sticks: np.ndarray
    passes: int


@dataclass(frozen=True, eq=False)
class Alternation:
    """Contact forces in time, ``force`` (N, c) [N], with their harmonics and derivatives."""

    laws: ContactLaws
    force: np.ndarray
    pressed: dict[int, Pressed]
    slides: dict[int, Slide]

    @cached_property
    def harmonics(self) -> np.ndarray:
        """(K + 1, c) [N]."""
        weighted = self.force.copy()
        for column, pressed in self.pressed.items():
            weighted[:, column] = pressed.force
        return self.laws.grid.to_harmonics(weighted)

    @property
    def states(self) -> np.ndarray:
        """(N, m): OPEN, STICK (also: closed without friction) or SLIP."""
        parts = self.laws.directions.parts
        states = np.full((self.laws.grid.samples, len(parts)), STICK)
        for part in parts:
            if part.tangential:
                states[~self.slides[part.contact].sticks, part.contact] = SLIP
            if part.normal is not None:
                states[self.force[:, part.normal] <= 0.0, part.contact] = OPEN
        return states

    def dependences(self) -> Iterator[Dependence]:
        """Everything that the forces depend on."""
        tail, grid = self.laws.tail, self.laws.grid
        for column, pressed in self.pressed.items():
            waves, (before, same, after) = grid.waves, pressed.slopes[:, :, None]
            by_force = grid.derivative_rows(
                before * np.roll(waves, 1, axis=0) + same * waves + after * np.roll(waves, -1, axis=0)
            )
            yield Dependence(column, column, by_force, -by_force / tail.spring[column])
        for part in self.laws.directions.parts:
            if part.tangential:
                yield from self._friction(part)

    def by_drift(self, part: ContactPart, component: int) -> np.ndarray:
        """Change (2 K + 1, d) of the friction harmonics by a drift [m] per sample in one direction."""
        _, whole = self.laws.memory(part)
        return -self._carried(part, component)[:, :, 0].real / whole

    def _friction(self, part: ContactPart) -> Iterator[Dependence]:
        memory, whole = self.laws.memory(part)
        orders, spacing = self.laws.grid.orders, self.laws.grid.spacing
        by_force = 1.0 - memory * np.exp(-1j * orders * spacing)
        by_displacement = -self.laws.increment_factors(memory) / whole
        for component, column in enumerate(part.tangential):
            rows = self._carried(part, component)
            for i, row in enumerate(part.tangential):
                yield Dependence(row, column, rows[:, i] * by_force, rows[:, i] * by_displacement)
        for column, coefficient in part.shares:
            rows = self._loaded(part, column, coefficient)
            for i, row in enumerate(part.tangential):
                yield Dependence(row, column, rows[:, i], -rows[:, i] / self.laws.tail.spring[column])

    def _closed(self, column: int) -> np.ndarray:
        """Functionals (N, K + 1) of a normal force at the samples."""
        return np.where(self.force[:, column, None] > 0.0, self.laws.grid.waves, 0.0)

    def _carried(self, part: ContactPart, component: int) -> np.ndarray:
        """Friction harmonics (2 K + 1, d, K + 1) by a unit prediction of each harmonic in one direction."""
        source = np.zeros(
            (self.laws.grid.samples, len(part.tangential), self.laws.grid.count + 1), dtype=complex
        )
        source[:, component] = self.laws.grid.waves
        return self._derivative(part, source, np.zeros_like(source))

    def _loaded(self, part: ContactPart, column: int, coefficient: float) -> np.ndarray:
        """Friction harmonics (2 K + 1, d, K + 1) by the normal force that raises the limit."""
        outward = self.slides[part.contact].outward
        after = coefficient * outward[:, :, None] * self._closed(column)[:, None, :]
        return self._derivative(part, np.zeros_like(after), after)

    def _derivative(self, part: ContactPart, source: np.ndarray, after: np.ndarray) -> np.ndarray:
        slide = self.slides[part.contact]
        memory, _ = self.laws.memory(part)
        passed = pass_derivative(slide.slope, source.view(float), after.view(float), memory, slide.passes)
        return self.laws.grid.derivative_rows(passed.view(complex))
