"""Bearing: a shaft turns in a shell that it was pressed into, on contact surfaces that are polygons.

The meshes do not match. Where nodes meet segments, shaft and shell jam a little whenever corners pass each other, and
kinetic and elastic energy are exchanged; a smaller step does not help, it is an error of the discretisation in space.
Averages over segments (mortar) run smoothly. After the torque and the clamp are gone, whatever the step,

    H, L and J stay        energy-momentum, with gaps that close without work                      Hesch (3.63)
    L and J stay           springs and the midpoint rule
    L stays                springs and Newmark

The surfaces are thought to slide on each other and never part (always_active), since the chords of the polygons are
farther from the circle than the shaft is too large. Shipped with fewer rows of cells and a shorter torque than the
source.
"""

from typing import Annotated

from klapper.gallery._bearing import (
    Bearing,
    CellsAround,
    Load,
    LoadSize,
    NeverParting,
    Ramp,
    ShaftRadii,
    ShellRadii,
    bearing_outcome,
    between_corners,
    require_fit,
    solid,
)
from klapper.gallery._contact_motion import ClosingGaps, ContactScheme, Penalty
from klapper.gallery._interfaces import InterfaceName, interface_named
from klapper.gallery.example import Outcome, Parameter, ParameterError, example


@example("bearing", source="Hesch 6.1, Figs. 6.1-6.8; load and mode of contact chosen")
def bearing(
    *,
    interface: Annotated[InterfaceName, Parameter("node-to-segment or mortar")] = "mortar",
    scheme: Annotated[ContactScheme, Parameter("time-stepping method")] = "energy-momentum",
    energy_option: ClosingGaps = "gradient",
    step: Annotated[float, Parameter("time step (1e-3 and 1e-4 in the source)", unit="s", above=0.0)] = 2e-3,
    until: Annotated[float, Parameter("duration (2 s in the source)", unit="s", above=0.0)] = 0.24,
    ramp: Ramp = 0.1,
    load: Load = "node-force",
    size: LoadSize = 2500.0,
    mu: Annotated[float, Parameter("coefficient of friction", at_least=0.0)] = 0.0,
    penalty: Penalty = 1e4,
    always_active: NeverParting = True,
    shaft: ShaftRadii = (50.0, 80.1),
    shell: ShellRadii = (80.0, 100.0),
    rows: Annotated[int, Parameter("cells across each body (10 in the source)", at_least=1)] = 2,
    around: CellsAround = (40, 48),
) -> Outcome:
    from klapper.continuum import annulus

    require_fit(shaft, shell)
    if mu > 0.0 and always_active:
        raise ParameterError(
            "surfaces that never part may pull and have no friction: set always_active to false."
        )
    bodies = [
        solid("shaft", annulus(*shaft, (rows, around[0]))),
        solid("shell", annulus(*shell, (rows, around[1])).moved(turn=between_corners(around))),
    ]
    face = interface_named(
        interface,
        secondary=("shaft", "outer"),
        primary=("shell", "inner"),
        friction=mu,
        always_active=always_active,
    )
    return bearing_outcome(
        Bearing(bodies, face),
        scheme=scheme,
        energy_option=energy_option,
        step=step,
        until=until,
        load=load,
        size=size,
        ramp=ramp,
        penalty=penalty,
        mu=mu,
    )
