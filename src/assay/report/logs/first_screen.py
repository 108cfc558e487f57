"""The first screen of an answer about logs: at most 25 lines that an operator reads first.

Did the cluster keep its rules? Is data at risk? What happened, and whom did it concern? What to do next, and what is
missing to say more? Everything else is in ``validation_text``, the JSON answer and the HTML page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from assay.report.lines import Line, Tone, clean, plural
from assay.report.logs.remarks import RemarkGroup, remark_groups, reported_together
from assay.report.logs.shown_line import marked_field, place_text, short_places, shown_line
from assay.report.logs.timeline import fitting, lasting, some, timeline, words
from assay.report.logs.trouble import finding_lines, identity_text
from assay.report.logs.validation_text import label_of, slice_noun, validation_lines
from assay.traces.diagnosis.node_settings import Overview, files_to_add
from assay.traces.diagnosis.unnamed_events import own_clause
from assay.traces.durations import moment
from assay.traces.event import Notice
from assay.traces.observe.binding_tally import Unread
from assay.traces.result import Blame, LogViolation, TraceVerdict, Validation
from assay.traces.scope import by_cause
from assay.traces.spec_selection import selectable_specs
from assay.traces.trouble.finding import Gravity, TroubleFinding

MOST_LINES = 25
MOST_FINDINGS = 2
MOST_TROUBLE = 2
LEAST_TOLD = 3
"""With room for fewer lines nothing is told of what happened in one of several clusters."""
LEAST_STORY = 8
"""So many lines of the timeline are shown, if there are as many, before findings take more than two."""
FEW_EVENTS = 100
"""Of no more events (a paste, an excerpt) each line that has a meaning is told; of more, how many kinds there are."""
NAMES_TO_ADD = 3
FOREIGN = (
    "for Kafka give server.log, controller.log and state-change.log; for another system name its spec, such as"
    " --spec systems/etcd_server, or write yours (docs/your-service.md)"
)
LONGEST = 200
MOST_ON_PAGE = 40
UNTIMELY = frozenset({"model", "impact"})
"""Kinds of notices that say nothing about the input."""
HARMLESS = frozenset({"repeated records"})
"""Kinds of notices that tell of no loss; they come last."""
MORE = "everything else: --details; a page to forward: --html FILE; for programs: --json"
KEPT = {
    TraceVerdict.CONSISTENT: ("consistent: every line that was compared follows the rules", Tone.GOOD),
    TraceVerdict.INCONSISTENT: ("INCONSISTENT", Tone.BAD),
    TraceVerdict.VIOLATED: ("VIOLATED: every line that was compared has an explanation", Tone.BAD),
    TraceVerdict.INCONCLUSIVE: ("inconclusive", Tone.WARN),
    TraceVerdict.VACUOUS: ("vacuous", Tone.WARN),
}


def answer_lines(validation: Validation, input_: Overview, *, details: bool, width: int | None) -> list[Line]:
    """The first screen, or with ``details`` the whole answer."""
    lines = validation_lines(validation, input_) if details else first_screen(validation, input_, width)
    return [replace(line, text=short_places(line.text)) for line in lines]


def first_screen(validation: Validation, input_: Overview, width: int | None = None) -> list[Line]:
    """The lines, at most 25; on a terminal of this width none is broken into two."""
    story = timeline(validation, input_, slice_noun(validation))
    head = [*_verdict(validation), *_findings_in_words(validation, input_, len(story)), _basis(validation, input_)]
    head += _findings(validation)
    tail = last_lines(validation, input_)
    missing = [*_missing(validation, input_), *_kinds_of_lines(validation)]
    if validation.counts.read <= FEW_EVENTS:
        missing = [*_meanings(validation), *_missing(validation, input_), *_explained(validation)]
    # Five lines are for the two sections, each with a blank line and a heading, and for the blank line before the end.
    room = MOST_LINES - len(head) - len(tail) - 5
    # Two lines at least, however long the story is: what is missing may be why nothing was found.
    listed = min(len(missing), max(2, room - len(story)))
    lines = [*head, *_section("what happened (UTC)", fitting(story, room - listed), len(story), "--html")]
    lines += _section("what is missing, or was noticed", missing[:listed], len(missing), "--details")
    return [_cut(line, width) for line in (*lines, Line(""), *tail)]


def page_lines(validation: Validation, input_: Overview) -> list[Line]:
    """What a page begins with: the verdict, whom it concerns, what happened, and what to do next. Findings follow it."""
    story = timeline(validation, input_, slice_noun(validation))
    lines = [*_verdict(validation), _basis(validation, input_)]
    lines += _section("what happened (UTC)", fitting(story, MOST_ON_PAGE), len(story), "")
    return [*lines, Line(""), *_next(validation, input_)]


def brief_lines(validation: Validation, input_: Overview, room: int, width: int | None = None) -> list[Line]:
    """A first screen in at most ``room`` lines: the verdict, what is lost or stuck, whom it concerns, what happened."""
    verdict, basis = list(_verdict(validation)), _basis(validation, input_)
    reported = [*_findings_in_words(validation, input_), *_findings(validation)]
    found = [line for line in reported if line.text][: max(0, room - len(verdict) - 1)]
    story = timeline(validation, input_, slice_noun(validation))
    left = room - len(verdict) - len(found) - 2
    shown = fitting(story, left) if left >= LEAST_TOLD else []
    told = _section("what happened (UTC)", shown, len(story), "--html")[1:]
    return [_cut(line, width) for line in (*verdict, *found, basis, *told)]


def last_lines(validation: Validation, input_: Overview) -> list[Line]:
    """What to do next, and where the rest is."""
    return [*_next(validation, input_), Line(MORE, Tone.FAINT)]


def _section(heading: str, lines: Sequence[Line], count: int, option: str) -> list[Line]:
    """A part of the screen: its heading says how many lines are left out, and which option shows them."""
    more = f", and {count - len(lines):,} more" if count > len(lines) else ""
    more += f", see {option}" if more and option else ""
    return [Line(""), Line(f"{heading}{more}", Tone.HEADING), *lines] if lines else []


def _cut(line: Line, width: int | None) -> Line:
    return line if width is None or len(line.text) <= width else Line(line.text[: width - 1] + "…", line.tone)


def _short(text: str) -> str:
    """The text in one line of at most 200 characters, of whole sentences if it has some: lines of Kafka may hold whole
    requests.
    """
    if len(text) <= LONGEST:
        return text
    # A first sentence of a few words says too little to stand for the whole.
    end = text.rfind(". ", LONGEST // 3, LONGEST)
    return f"{text[: LONGEST - 1]}…" if end < 0 else text[: end + 1]


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


def _findings_in_words(validation: Validation, input_: Overview, story: int = 0) -> Iterator[Line]:
    """The findings besides broken rules, the gravest first: warnings of the logs, and remarks of the clause.

    There are fewer where the timeline has a longer ``story``.
    """
    findings = validation.trouble.findings
    groups = [each for each in remark_groups(validation) if not each.is_reported(findings)]
    # A broken rule takes lines of its own below. Without one there is room for more.
    most = MOST_TROUBLE if validation.violations else 2 * MOST_TROUBLE - (story > LEAST_STORY)
    grave = [each for each in findings if each.gravity <= Gravity.RISK][:most]
    risks = [each for each in groups if each.severity == "risk"][: min(MOST_FINDINGS, most - len(grave))]
    others = findings[len(grave) :][: most - len(grave) - len(risks)]
    known = [each for each in groups if each.severity != "risk"][: most - len(grave) - len(risks) - len(others)]
    # Lost records and risks from both sources first, then the lesser findings of both.
    yield from _trouble(grave)
    yield from _remarks(risks)
    yield from _trouble(others)
    yield from _remarks(known)
    left = len(findings) + len(groups) - len(grave) - len(risks) - len(others) - len(known)
    if left:
        yield Line(f"  and {plural(left, 'more finding')}, see --details", Tone.WARN)
    # That no line tells of a loss must not stand below a finding that does.
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
    reported = {each.event.record.place for each in validation.explanations}
    others = (each for each in validation.trouble.explained if each.count > 1 or each.first.place not in reported)
    for each in sorted(others, key=lambda lines: -lines.count):
        advice = f" {each.advice}" if each.advice else ""
        yield Line(f"  {each.count:,} x {each.level}: {_short(clean(each.text))}{clean(advice)}")


def _kinds_of_lines(validation: Validation) -> Iterator[Line]:
    """How many kinds of warnings and errors are explained, and the most frequent."""
    explained = validation.trouble.explained
    if explained:
        most = max(explained, key=lambda each: each.count)
        kinds = f"{plural(len(explained), 'kind')} of warnings and errors {'is' if len(explained) == 1 else 'are'} explained"
        yield Line(f"  {kinds} in --details; the most frequent, {most.count:,} times: {_short(clean(most.text))}")


def _remarks(groups: Sequence[RemarkGroup]) -> Iterator[Line]:
    for group in groups:
        names = some([clean(name) for name in group.names])
        times = f" ({len(group.lines):,} times)" if len(group.lines) > 1 else ""
        first = place_text(group.lines[0].record.place)
        yield Line(f"{group.heading}: {names}{': ' if names else ''}{clean(group.text)}{times} ({first})", Tone.WARN)


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
    # The change of a field is said beside its mark already.
    if violation.repair.kind not in ("none", "change") and violation.contradiction is None:
        yield Line(f"   smallest repair: {clean(violation.repair.text)}")


def _rule(blame: Blame, *, own: bool) -> str:
    """What is false: as the spec says it, or its name as words."""
    if not blame.parts:
        return f"no step `{blame.action}` is possible here"
    part = blame.parts[0]
    label = label_of(part)
    if own:
        values = ", ".join(f"{text} = {clean(value)}" for text, value in (*part.log, *part.model)[:3])
        return f"{blame.action}: {part.kind} {label or part.text} is false{f' ({values})' if values else ''}"
    action = blame.action.rpartition(".")[2].replace("_", " ")
    return f"rule broken: {action}{f', {words(label)}' if label else ''}"


# ------------------------------------------------------------------------------------------------------ what to do


def _next(validation: Validation, input_: Overview) -> Iterator[Line]:
    yield Line(f"next: {_advice(validation, input_)}", Tone.HEADING)


def _advice(validation: Validation, input_: Overview) -> str:
    # Findings are in the order of their gravity: this is the advice of the gravest that has one.
    advised = next((each.advice for each in validation.trouble.findings if each.advice), None)
    # Lost records and what is stuck go before everything that the model says.
    if advised is not None and validation.trouble.findings[0].gravity <= Gravity.STUCK:
        return clean(advised)
    if validation.violations and validation.verdict is TraceVerdict.INCONSISTENT:
        return "keep these logs; look at the marked lines and what came before them with --html"
    if validation.properties:
        return "look at the line that broke the property, and the states around it, with --html"
    risks = [group for group in remark_groups(validation) if group.severity == "risk"]
    if risks:
        names = some([clean(name) for group in risks for name in group.names])
        return (
            f"compare {names} with what producers had acknowledged"
            if names
            else f"mend this first: {clean(risks[0].text)}"
        )
    # Advice about Kafka's files is of no use for a user's own spec.
    own = own_clause(validation) is not None
    if validation.verdict is TraceVerdict.VACUOUS and own:
        return "compare what the log holds with `from` and `on` of the trace clause"
    if validation.verdict is TraceVerdict.INCONCLUSIVE and own and any(each.needed for each in validation.unmapped):
        return "mend the lines that were not understood, or say in the trace clause how they are read"
    if validation.verdict is TraceVerdict.VACUOUS and not validation.trouble.identity.modes:
        return FOREIGN
    if validation.verdict is TraceVerdict.VACUOUS:
        return (
            _to_add(input_) or "give the logs of brokers and controllers: server.log, controller.log, state-change.log"
        )
    if validation.verdict is TraceVerdict.INCONCLUSIVE:
        return ("" if own else _to_add(input_)) or "add what is missing below the timeline, and ask again"
    down = lasting(validation, input_)
    if down:
        return f"an outage lasts to the end of the log ({some(down)}); unless it was shut down, bring these back"
    return "nothing; the cluster was shut down in the end" if input_.shut_down is not None else "nothing"


def _to_add(input_: Overview) -> str:
    """Which files would say more, and of what time; empty if all were read."""
    wanted = [f"{' and '.join(names)} of {of}" for of, names in files_to_add(input_.nodes).items()]
    times = [time for node in input_.nodes for time in (node.first, node.last) if time is not None]
    if not wanted or not times:
        return ""
    more = f" and {len(wanted) - NAMES_TO_ADD} more" if len(wanted) > NAMES_TO_ADD else ""
    return (
        f"add {', '.join(wanted[:NAMES_TO_ADD])}{more}, from some minutes before {moment(min(times)):%H:%M:%S} to"
        f" {moment(max(times)):%H:%M:%S} UTC, and ask again"
    )


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
    by_kind: dict[str, list[Notice]] = {}
    for notice in (*validation.notices, *input_.lacking):
        if notice.kind not in UNTIMELY:
            by_kind.setdefault(notice.kind, []).append(notice)
    # False sorts before True: what tells of no loss comes last.
    for text in _alternating([reported_together(by_kind[each]) for each in sorted(by_kind, key=HARMLESS.__contains__)]):
        yield Line(f"  {_short(clean(text))}", Tone.WARN)


def _order(unread: Unread) -> tuple[str, int]:
    return unread.example.file, unread.example.line


def _alternating(groups: Sequence[Sequence[str]]) -> Iterable[str]:
    """The first of each group, then the others: no kind of notice hides another one."""
    yield from (group[0] for group in groups)
    yield from (text for group in groups for text in group[1:])
