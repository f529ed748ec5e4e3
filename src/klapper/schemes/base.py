"""What a scheme is: one step of a method, never a loop, never a print."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Protocol, TypeVar

import numpy as np

from klapper.complementarity.errors import InvalidProblem
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.system import System
from klapper.schemes.inner_motion import InnerMotion
from klapper.schemes.work import Work

TOUCHING = 1e-12
"""Gap [m] up to which a contact counts as closed: far below any roughness, above the round-off of positions, so that
what rests does not fall through a step because its gap rounds to the wrong side of zero."""


@dataclass(frozen=True, eq=False)
class Snapshot:
    """All that a scheme needs to go on: plain numbers and arrays, so that it can be stored and resumed bit for bit.

    ``step``      number of steps done
    ``time``      [s], ``position`` (nq,) [m, rad], ``velocity`` (nv,) [m/s, rad/s]
    ``contact``   numbers (k,) of the contacts loaded in the last step, rising, and
    ``impulse``   their impulses (k, 1 + d) [N s], the warm start of the next
    ``sums``      (5,) [J]: loads, damping, friction, impact, numerical since the start of the run
    ``memory``    (p,) what else a scheme remembers, e.g. its step size [s]

    >>> from klapper.mechanics import LinearSystem
    >>> from klapper.schemes import Moreau
    >>> snapshot = Moreau(0.1).init(LinearSystem([1.0], position=[1.25]))
    >>> snapshot.step, snapshot.time, snapshot.position
    (0, 0.0, array([1.25]))
    """

    step: int
    time: float
    position: np.ndarray
    velocity: np.ndarray
    contact: np.ndarray
    impulse: np.ndarray
    sums: np.ndarray
    memory: np.ndarray = field(default_factory=lambda: np.zeros(0))

    def written(self) -> dict[str, Any]:
        """Its entries by name, for a file."""
        return {entry.name: getattr(self, entry.name) for entry in fields(self)}

    @classmethod
    def read(cls, written: Mapping[str, Any]) -> Snapshot:
        """From what was written; further entries are left aside."""
        arrays = [entry.name for entry in fields(cls)[2:]]
        return cls(
            int(written["step"]),
            float(written["time"]),
            **{name: np.asarray(written[name]) for name in arrays},
        )

    def require_of(self, start: Snapshot, contacts: int) -> None:
        """:class:`ValueError` if this cannot be a later state of a run of so many contacts that began at ``start``.

        A file may hold anything, and compiled loops take lengths and numbers of contacts for granted.
        """
        for name in ("position", "velocity", "sums"):
            _require_numbers(name, getattr(self, name), getattr(start, name).shape)
        k = len(np.atleast_1d(self.contact))
        _require_numbers("impulse", self.impulse, (k, *start.impulse.shape[1:]))
        _require_numbers("contact", self.contact, (k,), kinds="iu")
        if np.any(np.diff(self.contact) <= 0) or not within(self.contact, contacts):
            raise ValueError("contact holds numbers that are none of contacts")
        if self.step < 0 or not np.isfinite(self.time):
            raise ValueError("step or time is none")


def _require_numbers(name: str, array: np.ndarray, shape: tuple[int, ...], kinds: str = "f") -> None:
    if array.dtype.kind not in kinds or array.shape != shape or not np.all(np.isfinite(array)):
        raise ValueError(f"{name} is not an array {shape} of finite numbers")


def within(numbers: np.ndarray, count: int) -> bool:
    """Whether all numbers are from 0 to ``count`` − 1."""
    return not numbers.size or bool(0 <= numbers.min() <= numbers.max() < count)


@dataclass(frozen=True, eq=False)
class Step:
    """What one step did.

    ``after``       the snapshot at its end
    ``contact``     numbers (k,) of the contacts that took part, rising, with their
    ``impulse``     (k, 1 + d) [N s] and ``state`` (k,) int8
    ``constraint``  impulses of the two-sided constraints (p,) [N s]
    ``residual``    of the contact problem, relative
    ``notes``       findings about this step by kind, e.g. {"energy gain": "contact 'a' …"}
    ``motion``      the motion between both ends, where the method knows it; None: positions change uniformly

    A block of 1 kg on the floor: in 0.1 s its weight of 10 N becomes an impulse of 1 N s.

    >>> from klapper.mechanics import Contact, LinearSystem
    >>> from klapper.schemes import Moreau
    >>> block, scheme = LinearSystem([1.0], force=[-10.0], contacts=[Contact("floor", normal=[1.0])]), Moreau(0.1)
    >>> step = scheme.step(block, scheme.init(block))
    >>> step.after.time, step.contact, step.impulse[0].round(9)
    (0.1, array([0]), array([1.]))
    """

    after: Snapshot
    contact: np.ndarray
    impulse: np.ndarray
    state: np.ndarray
    constraint: np.ndarray
    residual: float
    notes: dict[str, str] = field(default_factory=dict)
    motion: InnerMotion | None = None


class Stretch(Protocol):
    """A compiled loop over many steps of one scheme on one system.

    :meth:`Scheme.stretch` gives one, or None where every step is done in Python, as between closed forms:

    >>> from klapper.mechanics import LinearSystem
    >>> from klapper.schemes import PiecewiseExact
    >>> PiecewiseExact().stretch(LinearSystem([1.0])) is None
    True

    One with an attribute ``looks_inside`` gives samples and statistics inside its steps as well, and begins after so
    many steps as ``begins_after`` says.
    """

    def run(
        self, snapshot: Snapshot, count: int, every: int, until: float = np.inf
    ) -> tuple[Snapshot, dict[str, np.ndarray], str]:
        """Do up to ``count`` steps and save every ``every``-th, counted from the start of the run.

        Steps of variable size do not go past ``until`` [s].

        Snapshot and samples end at the last sample whose steps all succeeded; the text is empty if that is the last
        one wanted, else it says why the loop stopped. The samples are the arrays of ``klapper.results.Samples``; with
        them, under "iterations", a loop that counts them gives the counts (n, 4) and the
        cases (n,) of all steps, see ``StepIterations``.
        """
        ...


class Scheme(Protocol):
    """A time-stepping method. Whoever writes one keeps this contract:

    1. It is immutable, and all its options are set when it is made. It can be pickled and copied at any time, since
       it holds nothing of the systems that it has stepped.
    2. ``init(system)`` returns the snapshot at the start; it refuses a system the scheme cannot treat, by name.
    3. ``step(system, snapshot, until, work)`` returns what one step did; a step of variable size does not go past
       ``until``. It does not change system and snapshot, does not loop over time and does not print. The same system
       and snapshot give the same bits. Factors that serve the next step, too, are kept in ``work``, which a loop over
       steps makes once; None: for this step only.
    4. The contact problem of the step has been verified against its own data when ``step`` returns.
    5. ``stretch(system)`` returns a compiled loop that gives the same steps to round-off, or None, or raises
       :class:`~klapper.mechanics.compiled_form.NotCompiled` with the reason why this system has none.
    6. ``steps(system, until)`` is the number of steps to reach a time, or None if the step size varies.
    7. ``stored_energy(system, snapshot)`` [J] is held by springs that belong to the scheme and not to the model, such
       as those of regularised contacts; zero for all others.
    8. ``refined(factor)`` is the same scheme with the parameter of its error that many times smaller (step size,
       tolerance, compliance of the contacts), or None if it has none; ``sampled(interval)`` the same with samples at
       multiples of an interval [s], where it chooses its own steps and none are asked for.
    9. ``settings`` and ``citations`` describe it in plain data.
    10. ``inertia`` says whether masses move it, False for one equilibrium after another; ``compliant_contacts`` whether
        its contacts are springs, so that no force is undetermined; ``rebound`` what decides on the speed after an
        impact where the restitution of the contacts is not used.
    11. ``require_memory(system, memory)`` refuses, by :class:`ValueError`, what a file gives for the ``memory`` of a
        snapshot and no run can have left; a memory of another length than that at the start, if nothing else is said.
    12. ``@registered`` over its class lets files name it, and enters it into the tests of every scheme.

    A class that inherits this one has what stands below without being said again: step by step in Python, of variable
    size, without springs of its own, nothing to refine, with inertia and rigid contacts.

    :class:`Moreau`, :class:`EventDriven` and their neighbours keep it. What :func:`klapper.simulate` does with
    one, in small; the ball falls for 0.3 s under 10 m/s²:

    >>> from klapper.mechanics import LinearSystem
    >>> from klapper.schemes import Moreau
    >>> ball, scheme = LinearSystem([1.0], force=[-10.0]), Moreau(0.1)
    >>> snapshot = scheme.init(ball)
    >>> for _ in range(3):
    ...     snapshot = scheme.step(ball, snapshot).after
    >>> snapshot.velocity.round(9), snapshot.position.round(9)
    (array([-3.]), array([-0.45]))
    """

    name: str
    inertia: bool = True
    compliant_contacts: bool = False
    rebound: str = ""

    def init(self, system: System) -> Snapshot: ...

    def step(
        self, system: System, snapshot: Snapshot, until: float = np.inf, work: Work | None = None
    ) -> Step: ...

    def stretch(self, system: System) -> Stretch | None:
        return None

    def steps(self, system: System, until: float) -> int | None:
        return None

    def stored_energy(self, system: System, snapshot: Snapshot) -> float:
        return 0.0

    def require_memory(self, system: System, memory: np.ndarray) -> None:
        _require_numbers("memory", memory, self.init(system).memory.shape)

    def refined(self, factor: float) -> Scheme | None:
        return None

    def sampled(self, interval: float) -> Scheme:
        return self

    @property
    def settings(self) -> dict[str, Any]: ...

    @property
    def citations(self) -> tuple[str, ...]: ...


C = TypeVar("C", bound=type)

SCHEMES: dict[str, type[Any]] = {}
"""Every scheme by its name, under which files know it, ``[scheme]`` with ``kind = "moreau"``."""


def registered(scheme: C) -> C:
    """Enter a class of schemes in ``SCHEMES`` under its name."""
    SCHEMES[scheme.name] = scheme  # type: ignore[attr-defined]
    return scheme


class StepFailed(RuntimeError):
    """A step has no verified answer; the text says when, where and what to do.

    :func:`klapper.simulate` turns it into a ``SimulationFailed`` that holds the run so far.

    >>> from klapper.mechanics import Constraint, LinearSystem, Ramp
    >>> from klapper.schemes import Moreau
    >>> wall, ram = Constraint("wall", [1.0]), Constraint("ram", [1.0], offset=Ramp(0.0, 2.0))
    >>> held, scheme = LinearSystem([1.0], constraints=[wall, ram]), Moreau(0.1)
    >>> scheme.step(held, scheme.init(held))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    klapper.schemes.base.StepFailed: At 0 s constraint 'ram' contradicts the others: 1 m/s cannot be met. ...
    """


def require_scheme(given: Any, name: str = "scheme") -> None:
    """Refuse what is no scheme, in one sentence."""
    if isinstance(given, type) or not hasattr(given, "init") or not hasattr(given, "step"):
        raise InvalidModel(f"{name} is {given!r}; allowed are schemes of klapper.schemes, e.g. Moreau(1e-3).")


def require_known_solver(given: Any) -> None:
    """Refuse what contact problems cannot be solved by."""
    if isinstance(given, str) and given == "auto":
        return
    from klapper.complementarity.dispatch import require_solver

    try:
        require_solver(given)
    except InvalidProblem as error:
        raise InvalidModel(str(error)) from None


def kinetic_energy(system: System, q: np.ndarray, v: np.ndarray) -> float:
    return 0.5 * float(v @ (system.mass(q) @ v))


def snapshot_at_start(system: System) -> Snapshot:
    start, d = system.start, system.contacts.tangential
    return Snapshot(
        step=0,
        time=start.time,
        position=start.position.copy(),
        velocity=start.velocity.copy(),
        contact=np.zeros(0, dtype=np.int64),
        impulse=np.zeros((0, 1 + d)),
        sums=np.zeros(5),
    )
