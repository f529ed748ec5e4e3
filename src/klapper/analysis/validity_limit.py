"""Up to which forcing a linear vibration about a contact state is the motion of the system with contacts.

All loads are multiplied by a factor s. A contact with the force λ₀ at rest and the amplitude λ̂ keeps its state while

    λ_N0 + s Re(λ̂_N e^{iωt}) ≥ 0                  pressed:   s ≤ λ_N0/|λ̂_N|
    g₀ + s Re(ĝ e^{iωt}) ≥ 0                      open:      s ≤ g₀/|ĝ|
    |λ_T0 + s Re(λ̂_T e^{iωt})| ≤ ρ₀ + s Re(ρ̂ e^{iωt})   sticking

at all times. A vector is shorter than ρ if none of its components u · λ_T, |u| = 1, is larger, and each of these
conditions has the closed form of the first, so that over the whole period and exactly

    s = min_u (ρ₀ − u · λ_T0)/|u · λ̂_T − ρ̂|

In the plane u = ±1. In space the extrema over the angle of u are the zeros of a trigonometric polynomial of degree 3,
found as eigenvalues. A sliding contact sticks when its sliding velocity v₀ + s Re(v̂ e^{iωt}) comes to rest,
s = |v₀|/|v̂ · v₀/|v₀||.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

CHANGES = ("lifts off", "closes", "slips", "sticks")
LIFTS, CLOSES, SLIPS, STICKS = range(4)
_SAMPLES = 8  # of a trigonometric polynomial of degree 3
_LEADING = 1e-14  # of the largest coefficient: a smaller one is raised, which moves no root that counts


@dataclass(frozen=True, eq=False)
class ValidityLimit:
    """Factors of the load at which contacts leave their state, at k frequencies, for m contacts.

    ``factors``   (k, m) ≥ 0, dimensionless, inf where the vibration does not reach the contact
    ``changes``   (k, m) what the contacts do there, as numbers of CHANGES
    ``contacts``  (m,) their names

    A mass is pressed onto a stop by 30 N and shaken by 10 N: it lifts off at three times that.

    >>> from klapper.analysis import frequency_response, stationary_state
    >>> from klapper.mechanics import Contact, LinearSystem
    >>> mass = LinearSystem([2.0], stiffness=[1.0], force=[-30.0], contacts=[Contact("stop", normal=[1.0])])
    >>> limit = frequency_response(stationary_state(mass), [10.0], [0.1]).limit
    >>> float(limit.factor[0].round(9)), str(limit.contact[0]), str(limit.change[0])
    (3.0, 'stop', 'lifts off')
    """

    factors: np.ndarray
    changes: np.ndarray
    contacts: tuple[str, ...]

    @cached_property
    def factor(self) -> np.ndarray:
        """(k,) the smallest factor of all contacts: the linear vibration holds up to it."""
        return self.factors.min(axis=1, initial=np.inf)

    @property
    def contact(self) -> np.ndarray:
        """(k,) name of the contact that leaves its state first; empty if none ever does."""
        names = np.array([*self.contacts, ""])
        return names[self._first]

    @property
    def change(self) -> np.ndarray:
        """(k,) what it does: "lifts off", "closes", "slips" or "sticks"; empty if none ever does."""
        numbers = np.take_along_axis(
            np.column_stack([self.changes, np.full(len(self.changes), len(CHANGES))]),
            self._first[:, None],
            axis=1,
        )[:, 0]
        return np.array([*CHANGES, ""])[numbers]

    @cached_property
    def _first(self) -> np.ndarray:
        """(k,) number of the contact of the smallest factor, m if none has one."""
        unreached = np.full(len(self.factors), np.finfo(float).max)
        return np.argmin(np.column_stack([self.factors, unreached]), axis=1)


def ratio(static: np.ndarray, amplitude: np.ndarray) -> np.ndarray:
    """s (…) with which an amplitude s |â| reaches a static value ≥ 0; inf where there is no amplitude."""
    static, size = np.broadcast_arrays(np.maximum(static, 0.0), np.abs(amplitude))
    with np.errstate(invalid="ignore"):
        return np.divide(static, size, out=np.full(size.shape, np.inf), where=size > 0.0)


def slip_factor(
    tangential: np.ndarray, limit: np.ndarray, tangential_amplitude: np.ndarray, limit_amplitude: np.ndarray
) -> np.ndarray:
    """s (k, c) at which sticking contacts slip.

    ``tangential`` λ_T0 (c, d) and ``limit`` ρ₀ (c,) [N] at rest; ``tangential_amplitude`` λ̂_T (k, c, d) and
    ``limit_amplitude`` ρ̂ (k, c) complex, in directions in which friction limits are discs, d = 1 or 2
    """
    if tangential.shape[1] == 1:
        directions = np.broadcast_to(np.array([[1.0], [-1.0]]), (*limit_amplitude.shape, 2, 1))
    else:
        directions = _extremal_directions(tangential, limit, tangential_amplitude, limit_amplitude)
    room = limit[:, None] - np.einsum("kcud,cd->kcu", directions, tangential)
    taken = np.einsum("kcud,kcd->kcu", directions, tangential_amplitude) - limit_amplitude[..., None]
    return ratio(room, taken).min(axis=2)


def _extremal_directions(
    tangential: np.ndarray, limit: np.ndarray, tangential_amplitude: np.ndarray, limit_amplitude: np.ndarray
) -> np.ndarray:
    """Unit vectors u (k, c, 14, 2), among them those that make (ρ₀ − u · λ_T0)²/|u · λ̂_T − ρ̂|² extremal.

    With the numerator n² and the denominator p these are the zeros of 2 n' p − n p'.
    """
    angle = 2 * np.pi * np.arange(_SAMPLES) / _SAMPLES
    unit, turned = np.stack([np.cos(angle), np.sin(angle)]), np.stack([-np.sin(angle), np.cos(angle)])
    n, dn = limit[:, None] - tangential @ unit, -tangential @ turned
    p = tangential_amplitude @ unit - limit_amplitude[..., None]
    dp = tangential_amplitude @ turned
    values = 2 * dn * np.abs(p) ** 2 - n * 2 * np.real(np.conj(p) * dp)
    size = np.abs(values).max(axis=-1, keepdims=True)
    fourier = np.fft.fft(values / np.where((size > 0.0) & np.isfinite(size), size, 1.0), axis=-1) / _SAMPLES
    ascending = fourier[..., [-3, -2, -1, 0, 1, 2, 3]]  # of z⁰ … z⁶, z = e^{iφ}
    ascending = np.where(np.isfinite(ascending), ascending, 0.0)
    ends = np.where(np.abs(ascending[..., [6]]) < _LEADING, _LEADING, ascending[..., [6]])
    companion = np.zeros((*ascending.shape[:-1], 6, 6), dtype=complex)
    companion[..., np.arange(1, 6), np.arange(5)] = 1.0
    companion[..., :, 5] = -ascending[..., :6] / ends
    roots = np.angle(np.linalg.eigvals(companion))
    angles = np.concatenate([roots, np.broadcast_to(angle, (*roots.shape[:-1], _SAMPLES))], axis=-1)
    return np.stack([np.cos(angles), np.sin(angles)], axis=-1)
