"""A search of a log that lacks lines goes on from another state, within what lasts over any number of steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from assay.grammar.load import load_text
from assay.report.logs.history import histories
from assay.traces.coverage import coverage_of
from assay.traces.observe.binding import EventBinder
from assay.traces.observe.model_size import sized_kernel, trace_plan
from assay.traces.options import Options
from assay.traces.result import TraceVerdict, Validation
from assay.traces.search.dfs import TraceSearch
from assay.traces.search.next_items import TraceHeads
from assay.traces.search.path import UNLOGGED
from assay.traces.search.stuttering import compared_order
from assay.traces.search.transition_system import TraceModel
from assay.traces.validate import validate
from assay.traces.windows.reopening import reopened
from assay.traces.windows.window_model import LogPart

SPEC = """\
module leases

param Node: set = {a, b}
param Room: set = {hall}
type Term = 0 .. 9

state:
    term: Term = 0
    holder: Node? = none
    room: Room? = none
    renewals: map[Node, 0 .. 3] = [n -> 0]

action grant(n: Node, t: Term):
    when next: t == term + 1
    term := t
    holder := n

action renew(n: Node):
    when held: holder == n
    bound renewals: renewals[n] < 3
    renewals[n] := renewals[n] + 1

action enter(r: Room):
    room := r

transition terms_rise: term >= old(term)
lemma held_since_the_first_term: (holder == none) == (term == 0)

trace log:
    from leases
    on Granted(node: Node, term: Term): grant(node, term)
    on ControllerElected(node: Node, epoch: Term): grant(node, epoch)
    on Renewed(node: Node): renew(node)
    on Inside(): observe room != none
    on Current(number: Term): observe term == number
    on Passed(number: Term): observe term > number
    on Seen(number: Term): observe term == number and room != none
    begins anywhere
    order: file; commit before line within 1 ms; skew 0 ms
"""
PARTIAL = Options(partial=True)

Line = Callable[..., Any]


def answer(events: Sequence[Any], options: Options = PARTIAL) -> Validation:
    return validate(load_text(SPEC), events, options=options)


@pytest.fixture
def lacking(line: Line) -> list[Any]:
    """No line tells that the second node was granted the second term."""
    return [
        line("a", 1, 100, "Granted", term=1),
        line("a", 2, 110, "Renewed"),
        line("b", 1, 210, "Renewed"),
        line("a", 3, 300, "Granted", term=3),
    ]


def test_a_search_goes_on_where_a_line_was_missing(lacking: list[Any]) -> None:
    found = answer(lacking)
    assert found.verdict is TraceVerdict.CONSISTENT
    assert found.rests_on == ("by b/a.log:1 no line tells how, but term 2, holder b",)
    assert found.execution is not None
    assert found.hidden == {UNLOGGED: 1}
    assert len(coverage_of(found).actions) == 2
    assert [each.action for each in histories(found)[0].steps][2] is None
    assert [each.action for each in found.execution.steps] == ["grant", "renew", None, "renew", "grant"]


def test_it_does_not_where_no_line_is_known_to_be_missing(lacking: list[Any]) -> None:
    assert answer(lacking, Options()).verdict is not TraceVerdict.CONSISTENT


def test_a_log_that_shows_its_birth_goes_on_only_where_lines_of_its_nodes_were_not_read(
    line: Line, lacking: list[Any]
) -> None:
    born = [line("a", 1, 100, "ControllerElected", epoch=1), *lacking[1:]]
    assert answer(born).verdict is not TraceVerdict.CONSISTENT
    assert answer(born, Options(partial=True, lossy=True)).verdict is TraceVerdict.CONSISTENT


def test_what_no_line_names_is_an_element_of_the_model(line: Line) -> None:
    found = answer([line("a", 1, 100, "Granted", term=1), line("a", 2, 110, "Inside"), line("a", 3, 120, "Renewed")])
    assert (found.verdict, found.rests_on) == (
        TraceVerdict.CONSISTENT,
        ("by a/a.log:2 no line tells how, but room hall",),
    )


def test_a_line_that_is_missing_later_does_not_hinder_it(line: Line) -> None:
    """No state before the first renewal of the second node explains the one of the first node after it, too."""
    found = answer(
        [
            line("a", 1, 100, "Granted", term=1),
            line("a", 2, 110, "Renewed"),
            line("b", 1, 210, "Renewed"),
            line("a", 3, 310, "Renewed"),
            line("b", 2, 400, "Granted", term=4),
            line("a", 4, 500, "Granted", term=5),
            line("b", 3, 600, "Granted", term=6),
        ]
    )
    assert (found.verdict, len(found.rests_on)) == (TraceVerdict.CONSISTENT, 2)


def test_it_goes_on_from_before_what_was_read_too_early(line: Line) -> None:
    """The deepest path has read the second term, after which nothing explains the line about the first."""
    found = answer(
        [
            line("a", 1, 100, "Granted", term=1),
            line("a", 2, 110, "Renewed"),
            line("a", 3, 200.0, "Seen", number=1),
            line("b", 1, 200.5, "Granted", term=2),
            line("b", 2, 210, "Renewed"),
        ]
    )
    assert (found.verdict, found.rests_on) == (
        TraceVerdict.CONSISTENT,
        ("by a/a.log:3 no line tells how, but room hall",),
    )


@pytest.mark.parametrize("passed", [1, 2, 5])
def test_a_number_that_has_to_change_becomes_the_next_greater(line: Line, passed: int) -> None:
    begun = [line("a", 1, 100, "Granted", term=1), line("a", 2, 110, "Renewed")]
    found = answer([*begun, line("a", 3, 200, "Passed", number=passed)])
    assert found.rests_on == (f"by a/a.log:3 no line tells how, but term {passed + 1}",)


def test_what_lasts_is_not_given_up(line: Line, lacking: list[Any]) -> None:
    found = answer([*lacking, line("b", 2, 400, "Current", number=2)])
    assert found.verdict is TraceVerdict.INCONSISTENT


def test_a_state_that_explains_the_next_lines_is_not_given_up(line: Line) -> None:
    """What the lines leave open the solver may choose otherwise: that is no reason to go on from there."""
    loaded = load_text(SPEC)
    events = [line("a", 1, 100, "Granted", term=1), line("a", 2, 110, "Renewed")]
    kernel, plan = sized_kernel(loaded, events, len(events), None)
    model = TraceModel(kernel, plan)
    order = compared_order(model, EventBinder(plan, model.applies).bind(events).observations)
    search = TraceSearch(model, TraceHeads(order))
    (start,) = search.begin(search.frontier.start)
    log = LogPart(loaded, trace_plan(loaded.kernel, "log"), PARTIAL, events)
    found = reopened(search, start, log)
    assert found is not None
    assert (found.path, found.places) == (start, ())
