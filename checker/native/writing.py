"""How much code the functions of a module take, and which of them are written with loops so that it does not take too much."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from assay.checker.native.code import LINES, VISITS, Code
from assay.checker.native.loops import LEVELS, Unrolling
from assay.checker.native.unsupported import TooLongError

LAST = len(LEVELS) - 1
SOFT = 20_000
"""The most instructions of a function that could have more loops."""
SOFT_VISITS = 100_000
"""The most expressions that are translated for a function that could have more loops: about a second's work."""
TOTAL = 70_000
"""The most instructions of a module in which a function could have more loops: LLVM takes some seconds for so many."""


@dataclass(frozen=True, slots=True)
class Writing:
    """How a function is written: what is unrolled, the most that it may take, and over what quantifiers are strict."""

    unrolling: Unrolling = LEVELS[0]
    limit: int = LINES
    visits: int = VISITS
    strict: frozenset[str] = frozenset()

    def code(self) -> Code:
        """An empty function, to be written within the limits."""
        return Code(self.limit, self.visits)


Writer = Callable[[Writing], str]
"""Writes a function; raises ``TooLongError`` where it takes too many instructions."""


def written(writers: Sequence[Writer], strict: frozenset[str] = frozenset()) -> list[str]:
    """The texts of functions: as fast code as can be, within the limits; where they do not suffice, ``TooLongError``."""
    parts = [_write(writer, 0, strict) for writer in writers]
    while sum(map(_length, parts)) > TOTAL:
        longest = max(
            (at for at, part in enumerate(parts) if part[1] < LAST), key=lambda at: _length(parts[at]), default=None
        )
        if longest is None:
            break
        text, level = _write(writers[longest], parts[longest][1] + 1, strict)
        parts[longest] = (min(text, parts[longest][0], key=len), level)
    return [text for text, _ in parts]


def _write(writer: Writer, level: int, strict: frozenset[str]) -> tuple[str, int]:
    """The text of a function from some level on, and the level."""
    for at in range(level, LAST):
        try:
            return writer(Writing(LEVELS[at], SOFT, SOFT_VISITS, strict)), at
        except TooLongError:
            continue
    return writer(Writing(LEVELS[LAST], LINES, VISITS, strict)), LAST


def _length(part: tuple[str, int]) -> int:
    return part[0].count("\n")
