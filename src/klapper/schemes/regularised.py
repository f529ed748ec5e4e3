"""Regularised contact: compliant laws instead of rigid ones, integrated with a restart at every switch.

    M v̇ = f + J_N λ_N(g, ġ) + J_T λ_T(v_T, ρ) + J_B λ_B,   ρ = limit + μ λ_N        Waltersberger 4.4, (4.76)-(4.95)

There are no impacts: a collision is a short phase in which the contact springs press. The right-hand side jumps or has
kinks where a gap closes, a spring would pull, or stick turns into slip. Every such switch is located on the dense
output of the integrator, and the integration restarts there. What the laws cost in penetration, creep and computing
time says ``propose_regularisation`` of ``klapper.schemes.regularisation_advice``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from klapper.mechanics.arguments import number
from klapper.mechanics.compliance import ApproachDamper, BoundaryLayer, CompliantNormal
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.smooth_friction import (
    ArctanFriction,
    PowerFriction,
    SaturatedFriction,
    SmoothFriction,
    StickElement,
)
from klapper.mechanics.system import System
from klapper.schemes.base import Scheme, Snapshot, Step, registered, snapshot_at_start
from klapper.schemes.contact_modes import ContactModes
from klapper.schemes.contact_switches import Switches
from klapper.schemes.friction_branches import FrictionBranches, friction_branches
from klapper.schemes.mobility import Inverse
from klapper.schemes.normal_laws import NormalBranches, NormalLaw
from klapper.schemes.quick_system import quick_system
from klapper.schemes.regularised_step import COUNTS, RegularisedMemory, RegularisedStep
from klapper.schemes.smooth_step import METHODS, Method
from klapper.schemes.work import Work


@registered
@dataclass(frozen=True)
class Regularised(Scheme):
    """One model under compliant laws.

        M v̇ = f + J_N λ_N(g, ġ) + J_T λ_T(v_T, ρ) + J_B λ_B                         Waltersberger (4.76)-(4.95)

    ``normal``      CompliantNormal (4.80), ApproachDamper (4.77) or BoundaryLayer (4.83) of
                    ``klapper.mechanics.compliance``, with one number per parameter or one per contact of the system
    ``friction``    SaturatedFriction, ArctanFriction, PowerFriction or StickElement of
                    ``klapper.mechanics.smooth_friction``; or "set-valued": Coulomb's law itself, (4.88)-(4.95)
    ``method``      "dop853" or, for loose tolerances, "rk45"; "radau" where strong dampers make the motion stiff
    ``tolerance``   allowed relative error of a step
    ``absolute``    allowed error of a step [m, m/s]; None: a thousandth of ``tolerance``. Under set-valued friction
                    patches that slide more slowly are not told from those at rest
    ``sample``      [s]: steps end at its multiples, counted from the start; None: wherever the error control ends them
    ``slip_speed``  [m/s]: under set-valued friction slower contacts count as at rest where it is decided what sticks

    The restitution of the model is not used; ``propose_regularisation`` finds the damping that gives it.

    1 kg runs with 2 m/s into a spring of 10⁴ N/m without damping and comes back as fast, π √(m/c) = 0.0314 s later:

    >>> from klapper.mechanics import CompliantNormal, Contact, LinearSystem
    >>> from klapper.schemes import Regularised
    >>> from klapper.simulation import simulate
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
    name = "regularised"
    compliant_contacts = True  # forces follow from deformations, so that none is undetermined
    rebound = "the compliant law; propose_regularisation gives the damping for a wished restitution"

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
        if system.compliance is not None:
            raise InvalidModel(
                f"'{system.name}' has contact compliance of its own; use Moreau(theta=1, level='position') for it, or "
                f"leave the compliance out and give it as the normal law of Regularised."
            )
        self._require_fit(system)
        start = snapshot_at_start(system)
        switches = self.switches(system, Work())
        velocity = switches.held(start.time, start.position, start.velocity, np.zeros(0, dtype=np.int64))
        modes, velocity = switches.at_start(start.time, start.position, velocity)
        memory = RegularisedMemory(0.0, np.zeros(len(COUNTS)), modes)
        return replace(start, velocity=velocity, memory=memory.packed())

    def stored_energy(self, system: System, snapshot: Snapshot) -> float:
        modes = RegularisedMemory.read(snapshot.memory, system).modes
        return sum(self.spring_energies(system, modes, snapshot.time, snapshot.position))

    def refined(self, factor: float) -> Regularised:
        """The same scheme with contacts that many times stiffer (in damping, for a law without springs), and smooth
        friction that many times sharper."""
        return replace(self, normal=_stiffer(self.normal, factor), friction=_sharper(self.friction, factor))

    def sampled(self, interval: float) -> Regularised:
        return replace(self, sample=interval) if self.sample is None else self

    def costs(self, system: System, snapshot: Snapshot) -> dict[str, int]:
        """How often what was done since the start of the run."""
        counts = RegularisedMemory.read(snapshot.memory, system).counts
        return {name: int(count) for name, count in zip(COUNTS, counts, strict=True)}

    @property
    def settings(self) -> dict[str, Any]:
        return {
            "normal": repr(self.normal),
            "friction": self.friction if isinstance(self.friction, str) else repr(self.friction),
            "method": self.method,
            "tolerance": self.tolerance,
            "absolute": self.absolute_error,
            "sample": self.sample,
            "slip_speed": self.slip_speed,
        }

    @property
    def citations(self) -> tuple[str, ...]:
        vielsack = isinstance(self.friction, StickElement | ArctanFriction)
        return ("waltersberger2007", "vielsack1996") if vielsack else ("waltersberger2007",)

    def step(
        self, system: System, snapshot: Snapshot, until: float = np.inf, work: Work | None = None
    ) -> Step:
        work = work or Work()
        return RegularisedStep(self, quick_system(system, work), snapshot, until, work).done()

    @property
    def absolute_error(self) -> float:
        """Allowed error of a step [m, m/s]."""
        return 1e-3 * self.tolerance if self.absolute is None else self.absolute

    def switches(self, system: System, work: Work) -> Switches:
        """What happens where branches of the laws end."""
        normal = NormalBranches.of(self.normal, system.contacts.count)

        def inverse_of(mass: Any) -> Inverse:
            return work.kept("inverse", (mass,), lambda: Inverse(mass))

        return Switches(system, normal, self._friction, inverse_of)

    @property
    def _friction(self) -> FrictionBranches:
        return friction_branches(self.friction, self.slip_speed, self.absolute_error)

    def spring_energies(
        self, system: System, modes: ContactModes, t: float, q: np.ndarray
    ) -> tuple[float, float]:
        """[J] in the springs of the normal laws and in those of friction."""
        normal, layer = NormalBranches.of(self.normal, system.contacts.count), modes.layer
        tangential = 0.5 * self._friction.stiffness * float(np.sum(modes.spring**2))
        if normal.layered:
            return float(np.sum(normal.stored(layer, layer, layer > 0.0))), tangential
        closed = modes.closed
        gap = system.gaps(t, q, closed)
        return float(np.sum(normal.at(closed).stored(gap, layer[closed], np.isfinite(gap)))), tangential

    def target(self, system: System, t: float, until: float) -> float:
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
