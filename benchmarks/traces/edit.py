"""A field of a recorded line changed in the line's text, and what the line's shapes then read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from assay.grammar.identity_memo import IdentityMemo
from assay.traces.event import Event, Field
from assay.traces.incremental.incremental_recheck import Change
from assay.traces.patterns.catalogue import Catalogue
from assay.traces.patterns.line_regex import MatchExtent
from assay.traces.patterns.pattern import LinePattern

_MEMBER = re.compile(r"BrokerState\(brokerId=\d+, brokerEpoch=-?\d+\)|\d+")


def printed(catalogue: Catalogue, event: Event, field: str) -> tuple[int, int] | None:
    """Where the text of a field stands in its record's message; None if the line does not print it."""
    pattern = catalogue.pattern(event.pattern)
    for found in pattern.regex.compiled.finditer(event.record.message):
        for name in (field, f"{field}_"):
            text = found.group(name) if name in pattern.regex.compiled.groupindex else None
            if text is not None and pattern.fields[field](text) == event.fields.get(field):
                return found.span(name)
    return None


def as_text(old: str, new: Field) -> str:
    """A value as Kafka prints it where it printed another: a list keeps its brackets, and what is said of its members."""
    if not isinstance(new, tuple):
        return "-1" if new is None else str(new)
    members = [found[0] for found in _MEMBER.finditer(old)]
    model = members[0] if members else "0"
    texts = [re.sub(r"\d+", str(each), model, count=1) for each in new]
    inner = re.search(r"[\[(]?(" + re.escape(members[0]) + r".*" + ")" if members else r"()$", old)
    begin = inner.start(1) if inner is not None else len(old)
    end = max((found.end() for found in _MEMBER.finditer(old)), default=begin)
    return old[:begin] + (", " if ", " in old[begin:end] or "(" in old else ",").join(texts) + old[end:]


def edited(catalogue: Catalogue, line: Sequence[Event], event: Event, field: str, new: Field) -> Change | None:
    """How all events of a line change if its text has another value in a field of one of them. None if the line does
    not print the field.
    """
    span = printed(catalogue, event, field)
    if span is None:
        return None
    message = event.record.message
    old = message[span[0] : span[1]]
    return reread(catalogue, line, message[: span[0]] + as_text(old, new) + message[span[1] :])


def reread(catalogue: Catalogue, line: Sequence[Event], message: str) -> Change:
    """The events of a line, one or several of each shape, if its message were another."""
    by_pattern: dict[tuple[str, object], list[Event]] = {}
    for event in line:
        by_pattern.setdefault((event.pattern, event.fields.get("slice")), []).append(event)
    change: Change = IdentityMemo()
    for (name, _), events in by_pattern.items():
        pattern: LinePattern = catalogue.pattern(name)
        found = pattern.match(message) or pattern.match(
            message.partition("\n")[0]
        )  # as readers do: a stack trace is no part of it
        record = replace(events[0].record, message=message)
        first = replace(events[0], record=record)
        for event in events:
            change[event] = ()
        change[events[0]] = tuple(replace(first, fields={**first.fields, **fields}) for fields in found)
        if pattern.reads is not MatchExtent.EACH and not found:
            change[events[0]] = ()
    return change
