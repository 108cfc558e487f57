"""Random formulas, words that go on for ever, and what a formula says of a word by the definition of LTL."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from assay.checker.liveness.nnf import (
    And,
    Formula,
    Literal,
    Or,
    Release,
    Truth,
    Until,
    always,
    conjunction,
    disjunction,
    eventually,
)


@dataclass(frozen=True)
class Word:
    """The letters that are true at each moment; after the last moment comes that of the loop."""

    moments: tuple[frozenset[int], ...]
    loop: int

    def after(self, at: int) -> int:
        return at + 1 if at + 1 < len(self.moments) else self.loop


def random_word(random: Random, letters: int) -> Word:
    length = random.randint(1, 6)
    moments = tuple(frozenset(x for x in range(letters) if random.random() < 0.5) for _ in range(length))
    return Word(moments, random.randrange(length))


def random_formula(random: Random, letters: int, depth: int) -> Formula:
    if depth == 0 or random.random() < 0.15:
        return Literal(random.randrange(letters), random.random() < 0.6)
    parts = [random_formula(random, letters, depth - 1) for _ in range(2)]
    ways = [
        conjunction(parts),
        disjunction(parts),
        Until(parts[0], parts[1]),
        Release(parts[0], parts[1]),
        always(parts[0]),
        eventually(parts[0]),
        always(disjunction([parts[0], eventually(parts[1])])),
    ]
    return random.choice(ways)


def holds(formula: Formula, word: Word, at: int) -> bool:
    """Whether the word satisfies the formula from a moment on."""
    match formula:
        case Truth(value):
            return value
        case Literal(letter, positive):
            return (letter in word.moments[at]) is positive
        case And(parts):
            return all(holds(part, word, at) for part in parts)
        case Or(parts):
            return any(holds(part, word, at) for part in parts)
        case Until(left, right):
            return _until(left, right, word, at)
        case Release(left, right):
            return not _until_false(left, right, word, at)


def _until(left: Formula, right: Formula, word: Word, at: int) -> bool:
    for _ in range(2 * len(word.moments)):
        if holds(right, word, at):
            return True
        if not holds(left, word, at):
            return False
        at = word.after(at)
    return False


def _until_false(left: Formula, right: Formula, word: Word, at: int) -> bool:
    """Whether the right operand is false some time before the left one was ever true."""
    for _ in range(2 * len(word.moments)):
        if not holds(right, word, at):
            return True
        if holds(left, word, at):
            return False
        at = word.after(at)
    return False
