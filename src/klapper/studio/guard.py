"""Who may ask: requests with the token, for this host, from the studio's own pages.

The address begins with a random token, so that neither other users of the machine nor other pages of the browser
can guess it. ``Host`` must be the address itself, which defeats rebinding of names; ``Origin`` and ``Sec-Fetch-Site``
must not be another one's. Pages of runs have a token of their own and are shown in a sandbox: whatever a page holds
that somebody sent, it has no origin, no network and no way to the studio's commands.
"""

from __future__ import annotations

import secrets
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_SANDBOX = (
    "sandbox allow-scripts allow-downloads; default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_ONCE = (b"host", b"origin", b"sec-fetch-site", b"sec-fetch-mode", b"content-type")  # what is judged


def _token() -> str:
    return secrets.token_urlsafe(24)


@dataclass(frozen=True)
class Keys:
    """The tokens of a session: ``studio`` for all of it, ``pages`` only to look at pages of runs."""

    studio: str = field(default_factory=_token)
    pages: str = field(default_factory=_token)


class Guard:
    """ASGI middleware: passes on what may be asked, with the token taken off the path, and adds the headers."""

    def __init__(self, app: Any, keys: Keys, port: int) -> None:
        self.app, self.keys = app, keys
        self.hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self.origins = {f"http://{host}" for host in self.hosts}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        token, _, rest = scope["path"].removeprefix("/").partition("/")
        room = self._room(token)
        refusal = self._refusal(scope, room)
        if refusal:
            await _refuse(send, refusal)
            return
        inner = {**scope, "path": f"/{room}/{rest}", "raw_path": b""}
        await self.app(inner, receive, _with_headers(send, _SANDBOX if room == "pages" else _POLICY))

    def _room(self, token: str) -> str:
        for room in ("studio", "pages"):
            if secrets.compare_digest(token.encode(), getattr(self.keys, room).encode()):
                return room
        return ""

    def _refusal(self, scope: Any, room: str) -> str:
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        if any(
            count > 1 for count in Counter(name for name, _ in scope["headers"] if name in _ONCE).values()
        ):
            return "A header is there twice."
        origin, site = headers.get("origin"), headers.get("sec-fetch-site", "")
        if headers.get("host") not in self.hosts:
            return "This host is not the studio's."
        if not room:
            return "The address lacks the token: open the one that klapper studio printed."
        if origin is not None and origin not in self.origins:
            return "Another origin asks."
        framed = room == "pages" and headers.get("sec-fetch-mode") == "navigate"
        if site not in ("", "none", "same-origin") and not framed:  # a page in its sandbox has no site
            return "Another site asks."
        if scope["method"] not in ("GET", "HEAD"):
            if room == "pages" or scope["method"] != "POST":
                return "Only GET and POST are answered."
            if origin is None:
                return "A command needs an origin."
            if headers.get("content-type", "").partition(";")[0].strip() != "application/json":
                return "A command is JSON."
        return ""


def _with_headers(send: Any, policy: str) -> Any:
    added = [
        (name.lower().encode(), value.encode())
        for name, value in {**_HEADERS, "Content-Security-Policy": policy}.items()
    ]

    async def sending(message: Any) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", []), *added]}
        await send(message)

    return sending


async def _refuse(send: Any, sentence: str) -> None:
    sending = _with_headers(send, "default-src 'none'; frame-ancestors 'none'")
    head = [(b"content-type", b"text/plain; charset=utf-8")]
    await sending({"type": "http.response.start", "status": 403, "headers": head})
    await sending({"type": "http.response.body", "body": f"{sentence}\n".encode()})
