"""Contact and tying between bodies at large strains: node-to-segment and mortar interfaces."""

from klapper.continuum.contact.interface import Interface
from klapper.continuum.contact.mortar import Mortar
from klapper.continuum.contact.node_to_segment import NodeToSegment
from klapper.continuum.contact.pressure import SurfacePressure, contact_pressure
from klapper.continuum.contact.tying import Tie, fitted

__all__ = ["Interface", "Mortar", "NodeToSegment", "SurfacePressure", "Tie", "contact_pressure", "fitted"]
