"""The compiled form of bodies: every function says what the method of the system says, on random models."""

import pytest
from tests.bodies.random_models import random_model
from tests.mechanics.form_agreement import assert_form_agrees, nearby_states


@pytest.mark.parametrize("first", range(0, 200, 20))
def test_every_function_agrees_on_random_models(first):
    for seed in range(first, first + 20):
        system = random_model(seed)
        try:
            assert_form_agrees(system, nearby_states(system, 2, seed=seed))
        except AssertionError as error:
            raise AssertionError(f"random model {seed}: {error}") from error
