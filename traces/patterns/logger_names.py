"""Logger names: which patterns apply to a logger, and which logger an abbreviated name means."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase, translate
from typing import TYPE_CHECKING

from assay.traces.patterns.pattern import LinePattern

if TYPE_CHECKING:
    from assay.traces.patterns.catalogue import Catalogue

_WILD = re.compile(r"[*?\[]")

_KAFKA = ("kafka.", "org.apache.kafka.")
"""The packages of Kafka. Its classes move among them from release to release, and keep their names."""


class LoggerNames:
    """The loggers of a catalogue."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._patterns = catalogue.patterns
        self._printed: dict[str, list[int]] = {}
        for number, pattern in enumerate(catalogue.patterns):
            for name in pattern.loggers:
                self._printed.setdefault(name, []).append(number)
        self._wild = _compiled(self._printed)
        self._protocol = frozenset(catalogue.protocol)
        self._wild_protocol = _compiled(catalogue.protocol)
        # Names without `*` come first, so that `in_full` prefers them.
        known = sorted(self._printed, key=lambda name: "*" in name)
        self._known = [(name.split(".")[:-1], name.rpartition(".")[2]) for name in known]
        classes = [*self._printed, *catalogue.protocol]
        self._classes = {name.rpartition(".")[2]: name for name in classes if name.startswith(_KAFKA)}

    def patterns(self, logger: str) -> list[LinePattern]:
        """The patterns of the lines that a logger prints, in the order of the catalogue."""
        names = [logger, *_matching(logger, self._wild)]
        numbers = {number for name in names for number in self._printed.get(name, ())}
        return [self._patterns[number] for number in sorted(numbers)]

    def is_protocol(self, logger: str) -> bool:
        """Whether this is a protocol logger: a pattern should describe each of its records."""
        return logger in self._protocol or any(_matching(logger, self._wild_protocol))

    def full_name(self, short: str) -> str | None:
        """The logger that an abbreviated name means, or that of a class before it moved to this package, or None; names
        without ``*`` are preferred.

        Example: ``k.s.KafkaServer`` means ``kafka.server.KafkaServer``.
        """
        *before, last = short.split(".")
        for packages, name in self._known:
            if len(before) in {0, len(packages)} and _abbreviates(before, last, packages, name):
                return ".".join((*packages, last))
        return self._classes.get(last) if short.startswith(_KAFKA) else None


def _compiled(names: Iterable[str]) -> list[tuple[str, re.Pattern[str]]]:
    """The names that stand for several loggers, each with its regular expression."""
    return [(name, re.compile(translate(name))) for name in names if _WILD.search(name)]


def _matching(logger: str, wild: list[tuple[str, re.Pattern[str]]]) -> list[str]:
    return [name for name, regex in wild if regex.match(logger)]


def _abbreviates(before: list[str], last: str, packages: list[str], name: str) -> bool:
    """Whether each part of an abbreviated name begins the same part of a known logger name, whose last part may hold
    ``*``.
    """
    # A wildcard such as `*Log` would take any class name; it needs more than three letters of its own to count here.
    if last != name and not (len(name.replace("*", "")) > 3 and fnmatchcase(last, name)):
        return False
    return all(package.startswith(part) for part, package in zip(before, packages, strict=False))
