"""The compiled form of systems of functions says what their methods say."""

import numpy as np
import pytest

from klapper.mechanics import Contact, FunctionSystem
from klapper.mechanics.compiled_form import NotCompiled

from .form_agreement import assert_form_agrees, nearby_states
from .function_cases import KINDS, pendulum


@pytest.mark.parametrize("kind", KINDS)
def test_a_form_says_what_the_methods_say(kind):
    for seed in range(5):
        system = kind(np.random.default_rng(seed))
        assert_form_agrees(system, nearby_states(system, 4, seed=seed))


def test_other_numbers_need_no_compiling():
    first, second = (pendulum(np.random.default_rng(seed)).compiled_form() for seed in (1, 2))
    assert first.force is second.force and first.gaps is second.gaps and first.mass is second.mass
    assert not np.array_equal(first.data, second.data)


def test_what_a_form_is_made_of():
    form = KINDS[1](np.random.default_rng(0)).compiled_form()
    assert (form.positions, form.contacts, form.tangential, form.constraints) == (3, 7, 2, 4)
    assert form.constant_mass and form.stiff is not form.force and not form.complete
    assert not (form.straight or form.affine_constraints or form.constant_friction)
    assert form.shares.nnz == 2 and form.bring is not None


def test_where_a_function_raises_nothing_is_written():
    def force(t, q, v):
        if q[0] > 2.0:
            raise ValueError("too far")
        return q

    form = FunctionSystem([1.0], [0.0], mass=[[1.0]], force=force).compiled_form()
    from numba import njit

    from klapper.mechanics.kernels.signatures import FORCE, pointer

    @njit
    def called(function, index, data, q, out):
        function(index, data, 0.0, q, q, out)

    out = np.zeros(1)
    called(pointer(form.force, "force"), form.index, form.data, np.array([3.0]), out)
    assert np.isnan(out[0]) and FORCE is not None
    called(pointer(form.force, "force"), form.index, form.data, np.array([1.5]), out)
    assert out[0] == 1.5


def test_an_index_out_of_range_is_no_number():
    def gap(t, q):
        k = 0 if q[0] < 2.0 else 5
        return q[k]

    system = FunctionSystem(
        [1.0], [0.0], mass=[[1.0]], force=lambda t, q, v: -q, contacts=[Contact("c", gap=gap)]
    )
    form = system.compiled_form()
    out, which = np.zeros(1), np.zeros(1, dtype=np.int64)
    with pytest.raises(IndexError):
        form.gaps(form.index, form.data, 0.0, np.array([3.0]), which, out)
    assert np.isnan(out[0])


def test_a_method_of_its_own_has_no_form():
    class Pushed(FunctionSystem):
        def force(self, t, q, v):
            return super().force(t, q, v) + 1.0

    with pytest.raises(NotCompiled, match=r"^Pushed has a method 'force' of its own$"):
        Pushed([0.0], [0.0], mass=[[1.0]], force=lambda t, q, v: -q).compiled_form()


def test_the_part_that_cannot_be_compiled_is_named():
    calls = []

    def gap(t, q):
        calls.append(t)
        return q[0]

    system = FunctionSystem(
        [1.0], [0.0], mass=[[1.0]], force=lambda t, q, v: -q, contacts=[Contact("floor", gap=gap)]
    )
    with pytest.raises(
        NotCompiled, match=r"^gap of contact 'floor': it reads 'calls', a list, which may change"
    ):
        system.compiled_form()
