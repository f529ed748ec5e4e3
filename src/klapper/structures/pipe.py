"""A pipe that conveys fluid: flow takes stiffness away and adds gyroscopic forces.

    E I w'''' + (M_f U² − T) w'' + 2 M_f U ẇ' + (m + M_f) ẅ + d ẇ = p(x, t)

U is the flow velocity, M_f the mass of fluid per length. In coordinates, w = Nᵀ q,

    G = M_f U ∫ (N N'ᵀ − N' Nᵀ) dx,   K = K_el + (T − M_f U²) ∫ N' N'ᵀ dx,

and at a free outlet the jet adds damping M_f U N Nᵀ and the follower force M_f U² N N'ᵀ, which has a circulatory part.
Païdoussis, Fluid-Structure Interactions, vol. 1; Waltersberger & Wauer (2005), section 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sparse

from klapper.counting import counted
from klapper.mechanics import Constraint, Contact, FrictionElement, InvalidModel, LinearSystem, Picture
from klapper.mechanics.arguments import number
from klapper.structures.beam import Beam
from klapper.structures.line import Line
from klapper.structures.line_mesh import gram
from klapper.structures.material import Material
from klapper.structures.section import Section
from klapper.structures.structure import Structure


class Pipe:
    """A straight pipe along 0 ≤ x ≤ ``length`` [m], flow towards rising x.

    ``bending_stiffness``  E I [N m²]
    ``mass_pipe``          m [kg/m], of the empty pipe; ``mass_fluid`` M_f [kg/m], of the fluid in it
    ``supports``           as of :class:`~klapper.structures.Beam`; the inlet must be held, the outlet may be free
    ``tension``            T [N], constant along the pipe, less the force of an internal pressure on its area
    ``damping``            d [N s/m²], against the surroundings; ``material_damping`` α₂ [s], α₂ K_el
    ``elements``           their number, or the coordinates of their ends [m]; of ``degree`` 3 or more
    ``name``               of the structure

    >>> pipe = Pipe(2.0, 100.0, 1.0, 0.5, supports={0.0: "pinned", 2.0: "pinned"})
    >>> critical = np.pi / 2.0 * np.sqrt(100.0 / 0.5)  # (π/L) √(E I/M_f)
    >>> flows = [pipe.structure(share * critical) for share in (0.999, 1.001)]
    >>> [bool(np.linalg.eigvalsh(flow.stiffness.toarray())[0] > 0.0) for flow in flows]  # stable, buckled
    [True, False]
    """

    def __init__(
        self,
        length: float,
        bending_stiffness: float,
        mass_pipe: float,
        mass_fluid: float,
        *,
        supports: Mapping[float, str],
        tension: float = 0.0,
        damping: float = 0.0,
        material_damping: float = 0.0,
        elements: Any = 20,
        degree: int = 3,
        name: str = "pipe",
    ) -> None:
        stiffness = number(bending_stiffness, "bending_stiffness", "numbers above 0, in N m²", above=0.0)
        number(mass_pipe, "mass_pipe", "numbers above 0, in kg/m", above=0.0)
        self.mass_fluid = number(mass_fluid, "mass_fluid", "numbers from 0 on, in kg/m", at_least=0.0)
        self.tension = number(tension, "tension", "finite numbers, in N")
        drag = number(damping, "damping", "numbers from 0 on, in N s/m²", at_least=0.0)
        material = number(material_damping, "material_damping", "numbers from 0 on, in s", at_least=0.0)
        beam = Beam(
            length,
            Material(stiffness, mass_pipe + self.mass_fluid),
            Section(1.0, 1.0),  # all is in the line mass and the bending stiffness
            elements=elements,
            degree=degree,
            theory="euler-bernoulli",
            supports=supports,
            name=name,
        )
        self.beam: Beam = beam.with_rayleigh(stiffness=material).with_external_damping(drag)
        if np.abs(self.beam.row(0.0)).max(initial=0.0) > 1e-9:
            raise InvalidModel(f"the inlet of '{name}' at 0 m is not held; support it there.")
        points, weights = self.beam.mesh.quadrature(self.beam.degree + 1)
        value, slope = (sparse.csr_array(self.beam.rows(points, quantity)) for quantity in ("w", "slope"))
        crossed = value.T @ sparse.diags_array(weights) @ slope
        self._skew = (crossed - crossed.T).tocsr()  # ∫ (N N'ᵀ − N' Nᵀ) dx
        self._stretched = gram(slope, weights)  # ∫ N' N'ᵀ dx

    @property
    def length(self) -> float:
        """[m]."""
        return self.beam.length

    @property
    def size(self) -> int:
        """Number n of coordinates."""
        return self.beam.size

    def rows(self, x: Any, quantity: str = "w") -> np.ndarray:
        """(k, n): "w", "slope", "moment" or "shear" at ``x`` (k,) [m]; see :meth:`Beam.rows`."""
        return self.beam.rows(x, quantity)

    def row(self, x: float, quantity: str = "w") -> np.ndarray:
        """(n,): one of the :meth:`rows`."""
        return self.beam.row(x, quantity)

    def line(self) -> Line:
        """The deflection along the pipe, for contacts."""
        return self.beam.line()

    def structure(self, flow: float, *, gravity: float = 0.0) -> Structure:
        """The pipe with a ``flow`` velocity U [m/s]; ``gravity`` [m/s²] pulls it towards negative w."""
        speed = number(flow, "flow", "finite numbers from 0 on, in m/s", at_least=0.0)
        at_outlet = sparse.csr_array(self.row(self.length)[:, None])
        follower = (
            self.mass_fluid * speed**2 * (at_outlet @ sparse.csr_array(self.row(self.length, "slope")[None]))
        )
        jet = self.mass_fluid * speed * (at_outlet @ at_outlet.T)
        beam = self.beam.with_gravity(number(gravity, "gravity"))
        return Structure(
            beam.mass,
            beam.stiffness
            + (self.tension - self.mass_fluid * speed**2) * self._stretched
            + 0.5 * (follower + follower.T),
            damping=jet if beam.damping is None else beam.damping + jet,
            gyroscopic=self.mass_fluid * speed * self._skew,
            circulatory=0.5 * (follower - follower.T),
            load=beam.load,
            coordinates=beam.coordinates,
            name=beam.name,
        )

    def system(
        self,
        flow: float,
        contacts: Sequence[Contact | FrictionElement] = (),
        constraints: Sequence[Constraint] = (),
        *,
        gravity: float = 0.0,
        **start: Any,
    ) -> LinearSystem:
        """The equations of motion at a ``flow`` [m/s]; ``start``: see :meth:`Structure.system`."""
        structure = self.structure(flow, gravity=gravity)
        return structure.system(contacts, constraints, picture=self.picture, **start)

    def picture(self, until: float = 0.0) -> Picture:
        """The beam that the pipe is."""
        return self.beam.picture(until)

    def __repr__(self) -> str:
        return f"Pipe('{self.beam.name}', {counted(self.size, 'coordinate')})"
