"""The answers of the studio: one function per question, JSON in and out, one sentence for what cannot be done."""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from klapper.doors import Unreadable
from klapper.doors.files import opened as open_file
from klapper.doors.json import parse_json
from klapper.results.log import LOG
from klapper.scenario import KINDS
from klapper.studio.assets import assets
from klapper.studio.compare import compared
from klapper.studio.errors import StudioError
from klapper.studio.glance import DAMAGED, Glances, glance_of
from klapper.studio.jobs import Jobs
from klapper.studio.listing import kind_of, listing
from klapper.studio.maps import figure_of, shown_study
from klapper.studio.opened import COPY, opened, with_run
from klapper.studio.pages import made_page, page_addresses, written_page
from klapper.studio.place import Root
from klapper.studio.scenarios import Scenarios

LARGEST_BODY = 4_000_000  # bytes
LOG_LINES, LARGEST_LOG = 400, 200_000
Answer = Callable[[Mapping[str, Any]], Any]


@dataclass(frozen=True)
class Studio:
    """What the page may ask for; ``given`` are the words of a question."""

    root: Root
    scenarios: Scenarios
    jobs: Jobs
    glances: Glances
    pages: str  # address of the room of pages

    def list(self, given: Mapping[str, Any]) -> Any:
        found = listing(self.root)
        return {
            **self.under_way(given),
            "entries": [asdict(entry) for entry in found.entries],
            "complete": found.complete,
            "kinds": {kind.name: kind.helps for kind in KINDS.values()},
        }

    def under_way(self, given: Mapping[str, Any]) -> Any:
        """The name of the folder and the runs of this session, which is asked for every few seconds."""
        name = self.root.path.name or str(self.root.path)
        return {"folder": name, "jobs": [job.told() for job in self.jobs.all()]}

    def glance(self, given: Mapping[str, Any]) -> Any:
        return self.glances.of(_text(given, "path"))

    def run(self, given: Mapping[str, Any]) -> Any:
        """A run or result with its pages and its log; where it goes on from, if it can."""
        name = _text(given, "path")
        path = self.root.existing(name)
        if kind_of(self.root, name) not in ("run", "result"):
            raise StudioError(f"'{name}' is no run and no result.", 404)
        glance = self.glances.of(name)
        pages = [
            {**page, "address": f"{self.pages}{page['address']}"} for page in page_addresses(self.root, name)
        ]
        return {
            "path": name,
            **glance,
            "pages": pages,
            "log": _log(self.root, path),
            "scenario": (path / COPY).is_file(),
        }

    def compare(self, given: Mapping[str, Any]) -> Any:
        sides = [opened(self.root, _text(given, side)) for side in ("a", "b")]
        whole = (with_run(self.root, side) for side in sides)
        return {**compared(*whole), "glances": [glance_of(side) for side in sides]}

    def study(self, given: Mapping[str, Any]) -> Any:
        name = _text(given, "path")
        return {"path": name, "glance": self.glances.of(name), **shown_study(self.root, name)}

    def scenario(self, given: Mapping[str, Any]) -> Any:
        name = _text(given, "path")
        return {**self.scenarios.read(name), "out": self._next_folder(name)}

    def check(self, given: Mapping[str, Any]) -> Any:
        return self.scenarios.check(_text(given, "path"), _text(given, "text", empty=True))

    def save(self, given: Mapping[str, Any]) -> Any:
        digest = given.get("digest")
        if digest is not None and not isinstance(digest, str):
            raise StudioError("The digest is no text.")
        return self.scenarios.save(_text(given, "path"), _text(given, "text", empty=True), digest)

    def begin(self, given: Mapping[str, Any]) -> Any:
        return self.scenarios.begin(_text(given, "path"), _text(given, "kind"))

    def start(self, given: Mapping[str, Any]) -> Any:
        scenario, out = self.root.existing(_text(given, "path")), self.root.inside(_text(given, "out"))
        if scenario.suffix != ".toml":
            raise StudioError("Only scenarios can be run: their names end in .toml.")
        if out == self.root.path or (out.exists() and not out.is_dir()):
            raise StudioError(f"'{given['out']}' cannot hold a run: give the name of a folder.")
        if out.is_dir():
            self.root.require_own(out)
        names = self.root.name(scenario), self.root.name(out)
        return self.jobs.start(*names, overwrite=given.get("overwrite") is True).told()

    def job(self, given: Mapping[str, Any]) -> Any:
        job = self.jobs.find(_whole(given.get("number")))
        folder = self.root.path / job.out
        stored = folder.is_dir() and kind_of(self.root, job.out) in ("run", "result")
        return {**job.told(LOG_LINES), "stored": stored, "run_log": _log(self.root, folder)}

    def cancel(self, given: Mapping[str, Any]) -> Any:
        return self.jobs.cancel(_whole(given.get("number")), at_once=given.get("at_once") is True).told()

    def _next_folder(self, name: str) -> str:
        """The first of NAME-1, NAME-2 … that does not exist."""
        stem = name.removesuffix(".toml")
        number = 1
        while self.root.inside(f"{stem}-{number}").exists():
            number += 1
        return f"{stem}-{number}"


def application(studio: Studio) -> Starlette:
    """The routes; the rooms ``studio`` and ``pages`` are told apart by the guard."""
    asked = ("list", "under_way", "glance", "run", "compare", "study", "scenario", "job")
    told = ("check", "save", "begin", "start", "cancel")
    routes = [
        *(Route(f"/studio/api/{name}", _asked(studio, getattr(studio, name))) for name in asked),
        *(
            Route(f"/studio/api/{name}", _told(studio, getattr(studio, name)), methods=["POST"])
            for name in told
        ),
        Route("/studio/figure.svg", _figure(studio)),
        Route("/pages/written/{name:path}", _page(studio, written_page)),
        Route("/pages/made/{name:path}", _page(studio, made_page)),
        Route("/studio/{name:path}", _asset),
    ]
    return Starlette(routes=routes)


def _asked(studio: Studio, answer: Answer) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        return await run_in_threadpool(_answered, studio, answer, dict(request.query_params))

    return endpoint


def _told(studio: Studio, answer: Answer) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        body = bytearray()
        try:
            async for part in request.stream():
                body += part
                if len(body) > LARGEST_BODY:
                    return _sentence("The request is too large.", 413)
        except ClientDisconnect:  # nobody reads the answer
            return _sentence("The request was cut.", 400)
        try:
            given = parse_json(bytes(body), most=LARGEST_BODY)
        except Unreadable as error:
            return _sentence(f"The request is no JSON object: {error}.", 400)
        if not isinstance(given, dict):
            return _sentence("The request is no JSON object.", 400)
        return await run_in_threadpool(_answered, studio, answer, given)

    return endpoint


def _page(studio: Studio, make: Callable[[Root, str], bytes]) -> Callable[[Request], Awaitable[Response]]:
    def answer(given: Mapping[str, Any]) -> Response:
        return Response(make(studio.root, given["name"]), media_type="text/html")

    async def endpoint(request: Request) -> Response:
        return await run_in_threadpool(_answered, studio, answer, request.path_params, plain=True)

    return endpoint


def _figure(studio: Studio) -> Callable[[Request], Awaitable[Response]]:
    def answer(given: Mapping[str, Any]) -> Response:
        drawn = figure_of(studio.root, _text(given, "path"), _text(given, "figure"))
        return Response(drawn, media_type="image/svg+xml")

    async def endpoint(request: Request) -> Response:
        return await run_in_threadpool(_answered, studio, answer, dict(request.query_params))

    return endpoint


async def _asset(request: Request) -> Response:
    content, kind = assets().get(request.path_params["name"] or "index.html", (b"", ""))
    if not kind:
        return _sentence("There is nothing under this address.", 404)
    return Response(content, media_type=kind)


def _answered(studio: Studio, answer: Answer, given: Mapping[str, Any], *, plain: bool = False) -> Response:
    """The answer, or one sentence and its status; what is unexpected is also told in the terminal."""
    try:
        found = answer(given)
        return found if isinstance(found, Response) else _json(found)
    except StudioError as error:
        return _sentence(studio.root.told(str(error)), error.status, plain=plain)
    except DAMAGED as error:
        return _sentence(studio.root.told(str(error)), 422, plain=plain)
    except OSError as error:  # of a name that a file system refuses, a file that vanished, a full disk
        return _sentence(
            f"The files cannot be used: {error.strerror or type(error).__name__}.", 400, plain=plain
        )
    except Exception as error:
        words = f"{type(error).__name__}: {studio.root.told(str(error)).removesuffix('.')}."
        print(f"The studio could not answer. {words}", file=sys.stderr)
        return _sentence(words, 500, plain=plain)


def _sentence(text: str, status: int, *, plain: bool = False) -> Response:
    if plain:
        return Response(
            f"{text}\n".encode("utf-8", "replace"), status_code=status, media_type="text/plain; charset=utf-8"
        )
    return _json({"message": text}, status)


def _json(found: Any, status: int = 200) -> Response:
    """In ASCII, so that names of files that are no text can be told, too."""
    content = json.dumps(found, allow_nan=False, separators=(",", ":")).encode()
    return Response(content, status_code=status, media_type="application/json")


def _text(given: Mapping[str, Any], name: str, *, empty: bool = False) -> str:
    value = given.get(name)
    if not isinstance(value, str) or not (value or empty):
        raise StudioError(f"The request lacks the text '{name}'.")
    return value


def _whole(value: Any) -> int | None:
    if isinstance(value, str) and value.isdecimal() and len(value) < 10:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _log(root: Root, folder: Path) -> str:
    """The end of the log of a stored run; nothing if it is no file of the folder that is shown."""
    try:
        if not root.holds(folder / LOG):
            return ""
        with open_file(folder / LOG) as stream:
            stream.seek(0, 2)
            stream.seek(max(stream.tell() - LARGEST_LOG, 0))
            return stream.read().decode("utf-8", "replace")
    except (OSError, Unreadable):
        return ""
