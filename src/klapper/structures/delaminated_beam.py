"""A beam with a delamination through its width, standing or rotating about its axis.

Four Euler–Bernoulli segments, simply supported and held lengthwise, computed in two ways that share nothing but the
data: natural modes as functions, found by counting, as Ritz functions of the rotating beam, Waltersberger
(5.108)–(5.129); or finite elements. Both answer with the same :class:`DelaminatedModel`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from klapper.mechanics import Contact, FrictionElement, InvalidModel, LinearSystem, Picture
from klapper.mechanics.arguments import finite, number, whole
from klapper.mechanics.eigenmodes import lowest_modes
from klapper.structures.delamination_elements import ElementFunctions, element_rotor
from klapper.structures.delamination_joint import Slip, Weight, gap_rows, joint_contacts, slip_rows
from klapper.structures.delamination_mesh import fitting_elements, require_resolvable
from klapper.structures.delamination_modes import ModeFunctions, mode_functions
from klapper.structures.delamination_segments import DIRECTIONS, PLANES, SEGMENTS, Segment
from klapper.structures.delamination_spectrum import count_below, natural_frequencies
from klapper.structures.picture import laminate_picture
from klapper.structures.rotating import GRAVITY, Rotor

Method = Literal["semi-analytical", "fe"]
Plane = Literal["1-3", "2-3", "both"]


@dataclass(frozen=True)
class DelaminatedBeam:
    """A beam that is split along a part of its length, by its data; lengths in m.

    ``length``        L; ``height`` a in direction 1, ``width`` b in direction 2
    ``delamination``  L₂, its length; centred, or at ``centre`` [m] from the left support
    ``depth``         h, thickness of lamina 3, on the side of negative direction 1
    ``young``         E [N/m²]; ``density`` ρ [kg/m³]
    ``coupling``      whether turning tips move the laminae lengthwise, (5.143)–(5.146); without it f₁ is too low

    >>> beam = DelaminatedBeam(1.0, 0.6, 0.01, 0.01, 0.0075, 210e9, 7500.0)
    >>> beam.frequencies(3, plane="1-3").round(2).tolist()
    [22.81, 43.08, 67.47]
    """

    length: float
    delamination: float
    height: float
    width: float
    depth: float
    young: float
    density: float
    coupling: bool = True
    centre: float | None = None

    def __post_init__(self) -> None:
        for name, unit in _POSITIVE.items():
            number(getattr(self, name), name, f"numbers above 0, in {unit}", above=0.0)
        if self.depth >= self.height:
            raise InvalidModel(
                f"depth is {self.depth} m; allowed are numbers below the height, {self.height} m."
            )
        if min(part.length for part in self.segments) <= 0.0:
            raise InvalidModel(
                f"a delamination of {self.delamination} m about {self._middle} m reaches beyond a beam of "
                f"{self.length} m; intact parts must remain at both ends."
            )

    @property
    def _middle(self) -> float:
        return 0.5 * self.length if self.centre is None else self.centre

    @cached_property
    def segments(self) -> tuple[Segment, ...]:
        """The four segments: intact, lamina 2 above, lamina 3 below, intact."""
        a, h, split = self.height, self.depth, self.delamination
        first = self._middle - 0.5 * split
        shapes = (
            (first, a, 0.0),
            (split, a - h, 0.5 * h),
            (split, h, -0.5 * (a - h)),
            (self.length - first - split, a, 0.0),
        )
        return tuple(
            Segment(
                number=i + 1,
                length=length,
                thickness=t,
                offset=y,
                lever=y if self.coupling else 0.0,
                bending=(self.young * self.width * t**3 / 12, self.young * t * self.width**3 / 12),
                axial=self.young * self.width * t,
                line_mass=self.density * self.width * t,
            )
            for i, (length, t, y) in enumerate(shapes)
        )

    def frequencies(
        self,
        count: int,
        *,
        plane: Plane = "both",
        method: Method = "semi-analytical",
        elements: Sequence[int] | None = None,
    ) -> np.ndarray:
        """The lowest natural frequencies (count,) [Hz] of the beam at rest, multiple ones repeated."""
        count = whole(count, "count", 1)
        if method == "fe":
            return self.model(count, plane=plane, method="fe", elements=elements).frequencies
        _require_method(method)
        found = [natural_frequencies(self.segments, each, count) for each in _planes(plane)]
        return np.sort(np.concatenate(found))[:count] / (2 * np.pi)

    def count_below(self, frequency: float, *, plane: Plane = "both") -> int:
        """Number of natural frequencies below ``frequency`` [Hz], by the count of Wittrick and Williams."""
        omega = np.array([2 * np.pi * number(frequency, "frequency", "numbers above 0, in Hz", above=0.0)])
        return int(sum(count_below(self.segments, each, omega)[0] for each in _planes(plane)))

    def model(
        self,
        modes: int | None = 16,
        *,
        plane: Plane = "both",
        method: Method = "semi-analytical",
        external_damping: Any = 0.0,
        material_damping: float = 0.0,
        elements: Sequence[int] | None = None,
    ) -> DelaminatedModel:
        """The beam in coordinates of its lowest ``modes``, sorted over both planes, or of one plane only.

        ``external_damping``  d_a [N s/m²], one number or (4,), of each segment against the frame that stands still
        ``material_damping``  α₂ [s], D_in = α₂ K_el, (5.124)
        ``elements``          of each segment (4,) for ``method`` "fe", chosen for the modes if not given; there
                              ``modes`` None keeps all coordinates
        """
        modes = None if modes is None else whole(modes, "modes", 1)
        drag = np.broadcast_to(finite(external_damping, "external_damping"), 4).copy()
        if drag.min() < 0.0:
            raise InvalidModel(
                f"external_damping is {external_damping}; allowed are numbers from 0 on, in N s/m²."
            )
        functions: ModeFunctions | ElementFunctions
        if method == "fe":
            functions, rotor, hertz = _by_elements(self.segments, modes, _planes(plane), drag, elements)
        else:
            _require_method(method)
            if modes is None:
                raise InvalidModel("modes is None; the semi-analytical method needs their number.")
            functions = natural = mode_functions(self.segments, modes, _planes(plane))
            rotor, hertz = _ritz_rotor(natural, drag.tolist()), natural.angular_frequencies / (2 * np.pi)
        return DelaminatedModel(self, rotor.with_material_damping(material_damping), functions, hertz)

    def system(
        self,
        speed: float = 0.0,
        *,
        gravity: Any = GRAVITY,
        external_damping: Any = 0.0,
        material_damping: float = 0.0,
        modes: int | None = 16,
        contacts: int = 39,
        plane: Plane = "both",
        method: Method = "semi-analytical",
    ) -> LinearSystem:
        """The beam turning at ``speed`` [Hz] under ``gravity`` (2,) [m/s²], with points of contact in the joint.

        For other weights, friction, forces and starts, take :meth:`model`.
        """
        made = self.model(
            modes,
            plane=plane,
            method=method,
            external_damping=external_damping,
            material_damping=material_damping,
        )
        return made.system(speed, made.contacts(contacts), gravity=gravity)


@dataclass(frozen=True, eq=False)
class DelaminatedModel:
    """A delaminated beam in n coordinates: matrices, displacement functions, contacts.

    ``rotor``        matrices with the speed factored out
    ``functions``    displacement functions
    ``frequencies``  (n,) of the beam at rest [Hz] if the coordinates are modes, rising; else empty

    Sideways (plane 2-3) the delamination does not matter, and f₁ is that of an intact beam, (π/2L²) √(E b²/12ρ):

    >>> beam = DelaminatedBeam(1.0, 0.6, 0.01, 0.01, 0.0075, 210e9, 7500.0)
    >>> model = beam.model(1, plane="2-3", method="fe", elements=(2, 4, 4, 2))
    >>> intact = np.pi / 2 * np.sqrt(210e9 * 0.01**2 / 12 / 7500.0)
    >>> round(float(model.frequencies[0]), 2), round(float(intact), 2)
    (24.0, 23.99)
    """

    beam: DelaminatedBeam
    rotor: Rotor
    functions: ModeFunctions | ElementFunctions
    frequencies: np.ndarray

    @property
    def size(self) -> int:
        return self.rotor.size

    def rows(self, segment: int, places: Any, direction: int, derivative: int = 0) -> np.ndarray:
        """Displacement in ``direction`` 1, 2 or 3, or its derivative along segment 1…4: (k, n) at ξ (k,)."""
        xi = np.atleast_1d(finite(places, "places"))
        if segment not in SEGMENTS or direction not in DIRECTIONS:
            raise InvalidModel(
                f"segment {segment}, direction {direction}: segments are 1 to 4, directions 1 to 3."
            )
        if xi.min() < 0.0 or xi.max() > 1.0:
            raise InvalidModel(
                f"places lie between {xi.min():g} and {xi.max():g}; allowed are numbers from 0 to 1."
            )
        return self.functions.rows(segment, xi, direction, derivative)

    def row(self, segment: int, place: float, direction: int, derivative: int = 0) -> np.ndarray:
        """One of the :meth:`rows` (n,)."""
        return self.rows(segment, [place], direction, derivative)[0]

    def gap_rows(self, places: Any) -> np.ndarray:
        """Opening of the joint (k, n) at ξ (k,). (5.152)"""
        return gap_rows(self.functions, np.atleast_1d(finite(places, "places")))

    def slip_rows(self, places: Any, *, slip: Slip = "surface") -> np.ndarray:
        """Sliding in the joint (k, 2, n) at ξ (k,), in directions 2 and 3. (5.157)"""
        return slip_rows(self.functions, np.atleast_1d(finite(places, "places")), slip)

    def contacts(
        self,
        count: int = 39,
        *,
        weight: Weight = "dirac",
        friction: Any = 0.0,
        patches: int | None = None,
        slip: Slip = "surface",
        restitution: float = 0.0,
    ) -> list[Contact | FrictionElement]:
        """Contacts of the joint with or without friction, see :func:`joint_contacts`."""
        breaks: list[np.ndarray] = []
        if isinstance(self.functions, ElementFunctions):
            breaks = [np.linspace(0.0, 1.0, self.functions.elements[i] + 1) for i in (1, 2)]
        return joint_contacts(
            self.functions,
            count,
            weight=weight,
            friction=friction,
            patches=patches,
            slip=slip,
            restitution=restitution,
            breaks=np.concatenate(breaks) if breaks else (),
        )

    def system(
        self,
        speed: float = 0.0,
        contacts: Sequence[Contact | FrictionElement] = (),
        *,
        gravity: Any = GRAVITY,
        force: Any = None,
        row: Any = None,
        **start: Any,
    ) -> LinearSystem:
        """The equations of motion in the frame that turns at ``speed`` [Hz].

        ``force``  one more load: (n,) or, with a ``row`` (n,), one number over time in its direction [N]
        ``start``  position, velocity, time, name: see :meth:`Structure.system`
        """
        structure = self.rotor.structure(speed, gravity=gravity)
        if force is not None:
            structure = structure.with_load(force, row)
        return structure.system(contacts, picture=self.picture, **start)

    def picture(self, until: float = 0.0) -> Picture:
        """The four segments in the plane in which the joint opens."""
        return laminate_picture(self)


def _ritz_rotor(modes: ModeFunctions, drag: Sequence[float]) -> Rotor:
    """Ritz matrices of natural modes, Ω factored out. (5.115)–(5.129)"""
    parts = modes.segments
    inert = [part.line_mass for part in parts]
    n = modes.size
    turned = modes.gram(inert, 2, 1)  # ∫ ν Uᵀ Ω̃ U = ∫ ν (u₂ u₁ᵀ − u₁ u₂ᵀ)
    across = modes.gram(inert, 1, 1) + modes.gram(inert, 2, 2)
    dragged = modes.gram(drag, 2, 1)
    damping = sum((modes.gram(drag, axis, axis) for axis in DIRECTIONS), np.zeros((n, n)))
    heavy = [part.line_mass * part.offset for part in parts]
    slowed = [d * part.offset for part, d in zip(parts, drag, strict=True)]
    return Rotor(
        mass=np.eye(n),
        stiffness=np.diag(modes.angular_frequencies**2),
        internal_damping=np.zeros((n, n)),
        external_damping=0.5 * (damping + damping.T),
        gyroscopic=2.0 * (turned - turned.T),
        centrifugal=0.5 * (across + across.T),
        circulatory=dragged - dragged.T,
        unbalance=modes.mean(heavy, 1),
        drag=-modes.mean(slowed, 2),
        weight=np.column_stack([modes.mean(inert, 1), modes.mean(inert, 2)]),
        coordinates=modes.coordinates,
        name="delaminated beam",
    )


def _by_elements(
    segments: tuple[Segment, ...],
    modes: int | None,
    planes: Sequence[str],
    drag: np.ndarray,
    given: Sequence[int] | None,
) -> tuple[ElementFunctions, Rotor, np.ndarray]:
    elements = fitting_elements(segments, modes, planes) if given is None else _elements(given)
    functions = ElementFunctions(segments, elements)
    require_resolvable(segments, elements)
    rotor = element_rotor(functions, [float(d) for d in drag], "delaminated beam")
    kept = functions.in_planes(planes)
    basis = np.zeros((rotor.size, kept.size if modes is None else modes))
    if modes is None and kept.size == rotor.size:
        return functions, rotor, np.empty(0)
    if modes is None:
        basis[kept] = np.eye(kept.size)
        hertz = np.empty(0)
    else:
        lowest = lowest_modes(rotor.mass[kept][:, kept], rotor.stiffness[kept][:, kept], modes)
        basis[kept], hertz = lowest.shapes, lowest.frequencies
    reduced = ElementFunctions(segments, elements, basis)
    return reduced, rotor.projected(basis, reduced.coordinates), hertz


def _elements(given: Any) -> tuple[int, ...]:
    values = np.atleast_1d(finite(given, "elements"))
    return tuple(int(each) if each == int(each) else each for each in values.ravel().tolist())


def _planes(plane: str) -> tuple[str, ...]:
    if plane not in (*PLANES, "both"):
        raise InvalidModel(f"plane is {plane!r}; allowed are '1-3', '2-3' and 'both'.")
    return PLANES if plane == "both" else (plane,)


def _require_method(method: str) -> None:
    if method != "semi-analytical":
        raise InvalidModel(f"method is {method!r}; allowed are 'semi-analytical' and 'fe'.")


_POSITIVE = {
    "length": "m",
    "delamination": "m",
    "height": "m",
    "width": "m",
    "depth": "m",
    "young": "N/m²",
    "density": "kg/m³",
}
