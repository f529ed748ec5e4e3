"""What the examples of the block on two feet have in common: presets, methods, one computed run of a method."""

from dataclasses import dataclass
from functools import cached_property
from time import process_time
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np

from klapper.gallery.example import Parameter, ParameterError

if TYPE_CHECKING:
    from klapper.analysis.iteration_history import IterationHistory
    from klapper.analysis.slip_onset import SlipOnset
    from klapper.bodies import Coupling, FootedBlock, FootedSystem
    from klapper.results import Run
    from klapper.schemes import NestedProx

Method = Literal[
    "pinv",
    "pinv-redistributed",
    "prox",
    "functional-1",
    "functional-2",
    "functional-3",
    "equal-utilisation",
    "compliant",
    "two-body",
]
Projection = Literal["thesis", "step-safe", "none"]
ONE_BODY_STEP, HALVES_STEP = 1e-4, 1e-6  # s
HIGH = (1e9, 1e9, 10.0, 10.0)
"""c_T, c_R, d_T, d_R of high accuracy, Table 5.2."""
LOW = (1e6, 1e6, 1.0, 1.0)
"""The same of low accuracy."""
SAMPLES = 2000  # of a run with very many steps, for figures
SAFE = 0.98  # of the critical step, up to which the halves are computed

Width = Annotated[float, Parameter("width a of the block", unit="m", above=0.0)]
Height = Annotated[float, Parameter("height b of the block", unit="m", above=0.0)]
Mass = Annotated[float, Parameter("mass of the block", unit="kg", above=0.0)]
Mu = Annotated[float, Parameter("friction coefficient of both feet", above=0.0)]
Rate = Annotated[float, Parameter("growth of the push at the upper right corner", unit="N/s", at_least=0.0)]
Springs = Annotated[
    tuple[float, float, float, float],
    Parameter("c_T, c_R, d_T, d_R between the halves", unit="N/m, N m/rad, N s/m, N m s/rad", at_least=0.0),
]


def make_block(width: float, height: float, mass: float, mu: float) -> "FootedBlock":
    from klapper.bodies import FootedBlock

    return FootedBlock(width, height, mass, friction=(mu, mu))


def make_coupling(springs: tuple[float, float, float, float]) -> "Coupling":
    from klapper.bodies import Coupling
    from klapper.mechanics import InvalidModel

    try:
        return Coupling(*springs)
    except InvalidModel as error:
        raise ParameterError(f"springs are refused: {error}") from error


@dataclass(frozen=True, eq=False)
class Computed:
    """The ramp by one method: its system, scheme and run, with what was counted; ``springs`` are those of the halves,
    ``seconds`` on the processor."""

    method: str
    block: "FootedBlock"
    springs: tuple[float, float, float, float]
    system: "FootedSystem"
    scheme: "NestedProx"
    run: "Run"
    seconds: float

    @cached_property
    def until(self) -> float:
        return float(self.run.time[-1])

    @cached_property
    def history(self) -> "IterationHistory":
        from klapper.analysis.iteration_history import iteration_history

        return iteration_history(self.run)

    @cached_property
    def onset(self) -> "SlipOnset":
        from klapper.analysis.slip_onset import slip_onset

        slip = self.system.foot_velocities(self.run.position, self.run.velocity)
        return slip_onset(self.run, self.block.friction, slip)

    @cached_property
    def push(self) -> np.ndarray:
        """F (s,) [N] that the forces of the samples belong to: at the middle of the step that ends there."""
        return self.system.load.value(self.run.time - 0.5 * self.scheme.step_size)[:, 0]

    @cached_property
    def forces(self) -> np.ndarray:
        """(s, 4) [N]: λ_TA, λ_NA, λ_TB, λ_NB."""
        return self.run.force[:, :, ::-1].reshape(len(self.run), 4)

    def forces_at(self, push: float) -> np.ndarray:
        """Forces (4,) [N] at a push [N] of the ramp, interpolated; nan if it is not reached."""
        grown = self.push[1:]
        if not grown[0] <= push <= grown[-1]:
            return np.full(4, np.nan)
        return np.array([np.interp(push, grown, column) for column in self.forces[1:].T])

    def way_tolerance(self, late: float, rate: float) -> float:
        """Allowed error of the way [m] after sliding for ``late`` [s]: the speed times the uncertain start of sliding.

        It is uncertain by two steps, by a little of the duration for what iterations leave over, and by the growth of
        the push that a projection with an absolute tolerance of the speed discards.
        """
        h, mass = self.scheme.step_size, self.block.mass
        lost = self.scheme.slip_speed * mass / (h * rate) if self.scheme.projection == "thesis" else 0.0
        return rate * (late + lost) ** 2 / (2.0 * mass) * (lost + 2.0 * h + 2e-5 * self.until) + 1e-8

    def expected_friction(self, push: Any) -> np.ndarray:
        """λ_TA, λ_TB (…, 2) [N] in closed form at pushes [N] that grew from 0; pinv as if it did not chatter."""
        if self.method in ("compliant", "two-body"):
            from klapper.bodies import Halves

            return Halves(self.block, make_coupling(self.springs)).quasi_static_friction(push)
        return self.block.smallest_friction(push)

    @property
    def way(self) -> np.ndarray:
        """(s,) [m] of the centre of mass."""
        x = self.run.position[:, ::3].mean(axis=1)
        return x - x[0]

    @property
    def speed(self) -> np.ndarray:
        """(s,) [m/s] of the centre of mass."""
        return self.run.velocity[:, ::3].mean(axis=1)

    @property
    def bodies(self) -> int:
        return len(self.system.form.mass)


def compute(
    method: Method,
    block: "FootedBlock",
    *,
    load: Any,
    until: float,
    step: float = 0.0,
    springs: tuple[float, float, float, float] = HIGH,
    projection: Projection = "thesis",
    start_forces: tuple[float, ...] = (0.0, 0.0),
    max_rounds: int = 0,
    velocity: float = 0.0,
) -> Computed:
    """The motion of the block by a method under a load (F_x, F_y, M) over time.

    ``step`` and ``max_rounds`` zero are those of the method: 1e-4 s and 20 for the rigid block, more rounds for
    functional-1, 1e-6 s for the halves.
    """
    from klapper.bodies import Halves, rigid_block, split_block
    from klapper.schemes import NestedProx
    from klapper.simulation import SimulationFailed, simulate

    halved = method == "two-body"
    size = step or (HALVES_STEP if halved else ONE_BODY_STEP)
    if until < size:
        raise ParameterError(f"until is {until} s; it must be at least one step of {size} s.")
    if halved:
        coupling = make_coupling(springs)
        critical = Halves(block, coupling).critical_step
        if size > SAFE * critical:
            raise ParameterError(
                f"step is {size} s; the springs between the halves allow at most {SAFE * critical:.2e} s. Give a "
                f"smaller step or softer springs, such as springs={','.join(f'{value:g}' for value in LOW)}."
            )
        start: Any = (velocity, 0.0, 0.0) * 2
        system = split_block(block, coupling, load=load, start="static of turning springs", velocity=start)
    else:
        system = rigid_block(block, load=load, velocity=(velocity, 0.0, 0.0))
    scheme = NestedProx(
        size,
        friction=_friction(method, block, springs),
        start=_start(start_forces),
        projection="none" if halved else projection,
        max_rounds=max_rounds or (5000 if method == "functional-1" else 20),
    )
    try:
        simulate(system, min(2 * size, until), scheme, progress=False)  # compiles
        began = process_time()
        run = simulate(system, until, scheme, progress=False)
    except SimulationFailed as error:
        raise ParameterError(f"method {method} does not get through: {error}") from error
    return Computed(method, block, springs, system, scheme, run, process_time() - began)


def _friction(method: Method, block: "FootedBlock", springs: tuple[float, float, float, float]) -> Any:
    if method == "two-body":
        return "prox"
    if method != "compliant":
        return method
    from klapper.bodies import Halves
    from klapper.schemes import FunctionalFriction

    halves = Halves(block, make_coupling(springs))
    pair = halves.locked_in_friction
    return FunctionalFriction(3, stiffness=halves.foot_stiffnesses, preload=(pair, -pair))


def _start(forces: tuple[float, ...]) -> Any:
    """Start of every step from (T_A, T_B) or (T_A, N_A, T_B, N_B) [N]; None for zero."""
    if len(forces) not in (2, 4):
        raise ParameterError(
            f"start_forces has {len(forces)} numbers; give T_A,T_B or T_A,N_A,T_B,N_B, in N."
        )
    if not any(forces):
        return None
    if len(forces) == 2:
        return ((0.0, forces[0]), (0.0, forces[1]))
    return ((forces[1], forces[0]), (forces[3], forces[2]))


def thinned(count: int) -> np.ndarray:
    """Numbers of at most ``SAMPLES`` samples, the first and the last among them."""
    return np.unique(np.linspace(0, count - 1, min(count, SAMPLES)).astype(int))
