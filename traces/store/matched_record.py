"""A record, and the patterns that were found in it."""

from __future__ import annotations

from functools import lru_cache

from assay.grammar.lazy_dataclass import dataclass
from assay.traces.event import Field, LogRecord
from assay.traces.patterns.match import NO_ROLES, PatternMatch, TemplateMatch, roles_of

NOBODY: frozenset[int] = frozenset()


@dataclass(slots=True, eq=False)
class MatchedRecord:
    """A record and the patterns found in it: the match of its whole template, or the single matches; empty if no
    pattern fits.

    ``writers`` are the ids of the broker that wrote it, as the line itself names it. ``roles`` are those of
    ``LinePattern.roles``.
    """

    record: LogRecord
    found: TemplateMatch | tuple[PatternMatch, ...]
    writers: frozenset[int] = NOBODY
    roles: frozenset[str] = NO_ROLES

    @property
    def matches(self) -> tuple[PatternMatch, ...]:
        """The single matches. They are made anew each time, because a log has too many to keep them all."""
        found = self.found
        return tuple(found.matches(self.record.message)) if isinstance(found, TemplateMatch) else found

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MatchedRecord):
            return NotImplemented
        mine, its = ((each.record, each.matches, each.writers, each.roles) for each in (self, other))
        return mine == its

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[type[MatchedRecord], tuple[object, ...]]:
        return MatchedRecord, (self.record, self.found, self.writers, self.roles)


def match_of(record: LogRecord, template_match: TemplateMatch) -> MatchedRecord:
    """A record whose message, or the beginning of it, belongs to a template."""
    writers = NOBODY
    for convert, begin, end in template_match.writers:
        writers = _with(writers, convert(record.message[begin:end]))
    return MatchedRecord(record, template_match, writers, template_match.roles)


def match_found(record: LogRecord, findings: tuple[PatternMatch, ...]) -> MatchedRecord:
    """A record in which these patterns were found one by one."""
    writers = NOBODY
    for finding in findings:
        for name in finding.pattern.writers:
            writers = _with(writers, finding.fields.get(name))
    return MatchedRecord(record, findings, writers, roles_of(findings))


def _with(writers: frozenset[int], broker: Field) -> frozenset[int]:
    """The ids of writers with one more, if the field is a broker id."""
    # Kafka prints -1 where it has no broker, for example no leader or no controller.
    if not isinstance(broker, int) or broker < 0 or broker in writers:
        return writers
    return writers | {broker} if writers else singleton(broker)


@lru_cache(maxsize=4096)
def singleton(broker: int) -> frozenset[int]:
    """A set of one id, shared: most lines have one writer, and a log has few brokers."""
    return frozenset({broker})
