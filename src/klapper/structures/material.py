"""Linear elastic materials of beams and bars."""

from __future__ import annotations

from dataclasses import dataclass

from klapper.mechanics import InvalidModel
from klapper.mechanics.arguments import number


@dataclass(frozen=True)
class Material:
    """What a structure is made of.

    ``young`` E [N/m²], ``density`` ρ [kg/m³], and ``shear`` G [N/m²], needed where shear or torsion deform.

    G = E/(2 (1 + ν)):

    >>> Material.isotropic(208e9, 0.3, 7850.0).shear / 1e9
    80.0
    """

    young: float
    density: float
    shear: float | None = None

    def __post_init__(self) -> None:
        number(self.young, "young", "numbers above 0, in N/m²", above=0.0)
        number(self.density, "density", "numbers above 0, in kg/m³", above=0.0)
        if self.shear is not None:
            number(self.shear, "shear", "numbers above 0, in N/m², or None", above=0.0)

    @classmethod
    def isotropic(cls, young: float, poisson: float, density: float) -> Material:
        """G = E / (2 (1 + ν))."""
        if not -1.0 < poisson <= 0.5:
            raise InvalidModel(f"poisson is {poisson}; allowed are numbers above −1, up to 0.5.")
        return cls(young, density, young / (2 * (1 + poisson)))

    def shear_modulus(self, purpose: str) -> float:
        """G [N/m²], refused with the purpose if it was not given."""
        if self.shear is None:
            raise InvalidModel(
                f"the material has no shear modulus, but {purpose} needs one; give Material(shear=…)."
            )
        return self.shear
