"""Studies over the number of modes."""

import numpy as np
import pytest

from klapper.analysis.mode_convergence import mode_convergence
from klapper.mechanics import Contact, FrictionElement, InvalidModel, LinearSystem
from klapper.reduction import attachment, modal, quasi_static
from klapper.results.errors import ResultsError
from klapper.schemes import Moreau
from klapper.structures import Beam, LineContact, Material, Section

COUNTS = (3, 6, 10, 15)


@pytest.fixture(scope="module")
def rocking():
    """Waltersberger Ex. 5.7."""
    steel = Material(young=210e9, density=7500.0, shear=81e9)
    section = Section(area=0.02**2, second_moment=0.01**4 / 12, shear_area=0.02**2 / 1.2)
    beam = Beam(1.0, steel, section, elements=40, degree=3).with_gravity(9.81)
    beam = beam.with_rayleigh(mass=0.01, stiffness=1e-4)
    contacts = LineContact(beam.line(), 0.4, 0.6, count=25).contacts
    system = beam.system(contacts, position=beam.position(lambda x: 0.05 * (x - 0.4)), name="rocking beam")
    rows = {"A": beam.row(0.4), "B": beam.row(0.6)}
    return mode_convergence(system, COUNTS, 0.25, Moreau(2e-5, theta=1.0), rows=rows, progress=False)


def chain(n=12, **more):
    stiffness = 2.0 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    return LinearSystem(np.ones(n), stiffness=100.0 * stiffness, **more)


def test_rocking_beam_converges_as_published(rocking):
    """Root mean square of (w_A, w_B) against 15 modes: 0.27, 0.091, 0.031 mm for 3, 6, 10 modes, to 10 %."""
    together = 1e3 * np.hypot(rocking.deviations["A"], rocking.deviations["B"]) / np.sqrt(2.0)
    np.testing.assert_allclose(together[:3], [0.27, 0.091, 0.031], rtol=0.1)
    assert together[3] == 0.0
    rise = [1e3 * rocking.values["A"][line, rocking.times > 0.1].max() for line in range(4)]
    np.testing.assert_allclose(rise, [6.95, 7.22, 7.32, 7.37], atol=0.006)  # printed digits


def test_the_table_names_size_estimate_and_distances(rocking):
    table = rocking.table
    assert [row["modes"] for row in table] == list(COUNTS)
    lost = [row["lost flexibility"] for row in table]
    assert np.all(np.diff(lost) < 0.0) and 0.0 < lost[-1] < 1e-3
    assert table[1]["highest frequency"] == pytest.approx(242.74, rel=1e-3)
    assert table[0]["rms A"] == rocking.deviations["A"][0]
    text = str(rocking).splitlines()
    assert text[0].split()[0] == "modes" and "rms A" in text[0]
    assert text[4].startswith("15 *")
    assert text[5].startswith("* reference")


def test_enough_modes_are_the_fewest_within_a_distance(rocking):
    largest = {count: rocking.distance(count).max() for count in COUNTS}
    assert rocking.enough(largest[6]) in (6, 10) and rocking.enough(1.1 * largest[3]) == 3
    assert rocking.enough(0.0) == 15
    assert rocking.distance(6, "A").max() <= largest[6]
    with pytest.raises(ResultsError, match="no run with 7 modes"):
        rocking.distance(7)
    with pytest.raises(ResultsError, match="output"):
        rocking.distance(6, "C")


def test_the_figure_has_labelled_panels(rocking):
    figure = rocking.plot(output="B")
    assert len(figure.axes) == 4
    assert all(axes.get_xlabel() and axes.get_ylabel() for axes in figure.axes)
    assert figure.axes[0].get_ylabel() == "B / m or rad"
    with pytest.raises(ResultsError, match="four panels"):
        rocking.plot(figure.axes[0])


def test_all_modes_never_penetrate_and_a_count_beyond_them_gives_no_run():
    """All modes are the full system: its gaps never close beyond zero, and static loads are exact for every count."""
    n = 12
    contacts = [Contact("end", normal=-np.eye(n)[-1], gap=0.02), Contact("mid", normal=np.eye(n)[5], gap=0.5)]
    system = chain(contacts=contacts, force=3.0 * np.eye(n)[3])
    scheme = Moreau(2e-3, theta=1.0, level="position")
    study = mode_convergence(
        system, [2, 4, 12, 13], 0.5, scheme, reduce=quasi_static, samples=50, progress=False
    )
    assert study.counts == (2, 4, 12) and study.reference == 12
    assert "from 1 to 12" in study.refused[13]
    assert "13 modes gave no run" in str(study)
    assert list(study.values) == ["gap end", "gap mid"]
    assert min(lines.min() for lines in study.values.values()) > -1e-6
    assert study.deviations["gap end"][1] < study.deviations["gap end"][0]
    assert mode_convergence(
        system, [2, 4], 0.1, Moreau(1e-3), reduce=attachment, contacts=["mid"], progress=False
    ).values.keys() == {"gap mid"}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"counts": [3]}, "at least two"),
        ({"samples": 1}, "samples is 1"),
        ({"rows": {"tip": np.ones(3)}}, r"row 'tip' has shape \(3,\), expected \(12,\)"),
        ({"contacts": ["nose"]}, "nose"),
        ({"contacts": ["joint"]}, "has no gap"),
        ({}, "nothing to compare"),
        ({"rows": {"tip": np.eye(12)[0]}, "counts": [20, 30]}, "fewer than two numbers of modes"),
    ],
)
def test_wrong_requests_are_refused_in_one_sentence(change, words):
    system = chain(contacts=[FrictionElement("joint", tangents=np.eye(12)[[2]], limit=1.0)])
    arguments = {"counts": [2, 3], "until": 0.1, "scheme": Moreau(1e-3), "reduce": modal, **change}
    with pytest.raises(InvalidModel, match=words):
        mode_convergence(system, **arguments)
