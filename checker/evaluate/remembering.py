"""Values of expressions that range over sets, remembered as long as the variables that they read are the very same.

NOTE(remembering): An execution of a log is followed in states of which each has nearly all values of the one before it, as the very same objects. What
an expression reads is known: so where these objects are the same, and its locals equal, its value is the same.
"""

from __future__ import annotations

from typing import Any

from assay.checker.evaluate.expression import meaning
from assay.checker.evaluate.scope import Frame, Meaning, Scope
from assay.checker.evaluate.traverse import descendants, free_locals, variables_of
from assay.grammar import kernel as k
from assay.grammar import kernel_types as t

WORTH_IT = (k.Quantified, k.Filter, k.Image, k.Tabulate, k.Aggregate, k.Combine)
"""What takes long enough."""

SIMPLE = (t.AtomType, t.RangeType, t.BoolType)
"""Types of locals that are compared in no time."""

MOST_LOCALS = 2
KEPT = 512
"""So many values of an expression are remembered; then it begins anew."""


def remembering(expr: k.Expr, scope: Scope) -> Meaning:
    """The function that evaluates an expression, and remembers what it gave."""
    plain = meaning(expr, scope)
    if not isinstance(expr, WORTH_IT) or scope.old or scope.evaluated is not None:
        return plain
    names, parts = free_locals(expr), list(descendants(expr))
    given = {part.name: part.type for part in parts if isinstance(part, k.Local) and part.name in names}
    positions = sorted(scope.positions[name] for name in variables_of(expr))
    simple = len(given) <= MOST_LOCALS and all(isinstance(each, SIMPLE) for each in given.values())
    if not (positions and simple) or any(isinstance(part, k.Old) for part in parts):
        return plain
    return _remembered(plain, positions, sorted(given))


def _remembered(plain: Meaning, positions: list[int], names: list[str]) -> Meaning:
    known: dict[Any, tuple[list[Any], Any]] = {}

    def value(frame: Frame) -> Any:
        now, given = frame.now, frame.locals
        read = [now[at] for at in positions]
        key = (*map(id, read), *[given[name] for name in names])
        found = known.get(key)
        if found is None:
            if len(known) >= KEPT:
                known.clear()
            found = known[key] = read, plain(frame)  # what is read is kept, so that nothing else gets its identity
        return found[1]

    return value
