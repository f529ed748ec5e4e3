"""Regularised contact: compliant laws instead of rigid ones, integrated with a restart at every switch.

    M v̇ = f + J_N λ_N(g, ġ) + J_T λ_T(v_T, ρ) + J_B λ_B,   ρ = limit + μ λ_N        Waltersberger 4.4, (4.76)-(4.95)

There are no impacts: a collision is a short phase in which the contact springs press. The right-hand side jumps or has
kinks where a gap closes, a spring would pull, or stick turns into slip. Every such switch is located on the dense
output of the integrator, and the integration restarts there. What the laws cost in penetration, creep and computing
time says ``propose_regularisation`` of ``klapper.schemes.regularisation_advice``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev

from klapper.mechanics.compliance import ApproachDamper, BoundaryLayer, CompliantNormal
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.signals import number
from klapper.mechanics.smooth_friction import (
    ArctanFriction,
    PowerFriction,
    SaturatedFriction,
    SmoothFriction,
    StickElement,
)
from klapper.mechanics.system import System
from klapper.schemes.base import (
    OPEN,
    SLIP,
    STICK,
    Snapshot,
    Step,
    StepFailed,
    Stretch,
    kinetic_energy,
    snapshot_at_start,
)
from klapper.schemes.contact_modes import PRESSING, STICKING, ContactModes
from klapper.schemes.contact_switches import Switches
from klapper.schemes.first_crossing import Crossing, first_crossing
from klapper.schemes.friction_branches import FrictionBranches, friction_branches
from klapper.schemes.mobility import Held
from klapper.schemes.normal_laws import NormalBranches, NormalLaw
from klapper.schemes.regularised_phase import Phase, dense, inverse_kept, stored_energies
from klapper.schemes.smooth_step import METHODS, Method, SmoothStep, smooth_step

_NOISE = 200.0 * np.finfo(float).eps  # of the terms of a function: what counts as zero
_MARGIN = 0.02  # of the way to a switch, by which a stiff step goes past it when it is repeated
_SWITCHES_AT_ONCE = 50
_SHORTER_AFTER, _SHORTER = (
    4,
    0.25,
)  # switches at once, after which each try is so much shorter than the one before
_OF_VISCOUS_SPEED = (
    0.01  # errors of velocities are kept below this part of the speed at which friction saturates
)
_DRIFT_ROUNDS = 5
_NODES = -np.cos(np.pi * np.arange(17) / 16)  # every fourth of them is enough for a first look
_TO_SERIES = np.linalg.inv(chebyshev.chebvander(_NODES, 16))
_TO_SHORT_SERIES = np.linalg.inv(chebyshev.chebvander(_NODES[::4], 4))
COUNTS = ("right-hand sides", "Jacobians", "looks for switches", "switches", "steps")


@dataclass(frozen=True)
class Regularised:
    """One model under compliant laws.

        M v̇ = f + J_N λ_N(g, ġ) + J_T λ_T(v_T, ρ) + J_B λ_B                         Waltersberger (4.76)-(4.95)

    ``normal``      CompliantNormal (4.80), ApproachDamper (4.77) or BoundaryLayer (4.83) of
                    ``klapper.mechanics.compliance``, with one number per parameter or one per contact of the system
    ``friction``    SaturatedFriction, ArctanFriction, PowerFriction or StickElement of
                    ``klapper.mechanics.smooth_friction``; or "set-valued": Coulomb's law itself, (4.88)-(4.95)
    ``method``      "dop853" or, for loose tolerances, "rk45"; "radau" where strong dampers make the motion stiff
    ``tolerance``   allowed relative error of a step
    ``absolute``    allowed error of a step [m, m/s]; None: a thousandth of ``tolerance``
    ``sample``      [s]: steps end at its multiples, counted from the start; None: wherever the error control ends them
    ``slip_speed``  [m/s]: under set-valued friction slower contacts count as at rest where it is decided what sticks

    The restitution of the model is not used; ``propose_regularisation`` finds the damping that gives it.

    1 kg runs with 2 m/s into a spring of 10⁴ N/m without damping and comes back as fast, π √(m/c) = 0.0314 s later:

    >>> from klapper.mechanics import CompliantNormal, Contact, LinearSystem
    >>> from klapper.schemes import Regularised
    >>> from klapper.simulate import simulate
    >>> mass = LinearSystem([1.0], velocity=[-2.0], contacts=[Contact("floor", normal=[1.0])])
    >>> simulate(mass, 0.04, Regularised(CompliantNormal(1e4, 0.0))).velocity[-1].round(6)
    array([2.])
    """

    normal: NormalLaw
    friction: SmoothFriction | str = "set-valued"
    method: Method = "dop853"
    tolerance: float = 1e-8
    absolute: float | None = None
    sample: float | None = None
    slip_speed: float = 1e-7
    _inverse_of: Any = field(default_factory=inverse_kept, init=False, repr=False, compare=False)
    name = "regularised"
    compliant_contacts = True  # forces follow from deformations, so that none is undetermined

    def __post_init__(self) -> None:
        if not isinstance(self.normal, CompliantNormal | ApproachDamper | BoundaryLayer):
            raise InvalidModel(
                f"normal is {self.normal!r}; allowed are CompliantNormal, ApproachDamper and BoundaryLayer of "
                f"klapper.mechanics.compliance."
            )
        smooth = SaturatedFriction | ArctanFriction | PowerFriction | StickElement
        if not (isinstance(self.friction, smooth) or self.friction == "set-valued"):
            raise InvalidModel(
                f"friction is {self.friction!r}; allowed are 'set-valued' and the laws of "
                f"klapper.mechanics.smooth_friction."
            )
        if not isinstance(self.method, str) or self.method not in METHODS:
            raise InvalidModel(f"method is {self.method!r}; allowed are {', '.join(METHODS)}.")
        number(self.tolerance, "tolerance", "numbers above 0 and up to 0.1", above=0.0, at_most=0.1)
        number(self.slip_speed, "slip_speed", "numbers above 0, in m/s", above=0.0)
        for name, unit in (("absolute", "m"), ("sample", "s")):
            if getattr(self, name) is not None:
                number(getattr(self, name), name, f"numbers above 0, in {unit}", above=0.0)

    def init(self, system: System) -> Snapshot:
        if getattr(system, "compliance", None) is not None:
            raise InvalidModel(
                f"'{system.name}' has contact compliance of its own; use Moreau(level='position') for it, or leave the "
                f"compliance out and give it as the normal law of Regularised."
            )
        self._require_fit(system)
        start = snapshot_at_start(system)
        switches = self._switches(system)
        velocity = switches.held(start.time, start.position, start.velocity, np.zeros(0, dtype=np.int64))
        modes, velocity = switches.at_start(start.time, start.position, velocity)
        memory = _Memory(0.0, np.zeros(len(COUNTS)), modes)
        return replace(start, velocity=velocity, memory=memory.packed())

    def steps(self, system: System, until: float) -> int | None:
        return None

    def stretch(self, system: System) -> Stretch | None:
        return None

    def stored_energy(self, system: System, snapshot: Snapshot) -> float:
        modes = _Memory.read(snapshot.memory, system).modes
        return sum(self._stored(system, modes, snapshot.time, snapshot.position))

    def refined(self, factor: float) -> Regularised:
        """The same scheme with contacts that many times stiffer (in damping, for a law without springs), and smooth
        friction that many times sharper."""
        return replace(self, normal=_stiffer(self.normal, factor), friction=_sharper(self.friction, factor))

    def costs(self, system: System, snapshot: Snapshot) -> dict[str, int]:
        """How often what was done since the start of the run."""
        counts = _Memory.read(snapshot.memory, system).counts
        return {name: int(count) for name, count in zip(COUNTS, counts, strict=True)}

    @property
    def settings(self) -> dict[str, Any]:
        return {
            "normal": repr(self.normal),
            "friction": self.friction if isinstance(self.friction, str) else repr(self.friction),
            "method": self.method,
            "tolerance": self.tolerance,
            "absolute": self._absolute,
            "sample": self.sample,
            "slip_speed": self.slip_speed,
        }

    @property
    def citations(self) -> tuple[str, ...]:
        vielsack = isinstance(self.friction, StickElement | ArctanFriction)
        return ("waltersberger2007", "vielsack1996") if vielsack else ("waltersberger2007",)

    def step(self, system: System, snapshot: Snapshot, until: float = np.inf) -> Step:
        return _OneStep(self, system, snapshot, until).done()

    @property
    def _absolute(self) -> float:
        return 1e-3 * self.tolerance if self.absolute is None else self.absolute

    def _switches(self, system: System) -> Switches:
        normal = NormalBranches.of(self.normal, system.contacts.count)
        return Switches(system, normal, self._friction, self._inverse_of)

    @property
    def _friction(self) -> FrictionBranches:
        return friction_branches(self.friction, self.slip_speed)

    def _stored(self, system: System, modes: ContactModes, t: float, q: np.ndarray) -> tuple[float, float]:
        normal = NormalBranches.of(self.normal, system.contacts.count)
        return stored_energies(system, normal, self._friction, modes, t, q)

    def _target(self, system: System, t: float, until: float) -> float:
        """Where the step ends at the latest."""
        if self.sample is None:
            return until
        start = system.start.time
        done = np.floor((t - start) / self.sample * (1.0 + 4.0 * np.finfo(float).eps))
        target = start + (done + 1.0) * self.sample
        return min(target if target > t else target + self.sample, until)

    def _require_fit(self, system: System) -> None:
        for name in ("stiffness", "damping", "exponent"):
            shape = np.shape(getattr(self.normal, name, 0.0))
            if shape not in ((), (system.contacts.count,)):
                raise InvalidModel(
                    f"{name} of the normal law has shape {shape}, expected one number or one for each of the "
                    f"{system.contacts.count} contacts of '{system.name}'."
                )


class _Search:
    """The search for the first switch in a step, with few looks at the contacts.

    Five looks show in most steps that all functions stay far from zero. Else seventeen give Chebyshev series, which the
    search uses instead of the functions if they are as good.
    """

    def __init__(self, phase: Phase, smooth: SmoothStep) -> None:
        self.phase, self.smooth, self.looks = phase, smooth, 0
        self.middle, self.half = 0.5 * (smooth.start + smooth.end), 0.5 * (smooth.end - smooth.start)

    def first(self) -> Crossing | None:
        values, terms = self._look(self.middle + self.half * _NODES[::4])
        if np.all(_far_from_zero(values)):
            return None
        noise = _NOISE * terms.max(axis=0) + np.finfo(float).tiny
        between = np.arange(len(_NODES)) % 4 != 0
        finer = np.empty((len(_NODES), values.shape[1]))
        finer[~between], finer[between] = values, self._values(self.middle + self.half * _NODES[between])
        series = _TO_SERIES @ finer
        functions = self._values
        if np.all(np.abs(series[-3:]).max(axis=0) <= 0.1 * noise):
            functions = partial(_series_values, series, self.middle, self.half)
        return first_crossing(functions, self.smooth.start, self.smooth.end, noise)

    def _values(self, times: np.ndarray) -> np.ndarray:
        return self._look(times)[0]

    def _look(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The functions (k, m) whose fall through zero ends the phase, and the size of their terms."""
        self.looks += len(times)
        looks = [self.phase.ends(t, y) for t, y in zip(times, self.smooth.dense(times), strict=True)]
        return np.array([look[0] for look in looks]), np.array([look[1] for look in looks])


def _stiffer(law: NormalLaw, factor: float) -> NormalLaw:
    """Forces at the same penetration ``factor`` times as large, at the same damping ratio."""
    if isinstance(law, ApproachDamper):
        return replace(law, damping=law.damping * factor)
    exponent = getattr(law, "exponent", 1.0)
    return replace(
        law, stiffness=law.stiffness * factor ** (1.0 / exponent), damping=law.damping * np.sqrt(factor)
    )


def _sharper(friction: SmoothFriction | str, factor: float) -> SmoothFriction | str:
    """Sticking that many times closer to rest."""
    if isinstance(friction, SaturatedFriction | ArctanFriction):
        return replace(friction, speed=friction.speed / factor)
    if isinstance(friction, PowerFriction):
        return replace(friction, sharpness=friction.sharpness * factor)
    if isinstance(friction, StickElement):
        return replace(friction, stiffness=friction.stiffness * factor, damping=friction.damping * factor)
    return friction


def _series_values(series: np.ndarray, middle: float, half: float, times: np.ndarray) -> np.ndarray:
    return chebyshev.chebval((times - middle) / half, series).T


def _far_from_zero(values: np.ndarray) -> np.ndarray:
    """Functions (m,) that stay above zero by far, from their values (5, m) at the few Chebyshev nodes.

    Their series of the degree 4 must stay above ten times its last two terms.
    """
    series = _TO_SHORT_SERIES @ values
    size = np.abs(series)
    lowest = series[0] - size[1:].sum(axis=0)
    return lowest > 10.0 * (size[3] + size[4])


@dataclass(frozen=True, eq=False)
class _Memory:
    """Step size [s] to try next (0: to be chosen), counters, and the modes of all contacts."""

    size: float
    counts: np.ndarray
    modes: ContactModes

    def packed(self) -> np.ndarray:
        return np.concatenate([[self.size], self.counts, self.modes.packed()])

    @staticmethod
    def read(memory: np.ndarray, system: System) -> _Memory:
        first = 1 + len(COUNTS)
        modes = ContactModes.unpacked(memory[first:], system.contacts.count, system.contacts.tangential)
        return _Memory(float(memory[0]), memory[1:first].copy(), modes)


@dataclass(frozen=True, eq=False)
class _Piece:
    """A smooth piece of motion up to ``end`` [s] with y there, and the labels of the switches that end it."""

    smooth: SmoothStep
    end: float
    y: np.ndarray
    labels: Sequence[tuple[str, int]]


class _OneStep:
    """One step: a smooth piece of motion, and the switches at its end."""

    def __init__(self, scheme: Regularised, system: System, snapshot: Snapshot, until: float) -> None:
        self.scheme, self.system, self.before = scheme, system, snapshot
        self.t, self.q = snapshot.time, snapshot.position
        self.until = until
        self.target = scheme._target(system, self.t, until)
        self.memory = _Memory.read(snapshot.memory, system)
        self.size = self.memory.size
        self.counts = dict(zip(COUNTS, self.memory.counts, strict=True))
        self.relative = min(scheme.tolerance, self._slow_enough())
        self.switches = replace(scheme._switches(system), blur=max(self.relative / _NOISE, 1.0))
        self.notes = self._first_notes() if snapshot.step == 0 else {}

    def done(self) -> Step:
        phase, piece = self._smooth_piece()
        q, v, _, _ = phase.parts(piece.y)
        during = modes = phase.settled(piece.end, piece.y)
        q, v = self._without_drift(phase, piece.end, q, v)
        if piece.labels:
            modes, v = self._switched(phase, during, piece.labels, piece.end, q, v)
        self.counts["steps"] += 1
        return self._step(phase, piece, during, modes, q, v)

    def _smooth_piece(self) -> tuple[Phase, _Piece]:
        modes, v = self.memory.modes, self.before.velocity
        for switches in range(_SWITCHES_AT_ONCE + 4 * self.system.contacts.count):
            phase = self.switches.phase(modes, self.t, self.q, v)
            piece = self._piece(phase, phase.begin(self.q, v))
            if not (piece.labels and piece.end <= self.t):
                return phase, piece
            modes, v = self._switched(phase, modes, piece.labels, self.t, self.q, v)
            if switches >= _SHORTER_AFTER:
                # a step much longer than the decay by a strong damper has ripples of force in its dense output
                tried = piece.smooth.end - piece.smooth.start
                self.size = max(_SHORTER * tried, 64.0 * np.spacing(self.t))
        names = ", ".join(sorted({f"'{self.system.contacts.name(i)}' {what}" for what, i in piece.labels}))
        raise StepFailed(
            f"At {self.t:.9g} s contacts switch without end: {names}. Two branches of their laws exclude each other "
            f"there; give the contacts some damping, or use another friction law."
        )

    def _piece(self, phase: Phase, y: np.ndarray) -> _Piece:
        size = self.size or None
        smooth = self._integrate(phase, y, self.target, size)
        piece = self._up_to_switch(phase, smooth)
        if piece.labels and self.scheme.method == "radau" and piece.end > self.t:
            # the dense output is most accurate near its end: repeat the step so that it ends just behind the switch
            behind = piece.end + _MARGIN * (piece.end - self.t)
            smooth = self._integrate(phase, y, min(behind, self.target), behind - self.t)
            piece = self._up_to_switch(phase, smooth)
        return piece

    def _integrate(self, phase: Phase, y: np.ndarray, until: float, size: float | None) -> SmoothStep:
        def rate(t: float, y: np.ndarray) -> np.ndarray:
            self.counts["right-hand sides"] += 1
            return phase.rate(t, y)

        def jacobian(t: float, y: np.ndarray) -> np.ndarray:
            self.counts["Jacobians"] += 1
            self.counts["right-hand sides"] += phase.core + 1
            return phase.jacobian(t, y)

        share = np.sqrt(
            phase.core / phase.size
        )  # the sums are not controlled and must not thin out the error
        absolute = np.full(phase.size, np.inf)
        absolute[: phase.core] = share * self.scheme._absolute
        return smooth_step(
            self.scheme.method,
            rate,
            self.t,
            y,
            until=until,
            size=size,
            relative=share * self.relative,
            absolute=absolute,
            jacobian=jacobian if self.scheme.method == "radau" else None,
        )

    def _slow_enough(self) -> float:
        """Relative tolerance that resolves the speed below which smooth friction is viscous."""
        speed = getattr(self.scheme.friction, "speed", np.inf)
        return _OF_VISCOUS_SPEED * speed / max(float(np.abs(self.before.velocity).max(initial=0.0)), speed)

    def _up_to_switch(self, phase: Phase, smooth: SmoothStep) -> _Piece:
        """The step, cut at the first switch in it."""
        came_near = self.system.near(smooth.end, phase.parts(smooth.after)[0])
        phase = self.switches.watching(phase, came_near)
        search = _Search(phase, smooth)
        crossing = search.first() if phase.labels else None
        self.counts["looks for switches"] += search.looks
        if crossing is None:
            return _Piece(smooth, smooth.end, smooth.after, ())
        y = smooth.dense(np.array([crossing.time]))[0] if crossing.time < smooth.end else smooth.after
        return _Piece(smooth, float(crossing.time), y, [phase.labels[i] for i in crossing.which])

    def _switched(
        self,
        phase: Phase,
        modes: ContactModes,
        labels: Sequence[tuple[str, int]],
        t: float,
        q: np.ndarray,
        v: np.ndarray,
    ) -> tuple[ContactModes, np.ndarray]:
        self.counts["switches"] += len(labels)
        return self.switches.after(phase, modes, labels, t, q, v)

    def _without_drift(
        self, phase: Phase, t: float, q: np.ndarray, v: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Position and velocity that meet the constraints, and sticking patches that stick."""
        system = self.system
        for _ in range(_DRIFT_ROUNDS if system.constraints else 0):
            residual = system.constraint_residuals(t, q)
            if np.abs(residual).max() <= 1e-14 * (1.0 + np.abs(q).max(initial=0.0)):
                break
            held = Held(self.scheme._inverse_of(system.mass(q)), dense(system.constraint_directions(t, q)[0]))
            q = system.advance(q, held.push(held.impulses(residual)))
        return q, self.switches.held(t, q, v, phase.closed[phase.stuck])

    def _step(
        self,
        phase: Phase,
        piece: _Piece,
        during: ContactModes,
        modes: ContactModes,
        q: np.ndarray,
        v: np.ndarray,
    ) -> Step:
        impulse, constraint, works = phase.sums(piece.y)
        sums = self.before.sums + self._energies(works, modes, piece.end, q, v)
        took_part = np.union1d(phase.closed, modes.closed).astype(np.int64)
        full = np.zeros((len(took_part), 1 + phase.d))
        full[np.searchsorted(took_part, phase.closed)] = impulse
        loaded = np.any(full != 0.0, axis=1)
        time = self.target if piece.end >= self.target - 4.0 * np.spacing(abs(self.target)) else piece.end
        if not (np.all(np.isfinite(q)) and np.all(np.isfinite(v))):
            raise StepFailed(f"The motion left the range of numbers in the step from {self.t:.6g} s.")
        after = Snapshot(
            step=self.before.step + 1,
            time=time,
            position=q,
            velocity=v,
            contact=took_part[loaded],
            impulse=full[loaded],
            sums=sums,
            memory=_Memory(self._next_size(piece), np.array(list(self.counts.values())), modes).packed(),
        )
        if time >= self.until:
            self.notes["cost"] = ", ".join(f"{int(count)} {what}" for what, count in self.counts.items())
        state = self._states(during, took_part, time, q, v)
        return Step(after, took_part, full, state, constraint, 0.0, self.notes)

    def _next_size(self, piece: _Piece) -> float:
        if piece.labels:
            return 0.0
        cut_short = piece.end >= self.target
        return max(piece.smooth.next_size, self.memory.size if cut_short else 0.0)

    def _energies(
        self, works: np.ndarray, modes: ContactModes, t: float, q: np.ndarray, v: np.ndarray
    ) -> np.ndarray:
        """Increments (5,) [J]; the numerical one is what the balance lacks."""
        system, before = self.system, self.before
        springs_before = self.scheme._stored(system, self.memory.modes, self.t, self.q)
        springs_after = self.scheme._stored(system, modes, t, q)
        loads, damping = works[0], works[1]
        impact = works[2]
        friction = works[3] - (springs_after[1] - springs_before[1])
        gain = kinetic_energy(system, q, v) - kinetic_energy(system, before.position, before.velocity)
        gain += system.potential(q) - system.potential(before.position)
        gain += sum(springs_after) - sum(springs_before)
        return np.array([loads, damping, friction, impact, loads - gain - damping - friction - impact])

    def _states(
        self, modes: ContactModes, contacts: np.ndarray, t: float, q: np.ndarray, v: np.ndarray
    ) -> np.ndarray:
        sticks = modes.tangential[contacts] == STICKING
        if isinstance(self.scheme.friction, ArctanFriction) and len(contacts):
            slip = self.system.directions(t, q, contacts).tangential_velocity(v)
            speed = np.linalg.norm(slip.reshape(len(contacts), -1), axis=1)
            sticks &= speed <= self.scheme.friction.speed
        presses = modes.normal[contacts] == PRESSING
        return np.where(presses, np.where(sticks, STICK, SLIP), OPEN).astype(np.int8)

    def _first_notes(self) -> dict[str, str]:
        contacts = self.system.contacts
        restitution = contacts.laws(np.arange(contacts.count)).restitution
        if not np.any(restitution > 0.0):
            return {}
        worst = int(np.argmax(restitution))
        return {
            "restitution": f"the restitution of the model, e.g. {restitution[worst]:g} at '{contacts.name(worst)}', is "
            f"not used: rebound follows from the compliant law. propose_regularisation gives the damping for it"
        }
