"""What a motion keeps: energy, momentum and angular momentum, step by step against a tolerance.

    kept  ⇔  largest change in a step ≤ tolerance · size of the terms that the quantity is the sum of

Energy counts what loads put in and what damping, friction and impacts take out, so that only the scheme can change it.
Momenta are those of the bodies; where something pushes from outside they are not expected to stay, and it is said what.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from klapper.results.tables import aligned, number


@dataclass(frozen=True, eq=False)
class Conserved:
    """One quantity over the s samples of a run.

    ``name``, ``unit``     e.g. "momentum", "kg m/s"
    ``size``               of the terms that it is the sum of, in its unit
    ``per_step``           largest change in a step, in its unit
    ``since_start``        largest change since the start, in its unit
    ``tolerance``          of the change in a step, in units of ``size``
    ``changed_by``         what changes it rightly, e.g. ("supports",); empty: it should be kept
    ``history``            (s, k) of its k components in its unit, None if the run was read from a file

    >>> import numpy as np
    >>> from klapper.results import Conserved
    >>> history = np.array([[6.0], [6.0], [5.0]])  # kg m/s, lost in the last step
    >>> lost = Conserved.of("momentum", "kg m/s", history, np.arange(3), size=6.0, tolerance=1e-10)
    >>> lost.kept, lost.per_step
    (False, 1.0)
    """

    name: str
    unit: str
    size: float
    per_step: float
    since_start: float
    tolerance: float
    changed_by: tuple[str, ...] = ()
    history: np.ndarray | None = field(default=None, repr=False)

    @classmethod
    def of(
        cls,
        name: str,
        unit: str,
        history: np.ndarray,
        step: np.ndarray,
        *,
        size: float,
        tolerance: float,
        changed_by: Sequence[str] = (),
    ) -> Conserved:
        """From values (s, k) at samples with step numbers (s,)."""
        steps = np.maximum(np.diff(step), 1)[:, None]
        per_step = float(np.max(np.abs(np.diff(history, axis=0)) / steps, initial=0.0))
        since = float(np.max(np.abs(history - history[:1]), initial=0.0))
        return cls(name, unit, size, per_step, since, tolerance, tuple(changed_by), history)

    @property
    def kept(self) -> bool:
        """Whether no step changes it by more than the tolerance."""
        return self.per_step <= self.tolerance * self.size

    @property
    def verdict(self) -> str:
        """In words."""
        change = f"at most {self.per_step:.1e} {self.unit} per step, {self.since_start:.1e} since the start"
        if self.kept:
            return f"kept: {change}"
        if self.changed_by:
            return f"not expected to be kept ({', '.join(self.changed_by)}): {change}"
        return f"not kept: {change}"

    def plain(self) -> dict[str, Any]:
        """Everything but the history, in the types of JSON."""
        return {
            "unit": self.unit,
            "size": self.size,
            "per_step": self.per_step,
            "since_start": self.since_start,
            "tolerance": self.tolerance,
            "changed_by": list(self.changed_by),
        }


@dataclass(frozen=True, eq=False)
class Conservation:
    """The quantities that a motion may keep, by name: "energy", "momentum", "angular momentum".

    One is made by :func:`klapper.conservation.conservation`, and by every run of a system that knows its momenta.

    >>> import numpy as np
    >>> from klapper.results import Conservation, Conserved
    >>> energy = Conserved.of("energy", "J", np.array([[5.0], [5.0]]), np.arange(2), size=5.0, tolerance=1e-10)
    >>> Conservation({"energy": energy}).matrix
    {'energy': True}
    """

    quantities: Mapping[str, Conserved]

    def __getitem__(self, name: str) -> Conserved:
        return self.quantities[name]

    @property
    def matrix(self) -> dict[str, bool]:
        """Which quantities are kept."""
        return {name: each.kept for name, each in self.quantities.items()}

    @property
    def verdicts(self) -> dict[str, str]:
        """One line for each."""
        return {name: each.verdict for name, each in self.quantities.items()}

    def table(self) -> str:
        """Sizes, changes and verdicts as text."""
        header = ["quantity", "size", "per step", "since start", "allowed", "kept"]
        rows = [
            [
                f"{each.name} / {each.unit}",
                *(
                    number(x)
                    for x in (each.size, each.per_step, each.since_start, each.tolerance * each.size)
                ),
                _word(each),
            ]
            for each in self.quantities.values()
        ]
        return "\n".join(aligned(header, rows))

    def __str__(self) -> str:
        return self.table()

    def plain(self) -> dict[str, Any]:
        return {name: each.plain() for name, each in self.quantities.items()}

    @classmethod
    def read(cls, stored: Mapping[str, Mapping[str, Any]]) -> Conservation:
        """What :meth:`plain` gave, without histories."""
        return cls(
            {
                name: Conserved(name, **{**each, "changed_by": tuple(each["changed_by"])})
                for name, each in stored.items()
            }
        )


def _word(each: Conserved) -> str:
    if each.kept:
        return "yes"
    return f"no ({', '.join(each.changed_by)})" if each.changed_by else "no"
