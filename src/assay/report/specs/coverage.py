"""Remarks about what a search did not exercise. Each may be a mistake in the spec that no property shows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.checker.report import GuardCoverage, Report
from assay.report.diagnostics import place_object
from assay.report.lines import Line, Tone


def coverage_lines(report: Report) -> Iterator[Line]:
    """Actions that are never taken, guards that never decide, quantifiers over empty sets; no lines where everything
    was exercised.
    """
    remarks = [*_idle_actions(report), *_idle_guards(report), *_empty_quantifiers(report)]
    if remarks:
        yield Line("")
        yield Line("not exercised by this search", Tone.HEADING)
        yield from (Line(f"  {remark}", Tone.WARN) for remark in remarks)


def coverage_object(report: Report) -> dict[str, Any]:
    """The whole coverage as JSON."""
    c = report.coverage
    return {
        "actions": [{"action": a.action, "taken": a.taken, "new_states": a.new_states} for a in c.actions],
        "guards": [{"action": g.action, "label": g.label, "decisive": g.decisive} for g in c.guards],
        "empty_quantifiers": [
            {"property": q.property, "text": q.text, "place": place_object(q.span)} for q in c.empty_quantifiers
        ],
    }


def idle_actions(report: Report) -> list[str]:
    """The names of actions that are never taken."""
    return [action.action for action in report.coverage.actions if action.taken == 0]


def idle_guards(report: Report) -> list[GuardCoverage]:
    """Guards that are never the only obstacle, of the actions that are taken. Those of the other actions would add
    nothing.
    """
    idle = idle_actions(report)
    return [guard for guard in report.coverage.guards if guard.action not in idle and not guard.decisive]


def _idle_actions(report: Report) -> Iterator[str]:
    for action in report.coverage.actions:
        if action.taken == 0:
            yield f"action {action.action} never happens  ({action.span})"


def _idle_guards(report: Report) -> Iterator[str]:
    idle: dict[str, list[GuardCoverage]] = {}
    for guard in idle_guards(report):
        idle.setdefault(guard.action, []).append(guard)
    for action, guards in idle.items():
        labels = ", ".join(guard.label for guard in guards)
        # The place of the first is enough: they stand one below the other.
        yield f"action {action}: never the only obstacle: {labels}  ({guards[0].span})"


def _empty_quantifiers(report: Report) -> Iterator[str]:
    for empty in report.coverage.empty_quantifiers:
        yield f"{empty.property}: `{empty.text}` always ranges over nothing  ({empty.span})"
