"""Several structures as one, free of each other or tied together.

    q = (q_A, q_B, …),   B q = 0   ⟺   q = T y

Parts keep their own rows: ``assembly.row("A", …)`` is what ``A.row(…)`` was. Contact between parts is a contact of the
assembly; a rigid connection is a tie.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
import scipy.sparse as sparse

from klapper.mechanics import InvalidModel
from klapper.structures.coupling import elimination, projected
from klapper.structures.line import Line
from klapper.structures.loads import total
from klapper.structures.structure import Structure


class Assembly(Structure):
    """Several structures as one, with the matrices of its parts along the diagonal.

    ``parts`` by name, at first not connected; :meth:`tied` holds rows · q = 0. Two carts of 1 kg become one of 2 kg:

    >>> carts = Assembly({name: Structure([[1.0]], [[0.0]], coordinates=["x"]) for name in ("left", "right")})
    >>> coupled = carts.tied(carts.lifted("left", [1.0]) - carts.lifted("right", [1.0]))
    >>> coupled.mass.toarray().tolist(), coupled.lifted("left", [1.0]).tolist()
    ([[2.0]], [1.0])
    """

    def __init__(self, parts: Mapping[str, Structure], *, name: str = "assembly") -> None:
        if not parts:
            raise InvalidModel("an assembly needs at least one part.")
        self.parts = dict(parts)
        sizes = [part.size for part in self.parts.values()]
        starts = np.concatenate(([0], np.cumsum(sizes)))
        whole = sparse.eye_array(int(starts[-1]), format="csr")
        self._blocks = {title: whole[starts[i] : starts[i + 1]] for i, title in enumerate(self.parts)}
        matrices = {
            kind: self._diagonal(kind)
            for kind in ("mass", "stiffness", "damping", "gyroscopic", "circulatory")
        }
        super().__init__(
            **matrices,
            load=total([part.load.mapped(self._blocks[title].T) for title, part in self.parts.items()]),
            coordinates=[
                f"{title} {each}" for title, part in self.parts.items() for each in part.coordinates
            ],
            name=name,
        )

    def rows(self, part: str, *where: Any, **options: Any) -> np.ndarray:
        """(k, n): what the part's own ``rows`` gives, on the coordinates of the assembly."""
        return self.lifted(part, self._part(part).rows(*where, **options))  # type: ignore[attr-defined]

    def row(self, part: str, *where: Any, **options: Any) -> np.ndarray:
        """(n,): what the part's own ``row`` gives, on the coordinates of the assembly."""
        return self.lifted(part, self._part(part).row(*where, **options))  # type: ignore[attr-defined]

    def line(self, part: str, *where: Any, **options: Any) -> Line:
        """What the part's own ``line`` gives, on the coordinates of the assembly."""
        line: Line = self._part(part).line(*where, **options)  # type: ignore[attr-defined]
        return Line(lambda x: self.lifted(part, line.at(x)), line.breaks, line.degree)

    def lifted(self, part: str, rows: Any) -> np.ndarray:
        """(n,) or (k, n) from a row or rows of a part."""
        self._part(part)
        return np.asarray(rows, dtype=float) @ self._blocks[part].toarray()

    def tied(self, *rows: Any) -> Self:
        """With the displacements of these rows (n,) of the assembly set to zero, one coordinate less for each."""
        ties: Sequence[np.ndarray] = [self.checked_row(row) for row in rows]
        basis, kept = elimination(np.array(ties).reshape(len(ties), self.size))
        other = self._with(
            mass=projected(self.mass, basis),
            stiffness=projected(self.stiffness, basis),
            load=self.load.mapped(basis.T),
            coordinates=tuple(self.coordinates[i] for i in kept),
            _blocks={title: (block @ basis).tocsr() for title, block in self._blocks.items()},
        )
        if self.damping is not None:
            other.damping = projected(self.damping, basis)
        for kind in ("gyroscopic", "circulatory"):
            matrix = getattr(self, kind)
            setattr(other, kind, None if matrix is None else (basis.T @ matrix @ basis).tocsr())
        return other

    def _part(self, name: str) -> Structure:
        if name not in self.parts:
            raise InvalidModel(f"there is no part {name!r}; parts are {', '.join(self.parts)}.")
        return self.parts[name]

    def _diagonal(self, kind: str) -> Any:
        given = {title: getattr(part, kind) for title, part in self.parts.items()}
        if all(matrix is None for matrix in given.values()):
            return None
        size = {title: part.size for title, part in self.parts.items()}
        blocks = [
            sparse.csr_array((size[title], size[title])) if matrix is None else matrix
            for title, matrix in given.items()
        ]
        return sparse.block_diag(blocks, format="csr")
