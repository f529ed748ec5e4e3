"""Algebra of paths: curves of solutions of N equations in N + 1 unknowns, followed to their end.

One predictor-corrector for everything that depends on a parameter: equations bring their residual and derivative, and
functions whose zeros are events.
"""

from klapper.algebra.branch_point import smallest_signed
from klapper.algebra.corrector import Corrector, CurvePoint, Equations, StepRefused, bordered
from klapper.algebra.factors import Factors, Singular, factors
from klapper.algebra.path import (
    BRANCH_POINT,
    FOLD,
    Curve,
    NoCurve,
    SpecialPoint,
    follow_curve,
    joined,
)
from klapper.algebra.span import Span

__all__ = [
    "BRANCH_POINT",
    "FOLD",
    "Corrector",
    "Curve",
    "CurvePoint",
    "Equations",
    "Factors",
    "NoCurve",
    "Singular",
    "Span",
    "SpecialPoint",
    "StepRefused",
    "bordered",
    "factors",
    "follow_curve",
    "joined",
    "smallest_signed",
]
