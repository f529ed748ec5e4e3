"""Systems that several tests of harmonic balance take."""

from typing import Any

import numpy as np

from klapper.mechanics import (
    Anisotropic,
    Constant,
    Constraint,
    Contact,
    FrictionElement,
    Harmonic,
    LinearSystem,
)

STIFFNESS = np.array([[3.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 2.0]])
SKEW = np.array([[0.0, 0.3, 0.0], [-0.3, 0.0, 0.1], [0.0, -0.1, 0.0]])


def chain(omega: float = 1.3, **parts: Any) -> LinearSystem:
    """Three masses on springs with proportional damping, driven at ω [rad/s]."""
    given: dict[str, Any] = {
        "stiffness": STIFFNESS,
        "damping": 0.05 * STIFFNESS,
        "force": Harmonic([1.0, 0.0, 0.5], omega),
    }
    return LinearSystem([1.0, 1.0, 1.0], **(given | parts))


def oscillator(omega: float, limit: float, damping: float = 0.0) -> LinearSystem:
    """A unit mass on a unit spring with dry friction, driven by a unit force."""
    return LinearSystem(
        [1.0],
        stiffness=[1.0],
        damping=[damping] if damping else None,
        force=Harmonic([1.0], omega),
        contacts=[FrictionElement("pad", tangents=[[1.0]], limit=limit)],
        coordinates=["x"],
    )


def impact_oscillator(
    omega: float, gap: float, damping: float, force: float = 1.0, restitution: float = 1.0
) -> LinearSystem:
    """A unit mass on a unit spring in front of a stop."""
    stop = Contact("stop", normal=[-1.0], gap=gap, restitution=restitution)
    return LinearSystem(
        [1.0],
        stiffness=[1.0],
        damping=[damping],
        force=Harmonic([force], omega),
        contacts=[stop],
        coordinates=["x"],
    )


def pad(preload: float, friction: float = 0.3, **parts: Any) -> LinearSystem:
    """A structure pressed by a ``preload`` [N] on a rough ground through springs, driven along and across it."""
    stiffness = np.array(
        [[3.0, 0.3, -2.0, 0.0], [0.3, 7.0, 0.0, -3.0], [-2.0, 0.0, 2.0, 0.0], [0.0, -3.0, 0.0, 3.0]]
    )
    contact = Contact("ground", normal=[0, 0, 0, 1.0], tangents=[[0, 0, 1.0, 0]], friction=friction)
    given: dict[str, Any] = {
        "stiffness": stiffness,
        "damping": 0.02 * stiffness,
        "force": Constant([0, 0, 0, -preload]) + Harmonic([0.5, 0.2, 0.0, 0.0], 1.0),
        "contacts": [contact],
        "coordinates": ["along", "across", "foot along", "foot across"],
    }
    return LinearSystem([1.0, 1.0, 0.02, 0.02], **(given | parts))


def every_kind() -> dict[str, LinearSystem]:
    """Chains with contacts of every kind that harmonic balance takes."""
    rough = {"tangents": [[1.0, 0, 0], [0, 0, 1.0]]}
    moving = Constant(0.1) + Harmonic(0.05, 1.3)
    guided = Constraint("guide", direction=[1.0, 1, 1], offset=Harmonic(0.1, 2.6, -np.pi / 2))
    return {
        "friction element": chain(contacts=[FrictionElement("f", tangents=[[0, 1.0, 0]], limit=0.5)]),
        "stop": chain(contacts=[Contact("n", normal=[0, 1.0, 0], gap=0.2)]),
        "rough stop": chain(
            contacts=[
                Contact("n", normal=[0, 1.0, 0], gap=0.1, tangents=[[1.0, 0, 0]], friction=0.4, limit=0.1)
            ]
        ),
        "friction in a plane": chain(
            contacts=[Contact("n", normal=[0, 1.0, 0], gap=0.1, friction=0.4, **rough)]
        ),
        "moving stop, belt and patch": chain(
            contacts=[
                Contact(
                    "n",
                    normal=[0, 1.0, 0],
                    gap=moving,
                    tangential_rate=[0.3, 0.1],
                    friction=Anisotropic(0.4, 0.2),
                    **rough,
                ),
                FrictionElement("f", tangents=[[1.0, 1, 0]], limit=0.3, shares={"n": 0.2}),
            ]
        ),
        "unsymmetric and guided": chain(
            gyroscopic=SKEW,
            circulatory=0.1 * SKEW,
            constraints=[guided],
            contacts=[
                FrictionElement(
                    "f", tangents=[[0, 1.0, 0], [1.0, 0, 0]], limit=0.5, tangential_rate=[0.4, 0.0]
                )
            ],
        ),
    }
