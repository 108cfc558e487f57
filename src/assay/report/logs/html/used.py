"""Which lines of a log were compared with the model."""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable, Iterator

from assay.grammar import kernel as k
from assay.report.logs.history import ExecutionHistory
from assay.traces.event import Event
from assay.traces.observe.observation import fields_of, rules_by_kind
from assay.traces.result import Validation
from assay.traces.table.statement_keys import EVERY_SLICE


class ExplainedStatements:
    """What the steps of accepted executions state, as the rules of the trace clause see it.

    A line that repeats the lines around it is no step of an execution (``traces.search.stuttering``). It was compared
    as well: its statement to a rule is that of a step's line in the same file.
    """

    def __init__(self, validation: Validation, past: Iterable[ExecutionHistory]) -> None:
        plan = next(each for each in validation.kernel.traces if each.name == validation.clause)
        self._slicing = () if plan.slicing is None else plan.slicing.fields
        self._rules = rules_by_kind(plan)
        self._logged = {
            key for each in past for step in each.steps if step.event is not None for key in self._keys(step.event)
        }

    def hold(self, event: Event) -> bool:
        """Whether the line of an event was compared with the model."""
        return any(key in self._logged for key in self._keys(event))

    def _keys(self, event: Event) -> Iterator[Hashable]:
        given = fields_of(event)
        for number, rule in enumerate(self._rules.get(event.kind, ())):
            names = list(self._names(rule, given))
            if all(name in given for name in names):
                # As text: values may be tuples and mappings, which no key can hold.
                yield event.record.place.file, event.kind, number, repr([given[name] for name in names])

    def _names(self, rule: k.TraceRule, given: Container[str]) -> Iterator[str]:
        """The fields that a rule names. For the field that stands for every slice: those of the event's fields that
        name a slice.
        """
        for field in rule.fields:
            if field.field == EVERY_SLICE:
                yield from (name for name in self._slicing if name in given)
            else:
                yield field.field
