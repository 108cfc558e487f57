"""What keeps the elements of a set parameter from being interchangeable, with its place.

The language forbids most of it for parameters declared `symmetric`. Here the kernel is examined, because the kernel is
what engines run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from assay.checker.interpreter.expressions.traverse import descendants
from assay.checker.interpreter.values.sort_occurrence import mentions
from assay.grammar import kernel as k
from assay.grammar.diagnostics.diagnostic import Span
from assay.grammar.kernel import types as t
from assay.grammar.values import Atom, FrozenMap, RecordValue, Some, Value, VariantValue

Obstacle = tuple[str, Span]
"""What distinguishes elements, and where."""


def obstacles(kernel: k.Kernel, sort: t.Sort, properties: Iterable[k.Property]) -> Iterator[Obstacle]:
    """Everything in the system or in these properties that distinguishes the elements of a sort."""
    for prop in properties:
        if prop.kind in {"temporal", "refinement"}:
            yield (
                f"`{prop.name}` is a {prop.kind} property, which is not checked on states that stand for others",
                prop.span,
            )
    for part in parts(kernel, properties):
        for expr in descendants(part):
            yield from _told_apart(expr, sort)


def parts(kernel: k.Kernel, properties: Iterable[k.Property]) -> list[k.Node]:
    """The system and the properties, without scenarios, ``show`` and trace clauses."""
    actions = [kernel.action(name) for name in kernel.next]
    conjuncts = [conjunct for prop in properties for conjunct in prop.conjuncts]
    return [kernel.init, *actions, *kernel.terminal, *conjuncts]


def _told_apart(expr: k.Expr, sort: t.Sort) -> Iterator[Obstacle]:
    match expr:
        # A constant may hide an element inside of a set, a map or a record.
        case k.Const(_, value) if sort.name in set(_sorts(value)):
            yield f"an element of `{sort.name}` is named", expr.span
        case k.Compare(_, _, left, _) if left.type == t.AtomType(sort):
            yield f"elements of `{sort.name}` are compared by their positions", expr.span
        case k.ActionAtom():
            yield "`enabled` and `occurs` speak of behaviours", expr.span
        case k.Image(type=t.SeqType(), generators=generators):
            for each in generators:
                # A sequence made of a set has the order of its elements, which a permutation changes.
                if not isinstance(each.domain.type, t.SeqType) and mentions(each.domain.type, [sort.name]):
                    yield f"a sequence is made of a set with elements of `{sort.name}`", expr.span
        case _:
            return


def _sorts(value: Value) -> Iterator[str]:
    """The names of the set parameters of which a value holds elements."""
    match value:
        case Atom(sort, _, _):
            yield sort
        case Some(inner):
            yield from _sorts(inner)
        case VariantValue(_, parts_) | RecordValue(parts_):
            for each in parts_:
                yield from _sorts(each)
        case FrozenMap():
            for key, image in value.items():
                yield from _sorts(key)
                yield from _sorts(image)
        case frozenset() | tuple():
            for each in value:
                yield from _sorts(each)
        case _:
            return
