"""Requests of strangers and of hostile pages, as ``python -m tools.attack_studio`` makes them by the thousand."""

import socket
import time
from typing import Any

import pytest
from tools import attack_studio


def test_a_few_hundred_attacks_do_no_harm(capsys: pytest.CaptureFixture[str]) -> None:
    assert "python -m tools.attack_studio" in str(attack_studio.__doc__)
    assert attack_studio.main(["--seed", "2", "--count", "150"]) == 0, capsys.readouterr().out


@pytest.mark.slow
def test_thousands_of_attacks_do_no_harm(capsys: pytest.CaptureFixture[str]) -> None:
    assert attack_studio.main(["--seed", "3", "--count", "5000"]) == 0, capsys.readouterr().out


def said(studio: Any, content: bytes, *, wait: float = 0.0) -> bytes:
    with socket.create_connection(("127.0.0.1", studio.port), timeout=30.0) as stream:
        stream.sendall(content)
        time.sleep(wait)
        return stream.recv(1000) if not wait else b""


@pytest.mark.parametrize(
    "header", ["Origin: http://evil.example", "Sec-Fetch-Site: same-origin", "Content-Type: application/json"]
)
@pytest.mark.parametrize("first", [True, False])
def test_a_header_that_is_judged_is_there_once(header: str, first: bool, studio: Any) -> None:
    """Servers differ in which of two counts."""
    name = header.partition(":")[0]
    own = {
        "Origin": f"http://127.0.0.1:{studio.port}",
        "Sec-Fetch-Site": "cross-site",
        "Content-Type": "text/plain",
    }
    lines = [header, f"{name}: {own[name]}"] if first else [f"{name}: {own[name]}", header]
    head = [f"GET /{studio.token}/api/list HTTP/1.1", f"Host: 127.0.0.1:{studio.port}", *lines]
    assert said(studio, "\r\n".join([*head, "", ""]).encode())[:12] == b"HTTP/1.1 403"


def test_what_is_no_request_behind_one_that_is_answered_tells_nothing_on_the_terminal(
    capfd: pytest.CaptureFixture[str], studio: Any
) -> None:
    for _ in range(5):
        said(
            studio,
            b"POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}POST / HTTP/2.0\r\nHost: x\r\n\r\n",
            wait=0.1,
        )
    head = (
        f"POST /{studio.token}/api/check HTTP/1.1\r\nHost: 127.0.0.1:{studio.port}\r\nContent-Length: 900\r\n"
    )
    head += f"Content-Type: application/json\r\nOrigin: http://127.0.0.1:{studio.port}\r\n\r\n{{"
    said(studio, head.encode(), wait=0.1)  # cut while its body is read
    assert studio.get("under_way").status == 200
    time.sleep(0.2)
    assert "Traceback" not in capfd.readouterr().err
