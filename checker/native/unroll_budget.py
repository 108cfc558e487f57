"""How much code the functions of a module take, and which of them use loops to stay within the limits
(docs/design/compile-budget.md)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import get_args

from assay.checker.lowering.expressions.loops import LEVELS, Kind, UnrollBudget
from assay.checker.lowering.llvm.function_builder import LINES, VISITS, FunctionBuilder
from assay.checker.lowering.llvm.unsupported import TooLongError
from assay.grammar.lazy_dataclass import dataclass

LAST = len(LEVELS) - 1
SOFT = 20_000
"""The most instructions of a function that could use more loops."""
SOFT_VISITS = 100_000
"""The most expressions translated for a function that could use more loops: about a second's work."""
TOTAL = 70_000
"""The most instructions of a module in which a function could have more loops: LLVM takes some seconds for so many."""


@dataclass(frozen=True, slots=True)
class Writing:
    """How a function is written: what is unrolled, the limits of its size, and the sorts over which quantifiers are
    strict."""

    unrolling: UnrollBudget = LEVELS[0]
    limit: int = LINES
    visits: int = VISITS
    strict: frozenset[str] = frozenset()
    unrolled: dict[str, int] = field(default_factory=dict)
    """What the code that was written remembers as in ``FunctionBuilder``."""

    def code(self) -> FunctionBuilder:
        """An empty function with these limits."""
        return FunctionBuilder(self.limit, self.visits, self.unrolled)


Writer = Callable[[Writing], str]
"""Writes a function; raises ``TooLongError`` where it takes too many instructions."""


@dataclass(frozen=True, slots=True)
class _Part:
    """The text of a function, the level at which it was written, and the next level at which its text would differ."""

    text: str
    level: int
    following: int | None

    @property
    def length(self) -> int:
        return self.text.count("\n")


def written(writers: Sequence[Writer], strict: frozenset[str] = frozenset()) -> list[str]:
    """The texts of functions: the fastest code within the limits. Raises ``TooLongError`` if even loops exceed them.

    While the module is too long, the longest function is written again with more loops. Later ones of its length would
    be too, so that none is written to its end that is as long.
    """
    parts: list[_Part] = []
    most = SOFT
    for writer in writers:
        parts.append(_write(writer, 0, strict, most))
        while sum(part.length for part in parts) > TOTAL:
            shorter = [(at, part.following) for at, part in enumerate(parts) if part.following is not None]
            # Nothing can be made shorter: LLVM takes the time that it takes.
            if not shorter:
                break
            longest, level = max(shorter, key=lambda each: parts[each[0]].length)
            most = min(most, parts[longest].length)
            part = _write(writers[longest], level, strict, most)
            # Loops may need more text than a few copies; the level moves on even so, or this would not end.
            parts[longest] = replace(part, text=min(part.text, parts[longest].text, key=len))
    return [part.text for part in parts]


def _write(writer: Writer, level: int, strict: frozenset[str], most: int) -> _Part:
    """A function written at a level, or at the next one that takes at most so many instructions."""
    while True:
        limits = (most, SOFT_VISITS) if level < LAST else (LINES, VISITS)
        writing = Writing(LEVELS[level], *limits, strict)
        try:
            return _Part(writer(writing), level, _following(level, writing.unrolled))
        except TooLongError:
            # No more loops can be had, and the limits of this level are the hard ones.
            if level == LAST:
                raise
            # Levels in between are skipped: they would give the same text up to the point where it became too long.
            level = _following(level, writing.unrolled) or LAST


def _following(level: int, unrolled: Mapping[str, int]) -> int | None:
    """The first later level at which something unrolled becomes a loop, if there is one."""
    kinds = get_args(Kind)
    levels = range(level + 1, len(LEVELS))
    return next((at for at in levels if any(unrolled.get(kind, 0) > LEVELS[at].most(kind) for kind in kinds)), None)
