"""Scenarios, models, refinements and traces as items."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from assay.grammar.formatting.expressions import POSTFIX, SUM, expression, fields, type_text
from assay.grammar.formatting.items import (
    WIDTH,
    PrintedItem,
    documentation,
    line,
    listed,
    name_or_string,
    opening,
    string_lines,
    with_expression,
)
from assay.grammar.formatting.line_breaks import INDENT, broken
from assay.grammar.syntax import (
    AcceptBounds,
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
    ModelBlock,
    Name,
    Noted,
    Numbered,
    On,
    OrderLine,
    Ref,
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
    TraceLine,
    TypeOfSource,
    Unnamed,
)


def action(node: Expr) -> str:
    """An action with its arguments."""
    return expression(node, POSTFIX, False)


def binding(node: Binding, depth: int) -> PrintedItem:
    """``P = value``."""
    return with_expression(depth, f"{node.name.shown} = ", node.value, "", node)


def accept(node: AcceptBounds, depth: int) -> PrintedItem:
    """``accept bounds: a, b``."""
    return listed(depth, "accept bounds: ", (each.shown for each in node.labels), node)


# ----------------------------------------------------------------------------------------------------- scenarios


def scenario(node: Scenario) -> list[PrintedItem]:
    """A scenario; steps that shared a line still do."""
    flat = f"scenario {node.name.shown}: {'; '.join(map(step, node.steps))}"
    if node.doc is None and len(flat) <= WIDTH and node.span.line == node.span.end_line > 0:
        return [line(0, flat, node)]
    return [
        opening(0, f"scenario {node.name.shown}:", node),
        *documentation(1, node.doc),
        *(_steps(group) for group in _by_line(node.steps)),
    ]


def _by_line(steps: Iterable[ScenarioLine]) -> Iterator[tuple[ScenarioLine, ...]]:
    """Groups of steps that share a line in the source; steps without places are groups of their own."""
    for number, group in groupby(steps, key=lambda each: each.span.line):
        together = tuple(group)
        if number > 0 and len("; ".join(map(step, together))) + 4 <= WIDTH:
            yield together
        else:
            yield from ((each,) for each in together)


def _steps(group: tuple[ScenarioLine, ...]) -> PrintedItem:
    match group:
        # Alone in its line it may be broken. Steps beside each other fit on one line (`_by_line`).
        case (Expect(condition) as only,):
            return with_expression(1, "expect ", condition, "", only)
        case _:
            return line(1, "; ".join(map(step, group)), *group)


def step(node: ScenarioLine) -> str:
    """A step of a scenario."""
    match node:
        case Do(act):
            return action(act)
        case Refuse(act, label):
            return f"refuse {action(act)}" + ("" if label is None else f" by {label.shown}")
        case Expect(condition):
            return f"expect {expression(condition)}"
        case _:
            raise AssertionError(node)


# -------------------------------------------------------------------------------------------- models, refinements


def model(node: ModelBlock) -> list[PrintedItem]:
    """A model: on one line if it fits and accepts no bounds, otherwise one setting a line."""
    flat = f"model {node.name.shown}: " + "; ".join(f"{b.name.shown} = {expression(b.value)}" for b in node.bindings)
    if node.bindings and not node.accepted and len(flat) <= WIDTH and node.span.line == node.span.end_line:
        return [line(0, flat, node)]
    both: tuple[Binding | AcceptBounds, ...] = (*node.bindings, *node.accepted)
    # The tree keeps bindings and accepted bounds apart; their places put them in the order of the source again.
    settings = sorted(both, key=lambda s: s.span.line)
    inner = [binding(s, 1) if isinstance(s, Binding) else accept(s, 1) for s in settings]
    return [opening(0, f"model {node.name.shown}:", node), *inner]


def refines(node: Refines) -> list[PrintedItem]:
    """A refinement, one mapping a line, in the order of the source."""
    both: tuple[Binding | ActionMapping, ...] = (*node.variables, *node.actions)
    # As in a model: the tree keeps both kinds apart, and places give back the order of the source.
    mappings = sorted(both, key=lambda m: m.span.line)
    inner = [binding(m, 1) if isinstance(m, Binding) else _mapping(m) for m in mappings]
    return [opening(0, f"refines {node.path.shown} with:", node), *inner]


def _mapping(node: ActionMapping) -> PrintedItem:
    counterparts = " or ".join(map(_counterpart, node.counterparts))
    return line(1, f"action {action(node.action)} = {counterparts}", node)


def _counterpart(node: Expr | Unnamed) -> str:
    """An action of the abstract spec, or ``stutter`` or ``any``; an action of that name stands in backticks."""
    match node:
        case Unnamed(word):
            return word
        case Ref(Name("stutter" | "any" as text)):
            return f"`{text}`"
        case _:
            return action(node)


# -------------------------------------------------------------------------------------------------------- traces


def trace(node: TraceClause) -> list[PrintedItem]:
    """A trace block."""
    base = "" if node.base is None else f" extends {node.base.shown}"
    return [
        opening(0, f"trace {node.name.shown}{base}:", node),
        *(item for each in node.lines for item in trace_line(each)),
    ]


def trace_line(node: TraceLine) -> list[PrintedItem]:
    """A line of a trace block."""
    match node:
        case From():
            return _source(node)
        case On():
            return _on(node)
        case CallLine():
            return _call_line(node)
        case Ignore(events, reason):
            return [_with_reason("ignore ", events, reason, node)]
        case Numbered(actions):
            return [listed(1, "numbered ", (each.shown for each in actions), node)]
        case ThreadLine(events, reason):
            return [_with_reason("thread ", events, reason, node)]
        case Slice(of, slicing, since, renewed):
            begins = "" if since is None else f" since {'new ' if renewed else ''}{name_or_string(since.text)}"
            return [line(1, f"slice {of.shown} by {', '.join(field.shown for field in slicing)}{begins}", node)]
        case ReportLine(reported, severity, since, before, text):
            versions = ((word, each) for word, each in (("since", since), ("before", before)) if each is not None)
            within = "".join(f"{word} {string_lines(each)[0]} " for word, each in versions)
            first, *rest = string_lines(text)
            return [PrintedItem(1, (f"report {reported.shown} as {severity.shown} {within}{first}", *rest), node.span)]
        case Ends(actions):
            return [listed(1, "ends ", (each.shown for each in actions), node)]
        case Begins():
            return [line(1, "begins anywhere", node)]
        case Measure(name, own, text, condition):
            return [_titled(f"measure {name.shown}", own, " ", text, condition, node)]
        case Noted(event, own, severity, text, condition):
            return [_titled(f"note {name_or_string(event.text)}", own, f" as {severity.shown} ", text, condition, node)]
        case Hidden():
            return [_hidden(node)]
        case OrderLine(unit, commit, skew):
            clauses: list[str] = [unit]
            clauses += [] if commit is None else [f"commit before line within {commit} ms"]
            clauses += [] if skew is None else [f"skew {skew} ms"]
            return [line(1, f"order: {'; '.join(clauses)}", node)]
        case _:
            raise AssertionError(node)


def _hidden(node: Hidden) -> PrintedItem:
    """A ``hidden`` line; its limit follows the last action."""
    ending = f"; at most {expression(node.limit, SUM, False)} between two pinned events"
    listing = listed(1, "hidden ", (each.shown for each in node.actions), node)
    return PrintedItem(1, (*listing.lines[:-1], listing.lines[-1] + ending), node.span)


def _source(node: From) -> list[PrintedItem]:
    """A ``from`` line, or a ``from`` block; keys that shared a line still do."""
    named = f"from {node.catalogue.shown}" + ("" if node.patterns is None else f" {string_lines(node.patterns)[0]}")
    if not node.items:
        return [line(1, named, node)]
    return [
        opening(1, f"{named}:", node),
        *(line(2, "; ".join(map(_source_item, group)), *group) for group in _beside(node.items)),
    ]


def _beside(items: Iterable[SourceItem]) -> Iterator[tuple[SourceItem, ...]]:
    for number, group in groupby(items, key=lambda each: each.span.line):
        together = tuple(group)
        if number > 0 and len("; ".join(map(_source_item, together))) + 8 <= WIDTH:
            yield together
        else:
            yield from ((each,) for each in together)


def _source_item(node: SourceItem) -> str:
    match node:
        case SourceKey(name, path, form):
            wanted = "" if form is None else f" in {name_or_string(form)}"
            return f"{name.shown} = {string_lines(path)[0]}{wanted}"
        case SourceField(name, path, times, divided, rounding, kind, default):
            scale = f" * {times}" if times != 1 else ""
            scale += f" // {divided}" if divided != 1 else ""
            scale += "" if rounding is None else " rounded" if rounding == "nearest" else f" rounded {rounding}"
            kept = "" if kind is None else f" as {type_text(kind)}"
            kept += "" if default is None else f" else {_source_value(default)}"
            return f"field {name.shown} = {string_lines(path)[0]}{scale}{kept}"
        case _:
            raise AssertionError(node)


def _source_value(node: SourceDefault) -> str:
    match node.value:
        case None:
            return "none"
        case bool(truth):
            return "true" if truth else "false"
        case str(text):
            return string_lines(text)[0]
        case int(number):
            return str(number)
        case _:
            return "[]"


def _event_fields(own: Iterable[Field]) -> Iterator[str]:
    """Fields of an event; one whose type the ``from`` block gives has none here."""
    for each in own:
        yield each.name.shown if isinstance(each.type, TypeOfSource) else fields([each])


def _with_reason(head: str, events: tuple[Name, ...], reason: str, node: TraceLine) -> PrintedItem:
    """Events, and the reason why they are listed."""
    listing = listed(1, head, (name_or_string(event.text) for event in events), node)
    first, *rest = string_lines(reason)
    return PrintedItem(1, (*listing.lines[:-1], f"{listing.lines[-1]} {first}", *rest), node.span)


def _titled(
    head: str, own: tuple[Field, ...], between: str, text: str, condition: Expr, node: TraceLine
) -> PrintedItem:
    """A head with fields and a text, with the condition on the same line if that fits, otherwise in a block."""
    *more, last = _with_fields(head, own)
    first, *rest = string_lines(text)
    lines = (*more, f"{last}{between}{first}", *rest)
    flat = f"{lines[-1]}: {expression(condition)}"
    if len(flat) + 4 <= WIDTH:
        return PrintedItem(1, (*lines[:-1], flat), node.span)
    block = tuple(INDENT + each for each in broken(condition, WIDTH - 2 * len(INDENT)))
    return PrintedItem(1, (*lines[:-1], f"{lines[-1]}:", *block), node.span)


def _on(node: On) -> list[PrintedItem]:
    chosen = "" if node.condition is None else f" if {expression(node.condition)}"
    chosen = chosen if node.at is None else f" at {expression(node.at, SUM, False)}{chosen}"
    *first, last = listed(1, "on ", (name_or_string(event.text) for event in node.events), node).lines
    *more, last = _with_fields(last, node.fields)
    return _with_reaction([*first, *more], f"{last}{chosen}:", _reaction(node), node)


def _call_line(node: CallLine) -> list[PrintedItem]:
    lines = list(listed(1, "call ", (name_or_string(event.text) for event in node.events), node).lines)
    lines[-1:] = _with_fields(lines[-1], node.fields)
    if node.returned:
        lines[-1:] = _with_fields(f"{lines[-1]} returns ", node.returned)
    *first, last = lines
    last += " fails" if node.fails else ""
    last += "" if node.times is None else f" from {node.times[0].shown} to {node.times[1].shown}"
    last += "" if node.condition is None else f" if {expression(node.condition)}"
    # What follows the colon is written as in a line `on`.
    happening = On(node.events, (), None, None, node.steps, node.then, node.observe, span=node.span)
    return _with_reaction(first, f"{last}:", _reaction(happening), node)


def _with_reaction(first: list[str], last: str, reaction: list[str], node: TraceLine) -> list[PrintedItem]:
    """What an event says behind the line that names it, if it fits there, otherwise in a block."""
    flat = f"{last} {reaction[0]}"
    if len(reaction) == 1 and len(flat) + 4 <= WIDTH:
        return [PrintedItem(1, (*first, flat), node.span)]
    return [PrintedItem(1, (*first, last, *("    " + rest for rest in reaction)), node.span)]


def _with_fields(head: str, event_fields: tuple[Field, ...]) -> list[str]:
    """The fields in parentheses, broken after a comma if they are too long."""
    if not event_fields:
        return [head]
    *first, last = listed(1, f"{head}(", _event_fields(event_fields)).lines
    return [*first, f"{last})"]


def _reaction(node: On) -> list[str]:
    """What an event says, on one line where that fits into a block."""
    if node.observe is not None:
        return list(with_expression(2, "observe ", node.observe, "").lines)
    steps = "; ".join(" or ".join(map(action, alternatives)) for alternatives in node.steps)
    if node.then is None:
        return [steps]
    flat = f"{steps} then {expression(node.then)}"
    return [flat] if len(flat) + 8 <= WIDTH else [steps, *with_expression(2, "then ", node.then, "").lines]
