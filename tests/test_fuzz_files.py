"""Damaged and hostile files of every kind, as ``python -m tools.fuzz_files`` makes them."""

import pytest
from tools import fuzz_files
from tools.fuzz_files import __main__ as command
from tools.fuzz_files.samples import KINDS


def test_a_few_files_of_every_kind_do_no_harm() -> None:
    assert "python -m tools.fuzz_files" in str(fuzz_files.__doc__)
    assert command.main(["--seed", "17", "--count", "12"]) == 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_thousands_of_files_do_no_harm(kind: str) -> None:
    assert command.main(["--seed", "18", "--count", "10000", "--kind", kind]) == 0
