"""Loops over many cells, shared by threads where there are enough of them."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

WORTH = 4000  # cells from which on a second thread pays


def shared(kernel: Callable[..., None], count: int, *arguments: Any, worth: int = WORTH) -> None:
    """kernel(begin, end, …) for all items 0 … count − 1; kernels hold no lock and write to items of their own.

    Fewer items than ``worth`` are left to one thread.
    """
    workers = min(_workers(), count) if count >= worth else 1
    if workers == 1:
        kernel(0, count, *arguments)
        return
    cuts = [count * i // workers for i in range(workers + 1)]
    parts = [_pool().submit(kernel, cuts[i], cuts[i + 1], *arguments) for i in range(workers)]
    for part in parts:
        part.result()


@cache
def _workers() -> int:
    return max(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1, 1)


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_workers(), thread_name_prefix="klapper-cells")
