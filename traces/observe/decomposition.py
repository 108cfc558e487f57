"""Splits a kernel into what belongs to one slice of a log and what all slices share, and proves that slices are
independent.

A slice is, say, one partition: its variables are maps from the slicing set. Guards that read another slice are dropped,
which is sound for rejection (a slice may then do more, never less). The argument is in docs/design/slices.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from assay.checker.interpreter.expressions.traverse import children, read_by, variables_of
from assay.checker.interpreter.values.sort_occurrence import mentions
from assay.grammar import kernel as k
from assay.grammar.diagnostics.diagnostic import Diagnostic, Span, SpecError
from assay.grammar.kernel import types as t
from assay.grammar.lazy_dataclass import dataclass
from assay.traces.table.statement_keys import EVERY_SLICE

NOT_SLICED = "E712"


@dataclass(frozen=True, slots=True)
class Split:
    """The kernel without the guards that read other slices, its variables by position, and the names of the slice
    actions.

    ``relaxed`` lists each dropped guard as action and label; the answer reports them.
    """

    kernel: k.Kernel
    slicing: k.Slicing
    shared: tuple[int, ...]
    own: tuple[int, ...]
    actions: frozenset[str]
    relaxed: tuple[tuple[str, str], ...]

    def shared_reads(self, plan: k.TracePlan) -> tuple[int, ...]:
        """The positions of the shared variables that slice actions, or the rules about slices, read."""
        names: set[str] = set()
        for action in self.kernel.actions:
            if action.name in self.actions:
                names |= read_by(action.body)
        for rule in self.plan_of_slices(plan).rules:
            for expr in (rule.then, rule.observe):
                names |= set() if expr is None else variables_of(expr)
        return tuple(i for i in self.shared if self.kernel.variables[i].name in names)

    def plan_of_shared(self, plan: k.TracePlan) -> k.TracePlan:
        """The trace clause restricted to what is shared."""
        hidden = tuple(name for name in plan.hidden if name not in self.actions)
        return replace(plan, hidden=hidden, rules=tuple(rule for rule in plan.rules if not self.reads_slices(rule)))

    def plan_of_slices(self, plan: k.TracePlan) -> k.TracePlan:
        """The trace clause restricted to what belongs to a slice."""
        hidden = tuple(name for name in plan.hidden if name in self.actions)
        return replace(plan, hidden=hidden, rules=tuple(rule for rule in plan.rules if self.reads_slices(rule)))

    def reads_slices(self, rule: k.TraceRule) -> bool:
        """Whether a rule has the slice among its fields."""
        return any(field.field == EVERY_SLICE for field in rule.fields)


def split(kernel: k.Kernel, slicing: k.Slicing) -> Split:
    """The kernel split by a slicing clause; raises SpecError (E712) that lists every dependence between slices."""
    problems: list[Diagnostic] = []
    sort = slicing.sort.name
    own = [i for i, variable in enumerate(kernel.variables) if _is_map_of(variable.type, sort)]
    names = frozenset(kernel.variables[i].name for i in own)
    problems += [
        _problem(variable.span, f"`{variable.name}` holds elements of `{sort}` and is no map from it")
        for variable in kernel.variables
        # A set of slices, or a map with slices as values, names them in shared state, and ties them to each other.
        if variable.name not in names and mentions(variable.type, [sort])
    ]
    actions: list[k.Action] = []
    of_slices: set[str] = set()
    relaxed: list[tuple[str, str]] = []
    for action in kernel.actions:
        parameters = [p.binder.name for p in action.parameters if _is_atom(p.binder.type, sort)]
        of_slices |= {action.name} if parameters else set()
        # Of two parameters of the set the first is the action's own slice; the second denotes another one.
        reader = _Reader(names, frozenset(parameters[:1]))
        actions.append(_without_foreign_guards(action, reader, relaxed))
        # An action that is no step of the model cannot make slices depend on one another.
        # Asked of the action without the guards that were dropped: any other look at another slice is refused.
        if action.name in kernel.next:
            problems += _dependences(actions[-1], reader, names, shared=not parameters)
    if problems:
        raise SpecError(problems)
    shared = tuple(i for i in range(len(kernel.variables)) if i not in own)
    without_guards = replace(kernel, actions=tuple(actions))
    return Split(without_guards, slicing, shared, tuple(own), frozenset(of_slices), tuple(relaxed))


def without_guards_on(divided: Split, names: frozenset[str]) -> Split:
    """The same split, but slice actions ignore their guards on these shared variables: slices may then do more, never
    less.
    """

    def freed(action: k.Action) -> k.Action:
        if action.name not in divided.actions:
            return action
        return replace(action, body=tuple(part for part in action.body if not _asks_for(part, names)))

    kernel = replace(divided.kernel, actions=tuple(freed(action) for action in divided.kernel.actions))
    return replace(divided, kernel=kernel)


def _asks_for(statement: k.Statement, names: frozenset[str]) -> bool:
    return isinstance(statement, k.Guard) and not names.isdisjoint(variables_of(statement.condition))


def _problem(span: Span, message: str) -> Diagnostic:
    return Diagnostic(NOT_SLICED, span, message)


def _is_atom(type_: t.Type, sort: str) -> bool:
    return isinstance(type_, t.AtomType) and type_.sort.name == sort


def _is_map_of(type_: t.Type, sort: str) -> bool:
    # A value with elements of the set could name another slice, which would tie this one to it.
    return isinstance(type_, t.MapType) and _is_atom(type_.key, sort) and not mentions(type_.value, [sort])


@dataclass(frozen=True, slots=True)
class _Reader:
    """The variables of slices, and the local names that denote the action's own slice."""

    names: frozenset[str]
    slices: frozenset[str]

    def foreign(self, expr: k.Expr) -> Iterator[k.Expr]:
        """The subexpressions that read a slice variable at any key but the action's own slice."""
        match expr:
            # The own entry alone: the whole map, even if only compared, would tie all slices together.
            case k.Lookup(_, k.StateVar(_, name), k.Local(_, key)) if name in self.names and key in self.slices:
                return
            # A function with a slice parameter is inlined as such a `let`: its name stands for the own slice, too.
            case k.LetIn(_, binder, k.Local(_, name), body) if name in self.slices:
                yield from replace(self, slices=self.slices | {binder.name}).foreign(body)
            case k.StateVar(_, name) if name in self.names:
                yield expr
            case _:
                for part in children(expr):
                    yield from self.foreign(part)

    def is_foreign(self, expr: k.Expr) -> bool:
        """Whether an expression reads another slice."""
        return next(self.foreign(expr), None) is not None


def _without_foreign_guards(action: k.Action, reader: _Reader, relaxed: list[tuple[str, str]]) -> k.Action:
    if not reader.slices:
        return action
    crossing = [
        s for s in action.body if isinstance(s, k.Guard) and s.kind == "when" and reader.is_foreign(s.condition)
    ]
    relaxed += [(action.name, guard.label) for guard in crossing]
    return replace(action, body=tuple(each for each in action.body if each not in crossing))


def _dependences(action: k.Action, reader: _Reader, names: frozenset[str], *, shared: bool) -> Iterator[Diagnostic]:
    for statement in action.body:
        yield from _of_statement(action, statement, reader, names, shared=shared)


def _of_statement(
    action: k.Action, statement: k.Statement, reader: _Reader, names: frozenset[str], *, shared: bool
) -> Iterator[Diagnostic]:
    match statement:
        case k.Guard(_, _, expr) | k.Let(_, expr) | k.Pick(_, expr):
            yield from _reads(action, expr, reader)
        case k.If(condition, then, otherwise):
            yield from _reads(action, condition, reader)
            for part in (*then, *otherwise):
                yield from _of_statement(action, part, reader, names, shared=shared)
        case k.For(_, domain, body):
            yield from _reads(action, domain, reader)
            for part in body:
                yield from _of_statement(action, part, reader, names, shared=shared)
        case k.Assign(_, variable, path):
            # The keys of the path are read too: `tab[if marked[other] then 0 else 1] := …` depends on another slice.
            for expr in children(statement):
                yield from _reads(action, expr, reader)
            # Two mistakes in one test: a shared action changes a slice, or a slice's action changes what is shared.
            if (variable in names) == shared:
                whose = "a slice" if shared else "all slices"
                yield _problem(statement.span, f"`{action.name}` changes `{variable}`, which belongs to {whose}")
            elif not shared and not (path and _is_own(path[0], reader)):
                yield _problem(statement.span, f"`{action.name}` changes `{variable}` of other slices than its own")
        case _:
            raise AssertionError(statement)


def _is_own(step: k.AtKey | k.AtField, reader: _Reader) -> bool:
    return isinstance(step, k.AtKey) and isinstance(step.key, k.Local) and step.key.name in reader.slices


def _reads(action: k.Action, expr: k.Expr, reader: _Reader) -> Iterator[Diagnostic]:
    for place in reader.foreign(expr):
        yield _problem(place.span, f"`{action.name}` depends on a slice that is not its own")
