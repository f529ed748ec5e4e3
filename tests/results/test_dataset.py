"""A run as an xarray dataset."""

import builtins
from typing import Any

import numpy as np
import pytest

from klapper.results import ENERGY, ResultsError

from .motions import bouncing_ball, braked_block, driven_oscillator, logged_by_number


def test_every_array_has_its_labels_and_units() -> None:
    run = braked_block()
    data = run.to_xarray()
    assert data.position.dims == ("time", "coordinate")
    assert data.velocity.dims == ("time", "component")
    assert data.impulse.dims == ("time", "contact", "direction")
    assert list(data.direction.values) == ["normal", "tangential"]
    np.testing.assert_array_equal(data.position.sel(coordinate="block x"), run.coordinate("block x"))
    np.testing.assert_array_equal(data.velocity.sel(component="block x"), run.speed("block x"))
    np.testing.assert_array_equal(data.force.sel(contact="floor", direction="normal"), run.force[:, 0, 0])
    np.testing.assert_array_equal(data.energy.sel(entry="friction"), run.ledger.friction)
    assert list(data.entry.values) == list(ENERGY)
    assert all("units" in data[name].attrs for name in data.data_vars)
    assert data.time.attrs["units"] == "s"
    assert data.state.attrs["flag_meanings"] == "open stick slip impact"
    assert data.attrs["system"] == "braked block"
    assert data.sel(time=0.5, method="nearest").position.shape == (2,)


def test_contacts_by_number_have_their_own_arrays_and_none_is_a_size_of_zero() -> None:
    data = logged_by_number(bouncing_ball()).to_xarray()
    assert data.loaded_contact.dims == ("loaded",)
    assert data.loaded_impulse.dims == ("loaded", "direction")
    hit = data.loaded_sample.values
    assert float(data.time[hit[0]]) == pytest.approx(np.sqrt(2 / 9.81), abs=0.005)
    assert driven_oscillator().to_xarray().sizes["contact"] == 0


def test_a_missing_xarray_is_told_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name == "xarray":
            raise ImportError(name)
        return usual(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ResultsError, match=r"pip install 'klapper\[xarray\]'"):
        bouncing_ball(count=3).to_xarray()
