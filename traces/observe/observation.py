"""An event as one rule of a trace clause sees it, and the fields that a rule may read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from assay.grammar.kernel import TracePlan, TraceRule
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.values import Value
from assay.traces.event import Event, Field, ProcessRun
from assay.traces.patterns.template_fields import LineFields


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


def fields_of(event: Event) -> dict[str, Field]:
    """The event's own fields, and those that every event has: ``node``, ``run``, and ``previous_run`` if the node ran
    before.

    A field of the event wins over one of these three of the same name.
    """
    fields = event.fields.read() if isinstance(event.fields, LineFields) else event.fields
    run = event.run
    given = {"node": run.node, "run": str(run), **fields}
    # Where it is not known which node wrote a line (`Author`), its runs are not known either.
    if run.number > 1 and given["node"] is not None:
        given.setdefault("previous_run", str(ProcessRun(run.node, run.number - 1)))
    return given


def rules_by_kind(plan: TracePlan) -> dict[str, list[TraceRule]]:
    """The rules of a clause by the kind of event that they read, in the order of the clause."""
    rules: dict[str, list[TraceRule]] = {}
    for rule in plan.rules:
        rules.setdefault(rule.event, []).append(rule)
    return rules


def with_field(observation: Observation, field: str, value: Value, text: Field) -> Observation:
    """The same observation with another value in one field; ``text`` is the field as the log would hold it."""
    values = tuple((name, value if name == field else old) for name, old in observation.values)
    bound = {entry.binder.name: dict(values)[entry.field] for entry in observation.rule.fields}
    event = replace(observation.event, fields={**observation.event.fields, field: text})
    return replace(observation, event=event, bound=bound, values=values)
