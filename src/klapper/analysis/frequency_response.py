"""Forced vibration about a contact state, and up to which forcing it is the motion of the system with contacts.

    M q̈ + D q̇ + K q = f₀ + Re(f̂ e^{iωt}) + F λ,   q = q₀ + Re(q̂ e^{iωt}),   λ = λ₀ + Re(λ̂ e^{iωt})

While no contact leaves its state the system is linear, and this is its steady motion, Waltersberger & Wauer (10). The
limit of that is reached where a contact lifts off, closes, slips or sticks (:mod:`klapper.analysis.validity_limit`); it
is given as a factor of the load. Answers beyond it are marked, in the table and in the figure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from klapper.analysis.contact_state import ContactState, require_linear, scale
from klapper.analysis.harmonic_motion import reduced_motion, sparse_motion
from klapper.analysis.held_directions import HeldDirections
from klapper.analysis.linear_stability import Stability
from klapper.analysis.minimal_coordinates import minimal_coordinates
from klapper.analysis.stationary_state import StationaryState
from klapper.analysis.validity_limit import CLOSES, LIFTS, SLIPS, STICKS, ValidityLimit, ratio, slip_factor
from klapper.mechanics import Harmonic, InvalidModel, LinearSystem
from klapper.mechanics.arguments import finite
from klapper.progress import tally_for
from klapper.shown import Shown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DENSE = 500  # coordinates up to which minimal coordinates are formed
_TOGETHER = 1e-9  # relative: changes of one contact that come this close come at once
_PHASES = 64  # among which that of a start is chosen
_ROUND_OFF = 1e-12  # of the displacements: a smaller amplitude of a gap is none


@dataclass(frozen=True, eq=False, repr=False)
class FrequencyResponse(Shown):
    """Complex amplitudes of a steady vibration about a stationary state at k frequencies; n coordinates, m contacts.

    ``rest``         the stationary state
    ``frequencies``  (k,) [Hz]
    ``load``         f̂ (k, n) complex [N]
    ``position``     q̂ (k, n) complex [m]; infinite in a resonance without damping
    ``gaps``         ĝ (k, m) complex [m], zero for closed contacts, not a number for friction elements
    ``forces``       λ̂ (k, m, 1 + d) complex [N], normal and tangential
    ``constraint``   (k, p) complex [N], forces of two-sided constraints
    ``limit``        up to which factor of the load the vibration holds, by contact
    ``stability``    of the stationary state; None if the system has too many coordinates to judge that here
    ``shared``       names of the held directions whose forces are not unique. Of all forces that belong to the motion
                     the smallest are given; the limits then are on the safe side

    1 kg on 4 N/m, shaken by 3 N at ω = 1 rad/s, moves by F/(k − m ω²):

    >>> import numpy as np
    >>> from klapper.analysis import frequency_response, stationary_state
    >>> from klapper.mechanics import LinearSystem
    >>> rest = stationary_state(LinearSystem([1.0], stiffness=[4.0]))
    >>> abs(frequency_response(rest, [3.0], [0.5 / np.pi]).position[0]).round(9)
    array([1.])
    """

    rest: StationaryState
    frequencies: np.ndarray
    load: np.ndarray
    position: np.ndarray
    gaps: np.ndarray
    forces: np.ndarray
    constraint: np.ndarray
    limit: ValidityLimit
    stability: Stability | None
    shared: tuple[str, ...]

    @cached_property
    def valid(self) -> np.ndarray:
        """(k,) whether the vibration under the given load is one of the system with contacts."""
        stays = self.stability is None or self.stability.stable
        return (self.limit.factor >= 1.0) & stays

    def along(self, row: Any) -> np.ndarray:
        """Amplitudes (k,) complex of the displacement row · q, for a row (n,)."""
        return self.position @ finite(row, "row", (self.rest.system.size,))

    def driven(self, index: int, *, factor: float = 1.0) -> LinearSystem:
        """The system with ``factor`` times the load at the frequency ``index``, started on the linear vibration.

        It starts in the phase of :meth:`safe_phase`, so that beyond the limit no contact has left its state yet. A
        simulation keeps all contact states up to the limit and leaves one beyond.
        """
        system, omega = self.rest.system, 2 * np.pi * self.frequencies[index]
        time, turn = system.start.time, np.exp(1j * self.safe_phase(index))
        load, moved = (factor * turn * each[index] for each in (self.load, self.position))
        load = load * np.exp(-1j * omega * time)
        force = system.load + Harmonic(load.real, omega) + Harmonic(load.imag, omega, np.pi / 2)
        return LinearSystem(
            system.mass_matrix,
            damping=system.damping,
            gyroscopic=system.gyroscopic,
            stiffness=system.stiffness,
            circulatory=system.circulatory,
            force=force,
            contacts=system.contacts.parts,
            constraints=system.constraint_parts,
            position=self.rest.position + moved.real,
            velocity=(1j * omega * moved).real,
            time=time,
            coordinates=system.coordinates,
            name=system.name,
        )

    def safe_phase(self, index: int) -> float:
        """Phase [rad] of the vibration at the frequency ``index`` in which forces and gaps are farthest from zero."""
        rest, phases = self.rest, np.linspace(0.0, 2 * np.pi, _PHASES, endpoint=False)
        static = np.concatenate([rest.forces[rest.loaded, 0], rest.gaps[rest.open]])
        amplitude = np.concatenate([self.forces[index, rest.loaded, 0], self.gaps[index, rest.open]])
        known = np.isfinite(static) & (static > 0.0)
        swing = np.real(np.exp(1j * phases)[:, None] * (amplitude[known] / static[known]))
        return float(phases[np.argmax(swing.min(axis=1, initial=np.inf))])

    def plot(self, onto: Figure | None = None, *, rows: Mapping[str, Any] | None = None) -> Figure:
        """Amplitudes over frequency, solid where they hold and dashed where they do not; below, the limit of the load.

        ``rows`` (n,) by the names that their displacements shall have; None: the coordinates that move most.
        """
        from klapper.analysis.frequency_plot import draw_response

        return draw_response(self, onto, rows)

    def __str__(self) -> str:
        lines = [f"{'f / Hz':>12}  {'limit':>10}  holds  first change"]
        words = zip(
            self.frequencies,
            self.limit.factor,
            self.valid,
            self.limit.contact,
            self.limit.change,
            strict=True,
        )
        for frequency, factor, holds, contact, change in words:
            what = f"{contact} {change}" if contact else "none"
            lines.append(f"{frequency:>12.6g}  {factor:>10.4g}  {'yes' if holds else 'no':>5}  {what}")
        if self.shared:
            lines.append(f"forces of {', '.join(self.shared)} are not unique; limits are on the safe side")
        if self.stability is not None and not self.stability.stable:
            lines.append(f"the stationary state is unstable ({self.stability.verdict}), so nothing holds")
        return "\n".join(lines)


def frequency_response(
    rest: StationaryState,
    load: Any,
    frequencies: Sequence[float] | np.ndarray,
    *,
    progress: bool | None = None,
) -> FrequencyResponse:
    """Steady vibration about ``rest`` under the load Re(f̂ e^{iωt}) in addition to what acts at rest.

    ``load``         f̂ (n,) or, by frequency, (k, n), real or complex [N]
    ``frequencies``  (k,) [Hz], above zero
    ``progress``     of large systems: show how many frequencies are done; None: on a terminal

    A mass of 2 kg is pressed by 30 N onto a rigid stop and shaken by 10 N: it stays there up to three times that.

    >>> from klapper.analysis import frequency_response, stationary_state
    >>> from klapper.mechanics import Contact, LinearSystem
    >>> stop = Contact("stop", normal=[1.0, 0.0])
    >>> chain = LinearSystem([2.0, 2.0], stiffness=[[9.0, -9.0], [-9.0, 9.0]], force=[-30.0, 0.0], contacts=[stop])
    >>> answer = frequency_response(stationary_state(chain), [10.0, 0.0], [0.1, 0.5])
    >>> print(answer.limit.factor.round(9), answer.limit.contact[0], answer.limit.change[0])
    [3. 3.] stop lifts off
    """
    if not isinstance(rest, StationaryState):
        raise InvalidModel(
            f"rest is a {type(rest).__name__}; give a StationaryState, e.g. of stationary_state."
        )
    require_linear(rest.system)
    places = finite(frequencies, "frequencies")
    if places.ndim != 1 or not places.size or np.any(places <= 0.0):
        raise InvalidModel(f"frequencies are {frequencies!r}; expected numbers (k,) above 0, in Hz.")
    given, omega = _loads(load, len(places), rest.system.size), 2 * np.pi * places
    judged = None
    if rest.system.size <= _DENSE:
        reduced = minimal_coordinates(rest)
        held = reduced.held
        judged = reduced.stability if reduced.size else None
        position, independent = reduced_motion(reduced, given, omega)
    else:
        held = HeldDirections.of(ContactState.at(rest))
        with tally_for(progress, len(omega), "frequencies") as shown:
            position, independent = sparse_motion(held, given, omega, shown)
    parts = _Amplitudes(held.state, omega, position, independent @ held.distribution.T)
    return FrequencyResponse(
        rest,
        places,
        given,
        position,
        parts.gaps,
        parts.forces,
        parts.constraint,
        parts.limit(rest),
        judged,
        held.undetermined,
    )


@dataclass(frozen=True, eq=False)
class _Amplitudes:
    """Amplitudes of a motion that keeps a contact state, from those of its coordinates and of the held directions."""

    state: ContactState
    omega: np.ndarray
    position: np.ndarray
    held: np.ndarray

    @property
    def constraint(self) -> np.ndarray:
        return self.held[:, : len(self.state.system.constraints)]

    @cached_property
    def gaps(self) -> np.ndarray:
        system = self.state.system
        with np.errstate(invalid="ignore"):
            gaps = np.asarray((system.normal_directions.T @ self.position.T).T, dtype=complex)
            reach = np.asarray((abs(system.normal_directions).T @ np.abs(self.position).T).T)
            gaps[np.abs(gaps) <= _ROUND_OFF * reach] = 0.0
        gaps[np.isnan(gaps)] = np.inf
        gaps[:, self.state.closed] = 0.0
        gaps[:, ~system.contacts.has_normal] = np.nan
        return gaps

    @cached_property
    def forces(self) -> np.ndarray:
        state, system = self.state, self.state.system
        forces = np.zeros(
            (len(self.omega), system.contacts.count, 1 + system.contacts.tangential), dtype=complex
        )
        first = len(system.constraints)
        forces[:, state.closed, 0] = self.held[:, first : first + len(state.closed)]
        for column, (contact, direction) in enumerate(state.held_tangents, start=first + len(state.closed)):
            forces[:, contact, 1 + direction] = self.held[:, column]
        if len(state.sliding):
            forces[:, state.sliding, 1:] = self._sliding_friction(forces[:, :, 0])
        return forces

    def _sliding_friction(self, normal: np.ndarray) -> np.ndarray:
        """λ̂_T (k, c, d) of sliding contacts: ρ̂ r − (what turning does) v̂, in the scaled directions."""
        state = self.state
        follows = (state.friction_matrix[state.sliding] @ normal.T).T
        pushed = follows[..., None] * state.friction_direction
        for i, block in enumerate(state.turning_blocks):
            pushed[:, i] -= self.sliding_velocity[:, i] @ block.T
        return pushed * scale(state.system)[state.sliding]

    @cached_property
    def sliding_velocity(self) -> np.ndarray:
        """v̂ (k, c, d) complex [m/s] of sliding contacts in the scaled directions."""
        state = self.state
        tangents = state.sliding_tangents.T @ self.position.T
        shape = (len(self.omega), len(state.sliding), state.system.contacts.tangential)
        return 1j * self.omega[:, None, None] * tangents.T.reshape(shape)

    def limit(self, rest: StationaryState) -> ValidityLimit:
        """Where the first contact leaves its state; nothing is kept where the vibration has no bounds."""
        state, system = self.state, self.state.system
        contacts = system.contacts
        factors = np.full((len(self.omega), contacts.count), np.inf)
        changes = np.full(factors.shape, CLOSES, dtype=np.int8)
        away = np.setdiff1d(np.flatnonzero(contacts.has_normal), state.closed)
        gaps = np.where(rest.touching, 0.0, rest.gaps)
        with np.errstate(invalid="ignore"):
            factors[:, away] = ratio(gaps[away], self.gaps[:, away])
            factors[:, state.closed] = ratio(rest.forces[state.closed, 0], self.forces[:, state.closed, 0])
            changes[:, state.closed] = LIFTS
            for which, change, found in (
                (state.sticking, SLIPS, self._slip(rest)),
                (state.sliding, STICKS, self._stick()),
            ):
                earlier = ~(found >= (1.0 - _TOGETHER) * factors[:, which])
                changes[:, which] = np.where(earlier, change, changes[:, which])
                factors[:, which] = np.minimum(factors[:, which], found)
        factors[~np.isfinite(self.position).all(axis=1)] = 0.0
        return ValidityLimit(factors, changes, contacts.names)

    def _slip(self, rest: StationaryState) -> np.ndarray:
        """(k, b) of the sticking contacts."""
        state, system = self.state, self.state.system
        which = state.sticking
        if not len(which):
            return np.zeros((len(self.omega), 0))
        ratios = scale(system)[which]
        limits = (state.friction_matrix[which] @ self.forces[:, :, 0].T).T
        return slip_factor(
            rest.forces[which, 1:] / ratios, state.limits[which], self.forces[:, which, 1:] / ratios, limits
        )

    def _stick(self) -> np.ndarray:
        """(k, c) of the sliding contacts; zero for those that do not slide yet, but are about to."""
        state = self.state
        speed = np.linalg.norm(state.sliding_velocity * scale(state.system)[state.sliding], axis=1)
        along = np.einsum("kcd,cd->kc", self.sliding_velocity, state.friction_direction)
        return ratio(speed, along)


def _loads(load: Any, count: int, size: int) -> np.ndarray:
    values = np.asarray(load)
    if values.dtype.kind not in "iufc" or not np.all(np.isfinite(values)):
        raise InvalidModel(f"load is {load!r}; expected finite real or complex numbers, in N.")
    if values.shape not in ((size,), (count, size)):
        raise InvalidModel(
            f"load has shape {values.shape}; expected ({size},) or, by frequency, ({count}, {size})."
        )
    return np.broadcast_to(values.astype(complex), (count, size))
