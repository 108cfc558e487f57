"""Lines of trouble while a text is read: each family with its count and its first lines, and the loggers that wrote.

A line of trouble is one at WARN or above of a logger of Kafka, or one below of which the catalogue has a family.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import field, replace

from assay.grammar.lazy_dataclass import dataclass
from assay.traces.event import LogPosition, LogRecord
from assay.traces.patterns.match import mask
from assay.traces.patterns.statement_catalogue import LogStatement, StatementCatalogue

TROUBLE_LEVELS = frozenset({"WARN", "ERROR", "FATAL", "SEVERE", "WARNING"})
KEPT = 4_000
"""Of a family whose every line matters, at most this many lines of a text are kept."""

_TAIL = 2_000
"""So much of the first line of a record is kept, and of what follows it, in characters."""

OF_KAFKA = re.compile(r"(?:(?:org\.apache\.)?kafka|state\.change|org\.apache\.zookeeper)\b")
_DIGITS = bytes.maketrans(b"123456789", b"000000000")


@dataclass(slots=True)
class TroubleGroup:
    """Lines of one family, or of equal text but for numbers: their count, the first, the last, and all if they matter.

    ``statement`` is the name of the family, ``described`` whether a line pattern describes the lines.
    """

    logger: str
    level: str
    text: str
    statement: str
    described: bool
    count: int
    first: LogRecord
    last: LogRecord
    lines: list[LogRecord] = field(default_factory=list)

    def add(self, other: TroubleGroup) -> None:
        """Add lines that follow."""
        self.count += other.count
        self.last = other.last
        self.lines += other.lines[: KEPT - len(self.lines)]


GroupKey = tuple[str, str, str]


@dataclass(slots=True)
class TroubleTally:
    """The lines of trouble of one text, and its loggers, each with its first record."""

    groups: dict[GroupKey, TroubleGroup] = field(default_factory=dict)
    loggers: dict[str, LogPosition] = field(default_factory=dict)
    noted: set[int] = field(default_factory=set, compare=False, repr=False)
    """Numbers of endings of records whose first record in this text is noted: blocks come in the order of the text."""

    def note_logger(self, logger: str, place: LogPosition) -> None:
        """Note a record of a logger; the first one in the text is kept, in whatever order they come."""
        known = self.loggers.get(logger)
        if known is None or place.offset < known.offset:
            self.loggers[logger] = place

    def extend(self, later: TroubleTally, place: Callable[[LogPosition], LogPosition]) -> None:
        """Append what follows; ``place`` maps its positions to those of this text."""
        for logger, first in later.loggers.items():
            self.note_logger(logger, place(first))
        for key, group in later.groups.items():
            moved = replace(
                group,
                first=_moved(group.first, place),
                last=_moved(group.last, place),
                lines=[_moved(each, place) for each in group.lines],
            )
            known = self.groups.setdefault(key, moved)
            if known is not moved:
                known.add(moved)

    def shift(self, by: int) -> None:
        """Move all times by so many milliseconds."""
        for group in self.groups.values():
            group.first, group.last = group.first.shifted(by), group.last.shifted(by)
            group.lines = [each.shifted(by) for each in group.lines]


def _position(record: LogRecord) -> int:
    return record.place.offset


def _shortened(record: LogRecord) -> LogRecord:
    if len(record.message) <= _TAIL:
        return record
    first, _, below = record.message.partition("\n")
    return replace(record, message=f"{first[:_TAIL]}\n{below[:_TAIL]}" if below else first[:_TAIL])


def _moved(record: LogRecord, place: Callable[[LogPosition], LogPosition]) -> LogRecord:
    return replace(record, place=place(record.place))


class StatementReader:
    """Sorts lines of trouble into families; one object serves all texts."""

    def __init__(self, catalogue: StatementCatalogue) -> None:
        self._catalogue = catalogue
        self._known: dict[tuple[str, bytes], LogStatement | None] = {}

    def may_matter(self, level: str, logger: str) -> bool:
        """Whether a line of this level and logger may be one of trouble."""
        if level in TROUBLE_LEVELS:
            return not logger or OF_KAFKA.match(logger) is not None
        return bool(logger) and level not in {"DEBUG", "TRACE"} and self.reads_below_warn(logger)

    def reads_below_warn(self, logger: str) -> bool:
        """Whether lines of a logger below WARN may be ones of trouble."""
        return self._catalogue.reads_below_warn(logger)

    def matters(self, level: str, logger: str, message: str) -> bool:
        """Whether a line is one of trouble."""
        if not self.may_matter(level, logger):
            return False
        # A line without a logger may be of any program: that counts only if the catalogue knows it.
        if level in TROUBLE_LEVELS and logger:
            return True
        found = self.statement(logger, message)
        return found is not None and (level in TROUBLE_LEVELS or found.level == "INFO")

    def statement(self, logger: str, message: str) -> LogStatement | None:
        """The family of a line, remembered for all that differ from it in digits only."""
        # The first line alone names the family; a stack trace below it may be any.
        key = (logger, message.partition("\n")[0].encode("utf-8", "replace").translate(_DIGITS))
        if key not in self._known:
            if len(self._known) > 1 << 16:
                self._known.clear()
            self._known[key] = self._catalogue.find(logger, message)
        return self._known[key]

    def take(
        self,
        tally: TroubleTally,
        record: LogRecord,
        last: LogRecord | None = None,
        *,
        described: bool,
        count: int = 1,
    ) -> None:
        """Add a line of trouble, or the first and the last of several that differ in digits only."""
        record, last = _shortened(record), _shortened(last or record)
        found = self.statement(record.logger, record.message)
        text = found.name if found is not None else mask(record.message)
        key = (record.logger, record.level, text)
        group = tally.groups.get(key)
        if group is None:
            name = "" if found is None else found.name
            group = tally.groups[key] = TroubleGroup(
                record.logger, record.level, text, name, described and found is None, 0, record, record
            )
        group.count += count
        # By place: lines of a block are noted kind by kind, and not in the order of the text.
        group.first = min(group.first, record, key=_position)
        group.last = max(group.last, last, key=_position)
        if found is not None and found.each and len(group.lines) < KEPT:
            group.lines.append(record)

    def keeps_each(self, logger: str, message: str) -> bool:
        """Whether every line of the family matters."""
        found = self.statement(logger, message)
        return found is not None and found.each
