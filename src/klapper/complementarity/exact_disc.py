"""Contact with the exact friction disc as a smooth mixed complementarity problem.

    M (v − v_free) = J λ,  u = Jᵀ (v − v_free) + b       or, eliminated, u = W λ + b     Waltersberger (4.22)
    0 ≤ λ_N ⟂ u_N ≥ 0,   u_B = 0                                                        (4.23)
    ρ u_T + z λ_T = 0,   0 ≤ z ⟂ ρ² − |λ_T|² ≥ 0,   ρ = limit + μ λ_N                    (4.26), (4.27)

At a loaded contact z = |u_T|; at an open one without given limit z is arbitrary. All terms are smooth.
The row (4.27) is divided by the positive number √(ρ² + |λ_T|² + tiny²): the squares alone would let an open
contact keep a friction force of the square root of the tolerance. The proof of (4.28) needs β ≥ 0 and z = ρβ
(misprinted there).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sparse
from scipy.sparse.linalg import LinearOperator

from klapper.complementarity.checking import Matrix, as_square_matrix, as_vector
from klapper.complementarity.errors import InvalidProblem
from klapper.complementarity.frictional_contact import FrictionalContact
from klapper.complementarity.problem import NonlinearComplementarity

ROUNDING = 1e-8  # radius of the rounded tip of the friction cone, relative to the typical friction limit


def exact_disc_problem(contact: FrictionalContact) -> NonlinearComplementarity:
    """A ``contact`` problem with the exact friction disc as a nonlinear one.

    (4.22)-(4.27) in the unknowns (λ, z): λ (size,) [N s] in the contact's order, z (patches,) [m/s]. The Jacobian is
    sparse if the Delassus matrix is.

    A block of 1 kg, pressed by 1 N s and pushed by 0.8 N s with μ = 0.5: λ = (1, −0.5, 0) N s, z = 0.3 m/s:

    >>> from klapper.complementarity import solve
    >>> block = FrictionalContact(np.eye(3), [-1.0, 0.8, 0.0], friction=0.5)
    >>> (solve(exact_disc_problem(block)).x.round(9) + 0.0).tolist()
    [1.0, -0.5, 0.0, 0.3]
    """
    _require_disc(contact)
    if isinstance(contact.delassus, LinearOperator):
        raise InvalidProblem(
            "The Delassus matrix is given as an operator; use exact_disc_motion with M and J."
        )
    size = contact.size
    delassus: Matrix = contact.delassus

    def function(x: np.ndarray) -> np.ndarray:
        force, slide = x[:size], x[size:]
        return _laws(contact, contact.image(force), force, slide)

    def jacobian(x: np.ndarray) -> Matrix:
        force, slide = x[:size], x[size:]
        velocity = contact.image(force)
        by_velocity = sparse.diags_array(_velocity_factors(contact, force))
        own = _force_derivative(contact, velocity, force, slide)
        if sparse.issparse(delassus):
            response = sparse.block_array(
                [[by_velocity @ delassus, None], [None, sparse.csr_array((len(slide),) * 2)]]
            )
            return sparse.csr_array(response + own)
        matrix = own.toarray()
        matrix[:size, :size] += by_velocity.diagonal()[:, None] * delassus
        return matrix

    scale, unit = _scales(contact)
    return _problem(contact, function, jacobian, (), scale, unit)


def exact_disc_motion(
    contact: FrictionalContact, mass: Any, directions: Any, free_motion: Any
) -> NonlinearComplementarity:
    """A contact problem with the exact friction disc as a nonlinear one, with the velocities kept.

    (4.22)-(4.27) in the unknowns (v, λ, z), without the product Jᵀ M⁻¹ J in the equations.

    ``mass``         M (n, n) [kg], dense or sparse
    ``directions``   J (n, size), dense or sparse: generalised directions of the contact forces
    ``free_motion``  v_free (n,) [m/s], the velocities without contact forces, where the contact moves with
                     ``contact.free_velocity``

    Of ``contact.delassus`` only the size of its diagonal is used, so it may be an operator.

    The block of :func:`exact_disc_problem`, 1 kg, with its three velocities in front of λ and z:

    >>> from klapper.complementarity import solve
    >>> block = FrictionalContact(np.eye(3), [-1.0, 0.8, 0.0], friction=0.5)
    >>> motion = exact_disc_motion(block, np.eye(3), np.eye(3), [-1.0, 0.8, 0.0])
    >>> (solve(motion).x.round(9) + 0.0).tolist()
    [0.0, 0.3, 0.0, 1.0, -0.5, 0.0, 0.3]
    """
    _require_disc(contact)
    mass = as_square_matrix(mass, "mass")
    n, size = mass.shape[0], contact.size
    free = as_vector(free_motion, "free_motion", n)
    sparsely = sparse.issparse(mass) or sparse.issparse(directions)
    directions = sparse.csr_array(directions, dtype=float)
    if directions.shape != (n, size):
        raise InvalidProblem(f"directions has shape {directions.shape}, expected ({n}, {size}).")
    inertia = sparse.csr_array(mass)
    observed = sparse.csr_array(directions.T)

    def relative_velocity(v: np.ndarray) -> np.ndarray:
        return observed @ (v - free) + contact.free_velocity

    def function(x: np.ndarray) -> np.ndarray:
        v, force, slide = x[:n], x[n : n + size], x[n + size :]
        momentum = inertia @ (v - free) - directions @ force
        return np.concatenate([momentum, _laws(contact, relative_velocity(v), force, slide)])

    def jacobian(x: np.ndarray) -> Matrix:
        v, force, slide = x[:n], x[n : n + size], x[n + size :]
        factors = sparse.diags_array(_velocity_factors(contact, force))
        by_motion = sparse.vstack([factors @ observed, sparse.csr_array((len(slide), n))])
        by_force = sparse.hstack([-directions, sparse.csr_array((n, len(slide)))])
        own = _force_derivative(contact, relative_velocity(v), force, slide)
        matrix = sparse.csr_array(sparse.block_array([[inertia, by_force], [by_motion, own]]))
        return matrix if sparsely else matrix.toarray()

    scale, unit = _scales(contact)
    speed = float(np.abs(free).max(initial=0.0)) or 1.0
    weight = np.abs(inertia.diagonal())
    momentum_scale = speed * np.where(weight > 0, weight, float(weight.max(initial=0.0)) or 1.0)
    names = tuple(f"velocity {i}" for i in range(n))
    return _problem(
        contact,
        function,
        jacobian,
        names,
        np.concatenate([momentum_scale, scale]),
        np.concatenate([np.full(n, speed), unit]),
    )


def exact_disc_start(contact: FrictionalContact, force: np.ndarray) -> np.ndarray:
    """Unknowns (λ, z) of :func:`exact_disc_problem` that belong to contact forces λ: z = |u_T| [m/s].

    ``contact`` is the problem, ``force`` λ (size,) [N s] its contact forces or impulses.

    >>> block = FrictionalContact(np.eye(3), [-1.0, 0.8, 0.0], friction=0.5)
    >>> exact_disc_start(block, np.array([1.0, -0.5, 0.0])).round(12).tolist()  # slides with 0.8 − 0.5 m/s
    [1.0, -0.5, 0.0, 0.3]
    """
    sliding = contact.image(force)[contact.tangential]
    return np.concatenate([force, np.linalg.norm(sliding, axis=1)])


def exact_disc_forces(contact: FrictionalContact, x: np.ndarray) -> np.ndarray:
    """Contact forces λ (size,) [N s] of ``contact`` out of the unknowns ``x``, (λ, z) or (v, λ, z).

    >>> block = FrictionalContact(np.eye(3), [-1.0, 0.8, 0.0], friction=0.5)
    >>> exact_disc_forces(block, np.array([1.0, -0.5, 0.0, 0.3])).tolist()
    [1.0, -0.5, 0.0]
    """
    end = x.size - len(contact.tangential)
    return x[end - contact.size : end].copy()


def _require_disc(contact: FrictionalContact) -> None:
    if contact.polygon is not None:
        raise InvalidProblem(
            f"The contact has a friction polygon of {contact.polygon}; the exact disc needs polygon=None."
        )


def _problem(
    contact: FrictionalContact,
    function: Callable[[np.ndarray], np.ndarray],
    jacobian: Callable[[np.ndarray], Matrix],
    leading: tuple[str, ...],
    scale: np.ndarray,
    unit: np.ndarray,
) -> NonlinearComplementarity:
    bound = np.concatenate([contact.normal, contact.size + np.arange(len(contact.tangential))]) + len(leading)
    free = np.ones(len(scale), dtype=bool)
    free[bound] = False
    names = (*leading, *contact.names, *(f"{name} sliding speed" for name in contact.tangential_names))
    return NonlinearComplementarity(
        function, jacobian, len(scale), free=free, scale=scale, unknown_scale=unit, names=names
    )


def _radius(contact: FrictionalContact, force: np.ndarray) -> np.ndarray:
    """ρ = limit + μ λ_N (s,), not cut at zero so that it stays differentiable."""
    return contact.limit + contact.friction @ force[contact.normal]


def _reserve(contact: FrictionalContact, force: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(ρ² − |λ_T|²) / g (s,) [N s], its divisor g = √(ρ² + |λ_T|² + tiny²), and ρ."""
    radius = _radius(contact, force)
    squared = np.sum(force[contact.tangential] ** 2, axis=1)
    divisor = np.sqrt(radius**2 + squared + (ROUNDING * _typical_radius(contact)) ** 2)
    return (radius**2 - squared) / divisor, divisor, radius


def _laws(
    contact: FrictionalContact, velocity: np.ndarray, force: np.ndarray, slide: np.ndarray
) -> np.ndarray:
    """Rows (size + s,): u_N, u_B, ρ u_T + z λ_T in the contact's order, then the reserve of friction."""
    rows = velocity.copy()
    reserve, _, radius = _reserve(contact, force)
    friction = force[contact.tangential]
    rows[contact.tangential] = radius[:, None] * velocity[contact.tangential] + slide[:, None] * friction
    return np.concatenate([rows, reserve])


def _velocity_factors(contact: FrictionalContact, force: np.ndarray) -> np.ndarray:
    """Derivative of the first ``size`` rows of :func:`_laws` with respect to their own velocity."""
    factors = np.ones(contact.size)
    factors[contact.tangential] = _radius(contact, force)[:, None]
    return factors


def _force_derivative(
    contact: FrictionalContact, velocity: np.ndarray, force: np.ndarray, slide: np.ndarray
) -> sparse.csr_array:
    """Derivative of :func:`_laws` with respect to (λ, z) at fixed velocity."""
    tangential, width = contact.tangential, contact.tangential.shape[1]
    last = contact.size + np.arange(len(tangential))
    reserve, divisor, radius = _reserve(contact, force)
    by_radius = (2.0 - reserve / divisor) * radius / divisor
    by_friction = -(2.0 + reserve / divisor) / divisor
    pull = contact.friction.tocoo()
    patch, source = pull.coords
    rows, columns = [last[patch]], [contact.normal[source]]
    entries = [by_radius[patch] * pull.data]
    for axis in range(width):
        row = tangential[:, axis]
        rows += [row, row, row[patch], last]
        columns += [row, last, contact.normal[source], row]
        entries += [slide, force[row], velocity[row[patch]] * pull.data, by_friction * force[row]]
    size = contact.size + len(tangential)
    triplets = (np.concatenate(entries), (np.concatenate(rows), np.concatenate(columns)))
    return sparse.csr_array(triplets, shape=(size, size))


def _typical_force(contact: FrictionalContact) -> tuple[float, np.ndarray]:
    """The largest free velocity, and for each row the force (size,) that would cause it there."""
    speed = float(np.abs(contact.free_velocity).max(initial=0.0)) or 1.0
    mobility = contact.mobility
    return speed, speed / np.where(mobility > 0, mobility, float(mobility.max(initial=0.0)) or 1.0)


def _typical_radius(contact: FrictionalContact) -> np.ndarray:
    """Typical friction limit of each patch (s,)."""
    _, force = _typical_force(contact)
    radius = contact.limit + contact.friction @ force[contact.normal]
    return np.where(radius > 0, radius, force[contact.tangential].min(axis=1, initial=np.inf))


def _scales(contact: FrictionalContact) -> tuple[np.ndarray, np.ndarray]:
    """Typical magnitudes of the rows and of (λ, z)."""
    speed, force = _typical_force(contact)
    radius = _typical_radius(contact)
    holding = force[contact.tangential].min(axis=1, initial=np.inf)
    rows = np.full(contact.size, speed)
    rows[contact.tangential] = (radius * speed)[:, None]
    force[contact.tangential] = np.minimum(radius, holding)[:, None]
    return np.concatenate([rows, radius]), np.concatenate([force, np.full(len(radius), speed)])
