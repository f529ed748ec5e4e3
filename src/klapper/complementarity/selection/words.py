"""What is determined among forces that are not, in the user's names.

Forces that share undetermined combinations form groups. In a group of g forces with k such combinations, g − k others
are determined: the complement of the null space. With one of them this reads "only their sum is determined".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.linalg
import scipy.sparse as sparse
from scipy.sparse.csgraph import connected_components

from klapper.complementarity.selection.null_space import echelon

if TYPE_CHECKING:
    from klapper.complementarity.selection.force_set import ForceSet

_MOST_LISTED = 4
_KINDS = ("normal", "tangential", "tangential 1", "tangential 2")


def determined_combinations(forces: ForceSet) -> tuple[str, ...]:
    """One sentence for each group of forces that are not determined."""
    null = forces.null_space
    if null.shape[1] == 0:
        return ()
    felt = np.abs(null) > 1e-9
    felt[forces.patches[forces.sliding].ravel()] = False  # sliding friction follows its normal force
    pattern = sparse.csr_array(felt.astype(float) @ felt.T)
    _, group = connected_components(pattern, directed=False)
    texts = []
    for number in np.unique(group[felt.any(axis=1)]):
        rows = np.flatnonzero((group == number) & felt.any(axis=1))
        part = null[rows][:, felt[rows].any(axis=0)]
        kept = echelon(scipy.linalg.null_space(part.T, rcond=1e-9))
        texts.append(_sentence([forces.names[i] for i in rows], kept))
    return tuple(texts)


def _sentence(names: list[str], kept: np.ndarray) -> str:
    who = _joint_name(names)
    count = kept.shape[1]
    if count == 0:
        return f"{who}: nothing about {'it' if len(names) == 1 else 'them'} is determined"
    if count == 1:
        vector = kept[:, 0] * np.sign(kept[0, 0])
        if np.allclose(vector, 1.0, atol=1e-9):
            return f"{who}: only their sum is determined"
        if len(names) == 2 and np.allclose(vector, [1.0, -1.0], atol=1e-9):
            return f"{who}: only their difference is determined"
        return f"{who}: only {combination(names, vector)} is determined"
    if count <= _MOST_LISTED:
        listed = ", ".join(
            combination(names, vector * np.sign(vector[np.argmax(np.abs(vector) > 1e-9)]))
            for vector in kept.T
        )
        return f"{who}: only {listed} are determined"
    return f"{who}: only {count} combinations of {len(names)} are determined"


def _joint_name(names: list[str]) -> str:
    """ "tangential forces of A and B" where all are of one kind, else the names themselves."""
    for kind in _KINDS:
        if all(name.endswith(f" {kind}") for name in names) and len(names) > 1:
            return f"{kind} forces of {_listed([name[: -len(kind) - 1] for name in names])}"
    return _listed(names)


def _listed(names: list[str]) -> str:
    if len(names) > 8:
        return f"{', '.join(names[:6])} and {len(names) - 6} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def combination(names: list[str] | tuple[str, ...], vector: np.ndarray) -> str:
    """A linear combination of named forces, e.g. "A normal - 0.5 B normal"."""
    terms = []
    for name, value in zip(names, vector, strict=True):
        if abs(value) > 1e-9:
            size = "" if abs(abs(value) - 1.0) < 1e-9 else f"{abs(value):.4g} "
            terms.append(f"{'-' if value < 0 else '+'} {size}{name}")
    text = " ".join(terms)
    return text[2:] if text.startswith("+ ") else text
