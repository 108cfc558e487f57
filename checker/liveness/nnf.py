"""Temporal formulas over letters, in negation normal form: what kernel expressions become before an automaton is built.

A letter is true or false of a state (a condition, ``enabled``) or of the step from it (``occurs``). Quantifiers over
temporal formulas, names for values that are kept until later, and arguments of actions are expanded, one operand for
each value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import assert_never

from assay.checker.liveness.event_values import FairnessEvent
from assay.grammar import kernel as k
from assay.grammar.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class StateCondition:
    """A condition on states: an expression without free names."""

    expr: k.Expr


@dataclass(frozen=True, slots=True)
class Enabled:
    """Some instance of the event could happen now, and would change the state."""

    event: FairnessEvent


@dataclass(frozen=True, slots=True)
class Occurs:
    """The next step is an occurrence of the event (docs/design/fairness-occurrence.md)."""

    event: FairnessEvent


Letter = StateCondition | Enabled | Occurs


@dataclass(frozen=True, slots=True)
class Truth:
    """The constant true or false."""

    value: bool


@dataclass(frozen=True, slots=True)
class Literal:
    """A letter (by its number) or its negation."""

    letter: int
    positive: bool


@dataclass(frozen=True, slots=True)
class And:
    """All operands hold."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Some operand holds; earlier ones protect later ones from being undefined."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Until:
    """The right operand holds at some time, and the left one at all times before."""

    left: Formula
    right: Formula


@dataclass(frozen=True, slots=True)
class Release:
    """The right operand holds up to and including the first time at which the left one does, or for ever."""

    left: Formula
    right: Formula


Formula = Truth | Literal | And | Or | Until | Release
TRUE, FALSE = Truth(True), Truth(False)


def conjunction(parts: Iterable[Formula]) -> Formula:
    """The conjunction; nested conjunctions are flattened."""
    return _joined(And, TRUE, FALSE, parts)


def disjunction(parts: Iterable[Formula]) -> Formula:
    """The disjunction; nested disjunctions are flattened."""
    return _joined(Or, FALSE, TRUE, parts)


def _joined(kind: type[And] | type[Or], neutral: Formula, deciding: Formula, parts: Iterable[Formula]) -> Formula:
    # A dict keeps the order, in which earlier operands protect later ones from being undefined.
    flat = dict.fromkeys(inner for part in parts for inner in (part.parts if isinstance(part, kind) else (part,)))
    flat.pop(neutral, None)
    if deciding in flat:
        return deciding
    kept = tuple(flat)
    return kept[0] if len(kept) == 1 else kind(kept) if kept else neutral


def eventually(operand: Formula) -> Formula:
    """The operand holds now or later. ``eventually always f`` and ``always eventually f`` absorb a further
    ``eventually``."""
    match operand:
        # Each operator that is left out halves an automaton, whose size is exponential in the formula.
        case Truth() | Until(Truth(True), _) | Release(Truth(False), Until(Truth(True), _)):
            return operand
        case _:
            return Until(TRUE, operand)


def always(operand: Formula) -> Formula:
    """The operand holds now and at all later times."""
    match operand:
        case Truth() | Release(Truth(False), _) | Until(Truth(True), Release(Truth(False), _)):
            return operand
        case _:
            return Release(FALSE, operand)


def negation(formula: Formula) -> Formula:
    """The formula that holds where this one does not."""
    match formula:
        case Truth(value):
            return Truth(not value)
        case Literal(letter, positive):
            return Literal(letter, not positive)
        case And(parts):
            return disjunction(map(negation, parts))
        case Or(parts):
            return conjunction(map(negation, parts))
        case Until(left, right):
            return Release(negation(left), negation(right))
        case Release(left, right):
            return Until(negation(left), negation(right))
        case _:
            assert_never(formula)


def conjuncts(formula: Formula) -> Iterator[Formula]:
    """Formulas whose conjunction is this one, each as small as possible: each is checked by itself."""
    match formula:
        case And(parts):
            for part in parts:
                yield from conjuncts(part)
        # `always (f and g)` is checked as `always f` and `always g`: two small automata instead of their product.
        case Release(Truth(False), right):
            yield from (always(part) for part in conjuncts(right))
        case _:
            yield formula


def letters_of(formula: Formula) -> set[int]:
    """The numbers of the letters in a formula."""
    match formula:
        case Truth():
            return set()
        case Literal(letter, _):
            return {letter}
        case And(parts) | Or(parts):
            return set().union(*map(letters_of, parts))
        case Until(left, right) | Release(left, right):
            return letters_of(left) | letters_of(right)
        case _:
            assert_never(formula)
