"""From a model to its picture.

    picture_of(system)            for what simulate() is given
    picture_of(beam)              for what a linear system was made of

Rooms are imported only if the model comes from them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from klapper.view.picture import Picture

if TYPE_CHECKING:
    from klapper.results import Run


def picture_of(model: Any, *, until: float = 0.0) -> Picture | None:
    """What ``model`` looks like, or None if it has no geometry; given motions are sampled up to ``until`` [s].

    A model is a system, a structure, a delaminated beam, or a reduction of one. A linear system says with its
    ``origin`` what it was made of; one without is shown as masses in a row.
    """
    names = [
        f"{kind.__module__.split('.')[1]}.{kind.__name__}" for kind in type(model).__mro__ if _ours(kind)
    ]
    for name in names:
        if name in _MAKERS:
            return _MAKERS[name](model, until)
    return None


def stored_picture(model: Any, until: float) -> dict[str, Any]:
    """What a run keeps of the looks of its model; nothing where there is none, for a picture must not cost a run."""
    try:
        picture = picture_of(model, until=until)
    except Exception:  # in a function of the user's, such as a given motion
        return {}
    return {} if picture is None else {"picture": picture.as_plain()}


def with_picture(run: Run, model: Any) -> Run:
    """The run with the picture of ``model``, for runs that have none or are to have another."""
    picture = picture_of(model, until=float(run.time[-1]) if len(run) else 0.0)
    if picture is None:
        raise TypeError(
            f"a {type(model).__name__} has no picture: give rigid bodies, a continuum, a beam, a frame, a pipe, a "
            "delaminated beam, a reduction of one, or masses in a row."
        )
    return replace(run, about={**run.about, "picture": picture.as_plain()})


def _ours(kind: type) -> bool:
    return kind.__module__.startswith("klapper.")


def _rigid(model: Any, until: float) -> Picture:
    from klapper.view.rigid import rigid_picture

    return rigid_picture(model, max(until, model.start.time))


def _footed(model: Any, until: float) -> Picture:
    from klapper.view.rigid import footed_picture

    return footed_picture(model, until)


def _elastic(model: Any, until: float) -> Picture:
    from klapper.view.elastic import elastic_picture

    return elastic_picture(model)


def _linear(model: Any, until: float) -> Picture | None:
    from klapper.view.linear import row_picture

    origin = getattr(model, "origin", None)
    made_of = None if origin is None else picture_of(origin, until=until)
    if made_of is not None or hasattr(origin, "full"):  # amplitudes of modes are no masses
        return made_of
    return row_picture(model)


def _beam(model: Any, until: float) -> Picture:
    from klapper.view.linear import beam_picture

    return beam_picture(model)


def _frame(model: Any, until: float) -> Picture:
    from klapper.view.linear import frame_picture

    return frame_picture(model)


def _laminate(model: Any, until: float) -> Picture:
    from klapper.view.linear import laminate_picture

    return laminate_picture(model)


def _reduced(model: Any, until: float) -> Picture | None:
    from klapper.view.linear import reduced_picture

    origin = getattr(model.full, "origin", None)
    whole = None if origin is None else picture_of(origin, until=until)
    return None if whole is None else reduced_picture(whole, model.basis)


_MAKERS = {
    "bodies.RigidSystem": _rigid,
    "bodies.FootedSystem": _footed,
    "continuum.Continuum": _elastic,
    "mechanics.LinearSystem": _linear,
    "structures.Beam": _beam,
    "structures.Pipe": lambda model, until: _beam(model.beam, until),
    "structures.Frame": _frame,
    "structures.DelaminatedModel": _laminate,
    "reduction.Reduced": _reduced,
}
