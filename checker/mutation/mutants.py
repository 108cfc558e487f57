"""The mutants of a kernel: one small mistake each, in what the actions do. The properties, which judge, stay as
written.

A mistake is made at a place in the source, in every copy of it. Copies come from a function that is called twice, a
module with two instances, or a part of two joint actions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Literal, assert_never

from assay.checker.print_kernel import Sources, expression_text, span_text
from assay.grammar import kernel as k
from assay.grammar.diagnostics.diagnostic import Span
from assay.grammar.elaborate.scopes.rewrite import nodes, rewritten
from assay.grammar.kernel.node_unions import AnyStatement
from assay.grammar.kernel.node_unions import statement as of_family
from assay.grammar.lazy_dataclass import dataclass

Kind = Literal["drop", "weaken", "swap", "keep"]
KINDS: dict[Kind, str] = {
    "drop": "a guard is dropped",
    "weaken": "one conjunct of a guard is dropped",
    "swap": "a comparison is swapped: == and !=, < and <=, > and >=, in and not in",
    "keep": "an update is dropped, so that its variable keeps its value",
}

_SWAPPED: dict[str, Literal["<", "<=", ">", ">="]] = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
_SIGNS = {"<": "`<` for `<=`", "<=": "`<=` for `<`", ">": "`>` for `>=`", ">=": "`>=` for `>`"}


@dataclass(frozen=True, slots=True)
class Mutant:
    """One mistake: ``span`` is the place of the line or the comparison, ``part`` that of a dropped conjunct, ``text``
    describes it.

    ``line`` is the place of the whole line; it differs from ``span`` for a comparison, which may be in a function
    elsewhere. ``actions`` are the steps of the system that contain the mistake.
    """

    kind: Kind
    actions: tuple[str, ...]
    span: Span
    part: Span | None
    line: Span
    text: str

    @property
    def grows(self) -> bool:
        """Whether every step of the original is also one of the mutant."""
        return self.kind in ("drop", "weaken")


def mutants(kernel: k.Kernel, sources: Sources, files: frozenset[str]) -> list[Mutant]:
    """The mutants of lines in these files, by place."""
    # By place: one mistake in the source is one mutant, however many actions hold a copy of it.
    found: dict[tuple[Kind, Span, Span | None], Mutant] = {}
    for action in (kernel.action(name) for name in kernel.next):
        for mutant in _of_action(action, sources):
            if mutant.span.file in files:
                key = (mutant.kind, mutant.span, mutant.part)
                before = found[key].actions if key in found else ()
                names = before if action.name in before else (*before, action.name)
                found[key] = replace(mutant, actions=names)
    return sorted(
        found.values(), key=lambda each: (each.span.file, each.span.line, each.span.column, each.kind, each.text)
    )


def mutated(kernel: k.Kernel, mutant: Mutant) -> k.Kernel:
    """The kernel with the mistake."""
    return replace(kernel, actions=tuple(_action(action, mutant) for action in kernel.actions))


# ---------------------------------------------------------------------------------------------------- finding


def _of_action(action: k.Action, sources: Sources) -> Iterator[Mutant]:
    for statement in _statements(action.body):
        match statement:
            # A bound is a limit of the model and no claim about the system.
            case k.Guard(kind="bound"):
                continue
            # A guard that is constant in this model was decided by a parameter, and not by the state.
            case k.Guard(condition=condition) if not isinstance(condition, k.Const):
                yield Mutant(
                    "drop",
                    (action.name,),
                    statement.span,
                    None,
                    statement.span,
                    f"without `{_line(statement, sources)}`",
                )
                for part in _conjuncts(condition):
                    text = f"without `{expression_text(part, sources)}` in `{_line(statement, sources)}`"
                    yield Mutant("weaken", (action.name,), statement.span, part.span, statement.span, text)
            case k.Assign():
                yield Mutant(
                    "keep",
                    (action.name,),
                    statement.span,
                    None,
                    statement.span,
                    f"without `{_line(statement, sources)}`",
                )
            case _:
                pass
        yield from _comparisons(action, statement, sources)


def _statements(body: Iterable[k.Statement]) -> Iterator[AnyStatement]:
    for statement in map(of_family, body):
        yield statement
        match statement:
            case k.If(then=then, otherwise=otherwise):
                yield from _statements((*then, *otherwise))
            case k.For(body=inner):
                yield from _statements(inner)
            case k.Guard() | k.Let() | k.Pick() | k.Assign():
                pass
            case _:
                assert_never(statement)


def _line(statement: k.Statement, sources: Sources) -> str:
    return span_text(statement.span, sources) or "this line"


def _conjuncts(condition: k.Expr) -> tuple[k.Expr, ...]:
    """The parts of a guard that is a conjunction, or calls a function that is one."""
    match condition:
        case k.LetIn(body=body):
            return _conjuncts(body)
        case k.Logic(op="and", span=whole, parts=parts) if all(part.span != whole for part in parts):
            return parts
        case _:
            # A pattern such as `x is A(2)` is a conjunction too, but its parts have no places of their own.
            return ()


def _comparisons(action: k.Action, statement: AnyStatement, sources: Sources) -> Iterator[Mutant]:
    for expr in _own_expressions(statement):
        for node in nodes(expr):
            # What elaboration adds has no place, and is nobody's mistake.
            if isinstance(node, k.Expr) and node.span.line and swapped(node) is not node:
                text = f"{_sign(node)} in `{expression_text(node, sources)}`"
                yield Mutant("swap", (action.name,), node.span, None, statement.span, text)


def _own_expressions(statement: AnyStatement) -> tuple[k.Node, ...]:
    """The expressions of a line, without those of nested lines."""
    match statement:
        case k.Guard(condition=condition) | k.If(condition=condition):
            return (condition,)
        case k.Let(value=value):
            return (value,)
        case k.Pick(domain=domain) | k.For(domain=domain):
            return (domain,)
        case k.Assign(path=path, value=value):
            return (*path, value)
        case _:
            assert_never(statement)


# --------------------------------------------------------------------------------------------------- changing


def swapped(node: k.Node) -> k.Node:
    """The negated comparison; any other node unchanged."""
    match node:
        case k.Equal(negated=negated) | k.Member(negated=negated):
            return replace(node, negated=not negated)
        case k.Compare(op=op):
            return replace(node, op=_SWAPPED[op])
        case k.Subset(strict=strict):
            return replace(node, strict=not strict)
        case _:
            return node


def _sign(node: k.Expr) -> str:
    match node:
        case k.Equal(negated=negated):
            return "`==` for `!=`" if negated else "`!=` for `==`"
        case k.Member(negated=negated):
            return "`in` for `not in`" if negated else "`not in` for `in`"
        case k.Compare(op=op):
            return _SIGNS[_SWAPPED[op]]
        case k.Subset(strict=strict):
            return "`<=` for `<`" if strict else "`<` for `<=`"
        case _:
            raise AssertionError(node)


def _action(action: k.Action, mutant: Mutant) -> k.Action:
    match mutant.kind:
        case "drop":
            return replace(action, body=tuple(_dropped(each, mutant) for each in action.body))
        case "weaken":
            return replace(action, body=tuple(_weakened(each, mutant) for each in action.body))
        case "keep":
            return replace(action, body=tuple(_kept(action.body, mutant)))
        case "swap":
            return rewritten(action, _swapper(mutant))
        case _:
            assert_never(mutant.kind)


def _dropped(statement: k.Statement, mutant: Mutant) -> k.Statement:
    if isinstance(statement, k.Guard) and statement.span == mutant.span:
        # The guard stays, and is true: the others keep their places in the order of guards.
        return replace(statement, condition=k.true(statement.condition.span))
    return statement


def _weakened(statement: k.Statement, mutant: Mutant) -> k.Statement:
    if isinstance(statement, k.Guard) and statement.span == mutant.span:
        return replace(statement, condition=_without(statement.condition, mutant))
    return statement


def _without(condition: k.Expr, mutant: Mutant) -> k.Expr:
    match condition:
        case k.LetIn(body=body):
            return replace(condition, body=_without(body, mutant))
        case k.Logic(op="and", parts=parts):
            left = tuple(part for part in parts if part.span != mutant.part)
            return left[0] if len(left) == 1 else replace(condition, parts=left)
        case _:
            return condition


def _kept(body: tuple[k.Statement, ...], mutant: Mutant) -> Iterator[k.Statement]:
    for statement in body:
        match statement:
            case k.Assign(span=span) if span == mutant.span:
                continue
            case k.If(then=then, otherwise=otherwise):
                yield replace(statement, then=tuple(_kept(then, mutant)), otherwise=tuple(_kept(otherwise, mutant)))
            case k.For(body=inner):
                yield replace(statement, body=tuple(_kept(inner, mutant)))
            case _:
                yield statement


def _swapper(mutant: Mutant) -> Callable[[k.Node], k.Node]:
    return lambda node: swapped(node) if node.span == mutant.span else node
