"""Which of the lines that tell of the protocol are used: an answer rests on these, and on no other."""

from __future__ import annotations

import re
import tarfile
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from assay.traces.event import Event
from assay.traces.observe.binding import bind
from assay.traces.shared_search import SharedValidation, check
from assay.traces.slices.slice_validator import Joiner

from .recorded import archive, asked, events_of

PATTERNS = Path(__file__).with_name("protocol_lines.tsv")
REPLICATION = "replication"
"""The subject of lines that tell of offsets, of logs, and of connections alone: nothing of it is in the models of clusters."""

_HEAD = re.compile(r"\[\d{4}-\d\d-\d\d ")
"""The beginning of a record in the layout of the recorded runs; other lines continue one."""

Line = tuple[str, int]
"""A file as events name it, and a line of it."""


@cache
def patterns() -> tuple[tuple[str, str, re.Pattern[str]], ...]:
    """The patterns of the protocol's lines, each with its subject and name; a line is of the first that it matches."""
    rows = (line.split("\t") for line in PATTERNS.read_text(encoding="utf-8").splitlines()[1:])
    return tuple((subject, name, re.compile(pattern)) for subject, name, pattern in rows)


def protocol_lines(run: str) -> Iterator[tuple[Line, str, str]]:
    """The lines of a run that match a pattern, with its subject and name."""
    with tarfile.open(archive(run)) as content:
        for member in content:
            text = content.extractfile(member)
            for number, line in enumerate(text or (), 1):
                if _HEAD.match(decoded := line.decode("utf-8", "replace")):
                    for subject, name, pattern in patterns():
                        if pattern.search(decoded):
                            yield (f"{archive(run)}!{member.name}", number), subject, name
                            break


def used_lines(checked: SharedValidation) -> set[Line]:
    """The lines of which at least one event is compared with the model."""
    model = checked.search.model
    events = [seen.event for seen in bind(model.plan, checked.parts.shared, model.applies).observations]
    if checked.joint is not None:
        model = Joiner(checked.joint).model
        for of_slice in checked.parts.slices.values():
            events += [seen.event for seen in bind(model.plan, of_slice, model.applies).observations]
    return _lines(events)


def _lines(events: Iterable[Event]) -> set[Line]:
    return {(event.record.place.file, event.record.place.line) for event in events}


def protocol_run(run: str) -> dict[str, Any]:
    """How many protocol lines of a run there are of each subject, how many are used, and which of the others there are most of."""
    events = events_of(run)
    loaded, clause = asked(events)
    used = used_lines(check(loaded, events, clause=clause))
    found = list(protocol_lines(run))
    lines, taken = Counter(s for _, s, _ in found), Counter(s for place, s, _ in found if place in used)
    idle = Counter(name for place, subject, name in found if place not in used and subject != REPLICATION)
    return {
        "run": run,
        "lines": dict(lines),
        "used": dict(taken),
        "not_used": dict(idle.most_common(6)),
        "unread": len({place for place, _, _ in found} - _lines(events)),
    }
