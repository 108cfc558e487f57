"""Candidate invariants: simple statements that relate two places of the state, for all elements that the places depend
on.

They are guesses. Most are false, and are removed by reachable states and then by Houdini; the rest is true and
inductive. Reference: Flanagan, Leino, "Houdini, an annotation assistant for ESC/Java", 2001.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, count

from assay.checker.interpreter.expressions.traverse import assignments, variables_of, with_parts_replaced
from assay.grammar import kernel as k
from assay.grammar.kernel import types as t
from assay.grammar.kernel.node_unions import kind
from assay.grammar.lazy_dataclass import dataclass

DEEPEST = 2
"""How many binders a place may have."""


@dataclass(frozen=True, slots=True)
class StatePlace:
    """A number, element or condition in the state, for all ``binders`` (each over a set) for which the guards hold."""

    variable: str
    binders: tuple[tuple[k.Local, k.Expr], ...]
    guards: tuple[k.Expr, ...]
    term: k.Expr


class Templates:
    """The places of some variables, and candidate statements about them."""

    def __init__(self, variables: Sequence[k.Variable]) -> None:
        self._names = count(1)
        self._variables = variables

    def candidates(self) -> Iterator[k.Expr]:
        """The candidates, the most common kinds of invariants first."""
        places = [list(self._all()), list(self._all())]  # twice, with other names for the binders
        for first, second in zip(*places, strict=True):
            yield from self._always(first)
            yield from self._unique(first, second)
        for a, b in combinations(range(len(places[0])), 2):
            yield from self._related(places[0][a], places[1][b])
            # Both ways round: `<=` and `implies` are not symmetric.
            yield from self._related(places[0][b], places[1][a])
            yield from self._related(places[0][a], _sharing(places[0][a], places[0][b]))
            yield from self._related(places[0][b], _sharing(places[0][b], places[0][a]))

    def _all(self) -> Iterator[StatePlace]:
        for each in self._variables:
            yield from self._places(each.name, k.StateVar(each.type, each.name), each.type, (), ())

    def _local(self, of: t.Type) -> k.Local:
        stem = {t.AtomType: "x", t.RangeType: "n"}.get(type(of), "v")
        return k.Local(of, f"{stem}_{next(self._names)}")

    def _places(
        self,
        name: str,
        term: k.Expr,
        of: t.Type,
        binders: tuple[tuple[k.Local, k.Expr], ...],
        guards: tuple[k.Expr, ...],
    ) -> Iterator[StatePlace]:
        match kind(of):
            case t.BoolType() | t.RangeType() | t.AtomType():
                yield StatePlace(name, binders, guards, term)
            case t.OptionType(item):
                some = k.IsSome(t.BOOL, term)
                yield StatePlace(name, binders, guards, some)
                yield from self._places(name, k.Unwrap(item, term), item, binders, (*guards, some))
            case t.EnumType(_, variants):
                for variant in variants:
                    here = k.IsVariant(t.BOOL, term, variant.name)
                    yield StatePlace(name, binders, guards, here)
                    for at, field in enumerate(variant.fields):
                        part = k.Payload(field.type, term, variant.name, at)
                        yield from self._places(name, part, field.type, binders, (*guards, here))
            case t.RecordType(_, fields):
                for at, field in enumerate(fields):
                    yield from self._places(name, k.ReadField(field.type, term, at), field.type, binders, guards)
            case t.MapType(key, value, _, partial) if len(binders) < DEEPEST:
                binder = self._local(key)
                more = (*binders, (binder, k.TypeDomain(t.SetType(key), key)))
                inside = (*guards, k.Member(t.BOOL, binder, term, negated=False)) if partial else guards
                yield from self._places(name, k.Lookup(value, term, binder), value, more, inside)
            case t.SetType(item) if len(binders) < DEEPEST:
                binder = self._local(item)
                if isinstance(item, t.AtomType):
                    member = k.Member(t.BOOL, binder, term, negated=False)
                    whole = k.TypeDomain(t.SetType(item), item)
                    yield StatePlace(name, (*binders, (binder, whole)), guards, member)
                yield from self._places(name, binder, item, (*binders, (binder, term)), guards)
            case t.MapType() | t.SetType() | t.SeqType() | t.BagType() | t.IntType():
                return

    # ----------------------------------------------------------------------------------------- statements

    def _related(self, a: StatePlace, b: StatePlace | None) -> Iterator[k.Expr]:
        if b is None:
            return
        match a.term.type, b.term.type:
            case t.RangeType(), t.RangeType():
                yield _statement([a, b], k.Compare(t.BOOL, "<=", a.term, b.term))
                yield _statement([a, b], k.Compare(t.BOOL, "<", a.term, b.term))
            case t.AtomType(one), t.AtomType(other) if one == other:
                yield _statement([a, b], k.Equal(t.BOOL, a.term, b.term, negated=False))
                yield _statement([a, b], k.Equal(t.BOOL, a.term, b.term, negated=True))
            case t.BoolType(), t.BoolType():
                yield _statement([a, b], k.Logic(t.BOOL, "implies", (a.term, b.term)))
                yield _statement([a, b], k.Logic(t.BOOL, "implies", (a.term, k.Not(t.BOOL, b.term))))
            case _:
                return

    def _unique(self, a: StatePlace, b: StatePlace) -> Iterator[k.Expr]:
        """A place differs for different elements, or a condition is true for at most one."""
        if not a.binders:
            return
        differ = [k.Equal(t.BOOL, x, y, negated=True) for (x, _), (y, _) in zip(a.binders, b.binders, strict=True)]
        apart = differ[0] if len(differ) == 1 else k.Logic(t.BOOL, "or", tuple(differ))
        if isinstance(a.term.type, t.BoolType):
            yield _statement([a, b], k.Not(t.BOOL, k.Logic(t.BOOL, "and", (a.term, b.term))), (apart,))
        # That different elements differ is no statement.
        elif not isinstance(a.term, k.Local):
            yield _statement([a, b], k.Equal(t.BOOL, a.term, b.term, negated=True), (apart,))

    def _always(self, a: StatePlace) -> Iterator[k.Expr]:
        if isinstance(a.term.type, t.BoolType):
            yield _statement([a], a.term)
            yield _statement([a], k.Not(t.BOOL, a.term))


def _sharing(a: StatePlace, b: StatePlace) -> StatePlace | None:
    """The second place for the same elements as the first; None if they depend on elements of different sets."""
    if not a.binders or [x.type for x, _ in a.binders] != [x.type for x, _ in b.binders]:
        return None
    if any(not isinstance(domain, k.TypeDomain) for _, domain in (*a.binders, *b.binders)):
        return None
    names: dict[str, k.Local] = {y.name: x for (x, _), (y, _) in zip(a.binders, b.binders, strict=True)}
    return StatePlace(b.variable, a.binders, tuple(renamed(g, names) for g in b.guards), renamed(b.term, names))


def _statement(places: Sequence[StatePlace], conclusion: k.Expr, premises: tuple[k.Expr, ...] = ()) -> k.Expr:
    parts = [*premises, *dict.fromkeys(guard for place in places for guard in place.guards)]
    premise = parts[0] if len(parts) == 1 else k.Logic(t.BOOL, "and", tuple(parts)) if parts else None
    body = conclusion if premise is None else k.Logic(t.BOOL, "implies", (premise, conclusion))
    binders = dict.fromkeys(each for place in places for each in place.binders)
    for binder, domain in reversed(binders):
        body = k.Quantified(t.BOOL, "forall", binder, domain, body)
    return body


def renamed(expr: k.Expr, names: dict[str, k.Local]) -> k.Expr:
    """The expression with bound variables replaced."""
    return with_parts_replaced(expr, lambda each: names.get(each.name) if isinstance(each, k.Local) else None)


def nearby(kernel: k.Kernel, names: frozenset[str]) -> frozenset[str]:
    """The variables of a property, and those whose values are assigned to them."""
    found = set(names)
    for name in kernel.next:
        for each in assignments(kernel.action(name).body):
            if each.variable in names:
                found |= variables_of(each.value)
    return frozenset(found)


def written(kernel: k.Kernel, action: str) -> frozenset[str]:
    """The variables that an action may change."""
    return frozenset(each.variable for each in assignments(kernel.action(action).body))
