"""Structures as linear systems: beams, frames, delaminated beams, rotors, line contact, imported matrices."""

from klapper.structures.assembly import Assembly
from klapper.structures.bar import Bar
from klapper.structures.beam import Beam
from klapper.structures.delaminated_beam import DelaminatedBeam, DelaminatedModel
from klapper.structures.frame import Frame
from klapper.structures.imported import ImportedStructure
from klapper.structures.line import Line
from klapper.structures.line_contact import LineContact
from klapper.structures.material import Material
from klapper.structures.member import Member
from klapper.structures.pipe import Pipe
from klapper.structures.rotating import Rotor, rotating
from klapper.structures.section import Section
from klapper.structures.structure import Structure

__all__ = [
    "Assembly",
    "Bar",
    "Beam",
    "DelaminatedBeam",
    "DelaminatedModel",
    "Frame",
    "ImportedStructure",
    "Line",
    "LineContact",
    "Material",
    "Member",
    "Pipe",
    "Rotor",
    "Section",
    "Structure",
    "rotating",
]
