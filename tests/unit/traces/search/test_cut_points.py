"""A log that is asked about again is searched from the last cut before what was changed: the answers are those of the whole log."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from tests.stages import slow

from assay.grammar.identity_memo import IdentityMemo
from assay.grammar.load import Loaded
from assay.traces.event import Event
from assay.traces.incremental.incremental_recheck import Change, Retrial
from assay.traces.incremental.kill_rate import sites
from assay.traces.observe.binding import bind
from assay.traces.options import Options
from assay.traces.result import TraceVerdict
from assay.traces.search.cut_points import CutPoints, cuts
from assay.traces.search.stuttering import compared_order
from assay.traces.shared_search import check
from assay.traces.validate import validate

Line = Callable[..., Event]
WINDOW = 100


@pytest.fixture
def log(line: Line) -> tuple[Event, ...]:
    """Three elections, some seconds apart; within each of them the lines of two nodes are in no order for certain."""
    told = [
        ("n1", 1_000, "Joined", {}),
        ("n2", 1_010, "Joined", {}),
        ("n1", 1_050, "Elected", {"number": 1}),
        ("n1", 1_060, "Leading", {"number": 1}),
        ("n1", 5_000, "Left", {}),
        ("n2", 5_020, "Elected", {"number": 2}),
        ("n2", 5_030, "Leading", {"number": 2}),
        ("n1", 9_000, "Joined", {}),
        ("n2", 9_010, "Left", {}),
        ("n1", 9_020, "Elected", {"number": 3}),
        ("n1", 9_040, "Leading", {"number": 3}),
    ]
    return tuple(line(node, at, time, kind, **fields) for at, (node, time, kind, fields) in enumerate(told, 1))


def mutants(asked: Retrial) -> Iterator[Change]:
    """Every field of every line with another value that it might state."""
    return (site.changed(other) for site in sites(asked) for other in site.others()[:1])


def test_a_log_is_cut_where_all_before_is_certainly_earlier(
    election: Callable[..., Loaded], log: tuple[Event, ...]
) -> None:
    timed = check(election(window=WINDOW), log).search.frontier.order
    assert [sum(each) for each in cuts(timed)] == [4, 7]
    assert cuts(replace(timed, timed=False)) == []
    assert cuts(check(election(), log).search.frontier.order) == []


def test_a_change_is_looked_at_from_the_last_cut_before_it(
    election: Callable[..., Loaded], log: tuple[Event, ...]
) -> None:
    search = check(election(window=WINDOW), log).search
    order, stages = search.frontier.order, CutPoints(search)
    for changed, begun in ((0, 0), (3, 0), (4, 4), (6, 4), (7, 7), (10, 7)):
        item = next(item for item in order.items if item.observation.event is log[changed])
        items = order.streams[item.stream].items
        without = order.with_items(item.stream, (*items[: item.position], *items[item.position + 1 :]))
        assert sum(stages.before_change(without).cursors) == begun
    assert sum(stages.before_change(order).cursors) == 7


def test_a_log_without_some_lines_or_a_whole_file_is_looked_at_from_the_same_cuts(
    election: Callable[..., Loaded], log: tuple[Event, ...]
) -> None:
    search = check(election(window=WINDOW), log).search
    for left, begun in ((log[:9], 7), (log[:5], 4), ((*log[:4], *log[5:8]), 4), (log[:1], 0), (log[1:2], 0), ((), 0)):
        order = compared_order(search.model, bind(search.model.plan, left, search.model.applies).observations)
        cut = CutPoints(search).before_change(order)
        assert (sum(cut.cursors), len(cut.cursors)) == (begun, len(order.streams))
        assert {path.node.cursors for path in cut.paths} == {cut.cursors}


def test_a_line_that_says_the_same_as_before_is_not_searched_for(
    election: Callable[..., Loaded], log: tuple[Event, ...]
) -> None:
    asked = check(election(window=WINDOW), log).retrial(Options())
    assert asked is not None
    visited = asked.search.model.visited
    same: Change = IdentityMemo(
        (event, (replace(event, fields={**event.fields, "read_by_no_rule": 1}),)) for event in asked.parts.all
    )
    assert asked.judge(same).verdict is TraceVerdict.CONSISTENT
    assert asked.search.model.visited == visited
    first, (restated,) = next(iter(same.items()))
    later: Change = IdentityMemo([(first, (replace(restated, record=replace(restated.record, time=99_000)),))])
    assert asked.judge(later).rejected


@pytest.mark.parametrize(("limit", "unseen"), [(0, False), slow((1, True))])
def test_the_answer_from_a_cut_is_that_of_the_whole_log(
    election: Callable[..., Loaded], log: tuple[Event, ...], limit: int, unseen: bool
) -> None:
    """Where no step is hidden, and where the ends of tenures are, with just as many hidden steps as they need."""
    events = tuple(event for event in log if not (unseen and event.kind == "Left"))
    asked = check(election(limit, WINDOW), events).retrial(Options())
    assert asked is not None
    verdicts = set()
    changes = [*mutants(asked)]
    changes += [IdentityMemo([(event, ())]) for event in events]
    changes += [IdentityMemo((event, ()) for event in events if event.run.node == node) for node in ("n1", "n2")]
    for change in changes:
        whole = [new for event in events for new in change.get(event, (event,))]
        judgement, expected = asked.judge(change), validate(election(limit, WINDOW), whole)
        verdicts.add(judgement.verdict)
        noticed = expected.verdict is TraceVerdict.INCONSISTENT or bool(expected.properties)
        assert (judgement.verdict, judgement.rejected) == (expected.verdict, noticed)
    assert len(verdicts) > 1


@pytest.mark.slow
def test_the_blame_from_a_cut_is_that_of_the_whole_log(election: Callable[..., Loaded], log: tuple[Event, ...]) -> None:
    asked = check(election(window=WINDOW), log).retrial(Options())
    assert asked is not None
    blamed = 0
    for change in mutants(asked):
        whole = [new for event in log for new in change.get(event, (event,))]
        (expected, *_) = validate(election(window=WINDOW), whole).violations or (None,)
        (found, *_) = asked.judge(change, explained=True).violations or (None,)
        assert (found and found.place) == (expected and expected.place)
        blamed += found is not None
    assert blamed > 5
