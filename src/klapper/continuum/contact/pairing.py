"""Which parts touch which, frozen for the equations of a step, with the gaps and slips that follow.

Interfaces pair the nodes of one surface with parts of another at some configuration. Gaps and slips of a pairing are
smooth functions of all positions; after the equations of a step are solved, the pairing is looked up again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sparse


class Gaps(Protocol):
    """k gaps or slips as functions of all coordinates q (n,).

    ``push`` is a discrete gradient: push · Δq = value(after) − start, start = value(before) if not given. Derivatives
    that vanish are None.
    """

    def value(self, q: np.ndarray) -> np.ndarray: ...

    def slope(self, q: np.ndarray) -> sparse.csc_array: ...

    def hessian(self, q: np.ndarray, factor: np.ndarray) -> sparse.csr_array | None: ...

    def push(
        self, before: np.ndarray, after: np.ndarray, start: np.ndarray | None = None
    ) -> sparse.csc_array: ...

    def push_slope(
        self, before: np.ndarray, after: np.ndarray, factor: np.ndarray, start: np.ndarray | None = None
    ) -> sparse.csr_array | None: ...


@dataclass(frozen=True, eq=False)
class PairedNodes:
    """What one interface has paired.

    ``which``   contacts (k,) by their numbers in the system, rising: columns of ``gap`` and ``slip``
    ``gap``     their gaps [m]; ``slip`` their slips [m], None without friction
    ``key``     says which parts are paired: two pairings with equal keys have the same gaps
    """

    which: np.ndarray
    gap: Gaps
    slip: Gaps | None
    key: np.ndarray


@dataclass(frozen=True, eq=False)
class Pairing:
    """Everything that is paired in a system, interface by interface.

    ``friction``  μ (k,) of the contacts; ``held`` (k,) where surfaces never part
    ``rate``      given part of the sliding velocity (k,) [m/s], e.g. of a belt
    """

    parts: Sequence[PairedNodes]
    friction: np.ndarray
    held: np.ndarray
    rate: np.ndarray

    @cached_property
    def which(self) -> np.ndarray:
        return np.concatenate([np.zeros(0, dtype=np.int64), *(part.which for part in self.parts)])

    @cached_property
    def key(self) -> bytes:
        return b"|".join(part.key.tobytes() for part in self.parts)

    def same(self, other: Pairing) -> bool:
        return self.key == other.key

    def gaps(self, q: np.ndarray) -> np.ndarray:
        """(k,) [m]."""
        return np.concatenate([np.zeros(0), *(part.gap.value(q) for part in self.parts)])

    def slope(self, q: np.ndarray) -> sparse.csc_array:
        """∂g/∂q (n, k)."""
        return _side_by_side([part.gap.slope(q) for part in self.parts], len(q))

    def hessian(self, q: np.ndarray, force: np.ndarray) -> Any:
        """Σ force_k ∂²g_k/∂q² (n, n)."""
        return self._matrix(lambda part, f: part.gap.hessian(q, f), force, len(q))

    def push(self, before: np.ndarray, after: np.ndarray, start: np.ndarray) -> sparse.csc_array:
        """∇̄g (n, k) with ∇̄g · Δq = g(after) − start."""
        parts = [
            part.gap.push(before, after, begin)
            for part, begin in zip(self.parts, self._split(start), strict=True)
        ]
        return _side_by_side(parts, len(after))

    def push_slope(self, before: np.ndarray, after: np.ndarray, force: np.ndarray, start: np.ndarray) -> Any:
        begins = iter(self._split(start))
        return self._matrix(
            lambda part, f: part.gap.push_slope(before, after, f, next(begins)), force, len(after)
        )

    def slipped(self, before: np.ndarray, after: np.ndarray) -> np.ndarray:
        """Slip (k,) [m] from one configuration to another; 0 without friction."""
        return np.concatenate(
            [
                np.zeros(0),
                *(
                    np.zeros(len(part.which))
                    if part.slip is None
                    else part.slip.value(after) - part.slip.value(before)
                    for part in self.parts
                ),
            ]
        )

    def slip_slope(self, before: np.ndarray, after: np.ndarray) -> sparse.csc_array:
        """Derivative (n, k) of the slip by the second configuration."""
        size = len(after)
        return _side_by_side(
            [self._of_slip(part, lambda s: s.slope(after), size) for part in self.parts], size
        )

    def slip_hessian(self, before: np.ndarray, after: np.ndarray, force: np.ndarray) -> Any:
        """Σ force_k ∂²slip_k/∂after² (n, n)."""
        return self._matrix(
            lambda part, f: None if part.slip is None else part.slip.hessian(after, f), force, len(after)
        )

    def slip_push(self, before: np.ndarray, after: np.ndarray) -> sparse.csc_array:
        """∇̄s (n, k) with ∇̄s · Δq = the slip, so that friction does exactly the work force · slip."""
        return _side_by_side(
            [self._of_slip(part, lambda s: s.push(before, after), len(after)) for part in self.parts],
            len(after),
        )

    def slip_push_slope(self, before: np.ndarray, after: np.ndarray, force: np.ndarray) -> Any:
        return self._matrix(
            lambda part, f: None if part.slip is None else part.slip.push_slope(before, after, f),
            force,
            len(after),
        )

    def _split(self, values: np.ndarray) -> list[np.ndarray]:
        cuts = np.cumsum([len(part.which) for part in self.parts])[:-1]
        return np.split(values, cuts) if self.parts else []

    @staticmethod
    def _of_slip(part: PairedNodes, ask: Any, size: int) -> Any:
        return sparse.csc_array((size, len(part.which))) if part.slip is None else ask(part.slip)

    def _matrix(self, ask: Any, force: np.ndarray, size: int) -> Any:
        total: Any = None
        for part, mine in zip(self.parts, self._split(force), strict=True):
            found = ask(part, mine)
            if found is not None:
                total = found if total is None else total + found
        return sparse.csr_array((size, size)) if total is None else total


def _side_by_side(parts: Sequence[PairedNodes], size: int) -> sparse.csc_array:
    return sparse.hstack([sparse.csc_array((size, 0)), *parts], format="csc")
