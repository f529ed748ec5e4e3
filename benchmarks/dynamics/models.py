"""The five models of the dynamics benchmark: plain numbers, the same for every program, in SI units.

The rigid models with unilateral contact are the reference; their scheme is Moreau–Jean's

    M (v⁺ − v) = h (f − K ((1 − θ) q + θ q⁺)) + J Λ,     q⁺ = q + h ((1 − θ) v + θ v⁺)
    contact i takes part if   g_i(q) + (1 − θ) h ġ_i(v) ≤ ROUND_OFF,   then   0 ≤ Λ_i ⊥ ġ_i⁺ + ε ġ_i⁻ ≥ 0

with Newton's restitution ε and Coulomb friction μ. Only numpy is imported: Siconos' interpreter reads this
file too. Random numbers come from numpy's frozen `RandomState`, whose stream is the same in every version.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

GRAVITY = 9.81  # m/s²
ROUND_OFF = 1e-14  # m, a resting contact with θ = 1 has no other gap than round-off


@dataclass(frozen=True)
class BouncingBall:
    """A ball falls from rest and bounces on the ground until it lies still.

    mass [kg]; height of the fall [m]; restitution ε [-]; gravity [m/s²]; step [s]; until [s]; theta [-].
    """

    kind: ClassVar[str] = "bouncing ball"
    mass: float = 1.0
    height: float = 1.0
    restitution: float = 0.8
    gravity: float = GRAVITY
    step: float = 1e-3
    until: float = 10.0
    theta: float = 0.5

    @property
    def steps(self) -> int:
        return _steps(self.until, self.step)

    @property
    def fall_time(self) -> float:
        """Time to the first bounce [s]."""
        return float(np.sqrt(2.0 * self.height / self.gravity))

    def bounce_time(self, number: int) -> float:
        """Time of bounce 1, 2, … [s]: every flight takes ε times as long as the one before."""
        flights = sum(self.restitution**k for k in range(1, number))
        return self.fall_time * (1.0 + 2.0 * flights)

    def apex(self, bounces: int) -> float:
        """Greatest height after so many bounces [m]."""
        return float(self.height * self.restitution ** (2 * bounces))

    def exact_height(self, time: float) -> float:
        """Height at a time [m]; zero after the accumulation of bounces at t₁ (1 + ε)/(1 − ε)."""
        if time <= self.fall_time:
            return self.height - 0.5 * self.gravity * time**2
        bounce, start, speed = 1, self.fall_time, self.restitution * self.gravity * self.fall_time
        rest = self.fall_time * (1.0 + self.restitution) / (1.0 - self.restitution)
        while time < rest and speed > 1e-12:
            flight = 2.0 * speed / self.gravity
            if time <= start + flight:
                since = time - start
                return max(0.0, speed * since - 0.5 * self.gravity * since**2)
            bounce, start, speed = bounce + 1, start + flight, self.restitution * speed
        return 0.0


@dataclass(frozen=True)
class MassChain:
    """Masses in a row that may touch their neighbours, pressed together by pre-stressed ground springs.

    Coordinate q_i is the displacement of mass i from the row in which all touch: gap g_i = q_{i+1} − q_i.
    The spring of mass i is at rest where neighbours would overlap by `squeeze` [m], so that all contacts
    are closed in the end. masses: number; mass [kg]; stiffness of each ground spring [N/m]; restitution [-];
    largest_gap: initial gaps are uniform below it [m]; agitation: standard deviation of the initial
    velocities [m/s].
    """

    kind: ClassVar[str] = "chain"
    masses: int = 100
    mass: float = 1.0
    stiffness: float = 100.0
    squeeze: float = 5e-4
    restitution: float = 0.5
    largest_gap: float = 2e-3
    agitation: float = 0.2
    step: float = 1e-3
    until: float = 1.0
    theta: float = 0.5
    seed: int = 3

    @property
    def steps(self) -> int:
        return _steps(self.until, self.step)

    def positions(self) -> np.ndarray:
        """Initial displacements (n,) [m] with their mean at zero."""
        gaps = np.random.RandomState(self.seed).uniform(0.0, self.largest_gap, self.masses - 1)
        row = np.concatenate([[0.0], np.cumsum(gaps)])
        return row - row.mean()

    def velocities(self) -> np.ndarray:
        """Initial velocities (n,) [m/s]."""
        return self.agitation * np.random.RandomState(self.seed + 1).standard_normal(self.masses)

    def forces(self) -> np.ndarray:
        """Pre-stress of the ground springs (n,) [N]: f = prestress − k q."""
        return -self.stiffness * self.squeeze * (np.arange(self.masses) - 0.5 * (self.masses - 1))

    def energy(self, positions: np.ndarray, velocities: np.ndarray) -> np.ndarray:
        """Kinetic energy and energy of springs and pre-stress [J], zero at the springs' rest."""
        stretch = positions - self.forces() / self.stiffness
        return 0.5 * self.mass * (velocities**2).sum(axis=-1) + 0.5 * self.stiffness * (stretch**2).sum(
            axis=-1
        )


@dataclass(frozen=True)
class InclinedBlock:
    """A mass point on an inclined plane with isotropic friction, at rest at first and touching.

    Coordinates are (normal, tangent 1, tangent 2); downhill lies at `heading_deg` from tangent 1, so both
    tangents carry load. mass [kg]; friction μ [-]; angle_deg, heading_deg [°].
    """

    kind: ClassVar[str] = "inclined block"
    mass: float = 1.0
    friction: float = 0.5
    angle_deg: float = 25.0
    heading_deg: float = 30.0
    gravity: float = GRAVITY
    step: float = 1e-3
    until: float = 20.0
    theta: float = 0.5

    @property
    def steps(self) -> int:
        return _steps(self.until, self.step)

    def gravity_vector(self) -> np.ndarray:
        """Gravity in (normal, tangent 1, tangent 2) [m/s²]."""
        angle, heading = np.radians([self.angle_deg, self.heading_deg])
        along = self.gravity * np.sin(angle)
        return np.array([-self.gravity * np.cos(angle), along * np.cos(heading), along * np.sin(heading)])

    def exact_displacement(self, time: float) -> float:
        """Way downhill [m]: exactly zero if the plane is not steeper than tan α = μ."""
        angle = np.radians(self.angle_deg)
        acceleration = self.gravity * max(0.0, np.sin(angle) - self.friction * np.cos(angle))
        return float(0.5 * acceleration * time**2)


@dataclass(frozen=True)
class ImpactingBar:
    """A bar of two-node elements with lumped mass hits a rigid wall with its node 0.

    All nodes move with −speed and node 0 touches the wall at time zero. Exact for the continuum: the force is
    ρ c A v₀ for the time 2 L/c, then the bar flies back with v₀. length [m]; young [N/m²]; density [kg/m³];
    area [m²]; speed v₀ [m/s]; courant: step as a part of the time in which a wave crosses one element;
    travels: end of the run in units of L/c.
    """

    kind: ClassVar[str] = "impacting bar"
    elements: int = 100
    length: float = 1.0
    young: float = 210e9
    density: float = 7850.0
    area: float = 1e-4
    speed: float = 1.0
    restitution: float = 0.0
    courant: float = 0.5
    travels: float = 4.0
    theta: float = 0.5

    @property
    def wave_speed(self) -> float:
        return float(np.sqrt(self.young / self.density))

    @property
    def step(self) -> float:
        return self.courant * self.length / self.elements / self.wave_speed

    @property
    def until(self) -> float:
        return self.travels * self.length / self.wave_speed

    @property
    def steps(self) -> int:
        return _steps(self.until, self.step)

    @property
    def contact_duration(self) -> float:
        """2 L/c [s]."""
        return 2.0 * self.length / self.wave_speed

    @property
    def contact_force(self) -> float:
        """ρ c A v₀ [N]."""
        return self.density * self.wave_speed * self.area * self.speed

    def node_masses(self) -> np.ndarray:
        """Lumped masses (elements + 1,) [kg]."""
        masses = np.full(self.elements + 1, self.density * self.area * self.length / self.elements)
        masses[[0, -1]] *= 0.5
        return masses

    def stiffness_matrix(self) -> np.ndarray:
        """Dense tridiagonal stiffness (n, n) [N/m] of the free bar."""
        spring = self.young * self.area * self.elements / self.length
        diagonal = np.full(self.elements + 1, 2.0 * spring)
        diagonal[[0, -1]] = spring
        side = np.full(self.elements, -spring)
        return np.diag(diagonal) + np.diag(side, 1) + np.diag(side, -1)

    def energy(self, positions: np.ndarray, velocities: np.ndarray) -> float:
        """Kinetic and elastic energy [J] of one state, (n,) each."""
        elastic = 0.5 * positions @ self.stiffness_matrix() @ positions
        return float(elastic + 0.5 * self.node_masses() @ velocities**2)


@dataclass(frozen=True)
class SettlingSpheres:
    """Equal spheres fall from a loose cubic lattice into a box of one floor and four walls and settle.

    per_edge³ spheres of radius [m] and density [kg/m³], spacing of the lattice in diameters, every centre
    displaced at random by up to `disorder` diameters. The open box reaches from 0 to `width` in x and y.
    friction μ and restitution ε hold for all contacts. tolerance and sweeps: what a Gauss–Seidel contact
    solver is given, relative to its own measure.
    """

    kind: ClassVar[str] = "settling spheres"
    per_edge: int = 10
    radius: float = 0.05
    density: float = 2500.0
    spacing: float = 1.1
    disorder: float = 0.04
    friction: float = 0.3
    restitution: float = 0.0
    gravity: float = GRAVITY
    step: float = 1e-3
    until: float = 0.5
    theta: float = 0.5
    tolerance: float = 1e-4
    sweeps: int = 100
    seed: int = 5

    @property
    def spheres(self) -> int:
        return self.per_edge**3

    @property
    def steps(self) -> int:
        return _steps(self.until, self.step)

    @property
    def width(self) -> float:
        """Inner width and depth of the box [m]."""
        return 2.0 * self.radius * self.spacing * self.per_edge

    @property
    def mass(self) -> float:
        """Of one sphere [kg]."""
        return float(self.density * 4.0 / 3.0 * np.pi * self.radius**3)

    @property
    def inertia(self) -> float:
        """Of one sphere about its centre [kg m²]."""
        return 0.4 * self.mass * self.radius**2

    def centres(self) -> np.ndarray:
        """Initial centres (n, 3) [m], all inside the box and apart from each other."""
        cell = np.arange(self.per_edge) + 0.5
        lattice = np.stack(np.meshgrid(cell, cell, cell, indexing="ij"), axis=-1).reshape(-1, 3)
        shift = np.random.RandomState(self.seed).uniform(-self.disorder, self.disorder, lattice.shape)
        return 2.0 * self.radius * (self.spacing * lattice + shift)

    def planes(self) -> np.ndarray:
        """Floor and walls (5, 4): inner normal n and offset d, distance n·x + d [m]."""
        width = self.width
        return np.array(
            [[0, 0, 1, 0], [1, 0, 0, 0], [-1, 0, 0, width], [0, 1, 0, 0], [0, -1, 0, width]], dtype=float
        )


Model = BouncingBall | MassChain | InclinedBlock | ImpactingBar | SettlingSpheres
KINDS: dict[str, type[Any]] = {
    model.kind: model for model in (BouncingBall, MassChain, InclinedBlock, ImpactingBar, SettlingSpheres)
}


def cases(*, quick: bool = False) -> dict[str, Model]:
    """The runs of the benchmark by name; `quick` has fewer steps and fewer spheres."""
    return {
        "ball, step 1 ms": BouncingBall(),
        "ball, step 0.1 ms": BouncingBall(step=1e-4, until=5.0 if quick else 10.0),
        "chain": MassChain(until=0.5 if quick else 1.0),
        "block below the limit": InclinedBlock(until=10.0 if quick else 20.0),
        "block above the limit": InclinedBlock(angle_deg=30.0, until=10.0 if quick else 20.0),
        "bar, theta 1/2": ImpactingBar(),
        "bar, theta 1": ImpactingBar(theta=1.0),
        "spheres": SettlingSpheres(per_edge=5, until=0.4) if quick else SettlingSpheres(),
    }


def to_text(model: Model) -> str:
    """JSON with the kind and all numbers of a model."""
    return json.dumps({"kind": model.kind, **dataclasses.asdict(model)})


def from_text(text: str) -> Model:
    """The model written by `to_text`."""
    fields = json.loads(text)
    return KINDS[fields.pop("kind")](**fields)


def _steps(until: float, step: float) -> int:
    return round(until / step)
