"""Mismatches of one cause, and slices that are open for one reason, are told together, whatever lines they stand in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from assay.grammar.load import Loaded
from assay.report.logs.validation_text import validation_lines
from assay.traces.event import Event
from assay.traces.result import SliceResult, TraceVerdict
from assay.traces.scope import by_cause, cause_id, finding_id
from assay.traces.validate import validate

Line = Callable[..., Event]


def test_mismatches_of_one_rule_are_one_group_and_keep_their_ids(election: Callable[..., Loaded], line: Line) -> None:
    events = [
        line("n1", 1, 100, "Joined"),
        line("n1", 2, 20_000, "Elected", number=1),
        line("n1", 3, 40_000, "Leading", number=3),
        line("n1", 4, 60_000, "Leading", number=3),
        line("n1", 5, 80_000, "Full"),
    ]
    found = validate(election(limit=0, window=10), events)
    groups = by_cause(found.violations)
    assert [[each.event.kind for each in group] for group in groups] == [["Leading", "Leading"], ["Full"]]
    assert len({cause_id(each) for each in groups[0]}) == len({finding_id(each) for each in groups[0]}) == 1
    text = [each.text for each in validation_lines(found)]
    assert "   the same rule in 1 more line, listed here by place and id" in text
    assert f"     n1/a.log:4  {finding_id(groups[0][1])}" in text
    assert sum("id " in each and each.startswith("   id") for each in text) == 2


def test_slices_that_are_open_for_alike_reasons_are_told_by_the_first_of_them(
    election: Callable[..., Loaded], line: Line
) -> None:
    found = validate(election(), [line("n1", 1, 100, "Joined")])
    open_ = [_open(f"a-{at}", f"of line x.log:{at}") for at in range(20)]
    slices = (*open_, _open("b-0", "of something else"))
    text = [each.text.strip() for each in validation_lines(replace(found, slices=slices))]
    assert [each for each in text if each.startswith("a-")] == [f"a-{at}: of line x.log:{at}" for at in range(5)]
    assert "and 15 more parts likewise: a-5, a-6, a-7, a-8, a-9, a-10, …" in text
    assert "b-0: of something else" in text


def _open(name: str, reason: str) -> SliceResult:
    return SliceResult(name, TraceVerdict.INCONCLUSIVE, reason, 1, (), (), {}, None, ())
