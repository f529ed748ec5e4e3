"""The solver of contact problems that the compiled step uses, for its general twin.

Motion and forces of redundant rough contacts need not be unique: both paths go on alike only if both choose alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sparse

from klapper.complementarity import Answer, FrictionalContact, IterationLimit
from klapper.complementarity.gauss_seidel import contact_blocks

MOST_ROWS = 400  # of a dense Delassus matrix


@dataclass(frozen=True)
class NewtonContacts:
    """Newton steps, then sweeps, see ``form_kernels.newton``."""

    name = "newton steps and sweeps"

    def obstacle(self, problem: Any) -> str:
        if not isinstance(problem, FrictionalContact) or len(problem.bilateral):
            return "it solves contact problems with friction, without two-sided rows"
        if sparse.issparse(problem.delassus) or problem.size > MOST_ROWS:
            return f"it solves problems with dense matrices of at most {MOST_ROWS} rows"
        return ""

    def attempt(self, problem: Any, start: np.ndarray | None, tolerance: float) -> Answer:
        from klapper.schemes.form_kernels.rough import solve_rough

        rows, blocks = contact_blocks(problem)
        x = np.zeros(problem.size) if start is None else np.array(start, dtype=float)
        residual = solve_rough(
            np.ascontiguousarray(problem.delassus, dtype=float),
            np.array(problem.free_velocity, dtype=float),
            rows,
            blocks.friction,
            blocks.limit,
            blocks.share_start,
            blocks.share_of,
            blocks.share,
            tolerance,
            x,
        )
        if not residual <= tolerance:
            raise IterationLimit(f"the contact problem was solved to {residual:.1e} only", closest=x)
        return Answer(x, 1)
