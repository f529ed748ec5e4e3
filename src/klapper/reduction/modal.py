"""Modal reduction: the lowest undamped eigenmodes as coordinates. Waltersberger (5.40)-(5.46).

    q = V y,   Vᵀ M V = 1,   Vᵀ K V = diag(ω²)

Gyroscopic and circulatory matrices are seen through the same real modes, as in (5.108)-(5.114). What the cut-off modes
contribute to the flexibility at contacts is lost; ``error`` says how much.
"""

from __future__ import annotations

from klapper.counting import counted
from klapper.mechanics import InvalidModel, LinearSystem
from klapper.reduction.elasticity import Elasticity
from klapper.reduction.reduced import Reduced, reduction_error, require_linear
from klapper.reduction.shapes import in_shapes, mode_names


def modal(system: LinearSystem, modes: int, *, rigid: bool = True) -> Reduced:
    """The system in its ``modes`` lowest modes, and one static shape per independent two-sided constraint.

        q = V y,   Vᵀ M V = 1,   Vᵀ K V = diag(ω²)                                         Waltersberger (5.40)-(5.46)

    ``system``  linear, n coordinates
    ``rigid``   False leaves rigid modes out; they do not count then

    Two masses of 1 kg between walls, springs of 1 N/m: ω = 1 rad/s and √3 rad/s.

    >>> from klapper.mechanics import LinearSystem
    >>> from klapper.reduction import modal
    >>> chain = LinearSystem([1.0, 1.0], stiffness=[[2.0, -1.0], [-1.0, 2.0]])
    >>> modal(chain, 2).system.stiffness.round(9).tolist()
    [[1.0, 0.0], [0.0, 3.0]]
    """
    require_linear(system, "modal reduction")
    elastic = Elasticity.of(system)
    kept = elastic.modes(modes)
    if not rigid:
        known = elastic.rigid.shape[1]
        if modes + known > elastic.mass.shape[0]:
            raise InvalidModel(
                f"{counted(modes, 'mode')} without the {known} rigid ones are more than '{system.name}' has."
            )
        kept = elastic.modes(modes + known)
        kept = kept.of(kept.squares != 0.0)
    small, basis = in_shapes(
        system, elastic, kept, mode_names(kept), f"{system.name}, {counted(len(kept), 'mode')}"
    )
    error = reduction_error(elastic, system, small, basis, float(kept.frequencies[-1]))
    return Reduced(small, system, basis, error)
