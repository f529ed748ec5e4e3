"""Random contact problems with a known answer, in families in which sets of forces are hard to bound.

The contact state, forces x and velocities v are drawn first and the free velocity follows, b = v − W x, so that neither
a solver nor the code under test decides what contacts do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from klapper.complementarity import FrictionalContact

from .reference_bounds import KnownState

OPEN, IDLE, STICK, SLIDE = range(4)


@dataclass
class Case:
    problem: FrictionalContact
    x: np.ndarray
    velocity: np.ndarray
    same: KnownState
    any: KnownState
    family: str


def case(seed: int) -> Case:
    """One of the problems: families follow each other with the seed."""
    rng = np.random.default_rng(seed)
    family = ("random", "feet", "joints", "walls")[seed % 4]
    d = 1 + (seed // 4) % 2
    columns, joints, m = _FAMILIES[family](rng, d)
    kinds = _kinds(rng, m, family)
    return _made(rng, columns, joints, m, d, kinds, family)


def _random(rng: np.random.Generator, d: int) -> tuple[np.ndarray, int, int]:
    m = int(rng.integers(1, 13 // (1 + d)))
    n = int(rng.integers(1, m * (1 + d) + 1))
    return rng.normal(size=(n, m * (1 + d))), 0, m


def _feet(rng: np.random.Generator, d: int) -> tuple[np.ndarray, int, int]:
    """A rigid body of random inertia on feet of one height, normals parallel."""
    m = int(rng.integers(2, 5))
    height = -rng.uniform(0.1, 1.0)
    if d == 1:
        places = np.column_stack([rng.uniform(-1, 1, m), np.full(m, height)])
        normal = np.column_stack([np.zeros(m), np.ones(m), places[:, 0]])
        tangent = np.column_stack([np.ones(m), np.zeros(m), -places[:, 1]])
        columns = np.vstack([normal, tangent]).T
        return columns / np.sqrt([[2.0], [2.0], [rng.uniform(0.1, 1.0)]]), 0, m
    places = np.column_stack([rng.uniform(-1, 1, (m, 2)), np.full(m, height)])
    if m == 4 and rng.random() < 0.5:
        places[:, :2] = 0.5 * np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]])
    rows = [np.concatenate([e, np.cross(p, e)]) for p in places for e in [np.array([0.0, 0.0, 1.0])]]
    for p in places:
        rows += [np.concatenate([e, np.cross(p, e)]) for e in np.eye(3)[:2]]
    inertia = np.concatenate([np.full(3, rng.uniform(1.0, 10.0)), rng.uniform(0.1, 2.0, 3)])
    return np.array(rows).T / np.sqrt(inertia)[:, None], 0, m


def _joints(rng: np.random.Generator, d: int) -> tuple[np.ndarray, int, int]:
    """One or two contacts and redundant joints: more two-sided rows than they determine."""
    m = int(rng.integers(1, 3))
    p = int(rng.integers(2, 13 - m * (1 + d)))
    n = int(rng.integers(max(2, p // 2), p + 2))
    rank = int(rng.integers(1, max(2, min(n, p))))
    joints = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, p))
    return np.hstack([rng.normal(size=(n, m * (1 + d))), joints]), p, m


def _walls(rng: np.random.Generator, d: int) -> tuple[np.ndarray, int, int]:
    """Pairs of contacts that press against each other: forces without a bound."""
    n = 2 + d
    half = int(rng.integers(1, 3)) if d == 1 else 1
    turn = np.linalg.qr(rng.normal(size=(n, n)))[0]
    normal, tangents = [], []
    for _ in range(half):
        direction = turn[:, 0] if rng.random() < 0.5 else rng.normal(size=n)
        normal += [direction, -direction]
        tangents += [turn[:, 1 : 1 + d]] * 2
    return np.column_stack([*normal, *tangents]), 0, 2 * half


_FAMILIES = {"random": _random, "feet": _feet, "joints": _joints, "walls": _walls}


def _kinds(rng: np.random.Generator, m: int, family: str) -> np.ndarray:
    if family != "random" and rng.random() < 0.7:
        return np.full(m, rng.choice([STICK, SLIDE]))
    return rng.choice([OPEN, IDLE, STICK, SLIDE], size=m, p=[0.15, 0.1, 0.4, 0.35])


def _made(
    rng: np.random.Generator, columns: np.ndarray, joints: int, m: int, d: int, kinds: np.ndarray, family: str
) -> Case:
    r = m * (1 + d) + joints
    matrix = columns.T @ columns
    matrix = 0.5 * (matrix + matrix.T)
    normal, patches = np.arange(m), m + np.arange(m * d).reshape(m, d)
    mu = np.where(rng.random(m) < 0.1, 0.0, rng.uniform(0.1, 1.0, m))
    x, v, sense = np.zeros(r), np.zeros(r), np.zeros((m, d))
    common = rng.normal(size=d)
    size = 10.0 ** rng.integers(-2, 4)
    speed = 10.0 ** rng.integers(-4, 2) * size * np.abs(matrix).max()
    for i, kind in enumerate(kinds):
        along = common if rng.random() < 0.8 else rng.normal(size=d)
        along = along / np.linalg.norm(along)
        slip = speed * rng.uniform(0.5, 2.0)
        if kind == OPEN:
            v[i], v[patches[i]] = speed * rng.uniform(0.1, 1.0), slip * along
            continue
        x[i] = 0.0 if kind == IDLE else size * rng.uniform(0.2, 1.0)
        if kind == SLIDE:
            sense[i], v[patches[i]] = along, slip * along
            x[patches[i]] = -mu[i] * x[i] * along
        elif kind == STICK:
            inner = rng.normal(size=d)
            share = 1.0 if rng.random() < 0.1 else rng.uniform(0.0, 0.95)
            x[patches[i]] = share * mu[i] * x[i] * inner / np.linalg.norm(inner)
            if mu[i] == 0.0:
                v[patches[i]] = slip * along
    x[m * (1 + d) :] = size * rng.normal(size=joints)
    bilateral = m * (1 + d) + np.arange(joints)
    problem = FrictionalContact.from_parts(
        matrix, v - matrix @ x, normal=normal, tangential=patches, friction=mu, bilateral=bilateral
    )
    closed, slides = kinds != OPEN, (kinds == SLIDE) & (mu > 0.0)
    same = KnownState(x, columns, normal, patches, mu, closed, slides, sense)
    rest = np.concatenate([normal[closed], patches[closed & ~slides & (mu > 0.0)].ravel(), bilateral])
    goes_on = [sense[i] @ matrix[patches[i]] for i in np.flatnonzero(slides)]
    keeping = (
        np.vstack([matrix[normal[~closed]], *goes_on]).reshape(-1, r),
        np.concatenate([v[normal[~closed]], [sense[i] @ v[patches[i]] for i in np.flatnonzero(slides)]]),
    )
    other = KnownState(x, matrix[rest.astype(int)], normal, patches, mu, closed, slides, sense, keeping)
    return Case(problem, x, v, same, other, family)
