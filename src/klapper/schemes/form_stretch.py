"""The compiled loop for every system that has a compiled form: arrays for the kernel, samples from it."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sparse
from scipy.sparse.csgraph import reverse_cuthill_mckee

from klapper.mechanics.compiled_form import CompiledForm, NotCompiled
from klapper.mechanics.system import System
from klapper.schemes.adaptive_step import SMALLEST
from klapper.schemes.base import Snapshot
from klapper.schemes.energy import spring_energy

MOST_LISTED_CONTACTS = 2000
_MOST_KEPT = 2_000_000  # numbers of constant responses
_MANY_ROWS = 24  # of contacts, from which on a band may cost less than a Delassus matrix
_MOST_DENSE = 600  # coordinates of a dense M̂


class FormStretch:
    """Many steps of Moreau's scheme on a system with a compiled form.

    ``projects``       whether positions are projected
    ``clears``         whether penetration is taken out of positions that are projected
    ``keeps_lasting``  whether contacts that last keep the penetration that their law leaves
    ``jumps``          whether steps that begin with an impact are left to the impact law of the scheme
    ``accuracy``       allowed error of position [m] per step; None: steps are equal
    """

    def __init__(
        self,
        system: System,
        form: CompiledForm,
        step: float,
        theta: float,
        tolerance: float,
        *,
        level: str,
        projects: bool,
        clears: bool,
        keeps_lasting: bool,
        jumps: bool = False,
        accuracy: float | None = None,
    ) -> None:
        self.system, self.form = system, form
        self.step, self.theta, self.tolerance = step, theta, tolerance
        self.on_position, self.projects, self.keeps_lasting = level == "position", projects, keeps_lasting
        self.clears, self.jumps, self.accuracy = clears, jumps, accuracy
        if form.contacts > MOST_LISTED_CONTACTS:
            raise NotCompiled(
                f"it has {form.contacts} possible contacts, more than {MOST_LISTED_CONTACTS} that can be listed"
            )
        if self.kind[0] == 2 and form.velocities > _MOST_DENSE:
            raise NotCompiled(f"it has {form.velocities} coordinates, whose matrices are not banded")

    @cached_property
    def kind(self) -> tuple[int, int]:
        """Diagonal (0), banded (1) or dense (2) M̂, and its half bandwidth."""
        form, n = self.form, self.form.velocities
        places = np.hstack([form.mass_entries, self._tangent_entries])
        band = int(np.abs(places[0] - places[1]).max(initial=0))
        if band == 0:
            return 0, 0
        return (1, band) if n > 8 and band <= n // 4 else (2, n)

    @cached_property
    def _tangent_entries(self) -> np.ndarray:
        form, n = self.form, self.form.velocities
        if form.stiff is not None:
            return np.array(np.divmod(np.arange(n * n), n), dtype=np.int64)
        return form.tangent_entries

    @cached_property
    def _joint_band(self) -> int:
        """Half bandwidth of the Gram matrix of the constraints where M̂ is diagonal."""
        form, p = self.form, self.form.constraints
        if p == 0 or self.kind[0] != 0:
            return 0
        first, last = np.full(form.velocities, p), np.full(form.velocities, -1)
        for i, used in enumerate(self._joined):
            first[used], last[used] = np.minimum(first[used], i), np.maximum(last[used], i)
        return int((last - first).max(initial=0))

    @cached_property
    def _joined(self) -> list[np.ndarray]:
        """Velocities that each constraint joins."""
        form, p = self.form, self.form.constraints
        width, start, draw = max(form.constraint_width, 1), self.system.start, np.random.default_rng(0)
        used: list[np.ndarray] = [np.zeros(0, dtype=np.int64)] * p
        for size in (
            (0.0, 0.1, 1.0) if p else ()
        ):  # entries that are zero by chance at one position are not at others
            columns, rows, rates = np.zeros((p, width), np.int64), np.zeros((p, width)), np.zeros(p)
            q = self.system.advance(start.position, size * draw.standard_normal(form.velocities))
            form.constraint_directions(form.index, form.data, start.time, q, columns, rows, rates)
            used = [np.union1d(known, columns[i][rows[i] != 0.0]) for i, known in enumerate(used)]
        return used

    @cached_property
    def _narrow(self) -> tuple[np.ndarray, int]:
        """Order of coordinates in which M̂ and constraints are narrow, and the half bandwidth of both; −1: too wide."""
        form, n = self.form, self.form.velocities
        none = np.arange(n), -1
        rows = min(form.most_near or form.contacts, form.contacts) * (1 + form.tangential)
        if rows < _MANY_ROWS or form.stiff is not None or form.compliance is not None:
            return none
        entries = [np.hstack([form.mass_entries, self._tangent_entries])]
        entries += [np.array([np.repeat(used, len(used)), np.tile(used, len(used))]) for used in self._joined]
        row, column = np.hstack(entries)
        graph = sparse.csr_array((np.ones(len(row)), (row, column)), shape=(n, n))
        rank = np.empty(n, dtype=np.int64)
        rank[reverse_cuthill_mckee(graph + graph.T, symmetric_mode=True)] = np.arange(n)
        last = np.sort([rank[used].max() for used in self._joined if len(used)])
        place = rank + np.searchsorted(
            last, rank
        )  # constraints stand behind the last coordinate that they join
        half = max(int(np.abs(place[row] - place[column]).max(initial=0)), 1)
        return (rank, half) if 4 * half <= n else none

    @cached_property
    def _parts(self) -> set[str]:
        """The parts of a step that the form needs: they are compiled, no others."""
        from klapper.schemes.form_kernels.room import FEW_ROWS

        form, m, p = self.form, self.form.contacts, self.form.constraints
        rows = min(form.most_near or m, m) * (1 + form.tangential)
        moves = m > 0 and not self.on_position and not (form.straight and form.bring is None)
        needed = {
            "step": True,
            "lasting": moves,
            "difference_curvatures": moves and form.curvature is None,
            "difference_tangents": form.stiff is not None,
            "difference_powers": form.powers is None,
            "solve_smooth": m > 1 or (m > 0 and self.projects),
            "solve_rough": m > 0 and form.tangential > 0,
            "solve_narrow": self._narrow[1] >= 0,
            "narrow": self._narrow[1] >= 0,
            "solve_elsewhere": rows > FEW_ROWS,
            "project": self.projects,
            "constant_responses": self._keeps,
            "given_joints": p > 0,
            "prepare_joints": p > 0,
            "hold_joints": p > 0,
            "hold_response": p > 0 and m > 0,
            "joint_impulses": p > 0 and m > 0,
        }
        return {name for name, wanted in needed.items() if wanted}

    @cached_property
    def _model(self) -> Any:
        from klapper.schemes import form_types  # noqa: F401  numba learns the type of a model
        from klapper.schemes.form_kernels.model import ALL_LOADS, GIVEN, LESS_POTENTIAL, Model
        from klapper.schemes.form_kernels.parts import addresses

        form, m = self.form, self.form.contacts
        places, self._functions = addresses(form, self._parts)
        rank, narrow = self._narrow
        shares = form.shares
        tangents = self._tangent_entries
        rule = (
            GIVEN if form.powers is not None else LESS_POTENTIAL if form.potential is not None else ALL_LOADS
        )
        still = form.bring is None
        return Model(
            call=places,
            index=np.array(form.index, dtype=np.int64),
            data=np.array(form.data, dtype=float),
            mass_row=np.ascontiguousarray(form.mass_entries[0], dtype=np.int64),
            mass_column=np.ascontiguousarray(form.mass_entries[1], dtype=np.int64),
            tangent_row=np.ascontiguousarray(tangents[0], dtype=np.int64),
            tangent_column=np.ascontiguousarray(tangents[1], dtype=np.int64),
            share_start=np.zeros(m + 1, np.int64) if shares is None else shares.indptr.astype(np.int64),
            share_of=np.zeros(0, np.int64) if shares is None else shares.indices.astype(np.int64),
            share=np.zeros(0) if shares is None else shares.data.astype(float),
            compliance=np.zeros((0, 0))
            if form.compliance is None
            else np.ascontiguousarray(form.compliance, dtype=float),
            scratch=np.zeros(form.velocities),
            entry_row=np.concatenate([form.mass_entries[0], tangents[0]]).astype(np.int64),
            entry_column=np.concatenate([form.mass_entries[1], tangents[1]]).astype(np.int64),
            rank=rank,
            narrow=narrow,
            joint_band=self._joint_band,
            positions=form.positions,
            velocities=form.velocities,
            contacts=m,
            tangential=form.tangential,
            constraints=form.constraints,
            room=max(form.most_near if form.near is not None else m, 1),
            width=max(form.contact_width, 1),
            joint_width=max(form.constraint_width, 1),
            brings=not still,
            constant_mass=form.constant_mass,
            has_tangents=self._has_tangents,
            differences=form.stiff is not None,
            constant_tangents=form.constant_tangents,
            by_position=form.by_position or form.stiff is not None,
            by_velocity=form.by_velocity or form.stiff is not None,
            complete=form.complete,
            advances=form.advance is not None,
            searches=form.near is not None,
            constant_friction=form.constant_friction,
            coupled=shares is not None,
            compliant=form.compliance is not None and self.on_position,
            straight=form.straight,
            turns=not (form.straight and still),
            curves=form.curvature is not None,
            constant_joints=form.affine_constraints,
            joints_turn=not (form.affine_constraints and still),
            joints_curve=form.constraint_curvature is not None,
            has_potential=form.potential is not None,
            has_damping=form.damping is not None,
            power_rule=rule,
        )

    @property
    def _has_tangents(self) -> bool:
        return self.form.tangents is not None or self.form.stiff is not None

    @cached_property
    def _keeps(self) -> bool:
        """Whether responses of all contacts are made once."""
        form = self.form
        rows = form.contacts * (1 + form.tangential)
        constant = form.straight and form.constant_mass and (form.constant_tangents or not self._has_tangents)
        constant = constant and (form.constraints == 0 or form.affine_constraints)
        return constant and rows > 0 and rows * max(rows, form.velocities) <= _MOST_KEPT

    def run(
        self, snapshot: Snapshot, count: int, every: int, until: float = np.inf
    ) -> tuple[Snapshot, dict[str, Any], str]:
        from klapper.schemes.form_kernels.loop import run, run_adaptive
        from klapper.schemes.form_kernels.model import Scheme

        system, h = self.system, self.step
        state, saved = self._begin(snapshot), self._room(count)
        scheme = Scheme(
            h,
            self.theta,
            self.tolerance,
            self.on_position,
            self.projects,
            self.clears,
            self.keeps_lasting,
            self.jumps,
            self.accuracy or 0.0,
            float(system.start.time),
        )
        kind, band = self.kind
        memory = np.array([*snapshot.memory, snapshot.time, 0.0, 0.0])
        if self.accuracy is None:
            done, ended, contacts, residual = run(
                self._model, scheme, kind, band, self._keeps, state, snapshot.step, count, saved
            )
        else:
            done, ended, contacts, residual = run_adaptive(
                self._model, scheme, kind, band, state, memory, until, count, saved
            )
        why = _why(ended, contacts, residual)
        if done == 0:
            return snapshot, {}, why
        numbers = snapshot.step + 1 + np.arange(done)
        times = system.start.time + numbers * h if self.accuracy is None else saved.time[:done]
        samples: dict[str, Any] = {
            "step": numbers,
            "time": times,
            "position": saved.position[:done],
            "velocity": saved.velocity[:done],
            "gap": saved.gap[:done],
            "impulse": saved.impulse[:done],
            "state": saved.state[:done],
            "constraint_impulse": saved.constraint[:done],
            "energy": saved.energy[:done],
            "residual": saved.residual[:done],
            "findings": self._findings(int(saved.rank[0]), memory[3], memory[4]),
        }
        used = state.counts[0]
        after = replace(
            snapshot,
            step=int(numbers[-1]),
            time=float(times[-1]),
            position=state.q.copy(),
            velocity=state.v.copy(),
            contact=state.held[:used].copy(),
            impulse=state.held_impulse[:used].copy(),
            sums=state.sums.copy(),
            memory=snapshot.memory if self.accuracy is None else memory[:2].copy(),
        )
        return after, samples, why

    def _begin(self, snapshot: Snapshot) -> Any:
        from klapper.schemes.form_kernels.room import State

        room, d = self._model.room, self.form.tangential
        held, impulse = np.zeros(room, np.int64), np.zeros((room, 1 + d))
        loaded = len(snapshot.contact)
        held[:loaded], impulse[:loaded] = snapshot.contact, snapshot.impulse
        sprung = 0.0
        if self.on_position:
            sprung = spring_energy(self.system, snapshot.contact, snapshot.impulse, snapshot.memory[-1])
        return State(
            np.array(snapshot.position, dtype=float),
            np.array(snapshot.velocity, dtype=float),
            held,
            impulse,
            np.array([loaded]),
            np.array(snapshot.sums, dtype=float),
            np.array([0.0, sprung, 0.0]),
            np.zeros(self.form.mass_entries.shape[1]),
        )

    def _room(self, count: int) -> Any:
        from klapper.schemes.form_kernels.loop import Saved

        form = self.form
        m, d, p = form.contacts, form.tangential, form.constraints
        return Saved(
            np.empty((count, form.positions)),
            np.empty((count, form.velocities)),
            np.empty((count, m)),
            np.zeros((count, m, 1 + d)),
            np.zeros((count, m), np.int8),
            np.zeros((count, p)),
            np.empty((count, 7)),
            np.zeros(count),
            np.empty(count),
            np.array([p]),
        )

    def _findings(self, rank: int, time: float, error: float) -> dict[str, str]:
        """What a run tells about its steps."""
        found, p = {}, self.form.constraints
        if rank < p:
            found["constraint forces"] = (
                f"{p} two-sided constraints have rank {rank}: the motion is unique, the constraint forces are not; the "
                f"smallest ones are given"
            )
        if error > 0.0:
            found["accuracy"] = (
                f"at {time:.6g} s the error of {error:.1e} m exceeds {self.accuracy:.1e} m even with the smallest step "
                f"{SMALLEST * self.step:.1e} s"
            )
        return found


def _why(ended: int, contacts: int, residual: float) -> str:
    """The reason, in words, why the loop could not finish a step."""
    from klapper.counting import counted
    from klapper.schemes.form_kernels.impulses import DONE, NO_ROOM, UNSOLVED
    from klapper.schemes.form_kernels.step import CONTRADICTION, IMPACT_LAW, NO_INVERSE, NO_JOINTS, NOT_FINITE

    return {
        DONE: "",
        IMPACT_LAW: "impacts are resolved by the law of the scheme",
        UNSOLVED: f"the problem of {counted(contacts, 'contact')} was solved to {residual:.1e} only",
        NOT_FINITE: "the motion left the range of numbers",
        NO_INVERSE: "the matrix of the step has no factors without exchange of rows",
        NO_JOINTS: "the constraints could not be told apart",
        NO_ROOM: "more contacts are near than there is room for",
        CONTRADICTION: "constraints contradict each other",
    }[ended]
