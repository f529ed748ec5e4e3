"""A linear system in, a smaller one out, with what the reduction leaves out stated.

    reduced = modal(system, 15)
    run = simulate(reduced.system, 1.0, Moreau(1e-4))
    full = reduced.recover(run)

Contacts keep their names; gaps and directions are those of the full system, seen through the kept coordinates.
"""

from klapper.reduction.attachment import attachment
from klapper.reduction.craig_bampton import craig_bampton
from klapper.reduction.massless_boundary import massless_boundary
from klapper.reduction.modal import modal
from klapper.reduction.quasi_static import quasi_static
from klapper.reduction.reduced import Reduced, ReductionError

__all__ = [
    "Reduced",
    "ReductionError",
    "attachment",
    "craig_bampton",
    "massless_boundary",
    "modal",
    "quasi_static",
]
