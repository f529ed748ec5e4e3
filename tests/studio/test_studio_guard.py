"""Who may ask the studio: the token, the host, the origin; and what its answers allow a browser to do."""

import re
import socket
from typing import Any

import pytest

from klapper.studio.errors import StudioError
from klapper.studio.serve import prepare


def test_the_address_opens_the_page(studio: Any) -> None:
    answer = studio.ask(f"/{studio.token}/")
    assert answer.status == 200
    assert b"klapper" in answer.body
    assert len(studio.token) >= 32


def test_every_file_of_the_page_is_there_and_comes_from_the_studio(studio: Any) -> None:
    page = studio.ask(f"/{studio.token}/").body.decode()
    names = re.findall(r'(?:href|src)="([^"#]+)"', page)
    assert {"studio.css", "studio.js", "icon.svg"} <= set(names)
    seen: set[str] = set()
    while names:
        name = names.pop()
        if name in seen:
            continue
        seen.add(name)
        answer = studio.ask(f"/{studio.token}/{name}")
        assert answer.status == 200, name
        text = answer.body.decode()
        assert "http://" not in text.replace("http://www.w3.org/2000/svg", "") and "https://" not in text
        names += [found.removeprefix("./") for found in re.findall(r'from "(\./[^"]+)"', text)]
    assert "charts.js" in seen


@pytest.mark.parametrize("path", ["/", "/wrong/", "/wrong/api/list", "/api/list", "/%00/api/list", "//"])
def test_without_the_token_nothing_is_told(studio: Any, path: str) -> None:
    answer = studio.ask(path)
    assert answer.status == 403
    assert b"token" in answer.body and b"shown" not in answer.body


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example", "0.0.0.0:80"]
)
def test_another_host_is_refused(studio: Any, host: str) -> None:
    assert studio.ask(f"/{studio.token}/", Host=host).status == 403


def test_the_name_localhost_is_the_same_host(studio: Any) -> None:
    assert studio.ask(f"/{studio.token}/", Host=f"localhost:{studio.port}").status == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
        {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate"},
    ],
)
def test_another_origin_is_refused(studio: Any, headers: dict[str, str]) -> None:
    assert studio.ask(f"/{studio.token}/api/list", **headers).status == 403
    assert studio.post("begin", {"path": "my.toml", "kind": "bodies"}, **headers).status == 403
    assert not list(studio.folder.iterdir())


def test_a_command_needs_an_origin_and_json(studio: Any) -> None:
    path, body = f"/{studio.token}/api/begin", b'{"path": "my.toml", "kind": "bodies"}'
    own = f"http://127.0.0.1:{studio.port}"
    for headers in (
        {"Content_Type": "application/json"},
        {"Origin": own},
        {"Origin": own, "Content_Type": "text/plain"},
        {"Origin": f"http://127.0.0.1:{studio.port + 1}", "Content_Type": "application/json"},
    ):
        assert studio.ask(path, method="POST", body=body, **headers).status == 403
    for method in ("PUT", "DELETE", "OPTIONS", "PATCH"):
        assert studio.ask(path, method=method, body=body, Origin=own).status == 403
    assert not list(studio.folder.iterdir())
    assert studio.ask(path).status == 404
    assert studio.post("begin", {"path": "my.toml", "kind": "bodies"}).status == 200


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"\xff", b"[" * 100_000])
def test_what_is_no_object_is_refused_in_one_sentence(studio: Any, body: bytes) -> None:
    own = f"http://127.0.0.1:{studio.port}"
    answer = studio.ask(
        f"/{studio.token}/api/check", method="POST", body=body, Origin=own, Content_Type="application/json"
    )
    assert answer.status == 400
    assert answer.sentence.startswith("The request is no JSON object")


def test_a_browser_may_load_nothing_foreign(studio: Any) -> None:
    headers = studio.ask(f"/{studio.token}/").headers
    policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert policy["frame-ancestors"] == policy["base-uri"] == policy["form-action"] == "'none'"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["cache-control"] == "no-store"
    assert "access-control-allow-origin" not in headers


def test_only_the_loopback_interface_listens(tmp_path: Any) -> None:
    served = prepare(tmp_path)
    assert served.socket.getsockname()[0] == "127.0.0.1"
    assert served.address.startswith("http://127.0.0.1:")
    served.socket.close()


def test_a_port_that_is_taken_is_told_in_one_sentence(tmp_path: Any) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        number = other.getsockname()[1]
        with pytest.raises(
            StudioError, match=rf"Port {number} cannot be used: .*\. Port 0 takes a free one\."
        ):
            prepare(tmp_path, port=number)
    with pytest.raises(StudioError, match="Port 70000 cannot be used"):
        prepare(tmp_path, port=70000)
