"""Every type lists its values once, in canonical order, as many as it says; each survives JSON."""

from __future__ import annotations

import json

import pytest

from assay.checker.interpreter.expressions.enumerate_set import AllSubsets
from assay.checker.interpreter.values.domains import UNLIMITED, cardinality, domain
from assay.checker.interpreter.values.show import show_value
from assay.checker.interpreter.values.show_types import show_type
from assay.checker.interpreter.values.type_check import CapacityExceeded, conform
from assay.checker.interpreter.values.undefined import Undefined
from assay.checker.interpreter.values.value_order import sorter
from assay.checker.saved_traces.json_values import NotOfType, from_json, to_json
from assay.grammar.diagnostics.diagnostic import NOWHERE, SpecError
from assay.grammar.kernel import types as t
from assay.grammar.values import FrozenMap, Some, VariantValue

NODE = t.AtomType(t.Sort("Node", ("n2", "n1"), symmetric=False))
SMALL = t.RangeType(1, 3)
MODE = t.EnumType(
    "Mode",
    (
        t.VariantType("Idle", ()),
        t.VariantType("Busy", (t.FieldType("since", SMALL),)),
        t.VariantType("Away", (t.FieldType("by", NODE), t.FieldType("ok", t.BOOL))),
    ),
)
OWN = t.EnumType("Own", (t.VariantType("A", (t.FieldType("variant", NODE),)), t.VariantType("fields", ())))
PAIR = t.RecordType("Pair", (t.FieldType("left", SMALL), t.FieldType("right", t.OptionType(NODE))))

SIZES = [
    (t.BOOL, 2),
    (SMALL, 3),
    (t.RangeType(2, 1), 0),
    (NODE, 2),
    (MODE, 1 + 3 + 4),
    (OWN, 3),
    (PAIR, 9),
    (t.OptionType(t.OptionType(NODE)), 4),
    (t.SetType(SMALL), 8),
    (t.SetType(SMALL, 1), 4),
    (t.SetType(t.SetType(NODE)), 16),
    (t.MapType(NODE, SMALL), 9),
    (t.MapType(NODE, SMALL, None, partial=True), 16),
    (t.MapType(NODE, SMALL, 1, partial=True), 7),
    (t.SeqType(NODE, 2), 7),
    (t.SeqType(t.RangeType(1, 1), 3), 4),
    (t.BagType(NODE, 2), 6),
    (t.BagType(SMALL, 3), 20),
]
IDS = [show_type(row[0]) for row in SIZES]


@pytest.mark.parametrize(("type_", "size"), SIZES, ids=IDS)
def test_the_cardinality_is_the_number_of_distinct_values(type_: t.Type, size: int) -> None:
    assert cardinality(type_) == size
    assert len(set(domain(type_))) == len(domain(type_)) == size


@pytest.mark.parametrize("type_", [row[0] for row in SIZES], ids=IDS)
def test_a_domain_is_listed_in_canonical_order(type_: t.Type) -> None:
    assert tuple(sorter(type_)(reversed(domain(type_)))) == domain(type_)


@pytest.mark.parametrize("type_", [row[0] for row in SIZES], ids=IDS)
def test_every_value_conforms_to_its_type_and_survives_json(type_: t.Type) -> None:
    for value in domain(type_):
        assert conform(value, type_) == value
        assert from_json(json.loads(json.dumps(to_json(value, type_))), type_) == value


@pytest.mark.parametrize("type_", [row[0] for row in SIZES], ids=IDS)
def test_distinct_values_are_printed_differently(type_: t.Type) -> None:
    assert len({show_value(value, type_) for value in domain(type_)}) == cardinality(type_)


def test_elements_come_in_the_order_of_their_declaration() -> None:
    assert [show_value(value, NODE) for value in domain(NODE)] == ["n2", "n1"]
    assert [show_value(value, MODE) for value in domain(MODE)][:2] == ["Idle", "Busy(1)"]


@pytest.mark.parametrize(
    "type_",
    [
        t.INT,
        t.SetType(t.RangeType(1, 40)),
        t.SetType(t.RangeType(1, 10**9), 3),
        t.MapType(t.RangeType(1, 10**6), t.RangeType(1, 10**6)),
        t.SeqType(SMALL, 10**6),
        t.SeqType(SMALL),
        t.BagType(t.RangeType(1, 10**9), 10**9),
    ],
)
def test_too_many_values_are_refused_with_a_diagnostic_and_not_listed(type_: t.Type) -> None:
    with pytest.raises(SpecError) as error:
        domain(type_)
    assert [diagnostic.code for diagnostic in error.value.diagnostics] == ["E801"]


def test_a_size_beyond_counting_is_unlimited() -> None:
    assert cardinality(t.MapType(t.RangeType(1, 10**6), t.RangeType(1, 10**6))) == UNLIMITED


@pytest.mark.parametrize(
    ("value", "type_"),
    [
        (4, SMALL),
        (Some(0), t.OptionType(SMALL)),
        (VariantValue("Busy", (9,)), MODE),
        (frozenset({1, 4}), t.SetType(SMALL)),
        (frozenset({1, 2, 4}), t.SetType(SMALL, 1)),
        ((1, 4), t.SeqType(SMALL, 1)),
        (FrozenMap({4: 1}), t.BagType(SMALL, 1)),
        (FrozenMap({1: 1, 2: 2}), t.MapType(SMALL, SMALL)),
        (FrozenMap({1: 4}), t.MapType(SMALL, SMALL, 1, partial=True)),
    ],
)
def test_out_of_range_is_undefined_even_where_a_capacity_is_exceeded(value: object, type_: t.Type) -> None:
    with pytest.raises(Undefined):
        conform(value, type_)


@pytest.mark.parametrize(
    ("value", "type_"),
    [
        (frozenset({1, 2}), t.SetType(SMALL, 1)),
        ((1, 1), t.SeqType(SMALL, 1)),
        (FrozenMap({1: 2}), t.BagType(SMALL, 1)),
        (FrozenMap({1: 1, 2: 2}), t.MapType(SMALL, SMALL, 1, partial=True)),
        (Some(frozenset({1, 2})), t.OptionType(t.SetType(SMALL, 1))),
        (FrozenMap({1: (1, 1), 2: (), 3: ()}), t.MapType(SMALL, t.SeqType(SMALL, 1))),
    ],
)
def test_too_many_elements_exceed_the_capacity(value: object, type_: t.Type) -> None:
    with pytest.raises(CapacityExceeded):
        conform(value, type_)


@pytest.mark.parametrize(
    ("data", "type_"),
    [
        (1, t.BOOL),
        (True, SMALL),
        (4, SMALL),
        ("n3", NODE),
        (["n1"], NODE),
        ("Gone", MODE),
        ("Busy", MODE),
        ({"variant": "Idle"}, MODE),
        ({"variant": "Busy"}, MODE),
        ({"left": 1}, PAIR),
        ([1], PAIR),
        ("n1", t.SetType(NODE)),
        ([["n1", 1]], t.MapType(NODE, SMALL)),
        ([["n1"]], t.MapType(NODE, SMALL)),
        (["n1", "n1"], t.SeqType(NODE, 1)),
    ],
)
def test_json_that_is_no_value_of_the_type_is_refused(data: object, type_: t.Type) -> None:
    with pytest.raises(NotOfType):
        from_json(data, type_)


@pytest.mark.parametrize("item", [SMALL, NODE, MODE, PAIR])
def test_subsets_are_made_in_canonical_order(item: t.Type) -> None:
    made = AllSubsets(sorter(item)(domain(item, NOWHERE)))
    assert list(made) == sorter(t.SetType(item))(frozenset(made))
    assert (len(made), made[1], made[-1]) == (len(list(made)), list(made)[1], list(made)[-1])
