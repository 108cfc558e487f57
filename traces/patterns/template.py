"""Message templates: messages that differ only in digits which no pattern distinguishes have one template.

What the patterns find in one message of a template, they find in all of them, at the same positions:
``docs/design/message-templates.md``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from hashlib import sha256
from importlib.resources import files
from re import _constants as c  # the parser of patterns has no public name
from re import _parser
from typing import Any, Protocol

from assay.grammar.data_cache import entry, remember, remembered
from assay.traces.patterns import regex_cost
from assay.traces.patterns.regex_cost import takes

_DIGITS = "0123456789"
_ALL_DIGITS = frozenset(_DIGITS)
_BYTES = bytes(range(256))


class RegexText(Protocol):
    """A regular expression, compiled or not."""

    @property
    def pattern(self) -> str:
        """Its text."""
        ...

    @property
    def flags(self) -> int:
        """Its flags."""
        ...


def template_table(patterns: Iterable[RegexText], literals: Iterable[str]) -> bytes | None:
    """The table for ``bytes.translate`` that maps a message to its template; None if some pattern cannot be judged.

    Each digit is replaced by the least digit that lies in the same character classes of all patterns and literals.
    """
    texts, literals = sorted({(each.pattern, each.flags) for each in patterns}), sorted(set(literals))
    name = entry("template", _code(), texts, literals)
    kept = remembered(name)
    if kept is None:
        # In a tuple: None is a result, too, and is remembered.
        kept = remember(name, (_table(texts, literals),))
    return kept[0] if kept else _table(texts, literals)


@cache
def _code() -> str:
    """The hash of the text of the modules that a kept table depends on; they may lie in an archive."""
    names = (each.rpartition(".") for each in (__name__, regex_cost.__name__))
    text = b"".join(files(package).joinpath(f"{name}.py").read_bytes() for package, _, name in names)
    return sha256(text).hexdigest()


def _table(texts: Iterable[tuple[str, int]], literals: Iterable[str]) -> bytes | None:
    classes = {_distinguished(frozenset(literal)) for literal in literals}
    try:
        for text, flags in texts:
            classes |= _classes(text, flags)
    except ValueError:
        return None
    least: dict[tuple[bool, ...], str] = {}
    # The key of a digit: in which of the classes it lies. Digits with equal keys are exchangeable in every pattern.
    stands_for = [least.setdefault(tuple(digit in each for each in classes), digit) for digit in _DIGITS]
    return _BYTES.translate(bytes.maketrans(_DIGITS.encode(), "".join(stands_for).encode()))


def _distinguished(characters: frozenset[str]) -> frozenset[str]:
    """The digits among some characters; empty if these are all ten, because then no digit is distinguished from
    another.
    """
    digits = characters & _ALL_DIGITS
    return frozenset() if digits == _ALL_DIGITS else digits


@cache
def _classes(pattern: str, flags: int) -> frozenset[frozenset[str]]:
    """The sets of digits that the characters of a pattern can be; raises ValueError where that cannot be judged."""
    return frozenset(_distinguished(takes(item)) for item in _characters(_parser.parse(pattern, flags)))


def _characters(items: Iterable[Any]) -> Iterator[Any]:
    """The items of a parsed pattern, at any depth, that match one character.

    A reference to a group is among them, and ``takes`` refuses it.
    """
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
            # `^`, `$` and `\b` never tell one digit from another: all ten are word characters.
            case c.AT:
                continue
            case _:
                yield code, value
