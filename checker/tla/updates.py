"""The value of a variable after the updates of an action, as one formula over the state before it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import assert_never

from assay.checker.interpreter.expressions.traverse import assignments
from assay.checker.tla.expressions.collections import elements, place
from assay.checker.tla.expressions.dispatch import let_in
from assay.checker.tla.expressions.formula import LOOSE, TIGHT, Formula, branch, enclosed, let
from assay.checker.tla.expressions.known_types import elements_fit
from assay.checker.tla.expressions.scope import TlaScope
from assay.checker.tla.expressions.types import access, part, record_field
from assay.grammar import kernel as k
from assay.grammar.kernel import types as t
from assay.grammar.kernel.node_unions import statement
from assay.grammar.lazy_dataclass import dataclass

LONG = 40
"""A value with a longer text gets a name before it is used twice."""


@dataclass(frozen=True, slots=True)
class Current:
    """A variable's value so far: ``base`` with some ``EXCEPT`` changes. While ``building``, parts of it may not have a
    value yet."""

    base: Formula
    changes: tuple[tuple[str, Formula], ...] = ()
    building: bool = False

    @property
    def formula(self) -> Formula:
        """The value."""
        if not self.changes:
            return self.base
        *others, (where, value) = self.changes
        before = "".join(f"!{place} = {changed.text}, " for place, changed in others)
        return enclosed(f"[{self.base.text} EXCEPT {before}!{where} = ", value, "]")

    def now(self, value: Formula) -> Current:
        """Another value, in the same phase."""
        return Current(value, building=self.building)


def nothing(scope: TlaScope) -> Current:
    """The value of a variable before ``init`` assigns one: a function without keys, or a record, which is a function of
    names."""
    return Current(Formula(scope.parts.use("EmptyMap")), building=True)


def value_after(variable: k.Variable, statements: Sequence[k.Statement], current: Current, scope: TlaScope) -> Current:
    """The value of the variable after the statements; every right-hand side reads the state before them."""
    for at, each in enumerate(statements):
        rest = statements[at + 1 :]
        node = statement(each)
        match node:
            case k.Assign():
                if node.variable == variable.name:
                    current = _assigned(variable.type, node, current, scope)
            case k.Let(binder, value):
                # A name that the variable does not need is not written into its value.
                if not _writes(variable, rest):
                    return current
                name, start, inner = _named(variable, current, scope)
                made = let_in(binder, value, inner, partial(_rest, variable, rest, start))
                return start.now(made if name is None else let(name, current.formula, made))
            case k.If():
                if _writes(variable, [node]):
                    current = _branched(variable, node, current, scope)
            case k.For():
                if _writes(variable, [node]):
                    current = current.now(_folded(variable, node, current, scope))
            case k.Guard() | k.Pick():
                raise AssertionError(f"{node.span}: guards and picks precede the updates")
            case _:
                assert_never(node)
    return current


def _rest(variable: k.Variable, statements: Sequence[k.Statement], current: Current, scope: TlaScope) -> Formula:
    return value_after(variable, statements, current, scope).formula


def _writes(variable: k.Variable, statements: Sequence[k.Statement]) -> bool:
    return any(assign.variable == variable.name for assign in assignments(statements))


def _named(variable: k.Variable, current: Current, scope: TlaScope) -> tuple[str | None, Current, TlaScope]:
    """The value so far as a name, for use below another bound name; None for the name where it has one already.

    TLA+ refuses a bound name within the scope of an equal one, and the value may hold any.
    """
    if re.fullmatch(r"\w+", current.formula.text):
        return None, current, scope
    name, inner = scope.fresh(variable.name)
    return name, current.now(Formula(name)), inner


def _branched(variable: k.Variable, node: k.If, current: Current, scope: TlaScope) -> Current:
    base = current.formula
    name, inner = scope.fresh(variable.name) if len(base.text) > LONG else (base.text, scope)
    start = current.now(Formula(name, TIGHT if name != base.text else base.level))
    then = value_after(variable, node.then, start, inner).formula
    otherwise = value_after(variable, node.otherwise, start, inner).formula
    made = branch(inner.formula(node.condition), then, otherwise)
    return current.now(made if name == base.text else let(name, base, made))


def _folded(variable: k.Variable, node: k.For, current: Current, scope: TlaScope) -> Formula:
    """The changes for every element of a loop: one function of the elements if they are the keys, otherwise one change
    after another."""
    fits = elements_fit(node.domain, scope.fitting)
    assign = _by_element(variable, node)
    if assign is not None and (_has_nothing(current) or _is_whole(node.domain, variable.type)):
        name, inner = scope.bind(node.binder, fits=fits)
        return enclosed(f"[{name} \\in {elements(node.domain, scope).text} |-> ", inner.formula(assign.value), "]")
    if assign is not None and not current.building:
        known, start, outer = _named(variable, current, scope)
        name, inner = outer.bind(node.binder, fits=fits)
        among = Formula(f"{name} \\in {elements(node.domain, inner).text}")
        changed = branch(among, inner.formula(assign.value), Formula(f"{start.formula.text}[{name}]"))
        made = enclosed(f"[{name} \\in DOMAIN {start.formula.text} |-> ", changed, "]")
        return made if known is None else let(known, current.formula, made)
    name, inner = scope.bind(node.binder, fits=fits)
    so_far, inside = inner.fresh("so_far")
    after = value_after(variable, node.body, current.now(Formula(so_far)), inside).formula
    domain = elements(node.domain, scope)
    # TLC takes the elements in any order. That is right, because overlapping writes are asserted not to occur.
    step = f"LAMBDA {so_far}, {name} : {after.text}"
    return Formula(f"{scope.parts.use('Fold')}({step}, {current.formula.text}, {domain.text})")


def _has_nothing(current: Current) -> bool:
    return current.building and current.base.text == "EmptyMap" and not current.changes


def _by_element(variable: k.Variable, node: k.For) -> k.Assign | None:
    """The only statement of the loop, if it assigns the entry of a total map at the element."""
    if len(node.body) != 1 or not isinstance(node.body[0], k.Assign) or not isinstance(variable.type, t.MapType):
        return None
    assign = node.body[0]
    match assign.path:
        # Each iteration writes an entry of its own, so their order does not matter and one function says it all.
        case (k.AtKey(k.Local(_, name)),) if name == node.binder.name and not variable.type.partial:
            return assign
        case _:
            return None


def _is_whole(domain: k.Expr, of: t.Type) -> bool:
    return isinstance(domain, k.TypeDomain) and isinstance(of, t.MapType) and domain.of == of.key


def _assigned(of: t.Type, node: k.Assign, current: Current, scope: TlaScope) -> Current:
    value = scope.formula(node.value)
    if not node.path:
        # What was changed before is dropped: the assertion of `apart` has excluded that there is anything.
        return current.now(value)
    if current.building:
        return current.now(_build(of, node.path, value, current.formula, scope))
    return _put(of, node.path, value, current, scope)


def _build(
    of: t.Type, path: Sequence[k.AtKey | k.AtField], value: Formula, current: Formula, scope: TlaScope
) -> Formula:
    """The current value with a part that it may not have had before."""
    put, empty, key = scope.parts.use("Put"), scope.parts.use("EmptyMap"), _key(of, path[0], scope)
    if len(path) > 1:
        before = (
            f"IF {key.text} \\in DOMAIN {current.within(TIGHT)} THEN {current.within(TIGHT)}[{key.text}] ELSE {empty}"
        )
        value = _build(part_type(of, path[0]), path[1:], value, Formula(before, LOOSE), scope)
    return Formula(f"{put}({current.text}, {key.text}, {value.text})")


def part_type(of: t.Type, step: k.AtKey | k.AtField) -> t.Type:
    """The type at a place inside a value of the type."""
    match of, step:
        case t.RecordType(_, fields), k.AtField(index):
            return fields[index].type
        case t.MapType(_, image), _:
            return image
        case t.SeqType(item), _:
            return item
        case _:
            raise AssertionError(f"{step.span}: {of} has no parts to assign to")


def _key(of: t.Type, step: k.AtKey | k.AtField, scope: TlaScope) -> Formula:
    if isinstance(step, k.AtKey):
        return scope.formula(step.key)
    assert isinstance(of, t.RecordType)
    return Formula(f'"{record_field(of, step.index)}"')


def _put(of: t.Type, path: Sequence[k.AtKey | k.AtField], value: Formula, current: Current, scope: TlaScope) -> Current:
    """The current value updated at one place: by ``EXCEPT``, and by ``Put`` where a partial map may gain the
    last key."""
    where, read = "", current.base
    for number, step in enumerate(path):
        if isinstance(step, k.AtField):
            assert isinstance(of, t.RecordType)
            field = record_field(of, step.index)
            where, read = where + access(field), part(read, field)
        elif isinstance(of, t.MapType) and of.partial and number == len(path) - 1:
            key = scope.formula(step.key)
            if not where:
                return Current(Formula(f"{scope.parts.use('Put')}({current.formula.text}, {key.text}, {value.text})"))
            # In an `EXCEPT`, `@` is the old value of the place.
            value = Formula(f"{scope.parts.use('Put')}(@, {key.text}, {value.text})")
        else:
            key = place(read, of, step.key, scope)
            where, read = f"{where}[{key.text}]", Formula(f"{read.within(TIGHT)}[{key.text}]")
        of = part_type(of, step)
    return Current(current.base, (*current.changes, (where, value)))
