"""Analyses of a model: its states of rest, its periodic motions, their stability, and maps of parameters.

States: stationary states and load paths, coexisting states, steady sliding. Motions: periodic ones by shooting and by
harmonic balance, attractors, frequency responses, motions in closed form.
"""

from klapper.analysis.attractor import Attractor, advancing, find_attractor
from klapper.analysis.coexistence import Coexistence, coexistence
from klapper.analysis.contact_growth import ContactGrowth, contact_growth
from klapper.analysis.critical_point import CriticalPoint
from klapper.analysis.follow_load import follow_load
from klapper.analysis.frequency_response import FrequencyResponse, frequency_response
from klapper.analysis.harmonic.curve import HarmonicCurve
from klapper.analysis.harmonic.follow import follow_harmonic
from klapper.analysis.harmonic.newton import NoBalance
from klapper.analysis.harmonic.response import HarmonicResponse
from klapper.analysis.harmonic.solve import harmonic_response
from klapper.analysis.iteration_history import IterationHistory, iteration_history
from klapper.analysis.linear_stability import Stability, critical_value, stability
from klapper.analysis.load_path import LoadPath, NoStaticState, load_path, static_state
from klapper.analysis.minimal_coordinates import MinimalCoordinates, minimal_coordinates
from klapper.analysis.mode_convergence import ModeConvergence, mode_convergence
from klapper.analysis.periodic.branch import Bifurcation, PeriodicBranch
from klapper.analysis.periodic.diagram import BifurcationDiagram, bifurcation_diagram
from klapper.analysis.periodic.events import MotionEvent
from klapper.analysis.periodic.flow_map import FlowMap, flow_map
from klapper.analysis.periodic.follow import follow_periodic
from klapper.analysis.periodic.motion import PeriodicMotion
from klapper.analysis.periodic.search import NoPeriodicMotion, periodic_motion
from klapper.analysis.poincare_section import PoincareSection, Stroboscope, order_of_period
from klapper.analysis.sampled_motion import Trajectory, extrema
from klapper.analysis.sliding_stability import SlidingStability, sliding_stability
from klapper.analysis.slip_onset import SlipOnset, slip_onset
from klapper.analysis.stability_map import (
    BorderCurve,
    StabilityChange,
    StabilityCourse,
    StabilityMap,
    stability_map,
    stability_over,
)
from klapper.analysis.state_change import StateChange, change_of_state
from klapper.analysis.static_problem import StaticProblem, StaticState
from klapper.analysis.stationary_branch import StationaryBranch, follow_stationary
from klapper.analysis.stationary_event import StationaryEvent
from klapper.analysis.stationary_search import stationary_state, stationary_states
from klapper.analysis.stationary_set import StationaryPiece, StationarySet, stationary_set
from klapper.analysis.stationary_state import NoStationaryState, StationaryState
from klapper.analysis.steady_sliding import SteadySliding
from klapper.analysis.validity_limit import ValidityLimit

__all__ = [
    "Attractor",
    "Bifurcation",
    "BifurcationDiagram",
    "BorderCurve",
    "Coexistence",
    "ContactGrowth",
    "CriticalPoint",
    "FlowMap",
    "FrequencyResponse",
    "HarmonicCurve",
    "HarmonicResponse",
    "IterationHistory",
    "LoadPath",
    "MinimalCoordinates",
    "ModeConvergence",
    "MotionEvent",
    "NoBalance",
    "NoPeriodicMotion",
    "NoStaticState",
    "NoStationaryState",
    "PeriodicBranch",
    "PeriodicMotion",
    "PoincareSection",
    "SlidingStability",
    "SlipOnset",
    "Stability",
    "StabilityChange",
    "StabilityCourse",
    "StabilityMap",
    "StateChange",
    "StaticProblem",
    "StaticState",
    "StationaryBranch",
    "StationaryEvent",
    "StationaryPiece",
    "StationarySet",
    "StationaryState",
    "SteadySliding",
    "Stroboscope",
    "Trajectory",
    "ValidityLimit",
    "advancing",
    "bifurcation_diagram",
    "change_of_state",
    "coexistence",
    "contact_growth",
    "critical_value",
    "extrema",
    "find_attractor",
    "flow_map",
    "follow_harmonic",
    "follow_load",
    "follow_periodic",
    "follow_stationary",
    "frequency_response",
    "harmonic_response",
    "iteration_history",
    "load_path",
    "minimal_coordinates",
    "mode_convergence",
    "order_of_period",
    "periodic_motion",
    "sliding_stability",
    "slip_onset",
    "stability",
    "stability_map",
    "stability_over",
    "static_state",
    "stationary_set",
    "stationary_state",
    "stationary_states",
]
