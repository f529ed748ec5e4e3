"""Pages of runs in the studio: the written one, or one made now; always in a sandbox, whatever they hold."""

import os
from pathlib import Path
from typing import Any

from klapper.report import write_report
from results.motions import bouncing_ball


def stored(folder: Path) -> Path:
    folder.mkdir()
    bouncing_ball().save(folder / "run.h5")
    return folder


def test_a_run_without_a_page_gets_one(studio: Any) -> None:
    stored(studio.folder / "ball")
    told = studio.get("run", path="ball").json
    assert [page["title"] for page in told["pages"]] == ["run"]
    answer = studio.page(told["pages"][0]["address"])
    assert answer.status == 200
    assert b"bouncing ball" in answer.body and b"Energy" in answer.body


def test_a_written_page_is_shown_unless_the_run_went_on(studio: Any) -> None:
    folder = stored(studio.folder / "ball")
    file = write_report(bouncing_ball(), folder / "report.html", title="As it was written")
    address = studio.get("run", path="ball").json["pages"][0]["address"]
    assert studio.page(address).body == file.read_bytes()
    newer = file.stat().st_mtime + 10
    os.utime(folder / "run.h5", (newer, newer))
    address = studio.get("run", path="ball").json["pages"][0]["address"]
    assert b"As it was written" not in studio.page(address).body


def test_a_page_has_no_origin_and_no_network(studio: Any) -> None:
    folder = stored(studio.folder / "ball")
    (folder / "report.html").write_text("<script>fetch('https://evil.example')</script>", encoding="utf-8")
    answer = studio.page(studio.get("run", path="ball").json["pages"][0]["address"])
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("sandbox allow-scripts allow-downloads; default-src 'none';")
    assert "allow-same-origin" not in policy and "connect-src" not in policy
    assert studio.token not in answer.body.decode()


def test_the_address_of_a_page_is_no_key_to_the_studio(studio: Any) -> None:
    stored(studio.folder / "ball")
    address = studio.get("run", path="ball").json["pages"][0]["address"]
    token = address.strip("/").split("/")[0]
    assert token != studio.token
    assert studio.ask(f"/{token}/api/list").status == 404
    own = f"http://127.0.0.1:{studio.port}"
    command = studio.ask(
        f"/{token}/api/begin", method="POST", body=b"{}", Origin=own, Content_Type="application/json"
    )
    assert command.status == 403


def test_names_of_folders_with_signs_lead_to_their_pages(studio: Any) -> None:
    stored(studio.folder / "größe 50 % & #1?")
    told = studio.get("run", path="größe 50 % & #1?").json
    assert studio.ask(told["pages"][0]["address"]).status == 200
