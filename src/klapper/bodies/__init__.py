"""Bodies that move in the plane or in space, what they touch, and what holds them together."""

from klapper.bodies import inertia
from klapper.bodies.block_halves import Coupling, Halves
from klapper.bodies.coupled_sliders import CoupledSliders
from klapper.bodies.footed_block import FootedBlock
from klapper.bodies.footed_system import FootedSystem, rigid_block, split_block
from klapper.bodies.planar import Planar
from klapper.bodies.rigid_system import RigidSystem
from klapper.bodies.rotations import turned
from klapper.bodies.spatial import Spatial

__all__ = [
    "CoupledSliders",
    "Coupling",
    "FootedBlock",
    "FootedSystem",
    "Halves",
    "Planar",
    "RigidSystem",
    "Spatial",
    "inertia",
    "rigid_block",
    "split_block",
    "turned",
]
