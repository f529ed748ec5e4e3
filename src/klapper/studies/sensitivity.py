"""Sensitivity of a result, such as the period of a limit cycle, to all its parameters at once.

    S_pk = (p/y_k) ∂y_k/∂p ≈ (y_k(p (1 + s)) − y_k(p (1 − s))) / (2 s y_k(p))        error O(s²)

Elasticities: by how many per cent an output changes if a parameter grows by one. Two points for every parameter and one
in the middle, computed as a study. Quantities with units obey Σ S_pk [p] = [y_k] in every unit, which checks them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from klapper.studies.design import listed
from klapper.studies.errors import StudyError
from klapper.studies.study import study


def elasticities(
    target: Any,
    around: Mapping[str, float],
    outputs: Sequence[str],
    *,
    store: str | Path,
    step: float = 1e-3,
    fixed: Mapping[str, Any] | None = None,
    workers: int | None = None,
    code: str | None = None,
) -> dict[str, dict[str, float]]:
    """By how many per cent outputs change if a parameter grows by one: (p/y) ∂y/∂p by output and parameter.

    ``target``   what is computed, as for :func:`study`; so are ``outputs``, ``store``, ``fixed`` and ``code``
    ``around``   the parameters and their values, in their units
    ``step``     s of the differences, relative to each value; what is returned is dimensionless, too
    ``workers``  processes at most; None: one per core

    A ball bounces for a time in proportion to √(h/g): 1 % more height makes it 0.5 % longer.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from klapper.studies import elasticities
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = elasticities("bouncing-ball", {"height": 1.0}, ["rest_time"], store=Path(folder, "fall"), workers=1)
    >>> round(found["rest_time"]["height"], 6)
    0.5
    """
    if any(value == 0.0 for value in around.values()) or not 0.0 < step < 1.0:
        raise StudyError("elasticities need parameters that are not 0, and a step between 0 and 1.")
    names = list(around)
    rows = [dict(around)]
    for name in names:
        rows += [{**around, name: around[name] * (1.0 + sign * step)} for sign in (1.0, -1.0)]
    design = listed({name: [float(row[name]) for row in rows] for name in names})
    done = study(target, over=design, outputs=outputs, store=store, fixed=fixed, code=code).run(
        workers=workers
    )
    table = done.table()
    if set(table["status"]) != {"done"}:
        raise StudyError(f"a point of the elasticities failed: {next(filter(None, table['error']))}")
    return {output: _slopes(names, np.asarray(table[output], dtype=float), step) for output in outputs}


def _slopes(names: Sequence[str], values: np.ndarray, step: float) -> dict[str, float]:
    ahead, back = values[1::2], values[2::2]
    slopes = (ahead - back) / (2.0 * step * values[0])
    return dict(zip(names, slopes.tolist(), strict=True))
