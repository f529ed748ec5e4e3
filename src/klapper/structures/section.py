"""Cross-sections of beams and bars.

Bending in the plane of the deflection w has the second moment I and the effective shear area A_S = A/κ_S (Waltersberger
uses κ_S, the inverse of the usual shear correction factor). In space, ``lateral`` values belong to the deflection v
perpendicular to it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from klapper.mechanics import InvalidModel
from klapper.mechanics.arguments import number


@dataclass(frozen=True)
class Section:
    """A cross-section of beams and frames.

    ``area`` A [m²], ``second_moment`` I [m⁴], ``shear_area`` A_S [m²]; in space also the lateral values and torsion.

    ``lateral_second_moment``, ``lateral_shear_area``   [m⁴], [m²] of the deflection v perpendicular to w
    ``torsion_constant``                                J [m⁴], torsional stiffness G J

    A rectangle has A = b h, I = b h³/12 and A_S = 5/6 A:

    >>> beam = Section.rectangle(height=0.2, width=0.3)
    >>> round(beam.area, 9), round(beam.second_moment, 9)
    (0.06, 0.0002)
    """

    area: float
    second_moment: float
    shear_area: float | None = None
    lateral_second_moment: float | None = None
    lateral_shear_area: float | None = None
    torsion_constant: float | None = None

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            if value is not None or name in ("area", "second_moment"):
                number(value, name, "numbers above 0", above=0.0)

    @classmethod
    def rectangle(cls, height: float, width: float) -> Section:
        """``height`` [m] in the direction of the deflection w, ``width`` [m] across; κ_S = 6/5."""
        number(height, "height", "numbers above 0, in m", above=0.0)
        number(width, "width", "numbers above 0, in m", above=0.0)
        area = height * width
        return cls(
            area,
            width * height**3 / 12,
            area / 1.2,
            height * width**3 / 12,
            area / 1.2,
            _rectangle_torsion(max(height, width), min(height, width)),
        )

    @classmethod
    def circle(cls, diameter: float) -> Section:
        """Full circle of this ``diameter`` [m]; κ_S = 10/9."""
        number(diameter, "diameter", "numbers above 0, in m", above=0.0)
        area, inertia = np.pi * diameter**2 / 4, np.pi * diameter**4 / 64
        return cls(area, inertia, 0.9 * area, inertia, 0.9 * area, 2 * inertia)

    @property
    def polar_second_moment(self) -> float:
        """I + I_lateral [m⁴], the inertia of torsion."""
        return self.second_moment + self.required("lateral_second_moment", "torsion")

    def required(self, name: str, purpose: str) -> float:
        """The value of this name, refused with the purpose if it was not given."""
        value = getattr(self, name)
        if value is None:
            raise InvalidModel(f"the section has no {name}, but {purpose} needs one; give Section({name}=…).")
        return value


def _rectangle_torsion(long: float, short: float) -> float:
    """J of a rectangle, Saint-Venant's series."""
    n = np.arange(1, 40, 2)
    series = np.sum(np.tanh(n * np.pi * long / (2 * short)) / n**5.0)
    return float(long * short**3 / 3 * (1 - 192 / np.pi**5 * short / long * series))
