"""The elastic bar that flies against a wall: d'Alembert's solution, its mesh, and its first contact by implicit steps.

With the speed of sound c = √(E/ρ) the wall feels

    contact force  ρ c A v  for the time 2 L/c,   then all of the bar returns with the speed v
"""

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from klapper.mechanics import LinearSystem

MassMatrix = Literal["consistent", "lumped", "mixed"]
LUMPED_SHARE = {"consistent": 0.0, "mixed": 0.5, "lumped": 1.0}
ELEMENTS_PASSED = 10  # by the wave meanwhile


@dataclass(frozen=True)
class Bar:
    """The parameters of the bar, and what follows from them in closed form."""

    length: float
    area: float
    young: float
    density: float
    speed: float
    elements: int

    @property
    def sound(self) -> float:
        """Speed of waves c [m/s]."""
        return sqrt(self.young / self.density)

    @property
    def crossing(self) -> float:
        """Time [s] of a wave from one end to the other."""
        return self.length / self.sound

    @property
    def force(self) -> float:
        """ρ c A v [N]."""
        return self.density * self.sound * self.area * self.speed

    @property
    def element(self) -> float:
        """Length of an element [m]."""
        return self.length / self.elements

    def displacements(self, time: np.ndarray) -> np.ndarray:
        """Displacement (s, elements + 1) [m] away from the wall of all nodes at times (s,), by d'Alembert."""
        way = np.linspace(0.0, self.crossing, self.elements + 1)
        t = time[:, None]
        stopped = np.minimum(t, way)
        returned = np.maximum(t - (2 * self.crossing - way), 0.0)
        return self.speed * (returned - stopped)

    def front(self, step: float, theta: float) -> float:
        """Length [m] over which the discrete wave is smeared after the way 2 L.

        Mesh and step let waves of wave number k run with c (1 + κ k²), |κ| ≤ l²/24 + c² h²/12, and θ > ½ damps them
        with (θ − ½) h ω². A front then is an Airy function of length ∛(6 |κ| L) and an error function of length
        √((4 θ − 2) c h L).
        """
        pace = self.sound * step
        dispersed = np.cbrt(6 * self.length * (self.element**2 / 24 + pace**2 / 12))
        return float(dispersed + self.damped(step, theta))

    def damped(self, step: float, theta: float) -> float:
        """The part [m] of it that comes from θ > ½."""
        return sqrt((4 * theta - 2) * self.sound * step * self.length)

    def element_masses(self, mass_matrix: MassMatrix) -> tuple[float, float]:
        """Mass [kg] that an element gives to each of its nodes, and mass that couples them."""
        piece = self.density * self.area * self.element
        coupled = piece * (1 - LUMPED_SHARE[mass_matrix]) / 6
        return piece / 2 - coupled, coupled

    @property
    def spring(self) -> float:
        """Stiffness of an element [N/m]."""
        return self.young * self.area / self.element

    def felt_mass(self, mass_matrix: MassMatrix, step: float = 0.0) -> float:
        """Mass [kg] with which the end node resists a blow within an implicit step [s]: all others are eliminated."""
        own, coupled = self.element_masses(mass_matrix)
        own, coupled = own + step**2 * self.spring, coupled - step**2 * self.spring
        rest = own
        for _ in range(self.elements - 1):
            rest = 2 * own - coupled**2 / rest
        return own - coupled**2 / rest

    def system(self, mass_matrix: MassMatrix) -> "LinearSystem":
        from scipy.sparse import diags_array

        from klapper.mechanics import Contact, LinearSystem

        count, spring = self.elements + 1, self.spring
        at_node, coupled = self.element_masses(mass_matrix)
        own = np.full(count, 2.0)  # elements at each node
        own[[0, -1]] = 1.0
        beside = np.ones(count - 1)
        mass = diags_array((coupled * beside, at_node * own, coupled * beside), offsets=(-1, 0, 1))
        stiffness = diags_array((-spring * beside, spring * own, -spring * beside), offsets=(-1, 0, 1))
        return LinearSystem(
            mass.tocsr(),
            stiffness=stiffness.tocsr(),
            velocity=np.full(count, -self.speed),
            contacts=[Contact("wall", normal=np.eye(count)[0])],
            coordinates=[f"node {i}" for i in range(count)],
            name="impacting bar",
        )


@dataclass(frozen=True, eq=False)
class Blow:
    """The first contact by implicit steps with contact on position level: ``time`` (s,) [s] at the end of each step.

    ``mesh`` and ``massless`` (s,) [N]: contact forces with and without mass at the end node
    """

    step: float
    time: np.ndarray
    mesh: np.ndarray
    massless: np.ndarray


def first_blow(bar: Bar, mass_matrix: MassMatrix, spike: float) -> Blow:
    """With so short a step that the node presses with a ``spike`` times the exact force in the first one."""
    from klapper.reduction import massless_boundary
    from klapper.schemes.moreau import Moreau
    from klapper.simulation import simulate

    step = bar.felt_mass(mass_matrix) * bar.speed / (spike * bar.force)
    until = min(ELEMENTS_PASSED * bar.element / bar.sound, 2.5 * bar.crossing)
    mesh = bar.system(mass_matrix)
    runs = [
        simulate(system, until, Moreau(step, theta=1.0, level="position"))
        for system in (mesh, massless_boundary(mesh).system)
    ]
    with_mass, without = (run.impulse[1:, 0, 0] / step for run in runs)
    return Blow(step, runs[0].time[1:], with_mass, without)
