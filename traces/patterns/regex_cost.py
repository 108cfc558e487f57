"""An upper bound on the time that a regular expression takes on the worst text: a log line may be crafted by an
attacker.

Python's engine backtracks: it tries each way to divide a text among the repetitions of a pattern. Where two repetitions
can take the same characters, there are quadratically many ways in the length of the text, with three cubically many.
Where one repetition lies within another, the number doubles with every character. :func:`degree` bounds the exponent
from above: 1 is linear.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from re import _constants as c  # the parser of patterns has no public name
from re import _parser
from typing import Any

from assay.grammar.lazy_dataclass import dataclass

EXPONENTIAL = 99
"""The degree of a pattern whose time is not bounded by a polynomial of the length."""

# A sample of the characters that lines hold: the two beyond ASCII stand for all letters of other scripts.
_ALPHABET = frozenset({*map(chr, range(32, 127)), "\n", "\t", "\r", "é", "日"})
# A repetition with a bound of at least this counts as one without.
_ENDLESS = 1000
_MOST_PATHS = 512

WITHOUT_CLASSES = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
"""The escapes and the classes of characters in a pattern: what looks like a repetition there is none."""

REPEATS = re.compile(r"[*+]|,\}")
"""How a repetition without a bound ends, in a pattern without escapes and classes."""

LONGEST = {1: 1 << 30, 2: 4096}
"""The longest message, in characters, on which a pattern of a degree is tried: a fifth of a second at most.

Patterns of a higher degree are refused.
"""

BOUNDS = {"d": 20, "w": 250, "S": 500}
"""The bounds put on ``+`` and ``*`` after the classes that patterns repeat: no number, name or word of
a log is longer.
"""

# Any escape, so that of `\\d+` the pair `\\` is taken first, and `d+` is a letter.
_CLASS = re.compile(r"\\(.)([+*])?", re.DOTALL)


def bounded(pattern: str) -> str:
    """The pattern with bounds on the repetitions of digits, word characters and non-blanks."""

    def bound(found: re.Match[str]) -> str:
        most = BOUNDS.get(found[1])
        if most is None or found[2] is None:
            return found[0]
        return f"\\{found[1]}{{{int(found[2] == '+')},{most}}}"

    return _CLASS.sub(bound, pattern)


@dataclass(frozen=True, slots=True)
class _Piece:
    """A piece of a pattern: the characters that it can take, whether it repeats without a bound, and whether it may be
    left out.
    """

    takes: frozenset[str]
    endless: bool
    optional: bool = False

    def lets_through(self, taken: frozenset[str]) -> bool:
        """Whether repetitions of these characters before and after the piece can share a text around it."""
        return self.optional or not taken.isdisjoint(self.takes)


def degree(pattern: re.Pattern[str], *, to_the_end: bool, anywhere: bool = False) -> int:
    """The exponent, in the length of the text, of the time that matching can take; 1 if it is linear.

    ``to_the_end``: the match must reach the end of the text (``fullmatch``). ``anywhere``: the match may begin anywhere
    (``search``). Raises ValueError for a construct that it cannot judge.
    """
    parsed = _parser.parse(pattern.pattern, pattern.flags)
    # A search that may begin anywhere acts like an unbounded repetition of any character in front.
    before = [_Piece(_ALPHABET, endless=True)] if anywhere else []
    worst = 1
    for pieces in _sequences(list(parsed)):
        if pieces is None:
            return EXPONENTIAL
        if pieces and pieces[-1].endless and (not to_the_end or pieces[-1].takes == _ALPHABET):
            pieces.pop()  # nothing that follows can fail, so that the engine never backtracks into this piece
        worst = max(worst, _degree([*before, *pieces]))
    return worst


def _degree(pieces: Sequence[_Piece]) -> int:
    """The length of the longest chain of unbounded pieces. Each of these can take all that stands between it and the
    next, and some character of the next.
    """
    best: list[int] = []
    endless = [at for at, piece in enumerate(pieces) if piece.endless]
    for number, at in enumerate(endless):
        longest = 1
        for earlier_number, earlier in enumerate(endless[:number]):
            between = pieces[earlier + 1 : at]
            takes = pieces[earlier].takes
            if takes & pieces[at].takes and all(piece.lets_through(takes) for piece in between):
                longest = max(longest, best[earlier_number] + 1)
        best.append(longest)
    return max(best, default=1)


def _sequences(items: list[Any]) -> Iterator[list[_Piece] | None]:
    """The pieces of each path through the branches of a pattern; None for a pattern that is exponential."""
    ways: list[list[_Piece]] = [[]]
    for item in items:
        steps = list(_steps(item))
        if None in steps:
            yield None
            return
        # Paths double with each branch.
        if len(ways) * len(steps) > _MOST_PATHS:
            raise ValueError(f"a pattern with more than {_MOST_PATHS} paths through its branches cannot be judged")
        ways = [way + step for way in ways for step in steps if step is not None]
    yield from ways


def _steps(item: Any) -> Iterator[list[_Piece] | None]:
    """The pieces of each path through one item."""
    code, value = item
    match code:
        case c.MAX_REPEAT | c.MIN_REPEAT | c.POSSESSIVE_REPEAT:
            yield from _repeated(*value)
        case c.SUBPATTERN:
            yield from _sequences(list(value[3]))
        case c.BRANCH:
            for branch in value[1]:
                yield from _sequences(list(branch))
        case c.AT | c.ASSERT | c.ASSERT_NOT | c.GROUPREF:
            yield []
        case c.ATOMIC_GROUP:
            yield from _sequences(list(value))
        case _:
            # What is left are items of one character.
            yield [_Piece(takes(item), endless=False)]


def _repeated(least: int, most: int, body: Any) -> Iterator[list[_Piece] | None]:
    inside = list(_sequences(list(body)))
    # A bounded repetition counts as its body once: its cost is a constant factor.
    if most < _ENDLESS:
        if least == 0 and not any(piece.endless for pieces in inside for piece in pieces or ()) and None not in inside:
            # One path instead of two: what may be left out stops no repetition, and what repeats may take it.
            yield [replace(piece, optional=True) for pieces in inside for piece in pieces or ()]
            return
        if least == 0:
            yield []
        yield from inside
        return
    for pieces in inside:
        if pieces is None or _is_ambiguous(pieces):
            yield None
        elif pieces:
            takes = frozenset().union(*(piece.takes for piece in pieces))
            yield [_Piece(takes, endless=True)]


def _is_ambiguous(body: Sequence[_Piece]) -> bool:
    """Whether a repeated body can be divided in more than one way: it repeats inside, and no character marks where one
    turn ends. Example: ``(a+)*``.
    """
    for at, piece in enumerate(body):
        # `(a+b)*` is divided in one way only, because `b` marks the end of each turn.
        if piece.endless and all(other.lets_through(piece.takes) for number, other in enumerate(body) if number != at):
            return True
    return False


def takes(item: Any) -> frozenset[str]:
    """The characters that an item of one character can match; raises ValueError for other items."""
    code, value = item
    match code:
        case c.LITERAL:
            return frozenset({chr(value)})
        case c.NOT_LITERAL:
            return _ALPHABET - {chr(value)}
        case c.ANY:
            return _ALPHABET
        case c.IN:
            negated = bool(value) and value[0][0] is c.NEGATE
            members = [_member(each) for each in value if each[0] is not c.NEGATE]
            found: frozenset[str] = frozenset().union(*members)
            return _ALPHABET - found if negated else found
        case _:
            raise ValueError(f"a pattern with {code} cannot be judged")


def _member(item: Any) -> frozenset[str]:
    code, value = item
    match code:
        case c.LITERAL:
            return frozenset({chr(value)})
        case c.RANGE:
            low, high = value
            return frozenset(char for char in _ALPHABET if low <= ord(char) <= high)
        case c.CATEGORY:
            return _CATEGORIES[value]
        case _:
            raise ValueError(f"a pattern with {code} cannot be judged")


def _category(pattern: str) -> frozenset[str]:
    return frozenset(char for char in _ALPHABET if re.fullmatch(pattern, char))


_CATEGORIES: dict[Any, frozenset[str]] = {
    c.CATEGORY_DIGIT: _category(r"\d"),
    c.CATEGORY_NOT_DIGIT: _category(r"\D"),
    c.CATEGORY_SPACE: _category(r"\s"),
    c.CATEGORY_NOT_SPACE: _category(r"\S"),
    c.CATEGORY_WORD: _category(r"\w"),
    c.CATEGORY_NOT_WORD: _category(r"\W"),
}
