"""What goes wrong with stored or requested results, and the nearest name when one is misspelt."""

from collections.abc import Sequence
from difflib import get_close_matches


class ResultsError(ValueError):
    """A result that does not exist, does not fit or cannot be stored, told in one sentence.

    >>> from klapper.results import read
    >>> read("nowhere.h5")
    Traceback (most recent call last):
        ...
    klapper.results.errors.ResultsError: nowhere.h5 does not exist.
    """


class CannotRead(ResultsError):
    """A file that is there and whose bytes the system does not hand out: it may be whole."""


def place(name: str, names: Sequence[str], what: str) -> int:
    """The place of ``name`` in ``names``; :class:`ResultsError` offers the nearest ones if it is not there."""
    if name in names:
        return names.index(name)
    near = get_close_matches(name, names, n=3, cutoff=0.5) or list(names[:5])
    if not names:
        raise ResultsError(f"There is no {what} '{name}': this run has none.")
    offered = ", ".join(f"'{other}'" for other in near)
    more = "" if len(near) == len(names) else f" of {len(names)}"
    raise ResultsError(f"There is no {what} '{name}': the nearest{more} are {offered}.")
