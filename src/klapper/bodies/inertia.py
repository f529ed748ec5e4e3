"""Moments of inertia [kg m²] of homogeneous bodies about their centre of mass; masses in kg, lengths in m.

In the plane one number, in space three principal moments. They go into ``Planar.body(inertia=…)`` and
``Spatial.body(inertia=…)``.

>>> disc(2.0, 0.5), rod(12.0, 1.0), sphere(10.0, 0.5)
(0.25, 1.0, (1.0, 1.0, 1.0))
"""

from __future__ import annotations


def disc(mass: float, radius: float) -> float:
    """A full disc in the plane: ½ m r²."""
    return 0.5 * mass * radius**2


def ring(mass: float, radius: float) -> float:
    """A thin ring in the plane: m r²."""
    return mass * radius**2


def rectangle(mass: float, width: float, height: float) -> float:
    """A rectangle in the plane: m (w² + h²)/12."""
    return mass * (width**2 + height**2) / 12.0


def rod(mass: float, length: float) -> float:
    """A thin rod in the plane: m l²/12."""
    return mass * length**2 / 12.0


def sphere(mass: float, radius: float) -> tuple[float, float, float]:
    """A full sphere: ⅖ m r² about every axis."""
    return (0.4 * mass * radius**2,) * 3


def box(mass: float, length: float, width: float, height: float) -> tuple[float, float, float]:
    """A full box with its edges along the axes.

    >>> box(12.0, 1.0, 2.0, 3.0)
    (13.0, 10.0, 5.0)
    """
    return (
        mass * (width**2 + height**2) / 12.0,
        mass * (length**2 + height**2) / 12.0,
        mass * (length**2 + width**2) / 12.0,
    )


def cylinder(mass: float, radius: float, height: float) -> tuple[float, float, float]:
    """A full cylinder along the third axis."""
    across = mass * (3.0 * radius**2 + height**2) / 12.0
    return across, across, 0.5 * mass * radius**2
