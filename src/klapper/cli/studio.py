"""What the command line does with the studio: open it, and end it by Ctrl-C.

Here, and only here, the studio meets the gallery, whose examples scenarios may name.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import typer

from klapper.studio.serve import open_browser, prepare


def open_studio(folder: Path, *, port: int, browser: bool) -> None:
    """Serve ``folder`` until Ctrl-C."""
    from klapper.cli.scenario import example_in

    served = prepare(folder, port=port, require_example=example_in)
    typer.echo(f"The studio of {folder.resolve()} is open at\n\n    {served.address}\n")
    typer.echo(
        "The address holds a secret of this session: whoever has it can use the studio. Ctrl-C ends it."
    )
    if browser:
        open_browser(served.address)
    with suppress(KeyboardInterrupt):
        served.run()
    typer.echo("The studio is closed; what ran has kept what there is.")
