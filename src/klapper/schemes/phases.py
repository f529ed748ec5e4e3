"""Methods that go from event to event: what event-driven and piecewise exact integration share.

In a phase every contact keeps its mode. A method gives the smooth motion as a
:class:`~klapper.schemes.phase_flow.Flow`; the step finds the first event in it, cuts it there, removes drift, keeps the
books, lets velocities jump where contacts hit, and decides the modes of the next phase. Waltersberger, section 4.2 and
Definition 4.1.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.linear_system import LinearSystem
from klapper.mechanics.system import System
from klapper.schemes.base import Scheme, Snapshot, Step, require_known_solver, snapshot_at_start
from klapper.schemes.force_selection import require_rule
from klapper.schemes.linear_phase_equations import phase_equations
from klapper.schemes.mobility import Inverse
from klapper.schemes.mode_decision import Decision, DecisionRules, decide
from klapper.schemes.phase_equations import PhaseEquations
from klapper.schemes.phase_flow import Flow
from klapper.schemes.phase_impact import Impact, law_impact, newton_impact
from klapper.schemes.phase_modes import Modes, PhaseMemory
from klapper.schemes.phase_step import BareStep, PhaseStep
from klapper.schemes.quick_system import quick_system
from klapper.schemes.touching import Touching
from klapper.schemes.work import Work

_MOST_PHASES = 64  # whose equations are kept

if TYPE_CHECKING:
    from klapper.schemes.compiled_phases import CompiledFlow


@dataclass(frozen=True)
class Phased(Scheme):
    """What all methods with phases share: their options and the step. Whoever writes one gives ``name``, ``flow`` and,
    if they differ, ``collide``, ``decide``, ``settings`` and ``citations``.

    ``tolerance``        allowed error per step of positions [m] and velocities [m/s]; gaps up to a hundredth of it
                         count as closed
    ``impact``           None: Newton's law; or a law of :mod:`klapper.mechanics.impact`
    ``sample``           [s] between samples that are saved besides the events; None: as the steps come
    ``shortest_flight``  [s]: a contact that would come back sooner after an impact is closed for good
    ``slip_speed``       [m/s] up to which a patch counts as at rest
    ``largest_step``     [s], None: as long as the tolerance allows
    ``solver``           of contact problems, see :func:`klapper.complementarity.solve`
    ``selection``        rule of :mod:`klapper.complementarity.selection` for forces that are not unique; None: those
                         closest to the last ones. Where they move the system differently, the rule chooses at every
                         change of the contact modes, and in between forces stay as close to its choice as they can
    ``painleve``         "stop": a state without finite accelerations ends the run; "jump": the velocity jumps there
    """

    tolerance: float = 1e-10
    _: KW_ONLY
    impact: Any = None
    sample: float | None = None
    shortest_flight: float = 1e-9
    slip_speed: float = 1e-9
    largest_step: float | None = None
    solver: Any = "auto"
    selection: Any = None
    painleve: str = "stop"
    name = "phased"

    def __post_init__(self) -> None:
        for option, unit in (
            ("tolerance", "m"),
            ("shortest_flight", "s"),
            ("slip_speed", "m/s"),
            ("sample", "s"),
            ("largest_step", "s"),
        ):
            value = getattr(self, option)
            if value is None and option in ("sample", "largest_step"):
                continue
            real = isinstance(value, int | float | np.number) and not isinstance(value, bool)
            if not (real and np.isfinite(value) and value > 0.0):
                raise InvalidModel(f"{option} is {value!r}; allowed are numbers above 0, in {unit}.")
        if self.impact is not None and not hasattr(self.impact, "resolve"):
            raise InvalidModel(
                f"impact is {self.impact!r}; allowed are None (Newton's law) and laws of klapper.mechanics.impact, "
                f"e.g. Sequential()."
            )
        require_known_solver(self.solver)
        if self.painleve not in ("stop", "jump"):
            raise InvalidModel(f"painleve is {self.painleve!r}; allowed are 'stop' and 'jump'.")
        require_rule(self.selection)

    def sampled(self, interval: float) -> Self:
        return replace(self, sample=interval) if self.sample is None else self

    def init(self, system: System) -> Snapshot:
        if system.compliance is not None:
            raise InvalidModel(
                f"'{system.name}' has contact compliance, which acts on gaps, while {self.name} takes contacts as "
                f"rigid: use Moreau(theta=1, level='position')."
            )
        modes = Modes.none(system.contacts.tangential, len(system.constraints))
        memory = PhaseMemory(modes, since=system.start.time)
        return replace(snapshot_at_start(system), memory=memory.written())

    def require_memory(self, system: System, memory: np.ndarray) -> None:
        PhaseMemory.require(
            memory, system.contacts.count, system.contacts.tangential, len(system.constraints)
        )

    @property
    def settings(self) -> dict[str, Any]:
        return {
            "tolerance": self.tolerance,
            "impact": "newton" if self.impact is None else repr(self.impact),
            "sample": self.sample,
            "shortest_flight": self.shortest_flight,
            "slip_speed": self.slip_speed,
            "largest_step": self.largest_step,
            "solver": self.solver if isinstance(self.solver, str) else repr(self.solver),
            "painleve": self.painleve,
        } | ({} if self.selection is None else {"selection": repr(self.selection)})

    @property
    def citations(self) -> tuple[str, ...]:
        return ("waltersberger2007", "pfeiffer1996", *getattr(self.impact, "citations", ()))

    def step(
        self, system: System, snapshot: Snapshot, until: float = np.inf, work: Work | None = None
    ) -> Step:
        work = work or Work()
        return PhaseStep(self, quick_system(system, work), snapshot, until, work).done()

    def bare_step(
        self, system: System, snapshot: Snapshot, until: float = np.inf, work: Work | None = None
    ) -> Step:
        """The same motion without books: impulses of smooth motion and works are 0. Their quadrature may take longer
        than the motion."""
        work = work or Work()
        return BareStep(self, quick_system(system, work), snapshot, until, work).done()

    def flow(
        self,
        equations: PhaseEquations,
        t: float,
        q: np.ndarray,
        v: np.ndarray,
        until: float,
        size: float,
        work: Work,
    ) -> Flow:
        """The smooth motion from a state, not past ``until`` [s]; ``size`` [s] was proposed by the last flow."""
        raise NotImplementedError

    def run(
        self,
        equations: PhaseEquations,
        t: float,
        q: np.ndarray,
        v: np.ndarray,
        until: float,
        size: float,
        work: Work,
    ) -> CompiledFlow | None:
        """The motion up to the first event in compiled code; None: ``flow`` gives it, and the events are searched."""
        return None

    def sharpened(
        self, equations: PhaseEquations, t: float, q: np.ndarray, v: np.ndarray, event: float, work: Work
    ) -> Flow | None:
        """A flow that is more accurate near an event at the time ``event`` [s] and goes a little past it, or None."""
        return None

    def collide(self, touching: Touching) -> Impact:
        """The velocity jump where contacts hit."""
        if self.impact is not None and np.any(touching.approach < -touching.quiet):
            return law_impact(self.impact, touching)
        return newton_impact(touching, self.solver, selection=self.selection)

    def decide(self, memory: PhaseMemory, touching: Touching, ahead: float, work: Work) -> Decision:
        """The modes of the phase that begins."""
        rules = DecisionRules(self.slip_speed, self.shortest_flight, self.solver, self.selection)
        return decide(rules, memory, touching, ahead)

    def equations(self, system: System, modes: Modes, work: Work) -> PhaseEquations:
        """The equations of a phase, those of the last one if they are the same."""
        known: dict[Any, PhaseEquations] = work.kept("equations", (system,), dict)
        key = modes.key
        found = known.get(key)
        if found is None or not (found.determined or found.modes.same_as(modes)):
            if len(known) >= _MOST_PHASES:
                known.clear()
            found = known[key] = phase_equations(system, modes, self.inverse(system, work))
        return found

    def inverse(self, system: System, work: Work) -> Inverse | None:
        """M⁻¹ of a linear system."""
        if not isinstance(system, LinearSystem):
            return None
        return work.kept("inverse", (system,), lambda: Inverse(system.mass_matrix))
