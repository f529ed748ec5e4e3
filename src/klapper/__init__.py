"""klapper: nonsmooth structural dynamics.

Structures and bodies whose parts touch, stick, slip, lift off and hit each other, computed without smearing those
events away.

The names that people use first are here; everything else is in its room, ``klapper.mechanics``, ``klapper.analysis``, …
Both load when they are first used, so that ``import klapper`` stays fast.

A ball dropped from 1.25 m under 10 m/s² hits the floor after 0.5 s and leaves it with 0.6 of its speed:

>>> import klapper as kl
>>> floor = kl.Contact("floor", normal=[1.0], restitution=0.6)
>>> ball = kl.LinearSystem([1.0], force=[-10.0], position=[1.25], contacts=[floor])
>>> run = kl.simulate(ball, 1.0, kl.EventDriven())
>>> run.impacts().time.round(9), run.velocity[-1].round(9)
(array([0.5]), array([-2.]))
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Names by room. The imports at the end of the file say the same to type checkers; a test compares both.
_FRONT = {
    "simulation": "simulate",
    "comparison": "compare",
    "studies": "study",
    "complementarity": "solve uniqueness LinearComplementarity FrictionalContact",
    "mechanics": "LinearSystem FunctionSystem Contact FrictionElement Constraint Harmonic Ramp Sweep "
    "Pulse Tabulated FunctionOfTime base_load possible_forces",
    "bodies": "Planar Spatial inertia",
    "structures": "Beam Frame Material Section DelaminatedBeam ImportedStructure LineContact",
    "continuum": "Continuum Solid NeoHooke SaintVenantKirchhoff Mortar NodeToSegment Tie read_mesh",
    "reduction": "modal craig_bampton",
    "schemes": "Moreau EventDriven PiecewiseExact Regularised EnergyMomentum QuasiStatic Newmark GeneralisedAlpha",
    "analysis": "static_state follow_load stationary_state follow_stationary stability "
    "periodic_motion follow_periodic harmonic_response follow_harmonic find_attractor bifurcation_diagram",
    "results": "read",
}
_HOME = {name: room for room, names in _FRONT.items() for name in names.split()}

_ROOMS = (
    "mechanics",
    "bodies",
    "structures",
    "continuum",
    "reduction",
    "schemes",
    "simulation",
    "comparison",
    "results",
    "conservation",
    "analysis",
    "complementarity",
    "convex",
    "contact_states",
    "studies",
    "report",
    "view",
    "scenario",
    "gallery",
    "studio",
)

__all__ = ["__version__", *_HOME, *_ROOMS]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"{__name__}.{name}")
    if name not in _HOME:
        from difflib import get_close_matches

        near = get_close_matches(name, __all__, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else f"; rooms are {', '.join(_ROOMS)}"
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{hint}")
    thing = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = thing  # the next use finds it without this function
    return thing


def __dir__() -> list[str]:
    return sorted(__all__)


if TYPE_CHECKING:
    from klapper.analysis import (
        bifurcation_diagram as bifurcation_diagram,
        find_attractor as find_attractor,
        follow_harmonic as follow_harmonic,
        follow_periodic as follow_periodic,
        follow_stationary as follow_stationary,
        harmonic_response as harmonic_response,
        periodic_motion as periodic_motion,
        stability as stability,
        static_state as static_state,
    )
    from klapper.analysis.follow_load import follow_load as follow_load
    from klapper.analysis.stationary_search import stationary_state as stationary_state
    from klapper.bodies import Planar as Planar, Spatial as Spatial, inertia as inertia
    from klapper.comparison import compare as compare
    from klapper.complementarity import (
        FrictionalContact as FrictionalContact,
        LinearComplementarity as LinearComplementarity,
        solve as solve,
        uniqueness as uniqueness,
    )
    from klapper.continuum import (
        Continuum as Continuum,
        Mortar as Mortar,
        NeoHooke as NeoHooke,
        NodeToSegment as NodeToSegment,
        SaintVenantKirchhoff as SaintVenantKirchhoff,
        Solid as Solid,
        Tie as Tie,
        read_mesh as read_mesh,
    )
    from klapper.mechanics import (
        Constraint as Constraint,
        Contact as Contact,
        FrictionElement as FrictionElement,
        FunctionOfTime as FunctionOfTime,
        FunctionSystem as FunctionSystem,
        Harmonic as Harmonic,
        LinearSystem as LinearSystem,
        Pulse as Pulse,
        Ramp as Ramp,
        Sweep as Sweep,
        Tabulated as Tabulated,
        base_load as base_load,
        possible_forces as possible_forces,
    )
    from klapper.reduction import craig_bampton as craig_bampton, modal as modal
    from klapper.results import read as read
    from klapper.schemes import (
        EnergyMomentum as EnergyMomentum,
        EventDriven as EventDriven,
        GeneralisedAlpha as GeneralisedAlpha,
        Moreau as Moreau,
        Newmark as Newmark,
        PiecewiseExact as PiecewiseExact,
        QuasiStatic as QuasiStatic,
        Regularised as Regularised,
    )
    from klapper.simulation import simulate as simulate
    from klapper.structures import (
        Beam as Beam,
        DelaminatedBeam as DelaminatedBeam,
        Frame as Frame,
        ImportedStructure as ImportedStructure,
        LineContact as LineContact,
        Material as Material,
        Section as Section,
    )
    from klapper.studies.study import study as study
