"""The rule that an action assigns each place once, as far as it can be decided statically.

Two assignments of one step certainly conflict if the place of one is the place of the other, or lies inside it. Index
expressions are compared as written. Different index expressions may have equal values; that is left to the built-in
property ``defined``.
"""

from __future__ import annotations

from collections.abc import Iterable

from assay.grammar import kernel
from assay.grammar.diagnostics.diagnostic import Diagnostics, Note
from assay.grammar.elaborate.scopes.rewrite import nodes
from assay.grammar.lazy_dataclass import dataclass

Path = tuple[kernel.AtKey | kernel.AtField, ...]


@dataclass(frozen=True, slots=True)
class Effect:
    """An assignment; ``array`` is the number of leading keys that select the instance of an array."""

    assign: kernel.Assign
    array: int

    @property
    def path(self) -> Path:
        """The place inside the variable."""
        return self.assign.path

    @property
    def is_whole(self) -> bool:
        """Whether the variable is assigned as a whole."""
        # The key of an array's instance is no part of the place: for the module it is the whole variable.
        return len(self.path) <= self.array


def check_single_assignment(body: Iterable[kernel.Statement], arrays: frozenset[str], diagnostics: Diagnostics) -> None:
    """Report places that a body assigns twice; ``arrays`` names the variables of arrays of instances."""
    _Checker(arrays, diagnostics).sequence(body)


@dataclass(frozen=True, slots=True)
class _Checker:
    arrays: frozenset[str]
    diagnostics: Diagnostics

    def sequence(self, body: Iterable[kernel.Statement]) -> list[Effect]:
        """The effects of statements that are all executed."""
        done: list[Effect] = []
        for statement in body:
            new = self._effects(statement)
            for effect in new:
                self._check(effect, done)
            done += new
        return done

    def _effects(self, statement: kernel.Statement) -> list[Effect]:
        match statement:
            case kernel.Assign(variable=variable):
                return [Effect(statement, 1 if variable in self.arrays else 0)]
            case kernel.If(then=then, otherwise=otherwise):
                # The two branches are checked apart, since one step runs one of them. Both count for what comes later.
                return self.sequence(then) + self.sequence(otherwise)
            case kernel.For(binder=binder, body=body):
                effects = self.sequence(body)
                for effect in effects:
                    self._check_loop(effect, statement, binder)
                return effects
            case _:
                return []

    def _check(self, effect: Effect, done: list[Effect]) -> None:
        for earlier in done:
            if earlier.assign.variable == effect.assign.variable and _overlap(earlier.path, effect.path):
                what, advice = _message(effect, earlier)
                self.diagnostics.error(
                    "E404", effect.assign.span, what, Note("first assigned here", earlier.assign.span), *advice
                )
                return

    def _check_loop(self, effect: Effect, loop: kernel.For, binder: kernel.Local) -> None:
        if effect.is_whole and not _mentions(effect.path, loop, binder):
            name = effect.assign.variable
            what = f"`{name}` is assigned as a whole once for every element of this `for`"
            advice = "assign one element each time, or compute the whole value with a comprehension"
            self.diagnostics.error("E404", effect.assign.span, what, Note("the loop is here", loop.span), advice)


def _overlap(one: Path, other: Path) -> bool:
    # The shorter path decides: `m := …` and `m[k] := …` overlap, `m[j] := …` and `m[k] := …` do not as written.
    return all(a == b for a, b in zip(one, other, strict=False))


def _message(effect: Effect, earlier: Effect) -> tuple[str, list[str]]:
    name = effect.assign.variable
    if effect.is_whole and earlier.is_whole:
        return f"`{name}` is assigned twice in one step", [
            "put the assignments into exclusive branches of an `if`, or make them one"
        ]
    if effect.is_whole or earlier.is_whole:
        return f"`{name}` is assigned as a whole and by element in one step", [
            "change several places of one value with `with`"
        ]
    return f"this place of `{name}` is assigned twice in one step", []


def _mentions(path: Path, loop: kernel.For, binder: kernel.Local) -> bool:
    """Whether a place depends on the loop's element, directly or through a ``let`` of its body."""
    names = {binder.name}
    for statement in loop.body:
        if isinstance(statement, kernel.Let) and any(_reads(node, names) for node in nodes(statement.value)):
            names.add(statement.binder.name)
    return any(_reads(node, names) for part in path for node in nodes(part))


def _reads(node: kernel.Node, names: set[str]) -> bool:
    return isinstance(node, kernel.Local) and node.name in names
