"""Newton's method for the equations of harmonic balance, with shorter steps where the contact states change too much.

The equations are almost piecewise linear, so that a few rounds end at round-off. Without a guess the motion is built up
from one harmonic to many; if that fails, the way there is followed, and that from compliant contacts to rigid ones.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from klapper.analysis.harmonic.balance import Balance
from klapper.analysis.harmonic.deformed import added, followed, hardened
from klapper.analysis.harmonic.fourier import packed

_ROUNDS = 30
_SOLVED = 1e-11  # of the forces: what may be left
_SHORTEST = 1.0 / 256.0
_DECREASE = 0.1  # of what a step promises


class NoBalance(RuntimeError):
    """No balance was found near the guess: :func:`harmonic_response` and :func:`follow_harmonic` may raise it.

    It says at which frequency, and what to try. A curve that was found elsewhere gives a guess, ``start``.

    >>> from klapper.analysis import NoBalance
    >>> issubclass(NoBalance, RuntimeError)
    True
    """


def balanced(balance: Balance, omega: float, guess: np.ndarray | None = None) -> np.ndarray:
    """Unknowns that solve ``balance`` at Ω [rad/s].

    ``guess``  harmonics of the forces (k, c) [N], as many as are known
    """
    for start in _guesses(balance, omega, guess):
        solution = newton(balance, omega, start)
        if solution is not None:
            return solution
    hertz = omega * balance.source.order / (2.0 * np.pi)
    raise NoBalance(
        f"no balance of {balance.harmonics} harmonics was found at {hertz:.8g} Hz; start from a response at a "
        f"frequency nearby, follow the curve from there, or take fewer harmonics."
    )


def sampled(balance: Balance, omega: float, unknowns: np.ndarray) -> tuple[Balance, np.ndarray]:
    """A solution with as many samples of the period as it takes."""
    while not balance.sampled_well(unknowns, omega):
        finer = balance.refined()
        found = newton(finer, omega, balance.forces(unknowns))
        balance, unknowns = finer, balanced(finer, omega) if found is None else found
    return balance, unknowns


def _guesses(balance: Balance, omega: float, guess: np.ndarray | None) -> Iterator[np.ndarray]:
    """Harmonics of the forces to start from, from the most to the least promising ones."""
    if guess is not None:
        yield guess
    for approach in (_built_up, _hardened):
        found = approach(balance, omega)
        if found is not None:
            yield found


def _built_up(balance: Balance, omega: float) -> np.ndarray | None:
    """Forces with all harmonics, from one harmonic on, or None if none are found."""
    forces = np.zeros((1, balance.directions.count))
    reached, aim, before = 0, 1, None
    while reached < balance.harmonics:
        level = balance if aim == balance.harmonics else Balance.of(balance.source, omega, aim)
        found = _solved(level, omega, forces)
        if found is None and before is not None:
            found = _solved(level, omega, followed(added(before, level), omega, forces))
        if found is None and (aim == reached + 1 or before is None):
            found = _solved(level, omega, _hardened(level, omega))
        if found is not None:
            forces, reached, before = found, aim, level
            aim = min(2 * aim + 1, balance.harmonics)
        elif aim == reached + 1:
            return None
        else:
            aim = (aim + reached) // 2
    return forces


def _hardened(balance: Balance, omega: float) -> np.ndarray | None:
    """Forces from those of compliant contacts, made harder and harder, or None if none are found."""
    soft = hardened(balance, omega)
    forces = _solved(soft.at(0.0), omega, np.zeros((1, balance.directions.count)))
    return None if forces is None else followed(soft, omega, forces)


def _solved(balance: Balance, omega: float, guess: np.ndarray | None) -> np.ndarray | None:
    found = None if guess is None else newton(balance, omega, guess)
    return None if found is None else balance.forces(found)


def newton(balance: Balance, omega: float, guess: np.ndarray) -> np.ndarray | None:
    """Unknowns that solve ``balance`` at Ω [rad/s] from a guess (k, c) [N], or None."""
    start = np.zeros((balance.grid.count + 1, balance.directions.count), dtype=complex)
    kept = min(len(guess), len(start))
    start[:kept] = guess[:kept]
    unknowns = packed(start)
    for _ in range(_ROUNDS):
        residual, jacobian, _ = balance.linearised(unknowns, omega)
        size = float(np.linalg.norm(residual))
        if size <= _SOLVED * _scale(balance, unknowns):
            return unknowns
        try:
            step = np.linalg.solve(jacobian, -residual)
        except np.linalg.LinAlgError:
            return None
        unknowns = unknowns + _length(balance, omega, unknowns, step, size) * step
    return None


def _scale(balance: Balance, unknowns: np.ndarray) -> float:
    limits = [part.limit for part in balance.directions.parts]
    return max(float(np.linalg.norm(unknowns)), max(limits, default=0.0), 1e-300)


def _length(balance: Balance, omega: float, unknowns: np.ndarray, step: np.ndarray, size: float) -> float:
    """The longest tried part of a step that reduces the residual enough, or the part that reduces it most."""
    part, best, least = 1.0, 1.0, np.inf
    while part >= _SHORTEST:
        reached = float(np.linalg.norm(balance.residual(unknowns + part * step, omega)))
        if reached <= (1.0 - _DECREASE * part) * size:
            return part
        if reached < least:
            best, least = part, reached
        part *= 0.5
    return best
