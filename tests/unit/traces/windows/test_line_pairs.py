"""Which pairs of lines are asked about, which of them are alike, and what a new beginning excuses."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from assay.grammar.load import load_text
from assay.traces.log_reader import read_logs
from assay.traces.observe.binding import EventBinder
from assay.traces.observe.model_size import sized_kernel, trace_plan
from assay.traces.observe.partial_order import OrderedObservation
from assay.traces.options import Options
from assay.traces.result import TraceVerdict
from assay.traces.search.stuttering import compared_order
from assay.traces.search.transition_system import TraceModel
from assay.traces.validate import validate
from assay.traces.windows import line_pairs
from assay.traces.windows.births import begins_again, may_be_created_again
from assay.traces.windows.line_pairs import first_refuted, pairs_of
from assay.traces.windows.numbers import probe_of
from assay.traces.windows.window_model import LogPart

SPEC = """\
module terms

param Node: set = {a, b}
param System: set = {s1}

state:
    heard: map[Node, 0 .. 9] = [n -> 0]
    system: System in System

action hear(n: Node, term: 0 .. 9):
    when later: term >= heard[n]
    heard[n] := term

transition rises: forall n in Node: heard[n] >= old(heard[n])

trace log:
    from toy
    begins anywhere
    on Heard(node: Node, term: 0 .. 9): hear(node, term)
    on Grouped(members: set[Node], node: Node): observe node in members
    on Named(which: System): observe system == which
    on ControllerElected(epoch: 0 .. 9, node: Node): observe heard[node] <= 9 or epoch == 0
    order: file; commit before line within 1 ms; skew 1 ms
"""

Said = tuple[float, str, dict[str, Any]]


def heard(time: float, node: str, term: int) -> Said:
    return time, "Heard", {"node": node, "term": term}


def items_of(folder: Path, said: Sequence[Said]) -> tuple[LogPart, list[OrderedObservation]]:
    lines = [{"event": kind, "node": "a", "time": time, **fields} for time, kind, fields in said]
    (folder / "events.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lines))
    events, loaded = read_logs([str(folder)]).events, load_text(SPEC)
    kernel, plan = sized_kernel(loaded, events, len(events), None)
    model = TraceModel(kernel, plan)
    order = compared_order(model, EventBinder(plan, model.applies).bind(events).observations)
    return LogPart(loaded, trace_plan(loaded.kernel, "log"), Options(), events), list(order.items)


def terms_of(lines: Sequence[OrderedObservation]) -> tuple[object, ...]:
    return tuple(dict(each.observation.values)["term"] for each in lines)


def test_a_line_is_paired_with_the_last_of_its_element_and_with_the_greatest_number(tmp_path: Path) -> None:
    _, items = items_of(tmp_path, [heard(0, "a", 5), heard(10, "b", 1), heard(20, "b", 2)])
    assert {terms_of(lines) for lines in pairs_of(items)} == {(5, 1), (5, 2), (1, 2)}


def test_pairs_whose_numbers_rise_and_fall_are_not_alike(tmp_path: Path) -> None:
    log, items = items_of(tmp_path, [heard(0, "b", 3), heard(10, "b", 5), heard(20, "a", 5), heard(30, "a", 3)])
    asked: list[tuple[object, ...]] = []

    def ask(lines: Sequence[OrderedObservation], _: object) -> bool:
        asked.append(terms_of(lines))
        return False

    assert first_refuted(log, items, items[-1], lambda _: ((), (0,)), ask) is None
    assert {(3, 5), (5, 3)} <= set(asked)


def test_pairs_that_differ_in_names_alone_are_asked_about_once(tmp_path: Path) -> None:
    log, items = items_of(tmp_path, [heard(0, "a", 3), heard(10, "a", 4), heard(20, "b", 3), heard(30, "b", 4)])
    asked: list[tuple[tuple[str, object], ...]] = []

    def ask(lines: Sequence[OrderedObservation], _: object) -> bool:
        asked.append(tuple((str(dict(each.observation.values)["node"]), terms_of([each])[0]) for each in lines))
        return False

    assert first_refuted(log, items, items[-1], lambda _: ((), (0,)), ask) is None
    assert len({lines for lines in asked if [each[1] for each in lines] == [3, 4] and lines[0][0] == lines[1][0]}) == 1


def test_sets_that_differ_in_names_alone_are_alike_whatever_the_hashes_of_their_elements_are(tmp_path: Path) -> None:
    said: list[Said] = []
    for group in range(8):
        names = [f"n{group}{at}" for at in range(8)]
        said.append((group, "Grouped", {"members": names, "node": names[0]}))
    log, items = items_of(tmp_path, said)
    assert len({line_pairs._alike((each,), probe_of(log.loaded, "log")) for each in items}) == 1


@pytest.mark.parametrize(
    ("first", "last", "seconds", "may"), [(0, 0, 10, True), (0, 0, 1, False), (3, 1, 10, True), (3, 2, 10, False)]
)
def test_what_has_a_first_number_again_may_be_created_again_unless_at_once(
    tmp_path: Path, first: int, last: int, seconds: int, *, may: bool
) -> None:
    _, items = items_of(tmp_path, [heard(0, "a", first), heard(1_000 * seconds, "a", last)])
    assert may_be_created_again(items) is may


def test_another_system_may_have_begun_only_where_no_line_names_it(tmp_path: Path) -> None:
    said = [heard(0, "a", 5), heard(10, "a", 1)]
    log, items = items_of(tmp_path, said)
    assert begins_again(log, items)
    assert not begins_again(log, items[::-1][:1])
    named, _ = items_of(tmp_path, [*said, (20, "Named", {"which": "s1"})])
    assert not begins_again(named, items)
    _, rising = items_of(tmp_path, [heard(0, "a", 1), heard(10, "a", 5)])
    assert not begins_again(log, rising)


@pytest.mark.parametrize(("seconds", "again"), [(1, False), (10, True)])
def test_the_line_itself_may_show_that_the_cluster_was_born_again(tmp_path: Path, seconds: int, *, again: bool) -> None:
    born = (1_000 * seconds, "ControllerElected", {"epoch": 1, "node": "a"})
    log, items = items_of(tmp_path, [heard(0, "a", 5), born])
    assert begins_again(log, items) is again


@pytest.mark.parametrize(
    ("more", "verdict"),
    [((), TraceVerdict.INCONCLUSIVE), (((5.0, "Named", {"which": "s1"}),), TraceVerdict.INCONSISTENT)],
    ids=["unnamed", "named"],
)
def test_a_number_that_begins_again_contradicts_a_higher_one_only_in_one_system(
    tmp_path: Path, more: tuple[Said, ...], verdict: TraceVerdict
) -> None:
    log, _ = items_of(tmp_path, [heard(0, "a", 5), *more, heard(10, "a", 1)])
    assert validate(log.loaded, list(log.events)).verdict is verdict
