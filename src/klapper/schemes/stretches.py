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
    clears: bool,
    keeps_lasting: bool,
    jumps: bool,
    accuracy: float | None,
) -> Stretch:
    """The loop for linear systems without constraints, for heaps of balls, or for any compiled form.

    The arguments are those of :class:`~klapper.schemes.form_stretch.FormStretch`. Raises
    :class:`~klapper.mechanics.compiled_form.NotCompiled` with the reason where there is none.
    """
    plain = not projects and not jumps and accuracy is None
    if plain and isinstance(system, LinearSystem):
        from klapper.schemes.linear_stretch import LinearStretch, obstacle

        if not obstacle(system):
            return LinearStretch(system, step, theta, tolerance, level)
    form = system.rigid_form() if plain and level == "velocity" else None
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
        clears=clears,
        keeps_lasting=keeps_lasting,
        jumps=jumps,
        accuracy=accuracy,
    )
