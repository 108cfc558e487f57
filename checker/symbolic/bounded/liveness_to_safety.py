"""Liveness to safety: fair runs that violate a temporal property become runs of a larger system to a bad state.

A run saves one of its states and goes on. It is bad when it returns to the saved state and met in between all that
acceptance and fairness require. The system is the product with a Büchi automaton of the negated property; several
automata share the saved state. Reference: Biere, Artho, Schuppan, "Liveness checking as safety checking", 2002.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from assay.checker.aig.graph import FALSE
from assay.checker.liveness.buchi import Automaton, Transition, automaton
from assay.checker.liveness.nnf import conjuncts, negation
from assay.checker.liveness.plan import Plan
from assay.checker.lowering.llvm.unsupported import UnsupportedError
from assay.checker.symbolic.encode.fairness_events import EventEncoding, read
from assay.checker.symbolic.encode.transition_system import SymbolicQuestion, System, no_encoding
from assay.grammar.lazy_dataclass import dataclass

LASSO = "lasso"
NO_VALUE = "no value"


@dataclass(frozen=True, slots=True)
class Loops:
    """A system with more bits of state and choice than ``base``; they follow those of ``base`` and are 0 initially.

    Its questions have the names of properties. The kind ``LASSO`` asks for a state at the end of a loop, ``NO_VALUE``
    for one in which the property is undefined. ``saved`` is the position of the bit that says that a state was saved.
    """

    base: System
    system: System
    saved: int


def loops(base: System, plan: Plan) -> Loops:
    """The system that searches for violations of the properties of a plan. Raises ``SpecError`` for a construct without
    an encoding."""
    try:
        return _Writer(base, plan).loops()
    except UnsupportedError as error:  # more gates than fit the memory
        raise no_encoding(error) from None


class _Writer:
    def __init__(self, base: System, plan: Plan) -> None:
        self.base = base
        self.gates = base.gates
        self.plan = plan
        self.reading: EventEncoding = read(base, plan)
        self.state: list[int] = list(base.state)
        self.after: list[int] = list(base.after)
        self.choice: list[int] = list(base.choice)
        self.questions: list[SymbolicQuestion] = []
        self.saved = len(self.state)
        self.is_saved = self._remembered()
        # An input of its own says at which state the loop begins. Once saved, it stays so.
        self.inside = self.gates.either(self.is_saved, self._chosen(1)[0])
        self.after[self.saved] = self.inside

    def loops(self) -> Loops:
        """Write the whole system."""
        back = self.gates.all_of([self.is_saved, *self._same(list(self.base.state)), *self._fair()])
        for claim in self.plan.claims:
            for formula in claim.formulas:
                for part in conjuncts(formula):
                    self._automaton(claim.node.name, automaton(negation(part), claim.node.span), back)
        system = replace(
            self.base,
            state=tuple(self.state),
            after=tuple(self.after),
            choice=tuple(self.choice),
            questions=tuple(self.questions),
        )
        return Loops(self.base, system, self.saved)

    def _remembered(self) -> int:
        """A new bit of state, 0 initially; the caller writes its next value into ``after``."""
        self.state.append(self.gates.input())
        self.after.append(FALSE)
        return self.state[-1]

    def _chosen(self, count: int) -> list[int]:
        self.choice += self.gates.inputs(count)
        return self.choice[len(self.choice) - count :]

    def _same(self, bits: Sequence[int]) -> list[int]:
        """For each bit whether it equals the bit of the saved state."""
        found = []
        for bit in bits:
            at, copy = len(self.state), self._remembered()
            # The copy follows the state until it is saved, and keeps it from then on.
            self.after[at] = self.gates.choose(self.is_saved, copy, bit)
            found.append(self.gates.differ(bit, copy) ^ 1)
        return found

    def _met(self, condition: int) -> int:
        """Whether a condition was true of some state or step since the state was saved."""
        at, met = len(self.state), self._remembered()
        self.after[at] = self.gates.either(met, self.gates.both(self.inside, condition))
        return met

    def _fair(self) -> Iterable[int]:
        """The condition that a loop is fair."""
        gates = self.gates
        for fair in self.plan.fair:
            event = self.reading.events[self.plan.events.index(fair.event)]
            able = gates.either(event.enabled, event.cut)
            if fair.strong:
                yield gates.either(self._met(event.occurs), self._met(able) ^ 1)
            else:
                yield self._met(gates.either(event.occurs, able ^ 1))

    # ------------------------------------------------------------------------------------------------ automata

    def _automaton(self, name: str, of: Automaton, back: int) -> None:
        """Add an automaton to the product, and a question for the ends of its accepting loops."""
        gates = self.gates
        ways = [(source, way) for source, own in enumerate(of.ways) for way in own]
        places = range(len(self.state), len(self.state) + (len(of.ways) - 1).bit_length())
        # The automaton's state in binary. Its initial state has the number 0, as all new bits have at first.
        here = [self._remembered() for _ in places]
        at, failed = len(self.state), self._remembered()
        chosen = self._chosen((len(ways) - 1).bit_length() if ways else 0)
        taken = [
            gates.all_of([self._is(here, source), self._allows(way), self._is(chosen, number)])
            for number, (source, way) in enumerate(ways)
        ]
        # An input chooses the transition. If it is none that can be taken, this automaton has no run any more.
        self.after[at] = gates.either(failed, gates.any_of(taken) ^ 1)
        for bit, place in enumerate(places):
            self.after[place] = gates.any_of(
                t for t, (_, way) in zip(taken, ways, strict=True) if way.target >> bit & 1
            )
        accepted = [
            self._met(gates.any_of(t for t, (_, way) in zip(taken, ways, strict=True) if number in way.accepting))
            for number in range(of.sets)
        ]
        # The loop has to come back to the automaton's state as well.
        ends = gates.all_of([back, failed ^ 1, *self._same(here), *accepted])
        self.questions.append(SymbolicQuestion(name, LASSO, ends))
        asks = gates.any_of(gates.both(self._is(here, source), self._asks_too_much(way)) for source, way in ways)
        self.questions.append(SymbolicQuestion(name, NO_VALUE, gates.both(failed ^ 1, asks)))

    def _is(self, bits: Sequence[int], number: int) -> int:
        return self.gates.all_of(bit if number >> at & 1 else bit ^ 1 for at, bit in enumerate(bits))

    def _allows(self, way: Transition) -> int:
        """Whether the literals of a transition hold."""
        false = [self.reading.is_false(self.base, each) for each in way.literals]
        return self.gates.any_of([*false, *map(self.reading.has_no_value, way.literals)]) ^ 1

    def _asks_too_much(self, way: Transition) -> int:
        """Whether no literal about the state is false, but one is undefined."""
        of_state = [each for each in way.literals if not self.reading.of_steps(each)]
        without = self.gates.any_of(map(self.reading.has_no_value, of_state))
        if without == FALSE:
            return FALSE
        return self.gates.both(without, self.gates.any_of(self.reading.is_false(self.base, e) for e in of_state) ^ 1)
