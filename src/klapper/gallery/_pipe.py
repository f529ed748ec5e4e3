"""A pipe conveying fluid on one-sided supports: its state of rest over the flow, and the stability of that."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from klapper.analysis import Stability, StabilityCourse, StabilityMap, StationaryBranch, StationaryState
    from klapper.gallery._pipe_spans import PipeSpans
    from klapper.mechanics import LinearSystem
    from klapper.structures import Pipe

ELEMENTS = 16  # at least; every support is at the end of one
PER_UNIT = (
    7.5  # elements for each unit of the highest flow, whose compression makes half-waves of the length L
)
MOST = 80  # elements
STEPS = 60  # of the branch
FLOWS = 121  # at which stability is asked
Matrices = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True, eq=False)
class Hose:
    """A pipe on one-sided supports under its weight."""

    length: float
    stiffness: float
    mass_pipe: float
    mass_fluid: float
    damping: float
    gravity: float
    free: bool
    supports: tuple[float, ...]
    highest: float

    @property
    def unit(self) -> float:
        """(π/L) √(E I/M_f) [m/s]."""
        return np.pi / self.length * np.sqrt(self.stiffness / self.mass_fluid)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"support {i + 1}" for i in range(len(self.supports)))

    @cached_property
    def pipe(self) -> "Pipe":
        return make_pipe(
            self.length,
            self.stiffness,
            self.mass_pipe,
            self.mass_fluid,
            free=self.free,
            damping=self.damping,
            places=self.supports,
            elements=min(max(ELEMENTS, int(np.ceil(PER_UNIT * self.highest / self.unit))), MOST),
        )

    def exact(self, closed: tuple[str, ...]) -> "PipeSpans":
        """The same pipe held by these supports, span by span."""
        from klapper.gallery._pipe_spans import PipeSpans

        mass = self.mass_pipe + self.mass_fluid
        places = tuple(x for name, x in zip(self.names, self.supports, strict=True) if name in closed)
        return PipeSpans(
            self.length,
            self.stiffness,
            mass,
            self.mass_fluid,
            self.damping,
            mass * self.gravity,
            self.free,
            places,
        )

    def system(self, flow: float) -> "LinearSystem":
        from klapper.mechanics import Contact

        contacts = [
            Contact(name, normal=self.pipe.row(x)) for name, x in zip(self.names, self.supports, strict=True)
        ]
        return self.pipe.system(flow, contacts, gravity=self.gravity)

    @cached_property
    def branch(self) -> "StationaryBranch":
        from klapper.analysis.stationary_branch import follow_stationary

        return follow_stationary(self.system, 0.0, self.highest, steps=STEPS, progress=False)

    @cached_property
    def changes(self) -> list[tuple[float, str, str]]:
        """Flow, "opens" or "closes", and name of the contact, up to the end of the state that begins without flow."""
        return [
            (event.parameter, event.kind, event.name)
            for event in self.branch.events
            if event.kind in ("opens", "closes") and event.parameter < self.end
        ]

    @cached_property
    def end(self) -> float:
        """Flow [m/s] up to which the state that begins without flow was followed."""
        ends = (event for event in self.branch.events if event.kind in ("fold", "lost", "unbounded", "end"))
        return float(next(ends).parameter)

    @property
    def points(self) -> int:
        """Number of points of the branch that belong to this state."""
        away = (self.branch.number > 0) | (np.diff(self.branch.parameter, prepend=-1.0) < 0.0)
        return int(np.argmax(away)) if away.any() else len(self.branch)

    @property
    def ends(self) -> bool:
        """Whether the state ceases to exist before the highest flow."""
        return self.end < self.highest

    def closed(self, flow: float) -> tuple[str, ...]:
        """Names of the loaded supports at a flow."""
        names = {name for name, shut in zip(self.names, self.branch.closed[0], strict=True) if shut}
        for at, kind, name in self.changes:
            if at < flow:
                names = names - {name} if kind == "opens" else names | {name}
        return tuple(sorted(names))

    def matrices(self, flow: float) -> Matrices:
        """M, D, K of small motions that keep the loaded supports."""
        from klapper.analysis.minimal_coordinates import minimal_coordinates

        reduced = minimal_coordinates(self.system(flow), closed=self.closed(flow))
        return reduced.mass, reduced.damping, reduced.stiffness

    def judged(self, flow: float) -> "Stability":
        """Eigenvalues and verdict of small motions that keep the loaded supports."""
        from klapper.analysis.linear_stability import stability

        return stability(*self.matrices(flow))

    @cached_property
    def course(self) -> "StabilityCourse":
        from klapper.analysis.stability_map import stability_over

        last = self.end * (1 - 1e-9)
        return stability_over(self.matrices, np.linspace(0.0, last, FLOWS), progress=False)

    @property
    def critical(self) -> float:
        """Flow [m/s] at which the state becomes unstable or ends; nan if it does neither."""
        if np.isfinite(self.course.critical):
            return self.course.critical
        return self.end if self.ends else float("nan")

    @property
    def kind(self) -> str:
        """ "flutter", "divergence", "end of the state", or "none" up to the highest flow."""
        if np.isfinite(self.course.critical):
            return next(change.after for change in self.course.changes if change.before == "stable")
        return "end of the state" if self.ends else "none"

    @property
    def critical_frequency(self) -> float:
        """[rad/s] of what grows there; zero for divergence, nan if nothing grows."""
        found = (change.angular_frequency for change in self.course.changes if change.before == "stable")
        return next(found, float("nan"))

    def states(self, flow: float) -> "tuple[StationaryState, ...]":
        from klapper.analysis.stationary_search import stationary_states

        return stationary_states(self.system(flow))

    def state(self, flow: float) -> "StationaryState":
        """The state at a flow that continues the one without flow."""
        wanted = self.closed(flow)
        for state in self.states(flow):
            if {state.system.contacts.name(int(i)) for i in state.loaded} == set(wanted):
                return state
        raise RuntimeError(
            f"the state with {', '.join(wanted)} at {flow:g} m/s was followed, but is not found again"
        )


def make_pipe(
    length: float,
    stiffness: float,
    mass_pipe: float,
    mass_fluid: float,
    *,
    free: bool,
    damping: float = 0.0,
    places: tuple[float, ...] = (),
    elements: int = ELEMENTS,
) -> "Pipe":
    """Clamped at the inlet and free at the outlet, or pinned at both."""
    from klapper.structures import Pipe

    ends = np.unique(np.round(np.append(np.linspace(0.0, length, elements + 1), places), 9))
    held = {0.0: "clamped"} if free else {0.0: "pinned", length: "pinned"}
    return Pipe(length, stiffness, mass_pipe, mass_fluid, supports=held, damping=damping, elements=ends)


@dataclass(frozen=True, eq=False)
class Dimensionless:
    """A pipe without supports over u = U L √(M_f/EI) and β = M_f/(m + M_f), its matrices taken apart once."""

    free: bool

    @cached_property
    def parts(self) -> tuple[np.ndarray, ...]:
        pipe = make_pipe(1.0, 1.0, 0.5, 0.5, free=self.free)
        still, flowing = (pipe.structure(flow).system() for flow in (0.0, 1.0))
        mass, elastic = (_dense(each) for each in (still.mass_matrix, still.position_matrix))
        return (
            mass,
            elastic,
            2.0 * (_dense(flowing.position_matrix) - elastic),
            2.0 * _dense(flowing.rate_matrix),
        )

    def matrices(self, beta: float, speed: float) -> Matrices:
        mass, elastic, pressed, rates = self.parts
        return mass, np.sqrt(beta) * speed * rates, elastic + speed**2 * pressed

    @cached_property
    def chart(self) -> "StabilityMap":
        from klapper.analysis.stability_map import stability_map

        return stability_map(
            self.matrices,
            np.linspace(0.02, 0.92, 37),
            np.linspace(2.0, 17.0, 46),
            accuracy=1e-6,
            progress=False,
        )

    def critical(self, beta: float) -> float:
        """u at which it first becomes unstable."""
        from klapper.analysis.stability_map import stability_over

        return stability_over(
            lambda speed: self.matrices(beta, speed), np.linspace(2.0, 17.0, 31), progress=False
        ).critical


def _dense(matrix: Any) -> np.ndarray:
    return matrix.toarray() if hasattr(matrix, "toarray") else np.asarray(matrix)
