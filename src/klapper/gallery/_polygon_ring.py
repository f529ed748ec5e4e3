"""Area and polar moment of area of a ring as it is meshed: what rigid motions of it are checked against."""

from math import cos, pi, sin


def polygon_ring(radii: tuple[float, float], corners: int) -> tuple[float, float]:
    """Area [m²] and polar moment of area [m⁴] between two regular polygons: those of one are A = N R² sin(2π/N)/2 and
    A R² (2 + cos(2π/N))/6."""
    angle = 2.0 * pi / corners
    areas = [0.5 * corners * radius**2 * sin(angle) for radius in radii]
    moments = [area * radius**2 * (2.0 + cos(angle)) / 6.0 for area, radius in zip(areas, radii, strict=True)]
    return areas[1] - areas[0], moments[1] - moments[0]
