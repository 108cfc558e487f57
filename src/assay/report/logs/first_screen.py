"""The first screen of an answer about logs: at most 25 lines that an operator reads first.

Did the cluster keep its rules? Is data at risk? What happened, and whom did it concern? What to do next, and what is
missing to say more? Everything else is in ``validation_text``, the JSON answer and the HTML page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from assay.grammar.lazy_dataclass import dataclass
from assay.report.lines import Line, Tone, clean, plural
from assay.report.logs.impact import clock, longest_first, moment
from assay.report.logs.remarks import RemarkGroup, remark_groups
from assay.report.logs.shown_line import marked_field, place_text, shown_line
from assay.report.logs.trouble import finding_lines, identity_text
from assay.report.logs.validation_text import slice_noun, validation_lines
from assay.traces.diagnosis.node_settings import Overview
from assay.traces.diagnosis.unnamed_events import own_clause
from assay.traces.durations import duration_in_words
from assay.traces.observe.binding_tally import Unread
from assay.traces.result import Blame, Impact, LogViolation, TraceVerdict, Validation
from assay.traces.scope import by_cause
from assay.traces.spec_selection import selectable_specs
from assay.traces.trouble.finding import Gravity, TroubleFinding

MOST_LINES = 25
MOST_FINDINGS = 2
MOST_TROUBLE = 2
NAMES_SHOWN = 4
TOGETHER = 10_000
"""Starts of several nodes within so many milliseconds are told in one line."""
UNTIMELY = frozenset({"model", "impact"})
"""Kinds of notices that say nothing about the input."""
MORE = "everything else: --details; a page to forward: --html FILE; for programs: --json"
KEPT = {
    TraceVerdict.CONSISTENT: ("consistent: every line that was compared follows the rules", Tone.GOOD),
    TraceVerdict.INCONSISTENT: ("INCONSISTENT", Tone.BAD),
    TraceVerdict.VIOLATED: ("VIOLATED: every line that was compared has an explanation", Tone.BAD),
    TraceVerdict.INCONCLUSIVE: ("inconclusive", Tone.WARN),
    TraceVerdict.VACUOUS: ("vacuous", Tone.WARN),
}


@dataclass(frozen=True, slots=True)
class _Happened:
    """An entry of the timeline. The lightest are left out where there is no room."""

    time: float
    text: str
    weight: int
    tone: Tone = Tone.PLAIN


def answer_lines(validation: Validation, input_: Overview, *, details: bool, width: int | None) -> list[Line]:
    """The first screen, or with ``details`` the whole answer."""
    return validation_lines(validation, input_) if details else first_screen(validation, input_, width)


def first_screen(validation: Validation, input_: Overview, width: int | None = None) -> list[Line]:
    """The lines, at most 25; on a terminal of this width none is broken into two."""
    head = [*_verdict(validation), *_findings_in_words(validation, input_), _basis(validation, input_)]
    head += _findings(validation)
    tail = last_lines(validation)
    missing = [*_meanings(validation), *_missing(validation, input_), *_explained(validation)]
    room = MOST_LINES - len(head) - len(tail) - 5
    story = _timeline(validation, input_)
    listed = min(len(missing), max(2, room - len(story)))
    lines = [*head, *_section("what happened (UTC)", _fitting(story, room - listed))]
    lines += _section("what is missing, or was noticed", _first(missing, listed))
    return [_cut(line, width) for line in (*lines, Line(""), *tail)]


def brief_lines(validation: Validation, input_: Overview, room: int, width: int | None = None) -> list[Line]:
    """The beginning of a first screen in at most ``room`` lines: the verdict, what is lost or stuck, whom it concerns."""
    verdict, basis = list(_verdict(validation)), _basis(validation, input_)
    told = [*_findings_in_words(validation, input_), *_findings(validation)]
    found = [line for line in told if line.text][: max(0, room - len(verdict) - 1)]
    return [_cut(line, width) for line in (*verdict, *found, basis)]


def last_lines(validation: Validation) -> list[Line]:
    """What to do next, and where the rest is."""
    return [*_next(validation), Line(MORE, Tone.FAINT)]


def _section(heading: str, lines: Sequence[Line]) -> list[Line]:
    return [Line(""), Line(heading, Tone.HEADING), *lines] if lines else []


def _cut(line: Line, width: int | None) -> Line:
    return line if width is None or len(line.text) <= width else Line(line.text[: width - 1] + "…", line.tone)


def _first(lines: Sequence[Line], most: int) -> list[Line]:
    if len(lines) <= most:
        return list(lines)
    left = len(lines) - most + 1
    return [*lines[: most - 1], Line(f"  and {left:,} more, see --details", Tone.FAINT)]


# ------------------------------------------------------------------------------------------------- the first lines


def _verdict(validation: Validation) -> Iterator[Line]:
    """Whether the rules were kept. A broken property goes first, whatever the verdict about the lines is."""
    text, tone = KEPT[validation.verdict]
    count = len(validation.violations)
    if validation.properties:
        first = validation.properties[0]
        where = "in the initial state" if first.event is None else f"at {place_text(first.event.record.place)}"
        more = f", and {plural(len(validation.properties) - 1, 'more')}" if len(validation.properties) > 1 else ""
        yield Line(f"BROKEN: {first.kind} {first.name} is broken {where}{more}", Tone.BAD)
    if validation.verdict is TraceVerdict.INCONSISTENT and count:
        text += f": {plural(count, 'line')} cannot be true together with the others"
    reason = clean(validation.reason) if validation.reason else ""
    yield Line(f"{text}: {reason}" if reason and not count else text, tone)
    if reason and count:
        yield Line(f"  {reason}", Tone.WARN)
    if validation.verdict is TraceVerdict.CONSISTENT and validation.rests_on:
        yield Line(f"  it rests on what no line tells: {clean('; '.join(validation.rests_on))}", Tone.WARN)


def _findings_in_words(validation: Validation, input_: Overview) -> Iterator[Line]:
    """The findings besides broken rules, the gravest first: warnings of the logs, and remarks of the clause."""
    findings, groups = validation.trouble.findings, remark_groups(validation)
    most = MOST_TROUBLE if validation.violations else 2 * MOST_TROUBLE
    grave = [each for each in findings if each.gravity <= Gravity.RISK][:most]
    risks = [each for each in groups if each.severity == "risk"][: min(MOST_FINDINGS, most - len(grave))]
    others = findings[len(grave) :][: most - len(grave) - len(risks)]
    known = [each for each in groups if each.severity != "risk"][: most - len(grave) - len(risks) - len(others)]
    yield from _trouble(grave)
    yield from _remarks(risks)
    yield from _trouble(others)
    yield from _remarks(known)
    left = len(findings) + len(groups) - len(grave) - len(risks) - len(others) - len(known)
    if left:
        yield Line(f"  and {plural(left, 'more finding')}, see --details", Tone.WARN)
    if not grave and not any(each.severity == "risk" for each in groups):
        yield from _loss(validation, input_)


def _trouble(findings: Sequence[TroubleFinding]) -> Iterator[Line]:
    """Findings, each with one sentence."""
    for finding in findings:
        heading, sentence, *_ = finding_lines(finding)
        yield heading
        yield sentence


def _meanings(validation: Validation) -> list[Line]:
    """What lines mean that the spec has no step for: a pasted line is often one of these."""
    texts: dict[str, list[str]] = {}
    for each in validation.explanations:
        texts.setdefault(clean(each.text), []).append(place_text(each.event.record.place))
    return [
        Line(f"  {places[0]}{f' and {len(places) - 1:,} more' if len(places) > 1 else ''}: {text}")
        for text, places in texts.items()
    ]


def _explained(validation: Validation) -> Iterator[Line]:
    """What other warnings and errors mean, the most frequent first."""
    for each in sorted(validation.trouble.explained, key=lambda lines: -lines.count):
        advice = f" {each.advice}" if each.advice else ""
        yield Line(f"  {each.count:,} x {each.level}: {clean(each.text)}{clean(advice)}")


def _remarks(groups: Sequence[RemarkGroup]) -> Iterator[Line]:
    for group in groups:
        names = _some([clean(name) for name in group.names])
        times = f" ({len(group.lines):,} times)" if len(group.lines) > 1 else ""
        yield Line(f"{group.heading}: {names}{': ' if names else ''}{clean(group.text)}{times}", Tone.WARN)
        yield Line(f"  first at {place_text(group.lines[0].record.place)}", Tone.FAINT)


def _loss(validation: Validation, input_: Overview) -> Iterator[Line]:
    """Whether data may be lost, where no finding tells it."""
    moments = [each for each in input_.moments if each.is_risk]
    if moments:
        more = f", and {plural(len(moments) - 1, 'more such moment')}" if len(moments) > 1 else ""
        yield Line(f"data may be at risk: {clean(moments[0].text)}{more}", Tone.WARN)
    elif _is_bundled(validation) and validation.counts.used:
        yield Line("data: no line that was read tells of a loss")


def _basis(validation: Validation, input_: Overview) -> Line:
    """Whom it concerns, when, and how much was compared."""
    versions = sorted({version for node in input_.nodes for version in node.node.versions})
    identity = identity_text(replace(validation.trouble.identity, versions=tuple(versions), roles=()))
    times = [time for node in input_.nodes for time in (node.first, node.last) if time is not None]
    parts = [plural(len(input_.nodes), "node")] if input_.nodes else []
    parts += [identity] if identity else []
    parts += [_period(min(times), max(times))] if times else []
    parts += [f"{validation.counts.used:,} of {plural(validation.counts.read, 'event')} compared"]
    parts += [f"{validation.held:,} of them held against what others determine"] if validation.rests_on else []
    parts += [_parts(validation)] if validation.slices else []
    return Line("; ".join(parts))


def _parts(validation: Validation) -> str:
    """``13 partitions``, in the words of the spec, with how many are not consistent."""
    noun = slice_noun(validation)
    counts = Counter(each.verdict for each in validation.slices)
    open_ = [
        f"{count:,} {verdict.value}" for verdict, count in counts.items() if verdict is not TraceVerdict.CONSISTENT
    ]
    return plural(len(validation.slices), noun) + (f" ({', '.join(open_)})" if open_ else "")


def _period(begin: float, end: float) -> str:
    first, last = moment(begin), moment(end)
    same = first.date() == last.date()
    return f"{first:%Y-%m-%d %H:%M:%S} to {last:{'%H:%M:%S' if same else '%Y-%m-%d %H:%M:%S'}} UTC"


# ------------------------------------------------------------------------------------------------------- findings


def _findings(validation: Validation) -> Iterator[Line]:
    """The lines that nothing explains, each as it is in the log."""
    causes = by_cause(validation.violations)
    own = not _is_bundled(validation)
    for number, group in enumerate(causes[:MOST_FINDINGS], start=1):
        yield Line("")
        yield from _finding(number, group[0], own=own)
        if len(group) > 1:
            yield Line(f"   the same rule in {plural(len(group) - 1, 'more line')}", Tone.FAINT)
    if len(causes) > MOST_FINDINGS:
        yield Line(f"and {plural(len(causes) - MOST_FINDINGS, 'more finding')}, see --details", Tone.BAD)


def _is_bundled(validation: Validation) -> bool:
    return validation.kernel.name.replace(".", "/") in selectable_specs()


def _finding(number: int, violation: LogViolation, *, own: bool) -> Iterator[Line]:
    """A line with its field marked. Of a user's own spec the false condition is quoted; a rule of a bundled one is
    named in words.
    """
    value, field, why = marked_field(violation) or (None, None, "nothing explains this line")
    yield Line(f"{number}. {place_text(violation.place)}", Tone.HEADING)
    yield from shown_line(violation.event, value, field, why)
    first = violation.blame[0] if violation.blame else None
    if violation.contradiction is not None:
        yield Line(f"   {clean(violation.contradiction.text)}", Tone.BAD)
        yield from (Line(f"     {clean(each)}") for each in violation.contradiction.calls)
    elif first is not None:
        elsewhere = "" if first.event is violation.event else f", because of {place_text(first.event.record.place)}"
        yield Line(f"   {_rule(first, own=own)}{elsewhere}")
    if violation.repair.kind not in ("none", "change") and violation.contradiction is None:
        yield Line(f"   smallest repair: {clean(violation.repair.text)}")


def _rule(blame: Blame, *, own: bool) -> str:
    """What is false: as the spec says it, or its name as words."""
    if not blame.parts:
        return f"no step `{blame.action}` is possible here"
    part = blame.parts[0]
    label = "" if part.label in part.text or part.label == str(part.spec) else part.label
    if own:
        values = ", ".join(f"{text} = {clean(value)}" for text, value in (*part.log, *part.model)[:3])
        return f"{blame.action}: {part.kind} {label or part.text} is false{f' ({values})' if values else ''}"
    action = blame.action.rpartition(".")[2].replace("_", " ")
    return f"rule broken: {action}{f', {_words(label)}' if label else ''}"


def _words(label: str) -> str:
    return label.rpartition("/")[2].rpartition(".")[2].replace("_", " ")


# ------------------------------------------------------------------------------------------------------- timeline


def _timeline(validation: Validation, input_: Overview) -> list[_Happened]:
    entries = [*_moments(input_), *_outages(validation)]
    return sorted(entries, key=lambda each: each.time)


def _moments(input_: Overview) -> Iterator[_Happened]:
    """The moments of the input; those that differ in the name of a node only, and follow closely, are one."""
    alike: dict[str, tuple[float, list[str], int]] = {}
    for each in input_.moments:
        node, _, rest = each.text.partition(" ")
        known = alike.get(rest)
        if known is not None and each.time - known[0] <= TOGETHER:
            known[1].append(node)
            continue
        if known is not None:
            yield _joined(rest, known)
        alike[rest] = (each.time, [node], each.weight)
    for rest, known in alike.items():
        yield _joined(rest, known)


def _joined(rest: str, known: tuple[float, list[str], int]) -> _Happened:
    time, nodes, weight = known
    names = _some([clean(node) for node in dict.fromkeys(nodes)])
    verb = rest.removesuffix("s") if len(set(nodes)) > 1 and " " not in rest else rest
    return _Happened(time, f"{names} {clean(verb)}", weight + len(nodes) // 3)


def _outages(validation: Validation) -> Iterator[_Happened]:
    """Of each measure the times in which it held: those of what all share one by one, those of parts together."""
    noun = slice_noun(validation)
    for name in dict.fromkeys(each.measure for each in validation.impact):
        held = longest_first([each for each in validation.impact if each.measure == name and each.spells])
        shared = [each for each in held if each.slice is None]
        parts = [each for each in held if each.slice is not None]
        yield from (_spells(name, each) for each in shared)
        if parts:
            names = _some([clean(each.slice or "") for each in parts])
            begin = min(spell.begin for each in parts for spell in each.spells)
            text = f"{_words(name)}: {plural(len(parts), noun)}, the longest {_lasting(parts[0])}: {names}"
            yield _Happened(begin, text, 5, Tone.WARN)


def _spells(name: str, impact: Impact) -> _Happened:
    times = f", {len(impact.spells):,} times" if len(impact.spells) > 1 else ""
    return _Happened(impact.spells[0].begin, f"{_words(name)}: {_lasting(impact)}{times}", 5, Tone.WARN)


def _lasting(impact: Impact) -> str:
    """For how long it held, at least and at most."""
    least, most = duration_in_words(impact.at_least), impact.at_most
    long = f"{least} or more" if most is None else f"{least} to {duration_in_words(most)}"
    return f"{long}{', until the log ends' if impact.spells[-1].lasting else ''}"


def _fitting(entries: Sequence[_Happened], room: int) -> list[Line]:
    """The entries in the order of time; where there is no room, the heaviest of them, and how many are left out."""
    most = max(room, 3)
    kept = entries
    if len(entries) > most:
        heaviest = sorted(entries, key=lambda each: -each.weight)[: most - 1]
        kept = [each for each in entries if each in heaviest]
    lines = [Line(f"  {clock(each.time)[:8]}  {each.text}", each.tone) for each in kept]
    left = len(entries) - len(kept)
    return [*lines, *([Line(f"  and {left:,} more, see --html", Tone.FAINT)] if left else [])]


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(names[:NAMES_SHOWN])
    return f"{shown} and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else shown


# ------------------------------------------------------------------------------------------------------ what to do


def _next(validation: Validation) -> Iterator[Line]:
    yield Line(f"next: {_advice(validation)}", Tone.HEADING)


def _advice(validation: Validation) -> str:
    advised = next((each.advice for each in validation.trouble.findings if each.advice), None)
    if advised is not None and validation.trouble.findings[0].gravity <= Gravity.STUCK:
        return clean(advised)
    if validation.violations and validation.verdict is TraceVerdict.INCONSISTENT:
        return "keep these logs; look at the marked lines and what came before them with --html"
    if validation.properties:
        return "look at the line that broke the property, and the states around it, with --html"
    risks = [group for group in remark_groups(validation) if group.severity == "risk"]
    if risks:
        names = _some([clean(name) for group in risks for name in group.names])
        return (
            f"compare {names} with what producers had acknowledged"
            if names
            else f"mend this first: {clean(risks[0].text)}"
        )
    own = own_clause(validation) is not None
    if validation.verdict is TraceVerdict.VACUOUS and own:
        return "compare what the log holds with `from` and `on` of the trace clause"
    if validation.verdict is TraceVerdict.INCONCLUSIVE and own and any(each.needed for each in validation.unmapped):
        return "mend the lines that were not understood, or say in the trace clause how they are read"
    if validation.verdict is TraceVerdict.VACUOUS:
        return "give the logs of brokers and controllers: server.log, controller.log, state-change.log"
    if validation.verdict is TraceVerdict.INCONCLUSIVE:
        return "add what is missing below the timeline, and ask again"
    lasting = [each for each in validation.impact if any(spell.lasting for spell in each.spells)]
    if lasting:
        names = _some([clean(each.slice or _words(each.measure)) for each in lasting])
        return f"an outage lasts to the end of the log ({names}); unless it was shut down, bring these back"
    return "nothing"


def _missing(validation: Validation, input_: Overview) -> Iterator[Line]:
    """Lines that were not understood, and notices: those about what is lacking first, equal kinds together."""
    unknown = sum(each.count for each in validation.unmapped)
    if unknown:
        own = own_clause(validation) is not None
        first = (
            min(validation.unmapped, key=lambda each: (not each.needed, _order(each)))
            if own
            else validation.unmapped[0]
        )
        why = f": {first.reason}" if own else ""
        yield Line(
            f"  {plural(unknown, 'line')} not understood, first {place_text(first.example)}: {clean(first.kind + why)}",
            Tone.WARN,
        )
    if validation.trouble.unexplained:
        other = validation.trouble.unexplained[0]
        yield Line(
            f"  {plural(validation.trouble.not_understood, 'warning or error', 'warnings and errors')} not understood,"
            f" first {place_text(other.place)}: {clean(other.text)}",
            Tone.WARN,
        )
    by_kind: dict[str, list[str]] = {}
    for notice in (*validation.notices, *input_.lacking):
        if notice.kind not in UNTIMELY:
            by_kind.setdefault(notice.kind, []).append(notice.text)
    for texts in _alternating(list(by_kind.values())):
        yield Line(f"  {clean(texts)}", Tone.WARN)


def _order(unread: Unread) -> tuple[str, int]:
    return unread.example.file, unread.example.line


def _alternating(groups: Sequence[Sequence[str]]) -> Iterable[str]:
    """The first of each group, then the others: no kind of notice hides another one."""
    yield from (group[0] for group in groups)
    yield from (text for group in groups for text in group[1:])
