"""Who computes: this process, processes of this machine, or a Dask cluster by its address.

All three take a function and its arguments and return a ``concurrent.futures.Future``. Workers use one thread each for
linear algebra, ignore Ctrl-C (the study itself stops and keeps what it has) and end when the study's process is gone.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from time import monotonic
from typing import Any, Protocol

from klapper.studies.errors import StudyError

_THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS")

PATIENCE = "10s"  # with a scheduler that does not answer
DESERTED = 120.0  # seconds without any worker until a study on a cluster gives up
COUNTED = 1.0  # seconds after which the workers of a cluster are counted again


class WorkerDied(RuntimeError):
    """The process that computed a batch is gone."""


class Crew(Protocol):
    """Workers; ``size`` is how many batches they compute at the same time."""

    @property
    def size(self) -> int: ...

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future: ...

    def renew(self) -> None:
        """Replace workers that died."""

    def watch(self) -> None:
        """Called while nothing arrives; :class:`StudyError` if nothing will."""

    def close(self) -> None: ...


class Alone:
    """This process."""

    size = 1

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future:
        future: Future = Future()
        try:
            future.set_result(function(*arguments))
        except Exception as error:
            future.set_exception(error)
        return future

    def renew(self) -> None:
        return None

    def watch(self) -> None:
        return None

    def close(self) -> None:
        return None


class Processes:
    """Processes of this machine, started afresh (spawned), so that they share nothing with this one.

    The script that is being run is imported by the workers only if the target lives in it (``needs_script``).
    """

    def __init__(self, size: int, *, needs_script: bool) -> None:
        self.size, self._needs_script = size, needs_script
        self._pool: Executor | None = None

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future:
        if self._pool is None:
            from multiprocessing import get_context

            self._pool = ProcessPoolExecutor(
                self.size, mp_context=get_context("spawn"), initializer=_settle_in
            )
        with _one_thread_each(), _script(self._needs_script):  # the pool starts workers when there is work
            return self._pool.submit(function, *arguments)

    def renew(self) -> None:
        self.close()

    def watch(self) -> None:
        return None

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None


class Cluster:
    """A Dask cluster; it starts workers that died again by itself, if it was set up to.

    A study on it cannot wait for ever: without a worker for :data:`DESERTED` seconds, or without its scheduler, it ends
    with a sentence, and goes on from there when it is run again.
    """

    def __init__(self, address: str) -> None:
        try:
            from distributed import Client
        except ImportError:
            raise StudyError(
                "dask.distributed is not installed: install it with `pip install 'klapper[cluster]'`."
            ) from None
        self._address = address
        try:
            self._client = Client(address, timeout=PATIENCE, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            raise StudyError(
                f"no Dask scheduler answers at {address}: give the address that it prints, such as tcp://host:8786."
            ) from error
        self._executor = self._client.get_executor(pure=False)
        self._deserted: float | None = None
        self._size, self._counted = 1, -COUNTED

    @property
    def size(self) -> int:
        if monotonic() - self._counted >= COUNTED:
            self._size, self._counted = max(1, self._threads()), monotonic()
        return self._size

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future:
        if self._client.status != "running":  # it would never answer
            raise self._gone()
        return self._executor.submit(function, *arguments)

    def renew(self) -> None:
        self._threads()

    def watch(self) -> None:
        if self._threads():
            self._deserted = None
            return
        now = monotonic()
        self._deserted = now if self._deserted is None else self._deserted
        if now - self._deserted >= DESERTED:
            raise StudyError(
                f"the cluster has had no workers for {DESERTED:g} s: start some and run the study again; "
                "what was computed is kept."
            )

    def close(self) -> None:
        self._executor.shutdown(wait=False)
        self._client.close()

    def _threads(self) -> int:
        """Of all workers; :class:`StudyError` if the scheduler is gone."""
        if self._client.status != "running":
            raise self._gone()
        try:
            return sum(self._client.nthreads().values())
        except (OSError, TimeoutError, RuntimeError, ValueError) as error:
            raise self._gone() from error

    def _gone(self) -> StudyError:
        return StudyError(
            f"the Dask scheduler at {self._address} does not answer any more: start it again and run the study again; "
            "what was computed is kept."
        )


@contextmanager
def crew_of(workers: int | None, cluster: str | None, *, needs_script: bool) -> Iterator[Crew]:
    """The workers that were asked for; as many as this machine has cores if nothing is said."""
    if cluster is not None and workers is not None:
        raise StudyError("give workers or a cluster: a cluster brings its own workers.")
    count = os.cpu_count() or 1 if workers is None else workers
    if count < 1:
        raise StudyError(f"workers is {count}: give at least 1, which computes in this process.")
    crew: Crew
    if cluster is not None:
        crew = Cluster(cluster)
    else:
        crew = Alone() if count == 1 else Processes(count, needs_script=needs_script)
    try:
        yield crew
    finally:
        crew.close()


def result_of(future: Future) -> Any:
    """The result of a future; :class:`WorkerDied` if its worker is gone."""
    try:
        return future.result()
    except (BrokenExecutor, CancelledError) as error:
        raise WorkerDied(str(error)) from error
    except Exception as error:
        if type(error).__name__ == "KilledWorker":
            raise WorkerDied(str(error)) from error
        raise


def _settle_in() -> None:
    """First thing in a worker: leave Ctrl-C to the parent, and do not outlive it."""
    import signal
    from multiprocessing import parent_process
    from threading import Thread

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()

    def follow() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    Thread(target=follow, daemon=True).start()


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Workers started inside use one thread for linear algebra, unless the user says otherwise."""
    added = [name for name in _THREADS if name not in os.environ]
    os.environ.update(dict.fromkeys(added, "1"))
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]


@contextmanager
def _script(wanted: bool) -> Iterator[None]:
    """Workers started inside do not import the script that is being run, unless it is ``wanted``.

    So a script needs no ``if __name__ == "__main__"`` around a study of an example or of an imported function.
    """
    main = sys.modules["__main__"]
    names = () if wanted else ("__file__", "__spec__")
    hidden = {name: main.__dict__[name] for name in names if name in main.__dict__}
    for name in hidden:
        main.__dict__[name] = None
    try:
        yield
    finally:
        main.__dict__.update(hidden)
