"""Contact and friction between the laminae of a delaminated beam.

    gap        u₁₂ − u₁₃ ≥ 0                                                          Waltersberger (5.150)
    sliding    (u₂₂ − u₂₃, u₃₂ − u₃₃ + (t₂ u₁₂' + t₃ u₁₃')/2)                        (5.156) with slopes

The second component is that of the touching surfaces; the thesis takes the axes only, which slide even where a tip
turns as a rigid body. Patches use the mean of the sliding velocity, (3.43); (5.159) prints a factor L₂ in addition.
"""

from __future__ import annotations

from typing import Any, Literal, Protocol

import numpy as np

from klapper.mechanics import (
    AveragedContact,
    Contact,
    ContactArea,
    FrictionElement,
    FrictionPatches,
    InvalidModel,
)
from klapper.mechanics.areal_contacts import areal_contacts
from klapper.mechanics.arguments import whole
from klapper.structures.delamination_segments import Segment

Weight = Literal["dirac", "box", "hat"]
Slip = Literal["surface", "axis"]

_PANELS = 24  # at least so many along the joint, for modes that are no polynomials


class Displacements(Protocol):
    """Displacement functions of a delaminated beam."""

    @property
    def segments(self) -> tuple[Segment, ...]: ...

    def rows(self, segment: int, places: Any, direction: int, derivative: int = 0) -> np.ndarray: ...


def gap_rows(functions: Displacements, places: Any) -> np.ndarray:
    """Opening u₁₂ − u₁₃ (k, n) [m] at the ``places`` ξ (k,) of the joint. (5.151)–(5.153)"""
    return functions.rows(2, places, 1) - functions.rows(3, places, 1)


def slip_rows(functions: Displacements, places: Any, slip: Slip = "surface") -> np.ndarray:
    """Sliding of lamina 2 on lamina 3 (k, 2, n) in directions 2 and 3, of the surfaces or of the axes. (5.157)"""
    width, along = (functions.rows(2, places, axis) - functions.rows(3, places, axis) for axis in (2, 3))
    if slip == "surface":
        _, upper, lower, _ = functions.segments
        turning = upper.thickness * functions.rows(2, places, 1, 1) + lower.thickness * functions.rows(
            3, places, 1, 1
        )
        along = along + 0.5 * turning
    elif slip != "axis":
        raise InvalidModel(f"slip is {slip!r}; allowed are 'surface' and 'axis'.")
    return np.stack([width, along], axis=1)


def joint_contacts(
    functions: Displacements,
    count: int,
    *,
    weight: Weight = "dirac",
    friction: Any = 0.0,
    patches: int | None = None,
    slip: Slip = "surface",
    restitution: float = 0.0,
    breaks: Any = (),
) -> list[Contact | FrictionElement]:
    """``count`` contacts along the joint, and friction patches if there is friction.

    ``weight``   "dirac": gaps at ``count`` inner points at equal distances; "box": means over equal parts;
                 "hat": linear between equally spaced points, the ends included
    ``friction`` coefficient, one number or (patches,); ``patches`` of equal length, as many as contacts if not given
    ``breaks``   places ξ where the displacement functions have kinks, to be observed by the quadrature
    """
    m = whole(count, "count", 2 if weight == "hat" else 1)
    s = m if patches is None else whole(patches, "patches", 1)
    length = functions.segments[1].length
    cells = np.linspace(0.0, 1.0, (m - 1 if weight == "hat" else m) + 1)
    parts = np.linspace(0.0, 1.0, s + 1)
    area = ContactArea.line(
        length, panels=length * _merged(cells, parts, breaks, np.linspace(0.0, 1.0, _PANELS + 1))
    )
    names = [f"joint {i + 1}" for i in range(m)]
    if weight == "dirac":
        contact = AveragedContact.diracs(area, length * np.arange(1, m + 1) / (m + 1), names=names)
    elif weight == "box":
        contact = AveragedContact.boxes(area, length * cells, names=names)
    elif weight == "hat":
        contact = AveragedContact.hats(area, length * cells, names=names)
    else:
        raise InvalidModel(f"weight is {weight!r}; allowed are 'dirac', 'box' and 'hat'.")
    gradients = gap_rows(functions, contact.points[:, 0] / length)
    if not np.any(friction):
        return areal_contacts(contact, gradients, restitution=restitution)
    return areal_contacts(
        contact,
        gradients,
        restitution=restitution,
        patches=FrictionPatches(area, length * parts, names=[f"patch {i + 1}" for i in range(s)]),
        sliding=slip_rows(functions, area.points[:, 0] / length, slip),
        friction=friction,
    )


def _merged(*places: Any) -> np.ndarray:
    """All places, rising, those closer than round-off only once."""
    everything = np.unique(np.concatenate([np.asarray(each, dtype=float) for each in places]))
    keep = np.concatenate([[True], np.diff(everything) > 1e-9])
    keep[-1] = True
    merged = everything[keep]
    return merged if merged[-1] - merged[-2] > 1e-9 else np.delete(merged, -2)
