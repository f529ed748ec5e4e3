"""References behind a run."""

import re

import pytest

from klapper.results import ResultsError, Run
from klapper.results.citations import REFERENCES

from .motions import bouncing_ball


def with_citations(*keys: str) -> Run:
    run = bouncing_ball(count=3)
    return Run(run.layout, run.samples, {"citations": keys})


def test_text_has_one_line_for_each_reference() -> None:
    text = with_citations("moreau1988", "jean1999", "moreau1988").citation()
    jean, moreau = text.splitlines()
    assert jean == (
        "Jean, M. (1999): The non-smooth contact dynamics method. Computer Methods in Applied Mechanics and "
        "Engineering 177 (3–4), 235–257. doi:10.1016/S0045-7825(98)00383-1"
    )
    assert moreau == (
        "Moreau, J. J. (1988): Unilateral contact and dry friction in finite freedom dynamics. In: Moreau, J. J. & "
        "Panagiotopoulos, P. D. (eds.), Nonsmooth Mechanics and Applications, CISM Courses and Lectures 302, Springer, "
        "Wien, 1–82. doi:10.1007/978-3-7091-2624-0_1"
    )


def test_bibtex_entries_have_their_kind_authors_and_pages() -> None:
    text = with_citations("waltersberger2007", "jourdan1998").citation(bibtex=True)
    assert text.startswith("@phdthesis{waltersberger2007,\n  author = {Waltersberger, B.},\n")
    assert "author = {Jourdan, F. and Alart, P. and Jean, M.}" in text
    assert "pages = {31--47}" in text


@pytest.mark.parametrize("key", REFERENCES)
def test_every_reference_is_complete(key: str) -> None:
    reference = REFERENCES[key]
    needed = {
        "article": {"journal", "volume"},
        "book": {"publisher"},
        "incollection": {"booktitle", "publisher", "editor", "pages"},
        "phdthesis": {"school"},
        "mastersthesis": {"school"},
    }
    assert needed[reference.kind] <= reference.details.keys()
    assert re.fullmatch(r"[a-z]+\d{4}", key)
    assert key.endswith(str(reference.year))
    assert all(re.fullmatch(r"[^,]+, (\S\S?\.[ -]?)+", name) for name in reference.authors), reference.authors
    bibtex, text = reference.bibtex(key), reference.text()
    assert bibtex.count("{") == bibtex.count("}")
    assert "–" not in bibtex.split("title")[0]
    assert reference.title in text
    assert str(reference.year) in text
    assert text.count("  ") == 0


def test_nothing_to_cite_is_empty_and_an_unknown_key_is_told_with_the_nearest() -> None:
    assert with_citations().citation() == ""
    with pytest.raises(
        ResultsError, match=r"There is no reference 'moreau1987': the nearest of .* 'moreau1988'"
    ):
        with_citations("moreau1987").citation()
