"""A mass matrix that depends on q: the ledger counts its change once; schemes for a constant mass refuse it."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from klapper.mechanics import CompliantNormal, FunctionSystem, InvalidModel
from klapper.schemes import (
    CentralDifference,
    EnergyMomentum,
    EventDriven,
    GeneralisedAlpha,
    Leapfrog,
    Moreau,
    NestedProx,
    Newmark,
    Ordinary,
    Regularised,
)
from klapper.simulation import simulate

END, DAMPING = 0.4, 0.3  # s, N s/m
ACCURATE = [EventDriven(), Ordinary(), Regularised(CompliantNormal(1e4))]
STEPS = [  # with the order in which their energy converges
    (lambda h: Moreau(h), 2),
    (lambda h: Moreau(h, theta=1.0), 1),
    (lambda h: Leapfrog(h), 2),
    (lambda h: NestedProx(h), 1),
]


class Drawn:
    """L = ½ vᵀ M v − V with M = A + Bᵀ diag(2 + sin Cq) B and V = Σ k (1 − cos d·q), drawn at random."""

    def __init__(self, seed: int, loaded: bool) -> None:
        random = np.random.default_rng(seed)
        self.n = n = int(random.integers(1, 4))
        self.b, self.c, self.d = random.normal(size=(3, n, n))
        self.k, self.amplitude = random.uniform(1.0, 3.0, n), random.normal(size=n) * loaded
        self.q, self.v = random.normal(size=n), random.normal(size=n)
        self.damping = DAMPING * loaded

    def mass(self, q: np.ndarray) -> np.ndarray:
        return np.eye(self.n) + (self.b.T * (2.0 + np.sin(self.c @ q))) @ self.b

    def potential(self, q: np.ndarray) -> float:
        return float(self.k @ (1.0 - np.cos(self.d @ q)))

    def load(self, t: float) -> np.ndarray:
        return self.amplitude * np.sin(3.0 * t)

    def force(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """∂L/∂q − Ṁ v + load − damping, from the Lagrangian."""
        cosine, bv = np.cos(self.c @ q), self.b @ v
        kinetic = 0.5 * self.c.T @ (cosine * bv**2)
        turning = self.b.T @ (cosine * (self.c @ v) * bv)
        return kinetic - turning - self.d.T @ (self.k * np.sin(self.d @ q)) + self.load(t) - self.damping * v

    def system(self) -> FunctionSystem:
        return FunctionSystem(
            self.q,
            self.v,
            mass=self.mass,
            force=self.force,
            potential=self.potential,
            damping_power=lambda t, q, v: self.damping * float(v @ v),
        )

    def works(self) -> np.ndarray:
        """Of load and damping [J], and the gain of energy, by an integration that knows no ledger."""
        n = self.n

        def rate(t: float, y: np.ndarray) -> np.ndarray:
            q, v = y[:n], y[n : 2 * n]
            push = np.linalg.solve(self.mass(q), self.force(t, q, v))
            return np.concatenate([v, push, [v @ self.load(t), self.damping * (v @ v)]])

        start = np.concatenate([self.q, self.v, [0.0, 0.0]])
        y = solve_ivp(rate, (0.0, END), start, method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
        return np.array([*y[-2:], self.energy(y[:n], y[n : 2 * n]) - self.energy(self.q, self.v)])

    def energy(self, q: np.ndarray, v: np.ndarray) -> float:
        return 0.5 * float(v @ self.mass(q) @ v) + self.potential(q)


def booked(drawn: Drawn, scheme: object) -> np.ndarray:
    """loads, damping, gain of energy, numerical [J]."""
    ledger = simulate(drawn.system(), END, scheme, progress=False).ledger
    energy = ledger.kinetic + ledger.potential
    return np.array([ledger.loads[-1], ledger.damping[-1], energy[-1] - energy[0], ledger.numerical[-1]])


@pytest.mark.parametrize("loaded", [False, True])
@pytest.mark.parametrize("seed", range(15))
def test_each_entry_is_that_of_an_independent_integration(seed: int, loaded: bool) -> None:
    drawn = Drawn(seed, loaded)
    expected = np.append(drawn.works(), 0.0)
    for scheme in ACCURATE:
        assert booked(drawn, scheme) == pytest.approx(
            expected, abs=1e-6
        )  # tolerance 1e-8 of states of order 1


@pytest.mark.parametrize("make, order", STEPS)
@pytest.mark.parametrize("seed", range(4))
def test_each_entry_converges_with_the_order_of_the_scheme(seed: int, make: object, order: int) -> None:
    drawn = Drawn(seed, True)
    expected = np.append(drawn.works(), 0.0)
    errors = [np.abs(booked(drawn, make(h)) - expected) for h in (4e-3, 2e-3)]  # type: ignore[operator]
    small = 1e-7  # J: entries whose leading error happens to vanish
    assert np.all((errors[1] < 0.65**order * errors[0]) | (errors[1] < small))


@pytest.mark.parametrize("make", [EnergyMomentum, GeneralisedAlpha, Newmark, CentralDifference])
def test_a_mass_that_depends_on_differences_of_coordinates_is_refused(make: type) -> None:
    system = FunctionSystem(
        [1.0, 0.4],
        [0.0, 0.0],
        mass=lambda q: np.eye(2) * (2.0 + np.cos(q[0] - q[1])),
        force=lambda t, q, v: -q,
    )
    with pytest.raises(InvalidModel, match="depends on its position"):
        make(1e-3).init(system)
