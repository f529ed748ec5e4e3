"""Python functions of users in compiled code: what they capture, what is refused, what is kept on disk."""

import functools
import itertools
import os
import random
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from numba import njit

from klapper import machine_code
from klapper.mechanics import FunctionSystem, user_functions
from klapper.mechanics.compiled_form import NotCompiled, Tables
from klapper.mechanics.friction import SpeedDependent
from klapper.mechanics.kernels.signatures import LAWS
from klapper.mechanics.signals import Constant, FunctionOfTime, Harmonic
from klapper.mechanics.user_functions import compiled
from klapper.mechanics.user_signals import compile_signals

GLOBAL = 2.0
TABLE = np.array([[1.0, 2.0], [3.0, 4.0]])
COUNTER = 0
WORDS = ["a"]


def system(force, position=(0.3, 0.7)):
    return FunctionSystem(position, [0.1, -0.2], mass=np.eye(2), force=force, stiff=False)


def asked(form, t=0.4, q=(0.3, 0.7), v=(0.1, -0.2)):
    out = np.zeros(2)
    form.force(form.index, form.data, t, np.array(q), np.array(v), out)
    return out


def helped(x, y):
    return GLOBAL * x + TABLE[1, 0] * y


def with_helper(t, q, v):
    return np.array([helped(q[0], v[0]), helped(v[1], t)])


def with_default(t, q, v, k=3.0, *, n=2):
    return -k * q * n


def with_closures(k):
    def spring(x):
        return -k * x

    def inner(t, q, v):
        return [spring(x) for x in q]

    return inner


def with_branches(t, q, v):
    if q[0] > 0.31:
        return q
    return -2 * v


@pytest.mark.parametrize(
    "force",
    [
        with_helper,
        with_default,
        with_closures(1.5),
        with_branches,
        functools.partial(with_default, k=4.0, n=3),
        functools.partial(lambda k, t, q, v: (k * q[0], t), 2.5),
        njit(lambda t, q, v: q - v),
        lambda t, q, v: TABLE @ q + GLOBAL,
        lambda t, q, v: (0, q[0]),
        lambda t, q, v: q,
    ],
)
def test_a_compiled_function_says_what_python_says(force):
    model = system(force)
    form = model.compiled_form()
    for q in ((0.3, 0.7), (0.5, -2.0)):
        expected = model.force(0.4, np.array(q), np.array([0.1, -0.2]))
        np.testing.assert_allclose(asked(form, q=q), expected, rtol=1e-13)


def with_a_copy(t, q, v):
    x = np.array(q)
    x[0] = 2.0
    x += np.asarray(v, dtype=float) - np.array(v, float).copy()
    return x


def with_a_list_of_a_name(t, q, v):
    rows = [q, v]
    return np.array(rows).sum(axis=0) - q.astype(float)


@pytest.mark.parametrize(
    "force",
    [
        with_a_copy,
        with_a_list_of_a_name,
        lambda t, q, v: np.array(q, dtype=float, copy=True) + np.zeros(2, dtype=float),
        lambda t, q, v: np.array(TABLE) @ np.array([q[0], 1], dtype=float),
        lambda t, q, v: np.array([np.hypot(*q), np.arctan2(*(q - v))]),
        lambda t, q, v: np.array([[q[0], 0], [0, 1]]) @ np.concatenate([q[:1], v[:1]]),
        lambda t, q, v: np.stack([q, v])[0] + np.hstack([q[:1], v[:1]]) + np.vstack([q, v])[1],
        lambda t, q, v: (q[0] - np.where(v[1] > 0.0, 1, 2.5), np.where(q > 0.5, q, v)[1]),
    ],
)
def test_idioms_of_numpy_that_numba_lacks_are_compiled(force):
    form = system(force).compiled_form()
    q, v = np.array([0.3, 0.7]), np.array([0.1, -0.2])
    np.testing.assert_allclose(asked(form), np.asarray(force(0.4, q, v), dtype=float), rtol=1e-13)
    assert q.tolist() == [0.3, 0.7]


def test_what_is_captured_is_read_when_the_form_is_made(monkeypatch):
    captured, whole = np.array([1.0, 2.0]), 2

    def force(t, q, v):
        return captured * q**whole * GLOBAL

    model = system(force)
    assert asked(model.compiled_form()).tolist() == pytest.approx([2.0 * 0.09, 4.0 * 0.49])
    captured[0] = 5.0
    monkeypatch.setitem(globals(), "GLOBAL", 3.0)
    assert asked(model.compiled_form()).tolist() == pytest.approx([15.0 * 0.09, 6.0 * 0.49])
    whole = 3
    assert asked(model.compiled_form()).tolist() == pytest.approx([15.0 * 0.027, 6.0 * 0.343])


def test_functions_on_one_line_and_without_source_are_told_apart():
    first, second = lambda t, q, v: q, lambda t, q, v: -q
    assert asked(system(first).compiled_form())[0] == 0.3
    assert asked(system(second).compiled_form())[0] == -0.3
    for sign in ("+", "-"):
        scope = {}
        exec(f"def force(t, q, v): return {sign}q", scope)
        assert asked(system(scope["force"]).compiled_form())[0] == float(f"{sign}0.3")


def counting():
    count = 0

    def force(t, q, v):
        nonlocal count
        count += 1
        return q

    return force


def globally(t, q, v):
    global COUNTER
    COUNTER = 1
    return q


def trying(t, q, v):
    try:
        return q
    except ValueError:
        return v


def importing(t, q, v):
    import math

    return q * math.pi


def printing(t, q, v):
    print(t)
    return q


def changing_its_argument(t, q, v):
    q += 1.0
    return q


def changing_what_it_captures(t, q, v):
    TABLE[0, 0] = TABLE[0, 0]
    return q


def passing_on(t, q, v):
    return applied(lambda x: 2.0 * x, q[0]), 0.0


def applied(f, x):
    g = f if x > 0.0 else np.sin
    return g(x)


def of_whole_numbers(t, q, v):
    f = [0, 0]
    if q[0] > 100.0:
        f[0] = q[0]
    return f


def growing(t, q, v):
    n = 1000000
    return q * float(n**4)


class Spring:
    k = 1.0

    def force(self, t, q, v):
        return -self.k * q


class Called:
    def __call__(self, t, q, v):
        return q


BOX = SimpleNamespace(k=1.0)


@pytest.mark.parametrize(
    "force, reason",
    [
        (counting(), "it writes to 'count', which lives outside it"),
        (globally, "it writes to the global variable 'COUNTER'"),
        (trying, "it uses try or with"),
        (importing, "it imports 'math'"),
        (printing, "it uses print, which compiled code does not have"),
        (
            lambda t, q, v: q * random.random(),
            "it draws random numbers",
        ),
        (lambda t, q, v: q * np.random.rand() ** 0, "it draws random numbers"),  # noqa: NPY002
        (
            lambda t, q, v: q * len(WORDS),
            "it reads 'WORDS', a list, which may change; a tuple or an array can be",
        ),
        (lambda t, q, v: q * BOX.k, "it reads 'BOX' of the class 'SimpleNamespace', which may change"),
        (Spring().force, "it is a method of an object, 'Spring', which may change; write a function"),
        (
            Called(),
            "it is no plain function but of the class 'Called'",
        ),
        (lambda *given: given[1], "it takes any number of arguments"),
        (changing_its_argument, "it changes an argument or a captured array in place"),
        (changing_what_it_captures, "it changes an argument or a captured array in place"),
        (passing_on, "it passes a function that it defines to another one"),
        (of_whole_numbers, "it puts numbers into a list of whole numbers; begin it with 0.0"),
        (growing, "its compiled answer differs from Python's"),
        (lambda t, q, v: np.fft.fft(q).real, "numba cannot compile it: "),
    ],
)
def test_what_could_be_wrong_later_is_refused(force, reason):
    with pytest.raises(NotCompiled) as refused:
        system(force).compiled_form()
    text = str(refused.value)
    assert text.startswith(f"force: {reason}") and "\n" not in text and len(text) < 250


def test_answers_are_copies():
    form = system(lambda t, q, v: q).compiled_form()
    q, out = np.array([0.3, 0.7]), np.zeros(2)
    form.force(form.index, form.data, 0.0, q, q, out)
    out[0] = 9.0
    assert q[0] == 0.3


PROGRAM = """
import numpy as np
from klapper.mechanics import Contact, FunctionSystem, user_functions
weight = {weight}
ball = FunctionSystem(
    [1.0], [0.0], mass=[[1.0]], force=lambda t, q, v: np.array([-weight {sign} 0.1 * v[0]]),
    contacts=[Contact("floor", gap=lambda t, q: q[0])],
)
form = ball.compiled_form()
out = np.zeros(1)
form.force(form.index, form.data, 0.0, np.ones(1), np.ones(1), out)
print(sorted(user_functions.compilations), round(out[0], 6))
"""


def test_processes_share_machine_code(tmp_path):
    def run(**options):
        text = PROGRAM.format(**options)
        environment = {**os.environ, "KLAPPER_CACHE": str(tmp_path)}
        return subprocess.run(
            [sys.executable, "-W", "error", "-c", text],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()

    assert run(weight=9.81, sign="-") == "['directions', 'force', 'gaps'] -9.91"
    assert run(weight=1.62, sign="-") == "[] -1.72"  # another captured number
    assert run(weight=9.81, sign="+") == "['force'] -9.71"  # another source


@pytest.fixture
def fresh(monkeypatch):
    """A process that has compiled nothing yet."""
    for known in ("_compiled", "_inlinable", "_parts"):
        monkeypatch.setattr(user_functions, known, {})
    monkeypatch.setattr(user_functions, "compilations", [])

    def forget():
        for known in (user_functions._compiled, user_functions._inlinable, user_functions._parts):
            known.clear()
        user_functions.compilations.clear()

    return forget


def test_damaged_and_refused_machine_code(monkeypatch, tmp_path, fresh):
    monkeypatch.setenv("KLAPPER_CACHE", str(tmp_path))
    made = system(lambda t, q, v: 7.25 * q)
    asked(made.compiled_form())
    (file,) = (tmp_path / "machine_code").glob("*.code")
    assert user_functions.compilations == ["force"]
    fresh()
    asked(made.compiled_form())
    assert user_functions.compilations == []
    file.write_bytes(file.read_bytes()[:100])
    fresh()
    assert asked(made.compiled_form())[0] == pytest.approx(7.25 * 0.3)
    assert user_functions.compilations == ["force"]
    os.chmod(tmp_path / "machine_code", 0o777)  # anybody could have written what is in it
    machine_code._private.cache_clear()
    fresh()
    made.compiled_form()
    assert user_functions.compilations == ["force"]


def test_a_folder_that_cannot_be_made_costs_nothing(monkeypatch, tmp_path, fresh):
    file = Path(tmp_path, "file")
    file.touch()
    monkeypatch.setenv("KLAPPER_CACHE", str(file))
    made = system(lambda t, q, v: 7.5 * q)
    assert asked(made.compiled_form())[0] == pytest.approx(7.5 * 0.3)


def test_signals_of_functions():
    amplitude, step = 0.3, 1e-4
    signals = [
        FunctionOfTime(lambda t: amplitude * np.sin(3.0 * t)),
        FunctionOfTime(lambda t: (t**2, t), lambda t: np.array([2.0 * t, 1.0]), step=step),
        FunctionOfTime(lambda t: t**3, lambda t: 3.0 * t**2, lambda t: 6.0 * t) + Harmonic(1.0, 2.0),
        FunctionOfTime(lambda t: [amplitude, t**2]),
        FunctionOfTime(lambda t: np.array([amplitude * t, t**2])).mapped(TABLE),
        Harmonic(2.0, 1.0),
    ]
    tables = Tables()
    places = [tables.signal(signal) for signal in signals]
    own = compile_signals(tables)
    index, data = tables.packed()
    for t in (0.0, 0.7, 5.3):
        own.bring(index, data, t)
        for signal, place in zip(signals, places, strict=True):
            parts = [np.ravel(part(t)) for part in (signal.value, signal.rate, signal.acceleration)]
            size = parts[0].size
            spacings = (1.0, 1e-5, 1e-9)  # what round-off of the value is divided by
            for k, (part, spacing) in enumerate(zip(parts, spacings, strict=True)):
                found = data[place + k * size : place + (k + 1) * size]
                np.testing.assert_allclose(found, part, rtol=1e-13, atol=4e-16 * (1.0 + t**2) / spacing)


def test_nothing_is_brought_where_nothing_changes():
    tables = Tables()
    tables.signal(Constant([1.0, 2.0]))
    assert compile_signals(tables).bring is None


def test_friction_of_functions():
    laws = [SpeedDependent(lambda speed, mu=mu: mu / (1.0 + speed)) for mu in (0.2, 0.5)]
    laws.append(SpeedDependent(lambda speed: 0.1 if speed < 1.0 else 0.05))
    tables = Tables()
    numbers = [tables.friction(law) for law in laws]
    own = compile_signals(tables)
    index, data = tables.packed()

    def laws_at(coefficient):
        def at(index, data, which, speed, out):
            for k in range(which.size):
                out[k, 2] = coefficient(index, data, which[k], speed[k])

        return at

    function = compiled(laws_at(own.coefficient), LAWS, "laws")
    for law, speed in itertools.product(numbers, (0.0, 0.3, 2.0)):
        out = np.zeros((1, 5))
        function(index, data, np.array([law]), np.array([speed]), out)
        assert out[0, 2] == pytest.approx(laws[law].coefficient(speed), rel=1e-14)


def test_a_function_of_time_that_cannot_be_compiled_is_named():
    given = []

    def motion(t):
        return float(len(given))

    tables = Tables()
    tables.signal(FunctionOfTime(motion))
    with pytest.raises(NotCompiled, match=r"^the function of time 'motion': it reads 'given', a list"):
        compile_signals(tables)
