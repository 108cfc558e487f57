"""Fields of events as values of the model's types."""

from __future__ import annotations

import pytest

from assay.grammar.kernel import types as t
from assay.grammar.values import Atom, FrozenMap, RecordValue, Some, Value, VariantValue
from assay.traces.event import Field
from assay.traces.observe.field_values import FieldMismatchError, Named, OutOfRangeError, Reached, decode, needs

BROKER = t.AtomType(t.Sort("Broker", ("1", "2"), symmetric=True))
TERM = t.RangeType(0, 7, sized=True)
ROLE = t.EnumType("Role", (t.VariantType("Idle", ()), t.VariantType("Active", (t.FieldType("term", TERM),))))
VOTE = t.RecordType("Vote", (t.FieldType("voter", BROKER), t.FieldType("term", TERM)))
ONE, TWO = Atom("Broker", 0, "1"), Atom("Broker", 1, "2")


@pytest.mark.parametrize(
    ("field", "type_", "value"),
    [
        (3, TERM, 3),
        ("3", TERM, 3),
        ("0x7", TERM, 7),
        (1, BROKER, ONE),
        ("2", BROKER, TWO),
        (True, t.BOOL, True),
        ("false", t.BOOL, False),
        (None, t.OptionType(BROKER), None),
        (2, t.OptionType(BROKER), Some(TWO)),
        ((1, 2, 1), t.SetType(BROKER), frozenset({ONE, TWO})),
        ((2, 1), t.SeqType(BROKER, 3), (TWO, ONE)),
        ((2, 2), t.BagType(BROKER, 3), FrozenMap({TWO: 2})),
        ({1: 5}, t.MapType(BROKER, TERM, 2, partial=True), FrozenMap({ONE: 5})),
        ({1: 5, 2: 6}, t.MapType(BROKER, TERM), FrozenMap({ONE: 5, TWO: 6})),
        ({"voter": 1, "term": 2, "more": 0}, VOTE, RecordValue((ONE, 2))),
        ("Idle", ROLE, VariantValue("Idle", ())),
    ],
)
def test_a_field_becomes_a_value_of_the_type(field: Field, type_: t.Type, value: Value) -> None:
    assert decode(field, type_) == value


@pytest.mark.parametrize(
    ("field", "type_"),
    [
        ({0: 1, 1: 1}, t.MapType(t.RangeType(0, 2), TERM)),
        (None, BROKER),
        (None, TERM),
        ("x", TERM),
        ("1_0", t.INT),
        ("0x_7", TERM),
        (True, TERM),
        ("yes", t.BOOL),
        (1, t.SetType(BROKER)),
        ({1: 5}, t.MapType(BROKER, TERM)),
        ({"voter": 1}, VOTE),
        ("Active", ROLE),
    ],
)
def test_a_field_of_another_form_does_not_fit(field: Field, type_: t.Type) -> None:
    with pytest.raises(FieldMismatchError):
        decode(field, type_)


@pytest.mark.parametrize(("field", "type_"), [(8, TERM), (-1, TERM), ("3", BROKER)])
def test_a_value_that_the_type_lacks_is_out_of_range(field: Field, type_: t.Type) -> None:
    with pytest.raises(OutOfRangeError):
        decode(field, type_)


def test_what_a_field_needs_is_found_within_it() -> None:
    field: Field = {3: (9, 12)}
    type_ = t.MapType(BROKER, t.SetType(TERM), 2, partial=True)
    assert set(needs(field, type_)) == {Named("Broker", "3"), Reached(9), Reached(12)}
