"""What is to be decided: temporal properties as formulas, their letters, the fairness conditions, and the events of
both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.checker.interpreter.compiled_model import Model
from assay.checker.liveness.buchi import Automaton, automaton
from assay.checker.liveness.event_values import EventPart, Fair, Happening
from assay.checker.liveness.fairness_events import fairness, parts
from assay.checker.liveness.nnf import Formula, Letter, StateCondition, conjuncts, negation
from assay.checker.liveness.translate import Letters, Translation
from assay.checker.options import SearchOptions
from assay.grammar import kernel as k
from assay.grammar.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Claim:
    """A temporal property; ``formulas`` has one formula for each conjunct.

    ``premises`` are the premises of its implications as written, each with the formulas that it stands for.
    """

    node: k.Property
    formulas: tuple[Formula, ...]
    premises: tuple[tuple[k.Expr, tuple[Formula, ...]], ...]

    def negated(self) -> Iterator[Automaton]:
        """Automata of which one accepts a run exactly if the run violates the property. Raises ``SpecError`` if one is
        too large."""
        for formula in self.formulas:
            for part in conjuncts(formula):
                yield automaton(negation(part), self.node.span)


@dataclass(frozen=True, slots=True)
class Plan:
    """The selected temporal properties of a kernel, ready to be decided on its state graph.

    ``events`` are those of fairness conditions and letters; ``parts`` are the instances of actions, as far as events
    distinguish them.
    """

    claims: tuple[Claim, ...]
    letters: tuple[Letter, ...]
    fair: tuple[Fair, ...]
    events: tuple[Happening, ...]
    parts: tuple[EventPart, ...]

    def condition(self, letter: int) -> k.Expr:
        """The expression of a letter that is a condition on states."""
        found = self.letters[letter]
        assert isinstance(found, StateCondition)
        return found.expr

    @property
    def conditions(self) -> tuple[k.Expr, ...]:
        """The expressions of the letters that are conditions on states, in the order of the letters."""
        return tuple(each.expr for each in self.letters if isinstance(each, StateCondition))

    def events_of(self, part: EventPart) -> frozenset[int]:
        """The events (by number) of which every instance of a part is an occurrence."""
        return frozenset(at for at, event in enumerate(self.events) if event.covers(part.event))


def plan(model: Model, options: SearchOptions) -> Plan | None:
    """The plan for the selected properties; None if none is temporal. Raises ``SpecError`` if one is too large."""
    chosen = [each for each in model.kernel.properties if each.kind == "temporal" and options.selects(each.name)]
    if not chosen:
        return None
    letters = Letters()
    claims = tuple(_claim(each, model, letters) for each in chosen)
    conditions = fairness(model)
    events = _events(conditions, tuple(letters.numbers))
    return Plan(claims, tuple(letters.numbers), conditions, events, parts(model, events))


def _claim(node: k.Property, model: Model, letters: Letters) -> Claim:
    translation = Translation(model, letters)
    formulas = tuple(translation.formula(conjunct.condition, {}) for conjunct in node.conjuncts)
    return Claim(node, formulas, tuple((expr, tuple(made)) for expr, made in translation.premises.items()))


def _events(conditions: Sequence[Fair], letters: Sequence[Letter]) -> tuple[Happening, ...]:
    named = [letter.event for letter in letters if not isinstance(letter, StateCondition)]
    # An event that fairness and a letter both name has one number.
    return tuple(dict.fromkeys([*(each.event for each in conditions), *named]))
