"""Known bugs of Kafka, recognised by their signatures in ``traces/patterns/rules/known_bugs.toml``.

A signature is about lines, about events of one process, or about a step of the execution that explains the logs. A
bug is recognised in logs of the versions that have it, and in logs that name no version.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from assay.grammar.lazy_dataclass import dataclass
from assay.traces.event import Event, LogRecord, Remark
from assay.traces.log_reader import LogReading
from assay.traces.patterns.rule_files import rule_file
from assay.traces.trouble.families import LINES_SHOWN, TroubleLine, TroubleLines
from assay.traces.trouble.finding import Gravity, TroubleFinding

_FIELD = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class BugSignature:
    """What a bug looks like: in versions from ``since`` up to, without, ``fixed``; exactly one of the three kinds of
    evidence is given. ``switch`` names the module and the parameter of the spec that has the rule.
    """

    jira: str
    switch: str
    since: str
    fixed: str
    heading: str
    text: str
    advice: str
    lines: Mapping[str, Any] | None = None
    event: Mapping[str, Any] | None = None
    remark: Mapping[str, Any] | None = None

    def concerns(self, versions: Iterable[str]) -> bool:
        """Whether a node of one of these versions, or of an unknown one, has the bug."""
        # Of a rolling upgrade any version that has the bug is enough: some node ran it.
        known = [release(version) for version in versions]
        return not known or any(release(self.since) <= each < release(self.fixed) for each in known)

    @property
    def versions(self) -> str:
        """The versions that have it, in words."""
        return f"Kafka {self.since} up to, not including, {self.fixed}"

    def finding(
        self, fields: Mapping[str, object], records: Sequence[LogRecord], nodes: tuple[str, ...], count: int
    ) -> TroubleFinding:
        """The finding, with the fields of its first line in its texts."""
        partition = str(fields.get("partition", ""))
        return TroubleFinding(
            gravity=Gravity.BUG,
            heading=_filled(self.heading, fields),
            text=_filled(self.text, fields),
            advice=f"{_filled(self.advice, fields)} {self.jira}, in {self.versions}; mended in Kafka {self.fixed}.",
            reference=self.jira,
            nodes=nodes,
            partitions=(partition,) if partition else (),
            begin=records[0].time,
            end=records[-1].time,
            count=count,
            lines=tuple(records[:LINES_SHOWN]),
        )


@cache
def signatures() -> tuple[BugSignature, ...]:
    """All signatures."""
    return tuple(BugSignature(**entry) for entry in rule_file("known_bugs.toml")["bug"])


def release(version: str) -> tuple[int, ...]:
    """A version as numbers, to be compared."""
    # `2.8.0-IV1` and `3.9.0-ccs` are compared by the part before the hyphen.
    return tuple(int(part) for part in re.findall(r"\d+", version.partition("-")[0])[:4])


def known_bugs(reading: LogReading, lines: TroubleLines) -> Iterator[TroubleFinding]:
    """The bugs that lines and events show."""
    present = {family.name for family in lines.families}
    versions = {node.name: node.versions for node in reading.nodes}
    for bug in signatures():
        if bug.lines is not None and bug.lines["statement"] in present:
            yield from _by_lines(bug, bug.lines, lines, versions, reading.versions, few=reading.is_excerpt)
        if bug.event is not None:
            yield from _by_events(bug, bug.event, reading, versions)


def bugs_of_execution(remarks: Iterable[Remark], versions: Sequence[str]) -> Iterator[TroubleFinding]:
    """The bugs that steps of the accepted execution show, one finding for each bug and node."""
    every = list(remarks)
    for bug in signatures():
        if bug.remark is None or not bug.concerns(versions):
            continue
        shown = [each.event for each in every if each.text.startswith(bug.remark["text"])]
        for node in dict.fromkeys(event.run.node for event in shown):
            own = [event for event in shown if event.run.node == node]
            yield bug.finding({}, [event.record for event in own], (node,), len(own))


def _by_lines(
    bug: BugSignature,
    wanted: Mapping[str, Any],
    lines: TroubleLines,
    versions: Mapping[str, tuple[str, ...]],
    every: tuple[str, ...],
    *,
    few: bool,
) -> Iterator[TroubleFinding]:
    """Lines of a family that are alike, of one writer, often and long enough; an excerpt shows less of them."""
    alike: dict[tuple[object, ...], list[TroubleLine]] = {}
    for line in lines.of(wanted["statement"]):
        # The stack trace, not the line itself: several bugs write one and the same first line.
        below = line.record.message.partition("\n")[2]
        if "below" not in wanted or re.search(wanted["below"], below):
            same = tuple(_field(line, name) for name in wanted.get("alike", ()))
            alike.setdefault((line.node, line.who, *same), []).append(line)
    for found in alike.values():
        first, duration = found[0], found[-1].time - found[0].time
        often = len(found) >= wanted.get("at_least", 1) and duration >= wanted.get("lasting_ms", 0)
        # Without `lasting_ms_of_few` an excerpt shows nothing: no duration is as long as itself and one more.
        often = often or (few and len(found) > 1 and duration >= wanted.get("lasting_ms_of_few", duration + 1))
        if often and bug.concerns(versions.get(first.node) or every):
            reported = {**first.fields, "partition": first.named_partition, "duration": in_words(duration)}
            reported |= {"who": first.who, "Who": first.who[0].upper() + first.who[1:]}
            yield bug.finding(reported, [each.record for each in found], (first.who,), len(found))


def _field(line: TroubleLine, name: str) -> str | None:
    return line.named_partition if name == "partition" else line.fields.get(name)


def _by_events(
    bug: BugSignature, wanted: Mapping[str, Any], reading: LogReading, versions: Mapping[str, tuple[str, ...]]
) -> Iterator[TroubleFinding]:
    """Events about what the same process has had before, and that nothing later mends."""
    kinds = frozenset((wanted["kind"], wanted["in"], *wanted["unless"]))
    had: set[tuple[object, object]] = set()
    shown: dict[tuple[object, object], list[Event]] = {}
    for event in sorted(reading.of_kinds(kinds), key=lambda each: each.record.time or 0):
        if event.kind == wanted["in"]:
            had.add((event.run, event.fields.get(wanted["had"])))
        elif event.kind == wanted["kind"]:
            key = event.run, event.fields.get(wanted["field"])
            if key in had and bug.concerns(versions.get(event.run.node, ()) or reading.versions):
                shown.setdefault(key, []).append(event)
        else:
            # One of the kinds `unless`: the process has got what it was refused, so it was no bug.
            shown = {key: events for key, events in shown.items() if key[0] != event.run}
    for events in shown.values():
        fields = events[0].fields
        who = f"broker {fields['broker']}" if "broker" in fields else events[0].run.node
        reported = {**fields, "who": who, "Who": who[0].upper() + who[1:]}
        yield bug.finding(reported, [event.record for event in events], (who,), len(events))


def _filled(text: str, fields: Mapping[str, object]) -> str:
    return _FIELD.sub(lambda name: str(fields.get(name[1], "?")), text)


def in_words(milliseconds: int) -> str:
    """A time in days, hours and minutes; one below a minute in seconds."""
    if milliseconds < 60_000:
        return f"{milliseconds // 1000} s"
    minutes = milliseconds // 60_000
    days, hours, minutes = minutes // 1440, minutes // 60 % 24, minutes % 60
    parts = [f"{days} d"] if days else []
    parts += [f"{hours} h"] if hours else []
    return " ".join([*parts, *([f"{minutes} min"] if minutes or not parts else [])])
