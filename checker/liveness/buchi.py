"""Büchi automata of formulas: the tableau of Gerth, Peled, Vardi and Wolper (1995), with acceptance on transitions as
in Couvreur (1999).

A state of the automaton is a set of formulas that must hold from now on. A transition says which letters hold now, and
what must hold from the next moment on. It *postpones* an until whose right operand it does not require. A run is
accepting if it postpones no until for ever. Alternatives of a disjunction are made exclusive where that costs nothing.
So an operand that protects a later one from being undefined is evaluated first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import assert_never

from assay.checker.liveness.nnf import And, Formula, Literal, Or, Release, Truth, Until, negation
from assay.grammar.diagnostics.diagnostic import Diagnostic, Note, Span, SpecError
from assay.grammar.lazy_dataclass import dataclass

TOO_COMPLEX = "E851"
MOST_STATES = 1024
MOST_TRANSITIONS = 4096


@dataclass(frozen=True, slots=True)
class Transition:
    """A transition: the literals that must hold now, the next state, and the acceptance sets (by number)
    that it is in."""

    literals: frozenset[Literal]
    target: int
    accepting: frozenset[int]


@dataclass(frozen=True, slots=True)
class Automaton:
    """A generalised Büchi automaton: ``ways[q]`` are the transitions from state q; 0 is the initial state.

    A run is accepting if it takes transitions of each of the ``sets`` acceptance sets infinitely often.
    """

    ways: tuple[tuple[Transition, ...], ...]
    sets: int


@dataclass(frozen=True, slots=True)
class _Cover:
    """One way to make a set of formulas true now."""

    literals: frozenset[Literal]
    later: frozenset[Formula]
    postponed: frozenset[Until]

    def is_within(self, other: _Cover) -> bool:
        """Whether the other cover is redundant beside this one."""
        return self.literals <= other.literals and self.later <= other.later and self.postponed <= other.postponed


def automaton(formula: Formula, span: Span) -> Automaton:
    """The automaton that accepts exactly the runs that satisfy the formula. Raises ``SpecError`` (E851) at ``span`` if
    it is too large."""
    numbers: dict[frozenset[Formula], int] = {frozenset((formula,)): 0}
    covers: list[list[_Cover]] = []
    queue = list(numbers)
    while queue:
        # Sets have no order that is the same in each run, and the automaton must be.
        todo = tuple(sorted(queue.pop(0), key=repr))
        found = list(islice(_covers(todo, frozenset(), frozenset(), frozenset(), frozenset()), MOST_TRANSITIONS + 1))
        if len(found) > MOST_TRANSITIONS:
            raise _too_complex(span)
        own = _without_useless(found)
        covers.append(own)
        for cover in own:
            if cover.later not in numbers:
                numbers[cover.later] = len(numbers)
                queue.append(cover.later)
        if len(numbers) > MOST_STATES or sum(map(len, covers)) > MOST_TRANSITIONS:
            raise _too_complex(span)
    untils = sorted({each for own in covers for cover in own for each in cover.postponed}, key=repr)
    ways = tuple(tuple(_transition(cover, numbers, untils) for cover in own) for own in covers)
    return Automaton(ways, len(untils))


def _transition(cover: _Cover, numbers: dict[frozenset[Formula], int], untils: list[Until]) -> Transition:
    accepting = frozenset(at for at, each in enumerate(untils) if each not in cover.postponed)
    return Transition(cover.literals, numbers[cover.later], accepting)


def _covers(
    todo: tuple[Formula, ...],
    done: frozenset[Formula],
    literals: frozenset[Literal],
    later: frozenset[Formula],
    postponed: frozenset[Until],
) -> Iterator[_Cover]:
    """All ways to make the formulas in ``todo`` true, given what was decided before."""
    while todo and todo[0] in done:
        todo = todo[1:]
    if not todo:
        yield _Cover(literals, later, postponed)
        return
    formula, rest = todo[0], todo[1:]
    done |= {formula}
    match formula:
        case Truth(value):
            if value:
                yield from _covers(rest, done, literals, later, postponed)
        case Literal(letter, positive):
            # A letter cannot be true and false at one moment: this way ends here.
            if Literal(letter, not positive) not in literals:
                yield from _covers(rest, done, literals | {formula}, later, postponed)
        case And(parts):
            yield from _covers((*parts, *rest), done, literals, later, postponed)
        case Or(parts):
            for at, part in enumerate(parts):
                # Literals alone are negated here: the negation of an `until` would add states to the automaton.
                before = tuple(negation(each) for each in parts[:at] if isinstance(each, Literal))
                yield from _covers((*before, part, *rest), done, literals, later, postponed)
        case Until(left, right):
            # Now, or later: then the left operand holds now, and the same is demanded of the next moment.
            yield from _covers((right, *rest), done, literals, later, postponed)
            on = (*_exclusive(right), left, *rest)
            yield from _covers(on, done, literals, later | {formula}, postponed | {formula})
        case Release(left, right):
            # Released now, or the same is demanded of the next moment. Nothing is postponed: it may go on for ever.
            yield from _covers((right, left, *rest), done, literals, later, postponed)
            on = (right, *_exclusive(left), *rest)
            yield from _covers(on, done, literals, later | {formula}, postponed)
        case _:
            assert_never(formula)


def _exclusive(formula: Formula) -> tuple[Formula, ...]:
    """What may be added to the other alternative without loss: that this one is not possible."""
    return (negation(formula),) if isinstance(formula, Literal) else ()


def _without_useless(covers: Sequence[_Cover]) -> list[_Cover]:
    kept: list[_Cover] = []
    for cover in dict.fromkeys(covers):
        if not any(each.is_within(cover) for each in kept):
            kept = [each for each in kept if not cover.is_within(each)] + [cover]
    return kept


def _too_complex(span: Span) -> SpecError:
    message = f"the automaton of this property has more than {MOST_STATES:,} states or {MOST_TRANSITIONS:,} transitions"
    note = Note("give its parts as properties of their own: those that must all hold can be checked one by one")
    return SpecError([Diagnostic(TOO_COMPLEX, span, message, (note,))])
