"""Contacts by name: what they become in the table of laws, and what is refused when a model is built."""

import numpy as np
import pytest
import scipy.sparse as sparse

from klapper.mechanics import (
    Anisotropic,
    Constraint,
    Contact,
    ContactList,
    FrictionElement,
    FunctionSystem,
    Harmonic,
    InvalidModel,
    LinearSystem,
    Ramp,
    Stribeck,
)
from klapper.mechanics.contacts import rate_of

X, Y = [1.0, 0.0], [0.0, 1.0]


def test_laws_have_one_row_for_every_chosen_contact() -> None:
    table = ContactList(
        [
            Contact("floor", normal=Y, tangents=X, friction=0.3, restitution=0.5),
            FrictionElement("brake", tangents=X, limit=7.0),
            Contact("stop", normal=[-1.0, 0.0], gap=0.1, limit=2.0, tangents=Y),
        ],
        0.0,
        np.zeros(2),
    )
    assert (table.count, table.tangential, table.constant, table.affine) == (3, 1, True, True)
    assert [table.name(i) for i in range(3)] == ["floor", "brake", "stop"]
    laws = table.laws(np.array([0, 2]))
    np.testing.assert_array_equal(laws.normal, [True, True])
    np.testing.assert_array_equal(laws.restitution, [0.5, 0.0])
    np.testing.assert_array_equal(laws.friction, [0.3, 0.0])
    np.testing.assert_array_equal(laws.limit, [0.0, 2.0])
    assert table.laws(np.array([1])).normal.tolist() == [False]


def test_speed_dependent_coefficients_are_taken_at_the_given_speeds() -> None:
    law = Stribeck(0.4, 0.1, 0.2)
    parts = [Contact(name, normal=Y, tangents=X, friction=law) for name in "ab"]
    table = ContactList([*parts, Contact("c", normal=Y, tangents=X, friction=0.7)], 0.0, np.zeros(2))
    assert not table.constant
    np.testing.assert_array_equal(table.laws(np.arange(3)).friction, [0.4, 0.4, 0.7])
    at = table.laws(np.array([1, 2]), np.array([0.2, 5.0])).friction
    np.testing.assert_allclose(at, [0.25, 0.7])


def test_shares_make_the_friction_matrix() -> None:
    """(3.74): the limit of patch i is Σ_j μ_ij λ_Nj, whatever the order and choice of rows."""
    table = ContactList(
        [
            FrictionElement("patch", tangents=X, limit=1.0, shares={"left": 0.2, "right": 0.3}),
            Contact("left", normal=Y),
            Contact("right", normal=Y, tangents=X, friction=0.5),
        ],
        0.0,
        np.zeros(2),
    )
    full = table.laws(np.arange(3)).friction
    assert sparse.issparse(full)
    np.testing.assert_allclose(full.toarray(), [[0.0, 0.2, 0.3], [0, 0, 0], [0, 0, 0.5]])
    np.testing.assert_allclose(table.laws(np.array([0, 2])).friction.toarray(), [[0.0, 0.3], [0.0, 0.5]])


def test_anisotropic_contacts_have_a_ratio() -> None:
    table = ContactList(
        [
            Contact("a", normal=[0, 0, 1], tangents=np.eye(3)[:2], friction=Anisotropic(0.2, 0.6)),
            Contact("b", normal=[0, 0, 1], tangents=np.eye(3)[:2], friction=0.4),
        ],
        0.0,
        np.zeros(3),
    )
    np.testing.assert_allclose(table.laws(np.arange(2)).ratio, [3.0, 1.0])


def test_a_given_rate_is_taken_at_every_time_and_in_every_direction() -> None:
    contact = Contact("a", normal=Y, tangents=X, friction=0.1, tangential_rate=Ramp(1.0, 2.0))
    np.testing.assert_array_equal(rate_of(contact, 2, 0.5), [2.0, 0.0])
    np.testing.assert_array_equal(rate_of(contact, 1, np.array([0.0, 1.0])), [[1.0], [3.0]])
    both = Contact("b", normal=Y, tangents=np.eye(2), friction=0.1, tangential_rate=[1.0, -2.0])
    np.testing.assert_array_equal(rate_of(both, 2, np.zeros(3)), [[1.0, -2.0]] * 3)


def linear(*parts, n: int = 2, **more) -> LinearSystem:
    return LinearSystem(np.ones(n), contacts=[p for p in parts if not isinstance(p, Constraint)],
                        constraints=[p for p in parts if isinstance(p, Constraint)], **more)  # fmt: skip


def function(*parts, n: int = 2) -> FunctionSystem:
    return FunctionSystem(np.ones(n), np.zeros(n), mass=np.eye(n), force=lambda t, q, v: -q, contacts=parts)


# name of the case: what is built, and a word that the sentence must hold
BAD = {
    "restitution above 1": (lambda: Contact("lid", normal=Y, restitution=1.5), "'lid'"),
    "restitution below 0": (lambda: Contact("lid", normal=Y, restitution=-0.1), "'lid'"),
    "restitution nan": (lambda: Contact("lid", normal=Y, restitution=np.nan), "'lid'"),
    "friction below 0": (lambda: Contact("lid", normal=Y, tangents=X, friction=-1.0), "'lid'"),
    "friction nan": (lambda: Contact("lid", normal=Y, tangents=X, friction=np.nan), "'lid'"),
    "friction as a list": (lambda: Contact("lid", normal=Y, tangents=X, friction=[0.1, 0.2]), "'lid'"),
    "friction without tangents": (lambda: Contact("lid", normal=Y, friction=0.3), "tangents"),
    "limit without tangents": (lambda: Contact("lid", normal=Y, limit=3.0), "tangents"),
    "limit below 0": (lambda: Contact("lid", normal=Y, tangents=X, limit=-3.0), "'lid'"),
    "limit infinite": (lambda: Contact("lid", normal=Y, tangents=X, limit=np.inf), "'lid'"),
    "no normal": (lambda: Contact("lid"), "normal"),
    "normal zero": (lambda: Contact("lid", normal=[0.0, 0.0]), "'lid'"),
    "normal nan": (lambda: Contact("lid", normal=[0.0, np.nan]), "'lid'"),
    "normal text": (lambda: Contact("lid", normal="up"), "'lid'"),
    "normal a matrix": (lambda: Contact("lid", normal=np.eye(2)), "'lid'"),
    "normal too long": (lambda: linear(Contact("lid", normal=[0.0, 1.0, 0.0])), "'lid'"),
    "gap nan": (lambda: Contact("lid", normal=Y, gap=np.nan), "'lid'"),
    "gap a list": (lambda: linear(Contact("lid", normal=Y, gap=[1.0, 2.0])), "'lid'"),
    "gap signal of two": (lambda: linear(Contact("lid", normal=Y, gap=Harmonic([1.0, 2.0], 1.0))), "'lid'"),
    "three tangents": (lambda: Contact("lid", normal=Y, tangents=np.ones((3, 2)), friction=0.1), "'lid'"),
    "tangents nan": (lambda: Contact("lid", normal=Y, tangents=[np.nan, 1.0], friction=0.1), "'lid'"),
    "tangents too long": (
        lambda: linear(Contact("lid", normal=Y, tangents=[1.0, 0, 0], friction=0.1)),
        "'lid'",
    ),
    "rate of two in a plane": (
        lambda: linear(Contact("lid", normal=Y, tangents=X, friction=0.1, tangential_rate=[1.0, 2.0])),
        "'lid'",
    ),
    "rate nan": (lambda: Contact("lid", normal=Y, tangents=X, friction=0.1, tangential_rate=np.nan), "'lid'"),
    "normal function with an offset": (lambda: Contact("lid", normal=lambda t, q: Y, gap=0.1), "normal"),
    "one contact instead of a list": (
        lambda: LinearSystem([1.0, 1.0], contacts=Contact("lid", normal=Y)),  # type: ignore[arg-type]
        "contacts",
    ),
    "same name twice": (lambda: linear(Contact("lid", normal=X), Contact("lid", normal=Y)), "'lid'"),
    "overlap at the start": (lambda: linear(Contact("lid", normal=Y, gap=-0.1)), "'lid'"),
    "gap function in a linear system": (lambda: linear(Contact("lid", gap=lambda t, q: q[0])), "'lid'"),
    "tangent function in a linear system": (
        lambda: linear(Contact("lid", normal=Y, tangents=lambda t, q: X, friction=0.1)),
        "'lid'",
    ),
    "overlap of a gap function": (lambda: function(Contact("lid", gap=lambda t, q: q[0] - 2.0)), "'lid'"),
    "element without force": (lambda: FrictionElement("brake", tangents=X), "'brake'"),
    "element with limit below 0": (lambda: FrictionElement("brake", tangents=X, limit=-1.0), "'brake'"),
    "share below 0": (lambda: FrictionElement("brake", tangents=X, shares={"lid": -0.2}), "'lid'"),
    "share nan": (lambda: FrictionElement("brake", tangents=X, shares={"lid": np.nan}), "'lid'"),
    "share of a misspelt contact": (
        lambda: linear(
            Contact("floor", normal=Y), FrictionElement("brake", tangents=X, shares={"flor": 0.2})
        ),
        "'floor'",
    ),
    "share of nothing": (lambda: linear(FrictionElement("brake", tangents=X, shares={"lid": 0.2})), "'lid'"),
    "element tangents nan": (lambda: FrictionElement("brake", tangents=[np.nan, 1], limit=1.0), "'brake'"),
    "constraint without direction": (lambda: Constraint("rod"), "'rod'"),
    "constraint zero direction": (lambda: Constraint("rod", direction=[0.0, 0.0]), "'rod'"),
    "constraint nan": (lambda: Constraint("rod", direction=[np.nan, 0.0]), "'rod'"),
    "constraint offset nan": (lambda: Constraint("rod", direction=X, offset=np.nan), "'rod'"),
    "constraint too long": (lambda: linear(Constraint("rod", direction=[1.0, 0, 0])), "'rod'"),
    "constraint violated at the start": (lambda: linear(Constraint("rod", direction=X, offset=0.5)), "'rod'"),
    "constraint function in a linear system": (
        lambda: linear(Constraint("rod", offset=lambda t, q: q[0])),
        "'rod'",
    ),
    "restitution text": (lambda: Contact("lid", normal=Y, restitution="high"), "'lid'"),
    "restitution none": (lambda: Contact("lid", normal=Y, restitution=None), "'lid'"),
    "friction text": (lambda: Contact("lid", normal=Y, tangents=X, friction="rough"), "'lid'"),
    "friction none": (lambda: Contact("lid", normal=Y, tangents=X, friction=None), "'lid'"),
    "limit text": (lambda: Contact("lid", normal=Y, tangents=X, limit="high"), "'lid'"),
    "share text": (lambda: FrictionElement("brake", tangents=X, shares={"lid": "much"}), "'lid'"),
    "normal nan in the first entry": (lambda: Contact("lid", normal=[np.nan, 1.0]), "normal"),
    "tangents all zero": (lambda: Contact("lid", normal=Y, tangents=[0.0, 0.0], friction=0.3), "tangents"),
    "negative function": (
        lambda: linear(Contact("lid", normal=Y, tangents=X, friction=lambda s: -1.0)),
        "'lid'",
    ),
    "share of a friction element": (
        lambda: linear(
            FrictionElement("first", tangents=X, limit=1.0),
            FrictionElement("second", tangents=X, shares={"first": 0.3}),
        ),
        "'first'",
    ),
    "second coefficient in a plane": (
        lambda: linear(Contact("lid", normal=Y, tangents=X, friction=Anisotropic(0.1, 0.3))),
        "'lid'",
    ),
    "constraint among contacts": (
        lambda: LinearSystem([1.0, 1.0], contacts=[Constraint("rod", direction=X)]),  # type: ignore[list-item]
        "'rod'",
    ),
    "contact among constraints": (
        lambda: LinearSystem([1.0, 1.0], constraints=[Contact("lid", normal=X)]),  # type: ignore[list-item]
        "'lid'",
    ),
    "two constraints of one name": (
        lambda: linear(Constraint("rod", direction=X), Constraint("rod", direction=Y)),
        "'rod'",
    ),
    "constraint offset of two": (lambda: linear(Constraint("rod", direction=X, offset=[0.0, 0.0])), "'rod'"),
    "gap function of time only": (
        lambda: function(Contact("lid", gap=lambda t: 0.1, normal=Y)),  # a Signal was meant
        "'lid'",
    ),
    "gap function of two numbers": (lambda: function(Contact("lid", gap=lambda t, q: q)), "'lid'"),
    "tangent function of one argument": (
        lambda: function(Contact("lid", normal=X, tangents=lambda t: X, friction=0.1)),
        "tangents",
    ),
    "gap function not a number": (lambda: function(Contact("lid", gap=lambda t, q: np.nan)), "'lid'"),
    "normal function of wrong length": (
        lambda: function(Contact("lid", gap=lambda t, q: q[0], normal=lambda t, q: [1.0, 0.0, 0.0])),
        "'lid'",
    ),
    "tangent function of wrong length": (
        lambda: function(Contact("lid", normal=X, tangents=lambda t, q: [1.0, 0.0, 0.0], friction=0.1)),
        "'lid'",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_contacts_are_refused_by_name_in_one_sentence(name: str) -> None:
    make, word = BAD[name]
    with pytest.raises(InvalidModel) as caught:
        make()
    text = str(caught.value)
    assert word in text
    assert "\n" not in text
    assert len(text) < 250


def test_tangents_need_not_exist_where_nothing_ever_is() -> None:
    """A point that slides around a disc: the tangent is undefined in its centre, which is never reached."""
    disc = Contact(
        "disc",
        gap=lambda t, q: np.hypot(*q) - 0.5,
        tangents=lambda t, q: np.array([-q[1], q[0]]) / np.hypot(*q),
        friction=0.1,
    )
    assert function(disc).contacts.tangential == 1
