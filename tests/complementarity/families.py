"""Random linear, mixed and contact problems by family: a table of name → function(rng) → (problem, solvable).

``solvable`` is True where a solution exists by construction: the load is computed from a chosen solution, or the
problem is monotone with a feasible point, or a plastic impact of the form (3.97), solvable after Anitescu & Potra
(1997), or the matrix is a P-matrix. Otherwise it is None: unknown here. Entries can be added from other modules.
"""

import numpy as np

from klapper.complementarity import FrictionalContact, LinearComplementarity, MixedComplementarity


def impact(rng, *, polygon=8):
    """Plastic impacts with polygonal friction and velocities among the unknowns, Waltersberger (3.97)."""
    dofs, contacts = int(rng.integers(2, 13)), int(rng.integers(1, 7))
    root = rng.standard_normal((dofs, dofs))
    mass = root @ root.T + np.eye(dofs)
    normal, tangential = rng.standard_normal((dofs, contacts)), rng.standard_normal((dofs, 2 * contacts))
    angles = 2 * np.pi * np.arange(polygon) / polygon
    corners = np.vstack([np.cos(angles), np.sin(angles)])
    spread = np.hstack([tangential[:, 2 * i : 2 * i + 2] @ corners for i in range(contacts)])
    ones = np.kron(np.eye(contacts), np.ones((polygon, 1)))
    p = contacts * polygon
    matrix = np.zeros((dofs + 2 * contacts + p,) * 2)
    matrix[:dofs, :dofs] = mass
    matrix[:dofs, dofs : dofs + contacts + p] = -np.hstack([normal, spread])
    matrix[dofs : dofs + contacts + p, :dofs] = np.hstack([normal, spread]).T
    matrix[dofs + contacts : dofs + contacts + p, dofs + contacts + p :] = ones
    matrix[dofs + contacts + p :, dofs : dofs + contacts] = rng.uniform(0.1, 0.9) * np.eye(contacts)
    matrix[dofs + contacts + p :, dofs + contacts : dofs + contacts + p] = -ones.T
    before = rng.standard_normal(dofs)
    return MixedComplementarity(
        matrix, np.concatenate([-mass @ before, np.zeros(2 * contacts + p)]), free=dofs
    ), True


def eliminated_impact(rng):
    """The same without the velocities: a copositive matrix."""
    from klapper.complementarity import eliminate_free

    return eliminate_free(impact(rng)[0]).problem, True


def switching_circuit(rng):
    """Piecewise linear transistors between the nodes of a chain, stiff amplifiers with saturation, feedback.

    Ramps 0 ≤ r ⟂ r − (± u − breakpoint) ≥ 0 drive the nodes with slopes from 2e-4 to 57; an amplifier output w has
    w + gain (s₁ − s₂) + … = 0 with 0 ≤ s ⟂ s ± w + limit ≥ 0. The loads follow from chosen voltages. The kind of
    network that a sigma-delta converter is: pivots between 1e-4 and 1e5, so that long paths lose digits.
    """
    stages = int(rng.integers(2, 13))
    slopes = rng.choice([2.03, 5.74, 8.12, 22.96, 2.03e-4, 5.74e-4, 20.3, 57.4], size=8)
    ramps = [
        (int(rng.integers(stages)), rng.choice([-1.0, 1.0]), rng.choice([0.0, 1.0, 2.5, 3.0]), k,
         rng.choice([-1.0, 1.0]) * rng.choice(slopes))
        for k in range(stages) for _ in range(int(rng.integers(2, 7)))
    ]  # fmt: skip
    amplifiers = [(int(rng.integers(stages)), k) for k in range(stages) if rng.random() < 0.5]
    free = stages + len(amplifiers)
    size = free + len(ramps) + 2 * len(amplifiers)
    matrix, load, x = np.zeros((size, size)), np.zeros(size), np.zeros(size)
    gain, limit = 10.0 ** rng.uniform(2, 5), 10.0 ** rng.uniform(-5, -2)
    x[:stages] = np.round(rng.uniform(-5, 5, stages), 1)
    for k in range(stages):
        matrix[k, k] = rng.choice([1.0, 10.0, 250.0, 1e3, 5e3])
        if k:
            matrix[k, k - 1] = rng.choice([-1.0, 1.0, -10.0])
        if rng.random() < 0.5:
            matrix[k, int(rng.integers(stages))] += rng.choice([-1.0, 1.0, 1e3, -1e3])
    for row, (node, sign, breakpoint, driven, slope) in enumerate(ramps, start=free):
        matrix[row, row], matrix[row, node], load[row] = 1.0, -sign, breakpoint
        x[row] = max(0.0, sign * x[node] - breakpoint)
        matrix[driven, row] += slope
    for number, (node, driven) in enumerate(amplifiers):
        w, up = stages + number, free + len(ramps) + 2 * number
        x[w] = rng.choice([0.0, rng.uniform(-1, 1) * limit, rng.uniform(-3, 3)])
        x[up : up + 2] = np.maximum([x[w] - limit, -x[w] - limit], 0.0)
        matrix[w, [w, up, up + 1, node]] = 1.0, gain, -gain, rng.choice([1.0, -1.0, 1e3])
        matrix[up, [up, w]], matrix[up + 1, [up + 1, w]] = (1.0, -1.0), (1.0, 1.0)
        load[up : up + 2] = limit
        matrix[driven, w] += rng.choice([1.0, -5.0, 50.0])
    load[:free] = -(matrix @ x)[:free]
    return MixedComplementarity(matrix, load, free=free), True


def degenerate_integers(rng):
    """Integer matrices without structure, loads in a unit between 1e-80 and 1e-8, from a chosen solution with pairs
    of zeros."""
    n = int(rng.integers(7, 14))
    matrix = rng.integers(-2, 3, (n, n)).astype(float)
    state = rng.integers(0, 3, n)  # x > 0, y > 0, or neither
    x, y = np.where(state == 0, rng.integers(1, 4, n), 0), np.where(state == 1, rng.integers(1, 4, n), 0)
    return LinearComplementarity(matrix, (y - matrix @ x) * 10.0 ** int(rng.integers(-80, -7))), True


def integer_impact(rng):
    """Impacts as (3.97) of small integers with diamonds, where rows tie exactly, in any unit of velocity."""
    dofs, contacts = int(rng.integers(2, 8)), int(rng.integers(2, 7))
    mass, corners = np.diag(rng.integers(1, 4, dofs)).astype(float), np.array([[1, 0, -1, 0], [0, 1, 0, -1]])
    normal, tangential = rng.integers(-1, 2, (dofs, contacts)), rng.integers(-1, 2, (dofs, 2 * contacts))
    spread = np.hstack([tangential[:, 2 * i : 2 * i + 2] @ corners for i in range(contacts)])
    ones, k = np.kron(np.eye(contacts), np.ones((4, 1))), 5 * contacts
    matrix = np.zeros((dofs + k + contacts,) * 2)
    matrix[:dofs, :dofs] = mass
    matrix[:dofs, dofs : dofs + k] = -np.hstack([normal, spread])
    matrix[dofs : dofs + k, :dofs] = np.hstack([normal, spread]).T
    matrix[dofs + contacts : dofs + k, dofs + k :] = ones
    matrix[dofs + k :, dofs : dofs + contacts] = np.diag(rng.choice([0.25, 0.5, 1.0], contacts))
    matrix[dofs + k :, dofs + contacts : dofs + k] = -ones.T
    before = rng.integers(-2, 3, dofs) * 10.0 ** float(rng.choice([-80, -20, -8, 0, 8, 80]))
    return MixedComplementarity(
        matrix, np.concatenate([-mass @ before, np.zeros(k + contacts)]), free=dofs
    ), True


def murty(rng):
    """Murty's and Fathi's P-matrices, hard for pivoting methods (1978, 1979)."""
    n = int(rng.integers(2, 41))
    lower = 2.0 * np.tril(np.ones((n, n)), -1) + np.eye(n)
    matrix = [lower, lower.T, lower @ lower.T][int(rng.integers(3))]
    order = rng.permutation(n)
    load = -np.ones(n) if rng.integers(2) else -(2.0 ** -np.arange(n))
    return LinearComplementarity(matrix[np.ix_(order, order)], load[order]), True


def at_rest(rng):
    """Bodies at rest on supports, redundant ones among them: all velocities are zero, and so are rows without a load
    whose terms are round-off."""
    free, bound = 5 * int(rng.integers(1, 6)), 5 * int(rng.integers(1, 6))
    root, coupling = rng.standard_normal((free, free)), rng.standard_normal((free, bound))
    matrix = np.block([[root @ root.T + np.eye(free), -coupling], [coupling.T, np.zeros((bound, bound))]])
    force = rng.uniform(0, 1, bound) * rng.integers(0, 2, bound)
    return MixedComplementarity(matrix, np.concatenate([coupling @ force, np.zeros(bound)]), free=free), True


def polygonal_contact(rng):
    """Plastic impacts of contacts with friction polygons or in the plane, redundant ones among them."""
    contacts, freedoms = int(rng.integers(1, 5)), int(rng.integers(2, 9))
    dimension = int(rng.choice([2, 3]))
    directions = rng.standard_normal((dimension * contacts, freedoms))
    free = directions @ rng.standard_normal(freedoms)
    options = {"polygon": int(rng.choice([4, 6, 8]))} if dimension == 3 else {}
    friction = rng.uniform(0.0, 0.9, contacts)
    return FrictionalContact(directions @ directions.T, free, friction, dimension=dimension, **options), True


def skew_parts(rng):
    """Plastic impacts in space with exact discs; the matrix of another program is symmetric to 1e-12 … 1e-7 only."""
    contacts = int(rng.integers(1, 9))
    directions = rng.standard_normal((3 * contacts, int(rng.integers(3 * contacts, 3 * contacts + 4))))
    matrix, noise = directions @ directions.T, rng.standard_normal((3 * contacts, 3 * contacts))
    matrix += 10.0 ** rng.uniform(-12, -7) * np.abs(matrix).max() * (noise - noise.T)
    load = directions @ rng.standard_normal(directions.shape[1])
    return FrictionalContact(matrix, load, rng.uniform(0.1, 0.9, contacts), dimension=3), True


def many_planar(rng):
    """Plastic impacts of 30 to 60 contacts in the plane, redundant: a path of pivots ends on a ray for most of them."""
    contacts = int(rng.integers(30, 61))
    directions = rng.standard_normal((2 * contacts, 40))
    free = directions @ rng.standard_normal(40)
    return FrictionalContact(directions @ directions.T, free, 0.3, dimension=2), True


FAMILIES = {
    "impact": impact,
    "eliminated impact": eliminated_impact,
    "integer impact": integer_impact,
    "switching circuit": switching_circuit,
    "degenerate integers": degenerate_integers,
    "murty": murty,
    "at rest": at_rest,
    "polygonal contact": polygonal_contact,
    "skew parts": skew_parts,
    "many planar": many_planar,
}
