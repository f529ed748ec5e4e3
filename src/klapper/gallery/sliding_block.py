"""Block on a slope: below the friction angle it sticks, above it slides down with g (sin α − μ cos α).

The elastic block begins in an equilibrium with friction: below the friction angle, tan α < μ, in its own, and it must
stay there, step after step, without creeping; above, in that on a slope which is just not too steep. Then all of its
nodes slide, while it still vibrates a little: normal forces swing about its weight. Whatever they do, friction is μ
times them, so that momentum along and across the slope obeys exactly

    L_x + μ L_y = m g (sin α − μ cos α) t

The slope is a rigid wall or the surface of another mesh, fixed; x points down along it.
"""

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np

from klapper.gallery.example import Check, Outcome, Parameter, ParameterError, example

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from klapper.continuum import Continuum
    from klapper.results import Run

GRAVITY, DENSITY, POISSON = 9.81, 1000.0, 0.3
LENGTH, HEIGHT = 0.4, 0.2  # of the block [m]
NEAR = 0.99  # of the friction that is possible, at the start of sliding


@dataclass(frozen=True)
class OnSlope:
    """An elastic block on a slope."""

    interface: Literal["wall", "nts", "mortar", "mortar-dual"]
    friction: float
    angle: float
    step: float
    until: float
    young: float
    cells: tuple[int, int]

    @property
    def pull(self) -> tuple[float, float]:
        """Gravity [m/s²] down along the slope and out of it."""
        return GRAVITY * np.sin(self.angle), -GRAVITY * np.cos(self.angle)

    @property
    def acceleration(self) -> float:
        """[m/s²] of sliding."""
        return self.pull[0] + self.friction * self.pull[1]

    @property
    def mass(self) -> float:
        return DENSITY * LENGTH * HEIGHT

    def world(self, pull: tuple[float, float], position: np.ndarray | None = None) -> "Continuum":
        from klapper.continuum import Continuum, Gravity, SaintVenantKirchhoff, Solid, Support, Wall, block
        from klapper.gallery._interfaces import interface_named

        law = SaintVenantKirchhoff(self.young, POISSON)
        body = Solid("block", block((LENGTH, HEIGHT), self.cells), law, density=DENSITY)
        start = None if position is None else {"block": position.reshape(-1, 2)}
        load = Gravity(pull)
        if self.interface == "wall":
            wall = Wall("block", "bottom", (0.0, 0.0), (0.0, 1.0), friction=self.friction)
            return Continuum([body], loads=[load], walls=[wall], position=start, name="block on a slope")
        way = 0.5 * max(self.acceleration, 0.0) * self.until**2
        count = max(round((way + 2.0 * LENGTH) / (1.3 * LENGTH / self.cells[0])), 3)
        size = (way + 2.0 * LENGTH, 0.25 * HEIGHT)
        mesh = block(size, (count, 1), corner=(-0.5 * LENGTH, -size[1]))
        slope = Solid("slope", mesh, law, density=DENSITY)
        return Continuum(
            [body, slope],
            loads=[load],
            supports=[Support("slope", np.arange(len(mesh.nodes)))],
            interfaces=[
                interface_named(self.interface, ("block", "bottom"), ("slope", "top"), friction=self.friction)
            ],
            position=start,
            name="block on a slope",
        )

    @cached_property
    def settled(self) -> np.ndarray:
        """Coordinates (n,) of the block in equilibrium."""
        from klapper.schemes import QuasiStatic
        from klapper.simulation import simulate

        down, out = self.pull
        pull = (min(down, -NEAR * self.friction * out), out)
        easy = replace(self, interface="mortar-dual") if self.slides and self.interface == "mortar" else self
        run = simulate(easy.world(pull), 1.0, QuasiStatic(1.0))
        return run.position[-1, : 2 * (self.cells[0] + 1) * (self.cells[1] + 1)]

    @property
    def slides(self) -> bool:
        return self.acceleration > 0.0

    @cached_property
    def moving(self) -> "Continuum":
        return self.world(self.pull, self.settled)

    @cached_property
    def run(self) -> "Run":
        from klapper.schemes import EnergyMomentum
        from klapper.simulation import simulate

        return simulate(self.moving, self.until, EnergyMomentum(self.step))

    @cached_property
    def momentum(self) -> np.ndarray:
        """(s, 2) [kg m/s], per metre across the plane."""
        return np.array([self.moving.linear_momentum(v) for v in self.run.velocity])

    @cached_property
    def travel(self) -> np.ndarray:
        """(s,) [m], how far the middle of the mass went down the slope."""
        share = self.moving.bodies[0].volume_load()
        x = self.run.position[:, : 2 * len(share) : 2]
        return (x - x[0]) @ share / share.sum()

    @cached_property
    def rise(self) -> np.ndarray:
        """(s,) [m], how far the middle of the mass went out of the slope."""
        share = self.moving.bodies[0].volume_load()
        y = self.run.position[:, 1 : 2 * len(share) : 2]
        return (y - y[0]) @ share / share.sum()

    @cached_property
    def distortion(self) -> float:
        """Largest slope of a facet of the bottom, and change of its length in a step: mortar forces follow them."""
        if not self.interface.startswith("mortar"):
            return 0.0
        bottom = self.moving.bodies[0].mesh.surface("bottom")
        place = self.run.position[:, : len(self.settled)].reshape(len(self.run), -1, 2)
        along = place[:, bottom[:, 1]] - place[:, bottom[:, 0]]
        length = np.linalg.norm(along, axis=2)
        return float(
            np.abs(along[..., 1] / length).max() + np.abs(np.diff(length, axis=0) / length[1:]).max()
        )

    @cached_property
    def creep(self) -> float:
        """Largest distance [m] of a node from where it began."""
        return float(np.abs(self.run.position - self.run.position[0]).max())


@example("sliding-block", source="Coulomb friction; closed form of the block on a slope")
def sliding_block(
    *,
    interface: Annotated[
        Literal["wall", "nts", "mortar", "mortar-dual"], Parameter("how the block touches the slope")
    ] = "mortar-dual",
    mu: Annotated[float, Parameter("friction coefficient", at_least=0.0)] = 0.3,
    angle: Annotated[float, Parameter("angle of the slope", unit="°", above=0.0, below=60.0)] = 25.0,
    step: Annotated[float, Parameter("time step", unit="s", above=0.0)] = 0.005,
    until: Annotated[float, Parameter("duration", unit="s", above=0.0)] = 0.2,
    young: Annotated[float, Parameter("Young's modulus", unit="N/m²", above=0.0)] = 1e6,
    cells: Annotated[tuple[int, int], Parameter("cells of the block, along and up", at_least=1)] = (5, 3),
) -> Outcome:
    from klapper.gallery._run import ledger_check, run_audit, run_figures

    model = OnSlope(interface, mu, float(np.radians(angle)), step, until, young, cells)
    if 0.0 <= abs(model.acceleration) < 1e-9 * GRAVITY:
        raise ParameterError(
            "angle must not be the friction angle itself, where sliding and sticking are both possible."
        )
    run = model.run
    ledger = run.ledger.balance
    return Outcome(
        numbers={
            "travel": model.travel[-1],
            "creep": model.creep,
            "acceleration": model.momentum[-1, 0] / model.mass / run.time[-1],
            "exact_acceleration": max(model.acceleration, 0.0),
            "friction_work": ledger["friction"],
            "slides": model.slides,
        },
        units={
            "travel": "m",
            "creep": "m (largest distance of a node from its start)",
            "acceleration": "m/s²",
            "exact_acceleration": "m/s²",
            "friction_work": "J/m",
        },
        checks=[*_checks(model), ledger_check(run)],
        audit=run_audit(run),
        figures={
            "motion": partial(_draw_motion, model=model),
            "shape": partial(_draw_shape, model=model),
            **run_figures(run, "energy"),
        },
    )


def _checks(model: OnSlope) -> list[Check]:
    weight = model.mass * GRAVITY
    if not model.slides:
        return [
            Check(
                "largest distance of a node from where it began, over the height",
                value=model.creep / HEIGHT,
                at_most=1e-8,
                source="below the friction angle nothing moves; Newton's tolerance over all steps",
            ),
            Check(
                "energy lost to friction, over weight times height",
                value=model.run.ledger.balance["friction"] / (weight * HEIGHT),
                expected=0.0,
                tolerance=1e-8,
                source="what sticks does no work",
            ),
        ]
    time = model.run.time
    along = model.momentum[:, 0] + model.friction * model.momentum[:, 1]
    force = model.run.force[1:]
    pressed = force[..., 0] > 0.0
    return [
        Check(
            "L_x + μ L_y over m g (sin α − μ cos α) t, at all samples",
            value=along[1:] / (model.mass * model.acceleration * time[1:]),
            expected=1.0,
            tolerance=1e-6 + model.distortion,
            source="balance of momentum of a block whose nodes all slide; Newton's tolerance, facets in a step",
        ),
        Check(
            "friction less μ times the normal force, at all loaded nodes",
            value=np.abs(force[..., 1][pressed]) - model.friction * force[..., 0][pressed],
            expected=0.0,
            tolerance=1e-9 * weight,
            source="Coulomb's law of sliding",
        ),
        Check(
            "travel and μ times the rise of the middle, over ½ a t²",
            value=(model.travel[-1] + model.friction * model.rise[-1])
            / (0.5 * model.acceleration * time[-1] ** 2),
            expected=1.0,
            tolerance=1e-6 + model.distortion,
            source="closed form: the balance of momentum above, over time",
        ),
    ]


def _draw_motion(figure: "Figure", *, model: OnSlope) -> None:
    """Velocity of the middle of the mass down the slope, and travel; dashed the rigid block."""
    from klapper.gallery._sketch import BLUE, DARK

    figure.set_size_inches(8.4, 3.6)
    left, right = figure.subplots(1, 2)
    t, a = model.run.time, max(model.acceleration, 0.0)
    left.plot(t, model.momentum[:, 0] / model.mass, color=BLUE, label="elastic block")
    left.plot(t, a * t, "--", color=DARK, label="rigid block")
    left.set(xlabel="time / s", ylabel="velocity / (m/s)")
    left.legend()
    right.plot(t, model.travel, color=BLUE)
    right.plot(t, 0.5 * a * t**2, "--", color=DARK)
    right.set(xlabel="time / s", ylabel="travel / m")


def _draw_shape(figure: "Figure", *, model: OnSlope) -> None:
    """The block at the end, coloured by its von Mises stress, dotted at the start; x points down the slope."""
    from klapper.gallery._sketch import wall
    from klapper.gallery._stress_view import outlined, painted

    figure.set_size_inches(7.6, 3.4)
    axes = figure.subplots()
    body = model.moving.bodies[0]
    ends = [model.moving.positions(model.run.position[k], "block") for k in (0, -1)]
    highest = max(float(body.von_mises(place).max()) for place in ends)  # type: ignore[attr-defined]
    picture = painted(axes, body, ends[-1], highest=highest)  # type: ignore[arg-type]
    outlined(axes, body.mesh, ends[0], linestyles="dotted")  # type: ignore[arg-type]
    right = float(max(place[:, 0].max() for place in ends)) + 0.1 * LENGTH
    wall(axes, (-0.1 * LENGTH, 0.0), (right, 0.0), (0.0, -0.15 * HEIGHT))
    axes.set(xlabel="x / m", ylabel="y / m", aspect="equal", xlim=(-0.15 * LENGTH, right + 0.05 * LENGTH))
    figure.colorbar(picture, ax=axes, label="von Mises stress / (N/m²)", shrink=0.8)
