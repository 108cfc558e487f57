"""Other values that a field might have had."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from assay.grammar.kernel import types as t
from assay.grammar.values import Atom, FrozenMap, Some
from assay.traces.explain.alternative_values import alternatives, distance, parts, telling_parts
from assay.traces.explain.blame import Obstacle, Suspect
from assay.traces.explain.failed_atoms import AtomValue, FailedAtom
from assay.traces.explain.repair_candidates import doubted_values, values_nearby

BROKER = t.AtomType(t.Sort("Broker", ("1", "2", "3"), symmetric=True))
TERM = t.RangeType(0, 500, sized=True)
NOTHING: Any = None
ONE, TWO, THREE = (Atom("Broker", i, str(i + 1)) for i in range(3))


def test_numbers_that_differ_in_one_digit_come_first() -> None:
    found = alternatives(129, TERM, [7])
    assert {229, 329, 429, 109, 139, 120, 128, 130, 6, 7, 8} <= set(found)
    assert 929 not in found
    assert all(distance(129, other) == 1 for other in found[:20])


def test_no_number_begins_with_a_zero_that_was_put_in() -> None:
    assert not {29, 5} & {*alternatives(129, TERM), *alternatives(105, TERM)}
    assert 0 in alternatives(7, TERM)


def test_of_numbers_as_large_as_times_the_nearest_come_first() -> None:
    now, latest = 1_790_000_000_031, 1_790_000_300_000
    found = alternatives(now, t.RangeType(0, 2 * latest), [now + 50])
    assert found[:2] == [now + 1, now - 1]
    assert found.index(now + 50) < found.index(now + 100) < found.index(now + 100_000_000_000)
    assert distance(now, now + 50) < distance(now, now + 100)


def test_the_value_itself_is_no_alternative() -> None:
    assert 129 not in alternatives(129, TERM, [129])
    assert set(alternatives(ONE, BROKER)) == {TWO, THREE}


def test_an_option_may_be_absent_or_hold_another_value() -> None:
    assert set(alternatives(Some(ONE), t.OptionType(BROKER))) == {None, Some(TWO), Some(THREE)}
    assert set(alternatives(None, t.OptionType(BROKER))) == {Some(ONE), Some(TWO), Some(THREE)}


def test_a_set_loses_or_gains_an_element() -> None:
    found = alternatives(frozenset({ONE, TWO}), t.SetType(BROKER))
    assert set(found) == {frozenset({ONE}), frozenset({TWO}), frozenset({ONE, TWO, THREE})}


def test_a_map_changes_at_one_key() -> None:
    found = alternatives(FrozenMap({ONE: 5}), t.MapType(BROKER, TERM, 3, partial=True))
    assert FrozenMap() in found
    assert FrozenMap({ONE: 6}) in found


def test_a_map_of_all_elements_loses_none() -> None:
    found = alternatives(FrozenMap({ONE: 5, TWO: 5, THREE: 5}), t.MapType(BROKER, TERM, None, partial=False))
    assert FrozenMap({ONE: 6, TWO: 5, THREE: 5}) in found
    assert {len(each) for each in found if isinstance(each, FrozenMap)} == {3}


def test_a_value_is_found_inside_another() -> None:
    assert set(telling_parts(FrozenMap({ONE: Some(98), TWO: None}))) == {
        FrozenMap({ONE: Some(98), TWO: None}), ONE, Some(98), 98, TWO,
    }  # fmt: skip


def test_of_many_entries_those_are_changed_that_a_hint_has_otherwise() -> None:
    sort = t.Sort("Broker", tuple(map(str, range(100))), symmetric=True)
    brokers = [Atom("Broker", at, str(at)) for at in range(100)]
    value = FrozenMap({each: 1000 + each.index for each in brokers})
    of = t.MapType(t.AtomType(sort), t.RangeType(0, 5000, sized=True), 100, partial=True)
    hint = value.changed(brokers[7], 77).without(brokers[50])
    found = alternatives(value, of, [hint])
    assert {hint, value.changed(brokers[7], 77), value.without(brokers[50])} <= set(found)
    assert all({key for key in brokers if other.get(key) != value[key]} <= {brokers[7], brokers[50]} for other in found)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("left", "right", "steps"), [("kitten", "sitting", 3), ("aa", "aaa", 1), ("abab", "ab", 2), ("", "xy", 2)]
)
def test_a_distance_is_the_least_number_of_changes(left: str, right: str, steps: int) -> None:
    assert distance(Atom("Broker", 0, left), Atom("Broker", 1, right)) == steps


def test_elements_of_a_set_come_in_their_order_whatever_their_hashes_are() -> None:
    names = [Atom("Broker", at, f"b{at:02}") for at in range(20)]
    whole = frozenset(names)
    assert list(parts(whole))[1:] == names
    others = alternatives(whole, t.SetType(BROKER))
    missing = [next(iter(whole - each)) for each in others if isinstance(each, frozenset) and each < whole]
    assert missing == names[: len(missing)] != []


def test_values_nearby_come_in_the_order_in_which_lines_state_them() -> None:
    stated = [Atom("Broker", at, f"b{at}") for at in (7, 3, 9, 1, 5, 8, 2, 0, 6, 4)]
    logged = [SimpleNamespace(value=each) for each in [*stated, 5]]
    ranked: Any = [SimpleNamespace(obstacles=[SimpleNamespace(atom=SimpleNamespace(log=logged))])]
    assert values_nearby(ranked) == [4, 5, 6, *stated]


def test_a_digit_of_a_negative_number_may_be_wrong_too() -> None:
    found = alternatives(-12, t.RangeType(-99, 99))
    assert {-11, -13, -22, -10} <= set(found)
    assert all(isinstance(other, int) and other <= 0 for other in found)


def test_true_does_not_hide_the_number_one() -> None:
    logged = (AtomValue(NOTHING, True), AtomValue(NOTHING, 1), AtomValue(NOTHING, 7))
    atom = FailedAtom(NOTHING, logged, logged)
    suspect = Suspect(NOTHING, "act", (Obstacle("guard", "g", atom),), 0, NOTHING)
    for values in (values_nearby([suspect]), doubted_values([suspect]).hints):
        assert [each for each in values if each == 1 and not isinstance(each, bool)] == [1]
        assert [each for each in values if isinstance(each, bool)] == [True]


def test_a_number_that_python_does_not_write_is_a_hint_like_any_other() -> None:
    assert alternatives(5, t.INT, [10**5_000])[:2] == [6, 4]
