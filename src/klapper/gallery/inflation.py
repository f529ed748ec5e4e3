"""Inflation against a cushion: how smooth two surfaces meet that do not share their nodes.

A balloon, a closed cable of stiffness EA in the plane, hangs from its top and is inflated by a pressure that stays
normal to it. It starts round, at half the final pressure, just above the hollow top of a soft cushion that is clamped
at its bottom, and presses into it. There is no friction. The nodes of the balloon carry the forces; where nothing
touches the balloon, its tension is N = p r.

    node-to-segment              nodes of the balloon stay out of the cushion, but nodes of the cushion may enter the
                                 balloon: the surface becomes rough
    node-to-segment, two passes  neither enters; nodes of both sides take turns to carry the force
    mortar                       overlaps and gaps vanish in the mean over the nodes: surfaces are smooth

Roughness is the root mean square of the second differences of the heights of the cushion's surface nodes within the
contact, less a smooth curve (a polynomial of up to degree six) through them, over the length of its facets. The
spread of the forces is the same mean of the differences between neighbouring contacts, over their mean.
"""

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np

from klapper.gallery.example import Check, Outcome, Parameter, ParameterError, example

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from klapper.continuum import Continuum, SurfacePressure
    from klapper.results import Run

Between = Literal["nts", "nts-two-pass", "mortar"]

CABLE, AREA = 200000.0, 4e-4  # Hesch A.1: EA = 80 N per metre across the plane
SOFT, POISSON = 40.0, 0.1
RADIUS, CLEARANCE = 1.0, 0.01  # of the slack balloon, and its distance from the cushion at the start [m]
WIDTH, HEIGHT, HOLLOW = 3.0, 1.0, 0.3  # of the cushion, and how far its ends lie above its middle [m]
START = 0.5  # of the pressure, in the round balloon that begins


@dataclass(frozen=True)
class Inflation:
    """A balloon over a cushion."""

    interface: Between
    pressure: float
    lines: int
    cells: tuple[int, int]
    steps: int

    @cached_property
    def stretch(self) -> float:
        """λ of the regular polygon at the start: EA ½ (λ² − 1) = p R cos(π/n)."""
        return float(
            np.sqrt(1.0 + 2.0 * START * self.pressure * RADIUS * np.cos(np.pi / self.lines) / (CABLE * AREA))
        )

    @cached_property
    def top(self) -> int:
        """Number of the node of the balloon that is held."""
        from klapper.continuum import circle

        return int(np.argmax(circle(RADIUS, self.lines).nodes[:, 1]))

    @cached_property
    def world(self) -> "Continuum":
        from klapper.continuum import (
            Cable,
            Continuum,
            Pressure,
            SaintVenantKirchhoff,
            Solid,
            Support,
            block,
            circle,
        )
        from klapper.gallery._interfaces import interface_named
        from klapper.mechanics import Ramp

        centre = np.array([0.0, self.stretch * RADIUS + CLEARANCE])
        ring = circle(RADIUS, self.lines, centre=centre.tolist())
        mesh = block((WIDTH, HEIGHT), self.cells, corner=(-0.5 * WIDTH, -HEIGHT))
        x, y = mesh.nodes.T
        mesh = replace(
            mesh, nodes=np.column_stack([x, y + HOLLOW * (2.0 * x / WIDTH) ** 2 * (1.0 + y / HEIGHT)])
        )
        low, top = int(np.argmin(ring.nodes[:, 1])), self.top
        return Continuum(
            [
                Cable("balloon", ring, young=CABLE, area=AREA, density=1.0),
                Solid("cushion", mesh, SaintVenantKirchhoff(SOFT, POISSON), density=1.0),
            ],
            loads=[Pressure("balloon", "inner", Ramp(START * self.pressure, (1.0 - START) * self.pressure))],
            supports=[
                Support("cushion", "bottom"),
                Support("balloon", [top], displacement=(0.0, (self.stretch - 1.0) * RADIUS)),
                Support("balloon", [low], [0]),
            ],
            interfaces=[interface_named(self.interface, ("balloon", "outer"), ("cushion", "top"))],
            position={"balloon": centre + self.stretch * (ring.nodes - centre)},
            name="balloon on a cushion",
        )

    @cached_property
    def run(self) -> "Run":
        from klapper.schemes import QuasiStatic
        from klapper.simulation import simulate

        return simulate(self.world, 1.0, QuasiStatic(1.0 / self.steps))

    @cached_property
    def contact(self) -> "SurfacePressure":
        from klapper.continuum import contact_pressure

        return contact_pressure(self.world, self.run.position[-1], self.run.force[-1])["balloon", "outer"]

    @cached_property
    def outline(self) -> np.ndarray:
        """Places (n, 2) [m] of the nodes of the balloon at the end."""
        return self.world.positions(self.run.position[-1], "balloon")

    @property
    def underside(self) -> np.ndarray:
        """The lower half of the outline, from left to right."""
        lower = self.outline[self.outline[:, 1] < self.outline[:, 1].mean()]
        return lower[np.argsort(lower[:, 0])]

    @cached_property
    def surface(self) -> np.ndarray:
        """Places (k, 2) [m] of the nodes of the cushion that lie within the contact, from left to right."""
        mesh = self.world.bodies[1].mesh
        place = self.world.positions(self.run.position[-1], "cushion")[mesh.surface_nodes("top")]
        loaded = self.contact.place[self.contact.pressure > 0.0, 0]
        place = place[np.argsort(place[:, 0])]
        reach = (loaded.min(initial=np.inf), loaded.max(initial=-np.inf))
        return place[(place[:, 0] >= reach[0]) & (place[:, 0] <= reach[1])]

    @property
    def roughness(self) -> float:
        x, y = self.surface.T
        middle, half = 0.5 * (x[0] + x[-1]), 0.5 * (x[-1] - x[0])
        smooth = np.polynomial.Polynomial.fit((x - middle) / half, y, min(6, len(x) - 3))
        rest = y - smooth((x - middle) / half)
        return float(np.sqrt(np.mean(np.diff(rest, 2) ** 2)) / np.mean(np.diff(x)))

    @property
    def penetration(self) -> float:
        """Largest depth [m] of a node of the cushion within the balloon, seen across its lines."""
        x, y = self.surface.T
        return float(np.max(y - np.interp(x, *self.underside.T), initial=0.0))

    @cached_property
    def closed(self) -> np.ndarray:
        """Numbers (c,) of the contacts that carry a force, from left to right."""
        force = self.run.force[-1][:, 0]
        closed = np.flatnonzero(force > 1e-9 * force.max())
        return closed[np.argsort(self._places(closed)[:, 0])]

    @property
    def places(self) -> np.ndarray:
        """(c, 2) [m] of the nodes of the closed contacts."""
        return self._places(self.closed)

    def _places(self, contacts: np.ndarray) -> np.ndarray:
        owner = np.concatenate([search.surface.nodes for search in self.world.contacts.searches])
        return self.run.position[-1].reshape(-1, 2)[owner[contacts]]

    @property
    def rank(self) -> int:
        """Of the directions of the closed contacts: below their number forces are not determined."""
        normal = self.world.directions(1.0, self.run.position[-1], self.closed).normal
        dense = normal.toarray() if hasattr(normal, "toarray") else normal
        return int(np.linalg.matrix_rank(dense, tol=1e-8))

    @property
    def spread(self) -> float:
        """Of the forces of neighbouring contacts."""
        force = self.run.force[-1][self.closed, 0]
        return float(np.sqrt(np.mean(np.diff(force) ** 2)) / np.mean(force))

    def push(self, body: str) -> np.ndarray:
        """Forces (n, 2) [N/m] of the contacts on the nodes of a body."""
        force = self.run.force[-1][:, 0]
        every = self.world.directions(1.0, self.run.position[-1], np.arange(len(force))).normal
        return self.world.positions(every @ force, body)

    @property
    def overlap(self) -> float:
        """Largest overlap [m] of a contact with the partner that is now its nearest."""
        count = len(self.run.force[-1])
        gaps = self.world.gaps(1.0, self.run.position[-1], np.arange(count))
        return -float(min(np.nanmin(gaps), 0.0))

    @property
    def membrane(self) -> np.ndarray:
        """N/(p r cos φ) of all free corners, which turn by 2 φ on the circle of radius r through their neighbours."""
        cable = self.world.bodies[0]
        assert hasattr(cable, "tension")
        after = np.roll(self.outline, -1, axis=0) - self.outline
        before = np.roll(after, 1, axis=0)
        cross = before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0]
        turn = np.arctan2(cross, np.sum(before * after, axis=1))
        radius = 0.5 * np.linalg.norm(before + after, axis=1) / np.sin(turn)
        ratio = cable.tension(self.outline) / (self.pressure * radius * np.cos(0.5 * turn))
        pressed = np.linalg.norm(self.push("balloon"), axis=1) > 0.0
        free = ~(pressed | np.roll(pressed, 1) | np.roll(pressed, -1))
        free[self.top] = False
        return ratio[free]


@example("inflation", source="Hesch (2007), A.1; geometry, meshes and pressure chosen here")
def inflation(
    *,
    interface: Annotated[Between, Parameter("how balloon and cushion touch")] = "mortar",
    pressure: Annotated[float, Parameter("pressure at the end", unit="N/m²", above=0.0)] = 25.0,
    lines: Annotated[int, Parameter("straight lines of the balloon", at_least=16, multiple_of=4)] = 40,
    cells: Annotated[tuple[int, int], Parameter("cells of the cushion, along and up", at_least=2)] = (35, 4),
    steps: Annotated[int, Parameter("steps of the pressure", at_least=1)] = 3,
) -> Outcome:
    from klapper.gallery._run import ledger_check, run_audit

    kinds: tuple[Between, ...] = (interface,) if interface == "nts" else ("nts", interface)
    models = {kind: Inflation(kind, pressure, lines, cells, steps) for kind in kinds}
    model = models[interface]
    if any(len(each.surface) < 5 for each in models.values()):
        raise ParameterError(
            f"pressure {pressure:g} N/m² presses the balloon onto fewer than 5 nodes of the cushion, too few to see "
            f"how smooth it is; use a higher pressure or more cells."
        )
    return Outcome(
        numbers={
            "roughness": model.roughness,
            "roughness_nts": models["nts"].roughness,
            "penetration": model.penetration,
            "penetration_nts": models["nts"].penetration,
            "overlap": model.overlap,
            "closed_contacts": len(model.closed),
            "rank": model.rank,
            "force_spread": model.spread,
            "largest_pressure": model.contact.pressure.max(),
            "contact_force": float(model.push("balloon")[:, 1].sum()),
        },
        units={
            "roughness": "of the length of a facet",
            "roughness_nts": "of the length of a facet (one pass)",
            "penetration": "m (nodes of the cushion within the balloon)",
            "penetration_nts": "m (one pass)",
            "overlap": "m (contacts of the interface)",
            "rank": "of the directions of the closed contacts",
            "force_spread": "of the mean force of a contact",
            "largest_pressure": "N/m²",
            "contact_force": "N/m (upward, on the balloon)",
        },
        checks=[*_checks(model, models["nts"]), ledger_check(model.run)],
        audit=run_audit(model.run),
        figures={
            "stress": partial(_draw_stress, model=model),
            "surface": partial(_draw_surface, models=models),
            "pressure": partial(_draw_pressure, models=models),
            "forces": partial(_draw_forces, models=models),
        },
    )


def _checks(model: Inflation, single: Inflation) -> list[Check]:
    force, held = model.run.force[-1][:, 0], model.run.constraint_force[-1]
    ground = held[1 : 2 * (model.cells[0] + 1) : 2].sum()
    checks = [
        Check(
            "normal forces over the largest",
            value=float(force.min() / force.max()),
            at_least=-1e-8,
            source="contacts do not pull",
        ),
        Check(
            "overlap of a contact with its nearest partner, over the radius",
            value=model.overlap / RADIUS,
            at_most=1e-8,
            source="gaps are not negative",
        ),
        Check(
            "support of the balloon over those of the cushion",
            value=-held[-2] / ground,
            expected=1.0,
            tolerance=1e-7,
            source="balance: pressure in a closed line has no resultant",
        ),
        Check(
            "tension over p r cos φ where nothing touches the balloon",
            value=np.abs(model.membrane - 1.0).max(),
            expected=0.0,
            tolerance=1e-7,
            source="balance of a corner, N = p r of the circle through it and its neighbours",
        ),
    ]
    if model.interface == "mortar":
        checks += [
            Check(
                "roughness over that of one pass of node-to-segment",
                value=model.roughness / single.roughness,
                at_most=1.0,
                source="Hesch A.1, Figs. A.4 and A.6: irregular and smooth",
            ),
            Check(
                "penetration of the cushion's nodes over that of one pass",
                value=model.penetration / single.penetration,
                at_most=1.0,
                source="Hesch A.1, Figs. A.4 and A.6",
            ),
        ]
    return checks


def _draw_stress(figure: "Figure", *, model: Inflation) -> None:
    """The inflated balloon on the cushion, coloured by its von Mises stress; dashed the balloon at the start."""
    from klapper.gallery._interfaces import paint_bodies
    from klapper.gallery._sketch import DARK, GREY

    figure.set_size_inches(7.4, 6.0)
    axes = figure.subplots()
    paint_bodies(figure, axes, model.world, model.run.position[-1], names=["cushion"])
    for sample, style, colour in ((0, "--", GREY), (-1, "-", DARK)):
        shape = model.world.positions(model.run.position[sample], "balloon")
        axes.plot(
            *np.vstack([shape, shape[:1]]).T, style, marker=".", markersize=3, color=colour, linewidth=1.0
        )
    axes.autoscale_view()


def _draw_surface(figure: "Figure", *, models: dict[Between, Inflation]) -> None:
    """Lines of the balloon and of the cushion within the contact, heights magnified."""
    from klapper.gallery._interfaces import WORDS
    from klapper.gallery._sketch import BLUE, ORANGE

    figure.set_size_inches(7.4, 2.9 * len(models))
    every = np.atleast_1d(figure.subplots(len(models), 1, sharex=True, sharey=True))
    for axes, (kind, model) in zip(every, models.items(), strict=True):
        near = np.abs(model.underside[:, 0]) < 1.1 * np.abs(model.surface[:, 0]).max()
        axes.plot(*model.surface.T, "s-", color=ORANGE, markersize=4, label="cushion")
        axes.plot(*model.underside[near].T, "o-", color=BLUE, markersize=4, label="balloon")
        axes.set(ylabel="y / m", title=WORDS[kind])
        axes.legend()
    every[-1].set_xlabel("x / m")


def _draw_pressure(figure: "Figure", *, models: dict[Between, Inflation]) -> None:
    """Contact pressure that the nodes of the balloon carry; with two passes it is only their share."""
    from klapper.gallery._interfaces import WORDS, draw_pressures

    axes = figure.subplots()
    shown = []
    for kind, model in models.items():
        found, order = model.contact, np.argsort(model.contact.place[:, 0])
        order = order[found.place[order, 1] < found.place[:, 1].mean()]
        lower = replace(found, place=found.place[order], pressure=found.pressure[order], arc=found.arc[order])
        shown.append((WORDS[kind], lower))
    draw_pressures(axes, shown, across="x")
    axes.legend()


def _draw_forces(figure: "Figure", *, models: dict[Between, Inflation]) -> None:
    """Forces of the closed contacts, from left to right; with two passes those of both surfaces."""
    from klapper.gallery._interfaces import WORDS
    from klapper.gallery._sketch import BLUE, ORANGE

    axes = figure.subplots()
    for (kind, model), colour, mark in zip(models.items(), (BLUE, ORANGE), "os", strict=False):
        force = model.run.force[-1][model.closed, 0]
        axes.plot(model.places[:, 0], force, "-", marker=mark, markersize=4, color=colour, label=WORDS[kind])
    axes.set(xlabel="x / m", ylabel="force of a contact / (N/m)", ylim=(0.0, None))
    axes.legend()
