"""Whether two updates of an action can write to one place, which is undefined, and the assertion that they do not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import assert_never

from assay.checker.interpreter.expressions.traverse import assignments
from assay.checker.tla.expressions.collections import elements
from assay.checker.tla.expressions.dispatch import let_in
from assay.checker.tla.expressions.formula import SET, Formula, apply, branch, listed
from assay.checker.tla.expressions.known_types import elements_fit
from assay.checker.tla.expressions.scope import TlaScope
from assay.checker.tla.expressions.types import record_field
from assay.checker.tla.updates import part_type
from assay.grammar import kernel as k
from assay.grammar.identity_memo import IdentityMemo
from assay.grammar.kernel import types as t
from assay.grammar.kernel.node_unions import statement
from assay.grammar.lazy_dataclass import dataclass

Branches = tuple[tuple[k.If, bool], ...]
Path = Sequence[k.AtKey | k.AtField]


@dataclass(frozen=True, slots=True)
class UpdateSite:
    """An assignment with the branches around it and the variables of the loops around it."""

    assign: k.Assign
    branches: Branches = ()
    loops: tuple[str, ...] = ()

    @property
    def repeats(self) -> bool:
        """Whether two iterations of the loops around it may write to the same place."""
        keys = {
            part.key.name for part in self.assign.path if isinstance(part, k.AtKey) and isinstance(part.key, k.Local)
        }
        # Each loop variable is a key by itself, so two iterations differ in one.
        return not keys.issuperset(self.loops)

    def may_meet(self, other: UpdateSite) -> bool:
        """Whether this assignment and another may write to the same place."""
        taken = IdentityMemo(self.branches)
        # Other branches of one `if` exclude each other, but not in a loop: each iteration may take another one.
        if not (self.loops or other.loops) and any(taken.get(at, way) != way for at, way in other.branches):
            return False
        return not any(_differ(a, b) for a, b in zip(self.assign.path, other.assign.path, strict=False))


def _differ(one: k.AtKey | k.AtField, other: k.AtKey | k.AtField) -> bool:
    match one, other:
        case k.AtField(index), k.AtField(another):
            return index != another
        case k.AtKey(k.Const(_, value)), k.AtKey(k.Const(_, another_value)):
            return value != another_value
        case _:
            return False


def apart(variable: k.Variable, statements: Sequence[k.Statement], scope: TlaScope) -> Formula | None:
    """The assertion that no two updates of the variable conflict; None where that is statically certain."""
    mine = [write for write in _writes(statements) if write.assign.variable == variable.name]
    pairs = ((one, other) for at, one in enumerate(mine) for other in mine[:at])
    # The assertion costs TLC time at each step, and is hard to read: most actions get none.
    if not any(write.repeats for write in mine) and not any(one.may_meet(other) for one, other in pairs):
        return None
    places = _Places(variable, IdentityMemo((write.assign, at) for at, write in enumerate(mine, 1))).of(
        statements, (), scope
    )
    what = Formula(f'"two assignments to the same place of {variable.name}"')
    return apply(scope.parts.use("Assert"), [apply(scope.parts.use("Apart"), [places]), what])


def _writes(
    statements: Sequence[k.Statement], branches: Branches = (), loops: tuple[str, ...] = ()
) -> Iterator[UpdateSite]:
    for each in statements:
        node = statement(each)
        match node:
            case k.Assign():
                yield UpdateSite(node, branches, loops)
            case k.If(_, then, otherwise):
                yield from _writes(then, (*branches, (node, True)), loops)
                yield from _writes(otherwise, (*branches, (node, False)), loops)
            case k.For(binder, _, body):
                yield from _writes(body, branches, (*loops, binder.name))
            case k.Let() | k.Guard() | k.Pick():
                pass
            case _:
                assert_never(node)


@dataclass(frozen=True, slots=True)
class _Places:
    """Writes the set of all places written to, each with the number of the assignment and the iteration of
    its loops."""

    variable: k.Variable
    numbers: IdentityMemo[k.Assign, int]

    def of(self, statements: Sequence[k.Statement], loops: tuple[str, ...], scope: TlaScope) -> Formula:
        sets: list[Formula] = []
        for at, each in enumerate(statements):
            node = statement(each)
            if not isinstance(node, k.Let) and not self._are_written([node]):
                continue
            match node:
                case k.Assign():
                    sets.append(self._place(node, loops, scope))
                case k.Let(binder, value):
                    # The name spans all that follows it, so the rest of the block is written inside.
                    sets.append(let_in(binder, value, scope, partial(self.of, statements[at + 1 :], loops)))
                    break
                case k.If(condition, then, otherwise):
                    ways = (self.of(then, loops, scope), self.of(otherwise, loops, scope))
                    sets.append(branch(scope.formula(condition), *ways))
                case k.For(binder, domain, body):
                    name, inner = scope.bind(binder, fits=elements_fit(domain, scope.fitting))
                    made = self.of(body, (*loops, name), inner)
                    sets.append(Formula(f"UNION {{{made.text} : {name} \\in {elements(domain, scope).text}}}", SET))
                case k.Guard() | k.Pick():
                    raise AssertionError(f"{node.span}: guards and picks precede the updates")
                case _:
                    assert_never(node)
        # Without parentheses around a single set.
        if len(sets) < 2:
            return sets[0] if sets else Formula("{}")
        return Formula(" \\cup ".join(each.within(SET + 1) for each in sets), SET)

    def _are_written(self, statements: Sequence[k.Statement]) -> bool:
        return any(assign.variable == self.variable.name for assign in assignments(statements))

    def _place(self, node: k.Assign, loops: tuple[str, ...], scope: TlaScope) -> Formula:
        of, keys = self.variable.type, []
        for part in node.path:
            keys.append(_key(part, of, scope))
            of = part_type(of, part)
        return Formula(f"{{<<{self.numbers[node]}, <<{', '.join(loops)}>>, <<{listed(keys)}>>>>}}")


def _key(part: k.AtKey | k.AtField, of: t.Type, scope: TlaScope) -> Formula:
    if isinstance(part, k.AtKey):
        return scope.formula(part.key)
    assert isinstance(of, t.RecordType)
    return Formula(f'"{record_field(of, part.index)}"')
