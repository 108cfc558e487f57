"""Lines of trouble by family: their fields, the brokers that wrote them, and the sentence about them where nothing more is known."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property

from assay.grammar.lazy_dataclass import dataclass
from assay.traces.event import LogRecord
from assay.traces.input.lines.trouble_tally import TROUBLE_LEVELS, TroubleGroup
from assay.traces.log_reader import LogReading, NodeTrouble
from assay.traces.patterns.statement_catalogue import LogStatement, statement_catalogue
from assay.traces.trouble.causes import cause_of
from assay.traces.trouble.finding import ExplainedLines, Gravity, LostRange, TroubleFinding, UnexplainedLines

LINES_SHOWN = 5
_WRITER = re.compile(
    r"(?:\bid ?= ?|\bbroker ?= ?|\breplicaId=|\bon broker |\bnodeId=|\b(?:Broker|Controller) (?:id=)?|brokerId=)(\d+)"
)
# `[Partition orders-0 broker=1] …` and `[Log partition=orders-0, dir=/data] …`.
_OF_HEAD = re.compile(r"\[(?:Partition |\w*Log partition=|LogLoader partition=)([\w.-]+-\d+)[ ,]")
_CONTROLLERS = ("org.apache.kafka.controller.", "kafka.server.Controller")
"""How the names of loggers begin that only controllers of KRaft mode have."""
METADATA_LOG = "__cluster_metadata-0"


@dataclass(frozen=True, slots=True)
class TroubleLine:
    """A line of trouble: its node, its broker's id if that is known, its family's fields, and the record."""

    node: str
    broker: int | None
    fields: dict[str, str]
    record: LogRecord

    @property
    def who(self) -> str:
        """The broker, or the node."""
        return _called(self.node, self.broker, self.record)

    @property
    def time(self) -> int:
        """When it was written, in milliseconds since the epoch; 0 if that is not known."""
        return self.record.time or 0

    def number(self, name: str) -> int | None:
        """A field that is a whole number."""
        text = self.fields.get(name)
        return int(text) if text is not None and re.fullmatch(r"-?\d+", text) else None

    @property
    def partition(self) -> str:
        """The field `partition`, as `topic-0`."""
        return partition_name(self.fields.get("partition", ""))

    @property
    def named_partition(self) -> str:
        """The field `partition`, else the one that the head of the line names; empty if neither is there."""
        found = _OF_HEAD.search(self.record.message)
        return self.partition or ("" if found is None else found[1])


def partition_name(text: str) -> str:
    """A partition as `topic-0`, whichever way a version writes it."""
    # `orders-0`, and `[orders,0]` as early versions print it.
    found = re.fullmatch(r"\[?([\w.-]+?)(?:-|, ?)(\d+)\]?", text)
    return f"{found[1]}-{found[2]}" if found is not None else text


def _in_order(reading: LogReading) -> list[NodeTrouble]:
    """The groups by the time of their first lines, whichever file or part of a file was read first."""
    return sorted(reading.trouble, key=_begin)


def _begin(each: NodeTrouble) -> tuple[float, str, str, int, str]:
    first = each.group.first
    return first.time or 0, each.node, first.place.file, first.place.line, each.group.text


class TroubleLines:
    """The lines of trouble of all logs, by family."""

    def __init__(self, reading: LogReading) -> None:
        self.reading = reading
        self._brokers = {node.name: node.brokers for node in reading.nodes}
        self._by_family: dict[str, list[tuple[str, TroubleGroup]]] = {}
        for each in _in_order(reading):
            if each.group.statement:
                self._by_family.setdefault(each.group.statement, []).append((each.node, each.group))

    @cached_property
    def families(self) -> list[LogStatement]:
        """The families that have lines, in the order of the catalogue."""
        return [each for each in statement_catalogue().statements if each.name in self._by_family]

    def of(self, *names: str) -> list[TroubleLine]:
        """The kept lines of families, by time; lines that several files hold count once."""
        found: dict[tuple[object, ...], TroubleLine] = {}
        for name in names:
            family = statement_catalogue().named(name)
            for node, group in self._by_family.get(name, ()):
                # All lines are kept of families with `each` alone; of the others the first and the last are.
                for record in group.lines or [group.first, *([group.last] if group.count > 1 else [])]:
                    key = (node, record.time, record.message)
                    fields = family.fields(record.message) or {}
                    found.setdefault(key, TroubleLine(node, self.broker(node, record), fields, record))
        # By time, because durations and the first line of a finding are read off the ends of the list.
        return sorted(found.values(), key=lambda line: (line.time, line.record.place.file, line.record.place.line))

    def count(self, name: str) -> int:
        """How many lines a family has."""
        return sum(group.count for _, group in self._by_family.get(name, ()))

    def nodes(self, name: str) -> tuple[str, ...]:
        """The brokers or nodes that wrote lines of a family."""
        found = [self._who(node, group.first) for node, group in self._by_family.get(name, ())]
        return tuple(dict.fromkeys(found))

    def groups(self, name: str) -> list[tuple[str, TroubleGroup]]:
        """The lines of a family by node and log."""
        return self._by_family.get(name, [])

    def is_over(self, family: LogStatement) -> bool:
        """Whether what a family tells has ended on every node, as later events say."""
        if not family.until:
            return False
        ends: dict[str, int] = {}
        for event in self.reading.of_kinds(frozenset(family.until)):
            ends[event.run.node] = max(ends.get(event.run.node, 0), event.record.time or 0)
        return all(node in ends and (group.last.time or 0) < ends[node] for node, group in self._by_family[family.name])

    def broker(self, node: str, record: LogRecord) -> int | None:
        """The id of the broker or controller that wrote a line: as the line says, else the only one of its node."""
        # Only in the head of the line: the text behind it may name other brokers.
        head = re.match(r"(?:\[[^\]\n]*\][:,]? ?)+|(?:Partition .{1,300}? on broker \d+)", record.message)
        logged = _WRITER.search(head[0]) if head is not None else None
        if logged is not None:
            return int(logged[1])
        # A node with several ids does not tell which of them wrote the line.
        own = self._brokers.get(node, ())
        return own[0] if len(own) == 1 else None

    def _who(self, node: str, record: LogRecord) -> str:
        return _called(node, self.broker(node, record), record)


def _called(node: str, id_: int | None, record: LogRecord) -> str:
    """The writer of a line in an operator's words: a broker or, in KRaft mode, a controller."""
    kind = "controller" if record.logger.startswith(_CONTROLLERS) else "broker"
    return node if id_ is None else f"{kind} {id_}"


def generic_findings(lines: TroubleLines, taken: Collection[str]) -> Iterator[TroubleFinding]:
    """A finding for each family that is one by itself and that no other rule has taken."""
    for family in lines.families:
        if family.gravity and family.name not in taken and not lines.is_over(family):
            yield family_finding(lines, family)


def family_finding(lines: TroubleLines, family: LogStatement) -> TroubleFinding:
    """The finding of one family, described by its first line."""
    found = lines.of(family.name)
    first, count = found[0], lines.count(family.name)
    cause = cause_of(first.record.message)
    text = f"{first.who}: {family.explain(first.record.message)}" + (f" Cause: {cause}." if cause else "")
    partitions = tuple(dict.fromkeys(each.named_partition for each in found if each.named_partition))
    return TroubleFinding(
        gravity=Gravity[family.gravity],
        heading=family.heading,
        text=text + (f" ({count:,} lines)" if count > 1 else ""),
        advice=family.advice,
        reference=family.reference,
        nodes=lines.nodes(family.name),
        partitions=partitions,
        begin=found[0].record.time,
        end=found[-1].record.time,
        count=count,
        lines=tuple(each.record for each in found[:LINES_SHOWN]),
        lost=tuple(_lost(family, each) for each in found) if family.lost else (),
    )


def _lost(family: LogStatement, line: TroubleLine) -> LostRange:
    """What a line says may be gone: of the partition that it names, or of the metadata log."""
    begin = line.number(family.lost[0])
    end = line.number(family.lost[1]) if len(family.lost) > 1 else None
    return LostRange(line.named_partition or METADATA_LOG, begin, end, certain=False)


def explained_lines(lines: TroubleLines, taken: Collection[str]) -> Iterator[ExplainedLines]:
    """The families whose lines are explained and are no finding."""
    for family in lines.families:
        if family.name in taken or (family.level == "INFO" and not family.gravity):
            continue
        group = lines.groups(family.name)[0][1]
        text = family.explain(group.first.message)
        nodes = lines.nodes(family.name)
        yield ExplainedLines(
            family.name, group.level, text, family.advice, lines.count(family.name), group.first, nodes
        )


def unexplained_lines(reading: LogReading) -> Iterator[UnexplainedLines]:
    """The lines of trouble that neither the catalogue nor a line pattern explains, the most frequent first."""
    merged: dict[tuple[str, str, str], UnexplainedLines] = {}
    for each in _in_order(reading):
        group = each.group
        if group.statement or group.described:
            continue
        key = (group.level, group.logger, group.text)
        before = merged.get(key)
        count, place = (0, group.first.place) if before is None else (before.count, before.place)
        merged[key] = UnexplainedLines(*key, count + group.count, place)
    yield from sorted(merged.values(), key=lambda lines: (-lines.count, lines.logger, lines.text))


def trouble_groups(reading: LogReading) -> Sequence[TroubleGroup]:
    """The groups of lines at WARN and above."""
    return [each.group for each in reading.trouble if each.group.level in TROUBLE_LEVELS]
