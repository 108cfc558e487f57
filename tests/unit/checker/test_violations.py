"""Several violations of one property, and runs whose steps are in an order that is easy to read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from assay.checker.engines.engine_selection import Engine, check
from assay.checker.options import SearchOptions
from assay.checker.report import PropertyResult, Report
from assay.checker.results.reorder_trace import actor, changes
from assay.grammar.load import load_text

NODES = """
param Node: set = {a, b, c}
state:
    done: map[Node, 0 .. 2] = [n -> 0]
action work(n: Node):
    when open: done[n] < 2
    done[n] := done[n] + 1
"""

Check = Callable[..., Report]


@pytest.fixture(params=["reference", "native"])
def answer(request: pytest.FixtureRequest, tmp_path: Path) -> Check:
    engine: Engine = request.param

    def of(text: str, **options: Any) -> Report:
        return check(load_text(dedent(text)).kernel, SearchOptions(**options), None, engine, tmp_path).report

    return of


def result(report: Report, name: str) -> PropertyResult:
    return next(each for each in report.properties if each.name == name)


def ends(found: PropertyResult) -> list[object]:
    traces = [found.trace, *(other.trace for other in found.others)]
    return [trace.steps[-1].state for trace in traces if trace is not None]


def test_as_many_violations_are_shown_as_were_asked_for_and_exist(answer: Check) -> None:
    text = NODES + "invariant two_work: exists n in Node: done[n] == 0\n"
    few = result(answer(text, violations=3, keep_going=True), "two_work")
    all_ = result(answer(text, violations=99, keep_going=True), "two_work")
    assert len(set(ends(few))) == 3
    assert ends(all_)[:3] == ends(few)
    assert len(set(ends(all_))) == 8
    assert all(other.explanation is not None for other in few.others)


def test_shorter_runs_come_first(answer: Check) -> None:
    found = result(
        answer(NODES + "invariant some: exists n in Node: done[n] == 0\n", violations=99, keep_going=True), "some"
    )
    lengths = [len(found.trace or ()), *(len(other.trace or ()) for other in found.others)]
    assert lengths == sorted(lengths)


def test_of_a_transition_one_step_from_each_state_is_shown(answer: Check) -> None:
    text = NODES + "transition never_done: forall n in Node: done[n] == 2 implies old(done[n]) == 2\n"
    found = result(answer(text, violations=99, keep_going=True), "never_done")
    sources = [trace.steps[-2].state for trace in (found.trace, *(o.trace for o in found.others)) if trace is not None]
    assert len(sources) == len(set(sources)) == 27 - 8  # those in which some node has done one


def test_every_deadlock_is_shown_with_what_blocks(answer: Check) -> None:
    text = """
        state:
            x: 0 .. 9 = 0
        action jump(to: 1 .. 3):
            when start: x == 0
            x := to
    """
    dead = result(answer(text, violations=99, keep_going=True), "deadlock")
    assert len(ends(dead)) == 3
    assert all(other.blocked for other in dead.others)


def test_a_run_stays_with_one_node_as_long_as_its_guards_allow(answer: Check) -> None:
    text = NODES + "invariant busy: done[a] + done[b] < 4\n"
    trace = result(answer(text), "busy").trace
    assert trace is not None
    assert (len(trace), changes(trace)) == (5, 1)
    taking_turns = text.replace("when open:", "when turn: forall m in Node: done[m] <= done[n] + 1\n    when open:")
    trace = result(answer(taking_turns, keep_going=True), "busy").trace
    assert trace is not None
    assert (len(trace), changes(trace)) == (5, 2)  # a, b, b, a


def test_the_last_step_of_a_violated_transition_stays_the_last(answer: Check) -> None:
    text = NODES + "transition not_last: old(done[a]) == 2 and old(done[b]) == 1 implies done[b] == old(done[b])\n"
    trace = result(answer(text), "not_last").trace
    assert trace is not None
    assert getattr(actor(trace.steps[-1]), "name", None) == "b"
    assert changes(trace) == 1
