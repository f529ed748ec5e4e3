"""A reduced system with the way back to the full one.

    q ≈ V y + F λ + u(t)

V (n, k) are the kept shapes, y the reduced coordinates; F λ and u(t) are the static parts by contact forces and loads,
where a reduction has them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sparse
from scipy.sparse.linalg import splu

from klapper.counting import counted
from klapper.mechanics import (
    Constraint,
    Contact,
    FrictionElement,
    InvalidModel,
    LinearSystem,
    Picture,
    Signal,
)
from klapper.reduction.elasticity import Elasticity
from klapper.reduction.loads import shifted
from klapper.reduction.picture import SeenThrough

_ROUND_OFF = 64 * np.finfo(float).eps  # of the products that an entry of Vᵀ A V is summed from


@dataclass(frozen=True, eq=False)
class ReductionError:
    """What the reduction leaves out, found without a simulation.

    ``highest``  [Hz] highest frequency of a mode that is kept dynamically; inf if all are
    ``contact``  (m,) share of each contact's static flexibility that is lost, 0 to 1, the worst of its directions; nan
                 where the structure has none
    ``load``     share of the strain energy that the load at the start causes statically that is lost, 0 to 1

    Two masses of 1 kg between walls, springs of 1 N/m: the second mass yields 2/3 m/N, the first mode alone 1/2 m/N.

    >>> from klapper.mechanics import Contact, LinearSystem
    >>> from klapper.reduction import modal
    >>> stop = Contact("stop", normal=[0.0, -1.0], gap=1.0)
    >>> chain = LinearSystem([1.0, 1.0], stiffness=[[2.0, -1.0], [-1.0, 2.0]], contacts=[stop])
    >>> modal(chain, 1).error.contact.round(6)
    array([0.25])
    """

    highest: float
    contact: np.ndarray
    load: float

    def __str__(self) -> str:
        reach = "all frequencies" if np.isinf(self.highest) else f"dynamics up to {self.highest:.4g} Hz"
        worst = float(np.nanmax(self.contact, initial=0.0))
        return (
            f"{reach}; lost of the static flexibility of the contacts: {_percent(worst)}, of the strain energy by "
            f"the load: {_percent(self.load)}"
        )


@dataclass(frozen=True, eq=False)
class Reduced:
    """A smaller system that stands for a larger one.

    ``system``   the reduced :class:`~klapper.mechanics.LinearSystem` with k coordinates
    ``full``     the system that was reduced
    ``basis``    V (n, k), dense or sparse
    ``error``    what is left out
    ``by_force`` F (n, m) [m/N] static shapes by unit normal contact forces, or None
    ``by_load``  u(t) (n,) [m] static response of what is not kept, or None

    The first mode of two equal masses between walls, q = (0.1, 0.1) cos t, seen half a period later:

    >>> import numpy as np
    >>> from klapper.mechanics import LinearSystem
    >>> from klapper.reduction import modal
    >>> from klapper.schemes import PiecewiseExact
    >>> from klapper.simulation import simulate
    >>> chain = LinearSystem([1.0, 1.0], stiffness=[[2.0, -1.0], [-1.0, 2.0]], position=[0.1, 0.1])
    >>> reduced = modal(chain, 1)
    >>> reduced.recover(simulate(reduced.system, np.pi, PiecewiseExact()))[-1].round(6)
    array([-0.1, -0.1])
    """

    system: LinearSystem
    full: LinearSystem
    basis: Any
    error: ReductionError
    by_force: np.ndarray | None = None
    by_load: Signal | None = None

    def recover(self, run: Any) -> np.ndarray:
        """Positions (s, n) of the full system over a run of the reduced one, see :meth:`output`."""
        full = run.position @ self.basis.T
        if self.by_force is not None:
            full = full + _forces(run) @ self.by_force.T
        if self.by_load is not None:
            full = full + self.by_load.value(run.time)
        return full

    def recover_velocity(self, run: Any) -> np.ndarray:
        """Velocities (s, n) of the full system, without those of static parts."""
        return run.velocity @ self.basis.T

    def output(self, run: Any, rows: Any, times: np.ndarray | None = None) -> np.ndarray:
        """Displacements r · q (s, k) of rows (k, n) of the full system, or (s,) of one row (n,), at little cost.

        ``times`` (s,) [s] within the run; None: its samples. Static parts by contact forces use the mean force since
        the sample before: save every step to have them exactly.
        """
        rows = np.asarray(rows, dtype=float)
        if rows.shape[-1:] != (self.full.size,) or rows.ndim > 2:
            raise InvalidModel(
                f"rows has shape {rows.shape}, expected ({self.full.size},) or (k, {self.full.size})."
            )
        position = run.position if times is None else run.position_at(times)
        values = position @ (self.basis.T @ rows.T)
        if self.by_force is not None:
            values = values + _forces(run, times) @ (self.by_force.T @ rows.T)
        if self.by_load is not None:
            values = values + self.by_load.mapped(rows).value(run.time if times is None else times)
        return values

    def gaps(self, run: Any, times: np.ndarray | None = None) -> np.ndarray:
        """Gaps (s, m) [m] with the compliance C λ of the contacts, which those of the run leave out."""
        gap = run.gap
        if times is not None:
            gap = run.position_at(times) @ self.system.normal_directions + self.system.gap_offsets(times)
        compliance = self.system.compliance
        return gap if compliance is None else gap + _forces(run, times) @ compliance

    def picture(self, until: float = 0.0) -> Picture | None:
        """What the full system looks like, moved by the reduced coordinates; static parts are left out."""
        return self.system.picture(until)

    def __str__(self) -> str:
        return (
            f"{self.system.name}: {self.full.size} → {counted(self.system.size, 'coordinate')}; {self.error}"
        )


def _forces(run: Any, times: np.ndarray | None = None) -> np.ndarray:
    """Normal forces (s, m) [N] at the samples or at given times, means between samples; zero at the start."""
    duration = np.diff(run.time, prepend=run.time[:1])[:, None]
    impulse = run.impulse[:, :, 0]
    force = np.divide(impulse, duration, out=np.zeros(impulse.shape), where=duration > 0.0)
    return force if times is None else force[np.minimum(np.searchsorted(run.time, times), len(force) - 1)]


def projected(
    full: LinearSystem,
    basis: Any,
    *,
    names: Sequence[str],
    name: str,
    start: tuple[np.ndarray, np.ndarray],
    modes: tuple[slice, np.ndarray] | None = None,
    shifts: Sequence[Signal] | None = None,
    compliance: np.ndarray | None = None,
) -> LinearSystem:
    """The system seen through q = V y: Vᵀ M V, Vᵀ K V, …, contacts with Vᵀ J.

    ``start``   positions and velocities (k,)
    ``modes``   which columns of V are orthonormal in mass, with their ω²; no other column has strain energy with them
    ``shifts``  added to the gaps, contact by contact
    """
    mass, stiffness = _small(full.mass_matrix, basis), _small(full.stiffness, basis)
    if modes is not None:
        mass, stiffness = _with_modes(mass, stiffness, *modes)
    parts = full.contacts.parts
    return LinearSystem(
        mass,
        damping=_small(full.damping, basis),
        gyroscopic=_small(full.gyroscopic, basis, -1.0),
        stiffness=stiffness,
        circulatory=_small(full.circulatory, basis, -1.0),
        force=full.load.mapped(basis.T),
        contacts=[_seen(part, basis, None if shifts is None else shifts[i]) for i, part in enumerate(parts)],
        constraints=[_constraint(part, basis) for part in full.constraint_parts],
        position=start[0],
        velocity=start[1],
        time=full.start.time,
        coordinates=names,
        compliance=compliance,
        penetration=np.inf,
        name=name,
        picture=SeenThrough(full, basis),
    )


def start_in(full: LinearSystem, shapes: np.ndarray, leading: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Position and velocity (k, 2) of the start in mass-orthonormal ``shapes`` (n, k).

    ``leading`` (n, r) shapes with given coordinates ``values`` (r, 2) carry their part of it.
    """
    rest = start_of(full) - leading @ values
    return shapes.T @ (full.mass_matrix @ rest)


def start_of(full: LinearSystem) -> np.ndarray:
    """Position and velocity (n, 2)."""
    return np.column_stack([full.start.position, full.start.velocity])


def contact_columns(system: LinearSystem) -> tuple[Any, np.ndarray, np.ndarray]:
    """Directions J (n, c) in which contacts can carry forces, sparse; their contacts (c,); which are normal (c,)."""
    d, count = system.contacts.tangential, system.contacts.count
    normal = sparse.csc_array(system.normal_directions)
    columns, owners = [normal], [np.arange(count)]
    if d:
        rough = np.array([part.rough for part in system.contacts.parts])
        columns.append(sparse.csc_array(system.tangential_directions)[:, np.repeat(rough, d)])
        owners.append(np.repeat(np.arange(count)[rough], d))
    every, owner = sparse.hstack(columns, format="csc"), np.concatenate(owners)
    is_normal = np.arange(len(owner)) < count
    there = np.diff(every.indptr) > 0
    return every[:, there], owner[there], is_normal[there]


def reduction_error(
    elastic: Elasticity,
    full: LinearSystem,
    system: LinearSystem,
    basis: Any,
    highest: float,
    by_load: Signal | None = None,
) -> ReductionError:
    """Static flexibility of contacts and loads, full against reduced.

    ``by_load``  what the load does statically beside the kept coordinates
    """
    columns, owner, normal = contact_columns(full)
    rigid = _rigid(elastic, full, system, basis)
    small = Elasticity(system.mass_matrix, system.stiffness, system.constraint_matrix, rigid)
    wanted, kept = elastic.flexibility(columns), small.flexibility(basis.T @ columns)
    if system.compliance is not None:
        kept[normal] += np.diag(system.compliance)[owner[normal]]
    lost = np.full(full.contacts.count, np.nan)
    deformed = wanted != 0.0
    share = np.abs(1.0 - kept[deformed] / wanted[deformed])
    np.fmax.at(lost, owner[deformed], np.minimum(share, 1.0))
    return ReductionError(highest, lost, _lost_load(elastic, small, full, basis, by_load))


def _lost_load(
    elastic: Elasticity, small: Elasticity, full: LinearSystem, basis: Any, by_load: Signal | None
) -> float:
    load = full.load.value(full.start.time)
    if not elastic.deforms(load):
        return 0.0
    energy = float(elastic.flexibility(load[:, None])[0])
    kept = float(small.flexibility((basis.T @ load)[:, None])[0])
    if by_load is not None:
        kept += float(load @ by_load.value(full.start.time))
    return min(abs(1.0 - kept / energy), 1.0)


def _rigid(elastic: Elasticity, full: LinearSystem, system: LinearSystem, basis: Any) -> np.ndarray:
    """The rigid modes (k, r) of the full system that the reduced one has, mass-normalised."""
    rigid = elastic.supports.spread(elastic.rigid)
    if rigid.shape[1] == 0:
        return np.zeros((system.size, 0))
    mass, seen = system.mass_matrix, basis.T @ (full.mass_matrix @ rigid)
    found = splu(mass.tocsc()).solve(seen) if sparse.issparse(mass) else np.linalg.solve(mass, seen)
    values, vectors = np.linalg.eigh(found.T @ (mass @ found))
    there = values > 0.5  # 1 for those that the basis has, 0 for those that it has not
    return found @ (vectors[:, there] / np.sqrt(values[there]))


def require_linear(system: Any, what: str) -> None:
    """Refuse what the reduction cannot take, by name."""
    if not isinstance(system, LinearSystem):
        raise InvalidModel(f"{what} takes a LinearSystem, not {type(system).__name__}; linearise it first.")
    if system.compliance is not None:
        raise InvalidModel(
            f"'{system.name}' has contact compliance, so it has been reduced before; reduce the full one."
        )


def _small(matrix: Any, basis: Any, sign: float = 1.0) -> Any:
    """Vᵀ A V, exactly symmetric or skew; what is only rounding of the products it is summed from is zero."""
    if matrix is None:
        return None
    small = basis.T @ (matrix @ basis)
    small = 0.5 * (small + sign * small.T)
    if sparse.issparse(basis):
        return small
    size = np.sqrt(np.einsum("ij,ij->j", np.abs(basis), abs(matrix) @ np.abs(basis)))
    return np.where(np.abs(small) > _ROUND_OFF * np.outer(size, size), small, 0.0)


def _with_modes(mass: Any, stiffness: Any, which: slice, squares: np.ndarray) -> tuple[Any, Any]:
    """Orthogonality of modes is known exactly, not to rounding."""
    mass, places = mass.copy(), np.arange(mass.shape[0])[which]
    mass[which, which] = np.eye(len(places))
    if stiffness is None:
        return mass, None
    stiffness = stiffness.copy()
    stiffness[which], stiffness[:, which] = 0.0, 0.0
    stiffness[places, places] = squares
    return mass, stiffness


def _seen(part: Contact | FrictionElement, basis: Any, shift: Signal | None) -> Contact | FrictionElement:
    changes: dict[str, Any] = {}
    if part.tangents is not None:
        changes["tangents"] = (basis.T @ np.asarray(part.tangents).T).T
    if isinstance(part, Contact):
        changes["normal"] = basis.T @ part.normal
        changes["gap"] = part.gap if shift is None else shifted(part.gap, shift)
    if not all(np.any(changes.get(rows, 1.0)) for rows in ("normal", "tangents")):
        raise InvalidModel(
            f"{part.called} is at rest in all kept shapes; keep more modes, or use attachment modes."
        )
    return replace(part, **changes)


def _constraint(part: Constraint, basis: Any) -> Constraint:
    return replace(part, direction=basis.T @ part.direction)


def _percent(share: float) -> str:
    return "nothing" if share < 1e-8 else f"{100 * share:.3g} %"
