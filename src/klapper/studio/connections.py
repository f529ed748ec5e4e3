"""Connections of the studio that nobody may hold: a request comes in time and is read in time, or it is closed.

Every program of the machine can connect, also without the token. A connection on which the studio waits for the other
side is closed after some seconds; when there are too many, the one that waits longest makes room.
"""

from __future__ import annotations

from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

PATIENCE = 10.0  # seconds for a whole request, and between two of them; the page asks every few seconds
MOST = 100  # connections; a browser opens up to six


class Connection(H11Protocol):
    """uvicorn's connection with an end to its waiting."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.waits_since = self.loop.time()
        self._watch = self.loop.call_later(PATIENCE / 4, self._look)
        held = [
            each
            for each in self.connections
            if isinstance(each, Connection) and not each.transport.is_closing()
        ]  # many are accepted at once, and one that is being closed is among the connections for a while
        waiting = [each for each in held if each.waits]
        if len(held) > MOST and waiting:
            min(waiting, key=lambda each: each.waits_since).transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._watch.cancel()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no request; while another one is being answered, that cannot be said between."""
        if self.cycle is None or self.cycle.response_complete:
            super().send_400_response(msg)
            return
        self.cycle.disconnected = True
        self.cycle.message_event.set()
        self.transport.abort()

    def on_response_complete(self) -> None:
        self.waits_since = self.loop.time()
        super().on_response_complete()

    @property
    def waits(self) -> bool:
        """Whether the other side has to do something: send a request or the rest of one, or read the answer."""
        cycle = self.cycle
        if cycle is None or cycle.response_complete or cycle.more_body:
            return True
        return bool(self.transport.get_write_buffer_size())  # type: ignore[attr-defined]

    def _look(self) -> None:
        now = self.loop.time()
        if not self.waits:
            self.waits_since = now
        elif now - self.waits_since > PATIENCE:
            self.transport.abort()
            return
        self._watch = self.loop.call_later(PATIENCE / 4, self._look)
