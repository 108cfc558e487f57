"""The answer of a check as text: the verdict, each property, what went wrong and why, and what the search did not
exercise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from assay.checker.report import (
    AbstractSide,
    Attempt,
    BlockedAction,
    ExitCode,
    Explanation,
    Outcome,
    PropertyResult,
    Report,
    Trace,
    Violation,
)
from assay.checker.results.property_results import bounds_text
from assay.checker.results.show_instance import show_instance, show_parameter
from assay.grammar.diagnostics.diagnostic import Span
from assay.grammar.kernel import Kernel
from assay.report.lines import Line, Tone, plural
from assay.report.specs.changes import change_lines, initial_lines, shown_lines, step_name
from assay.report.specs.coverage import coverage_lines, idle_actions, idle_guards

TONES = {
    Outcome.HOLDS: Tone.GOOD,
    Outcome.UP_TO_BOUND: Tone.WARN,
    Outcome.VIOLATED: Tone.BAD,
    Outcome.UNKNOWN: Tone.WARN,
    Outcome.VACUOUS: Tone.WARN,
}

WIDTH = 110
GLUE = "\N{NO-BREAK SPACE}"
"""Keeps a parameter and its value on one line while lines are wrapped; no name of the language holds it."""


def report_lines(report: Report, unchecked: Sequence[str] = ()) -> list[Line]:
    """The whole answer. ``unchecked`` names other models of the spec, of which it says nothing."""
    # What a search that stopped has not exercised, it may not have come to.
    remarks = _stopped(report) or coverage_lines(report)
    return [*findings_lines(report, unchecked), *remarks, Line(""), statistics_line(report), *disk_line(report)]


def findings_lines(report: Report, unchecked: Sequence[str] = ()) -> list[Line]:
    """The verdict, each property, the details of violated ones, and the bounds."""
    about = [*model_lines(report.kernel), *_unchecked(unchecked)]
    lines = [_verdict(report), *_not_exercised(report), *about, Line("")]
    lines += _property_table(report)
    for result in report.properties:
        if found := list(property_lines(report.kernel, result)):
            lines += [Line(""), *found]
    return [*lines, *_bounds(report)]


def verdict_word(report: Report) -> str:
    """The verdict of a whole run as a word or phrase, the same in text and JSON."""
    return "interrupted" if report.exit_code is ExitCode.INTERRUPTED else report.outcome.value


def statistics_line(report: Report) -> Line:
    """The sizes of the search in one line."""
    s = report.statistics
    if not s.generated:
        return Line(f"{s.seconds:.1f} s, engine {report.engine}", Tone.FAINT)
    names = "" if report.group is None else f" under permutations of {', '.join(x.name for x in report.group.sorts)}"
    counted = "distinct state" if report.group is None else "orbit"
    how_deep = (
        f"depth {s.depth}" if report.order == "bfs" else f"depth-first, longest run of {plural(s.depth, 'state')}"
    )
    sizes = f"{plural(s.distinct, counted)}{names}, {s.generated:,} generated, {how_deep}"
    if report.hidden:
        sizes += f", without {', '.join(report.hidden)}, which the view leaves out"
    if report.reduced is not None:
        sizes += f", {plural(report.reduced, 'state')} expanded in part"
    chance = f", probability of a state missed below {s.collision:.1e}" if s.collision else ""
    return Line(f"{sizes}, {s.seconds:.1f} s, engine {report.engine}{chance}", Tone.FAINT)


def disk_line(report: Report) -> list[Line]:
    """What went to disk, if the visited set did."""
    effort = report.statistics.effort
    if effort is None or effort.visited is None:
        return []
    on = effort.visited
    runs, merges = plural(on.runs, "sorted run"), plural(on.merges, "merge")
    text = f"visited states went to disk: {runs}, {on.bytes / 1e6:,.0f} MB, {merges} in {plural(on.levels, 'level')}"
    return [Line(text, Tone.FAINT)]


def _stopped(report: Report) -> list[Line]:
    """Why the search ended early, if it did. Its coverage means nothing then, and is left out."""
    if report.stopped is not None:
        hint = " (`--continue` searches on)" if report.outcome is Outcome.VIOLATED else ""
        shortest = "" if report.order == "bfs" else "; runs found depth-first need not be the shortest"
        why = f"{report.stopped[0].upper()}{report.stopped[1:]}{hint}{shortest}"
    elif report.up_to_depth is not None:
        why = f"Every run of up to {plural(report.up_to_depth, 'state')} was looked at"
    else:
        return []
    lines = [Line(""), Line(why, Tone.WARN)]
    if report.checkpoint is not None:
        lines.append(Line(f"`--resume {report.checkpoint}` goes on from here", Tone.PLAIN))
    return lines


def model_lines(kernel: Kernel) -> list[Line]:
    """The name of the model with the values of its parameters."""
    bound = "; ".join(f"{p.name} = {show_parameter(p)}".replace(" ", GLUE) for p in kernel.parameters)
    chosen = f"model {kernel.model}" if kernel.model else "default model"
    text = f"{kernel.name}, {chosen}" + (f": {bound}" if bound else "")
    # A name that is longer than a line stays whole, so that it can be copied.
    lines = wrap(text, WIDTH, initial_indent="  ", subsequent_indent="      ", break_long_words=False)
    return [Line(line.replace(GLUE, " "), Tone.FAINT) for line in lines]


def _unchecked(models: Sequence[str]) -> Iterator[Line]:
    if models:
        word = "model" if len(models) == 1 else "models"
        yield Line(f"  not checked: {word} {_first_names(models)} (`--model NAME`)", Tone.FAINT)


def _verdict(report: Report) -> Line:
    word = verdict_word(report)
    bad = [result.name for result in report.properties if result.outcome is Outcome.VIOLATED]
    why = f": {', '.join(bad)}" if report.outcome is Outcome.VIOLATED else ""
    idle = never_happens(report)
    tone = Tone.WARN if report.interrupted or idle else TONES[report.outcome]
    return Line((word.upper() if bad and not report.interrupted else word) + why + idle, tone)


def never_happens(report: Report) -> str:
    """``, but 26 of 44 actions never happen in this model``, of a complete search that found nothing wrong."""
    actions = report.coverage.actions
    idle = idle_actions(report)
    if not idle or not _says_that_it_holds(report):
        return ""
    verb = "happens" if len(idle) == 1 else "happen"
    return f", but {len(idle)} of {plural(len(actions), 'action')} never {verb} in this model"


def _says_that_it_holds(report: Report) -> bool:
    complete = report.stopped is None and report.up_to_depth is None
    return complete and report.outcome in (Outcome.HOLDS, Outcome.UP_TO_BOUND)


def _not_exercised(report: Report) -> Iterator[Line]:
    """The names of what a verdict `holds` does not rest on: actions never taken, guards never decisive."""
    if _says_that_it_holds(report):
        guards = [each.label if ":" in each.label else f"{each.action}.{each.label}" for each in idle_guards(report)]
        for what, names in (("never happens", idle_actions(report)), ("never decisive", guards)):
            if names:
                yield Line(f"  {what}: {_first_names(names)}", Tone.WARN)


def _first_names(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMES:,} more" if len(names) > MOST_NAMES else ""
    return f"{', '.join(names[:MOST_NAMES])}{more}"


MOST_NAMES = 6
"""The most names in a line above the table; the last lines give all, with their places."""


def _property_table(report: Report) -> Iterator[Line]:
    kinds = max((len(result.kind) for result in report.properties), default=0)
    names = max((len(result.name) for result in report.properties), default=0)
    for result in report.properties:
        reason = _short_reason(report, result)
        yield Line(f"  {result.kind:{kinds}}  {result.name:{names}}  {result.outcome.value}{reason}", _tone(result))


def _short_reason(report: Report, result: PropertyResult) -> str:
    """The reason in brackets, unless it is given in full below. That the whole search stopped is said once, at the
    end, and so is how often bounds were hit.
    """
    if has_findings(result) or (result.reason and report.stopped and report.stopped in result.reason):
        return ""
    reason = _without_counts(report, result.reason) if result.reason else ""
    reasons = [*([reason] if reason else []), *result.remarks]
    return f"  ({'; '.join(reasons)})" if reasons else ""


def _without_counts(report: Report, reason: str) -> str:
    """The reason by the names of bounds alone; nothing where it is all the bounds, which are listed below."""
    hit = {label: hits for label, hits in report.bounds.items() if hits}
    decisive = {label: hits for label, hits in hit.items() if label not in report.kernel.accepted_bounds}
    for each in (hit, decisive):
        if each and reason == f"up to {bounds_text(each)}":
            return ""
        names = f"bound{'s' if len(each) > 1 else ''} {', '.join(f'`{label}`' for label in sorted(each))}"
        reason = reason.replace(bounds_text(each), names) if each else reason
    return reason


def _tone(result: PropertyResult) -> Tone:
    # Green is for the whole answer: a table of green lines would hide the one that is not.
    return Tone.PLAIN if result.outcome is Outcome.HOLDS else TONES[result.outcome]


def has_findings(result: PropertyResult) -> bool:
    """Whether a violated property has details besides its verdict."""
    return result.outcome is Outcome.VIOLATED and bool(result.trace or result.explanation or result.blocked)


def property_lines(kernel: Kernel, result: PropertyResult) -> Iterator[Line]:
    """The details of a violated property; none for another one. The trace of a scenario is in the spec."""
    if not has_findings(result):
        return
    kind = "" if result.kind == result.name else f"{result.kind} "
    yield Line(f"{kind}{result.name}{_at(result.span)}", Tone.HEADING)
    if result.trace is not None and result.kind != "scenario":
        yield from trace_lines(kernel, result.trace)
    if result.reason is not None and (result.kind == "scenario" or result.explanation is None):
        yield Line(f"  {result.reason}", Tone.BAD)
    if result.explanation is not None:
        yield from explanation_lines(result.explanation)
    yield from blocked_lines(kernel, result.blocked)
    yield from (Line(f"  {remark}") for remark in result.remarks)
    yield from abstract_lines(result.abstract)
    for number, other in enumerate(result.others, start=2):
        yield from _other_lines(kernel, result.name, number, other)


def _other_lines(kernel: Kernel, name: str, number: int, other: Violation) -> Iterator[Line]:
    yield Line(f"{name}, violation {number}", Tone.HEADING)
    if other.trace is not None:
        yield from trace_lines(kernel, other.trace)
    if other.explanation is not None:
        yield from explanation_lines(other.explanation)
    elif other.reason is not None:
        yield Line(f"  {other.reason}", Tone.BAD)
    yield from blocked_lines(kernel, other.blocked)
    yield from abstract_lines(other.abstract)


def trace_lines(kernel: Kernel, trace: Trace) -> Iterator[Line]:
    """The states of an execution, numbered from 1 (the initial state), each with its changes."""
    before = None
    width = len(str(len(trace)))
    for number, step in enumerate(trace.steps, start=1):
        name = step_name(kernel, step) if before is None or step.action is not None else "nothing happens"
        yield Line(f"  {number:{width}}  {name}", Tone.HEADING)
        changed = initial_lines(kernel, step.state) if before is None else change_lines(kernel, before, step.state)
        yield from (Line(f"  {'':{width}}      {text}") for text in changed or ["(nothing changes)"])
        yield from (Line(f"  {'':{width}}      {text}", Tone.FAINT) for text in shown_lines(kernel, step.state))
        before = step.state
    if trace.loop is not None:
        yield Line(f"  {'':{width}}  {_loop(trace, trace.loop)}", Tone.HEADING)


def _loop(trace: Trace, loop: int) -> str:
    """How an infinite execution continues."""
    # The loop is the last state alone: nothing is ever done again.
    if loop == len(trace) - 1:
        return "and it stays so for ever"
    steps = f"step {loop + 2}" if loop + 2 == len(trace) else f"steps {loop + 2} to {len(trace)}"
    return f"the state is again that of step {loop + 1}: {steps} for ever"


def explanation_lines(explanation: Explanation) -> Iterator[Line]:
    """Which conjunct fails, for which values, and the parts that decide it."""
    what = f"{explanation.label} is undefined: {explanation.undefined}"
    why = what if explanation.undefined else f"`{explanation.label}` is false"
    yield Line(f"  why: {why}{_at(explanation.span)}", Tone.BAD)
    if explanation.witnesses:
        yield Line(f"       with {', '.join(f'{name} = {value}' for name, value in explanation.witnesses)}")
    # What the line of witnesses has said is not said again, nor that a constant is what it is.
    known = {(text, value) for name, value in explanation.witnesses for text in (name, f"old({name})")}
    for part in dict.fromkeys(explanation.parts):
        yield Line(f"       {part.text}  is {'true' if part.holds else 'false'}{_at(part.span)}")
        values = [pair for pair in part.values if pair not in known and pair[0] not in {part.text, pair[1]}]
        yield from (Line(f"           {text} = {value}") for text, value in values)


def blocked_lines(kernel: Kernel, blocked: tuple[BlockedAction, ...]) -> Iterator[Line]:
    """The actions of a deadlocked state, with the guards that block them."""
    if blocked:
        yield Line("  no action is possible:", Tone.BAD)
    for action in blocked:
        yield Line(f"       {show_instance(kernel.action(action.action), [value for _, value in action.arguments])}")
        yield from (Line(f"           blocked by {label}: {text}  ({span})") for label, text, span in action.guards)


def abstract_lines(side: AbstractSide | None) -> Iterator[Line]:
    """A step as the abstract module sees it, and why it is no step of that module."""
    if side is None:
        return
    yield Line(f"  as {side.abstract.name} sees it:", Tone.BAD)
    if side.before is not None:
        yield from (Line(f"       {text}") for text in initial_lines(side.abstract, side.before))
        changed = [] if side.after is None else change_lines(side.abstract, side.before, side.after)
        yield Line("     step")
        yield from (Line(f"       {text}") for text in changed or ["(nothing changes)" if side.after else "(no state)"])
    elif side.after is not None:
        yield from (Line(f"       {text}") for text in initial_lines(side.abstract, side.after))
    yield Line(f"     expected {side.expected}{_at(side.place)}")
    for attempt in side.attempts:
        yield from _attempt_lines(attempt)


def _attempt_lines(attempt: Attempt) -> Iterator[Line]:
    yield Line(f"       {attempt.instance}{f': {attempt.why}' if attempt.why else ''}")
    yield from (Line(f"           blocked by {label}: {text}  ({span})") for label, text, span in attempt.guards)
    yield from (Line(f"           would make {name} = {value}") for name, value in attempt.differs)


def _at(span: Span) -> str:
    """The place of an expression, in brackets; none for what is built in."""
    return f"  ({span})" if span.file else ""


def _bounds(report: Report) -> Iterator[Line]:
    hit = {label: hits for label, hits in report.bounds.items() if hits}
    if hit:
        yield Line("")
        yield Line("bounds that cut the search off", Tone.HEADING)
    for label, hits in sorted(hit.items()):
        accepted = label in report.kernel.accepted_bounds
        text = f"  {label}: hit {plural(hits, 'time')}{' (accepted by the model)' if accepted else ''}"
        yield Line(text, Tone.PLAIN if accepted else Tone.WARN)
