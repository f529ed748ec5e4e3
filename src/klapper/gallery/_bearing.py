"""A shaft in a shell, pressed in, driven by a torque, then let go: what the bearing examples share.

1  static       the shell is clamped outside, the shaft has grown by the interference: press fit
2  driven       torque M f(t), f = sin(π t / 4 T) for 0 ≤ t ≤ T, on the inside of the shaft       Hesch (6.1), T = 0.5 s
3  free         neither torque nor clamp: energy, momentum and angular momentum stay
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np

from klapper.gallery._contact_motion import ContactScheme, EnergyOption
from klapper.gallery.example import Check, Outcome, Parameter, ParameterError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from klapper.continuum import Continuum, Interface, Solid, Tie
    from klapper.gallery._contact_motion import Balance
    from klapper.results import Run

YOUNG, POISSON, DENSITY = 1e5, 0.1, 1e-3
FRAMES = 40
LoadKind = Literal["node-force", "torque"]

Ramp = Annotated[float, Parameter("end of torque and clamp (0.5 s in the source)", unit="s", above=0.0)]
Load = Annotated[LoadKind, Parameter("what the size of the load means")]
LoadSize = Annotated[float, Parameter("force at each inner node, or torque", unit="N or N m", above=0.0)]
NeverParting = Annotated[bool, Parameter("the surfaces never part")]
ShaftRadii = Annotated[tuple[float, float], Parameter("radii of the shaft", unit="m", above=0.0)]
ShellRadii = Annotated[tuple[float, float], Parameter("radii of the shell", unit="m", above=0.0)]
CellsAround = Annotated[tuple[int, int], Parameter("cells around shaft and shell", at_least=3)]


@dataclass(frozen=True, eq=False)
class Bearing:
    """``bodies`` from the inside to the outside: the first is driven, the last is clamped.

    ``interface``  where they slide; ``ties`` of bodies that belong together
    """

    bodies: Sequence[Solid]
    interface: Interface
    ties: Sequence[Tie] = field(default=())

    def pressed(self) -> tuple[Continuum, Run]:
        """The static stage: clamped outside, one node of the shaft kept from turning."""
        from klapper.continuum import Continuum, Support
        from klapper.schemes import QuasiStatic
        from klapper.simulation import simulate

        shaft = self.bodies[0].mesh
        inside = shaft.surface_nodes("inner")
        right = inside[np.argmax(shaft.nodes[inside, 0])]
        world = Continuum(
            self.bodies,
            interfaces=[self.interface],
            ties=self.ties,
            supports=[
                Support(self.bodies[-1].name, "outer"),
                Support(self.bodies[0].name, [right], directions=[1]),
            ],
            penetration=np.inf,  # the fit is the overlap of the undeformed bodies
            name="press fit",
        )
        return world, simulate(world, 1.0, QuasiStatic(1.0))

    def driven(
        self, position: Mapping[str, np.ndarray], moment: float, ramp: float, *, lumped: bool
    ) -> Continuum:
        """The dynamic stages, from node positions by body on, with a torque [N m] and a clamp until ``ramp`` [s]."""
        from klapper.continuum import Continuum, Support, Torque

        def torque(t: Any) -> Any:
            return np.where(np.asarray(t) < ramp, moment * np.sin(0.25 * np.pi * np.asarray(t) / ramp), 0.0)

        return Continuum(
            self.bodies,
            interfaces=[self.interface],
            ties=self.ties,
            supports=[Support(self.bodies[-1].name, "outer", until=ramp)],
            loads=[Torque(self.bodies[0].name, "inner", torque)],
            position=position,
            lumped=lumped,
            penetration=1e-6,
            name="bearing",
        )

    def moment(self, kind: LoadKind, size: float) -> float:
        """Torque [N m] of a ``size``: tangential force [N] at each inner node, or the torque itself."""
        if kind == "torque":
            return size
        shaft = self.bodies[0].mesh
        return size * float(np.linalg.norm(shaft.nodes[shaft.surface_nodes("inner")], axis=1).sum())


def solid(name: str, mesh: Any) -> Solid:
    from klapper.continuum import SaintVenantKirchhoff, Solid

    return Solid(name, mesh, SaintVenantKirchhoff(YOUNG, POISSON), density=DENSITY)


def require_fit(shaft: tuple[float, float], shell: tuple[float, float]) -> None:
    """Refuse radii [m] of a shaft that is loose in its shell, or reaches out of it."""
    if not shaft[0] < shell[0] <= shaft[1] < shell[1]:
        raise ParameterError(
            "the shaft must be as large as the hole of the shell or larger, and inside the shell."
        )


def between_corners(around: tuple[int, int]) -> float:
    """Angle [rad] by which a polygon is turned so that no corner of another one starts opposite a corner of it."""
    return float(np.pi / np.lcm(*around))


def bearing_outcome(
    bearing: Bearing,
    *,
    energy_option: EnergyOption,
    step: float,
    until: float,
    load: LoadKind,
    size: float,
    ramp: float,
    scheme: ContactScheme = "energy-momentum",
    penalty: float = 1.0,
    mu: float = 0.0,
) -> Outcome:
    """All three stages, judged from ``ramp`` [s] on; ``penalty`` [N/m] for schemes with springs in the contact."""
    from klapper.gallery._contact_motion import DRIFT_UNITS, Balance, contact_scheme, penetration
    from klapper.gallery._contact_view import Meshes, draw_energies, draw_momenta, draw_pressures
    from klapper.gallery._run import ledger_check, run_audit
    from klapper.mechanics import InvalidModel
    from klapper.report.film import Film
    from klapper.simulation import SimulationFailed, simulate

    if until < ramp + 2.0 * step:
        raise ParameterError("until must be later than ramp: the free phase is what is judged.")
    still, fit = bearing.pressed()
    start = {body.name: still.positions(fit.position[-1], body.name) for body in bearing.bodies}
    try:
        world = bearing.driven(start, bearing.moment(load, size), ramp, lumped=scheme == "central-difference")
        run = simulate(world, until, contact_scheme(scheme, step, energy_option, penalty))
    except InvalidModel as error:
        raise ParameterError(f"scheme cannot be {scheme} here: {error}") from error
    except SimulationFailed as error:
        raise ParameterError(f"scheme {scheme} does not get through: {error}") from error
    whole, free = Balance(world, run), Balance(world, run, since=ramp)
    shapes = Meshes(world, run)
    pressure = fit_pressure(bearing, still, fit)
    body, surface = bearing.interface.secondary
    return Outcome(
        numbers={
            **free.numbers,
            "oscillation": oscillation(free),
            "max_penetration": penetration(run),
            "newton_iterations": run.statistics.newton_iterations / max(run.statistics.steps, 1),
            "friction_work": whole.friction[-1],
            "fit_pressure": pressure.mean(),
            "fit_energy": still.elastic_energy(fit.position[-1]),
            "kinetic_energy": free.kinetic.mean(),
            "angular_momentum": free.angular_momentum[0],
        },
        units={
            **DRIFT_UNITS,
            "oscillation": "amplitude of the kinetic energy in the free phase, of its mean",
            "max_penetration": "m",
            "newton_iterations": "per step",
            "friction_work": "J",
            "fit_pressure": "N/m² (mean of the nodes)",
            "fit_energy": "J",
            "kinetic_energy": "J",
            "angular_momentum": "kg m²/s",
        },
        checks=[
            *free.kept_checks(scheme, energy_option),
            *(whole.friction_checks() if mu > 0.0 else ()),
            _equilibrium_check(bearing, fit),
            ledger_check(run),
        ],
        audit={"press fit": fit.about["audit"], **run_audit(run)},
        figures={
            "bearing": partial(shapes.row, times=[0.0, ramp, 0.5 * (ramp + until), until], columns=2),
            "motion": Film(partial(shapes.scene, frames=FRAMES), frames=FRAMES, still=FRAMES // 2),
            "energy-split": partial(draw_energies, balance=free),
            "oscillation": partial(_draw_oscillation, balance=free),
            "momenta": partial(draw_momenta, balance=whole, free=free),
            "contact-pressure": partial(draw_pressures, world=world, run=run, body=body, surface=surface),
        },
    )


def fit_pressure(bearing: Bearing, world: Continuum, fit: Run) -> np.ndarray:
    """(k,) [N/m²] at the nodes that carry the forces of a press fit."""
    from klapper.continuum import contact_pressure

    return contact_pressure(world, fit.position[-1], fit.force[-1])[bearing.interface.secondary].pressure


def oscillation(balance: Balance) -> float:
    """Amplitude of the kinetic energy over its mean: √2 times its standard deviation, that of a sine."""
    return float(np.sqrt(2.0) * balance.kinetic.std() / balance.kinetic.mean())


def _equilibrium_check(bearing: Bearing, fit: Run) -> Check:
    """What the clamp and the node of the shaft carry has no resultant."""
    count = len(bearing.bodies[-1].mesh.surface_nodes("outer"))
    force = fit.constraint_force[-1]
    clamp, node = force[: 2 * count].reshape(-1, 2), np.array([0.0, force[2 * count]])
    return Check(
        "resultant of all supports after the press fit, over what they carry",
        value=np.abs(clamp.sum(axis=0) + node).max() / np.abs(clamp).sum(),
        expected=0.0,
        tolerance=1e-8,
        source="equilibrium: contact forces and ties are internal",
    )


def _draw_oscillation(figure: Figure, *, balance: Balance) -> None:
    """Kinetic energy of the free phase, about its mean."""
    figure.set_size_inches(6.4, 3.0)
    axes = figure.subplots()
    time, kinetic = balance.run.time[balance.chosen], balance.kinetic
    axes.plot(time, kinetic / kinetic.mean() - 1.0)
    axes.set(xlabel="time / s", ylabel="K / mean of K − 1", xlim=(time[0], time[-1]))
