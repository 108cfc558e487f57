"""Messages that differ in nothing but digits which no pattern tells apart: what was found in one is found in all of them, in the same places.

NOTE(skeletons): A regular expression looks at a text one character at a time, and asks of each only whether it is in some class. Two texts of one length
whose characters are, place by place, in the same classes of a pattern, match it alike, with the same groups. So each digit of a message is replaced by the
least one that is in the same classes of every pattern of its logger; two messages with the same result are read in the same way. The patterns of Kafka's
lines say ``\\d`` almost everywhere, so that a message mostly has the skeleton of an earlier one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from re import _constants as c  # the parser of patterns has no public name
from re import _parser
from typing import Any

from assay.traces.patterns.regex_cost import takes

_DIGITS = "0123456789"
_ALL_DIGITS = frozenset(_DIGITS)
_BYTES = bytes(range(256))


def skeleton_table(patterns: Iterable[re.Pattern[str]], literals: Iterable[str]) -> bytes | None:
    """The table for ``bytes.translate`` that makes a message its skeleton; none if what a pattern asks cannot be told."""
    classes = {_told_apart(frozenset(literal)) for literal in literals}
    try:
        for pattern in patterns:
            classes |= _classes(pattern)
    except ValueError:
        return None
    least: dict[tuple[bool, ...], str] = {}
    stands_for = [least.setdefault(tuple(digit in each for each in classes), digit) for digit in _DIGITS]
    return _BYTES.translate(bytes.maketrans(_DIGITS.encode(), "".join(stands_for).encode()))


def _told_apart(characters: frozenset[str]) -> frozenset[str]:
    """The digits among some characters; none if it is all of them, which tells no digit from another."""
    digits = characters & _ALL_DIGITS
    return frozenset() if digits == _ALL_DIGITS else digits


@cache
def _classes(pattern: re.Pattern[str]) -> frozenset[frozenset[str]]:
    """Which digits the characters of a pattern can be; raises ValueError where that cannot be told."""
    return frozenset(_told_apart(takes(item)) for item in _characters(_parser.parse(pattern.pattern, pattern.flags)))


def _characters(items: Iterable[Any]) -> Iterator[Any]:
    """The items of a parsed pattern, at any depth, that take one character; a reference to a group is among them, and takes nobody knows what."""
    for code, value in items:
        match code:
            case c.MAX_REPEAT | c.MIN_REPEAT | c.POSSESSIVE_REPEAT:
                yield from _characters(value[2])
            case c.SUBPATTERN:
                yield from _characters(value[3])
            case c.BRANCH:
                for branch in value[1]:
                    yield from _characters(branch)
            case c.ASSERT | c.ASSERT_NOT:
                yield from _characters(value[1])
            case c.ATOMIC_GROUP:
                yield from _characters(value)
            case c.AT:
                continue
            case _:
                yield code, value
