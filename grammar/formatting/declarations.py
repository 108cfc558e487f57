"""Declarations as items: the lines of each."""

from __future__ import annotations

from collections.abc import Iterable

from assay.grammar.formatting.blocks import is_block, lines, value_block
from assay.grammar.formatting.expressions import POSTFIX, RANGE, expression, field, fields, names, type_text
from assay.grammar.formatting.items import WIDTH, PrintedItem, documentation, line, listed, opening, with_expression
from assay.grammar.formatting.line_breaks import INDENT
from assay.grammar.formatting.scenarios_and_traces import accept, model, refines, scenario, trace
from assay.grammar.formatting.statements import body
from assay.grammar.syntax import (
    AcceptBounds,
    Action,
    ActionParameter,
    Assume,
    Conjunct,
    Declaration,
    Def,
    Enum,
    Expr,
    FairGroup,
    Fairness,
    Init,
    Instance,
    JointAction,
    ModelBlock,
    Next,
    Node,
    Param,
    Property,
    RecordDeclaration,
    Refines,
    Scenario,
    Show,
    StateBlock,
    StateVariable,
    TraceClause,
    TypeAlias,
    Use,
    VariantDeclaration,
    ViewDeclaration,
)


def declaration(node: Declaration) -> list[PrintedItem]:
    """The items of a declaration."""
    match node:
        case Use(path, alias):
            return [line(0, f"use {path.shown}" + ("" if alias is None else f" as {alias.shown}"), node)]
        case Instance():
            return [_instance(node)]
        case Param():
            return _param(node)
        case Assume(condition):
            return [with_expression(0, "assume ", condition, "", node)]
        case TypeAlias(name, type_):
            return [line(0, f"type {name.shown} = {type_text(type_)}", node)]
        case Enum(name, variants):
            return _inline_or_block(f"enum {name.shown}:", [(_variant(v), v) for v in variants], node)
        case RecordDeclaration(name, members):
            return _inline_or_block(f"record {name.shown}:", [(field(f), f) for f in members], node)
        case Def():
            return _definition(node)
        case StateBlock(variables):
            return [opening(0, "state:", node), *map(_variable, variables)]
        case Init(statements):
            return [opening(0, "init:", node), *body(statements, 1)]
        case Action():
            return _action(node)
        case JointAction(name, parameters, fairness, parts):
            start = f"action {name.shown}{_signature(parameters, fairness)} ="
            return [_joint(start, [expression(p, POSTFIX, False) for p in parts], node)]
        case Next(actions):
            return [listed(0, "next: ", (a.shown for a in actions), node)]
        case FairGroup(fairness, actions):
            return [listed(0, f"{_fairness(fairness).strip()}: ", (a.shown for a in actions), node)]
        case Property():
            return _property(node)
        case AcceptBounds():
            return [accept(node, 0)]
        case Show(expressions):
            return [listed(0, "show: ", map(expression, expressions), node)]
        case ViewDeclaration(variables):
            return [listed(0, "view: ", map(expression, variables), node)]
        case Scenario():
            return scenario(node)
        case ModelBlock():
            return model(node)
        case Refines():
            return refines(node)
        case TraceClause():
            return trace(node)
        case _:
            raise AssertionError(node)


def _definition(node: Def) -> list[PrintedItem]:
    returns = "" if node.result is None else f": {type_text(node.result)}"
    head = f"def {node.name.shown}({fields(node.parameters)}){returns}"
    if node.block:
        return [opening(0, f"{head}:", node, *node.parameters, node.result), *value_block(node.body, 1)]
    return [with_expression(0, f"{head} = ", node.body, "", node)]


def _inline_or_block(head: str, parts: list[tuple[str, Node]], node: Declaration) -> list[PrintedItem]:
    """On one line if the source has it on one line and it fits, otherwise one part a line."""
    flat = f"{head} {', '.join(text for text, _ in parts)}"
    # A list that was written one item a line stays so, even if all of it would fit on one.
    if len(flat) <= WIDTH and node.span.line == node.span.end_line:
        return [line(0, flat, node)]
    return [opening(0, head, node), *(line(1, text, part) for text, part in parts)]


def _variant(node: VariantDeclaration) -> str:
    return f"{node.name.shown}({fields(node.fields)})" if node.fields else node.name.shown


def _instance(node: Instance) -> PrintedItem:
    index = "" if node.index is None else f"[{field(node.index)}]"
    bound = ", ".join(f"{b.name.shown} = {expression(b.value)}" for b in node.bindings)
    arguments = f"({bound})" if node.bindings else ""
    return line(0, f"instance {node.name.shown}{index} = {node.path.shown}{arguments}", node)


def _param(node: Param) -> list[PrintedItem]:
    kind = "set" if node.type is None else type_text(node.type)
    head = f"{'size ' if node.size else ''}param {node.name.shown}: {kind}"
    ending = " symmetric" if node.symmetric else ""
    # Where documentation follows, the declaration ends below it. So its parts tell where the first line ends.
    places = (node,) if node.doc is None else (node.name, node.type, node.default)
    if node.default is None:
        first = line(0, head + ending, *places)
    else:
        first = with_expression(0, f"{head} = ", node.default, ending, *places)
    return [first, *documentation(1, node.doc)]


def _variable(node: StateVariable) -> PrintedItem:
    head = f"{'ghost ' if node.ghost else ''}{node.name.shown}: {type_text(node.type)}"
    if node.start is None or node.value is None:
        return line(1, head, node)
    return with_expression(1, f"{head} {node.start} ", node.value, "", node)


# ------------------------------------------------------------------------------------------ actions, properties


def _action(node: Action) -> list[PrintedItem]:
    text = f"action {node.name.shown}{_signature(node.parameters, node.fairness)}:"
    return [opening(0, text, node, *node.parameters, node.fairness), *documentation(1, node.doc), *body(node.body, 1)]


def _joint(start: str, parts: list[str], node: JointAction) -> PrintedItem:
    """The parts beside the ``=``, below it, or one a line: the first of these that fits."""
    together = " & ".join(parts)
    if len(start) + 1 + len(together) <= WIDTH:
        return line(0, f"{start} {together}", node)
    if len(INDENT) + len(together) <= WIDTH:
        return PrintedItem(0, (start, INDENT + together), node.span)
    return PrintedItem(0, (start, INDENT + parts[0], *(f"{INDENT}& {part}" for part in parts[1:])), node.span)


def _signature(parameters: Iterable[ActionParameter], fairness: Fairness | None) -> str:
    listing = ", ".join(map(_parameter, parameters))
    return (f"({listing})" if listing else "") + ("" if fairness is None else _fairness(fairness))


def _parameter(node: ActionParameter) -> str:
    if isinstance(node.domain, Expr):
        return f"{node.name.shown} in {expression(node.domain, RANGE, False)}"
    return f"{node.name.shown}: {type_text(node.domain)}"


def _fairness(node: Fairness) -> str:
    per = f" per {names(node.per)}" if node.per else ""
    return f"{' strong' if node.strong else ''} fair{per}"


def _property(node: Property) -> list[PrintedItem]:
    """A property; a single conjunct without label is put on the line of the name if it fits."""
    head = f"{node.kind} {node.name.shown}:" if node.name is not None else f"{node.kind}:"
    match node:
        # Documentation, a label or a second condition needs a line of its own.
        case Property(doc=None, conjuncts=(Conjunct(None, condition),)) if not is_block(condition):
            flat = f"{head} {expression(condition)}"
            if len(flat) <= WIDTH:
                return [line(0, flat, node)]
        case _:
            pass
    return [opening(0, head, node), *documentation(1, node.doc), *lines(node.conjuncts, 1)]
