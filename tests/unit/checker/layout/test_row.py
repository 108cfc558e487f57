"""Packed rows: a round trip for every type, canonical, and refused where a type does not fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.checker.layout.encode import UnfitError, encode
from assay.checker.layout.row import row_layout
from assay.checker.layout.shape_of_type import shape_of
from assay.grammar import kernel as k
from assay.grammar.diagnostics.diagnostic import SpecError
from assay.grammar.kernel import types as t
from assay.grammar.values import Atom, FrozenMap, RecordValue, Some, Value, VariantValue

NODES = t.Sort("Node", ("n1", "n2", "n3"), symmetric=False)

scalars = st.one_of(
    st.just(t.BOOL),
    st.builds(lambda low, size: t.RangeType(low, low + size), st.integers(-3, 3), st.integers(0, 5)),
    st.just(t.AtomType(NODES)),
    st.just(t.RangeType(-1, 3000)),
)


def _fields(children: st.SearchStrategy[t.Type], most: int) -> st.SearchStrategy[tuple[t.FieldType, ...]]:
    return st.lists(children, max_size=most).map(lambda ts: tuple(t.FieldType(f"f{i}", x) for i, x in enumerate(ts)))


def _enum(variants: list[tuple[t.FieldType, ...]]) -> t.EnumType:
    return t.EnumType("E", tuple(t.VariantType(f"V{i}", fields) for i, fields in enumerate(variants)))


def _composite(children: st.SearchStrategy[t.Type]) -> st.SearchStrategy[t.Type]:
    small = st.sampled_from([t.BOOL, t.AtomType(NODES), t.RangeType(0, 4), t.OptionType(t.AtomType(NODES))])
    capacity = st.integers(0, 3)
    return st.one_of(
        children.map(t.OptionType),
        _fields(children, 3).map(lambda fields: t.RecordType("R", fields)),
        st.lists(_fields(children, 2), min_size=1, max_size=3).map(_enum),
        small.map(t.SetType),
        st.builds(t.SetType, children, capacity),
        st.builds(t.MapType, small, children),
        st.builds(lambda key, value, n: t.MapType(key, value, n, partial=True), children, children, capacity),
        st.builds(t.SeqType, children, capacity),
        st.builds(t.BagType, children, capacity),
    )


types = st.recursive(scalars, _composite, max_leaves=5)


def values(type_: t.Type) -> st.SearchStrategy[Any]:
    match type_:
        case t.BoolType():
            return st.booleans()
        case t.RangeType(low, high):
            return st.integers(low, high)
        case t.AtomType(sort):
            return st.sampled_from([Atom(sort.name, i, name) for i, name in enumerate(sort.elements)])
        case t.OptionType(item):
            return st.one_of(st.none(), values(item).map(Some))
        case t.RecordType(_, fields):
            return st.tuples(*(values(f.type) for f in fields)).map(RecordValue)
        case t.EnumType(_, variants):
            return st.one_of([_variant(v) for v in variants])
        case t.SetType(item, capacity):
            return st.frozensets(values(item), max_size=capacity)
        case t.SeqType(item, capacity):
            return st.lists(values(item), max_size=capacity).map(tuple)
        case t.BagType(item, capacity):
            return st.lists(values(item), max_size=capacity).map(_bag)
        case t.MapType(key, value, capacity, True):
            return st.dictionaries(values(key), values(value), max_size=capacity).map(FrozenMap)
        case t.MapType(key, value):
            return st.fixed_dictionaries({x: values(value) for x in _all(key)}).map(FrozenMap)
        case _:
            raise AssertionError(type_)


def _variant(variant: t.VariantType) -> st.SearchStrategy[Any]:
    return st.tuples(*(values(f.type) for f in variant.fields)).map(lambda p: VariantValue(variant.name, p))


def _bag(items: list[Value]) -> FrozenMap:
    return FrozenMap({item: items.count(item) for item in items})


def _all(type_: t.Type) -> list[Value]:
    match type_:
        case t.BoolType():
            return [False, True]
        case t.RangeType(low, high):
            return list(range(low, high + 1))
        case t.AtomType(sort):
            return [Atom(sort.name, i, name) for i, name in enumerate(sort.elements)]
        case t.OptionType(item):
            return [None, *map(Some, _all(item))]
        case _:
            raise AssertionError(type_)


def _variables(*of: t.Type) -> tuple[k.Variable, ...]:
    return tuple(k.Variable(f"x{i}", type_, ghost=False) for i, type_ in enumerate(of))


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(st.data())
def test_unpacking_a_packed_state_gives_the_state(data: st.DataObject) -> None:
    chosen = data.draw(st.lists(types, min_size=1, max_size=4))
    layout = row_layout(_variables(*chosen))
    state = tuple(data.draw(values(type_)) for type_ in chosen)
    row = layout.pack(state)
    assert row.shape == (layout.words,)
    assert layout.unpack(row) == state


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_rows_are_equal_exactly_when_states_are(data: st.DataObject) -> None:
    type_ = data.draw(types)
    layout = row_layout(_variables(type_))
    a, b = data.draw(values(type_)), data.draw(values(type_))
    assert bool(np.array_equal(layout.pack((a,)), layout.pack((b,)))) == (a == b)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_a_code_fits_its_width(data: st.DataObject) -> None:
    type_ = data.draw(types)
    assert encode(data.draw(values(type_)), shape_of(type_)) >> shape_of(type_).width == 0


def test_a_variable_does_not_cross_words_when_that_costs_nothing() -> None:
    forty = t.SetType(t.RangeType(0, 39))
    layout = row_layout(_variables(forty, forty, t.BOOL))
    assert layout.words == 2
    assert [place.shift for place in layout.places] == [0, 64, 104]


def test_variables_cross_words_when_that_saves_one() -> None:
    layout = row_layout(_variables(*[t.SetType(t.RangeType(0, 41))] * 3))
    assert layout.words == 2


def test_a_set_over_too_many_elements_is_refused_with_its_place() -> None:
    with pytest.raises(SpecError, match="E806"):
        shape_of(t.SetType(t.RangeType(0, 100_000)))


def test_a_capacity_makes_room_for_many_possible_elements() -> None:
    assert shape_of(t.SetType(t.RangeType(0, 100_000), 3)).width == 17 * 3 + 2


def test_integers_beyond_a_machine_word_are_refused() -> None:
    with pytest.raises(SpecError, match="E806"):
        shape_of(t.RangeType(0, 2**63))


def test_a_value_outside_its_type_is_not_packed() -> None:
    with pytest.raises(UnfitError):
        encode(7, shape_of(t.RangeType(0, 6)))
    with pytest.raises(UnfitError):
        encode((1, 1), shape_of(t.SeqType(t.RangeType(0, 6), 1)))
