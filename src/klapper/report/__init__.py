"""The report room: records of runs, and how they are shown. It never sees a model.

:func:`write_report` the page of one run with its :class:`Scene` of :class:`Shape`\\ s, to look into;
:mod:`~klapper.report.record` what is stored of an example, :mod:`~klapper.report.figures` drawing,
:mod:`~klapper.report.page` the page of an example, :mod:`~klapper.report.terminal` tables in a terminal,
:mod:`~klapper.report.folder` writing to disk without ever leaving half a file.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from klapper.report.run_page import write_report
    from klapper.report.run_scene import scene_of
    from klapper.report.scene import Scene, Shape, disc, frame_times, moved, rectangle

__all__ = ["Scene", "Shape", "disc", "frame_times", "moved", "rectangle", "scene_of", "write_report"]


def __getattr__(name: str) -> Any:  # `klapper list` reads records and needs none of these
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    place = {"scene_of": "run_scene", "write_report": "run_page"}.get(name, "scene")
    return getattr(import_module(f"{__name__}.{place}"), name)
