"""Phases of event-driven integration in compiled code, for systems that offer a compiled form.

One call follows the motion from the start of a phase over many steps of the integrator up to the first event. What is
out of the ordinary in a step (forces that are not unique, a flight lower than round-off, slow sliding in space that
asks for an implicit method, an integration that fails) is left to the general code, which gives the same motion to
the tolerance.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from klapper.mechanics.compiled_form import CompiledForm, NotCompiled
from klapper.mechanics.kernels.signatures import pointer
from klapper.mechanics.system import System
from klapper.schemes.kernels import phase_rows as rows
from klapper.schemes.phase_equations import PhaseEquations
from klapper.schemes.phase_flow import Integrals
from klapper.schemes.phase_modes import Modes
from klapper.schemes.phase_watch import meanings_of
from klapper.schemes.work import Work

_MOST_COORDINATES = 150  # beyond, sparse matrices of the general code pay
_MOST_CONTACTS = 256  # that are watched without a search
PHASE_STEPS = 24  # of the integrator in one call, whose dense output is kept


class CompiledSystem:
    """The form of a system as the kernels take it."""

    def __init__(self, form: CompiledForm) -> None:
        from klapper.schemes.kernels import no_functions
        from klapper.schemes.kernels.phase_parts import FORM_FUNCTIONS

        self.form = form
        nothing = no_functions.__dict__
        functions = [pointer(getattr(form, name) or nothing[name], name) for name in FORM_FUNCTIONS]
        self.places = places = np.ascontiguousarray(form.mass_entries, dtype=np.int64)
        self.index = np.ascontiguousarray(form.index)
        self.data = np.ascontiguousarray(form.data)
        self._functions = functions  # their machine code lives as long as these
        self.addresses = [function.__wrapper_address__() for function in functions]
        self.kind, self.inverse = self._inverse(places)

    def _inverse(self, places: np.ndarray) -> tuple[int, np.ndarray]:
        form, n = self.form, self.form.velocities
        if not form.constant_mass:
            return rows.FACTORISED, np.zeros((n, n))
        entries = np.zeros(places.shape[1])
        form.mass(self.index, self.data, np.zeros(form.positions), entries)
        mass = np.zeros((n, n))
        np.add.at(mass, (places[0], places[1]), entries)
        if np.count_nonzero(mass) == np.count_nonzero(mass.diagonal()):
            return rows.DIAGONAL, np.ascontiguousarray(1.0 / mass.diagonal()[None])
        return rows.INVERTED, np.ascontiguousarray(np.linalg.inv(mass))


_KNOWN: WeakKeyDictionary[Any, CompiledSystem | None] = WeakKeyDictionary()


def compiled_system(system: System) -> CompiledSystem | None:
    """The system for compiled phases, if it has a form that they can take."""
    known = vars(system).get("compiled")  # of a system that is asked through its form
    if isinstance(known, CompiledSystem):
        return known
    if system not in _KNOWN:
        _KNOWN[system] = _compiled(system)
    return _KNOWN[system]


def _compiled(system: System) -> CompiledSystem | None:
    try:
        return compiled_or_reason(system)
    except NotCompiled:
        return None


def compiled_or_reason(system: System) -> CompiledSystem:
    """The system for compiled phases, or the reason why it has no form for them."""
    if len(system.velocities) > _MOST_COORDINATES:
        raise NotCompiled(f"it has more than {_MOST_COORDINATES} coordinates, for which sparse matrices pay")
    if system.contacts.count > _MOST_CONTACTS:
        raise NotCompiled(f"it has more than {_MOST_CONTACTS} possible contacts")
    offer = getattr(system, "compiled_form", None)
    form = None if offer is None else offer()
    if form is None:
        raise NotCompiled(f"{type(system).__name__} offers no compiled form")
    if form.shares is not None and not form.constant_friction:
        raise NotCompiled("friction limits are averages of others' forces and depend on the sliding speed")
    return CompiledSystem(form)


class CompiledPhase:
    """A phase with the arrays that the kernels need; ``equations`` are those of the general code."""

    def __init__(self, compiled: CompiledSystem, equations: PhaseEquations) -> None:
        from klapper.schemes.kernels.phase_parts import parts

        self.compiled, self.equations = compiled, equations
        form, modes, d = compiled.form, equations.modes, equations.d
        k, m, s, p = len(equations.which), len(equations.normal), len(equations.patch), form.constraints
        n, nq, r, h = form.velocities, form.positions, equations.size, len(equations.held)
        self.size = nq + n + r + 3
        has_normal = equations.system.contacts.laws(np.arange(equations.system.contacts.count)).normal
        watched = np.flatnonzero(has_normal)
        watched = watched[~np.isin(watched, modes.contact[modes.pressed])].astype(np.int64)
        self.meanings = meanings_of(equations, watched)
        steady = form.constant_mass and form.straight and (form.affine_constraints or p == 0)
        head = (
            *(nq, n, k, m, s, d, p, h, compiled.kind, equations.changing),
            *(form.curvature is not None, form.constraint_curvature is not None, form.powers is not None),
            *(
                form.potential is not None,
                form.damping is not None,
                form.advance is not None,
                steady,
                r,
                0,
                0,
                0,
            ),
        )
        width, c_width = max(form.contact_width, 1), max(form.constraint_width, 1)
        longest = max(nq, n, r, k, s * d, compiled.places.shape[1], 3) + 1
        inverse = compiled.inverse if form.constant_mass else np.zeros((n, n))
        integers = {
            "which": equations.which,
            "normal": equations.normal,
            "patch": equations.patch,
            "held": equations.held,
            "grip": modes.grip[equations.patch],
            "columns": np.zeros((k, width)),
            "c_columns": np.zeros((p, c_width)),
            "places": compiled.places,
            "watched": watched,
            "follows": np.isin(watched, modes.contact),
        }
        numbers = {
            "sense": equations.sense,
            "friction": equations.at_rest,
            "limit": equations.limit,
            "scale": equations.scale,
            "rows": np.zeros((r, n)),
            "response": np.zeros((r, n)),
            "mobility": np.zeros((r, r)),
            "spread": np.zeros((r, h)),
            "equations": np.zeros((h, h + 1)),
            "inverse": inverse,
            "vectors": np.zeros((rows.VECTOR_ROWS, longest)),
            "entries": np.zeros((k, (1 + d) * width)),
            "rates": np.zeros((k, 1 + d)),
            "c_entries": np.zeros((p, c_width)),
            "c_rates": np.zeros(p),
            "depth": np.zeros(len(watched)),
            "limit_scale": np.zeros(s),
            "slip_speed": np.zeros(1),
            "reference": modes.reference,
        }
        self._ints, self._floats = _packed(head, integers, numbers)
        addresses = [part.__wrapper_address__() for part in parts(free=r == 0)]
        self.form = compiled.index, compiled.data, np.array(compiled.addresses + addresses, dtype=np.int64)

    def run(
        self, t: float, q: np.ndarray, v: np.ndarray, until: float, size: float, tolerance: float, slip: float
    ) -> CompiledFlow | None:
        """The motion up to the first event, or for some steps; None if the general code has to take the step."""
        from klapper.schemes.kernels.phase_parts import entries
        from klapper.schemes.kernels.phase_run import ENDED, GENERAL
        from klapper.schemes.kernels.phase_search import SERIES
        from klapper.schemes.kernels.phase_steps import TABLEAU

        equations = self.equations
        y = np.zeros(self.size)
        y[: len(q)], y[len(q) : len(q) + len(v)] = q, v
        pieces = np.empty((PHASE_STEPS, 2 + 9 * self.size + equations.sense.size))
        ints, floats = self._ints.copy(), self._floats.copy()
        floats[ints[rows.SLIP_SPEED]] = slip
        which = np.zeros(len(self.meanings), dtype=np.bool_)
        given = np.array([t, until, size, tolerance])
        outcome, count = entries()[0](*self.form, ints, floats, TABLEAU, SERIES, y, pieces, given, which)
        if outcome == GENERAL or count == 0:
            return None
        events = np.unique(self.meanings[which], axis=0) if outcome == ENDED else self.meanings[:0]
        return CompiledFlow(self, (ints, floats), pieces[:count], given[0], given[2], y, events)

    def part(self, name: int, packed: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        """An array of the phase, a view."""
        ints, floats = packed
        first, m, n = ints[name : name + 3]
        return (ints if name < rows.SENSE else floats)[first : first + m * n].reshape(m, n)


def _packed(
    head: tuple[Any, ...], integers: dict[str, Any], numbers: dict[str, Any]
) -> tuple[np.ndarray, np.ndarray]:
    """Integers and numbers of a phase, with the places and shapes of all arrays after the head."""
    integers = {name: np.asarray(integers[name], dtype=np.int64) for name in rows.INTEGER_ARRAYS}
    numbers = {name: np.asarray(numbers[name], dtype=float) for name in rows.NUMBER_ARRAYS}
    table, at = [], len(head) + 3 * (len(integers) + len(numbers))
    for kind in (integers, numbers):
        for array in kind.values():
            table += [at, *(array.shape if array.ndim == 2 else (1, array.size))]
            at += array.size
        at = 0
    ints = [np.array([int(x) for x in (*head, *table)])] + [array.ravel() for array in integers.values()]
    return np.concatenate(ints), np.concatenate([array.ravel() for array in numbers.values()])


class CompiledFlow:
    """Steps of the integrator up to ``time`` [s], with the ``events`` (e, 2) there; ``final`` (ny,) is the state
    without drift; whether all forces were ``unique``."""

    drifts = True

    def __init__(
        self,
        phase: CompiledPhase,
        packed: tuple[np.ndarray, np.ndarray],
        pieces: np.ndarray,
        time: float,
        next_size: float,
        final: np.ndarray,
        events: np.ndarray,
    ) -> None:
        self.phase, self._packed, self._pieces = phase, packed, pieces
        self.nq, self.nv = phase.compiled.form.positions, phase.compiled.form.velocities
        self.start, self.end = float(pieces[0, 0]), float(pieces[-1, 0] + pieces[-1, 1])
        self.pieces = len(pieces)
        self.time, self.next_size, self.events = float(time), float(next_size), events
        self.final = final
        self._renewed = phase.part(rows.GRIP, packed).copy()[0], phase.part(rows.SENSE, packed).copy()
        phase.part(rows.GRIP, packed)[0] = phase.equations.modes.grip[phase.equations.patch]
        self._last: tuple[np.ndarray, np.ndarray] | None = None
        self.unique = not packed[0][rows.LOOSE]

    def _dense(self, times: np.ndarray) -> np.ndarray:
        if self._last is None or self._last[0] is not times:
            from klapper.schemes.kernels.phase_parts import entries

            y = np.empty((len(times), self.phase.size))
            entries()[1](np.ascontiguousarray(times, dtype=float), self._pieces, y)
            self._last = (times, y)
        return self._last[1]

    def states(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        y = self._dense(times)
        return y[:, : self.nq], y[:, self.nq : self.nq + self.nv]

    def reactions(self, times: np.ndarray) -> np.ndarray:
        from klapper.schemes.kernels.phase_parts import entries_of_contacts

        forces = np.zeros((len(times), self.phase.equations.size))
        if forces.size:
            at = np.ascontiguousarray(times, dtype=float)
            entries_of_contacts()[0](
                *self.phase.form, *self._packed, at, self._dense(times), self._pieces, forces
            )
        return forces

    forces = reactions

    def integrals(self, times: np.ndarray) -> Integrals:
        sums = self._dense(times)[:, self.nq + self.nv :]
        return Integrals(sums[:, :-3], sums[:, -3], sums[:, -2], sums[:, -1])

    def held(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """States (k, nq), (k, nv) without drift, None if that is left to the general code."""
        from klapper.schemes.kernels.phase_parts import entries_of_contacts

        q, v = (part.copy() for part in self.states(times))
        at = np.ascontiguousarray(times, dtype=float)
        return (q, v) if entries_of_contacts()[1](*self.phase.form, *self._packed, at, q, v) else None

    @property
    def forces_at_end(self) -> np.ndarray:
        """Reactions (r,) [N] at ``time``."""
        return self.reactions(np.array([self.time]))[0]

    def modes_after(self, modes: Modes) -> tuple[np.ndarray, np.ndarray]:
        """Grip (k,) and sense (k, d) of all contacts of the phase after its end."""
        grip, sense = modes.grip.copy(), modes.sense.copy()
        grip[self.phase.equations.patch], sense[self.phase.equations.patch] = self._renewed
        return grip, sense


def compiled_phase(equations: PhaseEquations, work: Work) -> CompiledPhase | None:
    """The phase for the kernels, kept from its last visit; None if the system has no form for it."""
    compiled = compiled_system(equations.system)
    if compiled is None:
        return None
    return work.kept("compiled phase", (equations,), lambda: CompiledPhase(compiled, equations))
