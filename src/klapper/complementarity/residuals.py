"""Dimensionless measures of how well a point satisfies a complementarity problem.

They are computed from the problem's data alone and are therefore the same whatever solver produced the point. A value
of 1e-9 reads: the point is an exact solution of a problem whose data differ by about one part in 10⁹.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

AMPLIFICATION = 1e4
"""Terms of a row count at most as this multiple of the load when a violation is judged against them."""


@dataclass(frozen=True, slots=True)
class Residuals:
    """Five residuals, all dimensionless and non-negative; those that a problem does not have are zero.

    ``complementarity``  product of each complementary pair, relative to its scales
    ``natural_map``      distance to the fixed point x = prox(x − y) in scaled variables
    ``feasibility``      violated inequality or equality
    ``cone_violation``   tangential force outside its friction disc or polygon
    ``dissipation_gap``  shortfall from the maximum of dissipated power

    At x = 1 the row 2 x − 4 is violated by 2, of terms that add up to 2 + 4 = 6:

    >>> from klapper.complementarity import LinearComplementarity
    >>> found = LinearComplementarity([[2.0]], [-4.0]).residuals([1.0])
    >>> round(found.feasibility, 12), found.cone_violation, found.worst_name
    (0.333333333333, 0.0, 'natural map')
    """

    complementarity: float = 0.0
    natural_map: float = 0.0
    feasibility: float = 0.0
    cone_violation: float = 0.0
    dissipation_gap: float = 0.0

    @property
    def worst(self) -> float:
        """The largest of the five (nan if any of them is not a number)."""
        values = [getattr(self, field.name) for field in fields(self)]
        return max(values) if all(value == value for value in values) else float("nan")

    @property
    def worst_name(self) -> str:
        """Which of the five is the largest, in words."""
        name = max(fields(self), key=lambda field: getattr(self, field.name)).name
        return name.replace("_", " ")

    def as_dict(self) -> dict[str, float]:
        return {field.name: float(getattr(self, field.name)) for field in fields(self)}
