"""Lines that contradict each other, in words: what each says, where, and which rules stand between them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from assay.grammar import kernel as k
from assay.grammar.identity_memo import IdentityMemo
from assay.grammar.values import Atom, FrozenMap, RecordValue, Some, Value, VariantValue
from assay.traces.durations import moment
from assay.traces.event import Event
from assay.traces.explain.failed_atoms import ConditionPrinter
from assay.traces.observe.partial_order import OrderedObservation, action_of, by_time
from assay.traces.patterns.rule_files import rule_file
from assay.traces.result import Blame, LineContradiction, LogViolation, Repair
from assay.traces.table.statement_keys import EVERY_SLICE

if TYPE_CHECKING:
    from assay.traces.windows.slice_window import WindowRefuted

MOST_RULES = 6
"""How many rules a contradiction names at most; the switches of hidden steps are often among them."""


def contradiction_of(refuted: WindowRefuted, kernel: k.Kernel, writer: ConditionPrinter) -> LineContradiction:
    """The contradiction of a refuted window."""
    items = _by_event(refuted.items)
    events = tuple(each[0].observation.event for each in items)
    called = {call.action for group in items for each in group for step in each.observation.rule.steps for call in step}
    rules = [*_guards(refuted.guards, called, kernel, writer), *_properties(refuted.properties)]
    return LineContradiction(events, _sentence(items), tuple(rules[:MOST_RULES]))


CONTRADICTORY = "whatever else the logs hold or lack: one of these lines is wrong, or a rule was broken"


def violation_of_window(
    refuted: WindowRefuted,
    kernel: k.Kernel,
    writer: ConditionPrinter,
    lines: Sequence[OrderedObservation],
    mismatches: Sequence[LogViolation] = (),
) -> LogViolation:
    """The finding of a refuted window among some lines. Its lines are blamed: first the one that a mismatch names, then
    those that fewest of all lines confirm, and of these the last. What ``mismatches`` say of these lines stays: the
    values that the model has instead, and the repair.
    """
    found = contradiction_of(refuted, kernel, writer)
    own = {each.observation.event.record.place: each for each in refuted.items}
    named = [each for each in mismatches if each.place in own]
    # Reversed, because the last entry of a place stays: of several blames of a line the first is the likeliest.
    known = {blame.place: blame for each in mismatches[::-1] for blame in each.blame[::-1]}
    events = [each.event for each in named[:1]]
    events += [each.observation.event for each in least_confirmed(own.values(), lines)]
    blames = {
        event.record.place: known.get(event.record.place) or Blame(event, action_of(own[event.record.place]), ())
        for event in events
    }
    first = blames[events[0].record.place]
    repairs = (each.repair for each in named[:1] if each.repair.kind == "change")
    repair = next(repairs, Repair("none", CONTRADICTORY, first.event))
    return LogViolation(first.event, first.action, tuple(blames.values()), repair, found, certain=True)


def least_confirmed(
    items: Iterable[OrderedObservation], lines: Sequence[OrderedObservation]
) -> list[OrderedObservation]:
    """Lines that contradict each other, the one first that fewest of all ``lines`` confirm, and of these the last."""
    last_first = sorted(items, key=by_time, reverse=True)
    confirmed = {each.index: sum(_confirms(each, other) for other in lines) for each in last_first}
    # A stable sort: of equally confirmed lines the last one stays first.
    return sorted(last_first, key=lambda each: confirmed[each.index])


def _confirms(line: OrderedObservation, other: OrderedObservation) -> bool:
    """Whether another line says the same in at least two fields that both lines have. Fields that name an element, such
    as the writer, do not count."""
    if other.observation.event is line.observation.event:
        return False
    mine, theirs = (
        {name: value for name, value in each.observation.values if not isinstance(value, Atom)}
        for each in (line, other)
    )
    common = mine.keys() & theirs.keys()
    # One field alone agrees by chance, as a version or an epoch does.
    return len(common) > 1 and all(mine[name] == theirs[name] for name in common)


def _by_event(items: Sequence[OrderedObservation]) -> list[list[OrderedObservation]]:
    """The items of each line, in the order of time."""
    # By identity: events of equal content are still two lines, and events are not hashable.
    groups: IdentityMemo[Event, list[OrderedObservation]] = IdentityMemo()
    for each in sorted(items, key=lambda item: (item.time, item.index)):
        groups.get_or_make(each.observation.event, lambda _: []).append(each)
    return list(groups.values())


def _guards(
    guards: Sequence[tuple[str, str]], called: set[str], kernel: k.Kernel, writer: ConditionPrinter
) -> Iterator[str]:
    """The guards in the core, those of the lines' own actions first."""
    for action, label in sorted(guards, key=lambda each: each[0] not in called):
        known = next((each for each in kernel.actions if each.name == action), None)
        for guard in () if known is None else known.body:
            if isinstance(guard, k.Guard) and guard.label == label:
                yield f"{action} needs {label}: {writer.text(guard.condition)}"
                break


def _properties(properties: Sequence[k.Property]) -> Iterator[str]:
    for each in properties:
        yield f"{each.kind} {each.name}" + (f": {each.doc}" if each.doc else "")


def _sentence(items: Sequence[Sequence[OrderedObservation]]) -> str:
    """What the lines say, in one sentence."""
    if len(items) == 1:
        return f"no beginning explains what this line says: {_said(items[0])}"
    same = _alike(items)
    if same is not None:
        return same
    return "these lines contradict each other: " + "; ".join(_said(each) for each in items)


def _alike(items: Sequence[Sequence[OrderedObservation]]) -> str | None:
    """The sentence for lines of different nodes that say the same, if there is one for their kinds."""
    events = [each[0].observation.event for each in items]
    # The sentences tell of nodes that disagree, as when two claim one epoch. Two lines of one node do not do so.
    if len({each.run.node for each in events}) < len(events):
        return None
    for known in _sentences():
        logged = [
            {**_fields(each), "time": _time(event), "place": str(event.record.place), "node": event.run.node}
            for each, event in zip(items, events, strict=True)
        ]
        same = [tuple(each.get(name) for name in known["same"]) for each in logged]
        if {each.kind for each in events} <= set(known["events"]) and len(set(same)) == 1 and None not in same[0]:
            lines = ", ".join(
                next(filter(None, (_filled(text, each) for text in known["each"])), "") for each in logged
            )
            return _filled(known["text"], {**logged[0], "lines": lines})
    return None


def _filled(text: str, logged: Mapping[str, str]) -> str | None:
    """A text with the values of fields; None if one has none."""
    try:
        return text.format(**logged)
    except KeyError:
        return None


@cache
def _sentences() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = rule_file("contradictions.toml")["sentence"]
    return found


_UNNAMED = frozenset({"run", "previous_run", EVERY_SLICE})
"""Fields that name what every line is of."""


def _fields(items: Sequence[OrderedObservation]) -> Mapping[str, str]:
    """What a line states, as far as the rules read it."""
    found: dict[str, Value] = {}
    for each in items:
        found |= {name: value for name, value in each.observation.values if name not in _UNNAMED}
    return {name: _text(value) for name, value in found.items()}


def _text(value: Value) -> str:
    match value:
        # Before tuples: elements, options, variants and records are named tuples.
        case Atom(_, _, name):
            return name
        case Some(inner):
            return _text(inner)
        case VariantValue(variant, row):
            return f"{variant}({', '.join(map(_text, row))})" if row else variant
        case RecordValue(row):
            return f"({', '.join(map(_text, row))})"
        case FrozenMap():
            return f"[{', '.join(sorted(f'{_text(key)} -> {_text(of)}' for key, of in value.items()))}]"
        case None:
            return "none"
        case bool():
            return "true" if value else "false"
        case frozenset():
            return f"[{', '.join(sorted(map(_text, value)))}]"
        case tuple():
            return f"[{', '.join(map(_text, value))}]"
        case _:
            return str(value)


def _said(items: Sequence[OrderedObservation]) -> str:
    event = items[0].observation.event
    logged = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in _fields(items).items())
    return f"{_words(event.kind)} ({logged}) at {_time(event)} ({event.record.place})"


def _time(event: Event) -> str:
    if event.record.time is None:
        return "no stated time"
    return moment(event.record.time).strftime("%H:%M:%S")


def _words(kind: str) -> str:
    """``ControllerElected`` as words."""
    parts = "".join(f" {each.lower()}" if each.isupper() else each for each in kind)
    return parts.strip()
