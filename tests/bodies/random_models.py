"""Random models of bodies with every kind of part, for comparisons of two ways to compute the same.

Nothing about them is sensible mechanics: parts overlap, joints do not fit, walls come and go.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from klapper.bodies import Planar, RigidSystem, Spatial, turned
from klapper.mechanics import Anisotropic, Coulomb, ExponentialFriction, Harmonic, Ramp, Stribeck
from klapper.mechanics.signals import Constant, Signal


def random_model(seed: int) -> RigidSystem:
    """Planar if the seed is even; every third model lacks a kind of part."""
    return _Workshop(2 + seed % 2, np.random.default_rng(seed)).system()


class _Workshop:
    def __init__(self, dimension: int, draw: np.random.Generator) -> None:
        self.d, self.draw = dimension, draw
        self.model: Any = (Planar if dimension == 2 else Spatial)(gravity=self.vector())
        self.bodies = [self.body(f"body {i}") for i in range(draw.integers(1, 5))]
        self.turning = [body for body in self.bodies if body.rotates]
        self.walls = [self.wall(f"wall {i}") for i in range(draw.integers(1, 4))]

    def system(self) -> RigidSystem:
        for part in (
            self.contact,
            self.clearance,
            self.search,
            self.spring,
            self.torsion,
            self.load,
            self.joint,
        ):
            for i in range(self.draw.integers(0, 4)):
                part(f"{part.__name__} {i}")
        return self.model.build(time=self.number(0.0, 1.0), penetration=1e9)

    def number(self, low: float = 0.1, high: float = 2.0) -> float:
        return float(self.draw.uniform(low, high))

    def vector(self, size: float = 1.0) -> np.ndarray:
        return size * self.draw.standard_normal(self.d)

    def one_of(self, *choices: Any) -> Any:
        return choices[self.draw.integers(len(choices))]

    def signal(self, shape: tuple[int, ...]) -> Signal:
        first, second = self.draw.standard_normal((2, *shape))
        return self.one_of(
            Constant(first),
            Harmonic(first, self.number(), self.number()),
            Ramp(first, second),
            Harmonic(first, self.number()) + Ramp(second, first) + second,
        )

    def friction(self) -> Any:
        laws = [
            0.0,
            Coulomb(self.number()),
            Stribeck(self.number(), self.number(), self.number(), self.number()),
            ExponentialFriction(self.number(), self.number(), self.number(), self.number(), self.number()),
        ]
        if self.d == 3:
            laws.append(Anisotropic(self.number(), self.number()))
        return self.one_of(*laws)

    def body(self, name: str) -> Any:
        if self.number() < 0.6:
            return self.model.particle(name, mass=self.number(), at=self.vector(), velocity=self.vector())
        if self.d == 2:
            return self.model.body(
                name,
                mass=self.number(),
                inertia=self.number(),
                at=self.vector(),
                angle=self.number(-4.0, 4.0),
                velocity=self.vector(),
                spin=self.number(-2.0, 2.0),
            )
        inertia = self.one_of(self.number(), self.draw.uniform(1.0, 1.9, 3))
        return self.model.body(
            name,
            mass=self.number(),
            inertia=inertia,
            at=self.vector(),
            orientation=turned(self.vector(), self.number(-4.0, 4.0)),
            velocity=self.vector(),
            spin=self.vector(),
        )

    def wall(self, name: str) -> Any:
        normal = self.vector()
        sliding = None
        if self.number() > 1.0:
            along = self.vector()
            along -= normal * (along @ normal) / (normal @ normal)
            sliding = self.one_of(Ramp(along, 0.3 * along), Harmonic(along, self.number()), Constant(along))
        motion = self.signal(()) if self.number() > 1.0 else None
        return self.model.wall(name, point=self.vector(), normal=normal, motion=motion, sliding=sliding)

    def pair(self) -> tuple[Any, Any]:
        """A body, and another or the ground."""
        first = self.one_of(*self.bodies)
        return first, self.one_of(self.model.ground, *(b for b in self.bodies if b is not first))

    def ball(self, body: Any, name: str | None = None, low: float = 0.1) -> Any:
        place = self.one_of(None, self.vector())
        return (body.disc if self.d == 2 else body.sphere)(self.number(low, 1.0), at=place, name=name)

    def contact(self, name: str) -> None:
        first, second = self.pair()
        law = {"friction": self.friction(), "restitution": self.number(0.0, 1.0), "name": name}
        shapes = [self.one_of(*self.walls), self.ball(second)]
        if second is not self.model.ground:
            shapes.append(second.wall(self.vector(), self.vector()))
        shape = self.one_of(*shapes)
        if self.number() > 1.5:
            self.model.contact(first.corners(*self.draw.uniform(0.1, 1.0, self.d)), shape, **law)
        else:
            self.model.contact(self.one_of(self.ball(first), first.point(self.vector())), shape, **law)

    def clearance(self, name: str) -> None:
        first, second = self.pair()
        hollow = (second.ring if self.d == 2 else second.shell)(self.number(1.5, 3.0), at=self.vector())
        self.model.clearance(
            self.ball(first, low=0.0), hollow, friction=self.friction(), restitution=0.3, name=name
        )

    def search(self, name: str) -> None:
        balls = [
            self.ball(self.one_of(*self.bodies), f"{name} ball {i}") for i in range(self.draw.integers(1, 9))
        ]
        balls = list({(ball.body, ball.radius): ball for ball in balls}.values())
        walls = self.walls[: self.draw.integers(len(self.walls) + 1)]
        self.model.search(
            balls,
            walls,
            friction=self.friction(),
            wall_friction=self.friction(),
            restitution=self.number(0.0, 1.0),
            margin=self.one_of(None, self.number()),
        )

    def point(self, body: Any) -> Any:
        if body is self.model.ground and self.number() > 1.0:
            return body.point(self.vector(), motion=self.signal((self.d,)))
        return body.point(self.vector())

    def spring(self, name: str) -> None:
        first, second = (self.point(body) for body in self.pair())
        if self.number() > 1.0:
            self.model.spring(
                first,
                second,
                stiffness=self.number(),
                length=self.one_of(None, 0.0, self.number()),
                damping=self.one_of(0.0, self.number()),
                name=name,
            )
        else:
            self.model.damper(second, first, damping=self.number(), name=name)

    def turning_pair(self) -> tuple[Any, Any] | None:
        if not self.turning:
            return None
        first = self.one_of(*self.turning)
        return first, self.one_of(self.model.ground, *(b for b in self.turning if b is not first))

    def axis(self) -> dict[str, Any]:
        return {"axis": self.vector()} if self.d == 3 else {}

    def torsion(self, name: str) -> None:
        pair = self.turning_pair()
        if pair is not None:
            first, second = pair if self.number() > 1.0 else pair[::-1]
            self.model.torsion_spring(
                first,
                second,
                stiffness=self.one_of(0.0, self.number()),
                angle=self.number(),
                damping=self.one_of(0.0, self.number()),
                name=name,
                **self.axis(),
            )

    def load(self, name: str) -> None:
        self.model.force(self.one_of(*self.bodies).point(self.vector()), self.signal((self.d,)), name=name)
        if self.turning and self.number() > 1.0:
            self.model.moment(
                self.one_of(*self.turning), self.signal(() if self.d == 2 else (3,)), name=f"{name} turn"
            )

    def joint(self, name: str) -> None:
        model, (first, second) = self.model, self.pair()
        a, b = self.point(first), self.point(second)
        if self.number() > 1.0:
            a, b, first, second = b, a, second, first
        kind = self.one_of("pin", "hinge", "slot", "slider", "weld", "rod", "motor")
        if kind == "pin":
            (model.hinge if self.d == 2 else model.ball_joint)(a, b, name=name)
        elif kind == "hinge":
            model.hinge(a, b, name=name, **self.axis())
        elif kind in ("slot", "slider"):
            getattr(model, kind)(a, b, along=self.vector(), name=name)
        elif kind == "weld":
            model.weld(first, second, name=name)
        elif kind == "rod":
            model.rod(a, b, length=self.number(), name=name)
        else:
            pair = self.turning_pair()
            if pair is not None:
                model.motor(*pair, angle=self.signal(()), name=name, **self.axis())
