"""Generated problems that klapper and its peers solve side by side.

Linear complementarity: 0 ≤ x ⊥ A x + b ≥ 0 with A symmetric positive semidefinite.
Frictional contact in the layout (normal, tangent 1, tangent 2) per contact, one step of a pile of spheres:

    u = W r + b,   W = J M⁻¹ Jᵀ,   b = J (v + h M⁻¹ f),   K ∋ r ⊥ u + μ‖u_T‖ n ∈ K*

Every generator takes a numpy Generator; the same seed gives the same problem on every machine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sparse
from scipy.spatial import cKDTree

GRAVITY = 9.81  # m/s²


@dataclass(frozen=True)
class LinearBatch:
    """Linear complementarity problems of one size.

    matrices: (k, n, n) symmetric positive semidefinite; offsets: (k, n).
    """

    family: str
    matrices: np.ndarray
    offsets: np.ndarray

    @property
    def size(self) -> int:
        return int(self.offsets.shape[1])


@dataclass(frozen=True)
class SpherePile:
    """One time step of a pile of spheres on a plane.

    delassus: W (3n, 3n) in 3×3 blocks [1/kg]; offset: b (3n,) [m/s]; friction: (n,) [-];
    directions: J (3n, 6 spheres), rows (normal, tangent 1, tangent 2); spheres: number of bodies.
    """

    delassus: sparse.bsr_array
    offset: np.ndarray
    friction: np.ndarray
    directions: sparse.csr_array
    spheres: int

    @property
    def contacts(self) -> int:
        return int(self.friction.size)


def random_positive_definite(generator: np.random.Generator, count: int, size: int) -> LinearBatch:
    """A = G Gᵀ/n + 0.01 I with normal entries, b normal with at least one negative entry."""
    factors = generator.standard_normal((count, size, size))
    matrices = factors @ factors.transpose(0, 2, 1) / size + 0.01 * np.eye(size)
    return LinearBatch("positive definite", matrices, _pressing(generator.standard_normal((count, size))))


def _pressing(offsets: np.ndarray) -> np.ndarray:
    """Turn the offsets b ≥ 0 round: no problem is solved by x = 0."""
    return np.where(np.all(offsets >= 0.0, axis=1, keepdims=True), -offsets, offsets)


def chain_contact(generator: np.random.Generator, count: int, size: int) -> LinearBatch:
    """A chain of masses with as many stops as masses: A = Jᵀ M⁻¹ J has full rank."""
    return _chain(generator, count, size, masses=size, family="chain")


def redundant_chain_contact(generator: np.random.Generator, count: int, size: int) -> LinearBatch:
    """A chain with a third more contacts than masses: A is rank-deficient, the forces are not unique."""
    return _chain(generator, count, size, masses=max(1, (3 * size) // 4), family="redundant chain")


LINEAR_FAMILIES: dict[str, Callable[[np.random.Generator, int, int], LinearBatch]] = {
    "positive definite": random_positive_definite,
    "chain": chain_contact,
    "redundant chain": redundant_chain_contact,
}


def _chain(generator: np.random.Generator, count: int, size: int, *, masses: int, family: str) -> LinearBatch:
    """Masses in a row, coupled by springs, h²k = 3 kg; one implicit step, M = m I + h² K.

    The first contacts stop each mass against the ground, the others act between two neighbouring
    masses or a second time on the ground. b = Jᵀ v, so zero velocity is admissible and a solution exists.
    """
    matrices = np.empty((count, size, size))
    offsets = np.empty((count, size))
    for k in range(count):
        inertia = generator.uniform(0.5, 2.0, masses)
        effective = np.diag(inertia)
        for i in range(masses - 1):
            effective[i : i + 2, i : i + 2] += 3.0 * np.array([[1.0, -1.0], [-1.0, 1.0]])
        directions = np.zeros((masses, size))
        order = generator.permutation(masses)
        for j in range(size):
            i = int(order[j % masses])
            if j >= masses and i + 1 < masses and generator.random() < 0.5:
                directions[i, j], directions[i + 1, j] = 1.0, -1.0
            else:
                directions[i, j] = 1.0
        matrices[k] = directions.T @ np.linalg.solve(effective, directions)
        matrices[k] = 0.5 * (matrices[k] + matrices[k].T)
        offsets[k] = directions.T @ generator.normal(-0.3, 1.0, masses)
    return LinearBatch(family, matrices, _pressing(offsets))


def sphere_pile(
    generator: np.random.Generator,
    contacts: int,
    *,
    radius: float = 0.05,
    density: float = 2500.0,
    step: float = 1e-3,
    agitation: float = 0.02,
    layers: int = 3,
) -> SpherePile:
    """A flat pile of spheres on a plane with at most the wanted number of contacts (and at most 4 fewer).

    The spheres of each square layer rest in the hollows of the layer below, on four spheres each; those of
    one layer stand 5 % of their diameter apart, radii and centres are perturbed by 1 % of the radius [m]. One
    step [s] of gravity acts together with random velocities of standard deviation `agitation` [m/s], so that
    contacts stick, slip and open side by side. Each further layer makes it harder for iterative solvers.
    """
    centres, radii = _pyramid(generator, contacts, layers, radius)
    first, second, normals = _touching(centres, radii, slack=0.05 * radius)
    centres, radii, keep = _trim(centres, radii, first, second, contacts)
    first, second, normals = first[keep], second[keep], normals[keep]
    directions = _directions(generator, radii, first, second, normals)
    mass = density * 4.0 / 3.0 * np.pi * radii**3
    inverse_mass = np.repeat(1.0 / mass, 6)
    inverse_mass.reshape(-1, 6)[:, 3:] *= (2.5 / radii**2)[:, None]
    velocity = agitation * generator.standard_normal((radii.size, 6))
    velocity[:, 3:] /= radii[:, None]
    velocity[:, 2] -= GRAVITY * step
    scaled = directions @ sparse.diags_array(np.sqrt(inverse_mass))
    delassus = sparse.bsr_array(sparse.csr_array(scaled @ scaled.T), blocksize=(3, 3))
    delassus.sort_indices()
    friction = generator.uniform(0.3, 0.6, first.size)
    return SpherePile(delassus, directions @ velocity.ravel(), friction, directions, int(radii.size))


def _pyramid(
    generator: np.random.Generator, contacts: int, layers: int, radius: float
) -> tuple[np.ndarray, np.ndarray]:
    """Centres (m, 3) and radii (m,), bottom layer first, with more contacts than wanted."""
    base = 3
    while base**2 + 4 * sum((base - layer) ** 2 for layer in range(1, min(base, layers))) < contacts:
        base += 1
    spacing = 1.05 * 2.0 * radius
    rise = np.sqrt(4.0 * radius**2 - 0.5 * spacing**2)
    levels = []
    for layer in range(min(base, layers)):
        side = spacing * (np.arange(base - layer) + 0.5 * layer)
        x, y, z = np.meshgrid(side, side, radius + rise * layer, indexing="ij")
        levels.append(np.column_stack([x.ravel(), y.ravel(), z.ravel()]))
    centres = np.vstack(levels)
    centres += generator.uniform(-0.01, 0.01, centres.shape) * radius
    radii = radius * generator.uniform(0.99, 1.01, len(centres))
    centres[: base**2, 2] = radii[: base**2]
    return centres, radii


def _touching(
    centres: np.ndarray, radii: np.ndarray, slack: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Contacts (first, second, normal from second to first); second = -1 is the plane z = 0."""
    pairs = cKDTree(centres).query_pairs(2.0 * radii.max() + slack, output_type="ndarray")
    between = centres[pairs[:, 1]] - centres[pairs[:, 0]]
    distance = np.linalg.norm(between, axis=1)
    near = distance < radii[pairs].sum(axis=1) + slack
    ground = np.flatnonzero(centres[:, 2] <= radii * (1.0 + 1e-9))
    first = np.concatenate([ground, pairs[near, 1]])
    second = np.concatenate([np.full(ground.size, -1), pairs[near, 0]])
    normals = np.vstack([np.tile([0.0, 0.0, 1.0], (ground.size, 1)), between[near] / distance[near, None]])
    order = np.lexsort((second, first))
    return first[order], second[order], normals[order]


def _trim(
    centres: np.ndarray, radii: np.ndarray, first: np.ndarray, second: np.ndarray, contacts: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Keep the lowest spheres whose contacts number at most the wanted count."""
    latest = np.maximum(first, second)
    up_to = np.cumsum(np.bincount(latest, minlength=radii.size))
    spheres = int(np.searchsorted(up_to, contacts, side="right"))
    return centres[:spheres], radii[:spheres], latest < spheres


def _directions(
    generator: np.random.Generator,
    radii: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    normals: np.ndarray,
) -> sparse.csr_array:
    """J with rows (normal, tangent 1, tangent 2) per contact: relative velocity of the material points."""
    count = first.size
    seed = generator.standard_normal((count, 3))
    tangent = np.cross(normals, seed)
    tangent /= np.linalg.norm(tangent, axis=1)[:, None]
    frames = np.stack([normals, tangent, np.cross(normals, tangent)], axis=1)
    rows, columns, values = [], [], []
    for body, sign in ((first, 1.0), (second, -1.0)):
        real = body >= 0
        # the point lies at ∓ radius · normal from the centre: d·(ω × c) = ω·(c × d)
        arm = -sign * radii[body[real], None] * normals[real]
        turning = np.cross(arm[:, None, :], frames[real])
        block = sign * np.concatenate([frames[real], turning], axis=2)
        rows.append(np.repeat(3 * np.flatnonzero(real)[:, None] + np.arange(3), 6))
        columns.append(np.repeat((6 * body[real])[:, None] + np.arange(6), 3, axis=0).ravel())
        values.append(block.ravel())
    entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    return sparse.csr_array(sparse.coo_array(entries, shape=(3 * count, 6 * radii.size)))
