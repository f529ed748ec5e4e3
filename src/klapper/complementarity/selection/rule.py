"""What a selection rule is: it picks one of the forces that a motion leaves possible, and says how sure it is.

Whoever writes a rule keeps this contract:

1. It is immutable and knows nothing of schemes; ``select`` does not change its arguments.
2. ``select(forces, previous)`` returns a :class:`Selection` in the order of ``forces``; ``previous`` (r,) [N] are the
   forces of the last moment, or None.
3. ``exact`` says whether the choice is a member of the set. A choice outside the set changes the motion.
4. A rule that cannot do what it says uses another one, and its note says which and why.
5. The docstring says what the rule assumes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from klapper.complementarity.errors import InvalidProblem
from klapper.complementarity.selection.force_set import ForceSet

MEMBER = 1e-9  # of the largest force: violation up to which forces count as members of their set


@dataclass(frozen=True, eq=False)
class Selection:
    """Forces (r,) [N] chosen by a rule.

    ``forces`` x (r,) [N]
    ``rule``   what chose them, e.g. "minimum norm"
    ``exact``  whether they belong to the set: if not, they move the system differently
    ``note``   what a reader must know, empty if nothing

    >>> from klapper.complementarity.selection import MinimumNorm
    >>> pair = ForceSet.from_arrays([-2.0, 0.0], [[1.0, 1.0]], patches=[[0], [1]], limit=[3.0, 3.0])  # x₁ + x₂ = −2 N
    >>> chosen = MinimumNorm().select(pair)
    >>> chosen.forces.round(12).tolist(), chosen.rule, chosen.exact
    ([-1.0, -1.0], 'minimum norm', True)
    """

    forces: np.ndarray
    rule: str
    exact: bool
    note: str = ""


class SelectionRule(Protocol):
    """Picks a member of a set of forces (contract in the module's docstring).

    A rule of one's own, the forces with which the set was made:

    >>> class AsGiven:
    ...     name = "as given"
    ...     def select(self, forces, previous=None):
    ...         return Selection(forces.forces, self.name, exact=forces.contains(forces.forces))
    >>> pair = ForceSet.from_arrays([-2.0, 0.0], [[1.0, 1.0]], patches=[[0], [1]], limit=[3.0, 3.0])
    >>> AsGiven().select(pair).exact
    True
    """

    @property
    def name(self) -> str: ...

    def select(self, forces: ForceSet, previous: np.ndarray | None = None) -> Selection: ...


def chosen(forces: ForceSet, values: np.ndarray, rule: str, note: str = "") -> Selection:
    """A selection whose membership is measured."""
    return Selection(values, rule, forces.contains(values, tolerance=MEMBER), note)


def by_force(values: Any, forces: ForceSet, argument: str, default: float) -> np.ndarray:
    """Numbers (r,) for the forces: one for all, one for each, or a mapping from names or beginnings of names.

    In a mapping "A" stands for all forces whose name is "A" or begins with "A "; what is not named gets ``default``.
    """
    if not isinstance(values, dict):
        full = np.asarray(values, dtype=float)
        if full.shape not in ((), (forces.size,)):
            raise InvalidProblem(
                f"{argument} has shape {full.shape}, expected one number, ({forces.size},), or a mapping from names."
            )
        return np.broadcast_to(full, (forces.size,)).copy()
    full = np.full(forces.size, default)
    for key, value in sorted(values.items(), key=lambda item: len(item[0])):
        named = [i for i, name in enumerate(forces.names) if name == key or name.startswith(f"{key} ")]
        full[named] = value
    return full


def positive(value: Any, argument: str) -> None:
    """Refuse numbers that are not positive, given alone, as an array or in a mapping."""
    numbers = np.asarray(list(value.values()) if isinstance(value, dict) else value, dtype=float)
    if not (np.all(np.isfinite(numbers)) and np.all(numbers > 0.0)):
        raise InvalidProblem(f"{argument} is {value!r}; allowed are finite numbers above 0.")
