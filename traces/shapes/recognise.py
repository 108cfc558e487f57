"""From a logger and a message to events: dispatch on the logger first, then its few shapes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache

from assay.traces.events import Field
from assay.traces.shapes.catalogue import Catalogue
from assay.traces.shapes.shape import Reads, Shape

_NO_DIGITS = {ord(digit): None for digit in "0123456789"}
_SKELETON = 72
_MEMO_LIMIT = 4096


@dataclass(frozen=True, slots=True)
class Finding:
    """A shape found in a message, with the decoded fields."""

    shape: Shape
    fields: Mapping[str, Field]


@dataclass(slots=True)
class LoggerShapes:
    """The shapes of one logger. ``memo`` remembers which whole shape fits messages that begin alike, to try it first."""

    protocol: bool
    whole: tuple[Shape, ...]
    parts: tuple[Shape, ...]
    memo: dict[str, Shape]

    def find(self, message: str) -> tuple[list[Finding], bool]:
        """All findings in a message, and whether a shape accounts for the whole of it."""
        findings = [Finding(part, fields) for part in self.parts for fields in part.match(message)]
        key = message[:_SKELETON].translate(_NO_DIGITS)
        if (likely := self.memo.get(key)) is not None and (fields := likely.match(message)):
            findings.insert(0, Finding(likely, fields[0]))
            return findings, True
        for shape in self.whole:
            if fields := shape.match(message):
                if len(self.memo) < _MEMO_LIMIT:
                    self.memo[key] = shape
                findings.insert(0, Finding(shape, fields[0]))
                return findings, True
        return findings, False


class Recogniser:
    """Finds the shapes of a catalogue in records; one for any number of files."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue
        self._by_logger: dict[str, LoggerShapes | None] = {}
        self._full_names: dict[str, str] = {}
        self.anchors = tuple({shape.anchor for shape in catalogue.shapes if shape.anchor})

    def of_logger(self, logger: str) -> LoggerShapes | None:
        """The shapes of a logger; none if it prints nothing of the protocol."""
        try:
            return self._by_logger[logger]
        except KeyError:
            found = self._by_logger[logger] = self._collect(logger)
            return found

    def full_name(self, logger: str) -> str:
        """The logger that an abbreviated name stands for (``k.s.KafkaServer``, ``KafkaServer``), if shapes know one; else the name itself."""
        if logger not in self._full_names:
            names = [name for shape in self.catalogue.shapes for name in shape.loggers]
            known = sorted(names, key=lambda name: "*" in name)
            full = (_in_full(logger, name) for name in known)
            whole = None if self.of_logger(logger) is None else logger
            self._full_names[logger] = whole or next((name for name in full if name is not None), logger)
        return self._full_names[logger]

    def anywhere(self, message: str) -> list[Finding]:
        """The first finding of the shapes that have an anchor, for a message that came without its logger."""
        anchored = (shape for shape in self.catalogue.shapes if shape.anchor and shape.anchor in message)
        return [Finding(shape, fields) for shape in anchored for fields in shape.match(message)][:1]

    def _collect(self, logger: str) -> LoggerShapes | None:
        shapes = [s for s in self.catalogue.shapes if any(fnmatchcase(logger, pattern) for pattern in s.loggers)]
        protocol = any(fnmatchcase(logger, pattern) for pattern in self.catalogue.protocol)
        if not shapes and not protocol:
            return None
        whole = tuple(s for s in shapes if s.reads is Reads.WHOLE)
        return LoggerShapes(protocol, whole, tuple(s for s in shapes if s.reads is not Reads.WHOLE), {})


def _in_full(short: str, known: str) -> str | None:
    """What an abbreviation stands for, if it is one of a known logger (whose last part may hold ``*``): each part begins that of the logger."""
    *before, last = short.split(".")
    *packages, name = known.split(".")
    says_something = len(name.replace("*", "")) > 3
    if len(before) not in {0, len(packages)} or not (last == name or (says_something and fnmatchcase(last, name))):
        return None
    fits = all(package.startswith(part) for part, package in zip(before, packages, strict=False))
    return ".".join((*packages, last)) if fits else None


_MASKS = (
    (re.compile(r"0x[0-9a-fA-F]+"), "<hex>"),
    (re.compile(r"\b[\w.]+-\d+\b"), "<partition>"),
    (re.compile(r"-?\d[\d.,:]*"), "<n>"),
)


@lru_cache(maxsize=4096)
def mask(message: str, limit: int = 200) -> str:
    """The first line of a message with its numbers and names of partitions taken out, so that like lines count as one."""
    text = message.partition("\n")[0][: 2 * limit]
    for pattern, name in _MASKS:
        text = pattern.sub(name, text)
    return text[:limit]
