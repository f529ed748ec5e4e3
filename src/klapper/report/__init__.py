"""The report room: records of runs, and how they are shown. It never sees a model.

:mod:`~klapper.report.record` what is stored, :mod:`~klapper.report.figures` drawing,
:mod:`~klapper.report.page` the self-contained page, :mod:`~klapper.report.terminal` tables in a terminal,
:mod:`~klapper.report.folder` writing a run to disk without ever leaving half a file.
"""
