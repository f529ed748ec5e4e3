"""Which compiled loop fits a system, if any."""

from __future__ import annotations

from klapper.mechanics.linear_system import LinearSystem
from klapper.mechanics.system import System
from klapper.schemes.base import Stretch


def stretch_for(
    system: System,
    step: float,
    theta: float,
    tolerance: float,
    level: str = "velocity",
) -> Stretch | None:
    """The compiled loop for a linear system or for rigid bodies with standard contacts, else None.

    On position level there is one for linear systems only.
    """
    if isinstance(system, LinearSystem):
        from klapper.schemes.linear_stretch import LinearStretch, obstacle

        return None if obstacle(system) else LinearStretch(system, step, theta, tolerance, level)
    if level != "velocity":
        return None
    form = system.rigid_form()
    if form is not None:
        from klapper.schemes.rigid_stretch import RigidStretch

        return RigidStretch(form, theta, step, tolerance, start=system.start.time)
    return None
