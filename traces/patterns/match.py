"""From a logger and a message to pattern matches. The logger selects a few patterns, and only these are tried.

What was found in a message is remembered for its template (``template``), because most messages differ from an earlier
one in digits only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache

from assay.grammar.lazy_dataclass import dataclass
from assay.traces.event import Field
from assay.traces.patterns.catalogue import Catalogue
from assay.traces.patterns.line_regex import MatchExtent
from assay.traces.patterns.logger_names import LoggerNames
from assay.traces.patterns.pattern import LinePattern, distinct
from assay.traces.patterns.template import RegexText, template_table
from assay.traces.patterns.template_fields import FieldLayout, LineFields, TypedSpan, field_layouts_of

_CACHE_LIMIT = 1 << 23
"""The cache of one logger, in bytes of templates; when it is full, it is emptied."""

LONGEST_CACHED = 1 << 13
"""Longer messages (in bytes) bypass the cache."""

_ENTRY_OVERHEAD = 1 << 10
"""What a cache entry costs in memory besides the bytes of its template."""

_FIRST = 16
"""So many messages of a logger are matched before its table of templates is made, which compiles all its patterns."""

_SPECIFIC = 16
"""A pattern identifies a message without its logger only if its ``literal`` has at least this many characters."""


def is_specific(pattern: LinePattern) -> bool:
    """Whether a pattern identifies a message without its logger."""
    return pattern.reads is MatchExtent.WHOLE and len(pattern.literal) >= _SPECIFIC


NO_ROLES: frozenset[str] = frozenset()


@dataclass(slots=True)
class PatternMatch:
    """A pattern found in a message, with the decoded fields."""

    pattern: LinePattern
    fields: Mapping[str, Field]


@dataclass(slots=True)
class TemplateMatch:
    """What the patterns of a logger find in every message of one template.

    ``field_layouts`` are those of the events. ``whole`` is whether a pattern describes the entire message; ``repeats``
    whether one pattern matches more than once. ``writers`` are the positions of the id of the broker that wrote the
    line. ``masked`` is the text under which a message of a protocol logger is counted if no pattern describes it.
    ``roles`` are those of ``LinePattern.roles``.
    """

    field_layouts: tuple[FieldLayout, ...]
    whole: bool
    repeats: bool
    writers: tuple[TypedSpan, ...]
    masked: str
    roles: frozenset[str] = NO_ROLES

    def __reduce__(self) -> tuple[type[TemplateMatch], tuple[object, ...]]:
        """Pickle without ``writers`` and ``masked``: they are needed only while a text is read."""
        return TemplateMatch, (self.field_layouts, self.whole, self.repeats, (), "", self.roles)

    def matches(self, message: str) -> list[PatternMatch]:
        """The matches in a message of this template."""
        found = [
            PatternMatch(field_layout.pattern, LineFields(field_layout, message)) for field_layout in self.field_layouts
        ]
        return _distinct(found) if self.repeats else found


NO_MATCH = TemplateMatch((), whole=False, repeats=False, writers=(), masked="")
"""The result for a message of an unknown logger."""


def roles_of(found: Iterable[FieldLayout | PatternMatch]) -> frozenset[str]:
    """The roles of a line in which these patterns were found; see ``LinePattern.roles``."""
    with_a_role = [each.pattern.roles for each in found if each.pattern.role is not None or each.pattern.joins]
    return frozenset().union(*with_a_role) if with_a_role else NO_ROLES


def _distinct(found: Iterable[PatternMatch]) -> list[PatternMatch]:
    """The matches without repetitions: matches of one pattern in one message with equal fields count once."""
    by_pattern: dict[str, list[PatternMatch]] = {}
    for finding in found:
        by_pattern.setdefault(finding.pattern.name, []).append(finding)
    return [
        PatternMatch(each[0].pattern, fields)
        for each in by_pattern.values()
        for fields in distinct(dict(finding.fields) for finding in each)
    ]


class LoggerPatterns:
    """The patterns of one logger, with a cache of what they match, by message template (see ``template``)."""

    def __init__(self, patterns: Sequence[LinePattern], *, protocol: bool) -> None:
        self.protocol = protocol
        self.whole = tuple(s for s in patterns if s.reads is MatchExtent.WHOLE)
        self.partial = tuple(s for s in patterns if s.reads is not MatchExtent.WHOLE)
        self._patterns = tuple(patterns)
        self._known: dict[bytes, TemplateMatch] = {}
        self._cached = self._asked = 0

    @cached_property
    def table(self) -> bytes | None:
        """The ``bytes.translate`` table that maps a message to its template; None if messages have to be matched one by
        one.
        """
        around = [pattern.around for pattern in self._patterns if pattern.around is not None]
        own: list[RegexText] = [pattern.regex for pattern in self._patterns]
        # The masks count as patterns: messages of one template must be masked alike, too.
        regexes = [*own, *around, *(regex for regex, _ in _MASKS)]
        return template_table(regexes, (pattern.literal for pattern in self._patterns))

    def find(self, message: str) -> tuple[list[PatternMatch], bool]:
        """All matches in a message, and whether a pattern describes the whole of it."""
        template_match = self.template_match(message.encode("utf-8", "replace"))
        return template_match.matches(message), template_match.whole

    def template_match(self, message: bytes) -> TemplateMatch:
        """What the patterns find in a message, given as UTF-8 bytes; cached by template."""
        self._asked += 1
        # A logger with few messages never pays for its table, nor does a message that no other equals.
        if self._asked <= _FIRST or self.table is None or len(message) > LONGEST_CACHED:
            return self.match_uncached(message.decode())
        template = message.translate(self.table)
        found = self._known.get(template)
        if found is None:
            self._cached += len(template) + _ENTRY_OVERHEAD
            # Emptied as a whole: to find the least used entry would cost each message, and this happens rarely.
            if self._cached > _CACHE_LIMIT:
                self._known.clear()
                self._cached = len(template) + _ENTRY_OVERHEAD
            found = self._known[template] = self.match_uncached(message.decode())
        return found

    def match_uncached(self, message: str) -> TemplateMatch:
        """The same for one text, pattern by pattern, without the cache."""
        field_layouts: list[FieldLayout] = []
        # The first that describes the whole message counts; patterns of parts are looked for in any case.
        for pattern in self.whole:
            if pattern.literal in message and (field_layouts := field_layouts_of(pattern, message)):
                break
        whole, repeats = bool(field_layouts), False
        for pattern in self.partial:
            if pattern.literal in message and (more := field_layouts_of(pattern, message)):
                repeats |= len(more) > 1
                field_layouts += more
        # Events of one line often name the writer at the same place; each place is read once.
        writers = dict.fromkeys([part for field_layout in field_layouts for part in field_layout.writers])
        # Masked texts are counted for protocol loggers alone, whose lines should all have a pattern.
        masked = mask(message) if self.protocol and not whole else ""
        return TemplateMatch(tuple(field_layouts), whole, repeats, tuple(writers), masked, roles_of(field_layouts))


class PatternMatcher:
    """Finds the patterns of a catalogue in messages; one object serves any number of files."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue
        self._names = LoggerNames(catalogue)
        self._by_logger: dict[str, LoggerPatterns | None] = {}
        self._full_names: dict[str, str] = {}
        self.nameless = LoggerPatterns(list(filter(is_specific, catalogue.patterns)), protocol=False)
        """The patterns that are specific enough for a message whose logger is unknown."""
        self.anchors = tuple({pattern.anchor for pattern in catalogue.patterns if pattern.anchor})

    def patterns_of(self, logger: str) -> LoggerPatterns | None:
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
        # A name that has patterns is taken as it is, so that an abbreviation never replaces a logger of the catalogue.
        if logger not in self._full_names:
            known = logger if self.patterns_of(logger) is not None else self._names.full_name(logger)
            self._full_names[logger] = known or logger
        return self._full_names[logger]

    def match_by_anchor(self, message: str) -> list[PatternMatch]:
        """The first match of a pattern with an ``anchor``, for a message that came without its logger; at most one."""
        anchored = (pattern for pattern in self.catalogue.patterns if pattern.anchor and pattern.anchor in message)
        # One at most: without its logger a message may be of any of them, and only the first is likely.
        return [PatternMatch(pattern, fields) for pattern in anchored for fields in pattern.match(message)][:1]

    def _collect(self, logger: str) -> LoggerPatterns | None:
        patterns, protocol = self._names.patterns(logger), self._names.is_protocol(logger)
        if not patterns and not protocol:
            return None
        return LoggerPatterns(patterns, protocol=protocol)


_MASKS = (
    (re.compile(r"\dx[0-9a-fA-F]+"), "<hex>"),
    (re.compile(r"\b[\w.]+-\d+\b(?!-)"), "<partition>"),
    (re.compile(r"-?\d[\d.,:]*"), "<n>"),
)


@lru_cache(maxsize=4096)
def mask(message: str, limit: int = 200) -> str:
    """The first line of a message with its numbers and partition names replaced, so that similar lines are counted
    together.
    """
    # Twice the limit, because masks are shorter than what they replace.
    text = message.partition("\n")[0][: 2 * limit]
    for regex, name in _MASKS:
        text = regex.sub(name, text)
    return text[:limit]
