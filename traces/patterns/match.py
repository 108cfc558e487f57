"""From a logger and a message to pattern matches. The logger selects a few patterns, and only these are tried.

What was found in a message is remembered for its template (``template``), because most messages differ from an earlier
one in digits only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from assay.traces.event import Field
from assay.traces.patterns.catalogue import Catalogue
from assay.traces.patterns.logger_names import LoggerNames
from assay.traces.patterns.pattern import Reads, Shape, distinct
from assay.traces.patterns.template import skeleton_table
from assay.traces.patterns.template_fields import Form, LineFields, Part, forms_of

_KEPT = 1 << 23
"""The cache of one logger, in bytes of templates; when it is full, it is emptied."""

LONGEST_KEPT = 1 << 13
"""Longer messages (in bytes) bypass the cache."""

_BESIDE = 1 << 10
"""What a cache entry costs in memory besides the bytes of its template."""

_TELLING = 16
"""A pattern identifies a message without its logger only if its ``literal`` has at least this many characters."""


NO_ROLES: frozenset[str] = frozenset()


@dataclass(slots=True)
class PatternMatch:
    """A pattern found in a message, with the decoded fields."""

    shape: Shape
    fields: Mapping[str, Field]


@dataclass(slots=True)
class Likeness:
    """What the patterns of a logger find in every message of one template.

    ``field_layouts`` are those of the events. ``whole`` is whether a pattern describes the entire message; ``repeats``
    whether one pattern matches more than once. ``writers`` are the positions of the id of the broker that wrote the
    line. ``masked`` is the text under which a message of a protocol logger is counted if no pattern describes it.
    ``roles`` are those of ``LinePattern.roles``.
    """

    forms: tuple[Form, ...]
    whole: bool
    repeats: bool
    writers: tuple[Part, ...]
    masked: str
    roles: frozenset[str] = NO_ROLES

    def __reduce__(self) -> tuple[type[Likeness], tuple[object, ...]]:
        """Pickle without ``writers`` and ``masked``: they are needed only while a text is read."""
        return Likeness, (self.forms, self.whole, self.repeats, (), "", self.roles)

    def findings(self, message: str) -> list[PatternMatch]:
        """The matches in a message of this template."""
        found = [PatternMatch(form.shape, LineFields(form, message)) for form in self.forms]
        return _distinct(found) if self.repeats else found


NOTHING = Likeness((), whole=False, repeats=False, writers=(), masked="")
"""The result for a message of an unknown logger."""


def roles_of(found: Iterable[Form | PatternMatch]) -> frozenset[str]:
    """The roles of a line in which these patterns were found; see ``LinePattern.roles``."""
    telling = [each.shape.roles for each in found if each.shape.role is not None or each.shape.joins]
    return frozenset().union(*telling) if telling else NO_ROLES


def _distinct(found: Iterable[PatternMatch]) -> list[PatternMatch]:
    """The matches without repetitions: matches of one pattern in one message with equal fields count once."""
    by_shape: dict[str, list[PatternMatch]] = {}
    for finding in found:
        by_shape.setdefault(finding.shape.name, []).append(finding)
    return [
        PatternMatch(each[0].shape, fields)
        for each in by_shape.values()
        for fields in distinct(dict(finding.fields) for finding in each)
    ]


class LoggerShapes:
    """The patterns of one logger, with a cache of what they match, by message template (see ``template``)."""

    def __init__(self, shapes: Sequence[Shape], *, protocol: bool) -> None:
        self.protocol = protocol
        self.whole = tuple(s for s in shapes if s.reads is Reads.WHOLE)
        self.parts = tuple(s for s in shapes if s.reads is not Reads.WHOLE)
        around = [shape.around for shape in shapes if shape.around is not None]
        patterns = (*(shape.pattern for shape in shapes), *around, *(pattern for pattern, _ in _MASKS))
        self.table = skeleton_table(patterns, (shape.literal for shape in shapes))
        """The ``bytes.translate`` table that maps a message to its template; None if messages have to be matched one by
        one.
        """
        self._known: dict[bytes, Likeness] = {}
        self._kept = 0

    def find(self, message: str) -> tuple[list[PatternMatch], bool]:
        """All matches in a message, and whether a pattern describes the whole of it."""
        likeness = self.likeness(message.encode("utf-8", "replace"))
        return likeness.findings(message), likeness.whole

    def likeness(self, message: bytes) -> Likeness:
        """What the patterns find in a message, given as UTF-8 bytes; cached by template."""
        if self.table is None or len(message) > LONGEST_KEPT:
            return self.look(message.decode())
        skeleton = message.translate(self.table)
        found = self._known.get(skeleton)
        if found is None:
            self._kept += len(skeleton) + _BESIDE
            if self._kept > _KEPT:
                self._known.clear()
                self._kept = len(skeleton) + _BESIDE
            found = self._known[skeleton] = self.look(message.decode())
        return found

    def look(self, message: str) -> Likeness:
        """The same for one text, pattern by pattern, without the cache."""
        forms: list[Form] = []
        for shape in self.whole:
            if shape.literal in message and (forms := forms_of(shape, message)):
                break
        whole, repeats = bool(forms), False
        for shape in self.parts:
            if shape.literal in message and (more := forms_of(shape, message)):
                repeats |= len(more) > 1
                forms += more
        writers = dict.fromkeys([part for form in forms for part in form.writers])
        masked = mask(message) if self.protocol and not whole else ""
        return Likeness(tuple(forms), whole, repeats, tuple(writers), masked, roles_of(forms))


class Recogniser:
    """Finds the patterns of a catalogue in messages; one object serves any number of files."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue
        self._names = LoggerNames(catalogue)
        self._by_logger: dict[str, LoggerShapes | None] = {}
        self._full_names: dict[str, str] = {}
        telling = [s for s in catalogue.shapes if s.reads is Reads.WHOLE and len(s.literal) >= _TELLING]
        self.nameless = LoggerShapes(telling, protocol=False)
        """The patterns that are specific enough for a message whose logger is unknown."""
        self.anchors = tuple({shape.anchor for shape in catalogue.shapes if shape.anchor})

    def of_logger(self, logger: str) -> LoggerShapes | None:
        """The patterns of a logger; None if it prints nothing that concerns the protocol."""
        try:
            return self._by_logger[logger]
        except KeyError:
            found = self._by_logger[logger] = self._collect(logger)
            return found

    def full_name(self, logger: str) -> str:
        """The logger that an abbreviated name means (``k.s.KafkaServer``, ``KafkaServer``), if the catalogue knows one;
        else the name itself.
        """
        if logger not in self._full_names:
            known = logger if self.of_logger(logger) is not None else self._names.in_full(logger)
            self._full_names[logger] = known or logger
        return self._full_names[logger]

    def anywhere(self, message: str) -> list[PatternMatch]:
        """The first match of a pattern with an ``anchor``, for a message that came without its logger; at most one."""
        anchored = (shape for shape in self.catalogue.shapes if shape.anchor and shape.anchor in message)
        return [PatternMatch(shape, fields) for shape in anchored for fields in shape.match(message)][:1]

    def _collect(self, logger: str) -> LoggerShapes | None:
        shapes, protocol = self._names.shapes(logger), self._names.is_protocol(logger)
        if not shapes and not protocol:
            return None
        return LoggerShapes(shapes, protocol=protocol)


_MASKS = (
    (re.compile(r"\dx[0-9a-fA-F]+"), "<hex>"),
    (re.compile(r"\b[\w.]+-\d+\b"), "<partition>"),
    (re.compile(r"-?\d[\d.,:]*"), "<n>"),
)


@lru_cache(maxsize=4096)
def mask(message: str, limit: int = 200) -> str:
    """The first line of a message with its numbers and partition names replaced, so that similar lines are counted
    together.
    """
    text = message.partition("\n")[0][: 2 * limit]
    for pattern, name in _MASKS:
        text = pattern.sub(name, text)
    return text[:limit]
