"""Modes and attachment shapes: what each contact force does statically becomes a coordinate of its own.

    V = [V₁, F₂ J, F₂ f],   F₂ J = static response of the modes that are not kept to unit contact forces

MacNeal 1971, Rubin 1975, Craig & Chang 1977. Every normal and every frictional direction gets a shape, and so does
every pattern of the load; shapes that depend on each other are dropped. Static contact forces and loads act as on the
full structure; unlike in the quasi-static reduction the shapes keep their mass, so impact laws and friction apply.
"""

from __future__ import annotations

import scipy.sparse as sparse

from klapper.counting import counted
from klapper.mechanics import LinearSystem
from klapper.reduction import loads as of_load
from klapper.reduction.elasticity import Elasticity, independent_shapes
from klapper.reduction.reduced import Reduced, contact_columns, reduction_error, require_linear
from klapper.reduction.shapes import in_shapes, joined, mode_names


def attachment(system: LinearSystem, modes: int, *, loads: bool = True) -> Reduced:
    """The system in its ``modes`` lowest modes and one attachment shape per independent contact direction.

        q = V y,   V = [V₁, F₂ J, F₂ f] (n, k)

    ``system``  linear, n coordinates
    ``loads``   whether the patterns of the load get shapes too

    Static flexibility is that of the full system; here three masses between walls with a stop at the last one.

    >>> from klapper.mechanics import Contact, LinearSystem
    >>> from klapper.reduction import attachment
    >>> springs = [[2.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 2.0]]
    >>> stop = Contact("stop", normal=[0.0, 0.0, -1.0], gap=1.0)
    >>> reduced = attachment(LinearSystem([1.0] * 3, stiffness=springs, contacts=[stop]), 1)
    >>> reduced.system.coordinates, bool(reduced.error.contact[0] < 1e-12)
    (('mode 1', 'attachment 1'), True)
    """
    require_linear(system, "reduction by attachment modes")
    elastic = Elasticity.of(system)
    kept = elastic.modes(modes)
    forces = [contact_columns(system)[0]]
    if loads:
        forces.append(sparse.csc_array(of_load.patterns(system.load, system.start.time)))
    extra = independent_shapes(elastic, kept, sparse.hstack(forces, format="csc"))
    names = mode_names(kept) + [f"attachment {i + 1}" for i in range(len(extra))]
    name = f"{system.name}, {counted(modes, 'mode')} and {len(extra)} attachment shapes"
    small, basis = in_shapes(system, elastic, joined(kept, extra), names, name)
    error = reduction_error(elastic, system, small, basis, float(kept.frequencies[-1]))
    return Reduced(small, system, basis, error)
