"""The models of the page, each small enough to be computed by every method that applies."""

from __future__ import annotations

import numpy as np

from klapper.mechanics import Contact, FrictionElement, Harmonic, LinearSystem

GRAVITY = 9.81


def bouncing_ball(restitution: float = 0.7) -> LinearSystem:
    """1 kg, dropped from 1 m."""
    floor = Contact("floor", normal=[1.0], restitution=restitution)
    return LinearSystem(
        [1.0],
        force=[-GRAVITY],
        contacts=[floor],
        position=[1.0],
        coordinates=["height"],
        name="bouncing ball",
    )


def row_of_stops(count: int) -> LinearSystem:
    """``count`` coupled oscillators, shaken with a travelling phase, each with a stop of its own."""
    stiffness = np.diag(np.full(count, 52.0)) - 6.0 * (np.eye(count, k=1) + np.eye(count, k=-1))
    phase = 3.7 * 2.0 * np.pi * np.arange(count) / count
    force = Harmonic(12.0 * np.cos(phase), 5.0) + Harmonic(12.0 * np.sin(phase), 5.0, -np.pi / 2)
    stops = [
        Contact(f"stop {i + 1}", normal=-np.eye(count)[i], gap=0.15 + 0.05 * np.sin(i), restitution=0.6)
        for i in range(count)
    ]
    return LinearSystem(
        np.ones(count),
        damping=0.02 * stiffness,
        stiffness=stiffness,
        force=force,
        contacts=stops,
        name=f"{count} oscillators with stops",
    )


def belt_masses() -> LinearSystem:
    """Two coupled masses on a belt with dry friction of given limit."""
    stiffness = np.array([[60.0, -20.0], [-20.0, 45.0]])
    joints = [
        FrictionElement("left", tangents=[[1.0, 0.0]], limit=6.0, tangential_rate=-0.347),
        FrictionElement("right", tangents=[[0.0, 1.0]], limit=4.0, tangential_rate=-0.347),
    ]
    return LinearSystem(
        [1.0, 1.5],
        stiffness=stiffness,
        force=Harmonic(np.array([3.0, 0.0]), 4.0),
        contacts=joints,
        position=[0.2, -0.1],
        coordinates=["left", "right"],
        name="two masses on a belt",
    )


def block_on_slope(slope: float = 0.9, friction: float = 0.5) -> LinearSystem:
    """1 kg on an incline whose tangent is ``slope`` times the friction coefficient: it rests."""
    angle = np.arctan(slope * friction)
    floor = Contact("floor", normal=[0.0, 1.0], tangents=[[1.0, 0.0]], friction=friction)
    return LinearSystem(
        [1.0, 1.0],
        force=GRAVITY * np.array([np.sin(angle), -np.cos(angle)]),
        contacts=[floor],
        coordinates=["along", "off"],
        name="block on a slope",
    )


def rocking_beam(modes: int) -> tuple[LinearSystem, np.ndarray]:
    """Example 5.7 in its lowest modes, touching at A and lifted by 10 mm at B; and the row of the deflection at A."""
    from klapper.reduction import modal
    from klapper.structures import Beam, Material, Section

    section = Section(area=0.02**2, second_moment=0.01**4 / 12.0, shear_area=0.02**2 / 1.2)
    beam = Beam(1.0, Material(210e9, 7500.0, 81e9), section, elements=40, degree=3)
    structure = beam.with_rayleigh(mass=0.01, stiffness=1e-4).with_gravity(GRAVITY)
    contacts = [Contact(name, normal=structure.row(x, "w")) for name, x in (("A", 0.4), ("B", 0.6))]
    start = structure.position(lambda x: 0.05 * (x - 0.4))
    reduced = modal(structure.system(contacts, position=start), modes)
    return reduced.system, reduced.basis.T @ structure.row(0.4, "w")
