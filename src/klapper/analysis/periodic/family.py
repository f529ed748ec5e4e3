"""A family of systems over one parameter, and the equations of periodic motions in it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from klapper.algebra import StepRefused
from klapper.analysis.periodic.forcing import forcing_period
from klapper.analysis.periodic.margins import least_margin
from klapper.analysis.periodic.motion import PeriodicMotion, multipliers_of
from klapper.analysis.periodic.passage import Passage
from klapper.analysis.periodic.shooting import Shooting
from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.system import System, require_system
from klapper.schemes.phase_map import PhaseMaps
from klapper.schemes.phases import Phased

_KEPT = 6  # systems in memory
_SPACING = 1e-7  # of differences over the parameter, in parts of its range
_SAME = 1e-5  # distance in scaled unknowns within which ∂F/∂p is taken as the same
_ON_CIRCLE = 1e-9  # distance of a multiplier from the unit circle that says nothing


@dataclass(eq=False)
class Family:
    """``make`` parameter → system, all with the same coordinates and contacts.

    ``period``  [s] of the forcing by parameter, where it cannot be read off the systems
    """

    make: Callable[[float], System]
    period: Callable[[float], float] | None = None
    _made: OrderedDict[float, tuple[PhaseMaps, float | None]] = field(default_factory=OrderedDict, repr=False)

    def __post_init__(self) -> None:
        if not callable(self.make):
            raise InvalidModel(f"family is {self.make!r}; give a function parameter → system.")
        if self.period is not None and not callable(self.period):
            raise InvalidModel(f"period is {self.period!r}; give a function parameter → period in s.")

    def at(self, parameter: float) -> tuple[PhaseMaps, float | None]:
        """The maps of the system, and the period [s] of its forcing."""
        if parameter not in self._made:
            system = self.make(parameter)
            require_system(system)
            forcing = self.period(parameter) if self.period is not None else forcing_period(system)
            self._made[parameter] = (PhaseMaps(system), forcing)
            while len(self._made) > _KEPT:
                self._made.popitem(last=False)
        self._made.move_to_end(parameter)
        return self._made[parameter]


class PeriodicEquations:
    """F(u, p) = 0 of :class:`~klapper.analysis.periodic.shooting.Shooting` over the parameter p of a family.

    ``turns``  periods of the forcing in one of the motion; ``width`` size of the range of the parameter; ``scheme`` by
    which motions are integrated
    """

    def __init__(self, family: Family, shooting: Shooting, turns: int, width: float, scheme: Phased) -> None:
        self.family, self.shooting, self.turns, self.width = family, shooting, turns, width
        self.scheme = scheme
        self._recent: OrderedDict[bytes, Passage] = OrderedDict()
        self._units: np.ndarray | None = None
        self._column: tuple[np.ndarray, np.ndarray] | None = None  # where ∂F/∂p was formed last, and itself
        self._judged: dict[bytes, PeriodicMotion] = {}
        self._bend = 0.0

    def forcing(self, parameter: float) -> float:
        """Known period [s] of the motion; not used without a forcing."""
        forcing = self.family.at(parameter)[1]
        return self.turns * forcing if forcing is not None else np.nan

    def passage(self, x: np.ndarray) -> Passage:
        """The motion of the point x = (u, p)."""
        key = x.tobytes()
        if key not in self._recent:
            u, parameter = x[:-1], float(x[-1])
            try:
                maps, _ = self.family.at(parameter)
                self._recent[key] = self.shooting.passage(maps, u, self.forcing(parameter))
            except (InvalidModel, np.linalg.LinAlgError) as error:
                raise StepRefused(str(error)) from error
            while len(self._recent) > _KEPT:
                self._recent.popitem(last=False)
        return self._recent[key]

    def __call__(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """F (N,) and its derivatives (N, N + 1), rows measured by their own first size."""
        residual, by_unknowns = self._at(x)
        if self._units is None:
            self._scale = self.scale(x)
            units = np.linalg.norm(by_unknowns * self._scale[:-1], axis=1)
            self._units = np.where(units > 0.0, units, 1.0)
        if self._column is None or np.linalg.norm((x - self._column[0]) / self._scale) > _SAME:
            self._column = (x.copy(), self._by_parameter(x, residual))
        jacobian = np.column_stack([by_unknowns, self._column[1]])
        return residual / self._units, jacobian / self._units[:, None]

    def scale(self, x: np.ndarray) -> np.ndarray:
        """Sizes (N + 1,) of the unknowns and the parameter."""
        sizes = self.shooting.scale(x[:-1], self.passage(x), self.forcing(float(x[-1])))
        return np.append(sizes, self.width)

    def _at(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.shooting.equations(self.passage(x), x[:-1], self.forcing(float(x[-1])))

    def _by_parameter(self, x: np.ndarray, here: np.ndarray) -> np.ndarray:
        """∂F/∂p (N,) by a difference, to the side on which there is a system."""
        step = _SPACING * self.width
        for side in (1.0, -1.0):
            parameter = float(x[-1] + side * step)
            try:
                maps, _ = self.family.at(parameter)
                beside = self.shooting.residual(maps, x[:-1], self.forcing(parameter))
            except InvalidModel:
                continue
            return side * (beside - here) / step
        raise StepRefused("the family has no system nearby")

    def multipliers(self, x: np.ndarray) -> np.ndarray:
        """Without those of shifts in time, where nothing depends on it, and in coordinates that may drift."""
        monodromy = self.passage(x).monodromy
        if not np.all(np.isfinite(monodromy)):
            raise StepRefused("the motion has no derivative here")
        return self.shooting.without_shifts(multipliers_of(monodromy))

    def doubling(self, x: np.ndarray) -> float:
        """∏ (μ + 1): vanishes where a multiplier passes −1."""
        return float(np.prod(self.multipliers(x) + 1.0).real)

    def torus(self, x: np.ndarray) -> float:
        """Distance of the nearest complex pair to the unit circle, with a sign that changes when one passes it."""
        values = self.multipliers(x)
        beyond = np.abs(values[values.imag > 1e-6 * np.abs(values)]) - 1.0
        beyond = beyond[np.abs(beyond) > _ON_CIRCLE]
        if beyond.size == 0:
            return 1.0
        return float((-1.0) ** np.count_nonzero(beyond > 0.0) * np.abs(beyond).min())

    def margin(self, x: np.ndarray) -> float:
        """How far the sequence of events is from another one."""
        self._judged[x.tobytes()] = self._motion(x)
        return least_margin(self.passage(x)).value

    def liveliness(self, x: np.ndarray) -> float:
        """Without forcing and events: how sharply the coordinate turns back where the motion begins, in parts of the
        first motion; it passes zero where the motion shrinks to rest."""
        if self.shooting.turning is None:
            return 1.0
        bend = float(self.passage(x).slopes[0, (len(x) - 2) // 2 + self.shooting.turning])
        self._bend = self._bend or bend
        return bend / self._bend

    def motion(self, x: np.ndarray) -> PeriodicMotion:
        """The motion of the point x = (u, p), kept if its margin was asked for."""
        return self._judged.get(x.tobytes()) or self._motion(x)

    def _motion(self, x: np.ndarray) -> PeriodicMotion:
        _, forcing = self.family.at(float(x[-1]))
        return PeriodicMotion.of(self.passage(x), forcing, self.shooting, x[:-1].copy(), self.scheme)
