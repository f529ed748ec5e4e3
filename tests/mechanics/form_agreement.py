"""Whether the compiled form of a system says the same as its Python methods, function by function."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse as sparse

from klapper.mechanics.compiled_form import CompiledForm
from klapper.mechanics.kernels.signatures import FUNCTION_TYPES, pointer
from klapper.mechanics.system import System, difference_step, difference_tangents

ROUND_OFF = 1e-11
"""Allowed difference, relative to the largest number that is compared: some thousand rounding units."""


def assert_form_agrees(
    system: System,
    states: Iterable[tuple[float, Any, Any]],
    *,
    form: CompiledForm | None = None,
    round_off: float = ROUND_OFF,
) -> None:
    """Compare every function of a form with the methods of the system at states (t, q, v), in this order.

    Signals are brought to the time of each state, so that states at different times show that they are.
    """
    form = system.compiled_form() if form is None else form
    compared = _Comparison(system, form, round_off)
    for state in states:
        compared.at(*state)


def nearby_states(system: System, count: int, *, seed: int = 0) -> list[tuple[float, np.ndarray, np.ndarray]]:
    """States (t, q, v) around the start, the start first; positions stay on the manifold of ``advance``."""
    draw = np.random.default_rng(seed)
    start = system.start
    states = [(start.time, start.position, start.velocity)]
    for spread in np.geomspace(1e-3, 0.5, count):
        q = system.advance(start.position, spread * draw.standard_normal(len(start.velocity)))
        v = start.velocity + spread * draw.standard_normal(len(start.velocity))
        states.append((start.time + 3.0 * float(draw.random()), q, v))
    return states


class _Comparison:
    def __init__(self, system: System, form: CompiledForm, round_off: float) -> None:
        self.system, self.form, self.round_off = system, form, round_off
        self.data = form.data.copy()
        self.n, self.d, self.m = form.velocities, form.tangential, form.contacts
        assert form.index.dtype == np.int64 and form.data.dtype == float
        assert form.positions == len(system.coordinates), "positions"
        assert form.velocities == len(system.velocities), "velocities"
        assert form.contacts == system.contacts.count, "contacts"
        assert form.tangential == system.contacts.tangential, "tangential"
        assert form.constraints == len(system.constraints), "constraints"
        assert form.constant_friction == system.contacts.constant, "constant_friction"
        assert not form.affine_constraints or system.affine_constraints, "affine_constraints"
        for kind in FUNCTION_TYPES:
            function = getattr(form, kind)
            if function is not None:
                pointer(function, kind)  # it can be called by kernels: it has this signature
        self.first: dict[str, np.ndarray] = {}

    def call(self, kind: str, *arguments: Any) -> Any:
        return getattr(self.form, kind)(self.form.index, self.data, *arguments)

    def same(self, what: str, compiled: Any, general: Any, scale: float = 0.0) -> None:
        compiled, general = np.asarray(compiled, dtype=float), np.asarray(general, dtype=float)
        assert compiled.shape == general.shape, f"{what}: shape {compiled.shape}, expected {general.shape}"
        finite = general[np.isfinite(general)]
        allowed = self.round_off * max(float(np.abs(finite).max(initial=0.0)), scale)
        np.testing.assert_allclose(compiled, general, rtol=0.0, atol=allowed, err_msg=what)

    def constant(self, what: str, value: Any) -> None:
        """What a form calls constant is the same at all states."""
        value = np.array(value, dtype=float)
        self.same(f"constant {what}", value, self.first.setdefault(what, value))

    def at(self, t: float, q: Any, v: Any) -> None:
        t, q, v = float(t), np.array(q, dtype=float), np.array(v, dtype=float)
        given = q.copy(), v.copy()
        if self.form.bring is not None:
            self.call("bring", t)
        self.dynamics(t, q, v)
        self.contacts(t, q, v)
        self.constraints(t, q, v)
        self.energy(t, q, v)
        assert np.array_equal(q, given[0]) and np.array_equal(v, given[1]), "the state was changed"

    def dynamics(self, t: float, q: np.ndarray, v: np.ndarray) -> None:
        form, system, n = self.form, self.system, self.n
        entries = np.full(form.mass_entries.shape[1], np.nan)
        self.call("mass", q, entries)
        mass = _matrix(form.mass_entries, entries, n)
        self.same("mass", mass, _dense(system.mass(q)))
        if form.constant_mass:
            self.constant("mass", mass)
        force = np.full(n, np.nan)
        self.call("force", t, q, v, force)
        self.same("force", force, system.force(t, q, v))
        self.tangents(t, q, v)
        if form.advance is not None:
            moved = np.full(form.positions, np.nan)
            self.call("advance", q, 0.1 * v, moved)
            self.same("advance", moved, system.advance(q, 0.1 * v))
        elif form.positions == n:
            self.same("advance", q + 0.1 * v, system.advance(q, 0.1 * v))

    def tangents(self, t: float, q: np.ndarray, v: np.ndarray) -> None:
        form, n = self.form, self.n
        general = self.system.tangents(t, q, v)
        by_position = np.zeros((n, n)) if general.position is None else _dense(general.position)
        by_velocity = np.zeros((n, n)) if general.velocity is None else _dense(general.velocity)
        assert form.complete == general.complete, "complete"
        assert form.by_position or not np.any(by_position), "by_position"
        assert form.by_velocity or not np.any(by_velocity), "by_velocity"
        if form.tangents is not None:
            size = form.tangent_entries.shape[1]
            entries = np.full(size, np.nan), np.full(size, np.nan)
            self.call("tangents", t, q, v, *entries)
            found = [_matrix(form.tangent_entries, part, n) for part in entries]
            self.same("G_q", found[0], by_position)
            self.same("G_v", found[1], by_velocity)
            if form.constant_tangents:
                self.constant("G_q", found[0])
                self.constant("G_v", found[1])
            return
        if form.stiff is None:
            assert not np.any(by_position) and not np.any(by_velocity), "the form has no tangents"
            return

        def stiff(time: float, position: np.ndarray, velocity: np.ndarray) -> np.ndarray:
            if form.bring is not None:
                self.call("bring", time)
            out = np.full(n, np.nan)
            self.call("stiff", time, position, velocity, out)
            return out

        largest = float(np.abs(stiff(t, q, v)).max(initial=0.0)) / 6e-6  # round-off over the spacing
        found = difference_tangents(stiff, self.system.advance, t, q, v)
        self.same("G_q by differences", found.position, by_position, largest)
        self.same("G_v by differences", found.velocity, by_velocity, largest)
        if form.bring is not None:
            self.call("bring", t)

    def contacts(self, t: float, q: np.ndarray, v: np.ndarray) -> None:
        form, system = self.form, self.system
        if not self.m:
            return
        near = system.near(t, q)
        if form.near is not None:
            room = np.full(max(form.most_near, 1), -1, dtype=np.int64)
            count = self.call("near", t, q, room)
            assert room[:count].tolist() == near.tolist(), "near"
        everything = np.arange(self.m, dtype=np.int64)
        for which in {
            "all": everything,
            "turned": everything[::-1].copy(),
            "near": near.astype(np.int64),
        }.values():
            self.some_contacts(t, q, v, which)

    def some_contacts(self, t: float, q: np.ndarray, v: np.ndarray, which: np.ndarray) -> None:
        form, system, k = self.form, self.system, len(which)
        gaps = np.full(k, -7.0)
        self.call("gaps", t, q, which, gaps)
        general = system.gaps(t, q, which)
        assert np.isnan(gaps).tolist() == np.isnan(general).tolist(), "gaps: where there is none"
        self.same("gaps", gaps, general)
        self.directions(t, q, which)
        for speed in (0.0, 0.01, 0.3, 10.0):
            self.laws(which, np.full(k, speed))
        if form.curvature is not None:
            found = np.full((k, 1 + self.d), np.nan)
            self.call("curvature", t, q, v, which, found)
            normal, tangential = system.curvature(t, q, v, which)
            self.same("b_N", found[:, 0], normal)
            self.same("b_T", found[:, 1:].ravel(), tangential)

    def directions(self, t: float, q: np.ndarray, which: np.ndarray) -> None:
        form, k, d, n = self.form, len(which), self.d, self.n
        columns = np.full((k, form.contact_width), -1, dtype=np.int64)
        rows = np.full((k, 1 + d, form.contact_width), np.nan)
        rates = np.full((k, 1 + d), np.nan)
        self.call("directions", t, q, which, columns, rows, rates)
        found = _spread(columns, rows, n)
        general = self.system.directions(t, q, which)
        tangential = _dense(general.tangential).reshape(n, k, d)
        scale = _round_off_of_differences(self.system.gaps(t, q, which)) / self.round_off
        self.same("J_N", found[:, 0].T, _dense(general.normal), scale)
        self.same("J_T", found[:, 1:].transpose(2, 0, 1), tangential, scale)
        self.same("a_N", rates[:, 0], general.normal_rate, scale)
        self.same("a_T", rates[:, 1:].ravel(), general.tangential_rate, scale)
        if form.straight and len(which) == self.m and list(which) == sorted(which):
            self.constant("contact directions", found)

    def laws(self, which: np.ndarray, speed: np.ndarray) -> None:
        found = np.full((len(which), 5), np.nan)
        self.call("laws", which, speed, found)
        laws = self.system.contacts.laws(which, speed)
        self.same("has normal", found[:, 0], laws.normal)
        self.same("restitution", found[:, 1], laws.restitution)
        self.same("limit", found[:, 3], laws.limit)
        self.same("ratio", found[:, 4], laws.ratio)
        friction = np.diag(found[:, 2])
        if self.form.shares is not None:
            friction = friction + _dense(sparse.csr_array(self.form.shares))[np.ix_(which, which)]
        self.same("friction", friction, laws.friction_matrix)

    def constraints(self, t: float, q: np.ndarray, v: np.ndarray) -> None:
        form, system, p = self.form, self.system, self.form.constraints
        if not p:
            return
        residuals = np.full(p, np.nan)
        self.call("residuals", t, q, residuals)
        size = 1.0 + float(np.abs(q).max(initial=0.0))
        self.same("constraint residuals", residuals, system.constraint_residuals(t, q), size)
        columns = np.full((p, form.constraint_width), -1, dtype=np.int64)
        rows, rates = np.full((p, form.constraint_width), np.nan), np.full(p, np.nan)
        self.call("constraint_directions", t, q, columns, rows, rates)
        found = _spread(columns, rows[:, None, :], self.n)[:, 0]
        directions, given = system.constraint_directions(t, q)
        scale = _round_off_of_differences(np.append(residuals, size)) / self.round_off
        self.same("J_B", found.T, _dense(directions), scale)
        self.same("a_B", rates, given, scale)
        if form.affine_constraints:
            self.constant("constraint directions", found)
        if form.constraint_curvature is not None:
            curvature = np.full(p, np.nan)
            self.call("constraint_curvature", t, q, v, curvature)
            self.same("b_B", curvature, system.constraint_curvature(t, q, v))

    def energy(self, t: float, q: np.ndarray, v: np.ndarray) -> None:
        form, system = self.form, self.system
        potential = 0.0 if form.potential is None else self.call("potential", q)
        self.same("potential", potential, system.potential(q))
        load, damping = system.powers(t, q, v)
        if form.powers is not None:
            powers = np.full(2, np.nan)
            self.call("powers", t, q, v, powers)
            total = abs(float(v) if np.ndim(v) == 0 else float(np.abs(v) @ np.abs(system.force(t, q, v))))
            self.same("powers", powers, [load, damping], total)
        elif form.potential is not None or form.damping is not None:
            found = 0.0 if form.damping is None else self.call("damping", t, q, v)
            self.same("power of dampers", found, damping)
        else:
            self.same("power of dampers", 0.0, damping)


def _round_off_of_differences(values: np.ndarray) -> float:
    """How much rounding of given values can change central differences with the spacings of systems."""
    largest = float(np.abs(values[np.isfinite(values)]).max(initial=0.0))
    return 4.0 * np.finfo(float).eps * max(largest, 1.0) / difference_step(0.0, np.zeros(1), np.zeros(1))


def _matrix(places: np.ndarray, entries: np.ndarray, n: int) -> np.ndarray:
    matrix = np.zeros((n, n))
    np.add.at(matrix, (places[0], places[1]), entries)
    return matrix


def _spread(columns: np.ndarray, rows: np.ndarray, n: int) -> np.ndarray:
    """Rows (k, r, w) at columns (k, w) as rows (k, r, n)."""
    assert np.all((columns >= 0) & (columns < max(n, 1))), "columns"
    full = np.zeros((rows.shape[0], rows.shape[1], n))
    for k in range(len(columns)):
        for r in range(rows.shape[1]):
            np.add.at(full[k, r], columns[k], rows[k, r])
    return full


def _dense(matrix: Any) -> np.ndarray:
    return matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix, dtype=float)
