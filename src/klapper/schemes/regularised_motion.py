"""The motion within one step of regularised contact: an :class:`~klapper.schemes.inner_motion.InnerMotion`.

States, impulses and works are components of the integrated y, which the dense output gives at any time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from klapper.schemes.base import kinetic_energy
from klapper.schemes.inner_motion import Progress
from klapper.schemes.regularised_phase import Phase
from klapper.schemes.smooth_step import SmoothStep

if TYPE_CHECKING:
    from klapper.schemes.regularised_step import RegularisedStep


class RegularisedMotion:
    """The ``smooth`` step up to ``end`` [s], with the ``contacts`` (c,) that the step reports."""

    pieces = 1

    def __init__(
        self, step: RegularisedStep, phase: Phase, smooth: SmoothStep, end: float, contacts: np.ndarray
    ) -> None:
        self._step, self._phase, self._dense = step, phase, smooth.dense
        self.start, self.end = smooth.start, end
        self._place, self._count = np.searchsorted(contacts, phase.closed), len(contacts)

    def states(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        y, nq = self._dense(times), self._phase.nq
        return y[:, :nq], y[:, nq : nq + self._phase.nv]

    def gaps(self, times: np.ndarray, positions: np.ndarray) -> np.ndarray:
        every, system = np.arange(self._phase.m), self._phase.system
        found = [system.gaps(float(t), q, every) for t, q in zip(times, positions, strict=True)]
        return np.array(found).reshape(len(times), len(every))

    def forces(self, times: np.ndarray) -> np.ndarray:
        rates = [self._phase.rate(float(t), y) for t, y in zip(times, self._dense(times), strict=True)]
        return np.array([self._by_contact(self._phase.sums(rate)[0]) for rate in rates]).reshape(
            len(times), self._count, 1 + self._phase.d
        )

    def progress(self, times: np.ndarray) -> Progress:
        rows = [self._row(float(t), y) for t, y in zip(times, self._dense(times), strict=True)]
        parts = (np.array(part) for part in zip(*rows, strict=True))
        return Progress(*parts)

    def _row(self, t: float, y: np.ndarray) -> tuple[np.ndarray, ...]:
        step, phase, system = self._step, self._phase, self._phase.system
        q, v, _, _ = phase.parts(y)
        q, v = step.without_drift(phase, t, q, v)
        impulse, constraint, works = phase.sums(y)
        modes = phase.settled(t, y)
        sums = step.before.sums + step.energies(works, modes, t, q, v)
        springs = sum(step.scheme.spring_energies(system, modes, t, q))
        energies = [kinetic_energy(system, q, v), system.potential(q) + springs]
        return q, v, self._by_contact(impulse), constraint, np.concatenate([energies, sums])

    def _by_contact(self, closed: np.ndarray) -> np.ndarray:
        """(c, 1 + d) of all contacts of the step from those of the closed ones."""
        found = np.zeros((self._count, 1 + self._phase.d))
        found[self._place] = closed
        return found
