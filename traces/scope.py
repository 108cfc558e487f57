"""The part of the logs that an answer concerns: an interval of time, some topics, and findings that are already
accepted.

Lines before the interval are read and used, because what happened in it depends on them. Only findings about them are
left out of the answer. Lines after it are left out altogether: they cannot change what was possible before them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from assay.traces.event import Event, Notice
from assay.traces.input.lines.timestamps import Clock
from assay.traces.result import LogViolation, TraceVerdict, Validation
from assay.traces.table.event_table import EventTable

_NUMBER = re.compile(r"\d+")


def parse_time(text: str) -> int | None:
    """A time as logs write it, with a date, in milliseconds since the epoch; None if it is not one."""
    clock = Clock()
    stamp = text.strip() + (" 00:00:00" if re.fullmatch(r"\d{4}-\d\d-\d\d", text.strip()) else "")
    found = clock.read(stamp.encode("ascii", "replace"))
    return found if clock.lacks is None else None


def events_until(events: Sequence[Event], end: int) -> tuple[Sequence[Event], list[Notice]]:
    """The events up to a time, and a notice that counts the others."""
    # Lines without a time stay: `NEVER` is before all times.
    table = EventTable.of(events)
    late = table.times > end
    if not late.any():
        return events, []
    kept, _ = table.only(np.flatnonzero(~late))  # all events of a record have its time
    return EventTable(kept.parts, table.memory), _left_out(
        table[int(np.argmax(late))], int(late.sum()), "after the end that was asked for"
    )


def events_of_topics(events: Iterable[Event], topics: Sequence[str]) -> tuple[list[Event], list[Notice]]:
    """The events of some topics, and those that concern no topic; and a notice that counts the others."""
    kept: list[Event] = []
    left: list[Event] = []
    for event in events:
        (left if event.fields.get("topic", topics[0]) not in topics else kept).append(event)
    return kept, _left_out(left[0], len(left), "of topics that were not asked for") if left else []


def _left_out(first: Event, count: int, why: str) -> list[Notice]:
    return [Notice("left out", first.record.place, f"{count:,} events {why} were left out")]


def answer_since(validation: Validation, begin: int) -> Validation:
    """The answer about what happened from a time on. Findings before it are counted, and do not affect the verdict."""
    early = [each for each in validation.violations if _before(each.event, begin)]
    properties = [each for each in validation.properties if each.event is None or _before(each.event, begin)]
    if not (early or properties):
        return validation
    place = early[0].place if early else None
    text = f"{len(early) + len(properties):,} findings before the beginning that was asked for are not listed"
    late = tuple(each for each in validation.properties if each not in properties)
    answer = _without(replace(validation, properties=late), early, Notice("before the beginning", place, text))
    if answer.verdict is TraceVerdict.VIOLATED and not late:
        return replace(answer, verdict=_verdict_without_violations(answer))
    return answer


def _before(event: Event, begin: int) -> bool:
    return event.record.time is not None and event.record.time < begin


def finding_id(violation: LogViolation) -> str:
    """An id of a mismatch that is the same for each recurrence.

    It covers the event, the action and the failed conditions, without numbers.
    """
    # Without numbers, so that a finding that recurs with another epoch or offset has the id that was accepted.
    message = _NUMBER.sub("#", violation.event.record.message.partition("\n")[0])
    kind, action, *parts = _broken(violation)
    return _name(kind, action, message, *parts)


def cause_id(violation: LogViolation) -> str:
    """An id of what several mismatches have in common: the kind of event, the action, and the failed conditions."""
    return _name(*_broken(violation))


def by_cause(violations: Iterable[LogViolation]) -> list[list[LogViolation]]:
    """The mismatches grouped by cause, in the order of the first mismatch of each group."""
    found: dict[str, list[LogViolation]] = {}
    for each in violations:
        found.setdefault(cause_id(each), []).append(each)
    return list(found.values())


def _broken(violation: LogViolation) -> list[str]:
    """The kind of event, the action, and the failed conditions of the likeliest culprit."""
    first = violation.blame[0] if violation.blame else None
    parts = [(part.kind, part.label.rpartition("/")[2], part.text) for part in first.parts] if first is not None else []
    return [violation.event.kind, first.action if first is not None else violation.action, *map(str, parts)]


def _name(*what: str) -> str:
    return hashlib.blake2b("\n".join(what).encode(), digest_size=5).hexdigest()


def known_ids(text: str) -> list[str]:
    """The ids of findings in a file: the first word of each line; ``#`` begins a comment."""
    lines = (line.partition("#")[0].split() for line in text.splitlines())
    return [words[0] for words in lines if words]


def without_known(validation: Validation, known: Sequence[str]) -> Validation:
    """The answer without the findings that are accepted, which are counted by id; and a notice for each id that did not
    occur.
    """
    accepted = [each for each in validation.violations if finding_id(each) in known]
    ids = [finding_id(each) for each in accepted]
    answer = validation
    for name in dict.fromkeys(ids):
        own = [each for each, id_ in zip(accepted, ids, strict=True) if id_ == name]
        text = f"{len(own):,} findings {name} are known and accepted, such as `{own[0].event.record.message.partition(chr(10))[0]}`"
        answer = _without(answer, own, Notice("known finding", own[0].place, text))
    # An id that no longer occurs is told, so that a list of accepted findings does not outlive them.
    absent = [name for name in dict.fromkeys(known) if name not in ids]
    notices = tuple(Notice("known finding", None, f"the known finding {name} did not occur") for name in absent)
    return replace(answer, notices=(*answer.notices, *notices))


def _without(validation: Validation, violations: Sequence[LogViolation], notice: Notice) -> Validation:
    """The answer without some of its violations: consistent if none is left and the search was complete."""
    left = tuple(each for each in validation.violations if each not in violations)
    answer = replace(validation, violations=left, notices=(*validation.notices, notice))
    if left or validation.verdict is not TraceVerdict.INCONSISTENT:
        return answer
    open_ = next((each for each in validation.slices if each.verdict is TraceVerdict.INCONCLUSIVE), None)
    reason = validation.reason if open_ is None else validation.reason or f"{open_.name}: {open_.reason}"
    return replace(answer, verdict=_verdict_without_violations(answer), reason=reason)


def _verdict_without_violations(validation: Validation) -> TraceVerdict:
    """The verdict of an answer from which all violations were taken. As long as there was one, it hid what else is
    open."""
    # A search that ended at a mismatch, or at a limit, says nothing of what came after it.
    ended = validation.reason is not None or validation.execution is None
    of_slices = any(each.verdict is TraceVerdict.INCONCLUSIVE for each in validation.slices)
    of_whole = validation.whole is not None and validation.whole.verdict is TraceVerdict.INCONCLUSIVE
    if ended or of_slices or of_whole or any(each.needed for each in validation.unmapped):
        return TraceVerdict.INCONCLUSIVE
    if validation.properties:
        return TraceVerdict.VIOLATED
    return TraceVerdict.VACUOUS if validation.rests_on and not validation.held else TraceVerdict.CONSISTENT
