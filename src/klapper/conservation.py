"""``conservation``: whether a run kept energy, momentum and angular momentum, step by step.

    print(conservation(run, system))

Every run of a system that knows its momenta is judged by :func:`klapper.simulate`: see ``run.conservation``
and the audit. Called with the system it gives histories as well, for plots.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.momenta import Pushes, has_momenta, momentum_sizes
from klapper.mechanics.system import System
from klapper.results import Run
from klapper.results.conservation import Conservation, Conserved

__all__ = ["conservation"]

_TOLERANCE = 1e-10  # of schemes that solve no equations
_LOOKS = 5  # samples at which it is asked what acts from outside


def conservation(run: Run, system: System, *, tolerance: float | None = None) -> Conservation:
    """Energy, momentum and angular momentum of a ``run`` of ``system``, which must know its momenta.

    ``tolerance``  allowed change in a step, in units of the terms of a quantity; None: that of the scheme's equations

    One element of 2 kg that flies with (3, 4) m/s has the momentum (6, 8) kg m/s and keeps it:

    >>> from klapper.conservation import conservation
    >>> from klapper.continuum import Continuum, SaintVenantKirchhoff, Solid, block
    >>> from klapper.schemes import EnergyMomentum
    >>> from klapper.simulation import simulate
    >>> cell = Solid("cell", block((1.0, 1.0), (1, 1)), SaintVenantKirchhoff(100.0, 0.1), density=2.0)
    >>> flying = Continuum([cell], velocity={"cell": (3.0, 4.0)})
    >>> momentum = conservation(simulate(flying, 1.0, EnergyMomentum(0.5)), flying)["momentum"]
    >>> momentum.history[-1].round(9), momentum.kept
    (array([6., 8.]), True)
    """
    if not has_momenta(system):
        raise InvalidModel(
            f"'{system.name}' has no linear_momentum and angular_momentum; a Continuum has, or give a system both."
        )
    if tolerance is None:
        given = run.about.get("settings", {}).get("tolerance")
        tolerance = given if isinstance(given, float) else _TOLERANCE
    samples, ledger = run.samples, run.ledger
    outside = Pushes(system).named(_forces(run, system))
    sizes = momentum_sizes(system, samples.position, samples.velocity)
    linear = np.array([system.linear_momentum(v) for v in samples.velocity])
    angular = np.array(
        [system.angular_momentum(q, v) for q, v in zip(samples.position, samples.velocity, strict=True)]
    )
    common: dict[str, Any] = {"step": samples.step, "tolerance": tolerance}
    found = (
        Conserved.of("energy", "J", -ledger.numerical[:, None], size=ledger.scale, **common),
        Conserved.of("momentum", "kg m/s", linear, size=sizes[0], changed_by=outside[0], **common),
        Conserved.of("angular momentum", "kg m²/s", angular, size=sizes[1], changed_by=outside[1], **common),
    )
    return Conservation({each.name: each for each in found})


def _forces(run: Run, system: System) -> Iterator[tuple[np.ndarray, dict[str, np.ndarray]]]:
    """Generalised forces by what makes them, at some samples."""
    samples = run.samples
    for k in _looked_at(run):
        t, q = float(samples.time[k]), samples.position[k]
        forces = {"loads": np.asarray(system.force(t, q, samples.velocity[k]), dtype=float)}
        if len(run.layout.constraints):
            forces["supports"] = system.constraint_directions(t, q)[0] @ samples.constraint_impulse[k]
        which, impulse = _contact_impulses(run, k)
        if len(which):
            directions = system.directions(t, q, which)
            forces["contacts"] = (
                directions.normal @ impulse[:, 0] + directions.tangential @ impulse[:, 1:].ravel()
            )
        yield q, forces


def _looked_at(run: Run) -> list[int]:
    """Samples: some at equal distances, and those with the largest impulses."""
    samples = run.samples
    chosen = {int(k) for k in np.linspace(0, len(samples) - 1, min(_LOOKS, len(samples)))}
    for impulse in (samples.constraint_impulse, samples.impulse[:, :, 0]):
        if impulse.size:
            chosen.add(int(np.argmax(np.abs(impulse).sum(axis=1))))
    if samples.loaded is not None:
        chosen.add(int(np.argmax(np.diff(samples.loaded.start))))
    return sorted(chosen)


def _contact_impulses(run: Run, sample: int) -> tuple[np.ndarray, np.ndarray]:
    """Contacts (k,) loaded at a sample and their impulses (k, 1 + d) [N s]."""
    loaded = run.samples.loaded
    if loaded is not None:
        part = slice(loaded.start[sample], loaded.start[sample + 1])
        return loaded.contact[part], loaded.impulse[part]
    impulse = run.samples.impulse[sample]
    which = np.flatnonzero(np.any(impulse != 0.0, axis=1))
    return which, impulse[which]
