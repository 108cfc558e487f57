"""An event as one rule of a trace clause sees it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from assay.grammar.kernel import TraceRule
from assay.grammar.values import Value
from assay.traces.event import Event


@dataclass(slots=True, eq=False)
class Observation:
    """An event as one rule sees it: ``bound`` maps the rule's binders to values, ``values`` lists the event's fields.
    Immutable by convention.
    """

    event: Event
    rule: TraceRule
    bound: Mapping[str, Value]
    values: tuple[tuple[str, Value], ...]

    @property
    def names_action(self) -> bool:
        """Whether the event is an action, not a mere observation of the state."""
        return bool(self.rule.steps)
