"""A memo of what an action did: its outcomes are used again where everything that it reads is the very same object.

The argument, and why identity is enough, is in docs/design/action-memo.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from assay.checker.interpreter.actions.outcome import Cut, Picks, Successor
from assay.checker.interpreter.expressions.frame import EvaluationScope
from assay.checker.interpreter.expressions.traverse import assignments, binders_of, children
from assay.grammar import kernel as k
from assay.grammar.identity_memo import IdentityTupleMemo
from assay.grammar.kernel.types import MapType
from assay.grammar.values import Value

Arguments = tuple[Value, ...]
Results = Iterator[tuple[Arguments, Successor | Cut]]

KEPT = 256
"""For how many states the outcomes of an action are kept."""

_ABSENT = object()


class _Outcome(NamedTuple):
    """One outcome: the arguments, the picks, and what is written; or the cut."""

    arguments: Arguments
    picks: Picks
    written: tuple[Value, ...]
    cut: Cut | None


class OutcomeMemo:
    """The outcomes of an action, kept by what its body reads."""

    __slots__ = ("_cells", "_known", "_whole", "_written")

    def __init__(self, body: Sequence[k.Statement], first: str | None, scope: EvaluationScope) -> None:
        whole: set[str] = set()
        cells: set[str] = set()
        # Only these are kept of a state. The others are those of the state that asks.
        self._written = sorted({scope.positions[each.variable] for each in assignments(body)})
        for statement in body:
            _reads(statement, frozenset(() if first is None else {first}), whole, cells)
        # What is written is read as well: an update of one entry keeps the other entries of the map.
        self._whole = sorted({*self._written, *(scope.positions[name] for name in whole)})
        self._cells = sorted({scope.positions[name] for name in cells}.difference(self._whole))
        self._known: IdentityTupleMemo[list[_Outcome]] = IdentityTupleMemo(limit=KEPT)

    def results(
        self, state: tuple[Value, ...], first: Value, choices: Sequence[Sequence[Value]], ask: Callable[[], Results]
    ) -> Results:
        """The outcomes in a state with the first argument given: from the memo, or computed by ``ask``."""
        now: Any = state
        # `_ABSENT` is one object, so that two states without the entry look alike.
        held = (choices, *[now[at] for at in self._whole], *[now[at].get(first, _ABSENT) for at in self._cells])
        known = self._known.get(held, first)
        if known is None:
            found: list[_Outcome] = []
            for arguments, result in ask():  # who asks may want no more than the first of many
                found.append(self._packed(arguments, result))
                yield arguments, result
            # Kept only when all were asked for: a caller that stopped early would leave a list that lacks outcomes.
            self._known.put(held, first, found)
            return
        for arguments, picks, written, cut in known:
            yield arguments, cut or Successor(picks, self._with(state, written))

    def _packed(self, arguments: Arguments, result: Successor | Cut) -> _Outcome:
        match result:
            case Successor(picks, after):
                return _Outcome(arguments, picks, tuple([after[at] for at in self._written]), None)
            case Cut():
                return _Outcome(arguments, (), (), result)

    def _with(self, state: tuple[Value, ...], written: tuple[Value, ...]) -> tuple[Value, ...]:
        after = list(state)
        for at, value in zip(self._written, written, strict=True):
            after[at] = value
        return tuple(after)


def _reads(node: k.Node, first: frozenset[str], whole: set[str], cells: set[str]) -> None:
    """Collect the variables that a node reads: in ``cells`` those read only at the entry for the first parameter, under
    any name for it."""
    match node:
        case k.StateVar(_, name):
            whole.add(name)
            return
        # The parts of this node are not visited, else the variable would count as read as a whole.
        case k.Lookup(_, k.StateVar(MapType(), name), k.Local(_, key)) if key in first:
            cells.add(name)
            return
        case k.LetIn(_, binder, k.Local(_, name), _) if name in first:
            first |= {binder.name}
        case k.Expr():
            first -= binders_of(node)
        case _:
            pass
    for part in children(node):
        _reads(part, first, whole, cells)
