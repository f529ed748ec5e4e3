"""A uniform bar with linear elements, whose waves, statics and frequencies are known in closed form."""

from typing import Any

import numpy as np

from klapper.mechanics import Contact, LinearSystem


def matrices(elements: int) -> tuple[np.ndarray, np.ndarray]:
    """Mass and stiffness of a free bar of unit length, mass and stiffness EA."""
    n, size = elements + 1, 1.0 / elements
    stiffness = (np.diag(np.full(n, 2.0)) - np.eye(n, k=1) - np.eye(n, k=-1)) / size
    mass = size * (np.diag(np.full(n, 4.0)) + np.eye(n, k=1) + np.eye(n, k=-1)) / 6.0
    stiffness[[0, -1], [0, -1]] /= 2.0
    mass[[0, -1], [0, -1]] /= 2.0
    return mass, stiffness


def bar(
    elements: int = 40,
    *,
    held: bool = True,
    stop: float = 1e-3,
    force: Any = None,
    restitution: float = 0.0,
    rayleigh: tuple[float, float] = (0.0, 0.0),
    **more: Any,
) -> LinearSystem:
    """The bar, held at its left end or free, with a stop at its right one; ``force`` acts on the middle node."""
    mass, stiffness = matrices(elements)
    keep = slice(1 if held else 0, None)
    mass, stiffness = mass[keep, keep], stiffness[keep, keep]
    n = len(mass)
    more.setdefault("contacts", [Contact("stop", normal=-np.eye(n)[-1], gap=stop, restitution=restitution)])
    return LinearSystem(
        mass,
        stiffness=stiffness,
        damping=rayleigh[0] * mass + rayleigh[1] * stiffness,
        force=None if force is None else force * np.eye(n)[n // 2],
        name="bar",
        **more,
    )
