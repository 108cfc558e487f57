"""Bodies of actions: guards, lets and picks in order, each seeing what those before it establish; then updates."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field, replace

from assay.grammar import kernel, syntax
from assay.grammar.diagnostics.diagnostic import Diagnostics, Note
from assay.grammar.elaborate.declarations.changed_variables import is_ghost, only_ghosts
from assay.grammar.elaborate.expressions.dispatch import (
    as_place,
    context,
    elaborate,
    elaborate_condition,
    elaborate_domain,
    elaborate_expression,
)
from assay.grammar.elaborate.patterns.binding import bind
from assay.grammar.elaborate.patterns.matching import action_match
from assay.grammar.elaborate.scopes.context import Context
from assay.grammar.elaborate.scopes.fresh_names import Fresh
from assay.grammar.elaborate.scopes.labels import ActionLabels
from assay.grammar.elaborate.scopes.rewrite import with_fresh_binders
from assay.grammar.elaborate.scopes.scope import Scope
from assay.grammar.elaborate.scopes.type_relations import ErrorType
from assay.grammar.elaborate.steps.next_values import NextValues
from assay.grammar.kernel.types import Type
from assay.grammar.lazy_dataclass import dataclass


@dataclass(slots=True)
class Body:
    """A body while it is elaborated: ``head`` are guards, lets and picks, ``updates`` what follows them; ``scope`` is
    the scope of the next line."""

    scope: Scope
    diagnostics: Diagnostics
    fresh: Fresh
    labels: ActionLabels
    head: list[kernel.Statement] = field(default_factory=list)
    updates: list[kernel.Statement] = field(default_factory=list)
    after: NextValues | None = None
    """What ``new`` means in the updates; None where there is no step."""

    def nested(self, scope: Scope, *, loop: bool = False) -> Body:
        """A block inside this body; ``loop``: that of a ``for``."""
        inner = Body(scope, self.diagnostics, self.fresh, self.labels)
        inner.know_updates(None if self.after is None else self.after.inside(inner.updates, loop=loop))
        return inner

    def know_updates(self, after: NextValues | None) -> None:
        """Let lines read next values."""
        self.after = after
        self.scope = self.scope.allowing(new=after)

    def bind(self, name: syntax.Bound, type_: Type) -> kernel.Local:
        """A new local, visible from here on."""
        local, self.scope = bind(name, type_, Context(self.scope, self.diagnostics, self.fresh, elaborate))
        return local


def elaborate_body(statements: Iterable[syntax.ActionLine], body: Body) -> None:
    """Add the lines of an action's body."""
    first_update: syntax.ActionLine | None = None
    for statement in statements:
        match statement:
            case syntax.Guard() | syntax.Pick():
                _not_after(first_update, statement, body)
                _guard(statement, body) if isinstance(statement, syntax.Guard) else _pick(statement, body)
            case syntax.Let():
                body.head.append(_let(statement, body)) if first_update is None else _update(statement, body)
            case _:
                first_update = first_update or statement
                _update(statement, body)


def _not_after(update: syntax.ActionLine | None, statement: syntax.ActionLine, body: Body) -> None:
    if update is not None:
        note = Note("the first update is here", update.span)
        what = "`when`, `bound` and `pick` stand before the updates: everything reads the state before the step"
        body.diagnostics.error("E405", statement.span, what, note)


def _guard(guard: syntax.Guard, body: Body) -> None:
    # A log makes a size as large as it needs. So no rule may depend on it, but for the bound of the model.
    scope = body.scope.allowing(ghost=False, size=guard.kind == "bound", new=None)
    found = elaborate_condition(guard.condition, scope, body.diagnostics, body.fresh)
    label = body.labels.given(guard.label) if guard.label else body.labels.placed(guard.span)
    body.head.append(kernel.Guard(guard.kind, label, found.expr, span=guard.span))
    # What the guard establishes stays (`x != none`, pattern variables), and its permissions do not.
    body.scope = replace(found.when_true, permissions=body.scope.permissions)


def _pick(pick: syntax.Pick, body: Body) -> None:
    scope = body.scope.allowing(ghost=False)
    domain, item = _domain(pick.binder.domain, scope, body)
    for name in pick.binder.names:
        body.head.append(kernel.Pick(body.bind(name, item), domain, span=pick.span))
        # The domain is copied for the next name. No two binders of a kernel have one name, on which engines rely.
        domain = with_fresh_binders(domain, body.fresh)


def _domain(expr: syntax.Expr, scope: Scope, body: Body) -> tuple[kernel.Expr, Type]:
    return elaborate_domain(expr, scope, body.diagnostics, body.fresh)


def _let(let: syntax.Let, body: Body) -> kernel.Statement:
    value = elaborate_expression(let.value, body.scope.allowing(ghost=False), body.diagnostics, body.fresh)
    return kernel.Let(body.bind(let.name, value.type), value, span=let.span)


def _update(statement: syntax.ActionLine, body: Body) -> None:
    match statement:
        case syntax.Assign():
            _assign(statement, body)
        case syntax.If():
            _if(statement, body)
        case syntax.For():
            _for(statement, body)
        case syntax.ActionMatch():
            _match(statement, body)
        case syntax.Let():
            body.updates.append(_let(statement, body))
        case syntax.Guard() | syntax.Pick():
            _nested_guard(statement, body)
        case _:
            raise AssertionError(f"{statement.span}: a statement that no action has")


def _nested_guard(statement: syntax.Guard | syntax.Pick, body: Body) -> None:
    """Report a guard inside a block. The lines after it know what it binds, so that they are not reported too."""
    what = "`when`, `bound` and `pick` stand at the top of an action's body, not inside `if` or `for`"
    if isinstance(statement, syntax.Pick):
        advice = (
            "pick at the top, in another action if need be; of a named type, as `Choice` of `type Choice = map[K, V]`, "
            "a value for all keys is picked at once: `pick c in Choice`"
        )
    else:
        advice = (
            "at the top it is `when condition implies guard`, or `when forall x in S: guard`; or the action becomes two"
        )
    body.diagnostics.error("E405", statement.span, what, advice)
    _guard(statement, body) if isinstance(statement, syntax.Guard) else _pick(statement, body)


def _of_ghosts(body: Body, ghosts: bool) -> Scope:
    """The scope of an expression on which only ghosts depend, if ``ghosts``: it may read them, and ask what is
    enabled."""
    return body.scope.allowing(ghost=ghosts, enabled=ghosts)


def _assign(assign: syntax.Assign, body: Body) -> None:
    scope = _of_ghosts(body, is_ghost(assign.target, body.scope))
    place = as_place(assign.target, scope, body.diagnostics, body.fresh)
    # Without a place any value will do, and only mistakes inside of it are reported.
    expected = ErrorType() if place is None else place.type
    value = elaborate_expression(assign.value, scope, body.diagnostics, body.fresh, expected)
    if place is not None:
        if body.after is not None:
            body.after.not_read(place.entity.variable, context(scope, body.diagnostics, body.fresh), assign.span)
        label = body.labels.placed(assign.span)
        body.updates.append(
            kernel.Assign(label, place.entity.variable, place.path, value, place.type, span=assign.span)
        )


def _if(statement: syntax.If, body: Body) -> None:
    otherwise = statement.otherwise
    # `elif` becomes an `if` within `else`, from the last one to the first.
    for condition, block in reversed(statement.branches[1:]):
        otherwise = (syntax.If(((condition, block),), otherwise, span=condition.span),)
    condition, block = statement.branches[0]
    scope = _of_ghosts(body, only_ghosts((*block, *otherwise), body.scope))
    found = elaborate_condition(condition, scope, body.diagnostics, body.fresh)
    permissions = body.scope.permissions
    # Inside, a line is judged by what it assigns itself: the permissions are those of the body.
    then = _block(block, body, replace(found.when_true, permissions=permissions))
    rest = _block(otherwise, body, replace(found.when_false, permissions=permissions))
    body.updates.append(kernel.If(found.expr, then, rest, span=statement.span))


def _match(statement: syntax.ActionMatch, body: Body) -> None:
    blocks = [*(case.body for case in statement.cases), statement.otherwise or ()]
    scope = _of_ghosts(body, only_ghosts((line for block in blocks for line in block), body.scope))
    found = action_match(statement, Context(scope, body.diagnostics, body.fresh, elaborate))
    if found is not None:
        _if(found, body)


def _for(statement: syntax.For, body: Body) -> None:
    scope = _of_ghosts(body, only_ghosts(statement.body, body.scope))
    inner = body.nested(body.scope)
    domain, item = _domain(statement.binder.domain, scope, body)
    # Domains are elaborated outside of the loops: `for a, b in S` takes every pair, and S reads neither a nor b.
    loops = []
    for name in statement.binder.names:
        loops.append((inner.bind(name, item), domain))
        domain = with_fresh_binders(domain, body.fresh)
    block = _block(statement.body, body, inner.scope, loop=True)
    for binder, over in reversed(loops):
        block = (kernel.For(binder, over, block, span=statement.span),)
    body.updates.extend(block)


def _block(
    statements: Iterable[syntax.ActionLine], body: Body, scope: Scope, *, loop: bool = False
) -> tuple[kernel.Statement, ...]:
    inner = body.nested(scope, loop=loop)
    for statement in statements:
        _update(statement, inner)
    return tuple(inner.updates)
