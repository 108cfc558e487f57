"""Events and conditions of temporal properties as gates, over a state and the step taken from it.

Their meaning is that of ``checker.liveness.state_graph``. A step is an occurrence of every instance that leads from the
one state to the other (docs/design/fairness-occurrence.md). What a bound cuts off is neither enabled nor disabled
(docs/design/fairness-bounds.md).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from typing import TYPE_CHECKING

from assay.checker.aig.bit_blaster import owned_bits
from assay.checker.aig.graph import FALSE
from assay.checker.interpreter.compiled_model import Model
from assay.checker.liveness.fairness_events import split
from assay.checker.liveness.nnf import Enabled, Literal, Occurs, StateCondition
from assay.checker.liveness.plan import Plan
from assay.checker.symbolic.encode.ground_actions import all_outcomes
from assay.grammar.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from assay.checker.symbolic.encode.transition_system import System


@dataclass(slots=True)
class EventGates:
    """Literals of an event: ``enabled`` and ``cut`` of a state (never both), ``occurs`` of a step."""

    enabled: int = FALSE
    cut: int = FALSE
    occurs: int = FALSE


@dataclass(slots=True)
class EventEncoding:
    """The literals of a plan in a system. Events have one by their number; conditions have one for where they hold, and
    one for where they are undefined.
    """

    plan: Plan
    events: list[EventGates] = field(default_factory=list)
    conditions: dict[int, tuple[int, int]] = field(default_factory=dict)

    def is_false(self, system: System, literal: Literal) -> int:
        """Where a literal of a formula is false, and not undefined."""
        letter, gates = self.plan.letters[literal.letter], system.gates
        match letter:
            case StateCondition():
                value, without = self.conditions[literal.letter]
                return gates.both(value ^ literal.positive, without ^ 1)
            case Enabled(event):
                found = self.events[self.plan.events.index(event)]
                return gates.either(found.cut, found.enabled ^ literal.positive)
            case Occurs(event):
                return self.events[self.plan.events.index(event)].occurs ^ literal.positive

    def has_no_value(self, literal: Literal) -> int:
        """Where a literal has no value."""
        return self.conditions[literal.letter][1] if literal.letter in self.conditions else FALSE

    def of_steps(self, literal: Literal) -> bool:
        """Whether a literal is about the step and not about the state."""
        return isinstance(self.plan.letters[literal.letter], Occurs)


def read(system: System, plan: Plan) -> EventEncoding:
    """The literals of a plan. Raises ``UnsupportedError`` for a construct without an encoding."""
    reading = EventEncoding(plan, [EventGates() for _ in plan.events])
    _read_events(system, reading)
    for number, letter in enumerate(plan.letters):
        if isinstance(letter, StateCondition):
            reading.conditions[number] = system.condition(letter.expr)
    return reading


def _read_events(system: System, reading: EventEncoding) -> None:
    gates, plan = system.gates, reading.plan
    kernel, owned = split(system.kernel, plan.parts), owned_bits(system.layout)
    moved = _differ(system, system.after)
    for part, meaning in zip(plan.parts, Model(kernel).steps, strict=True):
        numbers = plan.events_of(part)
        if not numbers:
            continue
        outcomes = all_outcomes(kernel, system.layout, system.lowering, [meaning])
        leads = [(g.enabled, [g.after[at] for at in owned]) for g in outcomes.ground]
        able = gates.any_of(gates.both(enabled, _differ(system, after)) for enabled, after in leads)
        # Whichever instance fires, the step is an occurrence of all that lead to the same state.
        happens = gates.any_of(gates.both(enabled, _same(system, after)) for enabled, after in leads)
        cut = gates.any_of(literal for each in outcomes.cuts.values() for literal in each)
        for number in numbers:
            event = reading.events[number]
            event.enabled = gates.either(event.enabled, able)
            event.occurs = gates.either(event.occurs, gates.both(happens, moved))
            event.cut = gates.either(event.cut, cut)
    for event in reading.events:
        event.cut = gates.both(event.cut, event.enabled ^ 1)


def _differ(system: System, after: Iterable[int]) -> int:
    """Whether a state differs from the current one."""
    gates = system.gates
    return gates.any_of(gates.differ(now, then) for now, then in zip(system.state, after, strict=True))


def _same(system: System, after: Iterable[int]) -> int:
    """Whether a state is the next one."""
    gates = system.gates
    return gates.all_of(gates.differ(then, one) ^ 1 for then, one in zip(system.after, after, strict=True))
