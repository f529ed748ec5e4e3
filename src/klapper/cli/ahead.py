"""``klapper compile``: what first runs need, compiled before them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from time import process_time
from typing import Annotated

import typer

from klapper.cli.errors import Debug, WrongRequest, one_sentence


def compile_(
    package: Annotated[
        bool,
        typer.Option(
            "--package", help="Put the machine code into the installed package, for everybody who uses it."
        ),
    ] = False,
    debug: Debug = False,
) -> None:
    """Compile ahead what first runs of linear systems, functions and bodies need, so that none of them waits."""
    with one_sentence(debug), ExitStack() as stack:
        if package:
            from klapper.machine_code import kept_in_package

            try:
                stack.enter_context(kept_in_package())
            except OSError as error:
                raise WrongRequest(
                    f"The installation cannot be written ({error.strerror}): leave out --package, or run it as who "
                    f"installed klapper."
                ) from error
        for name, run in RUNS.items():
            typer.echo(f"{name} …", nl=False)
            began = process_time()
            run()
            typer.echo(f" {process_time() - began:.1f} s of processor time")


def _masses() -> None:
    from klapper.mechanics import Contact, LinearSystem
    from klapper.schemes import EventDriven, Moreau
    from klapper.simulation import simulate

    stops = [Contact("right", normal=[-1.0], gap=0.1), Contact("left", normal=[1.0], gap=0.1)]
    table = [Contact("table", normal=[0.0, 1.0], tangents=[[1.0, 0.0]], friction=0.3)]
    for size, contacts in ((1, stops[:1]), (1, stops), (2, table)):
        system = LinearSystem([1.0] * size, force=[-10.0] * size, contacts=contacts)
        simulate(system, 0.05, Moreau(1e-3), progress=False)
        simulate(system, 0.05, EventDriven(), progress=False)


def _functions() -> None:
    import numpy as np

    from klapper.mechanics import Contact, FunctionSystem
    from klapper.schemes import Moreau
    from klapper.simulation import simulate

    wall = Contact("wall", gap=lambda t, q: 1.0 - np.sin(q[0]), normal=lambda t, q: np.array([-np.cos(q[0])]))
    pendulum = FunctionSystem(
        [0.0], [1.0], mass=[[1.0]], force=lambda t, q, v: np.array([-9.81 * np.sin(q[0])]), contacts=[wall]
    )
    simulate(pendulum, 0.05, Moreau(1e-3), progress=False)


def _bodies() -> None:
    from klapper.bodies import Planar, Spatial, inertia
    from klapper.schemes import Moreau
    from klapper.simulation import simulate

    plane = Planar(gravity=(0.0, -9.81))
    block = plane.body("block", mass=1.0, inertia=inertia.rectangle(1.0, 0.2, 0.1), at=(0.0, 0.05))
    plane.contact(
        block.corners(0.2, 0.1), plane.wall("belt", normal=(0.0, 1.0), sliding=(1.0, 0.0)), friction=0.4
    )
    space = Spatial(gravity=(0.0, 0.0, -9.81))
    coin = space.particle("coin", mass=0.2, at=(0.0, 0.0, 0.0))
    belt = space.wall("belt", normal=(0.0, 0.0, 1.0), sliding=(1.0, 0.0, 0.0))
    space.contact(coin.point(), belt, friction=0.3)
    for system in (plane.build(), space.build()):
        simulate(system, 0.01, Moreau(1e-3), progress=False)


def _heaps() -> None:
    from klapper.bodies import Spatial
    from klapper.schemes import Moreau
    from klapper.simulation import simulate

    world = Spatial(gravity=(0.0, 0.0, -9.81))
    floor = world.wall("floor", normal=(0.0, 0.0, 1.0))
    balls = [
        world.body(f"ball {i}", mass=1.0, inertia=[0.1] * 3, at=(0.0, 0.0, 0.5 + i)).sphere(0.5)
        for i in (0, 1)
    ]
    world.search(balls, [floor], friction=0.3)
    simulate(world.build(), 0.01, Moreau(1e-3), progress=False)


RUNS: dict[str, Callable[[], None]] = {
    "masses with contacts": _masses,
    "systems of functions": _functions,
    "bodies": _bodies,
    "heaps of balls": _heaps,
}
"""Small runs by what they stand for."""
