"""The command line: ``list``, ``run``, ``new``, ``schema``, ``show``, ``export``, ``study``, ``studio``, ``bench``.

The commands and their options are in :mod:`klapper.cli.commands`, what they do beside it: ``record`` for results,
``scenario`` for files, ``studio``, ``view`` for pictures; ``errors`` says how a wrong request is told. Nothing is
computed here.
"""

from klapper.cli.commands import app, main

__all__ = ["app", "main"]
