"""A compiled form as the kernels see it: addresses of functions, arrays, sizes and what is constant."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from klapper.schemes.form_kernels.by_reference import ModelType, constructor

ALL_LOADS, LESS_POTENTIAL, GIVEN = 0, 1, 2
"""How powers are found: v · f + ½ vᵀ Ṁ v is load; less potential and damping; by the form."""


class Model(NamedTuple):
    """Functions, arrays and sizes of a compiled form:

    ``call``                    addresses of its functions and of the parts of a step, see ``calls``
    ``mass_row`` …              places of the entries of M, and of the tangents
    ``share_start`` …           rows of ``shares``
    ``scratch``                 (nv,) to work with
    ``entry_row`` …             places of the entries of M̂: those of M, then those of the tangents
    ``rank``                    (nv,) order of the coordinates in which M̂ and constraints are narrow
    ``narrow``                  half bandwidth of both in that order, −1 where it is too wide to pay
    ``joint_band``              half bandwidth of the Gram matrix of constraints where M̂ is diagonal
    ``positions`` …             sizes nq, nv, m, d, p; ``room`` contacts near at once; ``width`` … of rows
    ``brings`` …                whether there is a function of this name
    ``differences``             whether tangents are differences of ``stiff``
    ``turns``                   whether g̈ may have a part b_N
    """

    call: np.ndarray
    index: Any
    data: np.ndarray
    mass_row: np.ndarray
    mass_column: np.ndarray
    tangent_row: np.ndarray
    tangent_column: np.ndarray
    share_start: np.ndarray
    share_of: np.ndarray
    share: np.ndarray
    compliance: np.ndarray
    scratch: np.ndarray
    entry_row: np.ndarray
    entry_column: np.ndarray
    rank: np.ndarray
    narrow: int
    joint_band: int
    positions: int
    velocities: int
    contacts: int
    tangential: int
    constraints: int
    room: int
    width: int
    joint_width: int
    brings: bool
    constant_mass: bool
    has_tangents: bool
    differences: bool
    constant_tangents: bool
    by_position: bool
    by_velocity: bool
    complete: bool
    advances: bool
    searches: bool
    constant_friction: bool
    coupled: bool
    compliant: bool
    straight: bool
    turns: bool
    curves: bool
    constant_joints: bool
    joints_turn: bool
    joints_curve: bool
    has_potential: bool
    has_damping: bool
    power_rule: int


model_by_reference = constructor(Model, ModelType)


class Scheme(NamedTuple):
    """Options of the scheme: the largest h [s], θ, tolerance of contact problems, level, whether positions are
    projected, whether penetration is taken out there, too, but for that of contacts that last, whether impacts are left
    to an impact law, allowed error [m] per step (0: equal steps), and the time [s] at which the run began."""

    step: float
    theta: float
    tolerance: float
    on_position: bool
    projects: bool
    clears: bool
    keeps_lasting: bool
    jumps: bool
    accuracy: float
    start: float
