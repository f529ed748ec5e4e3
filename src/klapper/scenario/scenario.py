"""A scenario: a run described in one TOML file, checked as a whole before anything is computed.

scenario = read_scenario("my.toml")
run = scenario.simulate()
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from klapper.doors import Unreadable
from klapper.doors.toml import parse_toml, text_of
from klapper.scenario.errors import ScenarioError
from klapper.scenario.files import Folder
from klapper.scenario.kinds import KINDS
from klapper.scenario.lines import line_index
from klapper.scenario.place import Place, shown
from klapper.scenario.schemes import build_scheme
from klapper.scenario.tables import did_you_mean
from klapper.scenario.values import quoted

if TYPE_CHECKING:
    from klapper.mechanics import System
    from klapper.results import Run
    from klapper.schemes import Scheme


@dataclass(frozen=True)
class Scenario:
    r"""A checked scenario, of which nothing is built yet.

    ``kind``     of the model, one of ``KINDS``
    ``content``  the tables of the file by name, checked; names of files are paths
    ``place``    which file and lines its errors name
    ``text``     of the file

    A mass of 1 kg thrown up with 8 m/s under 10 N is 8 − 5 = 3 m up after a second:

    >>> from pathlib import Path
    >>> from klapper.scenario import parse_scenario
    >>> model = 'model = { kind = "linear", mass = [1.0], force = [-10.0], velocity = [8.0] }'
    >>> text = model + '\nscheme = { kind = "event-driven" }\nrun = { until = 1.0 }'
    >>> scenario = parse_scenario(text)
    >>> scenario.kind, scenario.simulate().position[-1].round(9)
    ('linear', array([3.]))
    """

    kind: str
    content: dict[str, Any]
    place: Place
    text: str

    @property
    def title(self) -> str:
        return str(self.content["model"].get("title", ""))

    @property
    def store(self) -> Path | None:
        """The folder that the file asks for."""
        return self._wishes.get("store")

    @property
    def page(self) -> bool:
        return bool(self._wishes.get("page", True))

    @property
    def figures(self) -> tuple[str, ...]:
        """Names of figures, of ``run.plot``."""
        return tuple(self._wishes.get("figures", ("ledger",)))

    def system(self) -> System:
        """The model; what it refuses is refused with file and line."""
        build = KINDS[self.kind].build
        if build is None:
            raise self.place.at("model").refused(
                "an example of the gallery has no system of its own; `klapper run` runs it."
            )
        with self.place.at("model").naming():
            system: System = build(self.content, self.place)
        return system

    def scheme(self) -> Scheme:
        place = self.place.at("scheme")
        with place.naming():
            scheme: Scheme = build_scheme(self.content["scheme"])
            return scheme

    def verify(self) -> None:
        """Refuse what only the built model and its scheme show, such as parts that overlap at the start."""
        system, scheme = self.system(), self.scheme()
        with self.place.at("scheme").naming():
            scheme.init(system)

    def simulate(
        self,
        *,
        system: System | None = None,
        store: Path | None = None,
        overwrite: bool = False,
        progress: bool | None = None,
        on_interrupt: Literal["raise", "return"] = "raise",
        long: bool = False,
    ) -> Run:
        """The run; ``system`` if it was built before, the others as of :func:`klapper.simulate`."""
        from numpy.linalg import LinAlgError

        from klapper.mechanics import InvalidModel
        from klapper.simulation import simulate, too_long

        model, scheme = self.system() if system is None else system, self.scheme()
        until, place = self._wishes["until"], self.place.at("run").at("until")
        if not until > model.start.time:
            raise place.wrong(until, f"times after {model.start.time:g} s")
        if not long and (reason := too_long(model, scheme, until)):
            raise place.refused(
                f"{place.words} is {until:g}, {reason}: give a smaller time or larger steps, or confirm by --long."
            )
        try:
            return simulate(
                model,
                until,
                scheme,
                every=self._wishes.get("every"),
                store=store,
                overwrite=overwrite,
                progress=progress,
                on_interrupt=on_interrupt,
                long=True,
            )
        except (ArithmeticError, MemoryError, ValueError) as error:
            unclear = isinstance(error, ArithmeticError | MemoryError | InvalidModel | LinAlgError)
            if (
                not unclear and type(error) is not ValueError
            ):  # of another room, which tells it in its own words
                raise
            with self.place.at("scheme").naming():
                raise

    @property
    def _wishes(self) -> dict[str, Any]:
        wishes: dict[str, Any] = self.content.get("run", {})
        return wishes


def read_scenario(path: str | Path, *, allow: Sequence[str | Path] = ()) -> Scenario:
    """The scenario in the file ``path`` (.toml); :class:`ScenarioError` in one sentence if it is none.

    ``allow``  folders, besides that of the file, whose files it may name

    >>> import tempfile
    >>> from pathlib import Path
    >>> from klapper.scenario import read_scenario, starter
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "masses.toml")
    ...     _ = file.write_text(starter("linear"), encoding="utf-8")
    ...     read_scenario(file).system().coordinates
    ('x1', 'x2')
    """
    file = Path(path)
    try:
        text = text_of(file)
    except Unreadable as error:
        raise ScenarioError(_refused(file.name, error)) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is no name of a file"
        raise ScenarioError(f"{file} cannot be read: {reason}.") from None
    return parse_scenario(text, file.parent, file.name, allow=allow)


def parse_scenario(
    text: str, folder: str | Path = ".", name: str = "scenario", *, allow: Sequence[str | Path] = ()
) -> Scenario:
    r"""The scenario in a ``text`` (TOML); files that it names are looked for in ``folder``, errors call it ``name``.

    ``allow``  further folders below which files may be read

    >>> from pathlib import Path
    >>> from klapper.scenario import parse_scenario
    >>> text = 'model = { kind = "example", name = "bouncing-ball" }\nparameters = { restitution = 0.7 }'
    >>> parse_scenario(text).content["parameters"]
    {'restitution': 0.7}
    """
    try:
        content = parse_toml(text)
    except Unreadable as error:
        raise ScenarioError(_refused(name, error)) from None
    place = Place(name, Folder(Path(folder), tuple(map(Path, allow))), line_index(text), content=content)
    model = content.get("model")
    if not isinstance(model, dict):
        raise place.at("model").refused(
            f"there is no table [model] with the key kind; kinds are {quoted(list(KINDS))}."
        )
    kind = model.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        given = "missing" if kind is None else shown(kind)
        raise (
            place.at("model")
            .at("kind")
            .refused(f"model.kind is {given}{did_you_mean(kind, KINDS)}; allowed are {quoted(list(KINDS))}.")
        )
    return Scenario(kind, KINDS[kind].table.check(content, place), place, text)


def _refused(name: str, error: Unreadable) -> str:
    """The sentence of an error that may begin with its line."""
    told = str(error)
    return f"{name}{', ' if told.startswith('line ') else ': '}{told}."
