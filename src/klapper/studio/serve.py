"""Opens the studio: a socket on the loopback interface, an address with a token, a browser."""

from __future__ import annotations

import socket
import webbrowser
from collections.abc import Callable
from dataclasses import dataclass
from threading import Timer
from typing import Any

from klapper.studio.errors import StudioError
from klapper.studio.guard import Guard, Keys
from klapper.studio.place import Root

LOOPBACK = "127.0.0.1"
MISSING = "The studio needs starlette and uvicorn: install them by `pip install 'klapper[studio]'`."


@dataclass(frozen=True)
class Served:
    """A studio that is ready to answer."""

    address: str
    server: Any
    socket: socket.socket
    jobs: Any

    def run(self) -> None:
        """Answer until the server is told to stop, then interrupt what runs."""
        try:
            self.server.run(sockets=[self.socket])
        finally:
            self.jobs.close()
            self.socket.close()


def prepare(
    folder: Any, *, port: int = 0, require_example: Callable[[Any], object] = lambda scenario: None
) -> Served:
    """Make ready to serve ``folder``; port 0 takes a free one."""
    root = Root.of(folder)
    try:
        import uvicorn

        from klapper.studio.app import Studio, application
        from klapper.studio.connections import Connection
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("uvicorn", "starlette", "anyio", "h11"):
            raise
        raise StudioError(MISSING) from None
    from klapper.studio.glance import Glances
    from klapper.studio.jobs import Jobs
    from klapper.studio.scenarios import Scenarios

    listener = _listener(port)
    number = listener.getsockname()[1]
    keys, jobs = Keys(), Jobs(root.path)
    studio = Studio(root, Scenarios(root, require_example), jobs, Glances(root), f"/{keys.pages}/")
    config = uvicorn.Config(
        Guard(application(studio), keys, number),
        http=Connection,
        ws="none",
        loop="asyncio",
        lifespan="off",
        log_level="error",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=3,
    )
    address = f"http://{LOOPBACK}:{number}/{keys.studio}/"
    return Served(address, uvicorn.Server(config), listener, jobs)


def _listener(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((LOOPBACK, port))
        listener.listen(64)  # who is quicker than the server waits instead of being refused
    except (OSError, OverflowError) as error:
        listener.close()
        reason = getattr(error, "strerror", None) or "it is no number of a port"
        raise StudioError(f"Port {port} cannot be used: {reason}. Port 0 takes a free one.") from None
    return listener


def open_browser(address: str) -> None:
    """Show the address a moment later, when the server answers."""
    timer = Timer(0.5, webbrowser.open, [address])
    timer.daemon = True
    timer.start()
