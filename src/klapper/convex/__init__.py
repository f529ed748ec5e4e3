"""Convex sets and functions: the language in which contact, friction and impact laws are written.

A set projects points, in the Euclidean or a given metric, and answers from that whether a force and a
velocity obey a set-valued law. A function has a value, a proximal point and a conjugate.
"""

from klapper.convex.ball import Ball, Disc
from klapper.convex.base import ConvexSet
from klapper.convex.box import Box, Interval
from klapper.convex.cone import SecondOrderCone
from klapper.convex.coulomb import CoulombLaw
from klapper.convex.function_algebra import Dilated, Raised, Shifted, Tilted, Weighted
from klapper.convex.functions import ConvexFunction, Indicator, Norm, PowerNorm, Quadratic, SupportFunction
from klapper.convex.orthant import Orthant
from klapper.convex.polygon import RegularPolygon
from klapper.convex.polyhedron import GeneratedCone, HalfSpace, Polyhedron
from klapper.convex.qualification import (
    Qualification,
    constraint_cones,
    linearly_independent,
    mangasarian_fromovitz,
)
from klapper.convex.regularised import (
    MoreauEnvelope,
    PlusQuadratic,
    penalty,
    power_friction,
    saturated_friction,
)
from klapper.convex.signal import PiecewiseSignal
from klapper.convex.transform import Product, Scaled, Translated

__all__ = [
    "Ball",
    "Box",
    "ConvexFunction",
    "ConvexSet",
    "CoulombLaw",
    "Dilated",
    "Disc",
    "GeneratedCone",
    "HalfSpace",
    "Indicator",
    "Interval",
    "MoreauEnvelope",
    "Norm",
    "Orthant",
    "PiecewiseSignal",
    "PlusQuadratic",
    "Polyhedron",
    "PowerNorm",
    "Product",
    "Quadratic",
    "Qualification",
    "Raised",
    "RegularPolygon",
    "Scaled",
    "SecondOrderCone",
    "Shifted",
    "SupportFunction",
    "Tilted",
    "Translated",
    "Weighted",
    "constraint_cones",
    "linearly_independent",
    "mangasarian_fromovitz",
    "penalty",
    "power_friction",
    "saturated_friction",
]
