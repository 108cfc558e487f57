"""The tree builder for statements and declarations."""

# ruff: noqa: D102, ARG002 - a method is described by the grammar rule of its name, and all have one signature

from __future__ import annotations

from inspect import cleandoc
from typing import Any

from assay.grammar.diagnostics.diagnostic import NOWHERE, Span
from assay.grammar.parsing.build_blocks import BlockBuilder
from assay.grammar.parsing.build_expressions import ExpressionBuilder
from assay.grammar.parsing.builder import first_string, flat, nodes, texts
from assay.grammar.syntax import (
    AcceptBounds,
    Action,
    ActionLine,
    ActionParameter,
    Assign,
    Assume,
    Attr,
    Binding,
    Call,
    CapacityLabel,
    Conjunct,
    Def,
    DottedName,
    Enum,
    Expr,
    FairGroup,
    Fairness,
    For,
    Guard,
    If,
    Index,
    Init,
    Instance,
    JointAction,
    Let,
    LetLine,
    ModelBlock,
    Next,
    Param,
    Pick,
    Property,
    RecordDeclaration,
    Ref,
    Show,
    StateBlock,
    StateVariable,
    TypeAlias,
    Use,
    VariantDeclaration,
    ViewDeclaration,
)


class DeclarationBuilder(ExpressionBuilder, BlockBuilder):
    """One method for each rule of the grammar of statements and declarations."""

    # ----------------------------------------------------------------------------------------- statements

    def body(self, span: Span, children: list[Any]) -> tuple[ActionLine, ...]:
        return tuple(children)

    def guard(self, span: Span, children: list[Any]) -> ActionLine:
        kind, label, condition = children
        return Guard("when" if kind == "when" else "bound", label, condition, span=span)

    def let(self, span: Span, children: list[Any]) -> ActionLine:
        return Let(children[0], children[1], span=span)

    def pick(self, span: Span, children: list[Any]) -> ActionLine:
        return Pick(children[0], span=span)

    def assign(self, span: Span, children: list[Any]) -> ActionLine:
        target, value = children
        if not _is_place(target):
            self.diagnostics.error(
                "E021", target.span, "only a variable, a field of it or an entry of it can be assigned to"
            )
        return Assign(target, value, span=span)

    def if_(self, span: Span, children: list[Any]) -> ActionLine:
        condition, then, *others, else_place, otherwise = children
        branches = ((condition, then), *others)
        self.check_branches(branches)
        return If(branches, otherwise or (), else_place=else_place or NOWHERE, span=span)

    def elif_(self, span: Span, children: list[Any]) -> tuple[Expr, tuple[ActionLine, ...]]:
        return children[0], children[1]

    def else_(self, span: Span, children: list[Any]) -> Span:
        return span

    def for_(self, span: Span, children: list[Any]) -> ActionLine:
        return For(children[0], children[1], span=span)

    # --------------------------------------------------------------------------------- modules, parameters

    def module(self, span: Span, children: list[Any]) -> DottedName:
        path: DottedName = children[0]
        return path

    def use(self, span: Span, children: list[Any]) -> Use:
        return Use(children[0], children[1], span=span)

    def instance(self, span: Span, children: list[Any]) -> Instance:
        name, index, path, *bindings = children
        return Instance(name, index, path, nodes(bindings), span=span)

    def binding(self, span: Span, children: list[Any]) -> Binding:
        return Binding(children[0], children[1], span=span)

    def param(self, span: Span, children: list[Any]) -> Param:
        # An optional part that is absent is None among the children, so each part has its position.
        size, name, kind, default, symmetric, _ = children
        return Param(
            name, kind, default, symmetric is not None, size is not None, documentation(children[-1:]), span=span
        )

    def set_of_elements(self, span: Span, children: list[Any]) -> None:
        return None

    def assume(self, span: Span, children: list[Any]) -> Assume:
        return Assume(children[0], span=span)

    # ----------------------------------------------------------------------------------- types, functions

    def type_alias(self, span: Span, children: list[Any]) -> TypeAlias:
        return TypeAlias(children[0], children[1], span=span)

    def enum(self, span: Span, children: list[Any]) -> Enum:
        return Enum(children[0], flat(children), span=span)

    def variants(self, span: Span, children: list[Any]) -> tuple[VariantDeclaration, ...]:
        return tuple(children)

    def variant(self, span: Span, children: list[Any]) -> VariantDeclaration:
        return VariantDeclaration(children[0], children[1] or (), span=span)

    def record(self, span: Span, children: list[Any]) -> RecordDeclaration:
        return RecordDeclaration(children[0], flat(children), span=span)

    def record_fields(self, span: Span, children: list[Any]) -> tuple[Any, ...]:
        return tuple(children)

    def def_(self, span: Span, children: list[Any]) -> Def:
        name, parameters, result, body = children
        return Def(name, parameters, result, body, False, span=span)

    def def_block(self, span: Span, children: list[Any]) -> Def:
        name, parameters, result, body = children
        return Def(name, parameters, result, body, True, span=span)

    # ------------------------------------------------------------------------------------ state and steps

    def state(self, span: Span, children: list[Any]) -> StateBlock:
        return StateBlock(tuple(children), span=span)

    def variable(self, span: Span, children: list[Any]) -> StateVariable:
        ghost, name, kind, start = children
        how, value = start if start is not None else (None, None)
        return StateVariable(name, kind, how, value, ghost is not None, span=span)

    def starts_as(self, span: Span, children: list[Any]) -> tuple[str, Expr]:
        return "=", children[0]

    def starts_in(self, span: Span, children: list[Any]) -> tuple[str, Expr]:
        return "in", children[1]

    def init(self, span: Span, children: list[Any]) -> Init:
        return Init(children[0], span=span)

    def action(self, span: Span, children: list[Any]) -> Action:
        name, parameters, fairness, (doc, body) = children
        return Action(name, parameters or (), fairness, doc, body, span=span)

    def action_body(self, span: Span, children: list[Any]) -> tuple[str | None, tuple[ActionLine, ...]]:
        return documentation(children), nodes(children)

    def joint_action(self, span: Span, children: list[Any]) -> JointAction:
        name, parameters, fairness, *parts = children
        for part in nodes(parts):
            self.check_action(part)
        return JointAction(name, parameters or (), fairness, nodes(parts), span=span)

    def parameters(self, span: Span, children: list[Any]) -> tuple[ActionParameter, ...]:
        return nodes(children)

    def parameter(self, span: Span, children: list[Any]) -> ActionParameter:
        return ActionParameter(children[0], children[-1], span=span)

    def fairness(self, span: Span, children: list[Any]) -> Fairness:
        return Fairness("strong" in texts(children), nodes(children), span=span)

    def next(self, span: Span, children: list[Any]) -> Next:
        return Next(flat(children), span=span)

    def fair_group(self, span: Span, children: list[Any]) -> FairGroup:
        return FairGroup(children[0], flat(children[1:]), span=span)

    def paths(self, span: Span, children: list[Any]) -> tuple[DottedName, ...]:
        return tuple(children)

    # ----------------------------------------------------------------------------------------- properties

    def property(self, span: Span, children: list[Any]) -> Property:
        kind, name, (doc, conjuncts) = children
        return Property(str(kind), name, doc, conjuncts, span=span)  # type: ignore[arg-type]  # one of PropertyKind

    def conjuncts(self, span: Span, children: list[Any]) -> tuple[str | None, tuple[LetLine | Conjunct, ...]]:
        lines = (n if isinstance(n, LetLine | Conjunct) else Conjunct(None, n, span=n.span) for n in nodes(children))
        found = tuple(lines)
        if isinstance(found[-1], LetLine):
            self.diagnostics.error("E025", found[-1].span, "a block ends in its value, and here it ends in a `let`")
        return documentation(children), found

    def accept(self, span: Span, children: list[Any]) -> AcceptBounds:
        return AcceptBounds(tuple(children), span=span)

    def capacity_label(self, span: Span, children: list[Any]) -> CapacityLabel:
        return CapacityLabel(children[0], span=span)

    def show(self, span: Span, children: list[Any]) -> Show:
        return Show(flat(children), span=span)

    def view(self, span: Span, children: list[Any]) -> ViewDeclaration:
        return ViewDeclaration(flat(children), span=span)

    def shown(self, span: Span, children: list[Any]) -> tuple[Expr, ...]:
        return tuple(children)

    def model(self, span: Span, children: list[Any]) -> ModelBlock:
        settings = flat(children)
        bindings = tuple(s for s in settings if isinstance(s, Binding))
        accepted = tuple(s for s in settings if isinstance(s, AcceptBounds))
        return ModelBlock(children[0], bindings, accepted, span=span)

    def settings(self, span: Span, children: list[Any]) -> tuple[Any, ...]:
        return tuple(children)

    def check_action(self, found: Expr) -> None:
        """Report an expression that is not an action with its arguments."""
        # The grammar takes any postfix expression where an action is named.
        target = found.function if isinstance(found, Call) else found
        if not _is_place(target):
            self.diagnostics.error(
                "E022", found.span, "an action is expected here: `elect(b1)`, `tick` or `membership.expire(b1)`"
            )


def documentation(children: list[Any]) -> str | None:
    """The documentation string among the children, without the indentation of the block."""
    doc = first_string(children)
    return None if doc is None else without_indentation(doc)


def without_indentation(doc: str) -> str:
    """The text of a block's documentation, cleaned until cleaning changes nothing, so that printing and parsing
    preserve it."""
    cleaned = cleandoc(doc).strip()
    return cleaned if cleaned == doc else without_indentation(cleaned)


def _is_place(expr: Expr) -> bool:
    while isinstance(expr, Attr | Index):
        expr = expr.base
    return isinstance(expr, Ref)
