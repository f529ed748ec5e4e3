"""The picture of a reduced system: that of the full one, whose points follow the reduced coordinates.

    x = X + A q,   q = V y   →   x = X + A V y

Static parts by contact forces and loads are left out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import scipy.sparse as sparse

from klapper.mechanics import LinearSystem, Part, Picture
from klapper.mechanics.picture import rows_of


@dataclass(frozen=True, eq=False)
class SeenThrough:
    """Draws the ``full`` system (n coordinates) in coordinates y of a ``basis`` V (n, k)."""

    full: LinearSystem
    basis: Any

    def __call__(self, until: float) -> Picture | None:
        """None where the full system has no size, as masses in a row: amplitudes of shapes do not measure it."""
        whole = self.full.picture(until)
        if whole is None or whole.scaled:
            return None
        return replace(whole, parts=[self._part(part) for part in whole.parts])

    def _part(self, part: Part) -> Part:
        if not part.linear:
            return part
        row, column, value = part.rows
        matrix = sparse.csr_array((value, (row, column)), shape=(3 * len(part.points), self.full.size))
        return replace(part, rows=rows_of(matrix @ self.basis))
