"""The Alart–Curnier function of a contact problem with the exact friction disc, and its generalised Jacobian.

    Φ(ξ) = ξ − P(ξ − u),   u = A ξ + q                 dimensionless forces ξ = w λ / V, velocities u = v / V
    P_N(p) = max(p_N, 0),  P_T(p) = prox_{|·| ≤ ρ}(p_T),   ρ = limit + μ max(p_N, 0),   P_B(p) = p_B
    ∂Φ = (I − DP) + DP A

V is the largest free velocity and w the contact's own mobility, so the prox parameter r = 1/w of each contact
is built into the scaling. The zeros of Φ are the solutions of Waltersberger (4.35)-(4.40) for every such r.
Alart and Curnier, Comput. Methods Appl. Mech. Engrg. 92 (1991) 353-375.
"""

from __future__ import annotations

from copy import copy
from functools import cached_property

import numpy as np
import scipy.sparse as sparse

from klapper.complementarity.checking import Matrix
from klapper.complementarity.frictional_contact import FrictionalContact


class AlartCurnier:
    """Φ and ∂Φ of ``contact`` in dimensionless forces ξ (size,); sparse if the Delassus matrix is sparse."""

    def __init__(self, contact: FrictionalContact) -> None:
        self.contact = contact
        mobility = contact.mobility
        softest = float(mobility.max(initial=0.0)) or 1.0
        weight = np.where(mobility > 0, mobility, softest)
        if len(contact.tangential):
            weight[contact.tangential] = weight[contact.tangential].max(axis=1, keepdims=True)
        speed = float(np.abs(contact.free_velocity).max(initial=0.0)) or 1.0
        self.force_unit: np.ndarray = speed / weight
        self.offset: np.ndarray = contact.free_velocity / speed
        self.matrix: Matrix
        if sparse.issparse(contact.delassus):
            self.matrix = sparse.csr_array(contact.delassus @ sparse.diags_array(1.0 / weight))
        else:
            self.matrix = np.asarray(contact.delassus) / weight
        self.normal: np.ndarray = np.ascontiguousarray(contact.normal)
        self.tangential: np.ndarray = np.ascontiguousarray(contact.tangential)
        patch = weight[contact.tangential[:, 0]]
        self.limit: np.ndarray = contact.limit * patch / speed
        coefficients = contact.friction
        self.compressed_friction = (
            coefficients.indptr.astype(np.int64),
            coefficients.indices.astype(np.int64),
            coefficients.data
            * np.repeat(patch, np.diff(coefficients.indptr))
            / weight[self.normal[coefficients.indices]],
        )

    @cached_property
    def friction(self) -> sparse.csr_array:
        """Dimensionless μ (s, m)."""
        starts, columns, values = self.compressed_friction
        return sparse.csr_array((values, columns, starts), shape=self.contact.friction.shape)

    def proximal(self, regularisation: float, centre: np.ndarray) -> AlartCurnier:
        """The same with u + ε (ξ − ξ₀) in place of u: regular even if redundant contacts make A singular."""
        shifted = copy(self)
        if sparse.issparse(self.matrix):
            shifted.matrix = sparse.csr_array(self.matrix + regularisation * sparse.eye_array(centre.size))
        else:
            shifted.matrix = self.matrix + regularisation * np.eye(centre.size)
        shifted.offset = self.offset - regularisation * centre
        return shifted

    def image(self, x: np.ndarray) -> np.ndarray:
        """Dimensionless relative velocities u = A ξ + q."""
        return self.matrix @ x + self.offset

    def prox(self, p: np.ndarray, pressure: np.ndarray) -> np.ndarray:
        """P(p), with friction limits from the given dimensionless normal forces ``pressure`` (m,)."""
        out = p.copy()
        out[self.normal] = np.maximum(p[self.normal], 0.0)
        radius = self.limit + self.friction @ pressure
        force = p[self.tangential]
        length = np.linalg.norm(force, axis=1)
        shrink = np.divide(radius, length, out=np.ones_like(length), where=length > radius)
        out[self.tangential] = force * shrink[:, None]
        return out

    def value(self, x: np.ndarray) -> np.ndarray:
        p = x - self.image(x)
        return x - self.prox(p, np.maximum(p[self.normal], 0.0))

    def derivative(self, x: np.ndarray) -> Matrix:
        """One element of the generalised Jacobian; the rows of open contacts are rows of the identity."""
        d_prox = self.prox_derivative(x - self.image(x))
        rest = sparse.eye_array(x.size, format="csr") - d_prox
        if sparse.issparse(self.matrix):
            jacobian = sparse.csr_array(rest + d_prox @ self.matrix)
            jacobian.eliminate_zeros()
            return jacobian
        return np.asarray(d_prox @ self.matrix + rest)

    def shortcut(self, x: np.ndarray) -> np.ndarray | None:
        """None: the Newton step itself is exact on the identified contact states."""
        return None

    def prox_derivative(self, p: np.ndarray) -> sparse.csr_array:
        """DP at p: one for closed normal rows, I for stick, (ρ/|p|)(I − n nᵀ) and n ∂ρ/∂p_N for slip."""
        size, width = p.size, self.tangential.shape[1]
        closed = p[self.normal] > 0.0
        radius = self.limit + self.friction @ np.maximum(p[self.normal], 0.0)
        force = p[self.tangential]
        length = np.linalg.norm(force, axis=1)
        slip = length > radius
        direction = force / np.where(slip, length, 1.0)[:, None]
        shrink = np.divide(radius, length, out=np.ones_like(length), where=slip)
        block = shrink[:, None, None] * (
            np.eye(width) - slip[:, None, None] * direction[:, :, None] * direction[:, None, :]
        )
        rows = [self.normal, np.repeat(self.tangential, width, axis=1).ravel(), self.contact.bilateral]
        columns = [self.normal, np.tile(self.tangential, (1, width)).ravel(), self.contact.bilateral]
        entries = [closed.astype(float), block.ravel(), np.ones(len(self.contact.bilateral))]
        pull = self.friction.tocoo()
        patch, source = pull.coords
        weight = pull.data * slip[patch] * closed[source]
        for axis in range(width):
            rows.append(self.tangential[patch, axis])
            columns.append(self.normal[source])
            entries.append(weight * direction[patch, axis])
        triplets = (np.concatenate(entries), (np.concatenate(rows), np.concatenate(columns)))
        matrix = sparse.csr_array(triplets, shape=(size, size))
        matrix.eliminate_zeros()
        return matrix

    def projected_gradient(self, x: np.ndarray, sweeps: int) -> np.ndarray:
        """``sweeps`` accelerated steps ξ ← P(ξ − ω u) of all contacts at once: a start near a solution."""
        step = 1.0 / self._largest_eigenvalue()
        previous, leading, momentum = x, x, 1.0
        for _ in range(sweeps):
            moved = leading - step * self.image(leading)
            current = self.prox(moved, np.maximum(moved[self.normal], 0.0))
            if np.dot(leading - current, current - previous) > 0:
                momentum = 1.0
            following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum * momentum))
            leading = current + (momentum - 1.0) / following * (current - previous)
            previous, momentum = current, following
        return previous

    def _largest_eigenvalue(self) -> float:
        vector = np.cos(np.arange(self.offset.size) + 1.0)
        size = 1.0
        for _ in range(15):
            vector = self.matrix @ vector
            size = float(np.linalg.norm(vector))
            if size == 0.0:
                return 1.0
            vector = vector / size
        return 1.1 * size
