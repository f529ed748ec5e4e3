"""The picture that a run carries, as its model offered it: :class:`klapper.mechanics.Picture`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from klapper.mechanics.errors import InvalidModel
from klapper.mechanics.picture import Picture
from klapper.mechanics.picture_format import picture_from_plain, plain_picture
from klapper.results.errors import ResultsError

if TYPE_CHECKING:
    from klapper.results import Run


def read_picture(content: Any) -> Picture:
    """The picture that a run carries as plain data; :class:`ResultsError` if it is none.

    ``content`` is ``run.about["picture"]``.

    >>> from klapper.mechanics import LinearSystem
    >>> from klapper.schemes import EventDriven
    >>> from klapper.simulation import simulate
    >>> from klapper.view import read_picture
    >>> run = simulate(LinearSystem([1.0], velocity=[2.0], coordinates=["cart"]), 3.0, EventDriven())
    >>> [part.name for part in read_picture(run.about["picture"]).parts]
    ['cart', 'floor']
    """
    try:
        return picture_from_plain(content)
    except InvalidModel as error:
        raise ResultsError(str(error)) from error


def with_picture(run: Run, model: Any) -> Run:
    """The run with the picture of ``model``, for runs that have none or are to have another.

    A model is whatever offers a ``picture``: a system, a beam, a frame, a reduction.

    >>> from dataclasses import replace
    >>> from klapper.mechanics import LinearSystem
    >>> from klapper.schemes import EventDriven
    >>> from klapper.simulation import simulate
    >>> from klapper.view import read_picture, with_picture
    >>> cart = LinearSystem([1.0], velocity=[2.0], coordinates=["cart"])
    >>> blind = replace(simulate(cart, 3.0, EventDriven()), about={})
    >>> read_picture(with_picture(blind, cart).about["picture"]).parts[0].name
    'cart'
    """
    from klapper.results import Run

    if not isinstance(run, Run):
        raise InvalidModel(f"run is a {type(run).__name__}; give a Run, as simulate returns it.")
    offered = getattr(model, "picture", None)
    picture = offered(float(run.time[-1]) if len(run) else 0.0) if callable(offered) else None
    if picture is None:
        raise InvalidModel(
            f"a model of type {type(model).__name__} has no picture; give rigid bodies, a continuum, a beam, a frame, "
            "a pipe, a delaminated beam, a reduction of one, masses in a row, or a system of your own that offers one."
        )
    return replace(run, about={**run.about, "picture": plain_picture(picture)})
