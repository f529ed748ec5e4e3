"""The publications behind a run, by key.

Whoever chooses a scheme, a law or a solver for a run notes its keys; :meth:`klapper.results.Run.citation` prints them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from klapper.results.errors import place


@dataclass(frozen=True)
class Reference:
    """One publication: ``authors`` as "Surname, Initials"; ``details`` are the other BibTeX fields."""

    kind: str
    authors: tuple[str, ...]
    title: str
    year: int
    details: Mapping[str, str]

    def text(self) -> str:
        """One line, as in a list of references."""
        return " ".join([f"{_listed(self.authors)} ({self.year}): {self.title}.", *self._where()])

    def bibtex(self, key: str) -> str:
        """The BibTeX entry."""
        rows = {"author": " and ".join(self.authors), "title": f"{{{self.title}}}", "year": str(self.year)}
        rows |= {name: text.replace("–", "--") for name, text in self.details.items()}
        return "\n".join(
            [f"@{self.kind}{{{key},", *(f"  {name} = {{{text}}}," for name, text in rows.items()), "}"]
        )

    def _where(self) -> list[str]:
        have = self.details
        volume = f" {have['volume']}" if "volume" in have else ""
        issue = f" ({have['number']})" if "number" in have else ""
        pages = f", {have['pages']}" if "pages" in have else ""
        doi = [f"doi:{have['doi']}"] if "doi" in have else []
        if "journal" in have:
            return [f"{have['journal']}{volume}{issue}{pages}.", *doi]
        inside = (
            [f"In: {_listed(have['editor'].split(' and '))} (eds.), {have['booktitle']}"]
            if "booktitle" in have
            else []
        )
        series = [f"{have['series']}{volume}"] if "series" in have else []
        house = [have[name] for name in ("type", "school", "publisher", "address") if name in have]
        return [", ".join([*inside, *series, *house]) + f"{pages}.", *doi]


def _listed(names: Iterable[str]) -> str:
    *most, last = names
    return f"{'; '.join(most)} & {last}" if most else last


def references(keys: Iterable[str], *, bibtex: bool = False) -> str:
    """The references of ``keys``, each once, as lines of text or as BibTeX."""
    chosen = [
        (key, REFERENCES[list(REFERENCES)[place(key, list(REFERENCES), "reference")]])
        for key in dict.fromkeys(keys)
    ]
    if bibtex:
        return "\n\n".join(reference.bibtex(key) for key, reference in chosen)
    return "\n".join(sorted(reference.text() for _, reference in chosen))


def _article(authors: str, year: int, title: str, journal: str, volume: str, **rest: str) -> Reference:
    return Reference(
        "article", tuple(authors.split("; ")), title, year, {"journal": journal, "volume": volume, **rest}
    )


def _book(authors: str, year: int, title: str, **rest: str) -> Reference:
    return Reference("book", tuple(authors.split("; ")), title, year, rest)


def _thesis(kind: str, author: str, year: int, title: str, **rest: str) -> Reference:
    return Reference(kind, (author,), title, year, rest)


_CMAME = "Computer Methods in Applied Mechanics and Engineering"
_IJNME = "International Journal for Numerical Methods in Engineering"

REFERENCES: dict[str, Reference] = {
    "acary2008": _book(
        "Acary, V.; Brogliato, B.",
        2008,
        "Numerical Methods for Nonsmooth Dynamical Systems: Applications in Mechanics and Electronics",
        series="Lecture Notes in Applied and Computational Mechanics",
        volume="35",
        publisher="Springer",
        address="Berlin",
        doi="10.1007/978-3-540-75392-6",
    ),
    "alart1991": _article(
        "Alart, P.; Curnier, A.",
        1991,
        "A mixed formulation for frictional contact problems prone to Newton like solution methods",
        _CMAME,
        "92",
        number="3",
        pages="353–375",
        doi="10.1016/0045-7825(91)90022-X",
    ),
    "andersen1983": _article(
        "Andersen, H. C.",
        1983,
        "Rattle: a “velocity” version of the Shake algorithm for molecular dynamics calculations",
        "Journal of Computational Physics",
        "52",
        number="1",
        pages="24–34",
        doi="10.1016/0021-9991(83)90014-1",
    ),
    "anitescu1997": _article(
        "Anitescu, M.; Potra, F. A.",
        1997,
        "Formulating dynamic multi-rigid-body contact problems with friction as solvable linear complementarity "
        "problems",
        "Nonlinear Dynamics",
        "14",
        number="3",
        pages="231–247",
        doi="10.1023/A:1008292328909",
    ),
    "anitescu2002": _article(
        "Anitescu, M.; Potra, F. A.",
        2002,
        "A time-stepping method for stiff multibody dynamics with contact and friction",
        _IJNME,
        "55",
        number="7",
        pages="753–784",
    ),
    "arnold2007": _article(
        "Arnold, M.; Brüls, O.",
        2007,
        "Convergence of the generalized-α scheme for constrained mechanical systems",
        "Multibody System Dynamics",
        "18",
        pages="185–202",
        doi="10.1007/s11044-007-9084-0",
    ),
    "chung1993": _article(
        "Chung, J.; Hulbert, G. M.",
        1993,
        "A time integration algorithm for structural dynamics with improved numerical dissipation: the generalized-α "
        "method",
        "Journal of Applied Mechanics",
        "60",
        number="2",
        pages="371–375",
        doi="10.1115/1.2900803",
    ),
    "cottle1992": _book(
        "Cottle, R. W.; Pang, J.-S.; Stone, R. E.",
        1992,
        "The Linear Complementarity Problem",
        publisher="Academic Press",
        address="Boston",
    ),
    "desaxce1998": _article(
        "de Saxcé, G.; Feng, Z.-Q.",
        1998,
        "The bipotential method: a constructive approach to design the complete contact law with friction and improved "
        "numerical algorithms",
        "Mathematical and Computer Modelling",
        "28",
        pages="225–245",
        doi="10.1016/S0895-7177(98)00119-8",
    ),
    "fischer1992": _article(
        "Fischer, A.",
        1992,
        "A special Newton-type optimization method",
        "Optimization",
        "24",
        number="3–4",
        pages="269–284",
    ),
    "fremond1995": _article(
        "Frémond, M.", 1995, "Rigid bodies collisions", "Physics Letters A", "204", number="1", pages="33–41"
    ),
    "glocker1995": _article(
        "Glocker, C.; Pfeiffer, F.",
        1995,
        "Multiple impacts with friction in rigid multibody systems",
        "Nonlinear Dynamics",
        "7",
        pages="471–497",
    ),
    "gonzalez1996": _article(
        "Gonzalez, O.",
        1996,
        "Time integration and discrete Hamiltonian systems",
        "Journal of Nonlinear Science",
        "6",
        pages="449–467",
        doi="10.1007/BF02440162",
    ),
    "hairer1993": _book(
        "Hairer, E.; Nørsett, S. P.; Wanner, G.",
        1993,
        "Solving Ordinary Differential Equations I: Nonstiff Problems",
        publisher="Springer",
        address="Berlin",
    ),
    "hairer1996": _book(
        "Hairer, E.; Wanner, G.",
        1996,
        "Solving Ordinary Differential Equations II: Stiff and Differential-Algebraic Problems",
        publisher="Springer",
        address="Berlin",
    ),
    "hesch2007": _thesis(
        "phdthesis",
        "Hesch, C.",
        2007,
        "Mechanische Integratoren für Kontaktvorgänge deformierbarer Körper unter großen Verzerrungen",
        type="Dissertation",
        school="Universität Siegen",
    ),
    "jean1999": _article(
        "Jean, M.",
        1999,
        "The non-smooth contact dynamics method",
        _CMAME,
        "177",
        number="3–4",
        pages="235–257",
        doi="10.1016/S0045-7825(98)00383-1",
    ),
    "jourdan1998": _article(
        "Jourdan, F.; Alart, P.; Jean, M.",
        1998,
        "A Gauss-Seidel like algorithm to solve frictional contact problems",
        _CMAME,
        "155",
        number="1–2",
        pages="31–47",
    ),
    "judice1994": _article(
        "Júdice, J. J.; Pires, F. M.",
        1994,
        "A block principal pivoting algorithm for large-scale strictly monotone linear complementarity problems",
        "Computers and Operations Research",
        "21",
        number="5",
        pages="587–596",
    ),
    "keller1973": _article(
        "Keller, E. L.",
        1973,
        "The general quadratic optimization problem",
        "Mathematical Programming",
        "5",
        pages="311–337",
    ),
    "lemke1965": _article(
        "Lemke, C. E.",
        1965,
        "Bimatrix equilibrium points and mathematical programming",
        "Management Science",
        "11",
        number="7",
        pages="681–689",
        doi="10.1287/mnsc.11.7.681",
    ),
    "moreau1988": Reference(
        "incollection",
        ("Moreau, J. J.",),
        "Unilateral contact and dry friction in finite freedom dynamics",
        1988,
        {
            "editor": "Moreau, J. J. and Panagiotopoulos, P. D.",
            "booktitle": "Nonsmooth Mechanics and Applications",
            "series": "CISM Courses and Lectures",
            "volume": "302",
            "pages": "1–82",
            "publisher": "Springer",
            "address": "Wien",
            "doi": "10.1007/978-3-7091-2624-0_1",
        },
    ),
    "nacivet2003": _article(
        "Nacivet, S.; Pierre, C.; Thouverez, F.; Jezequel, L.",
        2003,
        "A dynamic Lagrangian frequency–time method for the vibration of dry-friction-damped systems",
        "Journal of Sound and Vibration",
        "265",
        number="1",
        pages="201–219",
        doi="10.1016/S0022-460X(02)01447-5",
    ),
    "newmark1959": _article(
        "Newmark, N. M.",
        1959,
        "A method of computation for structural dynamics",
        "Journal of the Engineering Mechanics Division (ASCE)",
        "85",
        number="3",
        pages="67–94",
    ),
    "painleve1895": _article(
        "Painlevé, P.",
        1895,
        "Sur les lois du frottement de glissement",
        "Comptes rendus hebdomadaires des séances de l'Académie des sciences",
        "121",
        pages="112–115",
    ),
    "pfeiffer1996": _book(
        "Pfeiffer, F.; Glocker, C.",
        1996,
        "Multibody Dynamics with Unilateral Contacts",
        publisher="Wiley",
        address="New York",
    ),
    "seiwald2014": _thesis(
        "mastersthesis",
        "Seiwald, P.",
        2014,
        "Unterbestimmte Zwangskräfte in der nichtglatten Mechanik",
        type="Bachelor's thesis",
        school="Technische Universität München",
    ),
    "stewart1996": _article(
        "Stewart, D. E.; Trinkle, J. C.",
        1996,
        "An implicit time-stepping scheme for rigid body dynamics with inelastic collisions and Coulomb friction",
        _IJNME,
        "39",
        number="15",
        pages="2673–2691",
        doi="10.1002/(SICI)1097-0207(19960815)39:15<2673::AID-NME972>3.0.CO;2-I",
    ),
    "stewart2000": _article(
        "Stewart, D. E.",
        2000,
        "Rigid-body dynamics with friction and impact",
        "SIAM Review",
        "42",
        number="1",
        pages="3–39",
        doi="10.1137/S0036144599360110",
    ),
    "studer2009": _book(
        "Studer, C.",
        2009,
        "Numerics of Unilateral Contacts and Friction: Modeling and Numerical Time Integration in Non-Smooth Dynamics",
        series="Lecture Notes in Applied and Computational Mechanics",
        volume="47",
        publisher="Springer",
        address="Berlin",
        doi="10.1007/978-3-642-01100-9",
    ),
    "vielsack1996": _article(
        "Vielsack, P.",
        1996,
        "Regularisierung des Haftzustandes bei Coulombscher Reibung",
        "Zeitschrift für Angewandte Mathematik und Mechanik",
        "76",
        number="8",
        pages="439–446",
    ),
    "waltersberger2005": _article(
        "Waltersberger, B.; Wauer, J.",
        2005,
        "Minimalkoordinatendarstellung bei gyroskopischen Systemen mit einseitigen Bindungen",
        "Proceedings in Applied Mathematics and Mechanics",
        "5",
    ),
    "waltersberger2007": _thesis(
        "phdthesis",
        "Waltersberger, B.",
        2007,
        "Strukturdynamik mit ein- und zweiseitigen Bindungen aufgrund reibungsbehafteter Kontakte",
        type="Dissertation",
        school="Universität Karlsruhe (TH)",
        series="Schriftenreihe des Instituts für Technische Mechanik",
        volume="5",
        publisher="Universitätsverlag Karlsruhe",
        isbn="978-3-86644-153-8",
    ),
}
