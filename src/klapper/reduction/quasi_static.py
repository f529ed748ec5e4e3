"""Quasi-static reduction: high modes follow the contact forces without inertia. Waltersberger (5.58)-(5.67).

    ÿ + D y' + Ω₁² y = V₁ᵀ (J λ + f),   0 ≤ J₁ᵀ y + C λ + a(t) ⟂ λ ≥ 0
    C = Jᵀ F₂ J,   a = Jᵀ F₂ f(t),   F₂ = flexibility of the modes that are not kept

Static contact forces and loads then deform the reduced structure exactly like the full one. F₂ comes from the residual
flexibility K⁺ − V₁ Ω₁⁻² V₁ᵀ, or from a given number of further modes; gyroscopic, circulatory and damping forces act on
the kept modes only. The complementarity is on positions: integrate with ``Moreau(h, theta=1.0, level="position")``.
There is no impact law: a blow is softened by C, which loses nothing, and implicit steps lose the less the smaller they
are. Choose the step as part of the model, or keep the modes that an impact excites.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sparse

from klapper.counting import counted
from klapper.mechanics import InvalidModel, LinearSystem
from klapper.mechanics.eigenmodes import Modes
from klapper.reduction import loads
from klapper.reduction.elasticity import Elasticity, residual_response
from klapper.reduction.reduced import Reduced, reduction_error, require_linear
from klapper.reduction.shapes import StaticPart, in_shapes, mode_names


def quasi_static(system: LinearSystem, modes: int, *, static_modes: int | None = None) -> Reduced:
    """The system with its ``modes`` lowest modes dynamic and the others static.

        0 ≤ J₁ᵀ y + C λ + a(t) ⟂ λ ≥ 0,   C = Jᵀ F₂ J [m/N]                                Waltersberger (5.58)-(5.67)

    ``system``        linear, n coordinates
    ``static_modes``  how many further modes follow statically; None: all of them, by residual flexibility

    Two masses between walls: the second mode, φ = (1, −1)/√2 and ω² = 3, follows with the compliance φ₂²/ω² = 1/6.

    >>> from klapper.mechanics import Contact, LinearSystem
    >>> from klapper.reduction import quasi_static
    >>> stop = Contact("stop", normal=[0.0, -1.0], gap=1.0)
    >>> chain = LinearSystem([1.0, 1.0], stiffness=[[2.0, -1.0], [-1.0, 2.0]], contacts=[stop])
    >>> round(float(quasi_static(chain, 1).system.compliance[0, 0]), 6)
    0.166667
    """
    require_linear(system, "quasi-static reduction")
    require_compliant_contacts(system)
    elastic = Elasticity.of(system)
    kept = elastic.modes(modes)
    small, basis, static = with_static_part(
        system, elastic, kept, _static_response(elastic, kept, static_modes)
    )
    error = reduction_error(elastic, system, small, basis, float(kept.frequencies[-1]), static.by_load)
    return Reduced(small, system, basis, error, static.by_force, static.by_load)


def with_static_part(
    system: LinearSystem, elastic: Elasticity, kept: Modes, respond: Callable[[Any], np.ndarray]
) -> tuple[LinearSystem, np.ndarray, StaticPart]:
    """The system in the kept modes, where all else responds to loads (n, k) statically by ``respond``."""
    _require_stiff(elastic, kept)
    normal = sparse.csc_array(system.normal_directions)
    by_force = respond(normal)
    compliance = np.asarray(normal.T @ by_force)
    if system.compliance is not None:
        compliance = compliance + system.compliance
    static = StaticPart(
        by_force,
        _without_rounding(compliance),
        loads.response(system.load, respond_to_one(respond)),
        loads.gap_shifts(system.load, by_force),
    )
    name = f"{system.name}, {counted(len(kept), 'mode')} and the others statically"
    small, basis = in_shapes(system, elastic, kept, mode_names(kept), name, static)
    return small, basis, static


def _require_stiff(elastic: Elasticity, kept: Modes) -> None:
    """Refuse to let modes without positive stiffness follow statically."""
    if kept.squares[-1] <= 0.0 and len(kept) < elastic.mass.shape[0]:
        further = elastic.modes(len(kept) + 1)
        if further.squares[-1] <= 0.0:
            kind = "rigid" if further.squares[-1] == 0.0 else "of negative stiffness"
            raise InvalidModel(
                f"the mode after the {len(kept)} that are kept is {kind}, so it cannot follow statically; keep more."
            )


def residual(elastic: Elasticity, kept: Modes) -> Callable[[Any], np.ndarray]:
    """Loads (n, k) → displacements F₂ f of the modes that are not kept."""
    return lambda forces: residual_response(kept, forces, elastic.respond(forces))


def respond_to_one(respond: Callable[[Any], np.ndarray]) -> Callable[[np.ndarray], np.ndarray]:
    """The same response for loads of any shape."""
    return lambda force: respond(force[:, None])[:, 0] if force.ndim == 1 else respond(force)


def _static_response(elastic: Elasticity, kept: Modes, further: int | None) -> Callable[[Any], np.ndarray]:
    if further is None:
        return residual(elastic, kept)
    most = elastic.mass.shape[0] - len(kept)
    if not (isinstance(further, int | np.integer) and 0 <= further <= most):
        raise InvalidModel(f"static_modes is {further!r}; allowed are whole numbers from 0 to {most}.")
    static = elastic.modes(len(kept) + int(further)).of(slice(len(kept), None))
    return lambda forces: static.shapes @ ((static.shapes.T @ forces) / static.squares[:, None])


def require_compliant_contacts(system: LinearSystem) -> None:
    """Refuse contacts whose law needs inertia at the contact, by name."""
    for part in system.contacts.parts:
        if part.rough:
            raise InvalidModel(
                f"{part.called} has friction; contacts that follow statically know normal forces only. Use attachment "
                f"modes or Craig–Bampton."
            )
        if part.restitution > 0.0:
            raise InvalidModel(
                f"{part.called} has restitution, which has no meaning where contacts are compliant; set it to 0."
            )


def _without_rounding(compliance: np.ndarray) -> np.ndarray:
    """The symmetric part, without the negative eigenvalues that rounding leaves."""
    if compliance.size == 0:
        return compliance
    values, vectors = np.linalg.eigh(0.5 * (compliance + compliance.T))
    return (vectors * np.maximum(values, 0.0)) @ vectors.T
