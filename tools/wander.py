"""Do the examples hold for every parameter? Parameters are drawn at random and the examples run with them.

    python -m tools.wander                            every example, 50 draws each
    python -m tools.wander NAME … --draws 10 --seed 3
    python -m tools.wander --log out/wander.jsonl     and one line of JSON per draw

Every second draw changes one parameter by a factor of up to ten, the others change all by a factor of up to two, within
their bounds. Whole numbers and times, which say how much there is to compute, change by up to three and 1.6. Bounds
that may be reached are drawn too, and numbers that may have either sign change it now and then. Entries of a list keep
their proportions but for 5 %, since most of them belong together (radii, meshes to be compared), and so do lengths that
change together but for 25 %: a model is drawn larger or smaller, not torn apart. Words and truth values are drawn from
all that there are.

Each draw runs as ``klapper run NAME --set …`` in a process of its own, with a limit of processor time and memory:

    passed    exit status 0
    refused   2: one sentence that says what is wrong
    failed    1: a check of the example failed
    broke     any other: an unexpected error, or the process was killed
    slow      more than the limit of processor time (60 s)

The table counts them; below it is the command of every draw that failed, broke or was slow, with the last line it told.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import re
import resource
import shlex
import signal
import string
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from typing import Any

from klapper.gallery import examples, find
from klapper.gallery.example import Example
from klapper.gallery.parameter import Argument

KINDS = ("passed", "refused", "failed", "broke", "slow")
STATUS = {0: "passed", 2: "refused", 1: "failed"}
SECONDS = 60
"""Processor time that a draw may take."""
MEMORY = 8 << 30
"""Bytes of address space that a draw may take; libraries alone map about 2 GB."""
FAR, ALL = (10.0, 3.0), (2.0, 1.6)
"""Greatest factors of a parameter that changes alone, and of all together: of quantities, and of the amount of work."""
EDGE = 0.1
"""How often a bound is drawn that may be reached, and how often a number changes its sign."""
TOGETHER, SIMILAR = 1.05, 1.25
"""Greatest factors beside a common one: between entries of a list, and between lengths that change together."""


@dataclass(frozen=True)
class Attempt:
    """One draw: its settings, the kind of its end, seconds of processor time and the last line that was told."""

    example: str
    settings: tuple[str, ...]
    kind: str
    seconds: float
    told: str

    @property
    def command(self) -> str:
        return " ".join(
            ["klapper", "run", self.example, *(f"--set {shlex.quote(each)}" for each in self.settings)]
        )


def settings_drawn(example: Example, draws: int, seed: int) -> Iterator[tuple[str, ...]]:
    """The settings of draws 0, 1, …; they depend on the name of the example, the seed and their number only."""
    order = list(example.arguments)
    random.Random(f"{example.name} {seed}").shuffle(order)
    for number in range(draws):
        chance = random.Random(f"{example.name} {seed} {number}")
        alone = number % 2 == 0
        changed = order[number // 2 % len(order) :][:1] if alone else list(example.arguments)
        size = 1.0 if alone else _spread(chance, ALL[0] / SIMILAR)
        values = {
            each: drawn(each, chance, FAR if alone else ALL, 1.0 if alone else size) for each in changed
        }
        yield tuple(
            f"{each.name}={each.written(value)}" for each, value in values.items() if value != each.default
        )


def drawn(argument: Argument, chance: random.Random, factors: tuple[float, float], size: float = 1.0) -> Any:
    """A value of the argument that its declaration admits; ``size`` is the common factor of lengths."""
    if argument.meaning.unit != "m":
        size = 1.0
    elif size != 1.0:
        factors = (SIMILAR, SIMILAR)
    if argument.container is None:
        return _entry(argument, argument.default, chance, factors, size)
    if argument.choices:
        return argument.container(chance.sample(argument.choices, chance.randint(1, len(argument.choices))))
    common = size * _factor(argument, chance, factors)
    for _ in range(100):
        value = argument.container(
            _entry(argument, entry, chance, (TOGETHER, TOGETHER), common) for entry in argument.default
        )
        if len(set(value)) == len(set(argument.default)):
            return value
    return argument.default


def _entry(
    argument: Argument, shipped: Any, chance: random.Random, factors: tuple[float, float], common: float
) -> Any:
    if argument.choices:
        return chance.choice(argument.choices)
    if argument.scalar is bool:
        return chance.random() < 0.5
    if argument.scalar is str:
        return _text(argument, chance, factors)
    return _number(argument, shipped, chance, factors, common)


def _factor(argument: Argument, chance: random.Random, factors: tuple[float, float]) -> float:
    """A factor, as often above 1 as below."""
    work = argument.scalar is not float or argument.meaning.unit == "s"
    return math.exp(chance.uniform(-1.0, 1.0) * math.log(factors[work]))


def _number(
    argument: Argument, shipped: float, chance: random.Random, factors: tuple[float, float], common: float
) -> float:
    meaning = argument.meaning
    reachable = [bound for bound in (meaning.at_least, meaning.at_most) if bound is not None]
    if argument.scalar is float and reachable and chance.random() < EDGE:
        return float(chance.choice(reachable))
    for _ in range(100):
        number = (shipped or _of_nothing(argument, chance)) * common * _factor(argument, chance, factors)
        if chance.random() < EDGE:
            number = -number
        if argument.scalar is int:
            value: float = round(number / meaning.multiple_of) * meaning.multiple_of
        else:
            value = float(f"{number:.3g}")
        if meaning.admits(value):
            return value
    return shipped


def _of_nothing(argument: Argument, chance: random.Random) -> float:
    """What stands for a shipped 0: 1 in SI units, in a list a small part of its largest entry; 0 is a choice of the
    program where it is a time or a whole number."""
    if argument.container is not None:
        return (
            0.05 * max((abs(entry) for entry in argument.default), default=0.0) * chance.choice((-1.0, 1.0))
        )
    if argument.scalar is int or argument.meaning.unit == "s":
        return 0.0
    return chance.choice((-1.0, 1.0))


def _text(argument: Argument, chance: random.Random, factors: tuple[float, float]) -> str:
    """The shipped text with other whole numbers or, if it has none, other letters that its pattern takes."""
    shipped, pattern = argument.default, argument.meaning.pattern or "(?s:.*)"
    letters = [each for each in string.ascii_letters if re.fullmatch(pattern, each + shipped[1:])]
    for _ in range(100):
        if re.search(r"\d", shipped):
            text = re.sub(
                r"\d+", lambda found: str(max(1, round(int(found[0]) * _spread(chance, factors[1])))), shipped
            )
        else:
            text = "".join(chance.choices(letters or [*shipped], k=chance.randint(1, 2 * len(shipped))))
        if re.fullmatch(pattern, text):
            return text
    return shipped


def _spread(chance: random.Random, factor: float) -> float:
    return math.exp(chance.uniform(-1.0, 1.0) * math.log(factor))


def attempt(example: str, settings: Sequence[str], *, seconds: int = SECONDS) -> Attempt:
    """Run the example with these settings in a forked process."""
    words = ["run", example, *(word for each in settings for word in ("--set", each))]
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as told:
        sys.stdout.flush()
        sys.stderr.flush()
        child = os.fork()
        if child == 0:
            _become_command(words, told.fileno(), seconds)
        _, status, used = os.wait4(child, 0)
        told.seek(0)
        lines = [line.strip() for line in told.read().splitlines() if line.strip()]
    taken = used.ru_utime + used.ru_stime
    if os.WIFSIGNALED(status):
        kind = (
            "slow"
            if os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL) and taken > 0.9 * seconds
            else "broke"
        )
    else:
        kind = STATUS.get(os.WEXITSTATUS(status), "broke")
    wanted = [line for line in lines if "✗" in line or "FAILED" in line] if kind == "failed" else lines[-1:]
    return Attempt(example, tuple(settings), kind, round(taken, 2), " / ".join(wanted)[:300])


def _become_command(words: list[str], output: int, seconds: int) -> None:
    """In the forked process: the command line with these words, and no way back."""
    status = 3
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        os.dup2(output, 1)
        os.dup2(output, 2)
        from klapper.cli import main

        sys.argv = ["klapper", *words]
        main()
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 3
    except BaseException as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def table(attempts: Sequence[Attempt]) -> str:
    """Counts per example as a table, and the commands that reproduce what should not be."""
    names = sorted({each.example for each in attempts})
    rows = [(name, Counter(each.kind for each in attempts if each.example == name)) for name in names]
    rows.append(("all", sum((counts for _, counts in rows), Counter())))
    head = f"| {'example':<24} | draws | " + " | ".join(KINDS) + " |"
    lines = [head, "|---|" + "--:|" * (1 + len(KINDS))]
    for name, counts in rows:
        numbers = [f"{counts[kind]:>{len(kind)}}" for kind in KINDS]
        lines.append(f"| {name:<24} | {counts.total():>5} | " + " | ".join(numbers) + " |")
    for each in attempts:
        if each.kind not in ("passed", "refused"):
            lines += ["", f"{each.kind} ({each.seconds:g} s): {each.command}", f"    {each.told}"]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="examples; all of them if none is named")
    parser.add_argument("--draws", type=int, default=50, help="draws per example")
    parser.add_argument("--first", type=int, default=0, help="number of the first draw")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=SECONDS, help="processor time that a draw may take")
    parser.add_argument("--log", type=Path, help="file that gets one line of JSON per draw")
    given = parser.parse_args(arguments)
    attempts = []
    for name in given.names or [example.name for example in examples()]:
        for number, settings in zip(
            count(), settings_drawn(find(name), given.first + given.draws, given.seed), strict=False
        ):
            if number < given.first:
                continue
            attempts.append(attempt(name, settings, seconds=given.seconds))
            if given.log is not None:
                given.log.parent.mkdir(parents=True, exist_ok=True)
                with given.log.open("a", encoding="utf-8") as log:
                    log.write(json.dumps({"draw": number, **asdict(attempts[-1])}, ensure_ascii=False) + "\n")
    print(table(attempts))
    return int(any(each.kind not in ("passed", "refused") for each in attempts))


if __name__ == "__main__":
    raise SystemExit(main())
