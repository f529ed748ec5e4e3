"""Columns of a study for its figures, and what stands at an axis."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from klapper.studies.errors import StudyError

if TYPE_CHECKING:
    from klapper.studies.study import Study


def done(study: Study, *names: str) -> dict[str, np.ndarray]:
    """The wanted columns of the grid or list; outputs of points that are not done are nan or empty."""
    base = study.table()
    count = len(study.design) * study.options.replicates
    for name in names:
        if name not in base:
            raise StudyError(f"the study has no column '{name}'; it has {', '.join(base)}.")
    return {name: base[name][:count] for name in names}


def chosen(study: Study, at: Mapping[str, Any], *names: str) -> dict[str, np.ndarray]:
    """The same of the points that have the values ``at``."""
    base = done(study, *names, *at)
    kept = np.ones(len(base[names[0]]), dtype=bool)
    for name, wanted in at.items():
        if not np.any(base[name] == wanted):
            raise StudyError(f"no point has {name} = {wanted!r}.")
        kept &= base[name] == wanted
    return {name: base[name][kept] for name in names}


def label(study: Study, name: str) -> str:
    unit = study.units().get(name, "")
    return f"{name} / {unit}" if unit else name
