"""Trace clauses: what the events of a log mean for the model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from typing import Literal, TypeVar

from assay.grammar import kernel, syntax
from assay.grammar.diagnostics.diagnostic import Diagnostics, Note
from assay.grammar.elaborate.declarations.bare_action_names import action_named
from assay.grammar.elaborate.declarations.event_sources import (
    CODE,
    OF_CALLS,
    UNITS,
    SourceReader,
    check_order,
    named_in,
)
from assay.grammar.elaborate.declarations.scenarios import StepReader
from assay.grammar.elaborate.expressions.dispatch import (
    action_reference,
    elaborate,
    elaborate_condition,
    elaborate_expression,
    elaborate_type,
)
from assay.grammar.elaborate.expressions.locals import check_new, stays_visible
from assay.grammar.elaborate.modules.declare import report_repeated
from assay.grammar.elaborate.modules.module_instance import Unit
from assay.grammar.elaborate.modules.module_instances import Units
from assay.grammar.elaborate.scopes.context import Context
from assay.grammar.elaborate.scopes.erroneous import failed
from assay.grammar.elaborate.scopes.fresh_names import Fresh
from assay.grammar.elaborate.scopes.labels import place_label
from assay.grammar.elaborate.scopes.rewrite import pieces
from assay.grammar.elaborate.scopes.scope import (
    ModuleEntity,
    Scope,
    SortEntity,
    StateEntity,
    ValueEntity,
    present,
)
from assay.grammar.elaborate.scopes.type_relations import ERROR
from assay.grammar.elaborate.types.constant_folding import constant
from assay.grammar.kernel.types import INT, AtomType, Type
from assay.grammar.lazy_dataclass import dataclass

LineT = TypeVar("LineT", bound=syntax.TraceLine)
Placed = tuple[Unit, syntax.TraceLine]
"""A line of a trace clause, with the module whose names it uses."""

SLICE = "slice"
"""The field that is the element of a slice."""

REPEATED = {
    syntax.On,
    syntax.CallLine,
    syntax.Ignore,
    syntax.ThreadLine,
    syntax.ReportLine,
    syntax.Measure,
    syntax.Noted,
}
RENAME = 'read the field under another name: `field other = "key"` in a `from events:` block'
SEVERITIES: tuple[Literal["risk", "known"], ...] = ("risk", "known")


@dataclass(frozen=True, slots=True)
class Traces:
    """Makes the kernel's trace plans of the top module's trace clauses."""

    unit: Unit
    units: Units
    steps: StepReader
    diagnostics: Diagnostics

    def elaborate(self) -> Iterator[kernel.TracePlan]:
        """All plans."""
        traces = list(self.unit.declared(syntax.TraceClause))
        report_repeated((trace.name for trace in traces), "trace clause", self.diagnostics)
        for trace in traces:
            placed = self._lines(self.unit, trace, ())
            yield ClausePlan(self.unit, tuple(placed), self.steps, self.diagnostics).plan(trace)

    def check(self, trace: syntax.TraceClause, rules: frozenset[syntax.TraceLine]) -> None:
        """Find the mistakes in a clause, without its rules but for those that are given."""
        placed = [
            (unit, line)
            for unit, line in self._lines(self.unit, trace, ())
            if not isinstance(line, syntax.On) or line in rules
        ]
        ClausePlan(self.unit, tuple(placed), self.steps, self.diagnostics).plan(trace)

    def _lines(self, unit: Unit, trace: syntax.TraceClause, above: tuple[syntax.TraceClause, ...]) -> list[Placed]:
        """The lines of a clause after those of the clause that it extends, without those that it replaces."""
        own: list[Placed] = [(unit, line) for line in trace.lines]
        if trace.base is None:
            return own
        found = self._base(unit, trace.base)
        if found is None or found[1] in (*above, trace):
            known = "it does not exist" if found is None else "it extends itself"
            self.diagnostics.error(
                "E514", trace.base.span, f"the trace clause `{trace.base}` cannot be extended: {known}"
            )
            return own
        inherited = self._lines(*found, (*above, trace))
        return [*_without(inherited, trace.lines), *own]

    def _base(self, unit: Unit, path: syntax.DottedName) -> tuple[Unit, syntax.TraceClause] | None:
        """The clause of that name, and its module."""
        home: Unit | None = unit
        for part in path.parts[:-1]:
            entity = unit.scope.find(part.text)
            inside = entity[0].scope.own if len(entity) == 1 and isinstance(entity[0], ModuleEntity) else None
            home = next((other for other in self.units.canonical() if other.own is inside), None)
        found = (
            [] if home is None else [t for t in home.declared(syntax.TraceClause) if t.name.text == path.parts[-1].text]
        )
        return (home, found[0]) if home is not None and found else None


def _without(inherited: list[Placed], own: tuple[syntax.TraceLine, ...]) -> Iterator[Placed]:
    """The inherited lines that the own ones do not replace. An own rule or ``ignore`` replaces the inherited ones for
    its events; most other lines replace the one of their kind."""
    named = {
        event.text
        for line in own
        if isinstance(line, syntax.On | syntax.CallLine | syntax.Ignore)
        for event in line.events
    }
    measured = {line.name.text for line in own if isinstance(line, syntax.Measure)}
    once = {type(line) for line in own} - REPEATED
    for unit, line in inherited:
        match line:
            case syntax.On(events) | syntax.CallLine(events):
                still = tuple(event for event in events if event.text not in named)
                if still:
                    yield unit, replace(line, events=still)
            case syntax.Ignore(events, reason):
                left = tuple(event for event in events if event.text not in named)
                if left:
                    yield unit, syntax.Ignore(left, reason, span=line.span)
            case syntax.Measure(name):
                if name.text not in measured:
                    yield unit, line
            case _:
                if type(line) not in once:
                    yield unit, line


@dataclass(frozen=True, slots=True)
class ClausePlan:
    """One clause: its lines, each with its module."""

    unit: Unit
    lines: tuple[Placed, ...]
    steps: StepReader
    diagnostics: Diagnostics
    slicing: kernel.Slicing | None = None
    source: kernel.EventSource = field(default_factory=kernel.EventSource)
    types: Mapping[str, Type] = field(default_factory=dict)
    """The types that the ``from`` block gives to fields."""

    def plan(self, trace: syntax.TraceClause) -> kernel.TracePlan:
        """The kernel's plan."""
        reported = tuple(self._reported())
        # First of all: the reader of steps warns of actions that are no step of the system, unless they are reported.
        steps = replace(self.steps, reported=frozenset(each.action for each in reported))
        source, types = self._source_types()
        return replace(self, steps=steps, slicing=self._slicing(), source=source, types=types)._plan(trace, reported)

    def _plan(self, trace: syntax.TraceClause, reported: tuple[kernel.Reported, ...]) -> kernel.TracePlan:
        rules = tuple(self._rules())
        for rule in rules:
            if rule.at is not None and self.slicing is None:
                self.diagnostics.error(
                    "E515", rule.at.span, "`at` numbers steps of a slice, and this clause has no `slice`"
                )
        if self.slicing is not None and any(rule.call is not None for rule in rules):
            text = "`call` is divided by key without it, if the spec keeps the keys apart: leave `slice` out"
            self.diagnostics.error("E515", self.slicing.span, text)
        hidden, limit = self._hidden()
        seen = frozenset(rule.event for rule in rules)
        measures, noted = tuple(self._measures()), tuple(self._noted())
        return kernel.TracePlan(
            trace.name.text,
            self._catalogue(trace),
            rules,
            tuple(self._ignored()),
            hidden,
            limit,
            self._ordering(),
            self.slicing,
            self._numbered(),
            tuple(frozenset(e.text for e in line.events) for _, line in self._of(syntax.ThreadLine)),
            reported,
            self._ends(),
            measures,
            noted,
            replace(self.source, needed=self._needed((*rules, *measures, *noted)), observed=seen),
            self._once(syntax.Begins, "begins anywhere") is not None,
            span=trace.span,
        )

    def _needed(self, lines: Iterable[kernel.TraceRule | kernel.Measure | kernel.Noted]) -> frozenset[str]:
        """The fields of events that the clause names."""
        named = {each.field for line in lines for each in line.fields}
        calls = [line.call for line in lines if isinstance(line, kernel.TraceRule) and line.call is not None]
        named |= {key for call in calls for key in call.times or ()} | set(OF_CALLS if calls else ())
        sliced = self.slicing
        return frozenset(
            named if sliced is None else {*named, *sliced.fields, *((sliced.identity,) if sliced.identity else ())}
        )

    def _of(self, kind: type[LineT]) -> list[tuple[Unit, LineT]]:
        return [(unit, line) for unit, line in self.lines if isinstance(line, kind)]

    def _once(self, kind: type[LineT], name: str) -> tuple[Unit, LineT] | None:
        """The line of a kind that may occur once."""
        found = self._of(kind)
        for _, again in found[1:]:
            first = Note("first given here", found[0][1].span)
            more = ": say `hidden a, b; at most n between two pinned events`" if kind is syntax.Hidden else ""
            self.diagnostics.error("E507", again.span, f"`{name}` is given twice{more}", first)
        return found[0] if found else None

    def _source_types(self) -> tuple[kernel.EventSource, Mapping[str, Type]]:
        """How lines become events, and the types that the ``from`` block gives to fields."""
        found = self._of(syntax.From)
        if not found:
            return kernel.EventSource(), {}
        unit, line = found[0]
        reader = SourceReader(unit.scope, self.diagnostics)
        source = reader.read(line)
        order = self._of(syntax.OrderLine)
        source = replace(source, order=order[0][1].unit if order else "file")
        check_order(source, line, order[0][1] if order else None, [each for _, each in self.lines], self.diagnostics)
        return source, reader.types

    def _catalogue(self, trace: syntax.TraceClause) -> str:
        source = self._once(syntax.From, "from")
        if source is None:
            self.diagnostics.error(
                "E506", trace.name.span, "this trace clause does not say where events come from", "add `from kafka`"
            )
            return ""
        return str(source[1].catalogue)

    def _slicing(self) -> kernel.Slicing | None:
        found = self._once(syntax.Slice, "slice")
        if found is None:
            return None
        unit, line = found
        entities = unit.scope.find(line.set.text)
        if len(entities) != 1 or not isinstance(entities[0], SortEntity):
            self.diagnostics.error(
                "E515", line.set.span, f"`{line.set.text}` is no set parameter: slices are its elements"
            )
            return None
        fields = tuple(field.text for field in line.fields)
        named = line.since.text if line.since else None
        # One syntax has two meanings: an event that creates a slice, or a field that tells it from an earlier one.
        event, field = (None, named) if line.renewed else (named, None)
        return kernel.Slicing(entities[0].sort, fields, event, field, span=line.span)

    def _reported(self) -> Iterator[kernel.Reported]:
        for unit, line in self._of(syntax.ReportLine):
            entity = action_named(line.action, unit.scope, self.diagnostics)
            severity = self._severity(line.severity)
            if entity is not None and severity is not None:
                yield kernel.Reported(entity.name, severity, line.text, line.since, line.before, span=line.span)

    def _severity(self, name: syntax.Name) -> Literal["risk", "known"] | None:
        severity = next((each for each in SEVERITIES if each == name.text), None)
        if severity is None:
            known = " or ".join(f"`{each}`" for each in SEVERITIES)
            self.diagnostics.error("E516", name.span, f"what is reported is a {known}")
        return severity

    def _ends(self) -> tuple[str, ...]:
        found = self._once(syntax.Ends, "ends")
        if found is None:
            return ()
        unit, line = found
        for path in line.actions:
            entity = action_named(path, unit.scope, self.diagnostics)
            if entity is not None and len(entity.parameters) != 1:
                self.diagnostics.error(
                    "E516", path.span, f"`{path}` cannot end a process run: its one parameter would be the run"
                )
        return self._listed(unit, line.actions)

    def _measures(self) -> Iterator[kernel.Measure]:
        lines = self._of(syntax.Measure)
        report_repeated((line.name for _, line in lines), "measure", self.diagnostics)
        for unit, line in lines:
            fresh = Fresh()
            scope, fields = self._fields(unit.scope, line.fields, fresh)
            condition = elaborate_condition(line.condition, scope, self.diagnostics, fresh).expr
            if fields:
                self._of_slices(line, fields)
            yield kernel.Measure(line.name.text, line.text, fields, condition, span=line.span)

    def _noted(self) -> Iterator[kernel.Noted]:
        for unit, line in self._of(syntax.Noted):
            fresh = Fresh()
            scope, fields = self._fields(unit.scope, line.fields, fresh)
            condition = elaborate_condition(line.condition, scope, self.diagnostics, fresh).expr
            severity = self._severity(line.severity)
            self._of_slices(line, fields)
            self._check_text(line)
            if severity is not None:
                yield kernel.Noted(line.event.text, fields, severity, line.text, condition, span=line.span)

    def _of_slices(self, line: syntax.Measure | syntax.Noted, fields: tuple[kernel.EventField, ...]) -> None:
        """A line with fields is about slices: lines of the log state them."""
        if all(field.field != SLICE for field in fields) or not self._of(syntax.Slice):
            self.diagnostics.error("E516", line.span, "fields are what lines of a slice state: one of them is `slice`")

    def _check_text(self, line: syntax.Noted) -> None:
        """Check the fields that a text names in braces."""
        unknown = sorted(named_in(line.text) - {field.name.text for field in line.fields})
        if unknown:
            listed = ", ".join(f"`{{{name}}}`" for name in unknown)
            self.diagnostics.error("E516", line.span, f"the text names what is no field of the note: {listed}")

    def _rules(self) -> Iterator[kernel.TraceRule]:
        taken: set[str] = set()
        for unit, line in self.lines:
            if not isinstance(line, syntax.On | syntax.CallLine):
                continue
            label = place_label(line.span)
            # Labels are `file:line` without the folder, and clauses of two files of one name may be joined.
            label = label if label not in taken else f"{label}:{line.span.column}"
            taken.add(label)
            rule = self._rule(unit, line, label) if isinstance(line, syntax.On) else self._call_rule(unit, line, label)
            yield from (replace(rule, event=event.text) for event in line.events)

    def _call_rule(self, unit: Unit, line: syntax.CallLine, label: str) -> kernel.TraceRule:
        """The rule of a call: that of a line with all fields, and when the call began and ended."""
        known = (*line.fields, *line.returned)
        said = syntax.On(line.events, known, None, line.condition, line.steps, line.then, line.observe, span=line.span)
        lacking = [key for key in OF_CALLS if self.source.path(key) is None]
        if line.times is None and lacking:
            text = f"two lines report this call, and the `from` block does not say which key holds their {lacking[0]}"
            whole = "if one line reports all of it, name the keys of both times: `call … from start to end: …`"
            self.diagnostics.error(CODE, line.span, text, whole)
        times = None if line.times is None else (line.times[0].text, line.times[1].text)
        call = kernel.CallTimes(
            times, frozenset(field.name.text for field in line.returned), line.fails, span=line.span
        )
        return replace(self._rule(unit, said, label), call=call)

    def _rule(self, unit: Unit, line: syntax.On, label: str) -> kernel.TraceRule:
        fresh = Fresh()
        scope, fields = self._fields(unit.scope, line.fields, fresh)
        at = None
        if line.at is not None:
            at = elaborate_expression(line.at, scope.allowing(state=False), self.diagnostics, fresh, INT)
        condition: kernel.Expr | None = None
        if line.condition is not None:
            found = elaborate_condition(line.condition, scope.allowing(state=False), self.diagnostics, fresh)
            condition, scope = found.expr, found.when_true.allowing(state=True)
        # What a slice goes on with after a gap is made for logs alone: that it is no step needs no warning.
        resumes = line.events[0].text == kernel.GAP
        steps = tuple(tuple(self._calls(each, scope, fresh, resumes=resumes)) for each in line.steps)
        # In the scope of the module: in that of the rule the fields stand before what they hide.
        self._check_unambiguous(unit.scope, line)
        then = (
            None
            if line.then is None
            else elaborate_condition(line.then, scope.allowing(old=True, new=present), self.diagnostics, fresh).expr
        )
        observe = (
            None if line.observe is None else elaborate_condition(line.observe, scope, self.diagnostics, fresh).expr
        )
        return kernel.TraceRule(label, line.events[0].text, fields, condition, steps, then, observe, at, span=line.span)

    def _fields(
        self, scope: Scope, given: tuple[syntax.Field, ...], fresh: Fresh
    ) -> tuple[Scope, tuple[kernel.EventField, ...]]:
        fields = []
        for each in given:
            type_ = self._type(each, scope)
            context = Context(scope, self.diagnostics, fresh, elaborate)
            if not stays_visible(each.name.text, scope):
                check_new(each.name, context, RENAME)
            local = kernel.Local(type_, fresh(each.name.text), span=each.name.span)
            scope = scope.bind(each.name.text, ValueEntity(local, each.name.span))
            fields.append(kernel.EventField(self._source(each.name, type_), local, span=each.span))
        return scope, tuple(fields)

    def _type(self, given: syntax.Field, scope: Scope) -> Type:
        """The type of an event field: as written, or that of the ``from`` block."""
        if not isinstance(given.type, syntax.TypeOfSource):
            return elaborate_type(given.type, scope, self.diagnostics)
        if given.name.text not in self.types:
            text = f"`{given.name.text}` has no type: write one, or one in the `from` block (`field … as T`)"
            self.diagnostics.error(CODE, given.span, text)
            return ERROR
        return self.types[given.name.text]

    def _check_unambiguous(self, scope: Scope, line: syntax.On) -> None:
        """Report a name in ``then`` or ``observe`` that is both a field of the event and a state variable.

        Elsewhere in a rule no state is read, so that such a name is the field's.
        """
        fields = {each.name.text: each for each in line.fields if stays_visible(each.name.text, scope)}
        for expr in (each for each in (line.then, line.observe) if each is not None):
            for name in (each.name for each in pieces(expr) if isinstance(each, syntax.Ref)):
                if name.text in fields and isinstance(scope.own[name.text], StateEntity):
                    note = Note("the field", fields[name.text].span)
                    text = f"`{name.text}` may be the field of the line or the state variable"
                    self.diagnostics.error("E104", name.span, text, note, RENAME)

    def _source(self, name: syntax.Name, type_: Type) -> str:
        """The field of an event that a name stands for; if a single field names the slice, the slice."""
        if self.slicing is None or name.text not in self.slicing.fields or type_ != AtomType(self.slicing.sort):
            return name.text
        if len(self.slicing.fields) > 1:
            self.diagnostics.error(
                "E515",
                name.span,
                f"`{name.text}` does not name a slice alone",
                f"the slice that an event belongs to is its field `{SLICE}`",
            )
        return SLICE

    def _calls(
        self, alternatives: tuple[syntax.Expr, ...], scope: Scope, fresh: Fresh, *, resumes: bool
    ) -> Iterator[kernel.ActionCall]:
        for action in alternatives:
            found = action_reference(action, scope.allowing(state=False), self.diagnostics, fresh)
            if found is not None:
                if not resumes:
                    self.steps.check_observed(found.entity, action.span)
                yield self.steps.call(found, action.span)

    def _ignored(self) -> Iterator[kernel.IgnoredEvent]:
        """The ignored events; one that a rule without condition takes can never be ignored."""
        speaking = [line for _, line in self.lines if isinstance(line, syntax.On | syntax.CallLine)]
        rules = {event.text: line for line in speaking if line.condition is None for event in line.events}
        first: dict[str, syntax.Name] = {}
        for _, line in self._of(syntax.Ignore):
            for event in line.events:
                if event.text in rules:
                    note = Note("this line takes every such event", rules[event.text].span)
                    self.diagnostics.error("E508", event.span, f"`{event.text}` is ignored and used", note)
                if event.text in first:
                    note = Note("first ignored here", first[event.text].span)
                    self.diagnostics.error("E508", event.span, f"`{event.text}` is ignored twice", note)
                first.setdefault(event.text, event)
                yield kernel.IgnoredEvent(event.text, line.reason, span=event.span)

    def _hidden(self) -> tuple[tuple[str, ...], int]:
        """The hidden actions, and how many of them may happen between two observed ones."""
        found = self._once(syntax.Hidden, "hidden")
        if found is None:
            return (), 0
        unit, line = found
        return self._listed(unit, line.actions), self._limit(unit, line.limit)

    def _numbered(self) -> tuple[str, ...]:
        found = self._once(syntax.Numbered, "numbered")
        return () if found is None else self._listed(found[0], found[1].actions)

    def _listed(self, unit: Unit, actions: tuple[syntax.DottedName, ...]) -> tuple[str, ...]:
        """The names of listed actions, each listed once."""
        names: list[str] = []
        for path in actions:
            entity = action_named(path, unit.scope, self.diagnostics)
            if entity is None:
                continue
            self.steps.check_observed(entity, path.span)
            if entity.name in names:
                self.diagnostics.error("E507", path.span, f"`{path}` is listed twice")
            names.append(entity.name)
        return tuple(names)

    def _limit(self, unit: Unit, expr: syntax.Expr) -> int:
        found = elaborate_expression(expr, unit.scope.allowing(state=False), self.diagnostics, Fresh(), INT)
        value = constant(found)
        if isinstance(value, int) and value >= 0:
            return value
        if not failed(found):
            what = "the limit of hidden steps is a constant that is not negative"
            self.diagnostics.error("E509", expr.span, what)
        return 0

    def _ordering(self) -> kernel.Ordering:
        found = self._once(syntax.OrderLine, "order:")
        if found is None:
            return kernel.Ordering()
        order = found[1]
        # Where the reader puts all lines in one order, they are those of one file.
        return kernel.Ordering(
            UNITS.get(order.unit, "file"), order.commit_before_line, order.skew or 0, span=order.span
        )
