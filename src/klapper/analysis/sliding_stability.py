"""Steady sliding on compliant contacts: where, and whether it is stable.

    f + J_N λ_N + J_T λ_T = 0,   λ_N = λ_N(g, ġ),   λ_T = −ρ v_T/|v_T|,   ρ = limit + μ λ_N

While every contact slides in a known sense the friction follows the normal force, and small motions obey

    M ẍ + D ẋ + K x = 0,   K = −∂f/∂q − (J_N + R) ∂λ_N/∂g J_Nᵀ − …                 Waltersberger (5.28), (5.29)

with R = −s μ J_T of the sliding directions s (:mod:`klapper.analysis.sliding_forces`). R makes K unsymmetric.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from klapper.analysis.linear_stability import Stability, stability
from klapper.analysis.sliding_forces import SlidingForces
from klapper.analysis.steady_sliding import SteadySliding, steady_sliding
from klapper.complementarity.dense import dense
from klapper.mechanics.compliance import CompliantNormal
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.system import System, require_system


@dataclass(frozen=True, eq=False)
class SlidingStability(Stability):
    """The eigenvalues of small motions about steady sliding.

    ``sliding`` is that motion; the other fields are as of :class:`Stability`. The block of :class:`SteadySliding`, of 1
    kg, vibrates on its spring and on the belt with 10 and 100 rad/s:

    >>> from klapper.analysis import sliding_stability
    >>> from klapper.mechanics import CompliantNormal, Contact, LinearSystem
    >>> belt = Contact("belt", normal=[0.0, 1.0], tangents=[1.0, 0.0], tangential_rate=-2.0, friction=0.5)
    >>> block = LinearSystem([1.0, 1.0], stiffness=[100.0, 0.0], force=[0.0, -10.0], contacts=[belt])
    >>> judged = sliding_stability(block, CompliantNormal(1e4))
    >>> judged.verdict, sorted(abs(judged.eigenvalues).round(6).tolist())
    ('stable', [10.0, 10.0, 100.0, 100.0])
    """

    sliding: SteadySliding

    def __str__(self) -> str:
        return f"{self.sliding}\n{super().__str__()}"


def sliding_stability(
    system: System,
    law: CompliantNormal,
    *,
    velocity: Any = None,
    position: Any = None,
    free: Iterable[str | int] | None = None,
    tolerance: float = 1e-12,
) -> SlidingStability:
    """Find the steady sliding motion of ``system`` on contacts of the compliant ``law`` and judge its stability.

    ``velocity``   (nv,) of the steady motion: its sliding velocities J_Tᵀ v + a_T say in which sense every contact
                   slides; default that of the start, e.g. zero over a moving belt
    ``position``   (nq,) where to start the search, default the start of the system
    ``free``       names or numbers of velocity coordinates whose forces need not balance, because they go on anyway
                   (a disc that is turned by more than friction takes); default those that move in ``velocity``
    ``tolerance``  relative to the forces

    A block of 1 kg on a belt that runs to the right, held by a spring and pressed onto it by 10 N:

    >>> from klapper.analysis import sliding_stability
    >>> from klapper.mechanics import CompliantNormal, Contact, LinearSystem
    >>> floor = Contact("belt", normal=[0.0, 1.0], tangents=[1.0, 0.0], tangential_rate=-2.0, friction=0.5)
    >>> block = LinearSystem([1.0, 1.0], stiffness=[100.0, 0.0], force=[0.0, -10.0], contacts=[floor])
    >>> judged = sliding_stability(block, CompliantNormal(1e4))
    >>> judged.sliding.position.round(9).tolist(), judged.verdict
    ([0.05, -0.001], 'stable')
    """
    require_system(system)
    if not isinstance(law, CompliantNormal):
        raise InvalidModel(f"law is {law!r}; give the CompliantNormal of the contacts.")
    forces = SlidingForces.of(system, law, velocity, position, free)
    sliding = steady_sliding(forces, tolerance)
    damping, stiffness = forces.matrices(sliding.position)
    judged = stability(dense(system.mass(sliding.position)), damping, stiffness)
    return SlidingStability(
        judged.mass,
        judged.damping,
        judged.stiffness,
        judged.eigenvalues,
        judged.modes,
        judged.zeros,
        sliding,
    )
