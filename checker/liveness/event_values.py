"""Events as values: that some instance of an action happens, and fairness of such an event.

A step is an occurrence of every instance that leads from the one state to the other. An instance that changes nothing
neither is enabled nor occurs, as ⟨A⟩_v in TLA+ (docs/design/fairness-occurrence.md).
"""

from __future__ import annotations

from collections.abc import Sequence

from assay.checker.interpreter.values.show import show_value
from assay.grammar import kernel as k
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.values import Value


@dataclass(frozen=True, slots=True)
class FairnessEvent:
    """Some instance of an action happens; ``fixed`` are arguments (position, value) that it must have."""

    action: str
    fixed: tuple[tuple[int, Value], ...] = ()

    @property
    def members(self) -> tuple[FairnessEvent, ...]:
        """The event itself, as one of a group."""
        return (self,)

    def matches(self, arguments: Sequence[Value]) -> bool:
        """Whether the event includes an instance with these arguments."""
        return all(arguments[at] == value for at, value in self.fixed)

    def covers(self, other: FairnessEvent) -> bool:
        """Whether the event includes every instance of the other event."""
        return self.action == other.action and set(self.fixed) <= set(other.fixed)

    def show(self, kernel: k.Kernel) -> str:
        """``elect``, or ``elect(b1, _)`` where arguments are fixed."""
        action, fixed = kernel.action(self.action), dict(self.fixed)
        if not fixed:
            return self.action
        shown = [
            show_value(fixed[at], parameter.binder.type) if at in fixed else "_"
            for at, parameter in enumerate(action.parameters)
        ]
        return f"{self.action}({', '.join(shown)})"


@dataclass(frozen=True, slots=True)
class FairnessGroup:
    """One of several events happens."""

    members: tuple[FairnessEvent, ...]

    def covers(self, other: FairnessEvent) -> bool:
        """Whether one of the events includes every instance of the other event."""
        return any(each.covers(other) for each in self.members)

    def show(self, kernel: k.Kernel) -> str:
        """``elect(b1, _) or tick``."""
        return " or ".join(each.show(kernel) for each in self.members)


Happening = FairnessEvent | FairnessGroup


@dataclass(frozen=True, slots=True)
class Fair:
    """Weak fairness: the event occurs infinitely often if it stays enabled. ``strong``: if it is enabled infinitely
    often."""

    event: Happening
    strong: bool


@dataclass(frozen=True, slots=True)
class EventPart:
    """Instances of an action that no event distinguishes: those with these arguments. ``is_step``: the action is a step
    of the system."""

    event: FairnessEvent
    is_step: bool
