"""Bodies that move in the plane or in space, what they touch, and what holds them together."""

from klapper.bodies import inertia
from klapper.bodies.planar import Planar
from klapper.bodies.rigid_system import RigidSystem
from klapper.bodies.rotations import turned
from klapper.bodies.spatial import Spatial

__all__ = ["Planar", "RigidSystem", "Spatial", "inertia", "turned"]
