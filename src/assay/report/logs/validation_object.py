"""The answer about a log as JSON (one object, described in docs/cli.md) and as JUnit XML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from assay.checker.report import ExitCode, worst
from assay.grammar.identity_memo import IdentityMemo
from assay.report.diagnostics import place_object
from assay.report.junit import Case, Status, junit
from assay.report.logs.impact import impact_object
from assay.report.logs.trouble import trouble_object
from assay.report.logs.validation_text import event_text, validation_lines
from assay.report.specs.check_object import VERSION, explanation_object, model_object
from assay.traces.diagnosis.node_settings import NodeOverview, Overview
from assay.traces.event import Event, LogPosition, Notice, Remark
from assay.traces.observe.binding_tally import Unread
from assay.traces.result import (
    Blame,
    BrokenProperty,
    FailedPart,
    KillRate,
    LineContradiction,
    LogViolation,
    ProductAnswer,
    Repair,
    SliceResult,
    TraceVerdict,
    Validation,
)
from assay.traces.scope import cause_id, finding_id

EXIT_CODES = {
    TraceVerdict.CONSISTENT: ExitCode.OK,
    TraceVerdict.INCONSISTENT: ExitCode.VIOLATED,
    TraceVerdict.VIOLATED: ExitCode.VIOLATED,
    TraceVerdict.INCONCLUSIVE: ExitCode.INCONCLUSIVE,
    TraceVerdict.VACUOUS: ExitCode.VACUOUS,
}


def exit_code(validation: Validation) -> ExitCode:
    """The exit code. A property that is violated on an accepted execution counts as a violation too."""
    # Whatever the verdict about the lines: an inconclusive log may yet have broken a promise.
    broken = [ExitCode.VIOLATED] if validation.properties else []
    return worst([EXIT_CODES[validation.verdict], *broken])


def validation_object(validation: Validation, input_: Overview | None = None) -> dict[str, Any]:
    """The whole answer, with the overview of the input if it is given."""
    c = validation.counts
    # By identity: of thousands of violations, each would be compared with those of thousands of slices.
    slices = IdentityMemo((each, result.name) for result in validation.slices for each in result.violations)
    return {
        "assay": VERSION,
        "verdict": validation.verdict.value,
        "reason": validation.reason,
        "rests_on": list(validation.rests_on),
        "held": validation.held,
        **model_object(validation.kernel),
        "clause": validation.clause,
        "slices": _slice_counts(validation),
        "events": {"read": c.read, "used": c.used, "ignored": c.ignored, "unmapped": c.unmapped},
        "fields_checked": c.fields,
        "hidden": dict(validation.hidden),
        "ignored": [_unread(each) for each in validation.ignored],
        "unmapped": [_unread(each) for each in validation.unmapped],
        "violations": [_violation(each, slices.get(each)) for each in validation.violations],
        "properties": [_broken(each) for each in validation.properties],
        "remarks": [
            *(_remark(each, None) for each in validation.remarks),
            *(_remark(each, result.name) for result in validation.slices for each in result.remarks),
        ],
        "impact": [impact_object(each) for each in validation.impact],
        "trouble": trouble_object(validation.trouble),
        "undecided": [_undecided(result) for result in validation.slices if result.reason is not None],
        "relaxed": _guards(validation.relaxed),
        "together": None if validation.whole is None else _whole(validation.whole),
        "notices": [_notice(each) for each in validation.notices],
        "explanations": [{**_place(m.event.record.place), "text": m.text} for m in validation.explanations],
        "reordering_ms": validation.reordering,
        "kill_rate": _kill_rate(validation.kill_rate) if validation.kill_rate is not None else None,
        "visited": validation.visited,
        "seconds": round(validation.seconds, 3),
        **({"input": _input(input_)} if input_ is not None else {}),
    }


def _guards(guards: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"action": action, "guard": label} for action, label in guards]


def _whole(whole: ProductAnswer) -> dict[str, Any]:
    return {
        "verdict": whole.verdict.value,
        "reason": whole.reason,
        "guards": _guards(whole.guards),
        "lines": whole.lines,
        "visited": whole.visited,
    }


def _input(input_: Overview) -> dict[str, Any]:
    return {
        "clusters": list(input_.clusters),
        "nodes": [_node(node) for node in input_.nodes],
        "lacking": [_notice(notice) for notice in input_.lacking],
    }


def _node(node: NodeOverview) -> dict[str, Any]:
    clock = node.clock
    return {
        "name": node.node.name,
        "ids": list(node.node.brokers),
        "versions": list(node.node.versions),
        "runs": node.node.runs,
        "events": node.events,
        "first_ms": node.first,
        "last_ms": node.last,
        "settings": node.settings,
        "levels": node.levels,
        "clock": None
        if clock is None
        else {"ahead_at_most_ms": clock.at_most, "lines": clock.lines, **_place(clock.place)},
    }


def junit_of_validation(validation: Validation) -> str:
    """The XML of the cases."""
    return junit(validation.kernel.name, validation_cases(validation), validation.seconds)


def validation_cases(validation: Validation) -> list[Case]:
    """A case for the log as a whole, and one for each property that is violated on the execution."""
    statuses: dict[TraceVerdict, Status] = {
        TraceVerdict.CONSISTENT: "passed",
        TraceVerdict.INCONSISTENT: "failure",
        TraceVerdict.VIOLATED: "failure",
        TraceVerdict.INCONCLUSIVE: "error",
        # A server must not be green where nothing was checked, as with the wrong files.
        TraceVerdict.VACUOUS: "error",
    }
    # The whole text in each case: servers show one case at a time.
    details = "\n".join(line.text for line in validation_lines(validation))
    whole = Case(
        f"log against {validation.clause}",
        statuses[validation.verdict],
        validation.reason or validation.verdict.value,
        details,
    )
    broken = [
        Case(f"{p.kind} {p.name}", "failure", ", ".join(p.labels) or "false", details) for p in validation.properties
    ]
    return [whole, *broken]


def _slice_counts(validation: Validation) -> dict[str, int]:
    # A log without slices counts as one, so that a program need not know which kind it has.
    if not validation.slices:
        return {"total": 1, validation.verdict.value: 1}
    counts = Counter(result.verdict.value for result in validation.slices)
    return {"total": len(validation.slices), **counts}


def _remark(remark: Remark, name: str | None) -> dict[str, Any]:
    return {**_event_place(remark.event), "slice": name, "severity": remark.severity, "text": remark.text}


def _undecided(result: SliceResult) -> dict[str, Any]:
    return {"slice": result.name, "verdict": result.verdict.value, "reason": result.reason}


def _violation(violation: LogViolation, name: str | None) -> dict[str, Any]:
    return {
        "id": finding_id(violation),
        "cause": cause_id(violation),
        **_place(violation.place),
        "event": event_text(violation.event),
        "action": violation.action,
        "slice": name,
        "blame": [_blame(each) for each in violation.blame],
        "repair": _repair(violation.repair),
        "contradiction": _contradiction(violation.contradiction),
    }


def _contradiction(found: LineContradiction | None) -> dict[str, Any] | None:
    """The lines that no beginning explains together, and the rules between them."""
    if found is None:
        return None
    lines = [{**_place(each.record.place), "event": event_text(each)} for each in found.events]
    own = {"calls": list(found.calls)} if found.calls else {}
    return {"text": found.text, "lines": lines, "rules": list(found.rules), **own}


def _blame(blame: Blame) -> dict[str, Any]:
    return {
        **_place(blame.place),
        "event": event_text(blame.event),
        "action": blame.action,
        "parts": [_part(p) for p in blame.parts],
    }


def _part(part: FailedPart) -> dict[str, Any]:
    return {
        "kind": part.kind,
        "label": part.label,
        "text": part.text,
        "place": place_object(part.spec),
        "log": dict(part.log),
        "model": dict(part.model),
    }


def _repair(repair: Repair) -> dict[str, Any]:
    at = _place(repair.event.record.place) if repair.event is not None else {}
    return {"kind": repair.kind, "text": repair.text, **at, "field": repair.field, "old": repair.old, "new": repair.new}


def _broken(broken: BrokenProperty) -> dict[str, Any]:
    at = _event_place(broken.event)
    why = {"explanation": explanation_object(broken.explanation)} if broken.explanation is not None else {}
    return {
        "name": broken.name,
        "kind": broken.kind,
        "place": place_object(broken.span),
        **at,
        "labels": list(broken.labels),
        **why,
    }


def _event_place(event: Event | None) -> dict[str, Any]:
    return {} if event is None else {**_place(event.record.place), "event": event_text(event)}


def _kill_rate(rate: KillRate) -> dict[str, Any]:
    survivors = [_repair(each) for each in rate.survivors]
    return {
        "mutants": rate.mutants,
        "rejected": rate.rejected,
        "inconclusive": rate.inconclusive,
        "survivors": survivors,
    }


def _unread(unread: Unread) -> dict[str, Any]:
    return {"kind": unread.kind, "reason": unread.reason, "count": unread.count, "example": _place(unread.example)}


def _notice(notice: Notice) -> dict[str, Any]:
    return {"kind": notice.kind, **(_place(notice.place) if notice.place is not None else {}), "text": notice.text}


def _place(place: LogPosition) -> dict[str, Any]:
    return {"file": place.file, "line": place.line}
