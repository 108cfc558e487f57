"""Types as written, how they relate, and how many values they have."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from assay.grammar.diagnostics.diagnostic import Span
from assay.grammar.elaborate.expressions.type_expressions import check_storable
from assay.grammar.elaborate.scopes.type_differences import difference
from assay.grammar.elaborate.scopes.type_relations import join, type_text
from assay.grammar.elaborate.types.cardinality import LIMIT, cardinality
from assay.grammar.kernel.types import (
    BOOL,
    INT,
    AtomType,
    EnumType,
    FieldType,
    OptionType,
    RangeType,
    RecordType,
    SetType,
    Sort,
    Type,
    VariantType,
)

if TYPE_CHECKING:
    from tests.unit.grammar.elaborate.conftest import World


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("bool", "bool"),
        ("int", "int"),
        ("0 .. N - 1", "0 .. 3"),
        ("-1 .. count(Node)", "-1 .. 3"),
        ("0 .. 2 * count({n in Node if n != n1})", "0 .. 4"),
        ("Node?", "Node?"),
        ("Role", "Role"),
        ("left.Size", "0 .. 9"),
        ("set[Node]", "set[Node]"),
        ("set[Vote, max N]", "set[Vote, max 4]"),
        ("map[Node, Role]", "map[Node, Role]"),
        ("map[Epoch, Node, max 3]", "map[0 .. 3, Node, max 3]"),
        ("seq[Node, max 3]", "seq[Node, max 3]"),
        ("seq[Node]", "seq[Node]"),
        ("bag[set[Node]?, max 3]", "bag[set[Node]?, max 3]"),
        ("0 .. twice(2)", "0 .. 4"),
    ],
)
def test_a_type_is_printed_as_the_language_writes_it(here: World, text: str, shown: str) -> None:
    assert type_text(here.type(text)) == shown
    assert here.messages == ""


def test_a_range_with_a_size_parameter_in_it_is_sized(here: World) -> None:
    assert here.type("0 .. MaxEpoch") == RangeType(0, 3, sized=True)
    assert here.type("0 .. limit() + 1") == RangeType(0, 4, sized=True)
    assert here.type("0 .. count(Epoch)") == RangeType(0, 4, sized=True)
    assert here.type("0 .. N") == RangeType(0, 4)
    assert here.messages == ""


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("bool", 2),
        ("Digit", 10),
        ("Node?", 4),
        ("Role", 6),
        ("Lamp", 31),
        ("Vote", 48),
        ("set[Node]", 8),
        ("set[Digit, max 2]", 56),
        ("map[Node, bool]", 8),
        ("map[Node, Digit, max 1]", 31),
        ("seq[Node, max 2]", 13),
        ("bag[Node, max 2]", 10),
        ("set[set[Node]]", 256),
    ],
)
def test_the_number_of_values_is_exact_while_it_is_small(here: World, text: str, values: int) -> None:
    assert cardinality(here.type(text)) == values


@pytest.mark.parametrize(
    "text",
    [
        "int",
        "set[Wide]",
        "set[set[set[Node]]]",
        "seq[Node, max 99999999]",
        "bag[Digit, max 99999999]",
        "set[Huge, max 1]",
        "seq[Node]",
    ],
)
def test_a_large_number_of_values_is_only_known_to_be_large(here: World, text: str) -> None:
    assert cardinality(here.type(text)) > LIMIT


@pytest.mark.parametrize(
    ("text", "storable"),
    [
        ("Digit", True),
        ("map[Node, seq[Vote?, max 3]]", True),
        ("int", False),
        ("set[int]", False),
        ("seq[Node]", False),
        ("map[Node, bag[Node]]", False),
    ],
)
def test_state_holds_only_finite_types(here: World, text: str, storable: bool) -> None:
    assert check_storable(here.type(text), Span("x", 1, 1, 1, 2), here.diagnostics) == storable
    assert here.codes == ([] if storable else ["E214"])


def test_integers_of_different_ranges_have_the_integers_in_common() -> None:
    assert join(RangeType(0, 3), RangeType(0, 3)) == RangeType(0, 3)
    assert join(RangeType(0, 3), RangeType(0, 4)) == INT
    assert join(RangeType(0, 3), OptionType(INT)) == OptionType(INT)


def test_nothing_converts_inside_a_collection() -> None:
    assert join(SetType(INT), SetType(OptionType(INT))) is None


SORT, TWIN, SWAPPED = Sort("Node", ("a", "b"), False), Sort("Node", ("a", "c"), False), Sort("Node", ("a", "b"), True)


def record(**fields: Type) -> RecordType:
    return RecordType("Entry", tuple(FieldType(name, type_) for name, type_ in fields.items()))


@pytest.mark.parametrize(
    ("have", "want", "words"),
    [
        (RangeType(1, 2), RangeType(1, 3), ""),
        (RangeType(1, 2), RangeType(1, 2), ""),
        (
            RangeType(1, 2, sized=True),
            RangeType(1, 2),
            "`size param`, whose value a log may exceed, here and not there",
        ),
        (AtomType(SORT), AtomType(TWIN), "the elements are a, b here, a, c there"),
        (AtomType(SORT), AtomType(SWAPPED), "one is `symmetric`"),
        (record(a=BOOL), record(b=BOOL), "called Entry: the fields are a here, b there"),
        (record(a=BOOL), record(a=INT), "the field `a` is bool here, int there"),
        (SetType(record(a=AtomType(SORT))), SetType(record(a=AtomType(TWIN))), "of the field `a`, the elements are"),
        (EnumType("E", (VariantType("A", ()),)), EnumType("E", (VariantType("B", ()),)), "are A here, B there"),
        (
            EnumType("E", (VariantType("A", (FieldType("x", BOOL),)),)),
            EnumType("E", (VariantType("A", (FieldType("x", INT),)),)),
            "in the variant A, the field `x` is bool here, int there",
        ),
    ],
)
def test_types_that_are_written_alike_are_told_apart(have: Type, want: Type, words: str) -> None:
    (found,) = difference(have, want) or [""]
    assert words in found
    assert bool(words) == bool(found)
