"""The four segments of a beam with a delamination.

Beam 1 (intact) carries at its end the laminae 2 and 3, and these carry beam 4 (intact). Direction 1 points across the
delamination, direction 2 along its width, direction 3 along the beam:

    y₁ = y₄ = 0,   y₂ = h/2,   y₃ = −(a − h)/2                                        Waltersberger (5.143)–(5.146)

are the distances of the axes from the axis of the intact beam. Masses sit on the axes: no rotary inertia, no torsion.
"""

from __future__ import annotations

from dataclasses import dataclass

SEGMENTS = (1, 2, 3, 4)
LAMINAE = (2, 3)
DIRECTIONS = (1, 2, 3)
PLANES = ("1-3", "2-3")


@dataclass(frozen=True)
class Segment:
    """One Euler–Bernoulli beam, all in SI units.

    ``offset``          y, distance of its axis from that of the intact beam in direction 1
    ``lever``           y as far as it moves the axis lengthwise when the tip turns; 0 if that is neglected
    ``bending``         E I for displacements in directions 1 and 2
    ``axial``           E A
    ``line_mass``       ρ A
    """

    number: int
    length: float
    thickness: float
    offset: float
    lever: float
    bending: tuple[float, float]
    axial: float
    line_mass: float
