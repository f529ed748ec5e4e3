"""Averaged contact areas as contacts of a system.

    LinearSystem(M, stiffness=K, contacts=areal_contacts(contact, gradients, gap=0.001, patches=patches, …))

Each weight function becomes a contact, each friction patch a friction element whose limit is the row of the μ matrix,
Waltersberger (3.74).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from klapper.mechanics.areal import AveragedContact, FrictionPatches, friction_matrix
from klapper.mechanics.contacts import Contact, FrictionElement
from klapper.mechanics.errors import InvalidModel


def areal_contacts(
    contact: AveragedContact,
    gradients: Any,
    *,
    gap: Any = 0.0,
    restitution: float = 0.0,
    patches: FrictionPatches | None = None,
    sliding: Any = None,
    friction: Any = 0.0,
    name: str = "",
) -> list[Contact | FrictionElement]:
    """Contacts with constant directions from shape functions sampled on the contact area.

    ``contact``    the averaged gaps g_i = ∫ h_i g dΓ; ``restitution`` ε of all of them, dimensionless
    ``gradients``  ∂g/∂q (k, n) at ``contact.points``
    ``gap``        gap at q = 0, one number or (k,) [m]
    ``patches``    friction patches on the same area, with
    ``sliding``    ∂v_T/∂v (k, n) or (k, d, n) at the area's points and
    ``friction``   coefficient of every patch, dimensionless, one number or (s,)
    ``name``       put in front of the names of contacts and patches

    A lid on a ledge of 1 m, hinged at x = 0 and turned by the angle q with the gap x q, cut into two boxes:

    >>> from klapper.mechanics import ContactArea
    >>> ledge = ContactArea.line(1.0, panels=2)
    >>> halves = AveragedContact.boxes(ledge, [0.0, 0.5, 1.0])
    >>> [part.normal.round(12).tolist() for part in areal_contacts(halves, halves.points, gap=0.001)]
    [[0.25], [0.75]]
    """
    prefix = f"{name} " if name else ""
    normal = contact.directions(gradients)
    offsets = contact.average(np.broadcast_to(np.asarray(gap, dtype=float), len(contact.points)))
    parts: list[Contact | FrictionElement] = [
        Contact(prefix + title, normal=normal[:, i], gap=float(offsets[i]), restitution=restitution)
        for i, title in enumerate(contact.names)
    ]
    if patches is None:
        return parts
    if sliding is None:
        raise InvalidModel("friction patches need sliding, ∂v_T/∂v at the points of the contact area.")
    tangential = patches.directions(sliding)
    d = tangential.shape[1] // patches.count
    limits = friction_matrix(contact, patches, friction)
    for i, title in enumerate(patches.names):
        shares = {
            prefix + pressed: float(share)
            for pressed, share in zip(contact.names, limits[i], strict=True)
            if share > 0
        }
        if shares:
            columns = tangential[:, i * d : (i + 1) * d]
            parts.append(FrictionElement(prefix + title, tangents=columns.T, shares=shares))
    return parts
