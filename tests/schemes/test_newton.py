"""Newton's method: corrections that are halved or capped, what it does at its limits, and steps that begin anew."""

import numpy as np
import pytest

from klapper.continuum import Continuum, NeoHooke, Solid, annulus, rigid_velocity
from klapper.mechanics import InvalidModel
from klapper.schemes import EnergyMomentum, Newmark, NewtonIteration
from klapper.schemes.newton import NotConverged, Residual
from klapper.schemes.sparse_factor import SingularMatrix
from klapper.simulation import simulate


class Arctan:
    """arctan x = 0: full corrections from |x| > 1.3918 go ever further away."""

    def __init__(self) -> None:
        self.seen: list[float] = []

    def residual(self, x: np.ndarray) -> Residual:
        self.seen.append(float(x[0]))
        return Residual(np.arctan(x), np.ones(1))

    def inverse(self, x: np.ndarray):
        return lambda right: right * (1.0 + x**2)


def test_a_line_search_reaches_what_full_corrections_do_not() -> None:
    found, _, residual = NewtonIteration().solve(Arctan(), np.array([3.0]), 1)
    assert abs(found[0]) < 1e-10
    assert residual < 1e-10
    with pytest.raises(NotConverged, match=r"after 30 rounds|singular"), np.errstate(all="ignore"):
        NewtonIteration(line_search=False).solve(Arctan(), np.array([3.0]), 1)


def test_corrections_are_capped() -> None:
    """With steps of at most 0.5 the full corrections converge, too, and none is longer."""
    equations = Arctan()
    found, _, _ = NewtonIteration(line_search=False, largest=0.5).solve(equations, np.array([3.0]), 1)
    assert abs(found[0]) < 1e-10
    assert np.abs(np.diff(equations.seen)).max() <= 0.5 * (1.0 + 1e-12)
    assert np.abs(np.diff(equations.seen)).max() == pytest.approx(0.5)


def test_only_coordinates_are_capped() -> None:
    """x − 1 = 0 and 10⁶ (λ − 50) = 0: the cap looks at x, and shortens both alike."""

    class Linear:
        def residual(self, x: np.ndarray) -> Residual:
            return Residual(np.array([x[0] - 1.0, 1e6 * (x[1] - 50.0)]), np.array([1.0, 5e7]))

        def inverse(self, x: np.ndarray):
            return lambda right: right / np.array([1.0, 1e6])

    _, rounds, _ = NewtonIteration(largest=2.0).solve(Linear(), np.zeros(2), 1)
    assert rounds <= 2
    _, rounds, _ = NewtonIteration(largest=0.25).solve(Linear(), np.zeros(2), 1)
    assert rounds >= 4


class Walled(Arctan):
    """ln x + 1 = 0: there is nothing at x ≤ 0."""

    def residual(self, x: np.ndarray) -> Residual:
        self.seen.append(float(x[0]))
        return Residual(np.log(x) + 1.0, np.ones(1))

    def inverse(self, x: np.ndarray):
        return lambda right: right * x


def test_places_that_make_no_sense_are_stepped_back_from() -> None:
    equations = Walled()
    found, _, _ = NewtonIteration(line_search=False).solve(equations, np.array([5.0]), 1)
    assert found[0] == pytest.approx(np.exp(-1.0), rel=1e-10)
    assert min(equations.seen) < 0.0


def test_singular_equations_are_told() -> None:
    class Singular(Arctan):
        def inverse(self, x: np.ndarray):
            raise SingularMatrix("no inverse")

    with pytest.raises(NotConverged, match="singular"):
        NewtonIteration().solve(Singular(), np.array([1.0]), 1)


class Counted(Arctan):
    """sinh x = 1 with a note of every derivative."""

    asked = 0

    def residual(self, x: np.ndarray) -> Residual:
        return Residual(np.sinh(x) - 1.0, np.ones(1))

    def inverse(self, x: np.ndarray):
        self.asked += 1
        return lambda right: right / np.cosh(x)


@pytest.mark.parametrize(("reuse", "fewer"), [(0.0, False), (0.05, True)])
def test_a_derivative_serves_again_while_the_residual_falls_fast(reuse: float, fewer: bool) -> None:
    equations = Counted()
    found, rounds, residual = NewtonIteration(reuse=reuse).solve(equations, np.array([0.5]), 1)
    assert found[0] == pytest.approx(np.arcsinh(1.0), abs=1e-15)
    assert residual < 1e-15
    assert (equations.asked < rounds) is fewer


def test_a_derivative_that_no_longer_helps_is_found_anew() -> None:
    """From far away the derivative of the start would need thousands of rounds."""
    equations = Counted()
    found, rounds, _ = NewtonIteration(reuse=0.5, line_search=False).solve(equations, np.array([6.0]), 1)
    assert found[0] == pytest.approx(np.arcsinh(1.0), abs=1e-14)
    assert 1 < equations.asked <= rounds


class Stiff(Arctan):
    """c (x² − 2) = 0 beside terms of size 1: √2 has no last digit, c ε of the residual stays."""

    def __init__(self, stiffness: float, offset: float = 0.0) -> None:
        super().__init__()
        self.stiffness, self.offset = stiffness, offset

    def residual(self, x: np.ndarray) -> Residual:
        return Residual(self.stiffness * (x**2 - 2.0) + self.offset, np.ones(1))

    def inverse(self, x: np.ndarray):
        return lambda right: right / (2.0 * self.stiffness * x)


def test_a_residual_that_the_last_digit_makes_is_taken_and_told() -> None:
    found, _, residual = NewtonIteration().solve(Stiff(2e8), np.array([1.4]), 1)
    assert found[0] == pytest.approx(np.sqrt(2.0), rel=4e-16)
    assert 1e-8 < residual < 1e-6


def test_a_residual_that_the_last_digit_does_not_make_is_refused() -> None:
    """Corrections are below rounding because the derivative is taken far too large."""

    class TooStiff(Stiff):
        def inverse(self, x: np.ndarray):
            return lambda right: 1e-20 * right

    with pytest.raises(NotConverged, match="below the rounding of the coordinates"):
        NewtonIteration().solve(TooStiff(1.0, 1e-7), np.array([np.sqrt(2.0)]), 1)


def test_a_line_search_that_gets_nowhere_gives_up() -> None:
    """x² + 1 = 0 has no solution: from x = 0.1 the line search ends at the least residual, near 0."""

    class Unsolvable(Counted):
        def residual(self, x: np.ndarray) -> Residual:
            return Residual(x**2 + 1.0, np.ones(1))

        def inverse(self, x: np.ndarray):
            self.asked += 1
            return lambda right: right / (2.0 * x)

    equations = Unsolvable()
    with pytest.raises(NotConverged, match=r"the residual stays at 1\.0e"):
        NewtonIteration(most=1000).solve(equations, np.array([0.1]), 1)
    assert equations.asked < 30


@pytest.mark.parametrize("scheme", [EnergyMomentum, Newmark])
def test_a_step_that_fails_from_its_prediction_begins_anew(scheme, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first start of every step is refused; the motion is that of steps which converge at once."""
    solid = Solid("ring", annulus(0.8, 1.0, (1, 12)), NeoHooke(1e5, 0.3), density=1000.0)
    world = Continuum([solid], velocity={"ring": rigid_velocity(solid, (1.0, 0.5), 5.0)})
    wanted = simulate(world, 0.04, scheme(0.01)).position
    solve, starts = NewtonIteration.solve, []

    def second(self, equations, start, capped):
        starts.append(start)
        if len(starts) % 2:
            raise NotConverged("not from here")
        return solve(self, equations, start, capped)

    monkeypatch.setattr(NewtonIteration, "solve", second)
    found = simulate(world, 0.04, scheme(0.01)).position
    assert len(starts) == 8
    assert np.abs(starts[2] - starts[3]).max() > 1e-6
    np.testing.assert_allclose(found, wanted, atol=1e-11)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"tolerance": 0.0}, "tolerance is 0"),
        ({"most": 0}, "most is 0"),
        ({"reuse": 1.5}, "reuse is 1.5"),
        ({"largest": -1.0}, "largest is -1"),
    ],
)
def test_bad_choices_are_refused(given: dict, words: str) -> None:
    with pytest.raises(InvalidModel, match=words):
        NewtonIteration(**given)
