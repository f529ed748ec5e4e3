"""Modes, pseudo-modes and support shapes as the coordinates of a reduced system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from klapper.mechanics import LinearSystem, Signal
from klapper.mechanics.eigenmodes import Modes
from klapper.reduction.elasticity import Elasticity
from klapper.reduction.reduced import projected, start_in, start_of


@dataclass(frozen=True, eq=False)
class StaticPart:
    """What follows without inertia: F (n, m) by contact forces, C (m, m) [m/N], u(t) (n,) and Jᵀ u(t) by loads."""

    by_force: np.ndarray
    compliance: np.ndarray
    by_load: Signal | None
    shifts: Sequence[Signal] | None


def in_shapes(
    system: LinearSystem,
    elastic: Elasticity,
    kept: Modes,
    names: Sequence[str],
    name: str,
    static: StaticPart | None = None,
) -> tuple[LinearSystem, np.ndarray]:
    """The system in mass-orthonormal shapes, with one static shape more per independent two-sided constraint.

    The modes hold the constraints; what the constraints do, moving supports and reactions, is in their own shapes.
    """
    leading, values = elastic.support_shapes, elastic.supports.values(start_of(system))
    basis = np.hstack([kept.shapes, leading])
    start = np.vstack([start_in(system, kept.shapes, leading, values), values])
    reduced = projected(
        system,
        basis,
        names=[*names, *(f"support {i + 1}" for i in range(leading.shape[1]))],
        name=name,
        start=(start[:, 0], start[:, 1]),
        modes=(slice(len(kept)), kept.squares),
        shifts=None if static is None else static.shifts,
        compliance=None if static is None else static.compliance,
    )
    return reduced, basis


def mode_names(kept: Modes) -> list[str]:
    """Names of the coordinates: "rigid 1", …, "mode 1", …"""
    is_rigid = kept.squares == 0.0
    number = np.where(is_rigid, np.cumsum(is_rigid), np.cumsum(~is_rigid))
    return [f"{'rigid' if r else 'mode'} {i}" for r, i in zip(is_rigid, number, strict=True)]


def joined(first: Modes, second: Modes) -> Modes:
    return Modes(np.append(first.squares, second.squares), np.hstack([first.shapes, second.shapes]))
