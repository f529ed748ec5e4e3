"""All kinds of scenarios by name."""

from klapper.scenario.beams import BEAM, FRAME
from klapper.scenario.bodies import BODIES
from klapper.scenario.continuum import CONTINUUM
from klapper.scenario.example import EXAMPLE
from klapper.scenario.imported import IMPORTED
from klapper.scenario.kind import Kind
from klapper.scenario.linear import LINEAR
from klapper.scenario.rotor import ROTOR

KINDS: dict[str, Kind] = {
    kind.name: kind for kind in (BODIES, LINEAR, IMPORTED, BEAM, FRAME, ROTOR, CONTINUUM, EXAMPLE)
}
"""What ``model.kind`` of a scenario may be: the tables of each kind, and how its system is built."""
