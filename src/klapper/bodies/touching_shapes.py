"""Which shapes of bodies may touch, and as what: a ball, and a ball or a wall.

A point touches as a ball of radius zero. At most one of two shapes is a wall, and it comes second. What is held inside
a ring or shell has play; everything else touches from outside.
"""

from __future__ import annotations

from typing import Any

from klapper.bodies.shapes import Ball, Point, Wall
from klapper.mechanics.errors import InvalidModel


def as_ball(where: str, shape: Any, dimension: int) -> Ball:
    """A shape of a body as a ball; other shapes are refused, with ``where`` they were given."""
    if isinstance(shape, Point):
        if shape.motion is not None:
            raise InvalidModel(f"{where}: a point that is moved cannot touch; use a wall with motion.")
        return Ball(shape.label, shape.body, shape.place, 0.0, shape.model)
    if not isinstance(shape, Ball):
        kinds = "disc" if dimension == 2 else "sphere"
        label = getattr(shape, "label", getattr(shape, "name", shape))
        raise InvalidModel(
            f"{where}: '{label}' cannot touch here; give a {kinds}, a point or corners of a body."
        )
    return shape


def from_outside(where: str, a: Any, b: Any, dimension: int) -> tuple[Ball, Ball | Wall]:
    """Two shapes that touch from outside, in either order."""
    if isinstance(a, Wall) and isinstance(b, Wall):
        raise InvalidModel(f"{where}: two walls cannot touch each other; give points or balls of one body.")
    if isinstance(a, Wall):
        a, b = b, a
    ball = as_ball(where, a, dimension)
    other = b if isinstance(b, Wall) else as_ball(where, b, dimension)
    for shape in (ball, other):
        if isinstance(shape, Ball) and shape.radius < 0.0:
            raise InvalidModel(
                f"{where}: '{shape.label}' is hollow; use model.clearance for what is inside it."
            )
    if isinstance(other, Ball) and ball.radius == 0.0 and other.radius == 0.0:
        raise InvalidModel(f"{where}: two points have no normal direction; give one of them a radius.")
    return ball, other


def with_play(where: str, inner: Any, outer: Any, dimension: int) -> tuple[Ball, Ball]:
    """A disc or sphere, and the ring or shell that holds it."""
    ball, hollow = as_ball(where, inner, dimension), as_ball(where, outer, dimension)
    if ball.radius < 0.0 or hollow.radius >= 0.0:
        raise InvalidModel(f"{where}: give a disc or sphere first, then the ring or shell that holds it.")
    if ball.radius > -hollow.radius:
        raise InvalidModel(
            f"{where}: the radius inside is {ball.radius:g} m and the one outside {-hollow.radius:g} m; the inner "
            f"one must not be the larger."
        )
    return ball, hollow
