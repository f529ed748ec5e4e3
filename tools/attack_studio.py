"""Asks the studio as strangers and hostile pages would, by the thousand, over sockets.

    python -m tools.attack_studio --seed 1 --count 5000
    python -m tools.attack_studio --seed 1 --first 4711 --count 1        # one request again, with its answers

Request lines, hosts, origins, lengths of bodies, names and contents are drawn by chance, valid ones among them; a few
requests go through one connection. Wrong is an answer with status 5xx, anything from outside of the folder in an
answer, a change outside, an answer other than a refusal to who has no token or comes from elsewhere, a trace of Python
on the terminal, or a studio that answers no more.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import random
import socket
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import quote_from_bytes, urlsplit

AT_ONCE = 24  # connections, less than make the studio close some for room
SECRET = b"the secret outside"
_ASKED = ("list", "under_way", "glance", "run", "compare", "study", "scenario", "job")
_TOLD = ("check", "save", "begin", "start", "cancel")
_NAMES: tuple[bytes, ...] = (
    b"my.toml", b"run", b"study.toml", b"run/run.h5", b"new.toml", b"../secret.toml", b"..", b"/etc/passwd",
    b"link/secret.toml", b"link", b"secret-link.toml", b".hidden/x.toml", b"a/../../secret.toml", b"\0", b"\xff.toml",
    b"\xed\xa0\x80.toml", b"x" * 5000 + b".toml", b"a/" * 3000 + b"x.toml", b"-x.toml", b"--out=x.toml", b"", b".",
    b"run/run.log", b"run/report.html", b"%2e%2e/secret.toml", b"..\\secret.toml", b"pipe.toml", b"pipe", b"circle",
    b"\xe2\x80\xae.toml", b"a\nb.toml", b"CON.toml", b"my.toml/x.toml", b"1", b"999", b"-1", "²".encode(),
)  # fmt: skip
_ODD: tuple[Any, ...] = (
    None, True, 0, -1, 1e300, [], {}, [[]], "", "\ud800", "x" * 100_000, {"a": 1}, "[model]\nkind = 'linear'\n",
    "a = " + "[" * 5000, "\0", "a" + ".a" * 5000 + " = 1",
)  # fmt: skip


@dataclass(frozen=True)
class Target:
    """A studio in this process: its port, its two tokens, its folder."""

    port: int
    token: str
    pages: str
    folder: Path


@dataclass(frozen=True)
class Attack:
    """Bytes for one connection, and whether any of it may be answered by more than a refusal."""

    said: bytes
    permitted: bool


@contextmanager
def target() -> Iterator[Target]:
    """A studio whose folder holds a run, a scenario, a study, links that lead out, a pipe; jobs of it do nothing."""
    from klapper.results import Layout, Run, Samples
    from klapper.scenario import starter
    from klapper.studio import connections
    from klapper.studio.serve import prepare

    with tempfile.TemporaryDirectory(prefix="attack-") as place:
        outside, folder = Path(place), Path(place, "shown")
        folder.mkdir()
        for name in ("secret.toml", "secret.html", "run.log"):
            (outside / name).write_bytes(b"# " + SECRET)
        layout = Layout(("x",), ("x",))
        Run(layout, Samples.empty(layout)).save(folder / "run" / "run.h5")
        (folder / "run" / "report.html").write_text("<p>own</p>", encoding="utf-8")
        (folder / "my.toml").write_text(starter("linear"), encoding="utf-8")
        (folder / "study.toml").write_text(
            'example = "bouncing-ball"\noutputs = ["impacts"]\n[over]\nrestitution = [0.1, 0.2]\n',
            encoding="utf-8",
        )
        os.mkfifo(folder / "pipe.toml")
        for link, to in (
            ("link", outside),
            ("secret-link.toml", outside / "secret.toml"),
            ("circle", "circle"),
        ):
            (folder / link).symlink_to(to)
        usual, connections.PATIENCE = connections.PATIENCE, 1.0  # so many connections are waited for
        served = prepare(folder)
        served.jobs.command = (sys.executable, "-S", "-c", "pass")
        thread = Thread(target=served.run)
        thread.start()
        while not served.server.started:
            time.sleep(0.01)
        guard = served.server.config.app
        parts = urlsplit(served.address)
        try:
            yield Target(int(parts.port or 0), parts.path.strip("/"), guard.keys.pages, folder)
        finally:
            served.server.should_exit = True
            thread.join(60)
            connections.PATIENCE = usual


def attack(at: Target, chance: random.Random) -> Attack:
    """One to three requests, which may hide each other."""
    requests = [_request(at, chance) for _ in range(chance.choice([1, 1, 1, 1, 2, 3]))]
    said = b"".join(request.said for request in requests)
    if chance.random() < 0.05:  # bytes that are no request
        place = chance.randrange(len(said))
        said = said[:place] + chance.randbytes(chance.choice([1, 8, 400])) + said[place:]
    return Attack(said, any(request.permitted for request in requests))


def _request(at: Target, chance: random.Random) -> Attack:
    """A request with the right head and odd names or contents, or with an odd head."""
    right = chance.random() < 0.6
    room = chance.choice([*_ASKED, *_TOLD, *_TOLD])
    method = b"POST" if room in _TOLD else b"GET"
    own = b"127.0.0.1:%d" % at.port
    if right:
        token, host, origin, kind, more = at.token, own, b"http://" + own, b"application/json", b""
    else:
        token = chance.choice([at.token, at.token, at.pages, at.token[:-1], at.token.swapcase(), ""])
        method = chance.choice([method] * 6 + list(_METHODS))
        host = chance.choice([own] * 6 + [own.replace(b"127.0.0.1", b"localhost"), *_hosts(own)])
        origin = chance.choice([b"http://" + own] * 6 + list(_origins(own)))
        kind = chance.choice([b"application/json"] * 6 + [b"text/plain", b"multipart/form-data", b""])
        more = chance.choice([b""] * 8 + [name + b": " + value + b"\r\n" for name, value in _more(own)])
    path = chance.choice([_api, _api, _api, _page])(token, room, chance)
    if not right and chance.random() < 0.2:  # forms of proxies and of other hosts
        path = chance.choice(
            [
                b"http://evil.example" + path,
                b"http://" + own + path,
                b"*",
                b"//x" + path,
                b"/." + path,
                path + b"#x",
            ]
        )
    permitted = (
        token in (at.token, at.pages)
        and host in (own, own.replace(b"127.0.0.1", b"localhost"))
        and origin in (b"", b"http://" + own)
        and b"evil" not in more
        and b"cross-site" not in more
    )
    version = b"HTTP/1.1" if right else chance.choice([b"HTTP/1.1"] * 8 + [b"HTTP/1.0", b"HTTP/2.0", b""])
    said = method + b" " + path + b" " + version + b"\r\n"
    head = [(b"Host", host), (b"Content-Type", kind), *([(b"Origin", origin)] if origin else [])]
    chance.shuffle(head)
    for name, value in head:
        said += (
            name
            + (b": " if right else chance.choice([b": "] * 9 + [b":", b" : ", b":\r\n "]))
            + value
            + b"\r\n"
        )
    if more and chance.random() < 0.5:  # first or last: servers differ in which of two counts
        said, more = said.replace(b"\r\n", b"\r\n" + more, 1), b""
    said += more + b"X-Many: y\r\n" * (1000 if chance.random() < 0.02 else 0)
    body = b"" if method == b"GET" else _body(chance)
    if right and chance.random() < 0.9:
        return Attack(said + b"Content-Length: %d\r\n\r\n" % len(body) + body, permitted)
    return Attack(said + _framed(body, chance), permitted)


_METHODS = (b"GET", b"POST", b"PUT", b"HEAD", b"OPTIONS", b"TRACE", b"CONNECT", b"post", b"X" * 900)


def _hosts(own: bytes) -> tuple[bytes, ...]:
    return (b"evil.example", b"", own + b".", b"x@" + own, b"127.0.0.1", b"[::1]:80", own + b", evil.example")


def _origins(own: bytes) -> tuple[bytes, ...]:
    return (b"", b"null", b"http://evil.example", b"http://" + own + b".evil.example", b"https://" + own)


def _more(own: bytes) -> tuple[tuple[bytes, bytes], ...]:
    return (
        (b"Host", b"evil.example"), (b"Origin", b"http://evil.example"), (b"Sec-Fetch-Site", b"cross-site"),
        (b"X-Forwarded-Host", own), (b"Upgrade", b"websocket"), (b"Expect", b"100-continue"),
    )  # fmt: skip


def _api(token: str, room: str, chance: random.Random) -> bytes:
    words = b"&".join(
        chance.choice([b"path", b"a", b"b", b"number", b"figure"])
        + b"="
        + _written(chance.choice(_NAMES), chance)
        for _ in range(chance.choice([0, 1, 2, 3]))
    )
    prefix = chance.choice(["api"] * 20 + ["API", "api/..", "api%2f..", "", "figure.svg?x="])
    return f"/{token}/{prefix}/{room}?".encode() + words


def _page(token: str, room: str, chance: random.Random) -> bytes:
    kind = chance.choice(["written", "made", "index.html", "..", "written/..", "%2e%2e"])
    return f"/{token}/{kind}/".encode() + _written(chance.choice(_NAMES), chance)


def _written(name: bytes, chance: random.Random) -> bytes:
    """A name in an address: quoted once, twice, or not at all."""
    once = quote_from_bytes(name).encode()
    return chance.choice(
        [once, once, once, once.replace(b"%", b"%25"), name.replace(b" ", b"").replace(b"\n", b"")]
    )


def _body(chance: random.Random) -> bytes:
    """The content of a command: mostly JSON with one odd entry."""
    name = chance.choice(_NAMES).decode("utf-8", "surrogateescape")
    content: dict[str, Any] = {
        "path": name,
        "text": "[model]",
        "kind": "linear",
        "out": chance.choice(_NAMES).decode("utf-8", "replace"),
        "digest": None,
        "number": 1,
        "overwrite": True,
    }
    if chance.random() < 0.5:
        content[chance.choice(list(content))] = chance.choice(_ODD)
    text = json.dumps(content).encode()
    match chance.randrange(12):
        case 0:
            return b"[" * int(10 ** chance.uniform(1, 6))
        case 1:
            return text[: chance.randrange(len(text))]
        case 2:
            return text + b" " * int(10 ** chance.uniform(3, 6.8))
        case 3:
            return chance.choice(
                [b"\xff", b"null", b"[]", b"1e999", b"", b"{" + b'"a":1,' * 90_000 + b'"b":1}']
            )
    return text


def _framed(body: bytes, chance: random.Random) -> bytes:
    """A body with its length, told in ways on which servers disagree."""
    length = b"Content-Length: %d\r\n" % len(body)
    chunks = b"%x\r\n" % len(body) + body + b"\r\n0\r\n\r\n" if body else b"0\r\n\r\n"
    hidden = b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n"
    match chance.randrange(40):
        case 0:
            return length + b"Transfer-Encoding: chunked\r\n\r\n" + chunks
        case 1:
            return b"Transfer-Encoding: chunked\r\n\r\n" + chunks
        case 2:
            return length + b"Content-Length: 0\r\n\r\n" + body
        case 3:
            return (
                chance.choice(
                    [
                        b"Content-Length: +1",
                        b"Content-Length: -1",
                        b"Content-Length: 1e3",
                        b"Content-Length: " + b"9" * 400,
                    ]
                )
                + b"\r\n\r\n"
                + body
            )
        case 4:
            return (
                b"Transfer-Encoding: "
                + chance.choice([b"xchunked", b"chunked, identity", b"\x0bchunked", b"gzip"])
                + b"\r\n\r\n"
                + chunks
            )
        case 5:
            return b"Transfer-Encoding: chunked\r\n\r\n" + chance.choice(
                [
                    b"fffffffffffffffff\r\n",
                    b"-1\r\n",
                    b"5;x=" + b"y" * 9000 + b"\r\nabcde\r\n0\r\n\r\n",
                    b"zz\r\n",
                ]
            )
        case 6:
            return length + b"\r\n" + body + hidden
        case 7:
            return b"\n\n"
    return length + b"\r\n" + body


def answered(at: Target, said: bytes) -> bytes:
    """All that comes back for the bytes of a connection, until the studio closes it."""
    told = b""
    with socket.create_connection(("127.0.0.1", at.port), timeout=30.0) as stream:
        try:
            stream.sendall(said)
            while part := stream.recv(65536):
                told += part
        except TimeoutError:
            raise
        except OSError:  # closed by the studio
            pass
    return told


def wrong(at: Target, sent: Attack, told: bytes, before: dict[str, bytes]) -> str:
    """What is wrong with the answers, empty if nothing."""
    status = [
        int(line[9:12])
        for line in told.split(b"\r\n")
        if line.startswith(b"HTTP/1.1 ") and line[9:12].isdigit()
    ]
    if any(code >= 500 for code in status):
        return f"answered with {status}"
    if SECRET in told or b"root:x:" in told:
        return "something from outside is in the answer"
    if outside(at) != before:
        return "something outside was changed"
    if not sent.permitted and any(code < 400 and code != 100 for code in status):
        return f"answered with {status} what nobody permitted"
    return ""


def outside(at: Target) -> dict[str, bytes]:
    """What lies beside the folder that is shown."""
    return {file.name: file.read_bytes() for file in at.folder.parent.iterdir() if file.is_file()}


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.attack_studio", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1000, help="connections")
    parser.add_argument("--first", type=int, default=0, help="number of the first")
    given = parser.parse_args(words)
    counts: Counter[str] = Counter()
    defects: list[str] = []
    terminal = io.StringIO()
    with redirect_stderr(terminal), target() as at, ThreadPoolExecutor(AT_ONCE) as attackers:
        before = outside(at)

        def one(number: int) -> tuple[bytes, str]:
            sent = attack(at, random.Random(f"{given.seed} {number}"))
            try:
                told = answered(at, sent.said)
            except TimeoutError:
                return b"", "no answer for 30 s"
            if given.count == 1:
                print(sent.said[:2000], told[:2000], sep="\n")
            return told, wrong(at, sent, told, before)

        numbers = range(given.first, given.first + given.count)
        for number, (told, reason) in zip(numbers, attackers.map(one, numbers), strict=True):
            counts[told[9:12].decode("latin-1") or "closed"] += 1
            defects += [f"--first {number}: {reason}"] if reason else []
        alive = answered(
            at, f"GET /{at.token}/api/under_way HTTP/1.0\r\nHost: 127.0.0.1:{at.port}\r\n\r\n".encode()
        )
        if b" 200 " not in alive[:20]:
            defects.append("the studio answers no more")
    if "Traceback" in terminal.getvalue():
        defects.append(f"on the terminal: {terminal.getvalue()[-600:]!r}")
    listed = ", ".join(f"{count} {word}" for word, count in sorted(counts.items()))
    print(f"seed {given.seed}, {given.count} connections: first answers {listed}; {len(defects)} wrong")
    for defect in defects:
        print(f"    {defect}")
    return int(bool(defects))


if __name__ == "__main__":
    sys.exit(main())
