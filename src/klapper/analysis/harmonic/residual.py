"""How well a motion in harmonics satisfies the equations of motion and the contact laws.

Everything is found from the system itself: balance of the full system by its own matrices, normal contact on
samples that the solver has not used. The series of the motion violates the laws by what its missing harmonics would
repair; that is the error of the method, and falls as harmonics are added.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from klapper.analysis.harmonic.directions import ContactPart
from klapper.analysis.harmonic.equations_of_motion import constraint_directions, reactions, unbalanced
from klapper.analysis.harmonic.fourier import series
from klapper.contact_states import SLIP

if TYPE_CHECKING:
    from klapper.analysis.harmonic.response import HarmonicResponse

_FINER = 3  # times as many samples as the solver, and one more


@dataclass(frozen=True)
class HarmonicResidual:
    """``balance``      of all harmonics of the full system, in parts of the largest force in them
    ``guides``       largest violation of a two-sided constraint [m]
    ``penetration``  largest one over the period [m]
    ``pull``         largest tensile normal force of the series [N]
    ``complementarity``        ∫ |λ_N g| dt / (∫ |λ_N| dt · range of g): a force acts only at a closed gap; the largest
    ``friction``     ∫ (R |v_T| + λ_T · v_T) dt / ∫ R |v_T| dt: friction opposes sliding with all it has; the largest;
                     0 for contacts that never slip
    ``load``         share of the given load that lies above the balanced harmonics
    """

    balance: float
    guides: float
    penetration: float
    pull: float
    complementarity: float
    friction: float
    load: float

    def __str__(self) -> str:
        return (
            f"balance {self.balance:.1e}; laws violated by missing harmonics: penetration "
            f"{self.penetration:.2e} m, pull {self.pull:.2e} N, friction work {100 * self.friction:.2g} %"
        )


def residual_of(response: HarmonicResponse) -> HarmonicResidual:
    gaps, forces = _series(response)
    pulls, complementarities, frictions, penetrations = [0.0], [0.0], [0.0], [0.0]
    for part in response.balance.directions.parts:
        if part.normal is not None:
            gap, force = gaps[:, part.normal], forces[:, part.normal]
            penetrations.append(-float(gap.min()))
            pulls.append(-float(force.min()))
            complementarities.append(_share(np.abs(force * gap).mean(), np.abs(force).mean() * np.ptp(gap)))
        if part.tangential:
            frictions.append(_friction(response, part))
    balance, guides = _balance(response)
    return HarmonicResidual(
        balance,
        guides,
        max(penetrations),
        max(pulls),
        max(complementarities),
        max(frictions),
        response.played.courses(response.harmonics).left_out,
    )


def _series(response: HarmonicResponse) -> tuple[np.ndarray, np.ndarray]:
    """Displacements and forces (s, c) of the series, on finer samples."""
    samples = _FINER * response.balance.grid.samples + 1
    return series(response.relative_amplitudes, samples), series(response.contact_amplitudes, samples)


def _friction(response: HarmonicResponse, part: ContactPart) -> float:
    """How much less work the forces of the law do on the series of the motion than they could."""
    if not np.any(response.state[:, part.contact] == SLIP):
        return 0.0
    forces, across = response.alternation.force, list(part.tangential)
    limit = np.full(len(forces), part.limit)
    for column, coefficient in part.shares:
        limit += coefficient * forces[:, column]
    moved = response.relative_amplitudes[:, across]
    amplitudes = 1j * response.omega * np.arange(len(moved))[:, None] * moved
    amplitudes[0] += response.played.courses(response.harmonics).drift[across]
    rates = series(amplitudes, len(forces))
    could = limit * np.linalg.norm(rates, axis=1)
    does = np.einsum("ni,ni->n", forces[:, across], rates)
    return _share((could + does).mean(), could.mean())


def _balance(response: HarmonicResponse) -> tuple[float, float]:
    system, q = response.system, response.amplitudes
    directions = constraint_directions(response)
    left = unbalanced(response) - reactions(response) @ directions.T
    w = (response.omega * np.arange(len(q)))[:, None]
    parts = [w**2 * np.abs((system.mass_matrix @ q.T).T), np.abs(response.contact_amplitudes)]
    if system.position_matrix is not None:
        parts.append(np.abs((system.position_matrix @ q.T).T))
    size = max(float(part.max(initial=0.0)) for part in parts)
    held = q @ directions + response.played.courses(response.harmonics).guide
    return _share(float(np.abs(left).max()), size), float(np.abs(held).max(initial=0.0))


def _share(amount: float, whole: float) -> float:
    return float(amount / whole) if whole > 0.0 else 0.0
