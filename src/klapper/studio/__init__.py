"""The studio: a local web page on a folder of scenarios, runs and studies.

:mod:`~klapper.studio.serve` opens it; :mod:`~klapper.studio.guard` decides who may ask, :mod:`~klapper.studio.place`
which files may be touched, :mod:`~klapper.studio.app` answers. What is shown comes from the rooms ``results``,
``report``, ``scenario`` and ``studies``; runs are started as processes of their own (:mod:`~klapper.studio.jobs`).
"""
