"""The programs that are compared: klapper, klapper with pypardiso, and GetFEM, each in a process of its own."""

from __future__ import annotations

import sys

from benchmarks.continuum.programs import Found, asked
from benchmarks.sides import ROOT, Side

__all__ = ["Found", "asked", "getfem", "klapper", "klapper_with_pardiso"]


def klapper() -> Side:
    return Side("klapper", (sys.executable, "-m", "benchmarks.contact.klapper_side"))


def klapper_with_pardiso(pardiso_python: str) -> Side:
    command = ("env", "PYTHONPATH=src", pardiso_python, "-m", "benchmarks.contact.klapper_side")
    return Side("klapper, pypardiso", command)


def getfem(interpreter: str) -> Side:
    return Side("GetFEM", (interpreter, str(ROOT / "benchmarks" / "contact" / "getfem_peer.py")))
