"""Domain decomposition: the bearing again, its sliding surfaces covered with fine rings that are tied on.

Each body gives up one row of cells for a ring of many small ones: two ties between meshes that do not match, and one
contact between fine surfaces. Ties and contact may be node-to-segment or mortar. All four combinations keep energy,
momentum and angular momentum after the torque and the clamp are gone; how much kinetic and elastic energy are exchanged
is decided by the contact. The coarse meshes are fitted to the rings first: ties keep angular momentum only where they
hold exactly in the undeformed bodies.                                                          Hesch (4.13), (4.60)
"""

from typing import Annotated, Literal

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
from klapper.gallery._contact_motion import EnergyOption
from klapper.gallery._interfaces import InterfaceName, interface_named
from klapper.gallery.example import Outcome, Parameter, ParameterError, example


@example("domain-decomposition", source="Hesch 6.2, Figs. 6.9-6.13; load and mode of contact chosen")
def domain_decomposition(
    *,
    tie: Annotated[Literal["nts", "mortar"], Parameter("how the rings are tied on")] = "mortar",
    contact: Annotated[InterfaceName, Parameter("how the rings slide on each other")] = "mortar",
    ring_cells: Annotated[
        tuple[int, int],
        Parameter("cells around the rings on shaft and shell (512 in the source)", at_least=3),
    ] = (64, 72),
    energy_option: Annotated[
        EnergyOption, Parameter("what becomes of the energy of gaps that close")
    ] = "gradient",
    step: Annotated[float, Parameter("time step (1e-3 in the source)", unit="s", above=0.0)] = 2e-3,
    until: Annotated[float, Parameter("duration (2 s in the source)", unit="s", above=0.0)] = 0.15,
    ramp: Ramp = 0.1,
    load: Load = "node-force",
    size: LoadSize = 2500.0,
    always_active: NeverParting = True,
    shaft: ShaftRadii = (50.0, 80.1),
    shell: ShellRadii = (80.0, 100.0),
    rows: Annotated[int, Parameter("cells across each coarse body (9 in the source)", at_least=1)] = 2,
    around: CellsAround = (40, 48),
) -> Outcome:
    from klapper.continuum import Tie, annulus, fitted
    from klapper.mechanics import InvalidModel

    require_fit(shaft, shell)
    method: Literal["mortar", "node-to-segment"] = "mortar" if tie == "mortar" else "node-to-segment"
    joints = (
        shaft[1] - (shaft[1] - shaft[0]) / (rows + 1),
        shell[0] + (shell[1] - shell[0]) / (rows + 1),
    )
    turn = between_corners(ring_cells)
    lining = annulus(joints[0], shaft[1], (1, ring_cells[0]))
    liner = annulus(shell[0], joints[1], (1, ring_cells[1])).moved(turn=turn)
    try:
        core = fitted(
            annulus(shaft[0], joints[0], (rows, around[0])), "outer", onto=(lining, "inner"), method=method
        )
        hull = fitted(
            annulus(joints[1], shell[1], (rows, around[1])).moved(turn=turn),
            "inner",
            onto=(liner, "outer"),
            method=method,
        )
    except InvalidModel as error:
        raise ParameterError(f"around and ring_cells do not fit: {error}") from error
    bodies = [solid("shaft", core), solid("lining", lining), solid("liner", liner), solid("shell", hull)]
    ties = [
        Tie(("shaft", "outer"), ("lining", "inner"), method=method),
        Tie(("shell", "inner"), ("liner", "outer"), method=method),
    ]
    face = interface_named(
        contact, secondary=("lining", "outer"), primary=("liner", "inner"), always_active=always_active
    )
    return bearing_outcome(
        Bearing(bodies, face, ties),
        energy_option=energy_option,
        step=step,
        until=until,
        load=load,
        size=size,
        ramp=ramp,
    )
