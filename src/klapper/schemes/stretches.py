"""Which compiled loop fits a system."""

from __future__ import annotations

from klapper.mechanics.linear_system import LinearSystem
from klapper.mechanics.system import System
from klapper.schemes.base import Stretch


def stretch_for(
    system: System,
    step: float,
    theta: float,
    tolerance: float,
    level: str,
    *,
    projects: bool,
    keeps_lasting: bool,
) -> Stretch:
    """The loop for linear systems without constraints, for heaps of balls, or for any compiled form.

    ``projects``, ``keeps_lasting``  whether positions are projected, and whether contacts that last keep what their law
    leaves. Raises :class:`~klapper.mechanics.compiled_form.NotCompiled` with the reason where there is none.
    """
    if isinstance(system, LinearSystem):
        from klapper.schemes.linear_stretch import LinearStretch, obstacle

        if not obstacle(system) and not projects:
            return LinearStretch(system, step, theta, tolerance, level)
    form = system.rigid_form() if level == "velocity" and not projects else None
    if form is not None:
        from klapper.schemes.rigid_stretch import RigidStretch

        return RigidStretch(form, theta, step, tolerance, start=system.start.time)
    from klapper.schemes.form_stretch import FormStretch

    return FormStretch(
        system,
        system.compiled_form(),
        step,
        theta,
        tolerance,
        level=level,
        projects=projects,
        keeps_lasting=keeps_lasting,
    )
