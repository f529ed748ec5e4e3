"""Periodic motions of systems with contacts: shooting, multipliers, branches and their bifurcations."""

from klapper.analysis.periodic.branch import Bifurcation, PeriodicBranch
from klapper.analysis.periodic.diagram import BifurcationDiagram, bifurcation_diagram
from klapper.analysis.periodic.events import MotionEvent
from klapper.analysis.periodic.flow_map import FlowMap, flow_map
from klapper.analysis.periodic.follow import follow_periodic
from klapper.analysis.periodic.motion import PeriodicMotion
from klapper.analysis.periodic.search import NoPeriodicMotion, periodic_motion

__all__ = [
    "Bifurcation",
    "BifurcationDiagram",
    "FlowMap",
    "MotionEvent",
    "NoPeriodicMotion",
    "PeriodicBranch",
    "PeriodicMotion",
    "bifurcation_diagram",
    "flow_map",
    "follow_periodic",
    "periodic_motion",
]
