"""dev version"""
from __future__ import annotations
import math
import numpy as np
from numba import njit
from klapper.schemes.kernels.rigid_sweep import refresh, residual, sweep, velocity_scale

_SMALL = 12


@njit(cache=True, error_model="numpy")
def solve(body, contact, link, impulse, count, tolerance, max_sweeps, relaxation):
    if count == 1:
        impulse[0, 0] = impulse[0, 1] = impulse[0, 2] = 0.0
        refresh(body, contact, link, impulse, count)
        sweep(body, contact, link, impulse, count, 1.0, 0.0)
        return residual(body, contact, link, impulse, count) / velocity_scale(body, contact, link, impulse, count), 1
    refresh(body, contact, link, impulse, count)
    scale = velocity_scale(body, contact, link, impulse, count)
    reached = residual(body, contact, link, impulse, count) / scale
    goal = tolerance if count > _SMALL else min(tolerance, 4e-16)
    sweeps = 0
    factor = 1.0
    while not reached <= goal and sweeps < max_sweeps:
        change = sweep(body, contact, link, impulse, count, factor, 0.0) / scale
        factor = relaxation
        sweeps += 1
        if change <= 2.0 * goal or sweeps == max_sweeps:
            refresh(body, contact, link, impulse, count)
            scale = velocity_scale(body, contact, link, impulse, count)
            reached = residual(body, contact, link, impulse, count) / scale
            if change <= 4e-16:
                break
    return reached, sweeps
