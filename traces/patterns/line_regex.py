"""The regular expressions of line patterns, compiled and judged when they are first used: a short log needs few."""

from __future__ import annotations

import re
from enum import Enum
from functools import cache

from assay.grammar.lazy_dataclass import dataclass
from assay.traces.patterns.regex_cost import LONGEST, REPEATS, WITHOUT_CLASSES, bounded, degree

FLAGS = re.DOTALL


class MatchExtent(Enum):
    """How much of a message a pattern describes (``reads`` in pattern files)."""

    WHOLE = "whole"
    """The whole message. Exactly one such pattern accounts for a line."""
    START = "start"
    """The beginning of the message: a prefix with an event of its own, besides the pattern of the whole."""
    EACH = "each"
    """Every occurrence anywhere in the message, one event each, besides the pattern of the whole."""


@dataclass(frozen=True, slots=True)
class LineRegex:
    """A regular expression as a pattern file has it, and how much of a message it describes."""

    text: str
    reads: MatchExtent

    @property
    def pattern(self) -> str:
        """The text of the expression with bounds on its repetitions."""
        return bounded(self.text)

    @property
    def flags(self) -> int:
        """The flags with which it is compiled."""
        return FLAGS

    @property
    def compiled(self) -> re.Pattern[str]:
        """The compiled expression."""
        return _compiled(self.text)

    @property
    def groups(self) -> tuple[str, ...]:
        """The field that each group fills, in the order of the groups."""
        return _groups(self.text)

    @property
    def degree(self) -> int:
        """The exponent of the worst matching time; raises ValueError for an expression that cannot be judged."""
        return _degree(self.text, self.reads)

    @property
    def longest(self) -> int:
        """The length in characters above which the expression is not tried: it could take too much time."""
        return LONGEST[self.degree]


@cache
def _compiled(text: str) -> re.Pattern[str]:
    return re.compile(bounded(text), FLAGS)


@cache
def _groups(text: str) -> tuple[str, ...]:
    # A group `name_` fills the field `name` too: alternatives of a regular expression cannot share one group name.
    numbered = sorted(_compiled(text).groupindex.items(), key=lambda item: item[1])
    return tuple(name.rstrip("_") for name, _ in numbered)


@cache
def _degree(text: str, reads: MatchExtent) -> int:
    template = WITHOUT_CLASSES.sub("x", bounded(text))
    if (
        reads is not MatchExtent.EACH
        and len(REPEATS.findall(template)) <= 1
        and not re.search(r"\)(?:[*+]|\{\d*,\})", template)
    ):
        return 1  # no other unbounded repetition could take the same characters
    compiled = _compiled(text)
    return degree(compiled, to_the_end=reads is MatchExtent.WHOLE, anywhere=reads is MatchExtent.EACH)
