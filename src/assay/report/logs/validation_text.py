"""The answer about a log as text: the verdict, each mismatch with both values and a repair, and what the answer
rests on.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap

from assay.report.lines import Line, Tone, clean, listed, plural
from assay.report.logs.impact import impact_lines
from assay.report.logs.remarks import remark_groups
from assay.report.logs.trouble import identity_text, trouble_lines
from assay.report.specs.text import explanation_lines
from assay.traces.diagnosis.node_settings import Overview
from assay.traces.durations import difference_in_words
from assay.traces.event import Event, Notice
from assay.traces.observe.binding_tally import Unread
from assay.traces.result import (
    Blame,
    BrokenProperty,
    EventMeaning,
    FailedPart,
    LineContradiction,
    LogViolation,
    ProductAnswer,
    SliceResult,
    TraceVerdict,
    Validation,
)
from assay.traces.scope import by_cause, finding_id
from assay.traces.table.statement_keys import EVERY_SLICE

TONES = {
    TraceVerdict.CONSISTENT: Tone.GOOD,
    TraceVerdict.INCONSISTENT: Tone.BAD,
    TraceVerdict.VIOLATED: Tone.BAD,
    TraceVerdict.INCONCLUSIVE: Tone.WARN,
    TraceVerdict.VACUOUS: Tone.WARN,
}
MOST_NOTICES = 20
MOST_BLAMED = 3
MOST_ALIKE = 8
_LONGEST_VALUE = 120
ALIKE_SHOWN = 5
NAMES_SHOWN = 6
WIDTH = 100
_PLACE = re.compile(r"\S*:\d+|\d+")
"""What similar reasons differ in: positions in a log, and numbers."""


def validation_lines(validation: Validation, input_: Overview | None = None) -> list[Line]:
    """The whole answer, with the overview of the input if it is given."""
    lines = [
        _verdict(validation),
        *(Line(f"  it rests on what no line tells: {clean(each)}", Tone.WARN) for each in validation.rests_on),
    ]
    if validation.violations and validation.verdict is TraceVerdict.INCONCLUSIVE:
        lines += [Line(""), Line("lines without an explanation, which what is missing may hold", Tone.HEADING)]
    # By cause: a rule that a hundred lines break is told once, with the first of them in full.
    for number, group in enumerate(by_cause(validation.violations), start=1):
        lines += [Line(""), *_violation(number, group[0]), *_alike(group[1:])]
    for broken in validation.properties:
        lines += [Line(""), *_broken(broken)]
    lines += _remarks(validation)
    lines += trouble_lines(validation.trouble)
    lines += impact_lines(validation)
    lines += [Line(""), *_basis(validation)]
    lines += _unmapped(validation.unmapped)
    lines += _ignored(validation.ignored)
    lines += _meanings(validation)
    lines += _notices(validation.notices)
    lines += _input(input_) if input_ is not None else ()
    return [*lines, Line(""), _last(validation)]


def event_text(event: Event) -> str:
    """``ControllerElected(node = broker1, epoch = 3)``, without the field that stands for the slice of the event."""
    fields = ", ".join(f"{name} = {_field(value)}" for name, value in event.fields.items() if name != EVERY_SLICE)
    return clean(f"{event.kind}({fields})")


def _field(value: object) -> str:
    text = _value(value)
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…"


def _value(value: object) -> str:
    match value:
        case None:
            return "none"
        case Mapping():
            return f"{{{', '.join(f'{key}: {_value(each)}' for key, each in value.items())}}}"
        case tuple() if any(isinstance(each, Mapping) for each in value):
            return f"({', '.join(map(_value, value))})"
        case _:
            return str(value)


def _verdict(validation: Validation) -> Line:
    word = validation.verdict.value
    shout = word.upper() if TONES[validation.verdict] is Tone.BAD else word
    reason = validation.reason or _broken_names(validation)
    return Line(shout + (f": {reason}" if reason else ""), TONES[validation.verdict])


def _broken_names(validation: Validation) -> str | None:
    """Which properties the execution found does not keep, if that is the verdict."""
    if validation.verdict is not TraceVerdict.VIOLATED:
        return None
    names = ", ".join(dict.fromkeys(f"{broken.kind} {broken.name}" for broken in validation.properties))
    return f"every line has an explanation, and with it {names} does not hold"


def _violation(number: int, violation: LogViolation) -> Iterator[Line]:
    yield Line(f"{number}. {clean(str(violation.place))}", Tone.HEADING)
    yield Line(
        f"   {clean(violation.event.record.message.splitlines()[0] if violation.event.record.message else '')}",
        Tone.FAINT,
    )
    yield Line(f"   read as {event_text(violation.event)}")
    yield from _contradiction(violation.contradiction)
    for rank, blame in enumerate(violation.blame[:MOST_BLAMED]):
        yield from _blame(blame, violation, most_likely=rank == 0)
    if violation.repair.kind != "none":
        yield Line(f"   smallest repair: {clean(violation.repair.text)}")
    yield Line(f"   id {finding_id(violation)}", Tone.FAINT)


def _contradiction(found: LineContradiction | None) -> Iterator[Line]:
    """The lines that no beginning explains together, and the rules between them."""
    if found is not None:
        yield Line(f"   {clean(found.text)}", Tone.BAD)
        yield from (Line(f"     {clean(each)}") for each in found.calls)
        for event in () if found.calls else found.events:
            message = event.record.message.splitlines()[0] if event.record.message else ""
            yield Line(f"     {clean(str(event.record.place))}  {clean(message)}", Tone.FAINT)
        yield from (Line(f"     {clean(each)}") for each in found.rules)


def _alike(others: Sequence[LogViolation]) -> Iterator[Line]:
    """The other mismatches of the same cause, by position and id."""
    if others:
        yield Line(f"   the same rule in {plural(len(others), 'more line')}, listed here by place and id", Tone.BAD)
    for each in others[:MOST_ALIKE]:
        yield Line(f"     {clean(str(each.place))}  {finding_id(each)}", Tone.FAINT)
    if len(others) > MOST_ALIKE:
        yield Line(f"     and {len(others) - MOST_ALIKE:,} more, all of them in the JSON answer", Tone.FAINT)


def _blame(blame: Blame, violation: LogViolation, *, most_likely: bool) -> Iterator[Line]:
    lead = "cannot be explained by" if most_likely else "nor by"
    elsewhere = "" if blame.event is violation.event else f", at {clean(str(blame.place))}"
    yield Line(f"   {lead} {blame.action}{elsewhere}", Tone.BAD if most_likely else Tone.PLAIN)
    for part in blame.parts:
        yield from _part(part)


def label_of(part: FailedPart) -> str:
    """The label of a false condition; empty where its text says it, or where it is its place."""
    # Whole words: the label `own` is not said by `owner == none`.
    is_said = re.search(rf"(?<!\w){re.escape(part.label)}(?!\w)", part.text) is not None
    return "" if is_said or part.label == str(part.spec) else part.label


def _part(part: FailedPart) -> Iterator[Line]:
    label = label_of(part)
    yield Line(f"     {part.kind}{' ' if label else ''}{label} is false: {part.text}  ({part.spec})")
    yield from (Line(f"         the log says    {text} = {clean(value)}") for text, value in dict.fromkeys(part.log))
    yield from (Line(f"         the model has   {text} = {clean(value)}") for text, value in dict.fromkeys(part.model))


def _broken(broken: BrokenProperty) -> Iterator[Line]:
    where = "in the initial state" if broken.event is None else f"at {clean(str(broken.event.record.place))}"
    yield Line(f"{broken.kind} {broken.name} is broken {where}  ({broken.span})", Tone.BAD)
    if broken.explanation is not None:
        yield from explanation_lines(broken.explanation)


def _remarks(validation: Validation) -> Iterator[Line]:
    """What followed the rules, or is known of a version, but is worth a remark: each kind with its slices, and its
    first lines.
    """
    groups = remark_groups(validation)
    if groups:
        yield Line("")
    for group in groups:
        shown = listed([clean(name) for name in group.names], NAMES_SHOWN)
        times = f" ({len(group.lines):,} times)" if len(group.lines) > 1 else ""
        yield Line(f"{group.heading}: {shown}{', ' if shown else ''}{group.text}{times}", Tone.WARN)
        for event in group.lines[:MOST_BLAMED]:
            message = clean(event.record.message.splitlines()[0])
            yield Line(f"   {clean(str(event.record.place))}: {message}", Tone.FAINT)


def slice_noun(validation: Validation) -> str:
    """What the spec calls the parts of a log that are validated each by itself: ``partition``."""
    plan = next((plan for plan in validation.kernel.traces if plan.name == validation.clause), None)
    return "part" if plan is None or plan.slicing is None else plan.slicing.sort.name.lower()


def _slices(validation: Validation) -> Iterator[Line]:
    if not validation.slices:
        return
    counts = Counter(result.verdict.value for result in validation.slices)
    parts = ", ".join(f"{count:,} {verdict}" for verdict, count in counts.items())
    yield Line(f"  {slice_noun(validation) + 's':9} {len(validation.slices):,}: {parts}")
    yield from _inconclusive(validation)
    if validation.relaxed:
        guards = ", ".join(f"{action} {label}" for action, label in validation.relaxed)
        yield Line(f"  {'':10}not checked, because they read across {slice_noun(validation)}s: {guards}", Tone.WARN)
    if validation.whole is not None:
        yield _whole(validation.whole, slice_noun(validation))


def _inconclusive(validation: Validation) -> Iterator[Line]:
    """The inconclusive slices with their reasons. Of slices with similar reasons the first ones are shown, and the
    names of some more.
    """
    alike: dict[str, list[SliceResult]] = {}
    for result in validation.slices:
        if result.verdict is TraceVerdict.INCONCLUSIVE:
            # Reasons name lines and numbers: without them thousands of slices have a few.
            alike.setdefault(_PLACE.sub("", result.reason or ""), []).append(result)
    for group in alike.values():
        shown = group if len(group) <= ALIKE_SHOWN + 1 else group[:ALIKE_SHOWN]
        for result in shown:
            yield Line(f"  {'':10}{clean(result.name)}: {clean(result.reason or '')}", Tone.WARN)
        if more := group[len(shown) :]:
            names = ", ".join(clean(result.name) for result in more[:NAMES_SHOWN])
            others = ", …" if len(more) > NAMES_SHOWN else ""
            yield Line(
                f"  {'':10}and {plural(len(more), f'more {slice_noun(validation)}')} likewise: {names}{others}",
                Tone.WARN,
            )


def _whole(whole: ProductAnswer, noun: str) -> Line:
    """The answer of the product search of all slices."""
    guards = ", ".join(f"{action} {label}" for action, label in whole.guards)
    size = f", {plural(whole.lines, 'line')}, {plural(whole.visited, 'state')} of a search" if whole.lines else ""
    text = f"{whole.verdict.value}{size}" + (f": {whole.reason}" if whole.reason else "")
    checked = f"; guards across {noun}s: {guards}" if guards else ""
    return Line(f"  {'together':10}{clean(text)}{checked}", TONES[whole.verdict])


def _basis(validation: Validation) -> Iterator[Line]:
    c = validation.counts
    if which := identity_text(validation.trouble.identity):
        yield Line(f"  {'Kafka':10}{which}")
    yield Line(f"  {'model':10}{validation.kernel.name}, trace clause {validation.clause}")
    yield Line(
        f"  {'events':10}{c.read:,} read: {c.used:,} used, {c.ignored:,} ignored by name, {c.unmapped:,} unmapped"
    )
    yield from _slices(validation)
    yield Line(f"  {'checked':10}{plural(c.fields, 'field')}")
    hidden = ", ".join(f"{name} {count:,}" for name, count in validation.hidden.items() if count) or "none"
    yield Line(f"  {'assumed':10}steps that no line reports: {hidden}")
    if validation.reordering:
        yield Line(f"  {'order':10}lines were moved by at most {validation.reordering:.0f} ms against their times")
    if validation.kill_rate is not None:
        rate = validation.kill_rate
        yield Line(
            f"  {'strength':10}{rate.rejected:,} of {plural(rate.mutants, 'copy', 'copies')} with one field changed are rejected"
        )


def _ignored(ignored: Sequence[Unread]) -> Iterator[Line]:
    """Ignored events by reason: a log has many kinds of lines that say nothing about one model."""
    if ignored:
        yield Line("")
        yield Line("events known and of no use to this model", Tone.HEADING)
    by_reason: dict[str, list[Unread]] = {}
    for each in ignored:
        by_reason.setdefault(each.reason, []).append(each)
    for reason, group in by_reason.items():
        yield Line(f"  {sum(each.count for each in group):6,}  {clean(reason)}", Tone.PLAIN)
        kinds = ", ".join(f"{each.kind} {each.count:,}" for each in group)
        yield from (Line(f"          {text}", Tone.FAINT) for text in wrap(clean(kinds), WIDTH))


def _unmapped(unmapped: Sequence[Unread]) -> Iterator[Line]:
    if unmapped:
        yield Line("")
        yield Line(
            "events that the trace clause does not map, and lines of the protocol that no shape describes", Tone.HEADING
        )
    for each in unmapped:
        yield Line(
            f"  {each.count:6,}  {clean(each.kind)}: {clean(each.reason)}  (first at {clean(str(each.example))})",
            Tone.WARN,
        )


def _meanings(validation: Validation) -> Iterator[Line]:
    """What warnings and errors mean: the first of each kind, and how often the kind occurs."""
    if validation.explanations:
        yield Line("")
        yield Line("what warnings and errors in the log mean (of each kind the first)", Tone.HEADING)
    by_kind: dict[str, list[EventMeaning]] = {}
    for meaning in validation.explanations:
        by_kind.setdefault(meaning.event.kind, []).append(meaning)
    for group in by_kind.values():
        yield Line(f"  {len(group):6,}  {clean(group[0].text)}  ({clean(str(group[0].event.record.place))})")


def _notices(notices: Sequence[Notice]) -> Iterator[Line]:
    if notices:
        yield Line("")
        yield Line("notices about the input", Tone.HEADING)
    for notice in notices[:MOST_NOTICES]:
        where = f"{notice.place}: " if notice.place is not None else ""
        yield Line(f"  {clean(where)}{clean(notice.text)}", Tone.WARN)
    if len(notices) > MOST_NOTICES:
        yield Line(f"  and {len(notices) - MOST_NOTICES:,} more, all of them in the JSON answer", Tone.WARN)


def _input(input_: Overview) -> Iterator[Line]:
    """The nodes, and what is missing from the logs."""
    yield Line("")
    clusters = f" of cluster {', '.join(map(clean, input_.clusters))}" if input_.clusters else ""
    yield Line(f"the input: {plural(len(input_.nodes), 'node')}{clusters}", Tone.HEADING)
    for node in input_.nodes:
        of = node.node
        details = [f"id {', '.join(map(str, of.brokers))}"] if of.brokers else []
        details += [f"version {', '.join(map(clean, of.versions))}"] if of.versions else []
        details += [plural(of.runs, "run"), plural(node.events, "event")]
        details += (
            [f"clock ahead by at most {difference_in_words(node.clock.at_most)}"] if node.clock is not None else []
        )
        yield Line(f"  {clean(of.name)}: {'; '.join(details)}")
    for notice in input_.lacking:
        yield from (Line(f"  {text}", Tone.WARN) for text in wrap(clean(notice.text), WIDTH, subsequent_indent="  "))


def _last(validation: Validation) -> Line:
    return Line(f"{plural(validation.visited, 'search node')}, {validation.seconds:.1f} s", Tone.FAINT)
