"""Laws at velocity jumps: Newton, Poisson, Frémond, Stronge, fast impacts in sequence, with and without friction.

    impact = ImpactProblem(mass, before, normal, restitution=0.8)
    result = Newton().resolve(impact)
    print(result.after, result.audit.words, result.unique)

Every law is given the impact as arrays and returns an :class:`Impact` whose books close; an energy gain is
reported with the contact that gives it.
"""

from klapper.mechanics.impact.audit import ImpactAudit
from klapper.mechanics.impact.energetic import Energetic, EnergeticImpact
from klapper.mechanics.impact.fremond import Fremond, FremondImpact
from klapper.mechanics.impact.law import IMPACT_LAWS, ImpactLaw
from klapper.mechanics.impact.newton import Newton, NewtonImpact
from klapper.mechanics.impact.poisson import Poisson, PoissonImpact
from klapper.mechanics.impact.problem import Approaching, ImpactProblem
from klapper.mechanics.impact.result import Impact, ImpactDeterminacy, Stage
from klapper.mechanics.impact.sequential import Sequential, SequentialImpact

__all__ = [
    "IMPACT_LAWS",
    "Approaching",
    "Energetic",
    "EnergeticImpact",
    "Fremond",
    "FremondImpact",
    "Impact",
    "ImpactAudit",
    "ImpactDeterminacy",
    "ImpactLaw",
    "ImpactProblem",
    "Newton",
    "NewtonImpact",
    "Poisson",
    "PoissonImpact",
    "Sequential",
    "SequentialImpact",
    "Stage",
]
