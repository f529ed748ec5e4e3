"""One compiled call for contacts with friction: its check is that of the problem, its answers those of the others."""

import sys

import numpy as np
import pytest
import scipy.sparse as sparse

from klapper.complementarity import FrictionalContact, dispatch, solve
from klapper.complementarity.kernels import contact_call
from klapper.complementarity.kernels.contact_form import blocks_of

NO_GUESS = np.empty(0)


def problem_of(rng: np.random.Generator, most_friction: float = 0.9) -> FrictionalContact:
    """Uncoupled parts with loads between 1e-6 and 1e6 or alike, redundant or not; contacts with and without friction,
    patches that several contacts press, limits, constraints; dense or sparse; rows in any order."""
    width = int(rng.integers(1, 3))
    blocks, loads, normal, tangential, bilateral, shares, limits = [], [], [], [], [], [], []
    spread, first, contacts = rng.random() < 0.5, 0, 0
    for _ in range(int(rng.integers(1, 4))):
        m = int(rng.integers(1, 4))
        s = int(rng.integers(0, m + 1)) if rng.random() < 0.3 else m
        k = int(rng.random() < 0.2)
        rows = m + s * width + k
        directions = rng.standard_normal((rows, rows + 1 if rng.random() < 0.7 else max(rows - 1, 1)))
        blocks.append(directions @ directions.T)
        if rng.random() < 0.2:
            noise = rng.standard_normal((rows, rows))
            blocks[-1] += 1e-7 * (noise - noise.T)
        size = 10.0 ** rng.uniform(-6, 6) if spread else 1.0
        loads.append(directions @ rng.standard_normal(directions.shape[1]) * size * (rng.random() < 0.9))
        normal += [*range(first, first + m)]
        tangential += [[*range(first + m + i * width, first + m + (i + 1) * width)] for i in range(s)]
        bilateral += [*range(first + m + s * width, first + rows)]
        for i in range(s):
            row = {contacts + i: rng.uniform(0.0, most_friction) * (rng.random() < 0.8)}
            if m > 1 and rng.random() < 0.2:
                row[contacts + (i + 1) % m] = rng.uniform(0.0, most_friction)
            shares.append(row)
            limits.append(size * rng.uniform(0.0, 1.0) * (rng.random() < 0.2))
        first, contacts = first + rows, contacts + m
    friction = np.zeros((len(shares), contacts))
    for i, row in enumerate(shares):
        friction[i, list(row)] = list(row.values())
    order = rng.permutation(first)
    place = np.argsort(order)
    matrix = sparse.block_diag(blocks, format="csr").toarray()[np.ix_(order, order)]
    return FrictionalContact.from_parts(
        sparse.csr_array(matrix) if rng.random() < 0.5 else matrix,
        np.concatenate(loads)[order],
        normal=place[normal],
        tangential=place[np.array(tangential, dtype=int)].reshape(-1, width),
        friction=friction,
        limit=limits,
        bilateral=place[np.array(bilateral, dtype=int)],
    )


def call(problem: FrictionalContact, guess: np.ndarray = NO_GUESS, tolerance: float = 1e-9):
    x = np.empty(problem.size)
    *_, residual = contact_call.solve_contacts(*problem.form, problem.free_velocity, guess, tolerance, x)
    return x, residual


@pytest.mark.parametrize("count", [300, pytest.param(20_000, marks=pytest.mark.slow)])
def test_the_check_is_that_of_the_problem_at_any_point(count: int) -> None:
    for seed in range(count):
        rng = np.random.default_rng([seed, 1])
        problem = problem_of(rng)
        x = rng.standard_normal(problem.size) * 10.0 ** rng.uniform(-3, 3)
        if problem.parts is not None:  # the call gives no force to parts without a load
            for k in range(problem.parts.max() + 1):
                x[problem.parts == k] *= np.any(problem.free_velocity[problem.parts == k])
        rows, part, blocks = blocks_of(*problem.form, problem.free_velocity)
        load, spread = contact_call.loads(blocks, part, problem.form[0])
        force = np.where(rows >= 0, x[rows], 0.0) / load[part][:, None]
        blocks = contact_call.loaded(blocks, part, load)
        unit = part if spread else np.zeros_like(part)
        if not np.any(problem.free_velocity):
            continue
        claimed = contact_call.measured(blocks, unit, force.ravel())
        assert claimed == pytest.approx(problem.residuals(x).worst, rel=1e-9, abs=1e-12), seed


@pytest.mark.parametrize("count", [300, pytest.param(20_000, marks=pytest.mark.slow)])
def test_an_answer_of_the_call_passes_the_check_of_the_problem(count: int) -> None:
    solved = 0
    for seed in range(count):
        rng = np.random.default_rng([seed, 2])
        problem = problem_of(rng)
        guess = rng.standard_normal(problem.size) if rng.random() < 0.3 else NO_GUESS
        tolerance = 10.0 ** rng.uniform(-13, -4)
        x, residual = call(problem, guess, tolerance)
        if residual <= tolerance:
            solved += 1
            assert problem.residuals(x).worst <= tolerance, seed
    assert solved >= 0.8 * count


@pytest.mark.parametrize("count", [200, pytest.param(5000, marks=pytest.mark.slow)])
def test_answers_are_those_of_one_solver_after_the_other(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With little friction and independent rows the answer is unique, and both have to find it."""
    compared = 0
    for seed in range(count):
        problem = problem_of(np.random.default_rng([seed, 3]), most_friction=0.1)
        x, residual = call(problem, tolerance=1e-11)
        matrix = problem.delassus.toarray() if sparse.issparse(problem.delassus) else problem.delassus
        if not residual <= 1e-11 or np.linalg.cond(matrix) > 1e4:
            continue
        with monkeypatch.context() as patch:
            patch.setattr(dispatch, "_rough_contacts", lambda *_: None)
            other = solve(problem, tolerance=1e-11)
        parts = np.zeros(problem.size, dtype=int) if problem.parts is None else problem.parts
        for k in np.unique(parts):
            load = np.abs(problem.free_velocity[parts == k]).max()
            assert problem.image(x)[parts == k] == pytest.approx(other.y[parts == k], abs=1e-6 * load), seed
        compared += 1
    assert compared >= 0.4 * count


def events_of(action) -> int:
    """How many functions of Python and of its libraries an action calls."""
    count = 0

    def seen(_frame, event, _argument) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(seen)
    try:
        action()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("contacts", [1, 5, 30])
def test_a_call_is_one_call(contacts: int, dimension: int) -> None:
    """About ninety calls of numpy for each problem took a hundred times as long as the answer of a contact."""
    rng = np.random.default_rng(contacts)
    n = contacts * dimension
    directions = rng.standard_normal((n, n + 3))
    problem = FrictionalContact(
        directions @ directions.T, directions @ rng.standard_normal(n + 3), 0.3, dimension=dimension
    )
    solve(problem)
    assert events_of(lambda: solve(problem)) <= 20


def test_undriven_contacts_need_no_force_whatever_their_number() -> None:
    n = 3000
    velocity = np.tile([0.5, 1.0, -2.0], n)
    solution = solve(FrictionalContact(sparse.eye_array(3 * n, format="csr"), velocity, 0.5))
    assert not solution.x.any()
    assert solution.residuals.worst == 0.0


@pytest.mark.parametrize("unit", [1e-200, 1e-12, 1e12, 1e200])
def test_units_change_nothing(unit: float) -> None:
    for seed in range(20):
        problem = problem_of(np.random.default_rng([seed, 4]))
        scaled = FrictionalContact.from_parts(
            problem.delassus, problem.free_velocity * unit, normal=problem.normal, tangential=problem.tangential,
            friction=problem.friction, limit=problem.limit * unit, bilateral=problem.bilateral,
        )  # fmt: skip
        (x, first), (y, second) = call(problem), call(scaled)
        assert (first <= 1e-9) == (second <= 1e-9)
        if first <= 1e-9:
            assert y / unit == pytest.approx(x, rel=1e-6, abs=1e-6 * np.abs(x).max(initial=0.0))
