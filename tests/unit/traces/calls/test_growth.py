"""Orders that append the wrong entry are given up at once, so that histories of logs take few configurations."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest
from tests.unit.traces.calls.random_histories import LIST, REGISTER, Line, SmallObject, event

from assay.grammar.load import load_text
from assay.traces.calls.decide import CallsAnswer, decide
from assay.traces.calls.growth import NOTHING, Growth
from assay.traces.calls.pairing import history_of
from assay.traces.observe.binding import EventBinder
from assay.traces.observe.model_size import trace_plan
from assay.traces.options import DEFAULT_OPTIONS
from assay.traces.search.transition_system import TraceModel


def answer(lines: list[Line], of: SmallObject = LIST) -> CallsAnswer:
    return decide(load_text(of.spec), [event(at, line) for at, line in enumerate(lines)], None, DEFAULT_OPTIONS)


def overlapping(rounds: int, at_once: int, seed: int = 1) -> list[Line]:
    """In each round some clients append at the same time, in an order that only the read after them shows."""
    choose, lines = Random(seed), list[Line]()
    value: tuple[str, ...] = ()
    for number in range(rounds):
        items = [f"{number}_{client}" for client in range(at_once)]
        lines += [Line("append", "invoke", client, {"item": item}) for client, item in enumerate(items)]
        lines += [Line("append", "ok", client, {"item": item}) for client, item in enumerate(items)]
        value = (*value, *choose.sample(items, at_once))
        lines += [Line("read", "invoke", at_once, {}), Line("read", "ok", at_once, {"value": value})]
    return lines


def test_appends_at_the_same_time_are_taken_in_the_order_that_a_read_shows() -> None:
    found = answer(overlapping(rounds=6, at_once=9))
    assert found.explained
    assert found.visited == 6 * 10  # 9 appends and a read; without looking ahead a million a round


def test_a_wrong_order_is_refuted_at_the_read_that_shows_it() -> None:
    lines = overlapping(rounds=6, at_once=9)
    value = lines[-1].fields["value"]
    lines[-1] = lines[-1]._replace(fields={"value": (*value[:10], value[11], value[10], *value[12:])})
    found = answer(lines)
    assert found.visited < 200
    (violation,) = found.violations
    assert violation.event.record.place.line == len(lines)


@pytest.mark.parametrize("at", [20, 40, 60])
def test_the_first_of_several_impossible_reads_is_blamed(at: int) -> None:
    lines = overlapping(rounds=8, at_once=4)
    reads = [number for number, line in enumerate(lines) if line.f == "read" and line.phase == "ok" and number >= at]
    for number in reads:
        lines[number] = lines[number]._replace(fields={"value": lines[number].fields["value"][::-1]})
    (violation,) = answer(lines).violations
    assert violation.event.record.place.line == reads[0] + 1


def test_a_put_that_is_open_may_begin_the_value_anew() -> None:
    put = [Line("put", "invoke", 7, {"item": "new"}), Line("put", "info", 7, {"item": "new"})]
    read = [Line("read", "invoke", 8, {}), Line("read", "ok", 8, {"value": ("new", "x")})]
    append = [Line("append", phase, 9, {"item": "x"}) for phase in ("invoke", "ok")]
    assert answer([*overlapping(1, 2), *put, *append, *read]).explained
    assert not answer([*overlapping(1, 2), *append, *read]).explained


def test_values_that_do_not_only_grow_are_no_reason_to_give_up() -> None:
    pop = [Line("pop", phase, 7, {}) for phase in ("invoke", "ok")]
    lines = overlapping(1, 3)
    left = [Line("read", "invoke", 8, {}), Line("read", "ok", 8, {"value": lines[-1].fields["value"][1:]})]
    assert answer([*lines, *pop, *left]).explained


def growth(lines: list[Line], of: SmallObject) -> Growth:
    loaded = load_text(of.spec)
    plan = trace_plan(loaded.kernel, None)
    model = TraceModel(loaded.kernel, plan)
    calls = history_of([event(at, line) for at, line in enumerate(lines)], plan).calls
    return Growth(model, EventBinder(plan, model.applies).bind([call.event for call in calls]).observations)


def test_results_lie_side_by_side_in_the_order_of_the_values() -> None:
    values = [("p1",), ("p1", "p2"), ("p2",), ()]
    lines = [
        Line("read", phase, 1, {"value": value} if phase == "ok" else {})
        for value in values
        for phase in ("invoke", "ok")
    ]
    found = growth(lines, LIST)
    ranks = [rank for _, rank in sorted(zip(values, found.ranks, strict=True))]
    assert all(one < other for one, other in pairwise(ranks))
    assert found.begins == [NOTHING] * 4


def test_a_register_does_not_grow() -> None:
    assert not growth([Line("read", "invoke", 1, {}), Line("read", "ok", 1, {"value": 1})], REGISTER)
