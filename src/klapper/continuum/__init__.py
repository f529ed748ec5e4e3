"""Bodies at large strains: meshes, hyperelastic laws, loads, supports, and systems of them."""

from klapper.continuum.laws import Law, MooneyRivlin, NeoHooke, PlaneStress, SaintVenantKirchhoff
from klapper.continuum.loads import Gravity, NodeForce, Pressure, Torque, Traction
from klapper.continuum.mesh import Mesh
from klapper.continuum.mesh_shapes import annulus, block
from klapper.continuum.solid import Solid
from klapper.continuum.supports import Support
from klapper.continuum.system import Continuum, rigid_velocity
from klapper.continuum.walls import Wall

__all__ = [
    "Continuum",
    "Gravity",
    "Law",
    "Mesh",
    "MooneyRivlin",
    "NeoHooke",
    "NodeForce",
    "PlaneStress",
    "Pressure",
    "SaintVenantKirchhoff",
    "Solid",
    "Support",
    "Torque",
    "Traction",
    "Wall",
    "annulus",
    "block",
    "rigid_velocity",
]
