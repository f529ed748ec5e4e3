"""What a scheme cannot do is said when it is made, or when it sees the system, not in the middle of a run."""

import numpy as np
import pytest

from klapper.analysis import follow_load, static_state
from klapper.complementarity import ActiveSet, Lemke
from klapper.mechanics import Contact, FrictionElement, InvalidModel, LinearSystem
from klapper.schemes import (
    AugmentedLagrange,
    EnergyMomentum,
    EventDriven,
    HardContact,
    Moreau,
    Newmark,
    PenaltyContact,
    PiecewiseExact,
    QuasiStatic,
)
from klapper.simulation import simulate


def ball() -> LinearSystem:
    floor = Contact("floor", normal=[1.0], restitution=0.5)
    return LinearSystem([1.0], force=[-10.0], position=[0.05], contacts=[floor])


@pytest.mark.parametrize("scheme", [EventDriven, PiecewiseExact, lambda **given: Moreau(1e-3, **given)])
def test_a_solver_is_a_name_or_an_object_and_nothing_else(scheme) -> None:
    expected = simulate(ball(), 0.2, scheme()).position[-1]
    for solver in ("lemke", Lemke(), ActiveSet()):
        assert simulate(ball(), 0.2, scheme(solver=solver)).position[-1] == pytest.approx(expected, abs=1e-9)
    for solver, said in ((Lemke, "is the class Lemke"), (3, "solver is 3"), ("lemk", "Did you mean 'lemke'")):
        with pytest.raises(InvalidModel, match=said):
            scheme(solver=solver)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"contact": AugmentedLagrange(1e4)}, "contact is AugmentedLagrange.*; allowed are HardContact"),
        ({"contact": HardContact}, "contact is <class"),
        ({"contact": 1e4}, "contact is 10000.0"),
        ({"enforcement": PenaltyContact(1e4)}, "enforcement is PenaltyContact.*; allowed are Multipliers"),
        ({"enforcement": "penalty"}, "enforcement is 'penalty'"),
    ],
)
def test_contacts_and_constraints_are_held_by_what_can_hold_them(options, said) -> None:
    with pytest.raises(InvalidModel, match=said):
        EnergyMomentum(1e-3, **options)


def test_a_system_without_stiffness_is_refused_by_quasi_static_steps_at_once() -> None:
    free = LinearSystem([1.0], force=[1.0])
    with pytest.raises(InvalidModel, match="'linear system' has no stiffness, or gives none"):
        QuasiStatic(0.1).init(free)


def many(last: Contact | FrictionElement) -> LinearSystem:
    """1500 contacts of one mass, of which only the last is another one."""
    walls = [Contact(f"wall {k}", normal=[1.0, 0.0]) for k in range(1500)]
    return LinearSystem([1.0, 1.0], stiffness=[1.0, 1.0], contacts=[*walls, last])


def test_every_contact_is_looked_at_however_many_there_are() -> None:
    with pytest.raises(InvalidModel, match="'bumper' has restitution"):
        Moreau(1e-3, theta=1.0, level="position").init(
            many(Contact("bumper", normal=[1.0, 0.0], restitution=0.5))
        )
    pad = FrictionElement("pad", tangents=[[0.0, 1.0]], limit=1.0)
    with pytest.raises(InvalidModel, match="'pad' is a friction element"):
        EnergyMomentum(1e-3).init(many(pad))


@pytest.mark.parametrize("scheme", [Moreau(1e-3), EventDriven()])
def test_advice_for_compliant_contacts_can_be_followed(scheme) -> None:
    soft = LinearSystem(
        [1.0], force=[-10.0], contacts=[Contact("floor", normal=[1.0])], compliance=np.array([[1e-3]])
    )
    with pytest.raises(InvalidModel, match=r"use (Moreau\(theta=1, level='position'\))"):
        scheme.init(soft)
    assert simulate(soft, 0.1, Moreau(1e-3, theta=1, level="position")).about["status"] == "complete"


@pytest.mark.parametrize(
    "ask",
    [
        lambda given: Newmark(1e-3, newton=given),
        lambda given: EnergyMomentum(1e-3, newton=given),
        lambda given: QuasiStatic(1e-3, newton=given),
        lambda given: static_state(LinearSystem([1.0], stiffness=[1.0], force=[1.0]), newton=given),
        lambda given: follow_load(LinearSystem([1.0], stiffness=[1.0], force=[1.0]), newton=given),
    ],
)
def test_what_is_no_newton_iteration_is_refused(ask) -> None:
    with pytest.raises(InvalidModel, match=r"newton is 3; allowed are NewtonIteration"):
        ask(3)
