"""Requests that never end, floods of headers and connections, names that are no text: the studio goes on answering."""

import json
import os
import socket
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from klapper.results import Layout, Run, Samples
from klapper.scenario import starter
from klapper.studio import connections


def connected(studio: Any) -> socket.socket:
    return socket.create_connection(("127.0.0.1", studio.port), timeout=30.0)


def answers(studio: Any) -> bool:
    return bool(studio.get("under_way").status == 200)


def closed(stream: socket.socket) -> bytes:
    """What comes until the studio closes the connection."""
    told = b""
    with suppress(ConnectionError):
        while part := stream.recv(65536):
            told += part
    stream.close()
    return told


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"GET / HTTP/1.1\r\nHost: x\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{",
        b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
    ],
    ids=["nothing", "half a head", "half a body", "half of its chunks"],
)
def test_a_request_that_never_ends_is_closed(
    said: bytes, studio: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "PATIENCE", 0.4)
    stream = connected(studio)
    stream.sendall(said)
    assert answers(studio)
    closed(stream)  # which would time out
    assert answers(studio)


def test_a_request_that_comes_by_drops_is_closed(studio: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "PATIENCE", 0.4)
    stream = connected(studio)
    with pytest.raises(ConnectionError):
        for _ in range(3000):
            stream.sendall(b"G")
            time.sleep(0.01)
    stream.close()
    assert answers(studio)


def test_a_flood_of_headers_is_refused(studio: Any) -> None:
    for flood in (
        b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 50_000,
        b"GET / HTTP/1.1\r\nX: " + b"y" * 300_000,
        b"GET /" + b"y" * 300_000,
    ):
        stream = connected(studio)
        with suppress(ConnectionError):
            stream.sendall(flood)
        assert closed(stream)[:12] in (b"HTTP/1.1 400", b"")
        assert answers(studio)


def test_a_flood_of_connections_makes_room_by_closing_those_that_wait(
    studio: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "MOST", 10)
    streams = [connected(studio) for _ in range(60)]
    assert answers(studio)
    left = 0
    for stream in streams:
        stream.setblocking(False)
        try:
            stream.recv(1)
        except BlockingIOError:
            left += 1
        except ConnectionError:  # closed by the studio
            pass
        stream.close()
    assert left <= 10
    assert answers(studio)


def test_a_run_is_no_study(studio: Any) -> None:
    layout = Layout(("x",), ("x",))
    Run(layout, Samples.empty(layout)).save(studio.folder / "run" / "run.h5")
    (studio.folder / "my.toml").write_text(starter("linear"), encoding="utf-8")
    for name in ("run", "my.toml"):
        answer = studio.get("study", path=name)
        assert (answer.status, answer.sentence) == (404, f"'{name}' is no study.")


@pytest.mark.parametrize("room", ["save", "check", "begin", "start"])
def test_halves_of_signs_are_refused(room: str, studio: Any, capfd: pytest.CaptureFixture[str]) -> None:
    for wrong in (
        {"path": "\ud800.toml"},
        {"path": "a.toml", "text": "\udfff"},
        {"path": "a.toml", "kind": "\ud800"},
    ):
        answer = studio.post(
            room, {"path": "a.toml", "text": "", "kind": "linear", "out": "b", "digest": None} | wrong
        )
        assert answer.status == 400
        assert "UTF-8" in answer.sentence
    assert "Traceback" not in capfd.readouterr().err


def test_files_whose_names_are_no_text_are_listed(studio: Any) -> None:
    name = os.fsdecode(b"\xff-run")
    layout = Layout(("x",), ("x",))
    Run(layout, Samples.empty(layout)).save(Path(studio.folder, name, "run.h5"))
    (entry,) = studio.get("list").json["entries"]
    assert entry["path"] == name
    assert studio.get("glance", path="x").status == 404


def test_requests_are_no_deeper_than_they_need_to_be(studio: Any) -> None:
    body = json.dumps({"path": "a.toml"})[:-1].encode() + b', "text": ' + b"[" * 100_000
    headers = {"Content_Type": "application/json", "Origin": f"http://127.0.0.1:{studio.port}"}
    answer = studio.ask(f"/{studio.token}/api/check", method="POST", body=body, **headers)
    assert answer.status == 400
    assert "60 levels" in answer.sentence
