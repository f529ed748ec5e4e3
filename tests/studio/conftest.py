"""A studio that answers on a port of its own, and a client that says exactly what it is told."""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import pytest

from klapper.cli.scenario import example_in
from klapper.studio.serve import prepare


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def sentence(self) -> str:
        """What is told when something is wrong; one line, ended by a full stop, without traces of Python."""
        text = self.json["message"]
        assert text.endswith(".") and "\n" not in text and "Traceback" not in text, text
        return str(text)


@dataclass(frozen=True)
class Client:
    """Asks a studio; ``address`` has the token, ``folder`` is what it shows."""

    address: str
    folder: Path

    @property
    def port(self) -> int:
        return int(urlsplit(self.address).port or 0)

    @property
    def token(self) -> str:
        return urlsplit(self.address).path.strip("/")

    def ask(self, path: str, *, method: str = "GET", body: bytes | None = None, **headers: str) -> Answer:
        """One request for a path of the host, with just these headers and Host."""
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in {"Host": f"127.0.0.1:{self.port}", **given}.items():
                connection.putheader(name, value)
            if body is not None:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            response = connection.getresponse()
            names = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, names, response.read())
        finally:
            connection.close()

    def get(self, name: str, **words: str) -> Answer:
        return self.ask(f"/{self.token}/api/{name}?{urlencode(words)}")

    def post(self, name: str, content: Any, **headers: str) -> Answer:
        given = {"Content_Type": "application/json", "Origin": f"http://127.0.0.1:{self.port}"} | headers
        return self.ask(
            f"/{self.token}/api/{name}", method="POST", body=json.dumps(content).encode(), **given
        )

    def page(self, address: str) -> Answer:
        return self.ask(quote(address, safe="/%"))


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[Client]:
    """The studio of an empty folder."""
    folder = tmp_path / "shown"
    folder.mkdir()
    served = prepare(folder, require_example=example_in)
    thread = Thread(target=served.run)
    thread.start()
    while not served.server.started:
        time.sleep(0.01)
    yield Client(served.address, folder)
    served.server.should_exit = True
    thread.join(60)
    assert not thread.is_alive()


@pytest.fixture
def until() -> Callable[..., Any]:
    """Waits for something to be true, and gives it."""

    def waited(found: Callable[[], Any], seconds: float = 120.0) -> Any:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if value := found():
                return value
            time.sleep(0.05)
        raise AssertionError("It did not come true in time.")

    return waited
