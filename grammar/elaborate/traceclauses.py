"""Trace clauses: what the events of a log mean for the model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from assay.grammar import kernel, syntax
from assay.grammar.diagnostics import Diagnostics, Note
from assay.grammar.elaborate.context import Context, Fresh, failed
from assay.grammar.elaborate.declare import report_repeated
from assay.grammar.elaborate.expressions import action_reference, elaborate, elaborate_condition, elaborate_expression
from assay.grammar.elaborate.fold import constant
from assay.grammar.elaborate.labels import place_label
from assay.grammar.elaborate.locals import declare
from assay.grammar.elaborate.references import action_named
from assay.grammar.elaborate.scenarios import Steps
from assay.grammar.elaborate.types import elaborate_type
from assay.grammar.elaborate.unit import Unit
from assay.grammar.kernel_types import INT
from assay.grammar.scope import Scope


@dataclass(frozen=True, slots=True)
class Traces:
    """Makes the kernel's trace plans of the top module's trace clauses."""

    unit: Unit
    steps: Steps
    diagnostics: Diagnostics

    def elaborate(self) -> Iterator[kernel.TracePlan]:
        """All plans."""
        traces = list(self.unit.declared(syntax.Trace))
        report_repeated((trace.name for trace in traces), "trace clause", self.diagnostics)
        for trace in traces:
            yield self._plan(trace)

    def _plan(self, trace: syntax.Trace) -> kernel.TracePlan:
        rules = tuple(self._rules(trace))
        hidden, limit = self._hidden(trace)
        return kernel.TracePlan(
            trace.name.text,
            self._catalogue(trace),
            rules,
            tuple(self._ignored(trace)),
            hidden,
            limit,
            self._ordering(trace),
            span=trace.span,
        )

    def _catalogue(self, trace: syntax.Trace) -> str:
        sources = [line for line in trace.lines if isinstance(line, syntax.From)]
        if not sources:
            self.diagnostics.error(
                "E506", trace.name.span, "this trace clause does not say where events come from", "add `from kafka`"
            )
            return ""
        for again in sources[1:]:
            first = Note("first given here", sources[0].span)
            self.diagnostics.error("E507", again.span, "`from` is given twice", first)
        return str(sources[0].catalogue)

    def _rules(self, trace: syntax.Trace) -> Iterator[kernel.TraceRule]:
        taken: set[str] = set()
        for line in trace.lines:
            if isinstance(line, syntax.On):
                label = place_label(line.span)
                label = label if label not in taken else f"{label}:{line.span.column}"
                taken.add(label)
                yield self._rule(line, label)

    def _rule(self, line: syntax.On, label: str) -> kernel.TraceRule:
        fresh = Fresh()
        scope, fields = self._fields(line, fresh)
        condition: kernel.Expr | None = None
        if line.condition is not None:
            found = elaborate_condition(line.condition, scope.allowing(state=False), self.diagnostics, fresh)
            condition, scope = found.expr, found.when_true.allowing(state=True)
        steps = tuple(tuple(self._calls(alternatives, scope, fresh)) for alternatives in line.steps)
        then = (
            None
            if line.then is None
            else elaborate_condition(line.then, scope.allowing(old=True), self.diagnostics, fresh).expr
        )
        observe = (
            None if line.observe is None else elaborate_condition(line.observe, scope, self.diagnostics, fresh).expr
        )
        return kernel.TraceRule(label, line.event.text, fields, condition, steps, then, observe, span=line.span)

    def _fields(self, line: syntax.On, fresh: Fresh) -> tuple[Scope, tuple[kernel.EventField, ...]]:
        scope = self.unit.scope
        fields = []
        for field in line.fields:
            type_ = elaborate_type(field.type, scope, self.diagnostics)
            local, scope = declare(field.name, type_, Context(scope, self.diagnostics, fresh, elaborate))
            fields.append(kernel.EventField(field.name.text, local, span=field.span))
        return scope, tuple(fields)

    def _calls(self, alternatives: tuple[syntax.Expr, ...], scope: Scope, fresh: Fresh) -> Iterator[kernel.ActionCall]:
        for action in alternatives:
            found = action_reference(action, scope.allowing(state=False), self.diagnostics, fresh)
            if found is not None:
                self.steps.check_observed(found.entity, action.span)
                yield self.steps.call(found, action.span)

    def _ignored(self, trace: syntax.Trace) -> Iterator[kernel.IgnoredEvent]:
        """The ignored events; one that a rule without condition takes can never be ignored."""
        rules = {
            line.event.text: line for line in trace.lines if isinstance(line, syntax.On) and line.condition is None
        }
        first: dict[str, syntax.Name] = {}
        for line in trace.lines:
            if not isinstance(line, syntax.Ignore):
                continue
            for event in line.events:
                if event.text in rules:
                    note = Note("this line takes every such event", rules[event.text].span)
                    self.diagnostics.error("E508", event.span, f"`{event.text}` is ignored and used", note)
                if event.text in first:
                    note = Note("first ignored here", first[event.text].span)
                    self.diagnostics.error("E508", event.span, f"`{event.text}` is ignored twice", note)
                first.setdefault(event.text, event)
                yield kernel.IgnoredEvent(event.text, line.reason, span=event.span)

    def _hidden(self, trace: syntax.Trace) -> tuple[tuple[str, ...], int]:
        """The hidden actions, and how many of them may happen between two observed ones."""
        lines = [line for line in trace.lines if isinstance(line, syntax.Hidden)]
        for again in lines[1:]:
            self.diagnostics.error(
                "E507", again.span, "`hidden` is given twice", Note("first given here", lines[0].span)
            )
        if not lines:
            return (), 0
        names: list[str] = []
        for path in lines[0].actions:
            entity = action_named(path, self.unit.scope, self.diagnostics)
            if entity is None:
                continue
            self.steps.check_observed(entity, path.span)
            if entity.name in names:
                self.diagnostics.error("E507", path.span, f"`{path}` is listed twice")
            names.append(entity.name)
        return tuple(names), self._limit(lines[0].limit)

    def _limit(self, expr: syntax.Expr) -> int:
        found = elaborate_expression(expr, self.unit.scope.allowing(state=False), self.diagnostics, Fresh(), INT)
        value = constant(found)
        if isinstance(value, int) and value >= 0:
            return value
        if not failed(found):
            what = "the limit of hidden steps is a constant that is not negative"
            self.diagnostics.error("E509", expr.span, what)
        return 0

    def _ordering(self, trace: syntax.Trace) -> kernel.Ordering:
        orders = [line for line in trace.lines if isinstance(line, syntax.Order)]
        for again in orders[1:]:
            self.diagnostics.error(
                "E507", again.span, "`order:` is given twice", Note("first given here", orders[0].span)
            )
        if not orders:
            return kernel.Ordering()
        order = orders[0]
        return kernel.Ordering(order.unit, order.commit_before_line, order.skew or 0, span=order.span)
