"""Actions as generated Python functions: all results of an action in a state (docs/design/generated-evaluator.md).

The loops over parameters and picks are written out. Guards and names come in the order of docs/design/guard-order.md:
what mentions only the first parameters precedes the next one, and what enumerates collections comes last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, assert_never

from assay.checker.interpreter.actions.action_prefix import GuardStep, LetStep, PickStep, PrefixStep
from assay.checker.interpreter.actions.guard_order import LONG, cost_of, needed, required_values
from assay.checker.interpreter.actions.outcome import Cut, Successor
from assay.checker.interpreter.actions.update import PendingWrite, Updater
from assay.checker.interpreter.expressions.codegen_expressions import NO_VALUE, PythonWriter
from assay.checker.interpreter.expressions.frame import EvaluationScope, Frame, Meaning
from assay.checker.interpreter.expressions.traverse import assignments
from assay.checker.interpreter.values.type_check import CapacityExceeded
from assay.grammar import kernel as k
from assay.grammar.kernel.node_unions import statement
from assay.grammar.kernel.types import MapType
from assay.grammar.values import Value

Arguments = tuple[Value, ...]
Found = list[tuple[Arguments, Successor | Cut]]
Run = Callable[[tuple[Value, ...], Sequence[Sequence[Value]]], Found]
"""The results of an action in a state with arguments from some choices. Raises one of ``NO_VALUE`` where the reference
evaluator must decide."""


class ActionPrefix(NamedTuple):
    """The part of a body before its updates, without bounds: guards and names by the number of parameters that they
    need, and the rest."""

    early: Sequence[Sequence[GuardStep]]
    lets: Sequence[Sequence[LetStep]]
    late: Sequence[PrefixStep]


WORTH_IT = 100
"""After this many calls of an action code is made for it. Making it takes 4 ms."""

FAILURES = 64
"""Once calls without an answer exceed those with one by this many, the code is dropped: each such call is evaluated
twice."""


class TieredCode:
    """The code of an action, made when the action has been called often enough."""

    __slots__ = ("_asked", "_failed", "_run", "make")

    def __init__(self) -> None:
        self.make: Callable[[], Run | None] | None = None
        self._run: Run | None = None
        self._asked = self._failed = 0

    def results(self, state: tuple[Value, ...], choices: Sequence[Sequence[Value]]) -> Found | None:
        """The results of the action; None where the reference evaluator must decide."""
        if self._run is None:
            self._asked += 1
            # Exactly once, by `!=`: code that could not be made, or was dropped, is not made again.
            if self._asked != WORTH_IT or self.make is None:
                return None
            self._run = self.make()
            if self._run is None:
                return None
        try:
            found = self._run(state, choices)
        except NO_VALUE:  # the reference evaluator decides whether the instance is stuck, disabled or protected
            self._failed += 1
            if self._failed > FAILURES:
                self._run = None
            return None
        # An answer makes up for a failure, but not for failures to come.
        self._failed -= self._failed > 0
        return found


def action_code(
    parameters: Sequence[str],
    parts: ActionPrefix,
    updates: Sequence[k.Statement],
    scope: EvaluationScope,
    updater: Updater,
) -> Run | None:
    """The function of an action; None where it exceeds what Python can compile."""
    try:
        return _Action(parameters, parts, scope, updater).run(updates)
    except (SyntaxError, RecursionError, MemoryError):  # CPython's compiler limits nesting, by any of these
        return None


def condition_code(expr: k.Expr, scope: EvaluationScope) -> Meaning | None:
    """The function of an expression, with the reference evaluator as fallback; None where it exceeds what Python can
    compile."""
    try:
        source = PythonWriter(scope, lambda name: f"bound[{name!r}]")
        body = (
            f"def run(frame):\n now, before, bound = frame.now, frame.before, frame.locals\n return {source.of(expr)}\n"
        )
        run = _made(body, source.given)
    except (SyntaxError, RecursionError, MemoryError):
        return None
    plain = scope.meaning(expr)

    def meaning(frame: Frame) -> Any:
        try:
            return run(frame)
        except NO_VALUE:
            return plain(frame)

    return meaning


def _made(text: str, given: Mapping[str, Any]) -> Any:
    # A namespace of its own for each function: names such as `g7` mean something else in each.
    space = dict(given)
    exec(compile(text, "<generated>", "exec"), space)
    return space["run"]


class _Action:
    """Writes one action, line by line."""

    def __init__(
        self, parameters: Sequence[str], parts: ActionPrefix, scope: EvaluationScope, updater: Updater
    ) -> None:
        self._parameters, self._parts, self._updater = parameters, parts, updater
        self._source = PythonWriter(scope, _unbound)
        self._lines: list[str] = []
        self._depth = 1
        self._lets = {step.name: step for own in parts.lets for step in own}
        self._known: set[str] = set()

    def run(self, updates: Sequence[k.Statement]) -> Run:
        """The function."""
        updates = entry_assignments(updates)
        self._level(0)
        for at, name in enumerate(self._parameters):
            self._line(f"for {self._source.bind(name)} in choices[{at}]:")
            self._depth += 1
            self._known.add(name)
            self._level(at + 1)
        # Also those that no guard needs: without a value they make the instance stuck.
        for let in (step for own in self._parts.lets for step in own):
            self._let(let)
        picks = list(self._late())
        self._line("writes = []")
        self._updates(updates)
        arguments = "".join(f"{self._source.names[name]}, " for name in self._parameters)
        picked = "".join(f"({name!r}, {self._source.names[name]}), " for name in picks)
        self._line(f"found.append((({arguments}), finish(now, ({picked}), writes)))")
        given = self._source.given
        given["finish"], given["PendingWrite"] = _finish(self._updater), PendingWrite
        # The loop over one element gives the `continue` of guards that need no parameter something to leave.
        text = "\n".join(["def run(now, choices):", " found = []", " for _ in (0,):", *self._lines, " return found"])
        run: Run = _made(text, given)
        return run

    def _line(self, text: str) -> None:
        self._lines.append(" " * (self._depth + 1) + text)

    def _level(self, level: int) -> None:
        """Write the guards that need so many parameters, and the names that later guards need, once for all values of
        later parameters."""
        for step in sorted(self._parts.early[level], key=lambda each: cost_of(each.node, self._lets) // LONG):
            self._guard(step)
        # A name that only later levels need is written here all the same: once, not for each value of later parameters.
        deeper = [step.node for guards in self._parts.early[level + 1 :] for step in guards]
        for let in self._parts.lets[level]:
            if let.name in self._mentioned(deeper):
                self._let(let)

    def _mentioned(self, nodes: Iterable[k.Node]) -> set[str]:
        """The names for values that statements mention, directly or through other names."""
        found: set[str] = set()
        waiting = list(nodes)
        while waiting:
            new = (needed(waiting.pop()) & self._lets.keys()) - found
            found |= new
            waiting += [self._lets[name].node for name in new]
        return found

    def _guard(self, step: GuardStep) -> None:
        self._need(step.node)
        self._line(f"if not {self._source.of(step.node.condition)}: continue")

    def _need(self, node: k.Node) -> None:
        """Write values for the names that a node mentions."""
        for name in sorted(needed(node) & self._lets.keys()):
            self._let(self._lets[name])

    def _let(self, step: LetStep) -> None:
        if step.name not in self._known:
            self._known.add(step.name)
            self._need(step.node)
            value = self._source.of(step.node.value)
            self._line(f"{self._source.bind(step.name)} = {value}")

    def _late(self) -> Iterator[str]:
        """Write the picks, and what mentions them, in the order of the body; yields the names of the picks."""
        steps = self._parts.late
        for at, step in enumerate(steps):
            match step:
                case GuardStep():
                    self._guard(step)
                case LetStep():
                    # A name that mentions a pick; guards behind it find it here, as they find those before.
                    self._lets[step.name] = step
                    self._let(step)
                case PickStep():
                    self._pick(step, steps[at + 1 :])
                    yield step.name
                case _:
                    assert_never(step)

    def _pick(self, step: PickStep, later: Sequence[PrefixStep]) -> None:
        """Write the loop over a pick, or the only value that a later guard allows it to have."""
        wanted = [each for other in later for each in required_values(other, step.name, self._known)]
        # One required value is enough: the guards that require the others are still written behind the loop's head.
        asked = [self._source.of(each) for each in wanted[:1]]
        elements = self._source.elements(step.node.domain, ordered=not asked)
        name = self._source.bind(step.name)
        if asked:
            self._line(f"{name} = {asked[0]}")
            elements = f"(({name},) if {name} in {elements} else ())"
        self._line(f"for {name} in {elements}:")
        self._depth += 1
        self._known.add(step.name)

    def _updates(self, updates: Sequence[k.Statement]) -> None:
        # Right-hand sides read `now`, which no write changes: writes are collected, and made together at the end.
        for each in updates:
            node = statement(each)
            match node:
                case k.Assign():
                    self._assign(node)
                case k.Let(binder, value):
                    text = self._source.of(value)
                    self._line(f"{self._source.bind(binder.name)} = {text}")
                case k.If(condition, then, otherwise):
                    self._line(f"if {self._source.of(condition)}:")
                    self._nested(then)
                    self._line("else:")
                    self._nested(otherwise)
                case k.For(binder, of, body):
                    elements = self._source.elements(of, ordered=True)
                    self._line(f"for {self._source.bind(binder.name)} in {elements}:")
                    self._nested(body)
                case k.Guard() | k.Pick():
                    raise AssertionError(f"{node.span}: guards and picks precede the updates")
                case _:
                    assert_never(node)

    def _nested(self, body: Sequence[k.Statement]) -> None:
        self._depth += 1
        self._line("pass")
        self._updates(body)
        self._depth -= 1

    def _assign(self, node: k.Assign) -> None:
        source = self._source
        # Keys before the value, as the reference evaluator takes them.
        path = "".join(f"{source.of(p.key) if isinstance(p, k.AtKey) else p.index}, " for p in node.path)
        value = source.checked(node.value, node.type)
        position = source.scope.positions[node.variable]
        self._line(f"writes.append(PendingWrite({position}, ({path}), {value}, {source.give(node)}))")


def entry_assignments(updates: Sequence[k.Statement]) -> list[k.Statement]:
    """Updates in which ``m := m with {k -> v}`` becomes an assignment to the entry ``m[k]``.

    Only the new entry is then checked against ranges and capacity; the others were checked before. A variable with
    another assignment is left as it is, because two overlapping writes have no result.
    """
    assigned = [each.variable for each in assignments(updates)]
    return [
        _narrow(each) if isinstance(each, k.Assign) and assigned.count(each.variable) == 1 else each for each in updates
    ]


def _narrow(node: k.Assign) -> k.Assign:
    match node.value:
        case k.UpdateEntry(_, collection, key, value) if isinstance(collection.type, MapType):
            if _is_place(collection, node.variable, node.path):
                path = (*node.path, k.AtKey(key, span=key.span))
                return replace(node, path=path, value=value, type=collection.type.value)
        case _:
            pass
    return node


def _is_place(expr: k.Expr, variable: str, path: Sequence[k.AtKey | k.AtField]) -> bool:
    """Whether an expression reads the place that a path names."""
    match expr:
        case k.StateVar(_, name):
            return name == variable and not path
        case k.Lookup(_, collection, key):
            last = path[-1] if path else None
            return isinstance(last, k.AtKey) and last.key == key and _is_place(collection, variable, path[:-1])
        case _:
            return False


def _unbound(name: str) -> str:
    raise AssertionError(f"{name} is not bound")


def _finish(updater: Updater) -> Callable[..., Successor | Cut]:
    def finish(now: tuple[Value, ...], picks: Any, writes: list[PendingWrite]) -> Successor | Cut:
        try:
            return Successor(picks, updater.after(now, writes))
        except CapacityExceeded as exceeded:
            return Cut(picks, f"capacity of {exceeded}")

    return finish
