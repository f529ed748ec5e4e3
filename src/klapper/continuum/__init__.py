"""Bodies at large strains: meshes, hyperelastic laws, loads, supports, and systems of them."""

from klapper.continuum.body import Body
from klapper.continuum.cable import Cable
from klapper.continuum.contact.interface import Interface
from klapper.continuum.contact.mortar import Mortar
from klapper.continuum.contact.node_to_segment import NodeToSegment
from klapper.continuum.contact.pressure import SurfacePressure, contact_pressure
from klapper.continuum.contact.tying import Tie, fitted
from klapper.continuum.laws import MaterialLaw, MooneyRivlin, NeoHooke, PlaneStress, SaintVenantKirchhoff
from klapper.continuum.line_mesh import LineMesh, circle, polyline
from klapper.continuum.loads import Gravity, NodeForce, Pressure, Torque, Traction
from klapper.continuum.mesh import Mesh
from klapper.continuum.mesh_files import read_mesh, read_meshes, write_mesh
from klapper.continuum.mesh_shapes import annulus, block
from klapper.continuum.solid import Solid
from klapper.continuum.supports import Support
from klapper.continuum.system import Continuum, rigid_velocity
from klapper.continuum.walls import Wall

__all__ = [
    "Body",
    "Cable",
    "Continuum",
    "Gravity",
    "Interface",
    "LineMesh",
    "MaterialLaw",
    "Mesh",
    "MooneyRivlin",
    "Mortar",
    "NeoHooke",
    "NodeForce",
    "NodeToSegment",
    "PlaneStress",
    "Pressure",
    "SaintVenantKirchhoff",
    "Solid",
    "Support",
    "SurfacePressure",
    "Tie",
    "Torque",
    "Traction",
    "Wall",
    "annulus",
    "block",
    "circle",
    "contact_pressure",
    "fitted",
    "polyline",
    "read_mesh",
    "read_meshes",
    "rigid_velocity",
    "write_mesh",
]
