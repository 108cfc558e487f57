"""Cardinality of sets of open size in the second encoding: sets become elements of a sort of their own, with laws about
their sizes.

First-order logic cannot count. Everything asserted about a size follows from laws of all finite sets. A set is empty or
has an element. A subset has no more elements, and as many only if it is the whole. One element more is one more. Two
sets that have together more elements than there are intersect: majorities need that. The laws are incomplete: more may
happen here than with real sets, never less.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import z3


class _SetSort:
    """The sort of sets of elements of one sort."""

    def __init__(self, of: Any) -> None:
        self.sort = z3.DeclareSort(f"sets of {of}")
        self.member = z3.Function(f"{of} in set", of, self.sort, z3.BoolSort())
        self.number = z3.Function(f"number of {of}", self.sort, z3.IntSort())
        self.whole = z3.Const(f"all of {of}", self.sort)
        self.laws = self._laws(of)

    def _laws(self, of: Any) -> list[Any]:
        a, b, x, y = z3.Const("a", self.sort), z3.Const("b", self.sort), z3.Const("x", of), z3.Const("y", of)
        # Functions instead of "there is an element": each names one that has to exist (Skolem).
        only, both, some, other = (
            z3.Function(f"{name} {of}", *given, of)
            for name, given in {
                "only": (self.sort, self.sort),
                "both": (self.sort, self.sort),
                "some": (self.sort,),
                "other": (self.sort, self.sort, of),
            }.items()
        )
        isin, of_a, of_b = self.member, self.number(a), self.number(b)
        x_in_a, x_in_b, y_in_b = isin(x, a), isin(x, b), isin(y, b)
        # Z3 does not hold a reference to the terms of a pattern while it is made. These names keep them alive.
        sizes, with_x, with_y = (z3.MultiPattern(*each) for each in ((of_a, of_b), (of_a, x_in_b), (of_a, y_in_b)))
        in_a_alone = z3.And(isin(only(a, b), a), z3.Not(isin(only(a, b), b)))
        in_both = z3.And(isin(both(a, b), a), isin(both(a, b), b))
        another = z3.And(isin(other(a, b, x), b), z3.Not(isin(other(a, b, x), a)), other(a, b, x) != x)
        # A pattern says for which terms Z3 uses a law: those sets whose sizes are asked for, and no others.
        more_than_all = of_a + of_b > self.number(self.whole)
        return [
            z3.ForAll([x], isin(x, self.whole)),
            z3.ForAll([a], of_a >= 0),
            z3.ForAll([a, x], z3.Implies(x_in_a, of_a > 0)),
            z3.ForAll([a], z3.Implies(of_a > 0, isin(some(a), a)), patterns=[of_a]),
            z3.ForAll([a, b], z3.Implies(of_a > of_b, in_a_alone), patterns=[sizes]),
            z3.ForAll(
                [a, b, y],
                z3.Implies(z3.And(of_a == of_b, y_in_b, z3.Not(isin(y, a))), in_a_alone),
                patterns=[with_y],
            ),
            z3.ForAll([a, b, x], z3.Implies(z3.And(x_in_b, of_b > of_a + 1), another), patterns=[with_x]),
            z3.ForAll([a, b], z3.Implies(more_than_all, in_both), patterns=[sizes]),
        ]


class Sizes:
    """The sizes that were read. One read below a quantifier may mention its variables, so these must be announced by
    ``under``."""

    def __init__(self) -> None:
        self._sorts: dict[str, _SetSort] = {}
        self._definitions: dict[str, tuple[_SetSort, Any]] = {}
        self._named: dict[tuple[int, ...], Any] = {}
        self._scope: list[Any] = []
        self._kept: list[Any] = []

    @property
    def are_asked(self) -> bool:
        """Whether any size was read."""
        return bool(self._sorts)

    @contextmanager
    def under(self, variables: Sequence[Any]) -> Iterator[None]:
        """Inside, what is read is below a quantifier over these variables."""
        before = len(self._scope)
        self._scope += variables
        try:
            yield
        finally:
            del self._scope[before:]

    def number(self, of: Any, contains: Callable[[Any], Any]) -> Any:
        """The size of a set of elements of a sort, given by its membership."""
        if str(of) not in self._sorts:
            self._sorts[str(of)] = _SetSort(of)
        sets = self._sorts[str(of)]
        x = z3.FreshConst(of, "element")
        with self.under([x]):  # numbers may be asked for about each element
            inside = z3.simplify(contains(x))
        if z3.is_true(inside):
            self._definitions.setdefault(str(sets.whole), (sets, z3.BoolVal(True)))
            return sets.number(sets.whole)
        # Variables of quantifiers around, on which the set depends, become arguments of its name.
        mentioned = {each.get_id() for each in _parts(inside)}
        free = [each for each in self._scope if each.get_id() in mentioned]
        return sets.number(self._name(sets, x, inside, free)(*free))

    def _name(self, sets: _SetSort, x: Any, inside: Any, free: Sequence[Any]) -> Any:
        """The function from the variables to the set; one function for sets that differ only in the names of
        variables."""
        item, *places = (z3.Const(f"variable {at} of {each.sort()}", each.sort()) for at, each in enumerate([x, *free]))
        body = z3.substitute(inside, (x, item), *zip(free, places, strict=True))
        key = (body.get_id(), *(each.get_id() for each in places))
        if key not in self._named:
            name = f"set {len(self._named)}"
            made = z3.Function(name, *(each.sort() for each in places), sets.sort)
            said = sets.member(item, made(*places))
            self._definitions[name] = (sets, z3.ForAll([*places, item], said == body, patterns=[said]))
            self._named[key] = made
            self._kept += [body, *places]  # an identity is another's once the term is gone
        return self._named[key]

    def laws(self, asked: Sequence[Any]) -> list[Any]:
        """The laws about the sets that the formulas mention, and those sets."""
        if not self._sorts:
            return []
        found: dict[str, tuple[_SetSort, Any]] = {}
        left = list(asked)
        while left:
            names = {each.decl().name() for each in _parts(left.pop()) if z3.is_app(each)}
            new = {name: self._definitions[name] for name in names & self._definitions.keys() - found.keys()}
            found |= new
            left += [definition for _, definition in new.values()]
        sorts = dict.fromkeys(sets for sets, _ in found.values())
        return [*(law for sets in sorts for law in sets.laws), *(definition for _, definition in found.values())]


def _parts(formula: Any) -> Iterator[Any]:
    """A formula and all that it is made of, each once."""
    seen: set[int] = set()
    left = [formula]
    while left:
        each = left.pop()
        if each.get_id() in seen:
            continue
        seen.add(each.get_id())
        yield each
        left += [each.body()] if z3.is_quantifier(each) else each.children()
