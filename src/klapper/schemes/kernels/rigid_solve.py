"""dev version"""
from __future__ import annotations
import math
import numpy as np
from numba import njit
from klapper.schemes.kernels.rigid_sweep import refresh, residual, sweep, velocity_scale
from klapper.schemes.kernels.rigid_tables import OWN, VELOCITY

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
    cg = relaxation < 0
    relaxation = abs(relaxation)
    x = impulse
    if cg:
        old = np.empty((count, 3)); p = np.zeros((count, 3))
        nb = body.shape[0]
        uold = np.empty((nb, 6)); up = np.zeros((nb, 6))
    gg = 0.0
    while not reached <= goal and sweeps < max_sweeps:
        if cg:
            for i in range(count):
                for c in range(3):
                    old[i, c] = x[i, c]
            for b in range(nb):
                for c in range(6):
                    uold[b, c] = body[b, VELOCITY + c]
        change = sweep(body, contact, link, impulse, count, factor, 0.0) / scale
        factor = relaxation
        sweeps += 1
        if change <= 2.0 * goal or sweeps == max_sweeps:
            r = residual(body, contact, link, impulse, count) / scale
            if r <= goal or sweeps == max_sweeps or change <= 4e-16:
                refresh(body, contact, link, impulse, count)
                scale = velocity_scale(body, contact, link, impulse, count)
                reached = residual(body, contact, link, impulse, count) / scale
                if change <= 4e-16:
                    break
                if reached <= goal:
                    break
        if cg:
            new = 0.0
            for i in range(count):
                w0 = contact[i, OWN]
                w1 = max(contact[i, OWN + 3], contact[i, OWN + 5])
                d0, d1, d2 = x[i, 0] - old[i, 0], x[i, 1] - old[i, 1], x[i, 2] - old[i, 2]
                old[i, 0], old[i, 1], old[i, 2] = d0, d1, d2
                new += w0 * d0 * d0 + w1 * (d1 * d1 + d2 * d2)
            beta = new / gg if gg > 0.0 else 2.0
            gg = new
            if beta > 1.0:
                for i in range(count):
                    for c in range(3):
                        p[i, c] = 0.0
                for b in range(nb):
                    for c in range(6):
                        up[b, c] = 0.0
            else:
                for i in range(count):
                    for c in range(3):
                        x[i, c] += beta * p[i, c]
                        p[i, c] = beta * p[i, c] + old[i, c]
                for b in range(nb):
                    for c in range(6):
                        d = body[b, VELOCITY + c] - uold[b, c]
                        body[b, VELOCITY + c] += beta * up[b, c]
                        up[b, c] = beta * up[b, c] + d
    return reached, sweeps
