"""What a scheme keeps from one step to the next to be faster: it belongs to the computation, not to the scheme.

A scheme is immutable. Factors and equations that serve several steps are kept here, by name, as long as the objects
that they were made from are the same; a step with a fresh ``Work`` gives the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class StepIterations:
    """Of one step: ``counts`` (4,) of rounds, normal and tangential iterations and reductions of r, and the ``case`` of
    its friction, empty where there is none."""

    counts: np.ndarray
    case: str


@dataclass(eq=False)
class Work:
    """What one computation keeps for its scheme; whoever steps in a loop makes one and hands it to every step.

    ``iterations``  of the last step, by schemes that tell them

    >>> from klapper.mechanics import LinearSystem
    >>> from klapper.schemes import Moreau, Work
    >>> ball, scheme, work = LinearSystem([1.0], force=[-10.0]), Moreau(0.1), Work()
    >>> snapshot = scheme.init(ball)
    >>> for _ in range(3):
    ...     snapshot = scheme.step(ball, snapshot, work=work).after
    >>> snapshot.velocity.round(9)
    array([-3.])
    """

    iterations: StepIterations | None = None
    _kept: dict[str, tuple[tuple[Any, ...], Any]] = field(default_factory=dict, init=False, repr=False)

    def kept(
        self,
        name: str,
        made_from: tuple[Any, ...],
        make: Callable[[], T],
        same: Callable[[Any, Any], bool] = lambda a, b: a is b,
    ) -> T:
        """What was made last under this name if it was made from the same things, else a new one."""
        known = self._kept.get(name)
        if known is not None and all(same(a, b) for a, b in zip(known[0], made_from, strict=True)):
            return known[1]  # type: ignore[no-any-return]
        made = make()
        self._kept[name] = (made_from, made)
        return made
