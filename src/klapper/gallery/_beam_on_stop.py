"""A free beam over a flat stop: its model, its limit of a rigid beam in closed form, and what is measured of it."""

from dataclasses import dataclass, replace
from functools import cached_property
from math import expm1, log1p, sqrt
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from klapper.gallery.example import ParameterError

if TYPE_CHECKING:
    from klapper.mechanics import LinearSystem
    from klapper.reduction import Reduced
    from klapper.results import Run
    from klapper.schemes import Scheme
    from klapper.structures import Beam

Reduction = Literal["modal", "quasi-static", "attachment", "massless-boundary"]
SectionReading = Literal["printed", "10mm", "20mm"]

SIDES = {  # m: those of the squares whose area and whose second moment are taken
    "printed": (0.02, 0.01),
    "10mm": (0.01, 0.01),
    "20mm": (0.02, 0.02),
}
COMPLIANT = ("quasi-static", "massless-boundary")  # contacts on position level, without impact law
DEGREE = 3
CLOSED = 1e-9  # of the height at the start: below, B touches


@dataclass(frozen=True)
class RigidRocking:
    """The beam without bending, turning about A and about B in turn.

    ψ̈ = −α₁ ψ̇ ∓ g d/(k² + d²);   about the new pivot, ω⁺/ω⁻ = (k² − d d')/(k² + d'²)

    ``pivots``   distances d [m] of A and B from the centre, both above 0
    ``gyration`` k² [m²], radius of gyration squared
    ``tilt``     at the start [rad], about A
    """

    pivots: tuple[float, float]
    gyration: float
    tilt: float
    gravity: float
    damping: float

    def swings(self, count: int) -> list[tuple[float, float]]:
        """(duration [s], height [m] at its highest): first the fall onto B, then ``count`` swings until the next touch.

        No swings follow an impact after which both points stay down.
        """
        span = sum(self.pivots)
        fall, speed = self._fall(self.tilt, 0)
        swings, side = [(fall, self.tilt * span)], 0
        for _ in range(count):
            here, there = self.pivots[side], self.pivots[1 - side]
            speed *= max(self.gyration - here * there, 0.0) / (self.gyration + there**2)
            side = 1 - side
            rise, angle = self._rise(speed, side)
            fall, speed = self._fall(angle, side)
            swings.append((rise + fall, angle * span))
        return swings

    @property
    def touch(self) -> float:
        """When B touches [s]."""
        return self.swings(0)[0][0]

    @property
    def first_height(self) -> float:
        """Greatest height of A [m] after that."""
        return self.swings(1)[1][1]

    @property
    def next_touch(self) -> float:
        """When A touches again [s]."""
        return sum(duration for duration, _ in self.swings(1))

    def _pull(self, side: int) -> float:
        d = self.pivots[side]
        return self.gravity * d / (self.gyration + d**2)

    def _fall(self, angle: float, side: int) -> tuple[float, float]:
        """Duration of the fall from rest, and the angular speed at its end."""
        from scipy.optimize import brentq

        pull, α = self._pull(side), self.damping
        if angle == 0.0:
            return 0.0, 0.0
        free = sqrt(2 * angle / pull)
        longest = 1.001 * free * (1 + α * free)
        time = brentq(lambda t: pull * t**2 * _fallen(α * t) - angle, 0.0, longest, xtol=1e-15, rtol=1e-14)
        return time, pull * time * (1.0 if α == 0.0 else -expm1(-α * time) / (α * time))

    def _rise(self, speed: float, side: int) -> tuple[float, float]:
        """Duration of the rise to rest, and the angle there."""
        pull, α = self._pull(side), self.damping
        share = α * speed / pull
        if share < 1e-4:
            return speed / pull * (1 - share / 2), speed**2 / (2 * pull) * (1 - 2 * share / 3)
        time = log1p(share) / α
        return time, (speed - pull * time) / α


def _fallen(x: float) -> float:
    """(x − 1 + e⁻ˣ)/x²."""
    return 0.5 - x / 6 + x**2 / 24 if x < 1e-3 else (x + expm1(-x)) / x**2


@dataclass(frozen=True)
class BeamOnStop:
    """Data of the beam: lengths in m, at rest, touching at A = ``start``, straight and ``height`` above B = ``end``."""

    length: float
    young: float
    shear: float
    density: float
    section: SectionReading
    shear_number: float
    start: float
    end: float
    height: float
    alpha1: float
    alpha2: float
    gravity: float
    elements: int = 40

    def __post_init__(self) -> None:
        if not 0.0 <= self.start < 0.5 * self.length < self.end <= self.length:
            raise ParameterError(
                f"a is {self.start:g} m and b {self.end:g} m: the stop must have the middle of the beam, "
                f"{0.5 * self.length:g} m, between them and end within its length."
            )

    @property
    def area(self) -> float:
        return SIDES[self.section][0] ** 2

    @property
    def second_moment(self) -> float:
        return SIDES[self.section][1] ** 4 / 12

    @cached_property
    def rigid(self) -> RigidRocking:
        middle = 0.5 * self.length
        return RigidRocking(
            (middle - self.start, self.end - middle),
            self.length**2 / 12 + self.second_moment / self.area,
            self.height / (self.end - self.start),
            self.gravity,
            self.alpha1,
        )

    @cached_property
    def beam(self) -> "Beam":
        from klapper.structures import Beam, Material, Section

        material = Material(young=self.young, density=self.density, shear=self.shear)
        section = Section(self.area, self.second_moment, self.area / self.shear_number)
        beam = Beam(self.length, material, section, elements=self.elements, degree=DEGREE)
        return beam.with_rayleigh(mass=self.alpha1, stiffness=self.alpha2).with_gravity(self.gravity)

    def system(self, contacts: int) -> "LinearSystem":
        """With ``contacts`` points of the stop, evenly from A to B."""
        from klapper.structures import LineContact

        tilt = self.height / (self.end - self.start)
        stop = LineContact(self.beam.line("w"), self.start, self.end, count=contacts, name="stop")
        return self.beam.system(
            stop.contacts,
            position=self.beam.position(lambda x: tilt * (x - self.start), tilt),
            name="rocking beam",
        )

    def reduced(self, reduction: Reduction, modes: int, contacts: int) -> "Reduced":
        from klapper import reduction as room
        from klapper.mechanics import InvalidModel

        reduce = getattr(room, reduction.replace("-", "_"))
        try:
            return reduce(self.system(contacts), modes)
        except InvalidModel as error:
            raise ParameterError(f"modes cannot be {modes} with reduction {reduction}: {error}") from error

    def stiff(self) -> "tuple[BeamOnStop, Reduced]":
        """Without bending, and with contacts at A and B only; rigid motion needs few elements."""
        few = replace(self, elements=2)
        return few, few.reduced("modal", 2, 2)

    @cached_property
    def rows(self) -> np.ndarray:
        """Deflections at A and B, (2, n)."""
        return self.beam.rows([self.start, self.end])


@dataclass(frozen=True, eq=False)
class Rock:
    """A computed motion: ``heights`` (s, 2) [m] of A and B at ``time`` (s,) [s], ``gaps`` (s, m) [m] of the stop."""

    model: BeamOnStop
    reduced: "Reduced"
    run: "Run"
    heights: np.ndarray
    gaps: np.ndarray

    @classmethod
    def of(cls, model: BeamOnStop, reduced: "Reduced", until: float, scheme: "Scheme") -> "Rock":
        from klapper.simulation import simulate

        run = simulate(reduced.system, until, scheme)
        return cls(model, reduced, run, reduced.output(run, model.rows), reduced.gaps(run))

    @property
    def frequencies(self) -> np.ndarray:
        """Of the reduced beam [Hz]."""
        from scipy.linalg import eigvalsh

        system = self.reduced.system
        if system.stiffness is None:
            return np.zeros(system.size)
        squares = eigvalsh(_dense(system.stiffness), _dense(system.mass_matrix))
        return np.sqrt(np.where(squares > 1e-10 * squares[-1], squares, 0.0)) / (2 * np.pi)

    @property
    def time(self) -> np.ndarray:
        return self.run.time

    @property
    def touch(self) -> float:
        """When B touches first [s], between two samples by a straight line; nan if it never does."""
        closed = np.flatnonzero(self.heights[:, 1] <= CLOSED * self.model.height)
        if not len(closed):
            return float("nan")
        i = closed[0]
        before, after = self.heights[i - 1, 1], min(self.heights[i, 1], 0.0)
        return float(self.time[i - 1] + before / (before - after) * (self.time[i] - self.time[i - 1]))

    @property
    def first(self) -> tuple[float, float]:
        """When [s] and how far [m] A rises most, from the touch of B to the time at which a rigid beam is back."""
        swing = (self.time >= self.touch) & (self.time <= self.model.rigid.next_touch)
        if not swing.any():
            return float("nan"), float("nan")
        best = np.flatnonzero(swing)[np.argmax(self.heights[swing, 0])]
        if self.reduced.by_force is not None or best + 1 == len(self.time):
            return float(self.time[best]), float(self.heights[best, 0])
        near = np.linspace(self.time[best - 1], self.time[best + 1], 201)
        heights = self.heights_at(near)[:, 0]
        return float(near[np.argmax(heights)]), float(heights.max())

    def heights_at(self, times: np.ndarray) -> np.ndarray:
        """(k, 2) [m] of A and B at ``times`` (k,) [s]."""
        return self.reduced.output(self.run, self.model.rows, times)


def _dense(matrix: Any) -> np.ndarray:
    return matrix.toarray() if hasattr(matrix, "toarray") else np.asarray(matrix)
