"""The gallery of the documentation from runs: pictures in docs/images/gallery and their places in docs/gallery.md.

    python -m tools.gallery               every example with its shipped parameters, one after the other
    python -m tools.gallery NAME …        these examples only
    python -m tools.gallery --page        no run: the page alone, from what is there

The page says which figure stands for an example, ``<!-- pictures: NAME/FIGURE … -->``; what follows is written here. An
example that takes more than 30 s of computing gets no picture, and the page says so.
"""

import json
import resource
import subprocess
import sys
import time
from typing import Any

from klapper.gallery import examples, find
from tools.gallery_page import PAGE, PICTURES, written

LIMIT = 30
"""Seconds of CPU that an example may take."""
RUNS = PICTURES / "runs.json"


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["--draw"]:
        print(json.dumps(draw(*arguments[1:])))
        return 0
    runs: dict[str, Any] = json.loads(RUNS.read_text(encoding="utf-8")) if RUNS.exists() else {}
    text = PAGE.read_text(encoding="utf-8")
    if arguments != ["--page"]:
        PICTURES.mkdir(parents=True, exist_ok=True)
        for name in arguments or [example.name for example in examples()]:
            runs[find(name).name] = run(name, chosen_figure(text, name))
            print(f"{name}: {runs[name]}", flush=True)
    runs = {example.name: runs[example.name] for example in examples() if example.name in runs}
    RUNS.write_text(json.dumps(runs, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    PAGE.write_text(written(text, runs), encoding="utf-8")
    return 0


def chosen_figure(page: str, name: str) -> str:
    """The figure that the page names for an example; empty if it leaves the choice open."""
    return page.partition(f" {name}/")[2].split(maxsplit=1)[0] if f" {name}/" in page else ""


def run(name: str, figure: str) -> dict[str, Any]:
    """One example in a process of its own, which is ended when it takes too long."""
    done = subprocess.run(
        [sys.executable, "-m", "tools.gallery", "--draw", name, figure],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT + 5)),
    )
    if done.returncode == 0:
        return dict(json.loads(done.stdout.splitlines()[-1]))
    (PICTURES / f"{name}.png").unlink(missing_ok=True)
    if done.returncode < 0:
        return {"missing": f"takes more than {LIMIT} s"}
    return {"missing": done.stderr.strip().splitlines()[-1]}


def draw(name: str, figure: str) -> dict[str, Any]:
    """Run an example and write its picture: what the page needs to know of it."""
    from klapper.report import figures
    from tools.small_pictures import small_picture

    start = time.process_time()
    outcome = find(name).run()
    seconds = time.process_time() - start
    figure = figure or next(iter(outcome.figures))
    (PICTURES / f"{name}.png").write_bytes(small_picture(outcome.figures[figure]))
    return {
        "figure": figure,
        "caption": figures._caption(figure, outcome.figures[figure]),
        "checks": len(outcome.checks),
        "passed": outcome.passed,
        "seconds": round(seconds, 1),
    }


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
