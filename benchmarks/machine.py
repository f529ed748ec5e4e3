"""What a page of benchmarks says about the machine: processor and versions, nothing that names the computer."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("numpy", "scipy", "numba")


def facts() -> dict[str, str]:
    """Processor, Python, and the packages that compute."""
    return {
        "processor": f"{processor()}, {os.cpu_count()} cores",
        "Python": platform.python_version(),
        **{package: installed(package) for package in PACKAGES},
    }


def processor() -> str:
    try:
        rows = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        rows = []
    names = [row.split(":", 1)[1].strip() for row in rows if row.startswith("model name")]
    return names[0] if names else platform.machine()


def installed(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
