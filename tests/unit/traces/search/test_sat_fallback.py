"""Past the caps of the search a solver goes on: what it finds is an execution, and lines that contradict each other are named."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from assay.grammar.load import Loaded
from assay.traces.event import Event
from assay.traces.options import Options
from assay.traces.result import TraceVerdict, Validation
from assay.traces.search import sat_fallback, submodel
from assay.traces.validate import validate

Load = Callable[[str], Loaded]
Line = Callable[..., Event]

SWITCHES = """\
module switches

param Switch: set = {s1, s2, s3, s4, s5, s6}

state:
    on: set[Switch] = {}
    locked: bool = false

action flip(s: Switch):
    when free: not locked
    on := if s in on then on - {s} else on + {s}

action lock:
    locked := true

action tick:
    locked := locked

trace log:
    from toy
    on Ticked: tick
    on Locked: lock
    on Lit(number: 0 .. 6): observe count(on) == number
    hidden flip; at most LIMIT between two pinned events
    order: file
"""


def validated(load: Load, line: Line, seen: str, limit: int) -> Validation:
    """A log that states how many switches are on, that nothing can be switched any more (L), and that time goes on (T)."""
    kinds = {"L": "Locked", "T": "Ticked"}
    fields = [{} if each in kinds else {"number": int(each)} for each in seen]
    log = [
        line("n", at, 100 + at, kinds.get(each, "Lit"), **stated)
        for at, (each, stated) in enumerate(zip(seen, fields, strict=True), 1)
    ]
    return validate(load(SWITCHES.replace("LIMIT", str(limit))), log, options=Options(nodes=3))


@pytest.mark.parametrize(("seen", "hidden"), [("253L", 7), ("1T3T2L2", 4)])
def test_an_execution_that_needs_many_hidden_steps_is_found(load: Load, line: Line, seen: str, hidden: int) -> None:
    found = validated(load, line, seen, limit=7)
    assert found.verdict is TraceVerdict.CONSISTENT
    assert found.hidden == {"flip": hidden}
    assert found.execution is not None
    lit = [len(step.state[0]) for step in found.execution.steps if step.event is not None and step.event.kind == "Lit"]  # type: ignore[arg-type]
    assert lit == [int(each) for each in seen if each.isdigit()]


def test_lines_that_contradict_each_other_are_named_together(load: Load, line: Line) -> None:
    found = validated(load, line, "2TL121", limit=2)
    assert found.verdict is TraceVerdict.INCONSISTENT
    first, *_ = found.violations
    places = sorted(str(each.place) for each in first.blame)
    assert places in (["n/a.log:3", "n/a.log:4", "n/a.log:5"], ["n/a.log:3", "n/a.log:5", "n/a.log:6"])
    assert first.repair.kind == "drop"
    assert "without any one of them there is one" in first.repair.text


def test_a_budget_of_hidden_steps_that_is_too_small_is_no_contradiction(load: Load, line: Line) -> None:
    found = validated(load, line, "253L", limit=3)
    assert found.verdict is TraceVerdict.INCONCLUSIVE
    assert found.reason is not None
    assert "the clause allows 3 between two pinned events" in found.reason


@pytest.mark.slow
def test_a_long_log_is_taken_piece_by_piece(load: Load, line: Line) -> None:
    healthy = "1T3T2T" * 12
    assert validated(load, line, healthy, limit=2).verdict is TraceVerdict.CONSISTENT
    found = validated(load, line, f"{healthy}L12", limit=2)
    assert found.verdict is TraceVerdict.INCONCLUSIVE
    assert found.reason is not None
    assert found.reason.startswith("gave up after 3 states of the search; ")
    assert "n/a.log:73, n/a.log:74, n/a.log:75 contradict each other" in found.reason


@pytest.mark.parametrize(
    ("limit", "value", "reason"),
    [
        ("EFFORT", 0, "the solver came to no answer"),
        (
            "MOST_INSTANCES",
            1,
            "the model is too large for a solver to go on from there (`flip` has too many instances)",
        ),
        (
            "MOST_GATES",
            10,
            "the model is too large for a solver to go on from there (a step of the model has too many gates)",
        ),
    ],
)
def test_what_the_solver_does_not_answer_stays_open_with_the_reason(
    load: Load, line: Line, monkeypatch: pytest.MonkeyPatch, limit: str, value: int, reason: str
) -> None:
    monkeypatch.setattr(submodel if hasattr(submodel, limit) else sat_fallback, limit, value)
    found = validated(load, line, "253L", limit=7)
    assert found.verdict is TraceVerdict.INCONCLUSIVE
    assert found.reason == f"gave up after 3 states of the search; {reason}"


def test_a_capacity_that_may_have_run_out_leaves_a_contradiction_open(load: Load, line: Line) -> None:
    spec = """\
module bag_of_names
param Process: set = {p1}
state:
    seen: set[Process, max 1] = {}
action see(p: Process):
    seen := seen + {p}
trace log:
    from toy
    on Joined(node: Process): see(node)
    order: file
"""
    log = (line("n1", 1, 1, "Joined"), line("n2", 1, 2, "Joined"))
    found = validate(load(spec), log, options=Options(nodes=1))
    assert found.verdict is TraceVerdict.INCONCLUSIVE
    assert found.reason is not None
    assert found.reason.endswith("contradict each other, unless capacity of seen ran out")
