"""Nested prox stepping: the compiled loop equals the general one, laws, orders, ledger, refusals, iteration log."""

from dataclasses import replace

import numpy as np
import pytest

from klapper.analysis.iteration_history import iteration_history
from klapper.bodies import Coupling, FootedBlock, rigid_block, split_block
from klapper.complementarity.prox import global_factor
from klapper.mechanics import (
    Constraint,
    Contact,
    FrictionElement,
    FunctionSystem,
    Harmonic,
    InvalidModel,
    LinearSystem,
    Ramp,
    Stribeck,
)
from klapper.schemes import FunctionalFriction, Moreau, NestedProx, PseudoInverseFriction, StepFailed
from klapper.schemes.nested_iteration import Counter
from klapper.schemes.nested_step import NestedStep
from klapper.simulation import SimulationFailed, simulate

BLOCK = FootedBlock(0.2, 0.1, 16.0, friction=(0.1, 0.1))
LOW = Coupling(1e6, 1e6, 1.0, 1.0)


def ramp(start: float = 0.0, rate: float = 250.0) -> Ramp:
    return Ramp([start, 0.0, 0.0], [rate, 0.0, 0.0])


@pytest.mark.parametrize(
    "options",
    [
        {"friction": "prox", "projection": "step-safe"},
        {"friction": "pinv", "projection": "thesis"},
        {"friction": "pinv-redistributed"},
        {"friction": "functional-2", "projection": "thesis"},
        {
            "friction": FunctionalFriction(3, stiffness=(1.0, 3.0), preload=(0.2, -0.2)),
            "projection": "thesis",
        },
        {"friction": "functional-3", "start": "previous"},
        {"start": ((0.0, -500.0), (0.0, 500.0)), "weights": (1.0, 0.5)},
        {"integrator": "implicit"},
        {"halves": True},
        {"halves": True, "integrator": "implicit"},
        {"tips": True, "friction": "functional-3", "projection": "thesis"},
    ],
    ids=str,
)
def test_the_compiled_loop_gives_the_steps_of_the_general_path(options: dict) -> None:
    """States, impulses, flags and ledger of 100 steps over sticking and sliding, to round-off; the same counts."""
    options = dict(options)
    halves, tips = options.pop("halves", False), options.pop("tips", False)
    load = ramp(260.0, 1e4) if tips else ramp(14.2)
    system = (
        split_block(BLOCK, LOW, load=load, start="static of turning springs")
        if halves
        else rigid_block(BLOCK, load=load)
    )
    scheme = NestedProx(1e-4, **options)
    compiled = simulate(system, 0.01, scheme, every=3)
    general = simulate(system, 0.01, replace(scheme, compiled=False), every=3)
    assert (compiled.about["audit"]["path"], general.about["audit"]["path"]) == ("compiled", "general")
    np.testing.assert_array_equal(compiled.state, general.state)
    for name, scale in (
        ("position", 0.1),
        ("velocity", 0.01),
        ("gap", 0.1),
        ("impulse", 0.02),
        ("energy", 10.0),
    ):
        one, two = getattr(compiled.samples, name), getattr(general.samples, name)
        np.testing.assert_allclose(one, two, atol=1e-13 * scale, rtol=1e-10)
    if not tips:
        counted = iteration_history(simulate(system, 0.003, scheme))
        again = iteration_history(simulate(system, 0.003, replace(scheme, compiled=False)))
        np.testing.assert_array_equal(counted.rounds, again.rounds)
        np.testing.assert_array_equal(counted.normal, again.normal)
        np.testing.assert_array_equal(counted.tangential, again.tangential)


@pytest.mark.parametrize("compiled", [True, False])
def test_a_lifted_block_that_slides_is_of_the_first_case(compiled: bool) -> None:
    """Table C.1: no normal force, both feet slide. A weight and more pulls up at the middle."""
    lift = 1.2 * BLOCK.weight
    system = rigid_block(BLOCK, load=(0.0, lift, -0.1 * lift), velocity=(1.0, 0.0, 0.0))
    scheme = NestedProx(1e-4, friction="functional-3", projection="thesis", compiled=compiled)
    assert set(iteration_history(simulate(system, 5e-4, scheme)).case) == {"1a"}


def test_delassus_matrix_and_factors_are_those_of_the_thesis() -> None:
    """C9: G of (C.7), its eigenvalues, r = 4.9006 and 3.2."""
    for system, r in ((rigid_block(BLOCK), 4.9006), (split_block(BLOCK, LOW, start="relaxed"), 3.2)):
        scheme = NestedProx(1e-4)
        step = NestedStep(scheme, system, scheme.init(system), Counter())
        np.testing.assert_allclose(step.factor, r, atol=5e-5)
        if system.name == "block on two feet":
            order = [1, 0, 3, 2]  # T, N as printed
            delassus = (step.columns.T @ step.response)[np.ix_(order, order)]
            printed = [
                [0.1, -0.075, 0.1, 0.075],
                [-0.075, 0.2125, -0.075, -0.0875],
                [0.1, -0.075, 0.1, 0.075],
                [0.075, -0.0875, 0.075, 0.2125],
            ]
            np.testing.assert_allclose(delassus, printed, atol=1e-14)
            eigenvalues = np.linalg.eigvalsh(delassus)
            np.testing.assert_allclose(eigenvalues, [0, 0.0918861, 0.125, 0.4081139], atol=5e-8)
            assert step.factor[0, 0] == pytest.approx(global_factor(delassus), rel=1e-14)


def oscillator(damping: float) -> FunctionSystem:
    return FunctionSystem(
        [1.0],
        [0.0],
        mass=[[1.0]],
        force=lambda t, q, v: -4.0 * q - damping * v,
        potential=lambda q: 2.0 * float(q @ q),
        damping_power=lambda t, q, v: damping * float(v @ v),
    )


@pytest.mark.parametrize(("damping", "ratio"), [(0.0, 4.0), (0.3, 2.0)])
def test_the_midpoint_step_is_of_second_order_without_damping_and_of_first_with_it(
    damping: float, ratio: float
) -> None:
    """C7: second order for forces of the position, first order where h takes the old velocity."""
    decay, omega = damping / 2, np.sqrt(4.0 - damping**2 / 4)
    exact = np.exp(-decay) * (np.cos(omega) + decay / omega * np.sin(omega))
    errors = []
    for step in (0.01, 0.005, 0.0025):
        run = simulate(oscillator(damping), 1.0, NestedProx(step))
        errors.append(abs(run.position[-1, 0] - exact))
        assert run.ledger.closing_error <= 1e-12
    np.testing.assert_allclose([errors[0] / errors[1], errors[1] / errors[2]], ratio, rtol=0.03)


def test_free_flight_keeps_its_energy() -> None:
    """C7: the midpoint step is exact for the flight of a body."""
    system = rigid_block(BLOCK, at=(0.0, 5.0, 0.3), velocity=(1.0, 2.0, 3.0))
    run = simulate(system, 0.5, NestedProx(1e-2))
    energy = run.samples.energy[:, :2].sum(axis=1)
    assert np.abs(energy - energy[0]).max() <= 1e-12 * energy[0]
    assert run.position[-1, 1] == pytest.approx(5.0 + 1.0 - 0.5 * 9.81 * 0.25, rel=1e-13)


def test_it_agrees_with_moreau_on_other_systems() -> None:
    """Planar contacts without dependent forces: a driven slider with stick and slip, a dropped point, a preloaded
    joint, friction that falls with the speed, a wall without friction. Without springs the steps are the same up to the
    tolerance of the impulses; springs are implicit in one method and explicit in the other, which is of second order.
    """
    floor = {"normal": [0.0, 1.0], "tangents": [1.0, 0.0]}
    slider = LinearSystem(
        [1.0, 1.0],
        force=Harmonic([6.0, 0.0], 20.0) + np.array([0.0, -9.81]),
        contacts=[Contact("floor", friction=0.4, **floor)],
    )
    falling = LinearSystem(
        [1.0, 1.0],
        force=[0.0, -9.81],
        position=[0.0, 0.05],
        velocity=[0.3, 0.0],
        contacts=[Contact("floor", friction=0.2, **floor)],
    )
    joint = LinearSystem(
        [2.0], stiffness=[50.0], position=[0.3], contacts=[FrictionElement("joint", [1.0], limit=2.0)]
    )
    belt = LinearSystem(
        [1.0, 1.0],
        stiffness=[100.0, 0.0],
        force=[0.0, -9.81],
        contacts=[Contact("belt", tangential_rate=-0.2, friction=Stribeck(0.5, 0.3, 0.1), **floor)],
    )
    wall = LinearSystem(
        [1.0], stiffness=[9.0], force=[1.0], contacts=[Contact("wall", normal=[-1.0], gap=0.3)]
    )
    h = 2e-3
    loose, stiffer = (
        ((slider, 0.4, 0.0), (falling, 0.2, 0.0)),
        ((joint, 0.6, 5.0), (belt, 0.3, 10.0), (wall, 0.6, 3.0)),
    )
    for system, until, stiff in (*loose, *stiffer):
        run = simulate(
            system, until, NestedProx(h, gap_tolerance=1e-12, force_tolerance=1e-8, max_rounds=100)
        )
        other = simulate(system, until, Moreau(h))
        scale = np.abs(other.position).max()
        np.testing.assert_allclose(run.position, other.position, atol=((stiff * h) ** 2 + 1e-7) * scale)
        assert run.about["audit"]["ledger"] == "closes"


def test_three_feet_share_their_dependent_friction_by_the_rule() -> None:
    """Strategies on another system than the block: three feet share by water filling, and the motion is the same."""
    feet, mu = np.array([-0.1, 0.0, 0.1]), np.array([0.1, 0.3, 0.1])
    system = LinearSystem(
        [16.0, 16.0, 1 / 15],
        force=[10.0, -156.96, -0.5],
        contacts=[
            Contact(name, normal=[0.0, 1.0, x], tangents=[1.0, 0.0, 0.05], friction=m)
            for name, x, m in zip("ABC", feet, mu, strict=True)
        ],
    )
    found = {}
    for friction in (
        "prox",
        "functional-3",
        "pinv-redistributed",
        FunctionalFriction(3, stiffness=(1.0, 1.0, 2.0)),
    ):
        run = simulate(
            system, 0.002, NestedProx(1e-4, friction=friction, max_rounds=200, max_iterations=2000)
        )
        assert np.abs(run.position[-1]).max() <= 1e-9
        found[str(friction)] = run.force[-1]
        assert run.force[-1, :, 1].sum() == pytest.approx(-10.0, abs=1e-3)
    np.testing.assert_allclose(found["functional-3"][:, 1], -10 / 3, atol=1e-3)
    np.testing.assert_allclose(found["prox"][:, 1], -10 / 3, atol=1e-3)
    weighted = found[str(FunctionalFriction(3, stiffness=(1.0, 1.0, 2.0)))][:, 1]
    np.testing.assert_allclose(weighted, [-2.5, -2.5, -5.0], atol=1e-3)


def test_the_log_holds_every_iterate() -> None:
    """C24: entries of all levels in their order; the last is the impulse of the step; counts agree."""
    system = rigid_block(BLOCK, load=(2.0, 0.0, 0.0))
    scheme = NestedProx(1e-4)
    start = scheme.init(system)
    log, step = scheme.iterations(system, start), scheme.step(system, start)
    np.testing.assert_array_equal(log.impulse[-1], step.impulse)
    assert log.round[0] == 1
    assert np.all(np.diff(log.round) >= 0)
    counts = step.after.memory[-4:]
    assert counts.tolist() == [log.round[-1], log.level.count("normal"), log.level.count("tangential"), 0]
    assert len(log.of("normal")) + len(log.of("tangential")) == len(log.round)
    assert len(log.of("normal", 1)) == np.count_nonzero(log.round[: log.level.index("tangential")])
    chosen = NestedProx(1e-4, friction="functional-3").iterations(system, start)
    assert set(chosen.level) == {"normal", "functional-3"}
    assert chosen.label[-1] == "4d-i"


def test_a_warm_start_saves_iterations() -> None:
    system = rigid_block(BLOCK, load=ramp(10.0))
    cold, warm = (
        iteration_history(simulate(system, 0.01, NestedProx(1e-4, start=start))).inner_total
        for start in (None, "previous")
    )
    assert warm < 0.5 * cold


def test_divergence_is_told_in_words() -> None:
    """C10, E7: ansatz 1 needs more than 20 rounds; the run ends with what there is, and says what to do."""
    system = rigid_block(BLOCK, load=ramp())
    scheme = NestedProx(1e-4, friction="functional-1", projection="thesis")
    for compiled in (True, False):
        with pytest.raises(SimulationFailed, match=r"after 20 rounds .* Allow more rounds") as failed:
            simulate(system, 0.01, replace(scheme, compiled=compiled))
        assert failed.value.run.time[-1] == pytest.approx(1e-4)  # in the second step
    with pytest.raises(StepFailed, match="normal impulses still change"):
        NestedProx(1e-4, max_iterations=1, max_reductions=2).step(system, scheme.init(system))
    assert len(iteration_history(failed.value.run).rounds) == 1


def test_a_reduced_factor_rescues_the_iteration() -> None:
    """(C.12): with weights far too large the factors are halved until the iteration converges, to the same forces."""
    system = rigid_block(BLOCK, load=(2.0, 0.0, 0.0))
    plain, hasty = (NestedProx(1e-4, weights=weights, max_rounds=200) for weights in (None, (8.0, 8.0)))
    step = hasty.step(system, hasty.init(system))
    assert step.after.memory[-1] > 0
    expected = plain.step(system, plain.init(system)).impulse
    np.testing.assert_allclose(step.impulse, expected, atol=2e-3 * 1e-4)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: NestedProx(0.0), "step_size is 0"),
        (lambda: NestedProx(1e-3, integrator="euler"), "integrator is 'euler'"),
        (lambda: NestedProx(1e-3, projection="yes"), "projection is 'yes'"),
        (lambda: NestedProx(1e-3, friction="best"), "friction is 'best'"),
        (lambda: NestedProx(1e-3, start="last"), "start is 'last'"),
        (lambda: NestedProx(1e-3, start=(1.0, 2.0)), "start has shape"),
        (lambda: NestedProx(1e-3, reduction=1.0), "reduction is 1"),
        (lambda: NestedProx(1e-3, max_rounds=0), "max_rounds is 0"),
        (lambda: NestedProx(1e-3, friction="pinv", integrator="implicit"), "needs the forces at the middle"),
        (lambda: FunctionalFriction(4), "ansatz is 4"),
        (lambda: FunctionalFriction(3, stiffness=(1.0, 0.0)), "stiffness is 0"),
        (lambda: NestedProx(1e-3, weights=(1.0,)).init(rigid_block(BLOCK)), "weights has 1 entries"),
        (
            lambda: NestedProx(1e-3, friction=FunctionalFriction(3, stiffness=(1.0,) * 3)).init(
                rigid_block(BLOCK)
            ),
            "stiffness has 3 entries",
        ),
        (
            lambda: NestedProx(1e-3).init(
                LinearSystem([1.0], contacts=[Contact("stop", normal=[1.0], restitution=0.5)])
            ),
            "contact 'stop' has restitution",
        ),
        (
            lambda: NestedProx(1e-3).init(
                LinearSystem([1.0, 1.0], constraints=[Constraint("rail", direction=[0.0, 1.0])])
            ),
            "constraint 'rail'",
        ),
        (
            lambda: NestedProx(1e-3).init(
                LinearSystem(
                    [1.0] * 3,
                    contacts=[Contact("p", normal=[0, 0, 1.0], tangents=np.eye(3)[:2], friction=0.1)],
                )
            ),
            "two tangential directions",
        ),
    ],
)
def test_what_it_cannot_do_is_refused(call, words: str) -> None:
    with pytest.raises(InvalidModel, match=words):
        call()


def test_eigenvectors_and_eliminations_of_small_matrices_are_exact() -> None:
    """Eigenvectors by rotations and elimination against LAPACK."""
    from klapper.schemes.kernels.small_matrices import eliminate, symmetric_eigen

    rng = np.random.default_rng(8)
    for _ in range(20):
        half = rng.normal(size=(4, 3))
        matrix = half @ half.T  # rank 3, as for the block
        values, vectors = matrix.copy(), np.empty((4, 4))
        symmetric_eigen(values, vectors)
        np.testing.assert_allclose(vectors @ np.diag(np.diag(values)) @ vectors.T, matrix, atol=1e-13)
        np.testing.assert_allclose(np.sort(np.diag(values)), np.linalg.eigvalsh(matrix), atol=1e-13)
        square, right = rng.normal(size=(6, 6)), rng.normal(size=(6, 5))
        solved = right.copy()
        eliminate(square.copy(), solved)
        np.testing.assert_allclose(square @ solved, right, atol=1e-10)


def test_contacts_without_friction_have_no_strategy() -> None:
    """Two stops without a tangential direction: strategies leave them alone."""
    stops = [Contact("a", normal=[1.0]), Contact("b", normal=[1.0])]
    system = LinearSystem([1.0], force=[-5.0], contacts=stops)
    run = simulate(system, 0.01, NestedProx(1e-3, friction="functional-3"))
    assert run.force[-1].sum() == pytest.approx(5.0, abs=1e-3)
    assert np.abs(run.position).max() <= 1e-9


def test_settings_name_the_friction_rule_and_refining_divides_the_step() -> None:
    settings = NestedProx(1e-4, friction=PseudoInverseFriction(redistribute=True)).settings
    assert settings["friction"] == "PseudoInverseFriction(redistribute=True)"
    assert NestedProx(1e-4).refined(4.0).step_size == 2.5e-5
