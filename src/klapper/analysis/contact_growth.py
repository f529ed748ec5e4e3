"""How fast large motions with contact grow: whether a linear system with one-sided contacts has bounded motions.

Far away from rest loads, gaps and friction of given limits no longer matter, and what is left is homogeneous,

    M q̈ + D q̇ + K q = J λ,   0 ≤ Jᵀ q ⟂ λ ≥ 0,   |λ_T| ≤ μ λ_N,   Newton's impact law    (5.167), (3.15)

a multiple of a motion is one, too. Contacts can make such motions grow that decay without them, and slow down growth
(Waltersberger 5.3.4): the eigenvalues of the system without contact decide neither. The rate is measured,

    r = lim 1/T ln(|x(T)|/|x(0)|),

on motions from random starts, scaled back now and then.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from klapper.complementarity.dense import dense
from klapper.mechanics import Contact, InvalidModel, LinearSystem
from klapper.mechanics.arguments import number
from klapper.schemes import Moreau
from klapper.simulation import simulate

_PARTS = 40  # of each motion, scaled at their ends; the first half is left out


@dataclass(frozen=True, eq=False)
class ContactGrowth:
    """Growth of large motions with contact.

    ``rate``    [1/s] of the motion that grows fastest: positive if motions grow without bound
    ``error``   [1/s] of the rate: standard error of its mean over parts of the motion
    ``linear``  [1/s] the largest real part of the eigenvalues without contact, for comparison
    ``rates``   (k,) [1/s] from each start
    ``share``   of the steps in which a contact was loaded at their ends, 0 to 1

    >>> ContactGrowth(rate=0.5, error=0.01, linear=-0.2, rates=np.array([0.5]), share=0.4).verdict
    'grows without bound'
    """

    rate: float
    error: float
    linear: float
    rates: np.ndarray
    share: float

    @property
    def verdict(self) -> str:
        """ "grows without bound", "stays bounded" or "undecided" where the rate is within its error of zero."""
        if abs(self.rate) <= 3.0 * self.error:
            return "undecided"
        return "grows without bound" if self.rate > 0.0 else "stays bounded"

    def __str__(self) -> str:
        return (
            f"Large motions with contact: {self.rate:.3g} ± {self.error:.1g} 1/s ({self.verdict}); "
            f"without contact {self.linear:.3g} 1/s."
        )


def contact_growth(
    system: LinearSystem,
    *,
    step_size: float,
    until: float,
    starts: int = 2,
    seed: int = 0,
    theta: float = 0.5,
) -> ContactGrowth:
    """The growth of large motions of a linear ``system`` with contacts.

    ``step_size``  [s] of Moreau's scheme with ``theta`` in [½, 1]; a damping of steps (θ > ½) lowers the rate
    ``until``      [s] duration of each motion, of which the second half counts
    ``starts``     number of random starts, drawn with ``seed``; different ones may end in different motions

    An oscillator with 2 Hz and negative damping on one side of a stop at zero: half of each period is left, with the
    same growth of 0.1 1/s, but impacts with ε = 0.8 leave 0.8 of the speed, four times a second:

    >>> stop = Contact("stop", normal=[1.0], gap=0.3, restitution=0.8)
    >>> shaken = LinearSystem([1.0], stiffness=[(4 * np.pi) ** 2], damping=[-0.2], contacts=[stop])
    >>> found = contact_growth(shaken, step_size=2e-4, until=20.0, starts=1)
    >>> round(found.linear, 6), round(found.rate - (0.1 + 4 * float(np.log(0.8))), 2)
    (0.1, -0.0)
    """
    if not isinstance(system, LinearSystem):
        raise InvalidModel(
            f"growth with contact is measured on a LinearSystem; {getattr(system, 'name', system)!r} is no linear "
            f"system."
        )
    number(step_size, "step_size", "numbers above 0, in s", above=0.0)
    number(until, "until", "numbers above 0, in s", above=0.0)
    if starts < 1:
        raise InvalidModel(f"starts is {starts!r}; allowed are whole numbers from 1 on.")
    contacts = _homogeneous_contacts(system)
    per_part = max(1, round(until / _PARTS / step_size))
    generator = np.random.default_rng(seed)
    mass = dense(system.mass_matrix)
    stiffness = _added(system.stiffness, None, len(mass))
    unit = float(np.sqrt(np.abs(stiffness).max() / np.abs(mass).max())) or 1.0
    size = _Size(mass, unit)
    measured = [
        _measured(system, contacts, size, generator, step_size, per_part, theta) for _ in range(starts)
    ]
    rates = np.array([rate for rate, _, _ in measured])
    best = int(np.argmax(rates))
    return ContactGrowth(float(rates[best]), measured[best][1], _linear(system), rates, measured[best][2])


@dataclass(frozen=True, eq=False)
class _Size:
    """√(v M v + ω² q M q): a norm of states with one ω, on which rates do not depend."""

    mass: np.ndarray
    unit: float

    def __call__(self, q: np.ndarray, v: np.ndarray) -> float:
        return float(np.sqrt(v @ self.mass @ v + self.unit**2 * (q @ self.mass @ q)))


def _homogeneous_contacts(system: LinearSystem) -> list[Contact]:
    kept = []
    for part in system.contacts.parts:
        if not isinstance(part, Contact):
            continue  # friction of given limits is nothing beside large forces
        if not part.affine:
            raise InvalidModel(
                f"contact '{part.name}' has a gap that is no straight function of the coordinates."
            )
        kept.append(
            Contact(
                part.name,
                normal=part.normal,
                tangents=part.tangents if part.has_friction else None,
                friction=part.friction if part.has_friction else 0.0,
                restitution=part.restitution,
            )
        )
    if not kept:
        raise InvalidModel(
            f"'{system.name}' has no one-sided contacts; its eigenvalues say how motions grow."
        )
    return kept


def _measured(
    system: LinearSystem,
    contacts: list[Contact],
    size: _Size,
    generator: np.random.Generator,
    step: float,
    per_part: int,
    theta: float,
) -> tuple[float, float, float]:
    """Rate [1/s], its standard error, and the share of loaded samples of one motion."""
    n = len(system.coordinates)
    v = generator.standard_normal(n)
    q = np.zeros(n)
    logs, loaded = [], []
    for _ in range(_PARTS):
        scale = size(q, v)
        if scale == 0.0:  # everything came to rest
            return -np.inf, 0.0, 1.0
        part = _large(system, contacts, q / scale, v / scale)
        run = simulate(part, per_part * step, Moreau(step, theta=theta), every=per_part)
        _, q, v = run.final
        logs.append(np.log(size(q, v)))
        loaded.append(np.any(run.impulse[-1] != 0.0))
    half = np.array(logs[_PARTS // 2 :]) / (per_part * step)
    return float(half.mean()), float(half.std(ddof=1) / np.sqrt(len(half))), float(np.mean(loaded))


def _large(system: LinearSystem, contacts: list[Contact], q: np.ndarray, v: np.ndarray) -> LinearSystem:
    """The homogeneous system from a state, closed contacts being a little penetrated by round-off and by steps."""
    return LinearSystem(
        system.mass_matrix,
        damping=system.damping,
        gyroscopic=system.gyroscopic,
        stiffness=system.stiffness,
        circulatory=system.circulatory,
        contacts=contacts,
        constraints=system.constraint_parts,
        compliance=system.compliance,
        position=q,
        velocity=v,
        penetration=np.inf,
        name=f"large motions of {system.name}",
    )


def _linear(system: LinearSystem) -> float:
    mass = dense(system.mass_matrix)
    n = len(mass)
    stiffness = _added(system.stiffness, system.circulatory, n)
    damping = _added(system.damping, system.gyroscopic, n)
    solved = np.linalg.solve(mass, np.hstack([stiffness, damping]))
    matrix = np.block([[np.zeros((n, n)), np.eye(n)], [-solved]])
    return float(np.linalg.eigvals(matrix).real.max())


def _added(one: Any, other: Any, n: int) -> np.ndarray:
    return sum((dense(part) for part in (one, other) if part is not None), np.zeros((n, n)))
