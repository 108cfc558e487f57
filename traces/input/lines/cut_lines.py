"""Records whose end is missing, as some shippers leave long ones: what their lines may be the beginning of."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, cached_property
from itertools import takewhile
from re import _compiler, _parser  # type: ignore[attr-defined] # they have no public name
from re import _constants as c
from typing import Any, NamedTuple

from assay.grammar.lazy_dataclass import dataclass
from assay.traces.patterns.line_regex import FLAGS, MatchExtent
from assay.traces.patterns.match import LoggerPatterns, PatternMatcher, is_specific
from assay.traces.patterns.pattern import LinePattern

_COMPARED = 400
"""So many characters of a beginning are compared: what fits no further fits no shorter text."""
_MOST = 1 << 14
"""So many templates are compared and remembered, which takes some seconds: each further message may be any."""
_MARK = 40
"""The longest mark, in characters, by which shippers say that they cut a line."""
_OF_ONE_CHARACTER = (c.LITERAL, c.NOT_LITERAL, c.ANY, c.IN)
BEGUN_LOGGER = re.compile(r" \([\w.$]{0,200}$")
"""What a text ends with that is cut off within the name of its logger."""


@dataclass(frozen=True, slots=True)
class CutLine:
    """What a line without its end may be.

    ``kinds`` are those of the events of which it may tell. ``patterns`` are those of its logger that read parts of a
    message; None if the logger is not known. The last ``added`` characters are the shipper's, perhaps.
    """

    kinds: frozenset[str]
    patterns: LoggerPatterns | None = None
    logger: str = ""
    added: int = 0


class _Whole(NamedTuple):
    """A pattern of whole messages: its expression, the text with which all of them begin, and of what events they tell."""

    pattern: LinePattern
    text: str
    head: str
    kinds: frozenset[str]

    def may_begin(self, text: str) -> bool:
        """Whether some message begins with a text."""
        if not text.startswith(self.head[: len(text)]):
            return False
        return _beginnings(self.text).fullmatch(text) is not None


class CutLines:
    """Finds the patterns of a catalogue of which a text may be the beginning."""

    def __init__(self, matcher: PatternMatcher) -> None:
        self._matcher = matcher
        self._all = LoggerPatterns(matcher.catalogue.patterns, protocol=False)
        self._known: dict[bytes, CutLine] = {}

    @cached_property
    def _whole(self) -> list[_Whole]:
        patterns = (each for each in self._matcher.catalogue.patterns if each.reads is MatchExtent.WHOLE)
        texts = ((each, each.regex.pattern) for each in patterns)
        return [_Whole(each, text, _head(text), self._kinds(each)) for each, text in texts]

    def find(self, message: str) -> CutLine:
        """What a message without its end may be, equal for all messages of one template; of no kind if no known line
        begins so.
        """
        text = message.partition("\n")[0][:_COMPARED]
        data = text.encode()
        template = data if self._all.table is None else data.translate(self._all.table)
        found = self._known.get(template)
        if found is None and len(self._known) < _MOST:
            found = self._known[template] = self._find(text)
        return found or CutLine(frozenset().union(*(each.kinds for each in self._whole)))

    def _find(self, text: str) -> CutLine:
        kinds: set[str] = set()
        found: CutLine | None = None
        for way, added in self._ways(text):
            fitting = [each for each in self._whole if way and each.may_begin(way)]
            kinds.update(*(each.kinds for each in fitting))
            named = None if found is not None else _named(fitting, way)
            if named is not None:
                found = CutLine(frozenset(), self._parts(named.loggers[0]), named.loggers[0], added)
        return replace(found or CutLine(frozenset()), kinds=frozenset(kinds))

    @staticmethod
    def _ways(text: str) -> Iterator[tuple[str, int]]:
        """The texts that may be the beginning of a line, and how much at the end is none of it, perhaps.

        What stands in brackets first may be a thread. A name behind the last bracket may be the beginning of the logger.
        The end may be what the shipper wrote in its place, such as `[truncated]`.
        """
        yield text, 0
        if text.startswith("["):
            yield text.partition("] ")[2], 0
        yield BEGUN_LOGGER.sub("", text), 0
        yield text[:-_MARK], _MARK

    def _kinds(self, pattern: LinePattern) -> frozenset[str]:
        """The kinds of events that lines of a pattern tell of, as its example does."""
        parts = [part for name in pattern.loggers for part in self._parts(name).partial]
        example = pattern.example
        told = (part.kind for part in parts if part.literal in example and part.regex.compiled.search(example))
        return frozenset({pattern.kind, *told})

    def _parts(self, logger: str) -> LoggerPatterns:
        return _partial(self._matcher, logger)


@cache
def _partial(matcher: PatternMatcher, logger: str) -> LoggerPatterns:
    """The patterns of a logger that read a part of a message, wherever it ends."""
    of_logger = matcher.patterns_of(logger)
    return LoggerPatterns(() if of_logger is None else of_logger.partial, protocol=False)


def _named(fitting: Sequence[_Whole], text: str) -> LinePattern | None:
    """The pattern of a line that begins so, if its text shows which one it is."""
    shown = (each.pattern for each in fitting if is_specific(each.pattern) and each.pattern.literal in text)
    alone = fitting[0].pattern if len(fitting) == 1 and fitting[0].head else None
    return next(shown, alone)


def _head(pattern: str) -> str:
    """The text with which all messages of a pattern begin."""
    literals = takewhile(lambda item: item[0] is c.LITERAL, _parser.parse(pattern, FLAGS))
    return "".join(chr(value) for _, value in literals)


@cache
def _beginnings(pattern: str) -> re.Pattern[str]:
    """The expression of all beginnings of what an expression matches."""
    parsed = _parser.parse(pattern, FLAGS)
    found: re.Pattern[str] = _compiler.compile(_parser.SubPattern(parsed.state, _cut(parsed)), FLAGS)
    return found


def _cut(items: Any) -> list[Any]:
    """Items that match each beginning of what some items match; what they match ends with the text."""
    found: list[Any] = []
    for item in reversed(list(items)):
        ways = ([item, *found], _cut_within(item, items.state))
        found = [(c.BRANCH, (None, [_parser.SubPattern(items.state, way) for way in ways]))]
    return found


def _cut_within(item: Any, state: Any) -> list[Any]:
    """Items that match what an item has matched where the text ends in it."""
    code, value = item
    match code:
        case c.SUBPATTERN:
            return _cut(value[3])
        case c.BRANCH:
            return [(c.BRANCH, (None, [_parser.SubPattern(state, _cut(way)) for way in value[1]]))]
        case c.MAX_REPEAT | c.MIN_REPEAT | c.POSSESSIVE_REPEAT:
            _, most, body = value
            if len(body) == 1 and body[0][0] in _OF_ONE_CHARACTER:
                return [(c.POSSESSIVE_REPEAT, (0, most, body))]  # all up to the end: no shorter one could be tried
            return [(c.MAX_REPEAT, (0, most, body)), *_cut(body)]
        case _:
            return []
