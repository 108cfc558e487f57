"""The tree builder for scenarios, refinements and traces."""

# ruff: noqa: D102, ARG002 - a method is described by the grammar rule of its name, and all have one signature

from __future__ import annotations

from typing import Any

from assay.grammar.diagnostics.diagnostic import Span
from assay.grammar.parsing.build_declarations import DeclarationBuilder, documentation
from assay.grammar.parsing.builder import flat, nodes, string_value, texts
from assay.grammar.syntax import (
    ActionMapping,
    Begins,
    Binding,
    CallLine,
    Do,
    Ends,
    Expect,
    Expr,
    Field,
    From,
    Hidden,
    Ignore,
    Measure,
    Name,
    Noted,
    Numbered,
    On,
    OrderLine,
    Refines,
    Refuse,
    ReportLine,
    Scenario,
    ScenarioLine,
    Slice,
    SourceDefault,
    SourceField,
    SourceItem,
    SourceKey,
    ThreadLine,
    TraceClause,
    TypeOfSource,
    Unnamed,
)


def _file_of(text: str | None) -> str | None:
    return None if text is None else string_value(text)


def _word(text: object) -> str:
    """The text of a name, or inside a string literal."""
    return string_value(str(text)) if str(text).startswith('"') else str(text)


class SpecBuilder(DeclarationBuilder):
    """One method for each rule of the whole grammar."""

    def chunk(self, span: Span, children: list[Any]) -> Any:
        return children[0]

    def lone_expression(self, span: Span, children: list[Any]) -> Any:
        return children[0]

    # ------------------------------------------------------------------------------------------ scenarios

    def scenario(self, span: Span, children: list[Any]) -> Scenario:
        return Scenario(children[0], documentation(children), flat(children), span=span)

    def steps(self, span: Span, children: list[Any]) -> tuple[ScenarioLine, ...]:
        return tuple(children)

    def do(self, span: Span, children: list[Any]) -> ScenarioLine:
        self.check_action(children[0])
        return Do(children[0], span=span)

    def refuse(self, span: Span, children: list[Any]) -> ScenarioLine:
        self.check_action(children[0])
        return Refuse(children[0], children[1], span=span)

    def expect(self, span: Span, children: list[Any]) -> ScenarioLine:
        return Expect(children[0], span=span)

    # ---------------------------------------------------------------------------------------- refinements

    def refines(self, span: Span, children: list[Any]) -> Refines:
        path, *mappings = children
        variables = tuple(m for m in mappings if isinstance(m, Binding))
        actions = tuple(m for m in mappings if isinstance(m, ActionMapping))
        return Refines(path, variables, actions, span=span)

    def action_mapping(self, span: Span, children: list[Any]) -> ActionMapping:
        action, *counterparts = nodes(children)
        for each in (action, *counterparts):
            if not isinstance(each, Unnamed):
                self.check_action(each)
        return ActionMapping(action, tuple(counterparts), span=span)

    def unnamed(self, span: Span, children: list[Any]) -> Unnamed:
        return Unnamed("any" if str(children[0]) == "any" else "stutter", span=span)

    # --------------------------------------------------------------------------------------------- traces

    def trace(self, span: Span, children: list[Any]) -> TraceClause:
        name, base, *lines = children
        return TraceClause(name, base, tuple(lines), span=span)

    def from_(self, span: Span, children: list[Any]) -> From:
        return From(children[0], patterns=_file_of(children[1]), span=span)

    def from_block(self, span: Span, children: list[Any]) -> From:
        catalogue, file, *lines = children
        return From(catalogue, tuple(item for line in lines for item in line), _file_of(file), span=span)

    def source_line(self, span: Span, children: list[Any]) -> tuple[SourceItem, ...]:
        return tuple(children)

    def source_key(self, span: Span, children: list[Any]) -> SourceKey:
        name, path, _, form = children
        return SourceKey(name, string_value(path), None if form is None else _word(form), span=span)

    def source_field(self, span: Span, children: list[Any]) -> SourceField:
        name, path, _, times, _, divided, rounded, rounding, type_, default = children
        by, part = (1 if each is None else int(each) for each in (times, divided))
        how = None if rounded is None else "nearest" if rounding is None else str(rounding)
        return SourceField(name, string_value(path), by, part, how, type_, default, span=span)

    def source_value(self, span: Span, children: list[Any]) -> SourceDefault:
        words = [str(child) for child in children]
        if not words:
            return SourceDefault((), span=span)
        if words[0].startswith('"'):
            return SourceDefault(string_value(words[0]), span=span)
        known = {"true": True, "false": False, "none": None}
        return SourceDefault(known[words[0]] if words[0] in known else int("".join(words)), span=span)

    def event_name(self, span: Span, children: list[Any]) -> Name:
        return Name(_word(children[0]), span=span)

    def events(self, span: Span, children: list[Any]) -> tuple[Name, ...]:
        return tuple(children)

    def event_fields(self, span: Span, children: list[Any]) -> tuple[Field, ...]:
        return nodes(children)

    def event_field(self, span: Span, children: list[Any]) -> Field:
        name, type_ = children
        return Field(name, TypeOfSource(span=name.span) if type_ is None else type_, span=span)

    def on(self, span: Span, children: list[Any]) -> On:
        events, fields, at, condition, (steps, then, observed) = children
        return On(events, fields or (), at, condition, steps, then, observed, span=span)

    def call_line(self, span: Span, children: list[Any]) -> CallLine:
        events, fields, returned, fails, begin, end, condition, (steps, then, observed) = children
        times = None if begin is None else (begin, end)
        return CallLine(
            events, fields or (), returned or (), fails is not None, times, condition, steps, then, observed, span=span
        )

    def happens(self, span: Span, children: list[Any]) -> tuple[Any, ...]:
        *steps, then = children
        return tuple(steps), then, None

    def observe(self, span: Span, children: list[Any]) -> tuple[Any, ...]:
        return (), None, children[0]

    def alternatives(self, span: Span, children: list[Any]) -> tuple[Expr, ...]:
        actions: tuple[Expr, ...] = nodes(children)
        for action in actions:
            self.check_action(action)
        return actions

    def ignore(self, span: Span, children: list[Any]) -> Ignore:
        events = tuple(child for child in children if isinstance(child, Name))
        return Ignore(events, documentation(children) or "", span=span)

    def hidden(self, span: Span, children: list[Any]) -> Hidden:
        *actions, limit = children
        return Hidden(tuple(actions), limit, span=span)

    def slice(self, span: Span, children: list[Any]) -> Slice:
        of, *fields, renewed, since = children
        return Slice(of, tuple(fields), since, renewed is not None, span=span)

    def numbered(self, span: Span, children: list[Any]) -> Numbered:
        return Numbered(tuple(children), span=span)

    def together(self, span: Span, children: list[Any]) -> ThreadLine:
        events = tuple(child for child in children if isinstance(child, Name))
        return ThreadLine(events, documentation(children) or "", span=span)

    def report(self, span: Span, children: list[Any]) -> ReportLine:
        action, severity, since, before, text = children
        first, last = (None if each is None else documentation([each]) for each in (since, before))
        return ReportLine(action, severity, first, last, documentation([text]) or "", span=span)

    def ends(self, span: Span, children: list[Any]) -> Ends:
        return Ends(tuple(children), span=span)

    def begins(self, span: Span, children: list[Any]) -> Begins:
        return Begins(span=span)

    def measure(self, span: Span, children: list[Any]) -> Measure:
        name, fields, _, condition = children
        return Measure(name, fields or (), documentation(children) or "", condition, span=span)

    def note(self, span: Span, children: list[Any]) -> Noted:
        event, fields, severity, _, condition = children
        return Noted(event, fields or (), severity, documentation(children) or "", condition, span=span)

    def order(self, span: Span, children: list[Any]) -> OrderLine:
        clauses: dict[str, Any] = {}
        for name, value in children:
            if name in clauses:
                self.diagnostics.error("E023", span, f"`{name}` is given twice in `order:`")
            clauses[name] = value
        if "file or thread" not in clauses:
            self.diagnostics.error(
                "E023",
                span,
                "`order:` says whether the lines of a `file`, or only those of a `thread`, are in order; or the `lines` of"
                " all nodes together, what the numbers in `sequence` say, or what is `causal`: clocks and messages",
            )
        unit = clauses.get("file or thread", "file")
        return OrderLine(unit, clauses.get("commit before line"), clauses.get("skew"), span=span)

    def unit(self, span: Span, children: list[Any]) -> tuple[str, str]:
        return "file or thread", str(children[0])

    def commit_before_line(self, span: Span, children: list[Any]) -> tuple[str, int]:
        return "commit before line", int(texts(children)[0])

    def skew(self, span: Span, children: list[Any]) -> tuple[str, int]:
        return "skew", int(texts(children)[0])
