"""The catalogue of log statements: what a line of trouble means, and what to do about it.

A ``[[statement]]`` of ``traces/patterns/statements/*.toml`` describes a family of log statements. Its keys are
explained at the top of ``data.toml``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

from assay.grammar.lazy_dataclass import dataclass
from assay.traces.patterns.toml_tables import toml_tables

BUILT_IN = (
    "bugs.toml",
    "data.toml",
    "processes.toml",
    "waiting.toml",
    "controller.toml",
    "kraft.toml",
    "replicas.toml",
    "directories.toml",
    "zookeeper.toml",
    "network.toml",
    "server.toml",
)
"""The files, in the order in which their entries are tried."""

LONGEST = 4_000
"""Of a longer first line (in characters), only the beginning is compared."""

_LEAST_LITERAL = 12
"""A line without a logger is recognised by a literal of at least this many characters."""

# Brackets before the statement's text, as in `[Partition orders-0 broker=1] Shrinking ISR …`.
_HEAD = r"(?:\[[^\]\n]{0,200}\][:,]? ?)*"
_NUMBERS = {
    *("offset", "from_offset", "to_offset", "end", "leader_end", "high_watermark", "epoch", "leader_epoch"),
    *("broker", "leader", "replica", "node", "controller", "version", "count"),
}
# `orders-0`, and `[orders,0]` as early versions of Kafka print a partition.
_TYPES = {"partition": r"\[?[\w.-]{1,249}(?:[,-]|, )\d+\]?", **dict.fromkeys(_NUMBERS, r"-?\d+")}
_FIELD = re.compile(r"\{(\w*)\}")
_ESCAPED = re.compile(r"\\\{(\w*)\\\}")


@dataclass(frozen=True, slots=True)
class LogStatement:
    """A family of log statements.

    ``texts`` are the texts, in which ``{name}`` is a field and ``{}`` stands for anything. ``gravity`` is empty for a
    line that is explained and no more, else the name of a ``Gravity``, and then ``heading`` is the finding's.
    ``each``: every line is kept, because a finding is made of its fields. ``level`` is the least level of its lines.
    ``lost`` names the fields with the first offset that is gone and with the end of what is gone, if there is one.
    An event of the kinds ``until``, later and of the same node, ends what a finding tells: it is none then.
    """

    name: str
    loggers: tuple[str, ...]
    texts: tuple[str, ...]
    literals: tuple[str, ...]
    heading: str
    meaning: str
    advice: str
    reference: str
    gravity: str
    versions: str
    example: str
    level: str
    each: bool
    until: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()

    def prints(self, logger: str) -> bool:
        """Whether a logger, by its full name or by its class, prints such lines."""
        # Layouts with `%c{1}` print the class alone.
        names = logger, logger.rpartition(".")[2]
        return any(_fits(name, pattern) for pattern in self.loggers for name in names)

    def fields(self, message: str) -> dict[str, str] | None:
        """The fields of a message; None if it is of another family."""
        text = message.partition("\n")[0][:LONGEST]
        for written, literal in zip(self.texts, self.literals, strict=True):
            # The substring rules out nearly all families before a regular expression is compiled or tried.
            found = text_regex(written).match(text) if literal in text else None
            if found is not None:
                return {name: value.strip() for name, value in found.groupdict().items() if value is not None}
        return None

    def explain(self, message: str) -> str:
        """The meaning, with the fields of a message in it."""
        known = self.fields(message) or {}
        return _FIELD.sub(lambda name: known.get(name[1], "?"), self.meaning)


class StatementCatalogue:
    """All families, and which of them a line belongs to."""

    def __init__(self, statements: Iterable[LogStatement]) -> None:
        self.statements = tuple(statements)
        self._by_name = {each.name: each for each in self.statements}
        self._by_logger: dict[str, tuple[LogStatement, ...]] = {}

    def named(self, name: str) -> LogStatement:
        """The family of that name."""
        return self._by_name[name]

    def of_logger(self, logger: str) -> tuple[LogStatement, ...]:
        """The families whose lines a logger prints, in the order of the catalogue."""
        found = self._by_logger.get(logger)
        if found is None:
            found = self._by_logger[logger] = tuple(each for each in self.statements if each.prints(logger))
        return found

    def reads_below_warn(self, logger: str) -> bool:
        """Whether some family has lines of a logger below the level WARN."""
        return any(each.level == "INFO" for each in self.of_logger(logger))

    def find(self, logger: str, message: str) -> LogStatement | None:
        """The family of a line; of a line without a logger, only if its text is distinctive."""
        if logger:
            return next((each for each in self.of_logger(logger) if each.fields(message) is not None), None)
        # Without a logger each family could be meant, and a short literal is found in lines of many.
        distinctive = (each for each in self.statements if min(map(len, each.literals)) >= _LEAST_LITERAL)
        return next((each for each in distinctive if each.fields(message) is not None), None)


def _fits(name: str, pattern: str) -> bool:
    """Whether a name fits a pattern in which ``*`` stands for anything."""
    if pattern.count("*") > 1:
        return fnmatchcase(name, pattern)
    before, star, after = pattern.partition("*")
    if not star:
        return name == pattern
    return len(name) >= len(before) + len(after) and name.startswith(before) and name.endswith(after)


@cache
def statement_catalogue() -> StatementCatalogue:
    """The built-in catalogue."""
    tables = toml_tables("assay.traces.patterns.statements")
    return StatementCatalogue(_statement(entry) for name in BUILT_IN for entry in tables[name]["statement"])


@cache
def text_regex(text: str) -> re.Pattern[str]:
    """The regular expression of a text of the catalogue: what a message begins with, behind heads in brackets."""
    seen: set[str] = set()

    def group(match: re.Match[str]) -> str:
        name = match[1]
        if not name or name in seen:
            return ".{0,2000}?"
        seen.add(name)
        return f"(?P<{name}>{_TYPES.get(name, '.{1,2000}?')})"

    pattern = _ESCAPED.sub(group, re.escape(text))
    # A field at the end takes what is left; elsewhere as little as fits.
    pattern = re.sub(r"\}\?(\)?)$", r"}\1", pattern)
    return re.compile(_HEAD + pattern)


def _statement(entry: Mapping[str, Any]) -> LogStatement:
    texts = tuple(entry["texts"])
    return LogStatement(
        name=entry["name"],
        loggers=tuple(entry.get("loggers", ("*",))),
        texts=texts,
        literals=tuple(max(_FIELD.sub("\n", text).split("\n"), key=len) for text in texts),
        heading=entry.get("heading", ""),
        meaning=entry["meaning"],
        advice=entry.get("advice", ""),
        reference=entry.get("reference", ""),
        gravity=entry.get("gravity", ""),
        versions=entry.get("versions", ""),
        example=entry["example"],
        level=entry.get("level", "WARN"),
        each=entry.get("each", False),
        until=tuple(entry.get("until", ())),
        lost=tuple(entry.get("lost", ())),
    )
