"""An inductive invariant in the language: each excluded cube of bits becomes a statement about values, for all
symmetric elements.

If a set of states is inductive, so is its image under a permutation of a symmetric set. So is the intersection of all
images. Hence a statement found about two elements may be made about every two.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import permutations, product
from math import factorial, prod

from assay.checker.aig.bit_blaster import owned_bits
from assay.checker.interpreter.expressions.traverse import descendants
from assay.checker.print_kernel import print_expression
from assay.checker.symbolic.certificate.bits_to_places import Leaf, Term, leaves
from assay.checker.symbolic.certificate.candidates import renamed
from assay.checker.symbolic.certificate.statements import idiomatic_text
from assay.checker.symbolic.certificate.terms import Rename
from assay.checker.symbolic.encode.transition_system import System
from assay.checker.symbolic.encode.verdict import Cube
from assay.grammar import kernel as k
from assay.grammar.kernel import types as t
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.values import Atom

MOST_PERMUTATIONS = 1000
"""Beyond this many permutations, equal statements about different elements may stay unrecognised, and are all kept."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """Statements that hold initially, are preserved together by every step, and together imply the property."""

    conjuncts: tuple[k.Conjunct, ...]

    @property
    def lines(self) -> tuple[str, ...]:
        """The statements as lines of a spec."""
        return tuple(idiomatic_text(each.condition) for each in self.conjuncts)


def statements(system: System, cubes: Sequence[Cube]) -> list[k.Expr]:
    """The statements that no state is in a cube. Raises ``InexpressibleError`` where the language cannot express some
    bits."""
    writer = _Writer(system)
    found: dict[str, k.Expr] = {}
    # Short statements first: `Induction.needed` tries the last ones first when it leaves some out.
    for cube in sorted(cubes, key=lambda each: (len(each), each)):
        statement = writer.statement(cube)
        if statement is None:
            continue
        # By text: two expressions that print alike are one line of a spec.
        found.setdefault(print_expression(statement), statement)
    return list(found.values())


class _Writer:
    def __init__(self, system: System) -> None:
        self._sorts = [sort for sort in system.kernel.sorts if sort.symmetric]
        self._owned = owned_bits(system.layout)
        self._leaf_of: dict[int, Leaf] = {}
        for leaf in leaves(system.layout, system.kernel.variables):
            for at in range(leaf.shift, leaf.shift + leaf.width):
                self._leaf_of[at] = leaf
        self._taken = _names_in(system.kernel)
        self._written = _binders_in(system.kernel)
        self._names = {atom: k.Local(t.AtomType(sort), atom.name) for sort in self._sorts for atom in _atoms(sort)}

    def statement(self, cube: Cube) -> k.Expr | None:
        """The statement of a cube, with elements named so that equal statements look equal; None if no state can be in
        the cube."""
        conditions = self._conditions(cube)
        if conditions is None:
            return None
        plain = [term(self._names) for term in conditions]
        used = dict.fromkeys(e.name for part in plain for e in (part, *descendants(part)) if isinstance(e, k.Local))
        # Cubes that differ by a permutation get the same least text, and `statements` keeps one of them.
        best = min((self._parts(conditions, order) for order in self._orders(used)), key=_texts)
        return self._quantified(best)

    def _orders(self, used: Iterable[str]) -> Iterator[dict[Atom, k.Local]]:
        """The ways to name the used elements by the first elements of their set."""
        mine = [[atom for atom in _atoms(sort) if atom.name in used] for sort in self._sorts]
        count = prod(factorial(len(atoms)) for atoms in mine)
        choices = [permutations(atoms) if count <= MOST_PERMUTATIONS else [tuple(atoms)] for atoms in mine]
        for orders in product(*choices):
            named = [(atom, first) for order, sort in zip(orders, self._sorts, strict=True)
                     for atom, first in zip(order, _atoms(sort), strict=False)]  # fmt: skip
            yield self._names | {atom: self._names[first] for atom, first in named}

    @staticmethod
    def _parts(conditions: list[Term], names: Rename) -> list[k.Expr]:
        return sorted((term(names) for term in conditions), key=print_expression)

    def _conditions(self, cube: Cube) -> list[Term] | None:
        """The conditions of a cube, part by part of the state; None if no state satisfies them."""
        fixed: dict[int, dict[int, bool]] = {}
        for literal in cube:
            at = self._owned[abs(literal) - 1]
            leaf = self._leaf_of[at]
            fixed.setdefault(leaf.shift, {})[at - leaf.shift] = literal > 0
        found: list[Term] = []
        for shift, bits in sorted(fixed.items()):
            leaf = self._leaf_of[shift]
            fits = [(all((code >> at & 1) == bit for at, bit in bits.items()), value) for code, value in leaf.options]
            wanted, others = [value for fit, value in fits if fit], [value for fit, value in fits if not fit]
            # Bits that no value has, such as those of a fourth element of three.
            if not wanted:
                return None
            if others:
                found.append(leaf.says(wanted, others))
        return found

    def _quantified(self, parts: list[k.Expr]) -> k.Expr:
        used = [each.name for part in parts for each in (part, *descendants(part)) if isinstance(each, k.Local)]
        binders: list[tuple[t.Sort, k.Local, k.Local]] = []
        for sort in self._sorts:
            mine = [name for name in dict.fromkeys(used) if name in sort.elements]
            others = {binder.name for _, _, binder in binders}
            fresh = [k.Local(t.AtomType(sort), name) for name in self._fresh(sort, len(mine), others)]
            known = {local.name: local for local in self._names.values() if local.name in mine}
            binders += [(sort, known[name], new) for name, new in zip(mine, fresh, strict=True)]
        names_of = {old.name: new for _, old, new in binders}
        parts = [renamed(part, names_of) for part in parts]
        # The cube is about different elements, so the binders of one set have to differ.
        distinct: list[k.Expr] = [
            k.Equal(t.BOOL, a, b, negated=True)
            for at, (sort, _, a) in enumerate(binders)
            for other, _, b in binders[at + 1 :]
            if sort == other
        ]
        body = _excluded([*distinct, *parts])
        for sort, _, binder in reversed(binders):
            body = k.Quantified(t.BOOL, "forall", binder, k.atom_domain(sort), body)
        return body

    def _fresh(self, sort: t.Sort, count: int, others: set[str]) -> list[str]:
        """Names for some elements: those that the spec gives such elements, if it has as many."""
        written = [name for name in self._written.get(sort.name, ()) if name not in others]
        if len(written) >= count:
            return written[:count]
        stem, names = sort.name[0].lower() + sort.name[1:], list[str]()
        for number in range(1, count + 1):
            name = f"{stem}_{number}"
            # Names do not shadow each other in the language, so a binder must not be called as anything else.
            while name in self._taken:
                name += "_"
            names.append(name)
        return names


def _texts(parts: Sequence[k.Expr]) -> list[str]:
    return [print_expression(part) for part in parts]


def _atoms(sort: t.Sort) -> list[Atom]:
    return [Atom(sort.name, at, name) for at, name in enumerate(sort.elements)]


def _names_in(kernel: k.Kernel) -> set[str]:
    names = {variable.name for variable in kernel.variables} | {action.name for action in kernel.actions}
    return names | {element for sort in kernel.sorts for element in sort.elements}


def _binders_in(kernel: k.Kernel) -> dict[str, list[str]]:
    """The names of elements by set, in the order in which properties and actions of the spec's own file bind them.

    As names do not shadow each other there, a statement of the spec may bind them too.
    """
    parts = [
        part for each in kernel.properties for conjunct in each.conjuncts for part in _parts_of(conjunct.condition)
    ]
    locals_ = [part.binder for part in parts if isinstance(part, k.Quantified)]
    locals_ += [each.binder for action in kernel.actions for each in action.parameters]
    found: dict[str, dict[str, None]] = {}
    for each in locals_:
        if isinstance(each.type, t.AtomType) and each.name.isidentifier() and each.span.file == kernel.span.file:
            found.setdefault(each.type.sort.name, {})[each.name] = None
    return {sort: list(names) for sort, names in found.items()}


def _parts_of(expr: k.Expr) -> tuple[k.Expr, ...]:
    return (expr, *descendants(expr))


def _excluded(parts: Sequence[k.Expr]) -> k.Expr:
    """Not all parts hold: as an implication whose conclusion is the negated last part."""
    *premises, last = parts
    denied = _denied(last)
    if not premises:
        return denied
    premise = premises[0] if len(premises) == 1 else k.Logic(t.BOOL, "and", tuple(premises))
    return k.Logic(t.BOOL, "implies", (premise, denied))


def _denied(part: k.Expr) -> k.Expr:
    match part:
        case k.Equal(_, left, right, negated):
            return k.Equal(t.BOOL, left, right, not negated)
        case k.Member(_, item, collection, negated):
            return k.Member(t.BOOL, item, collection, not negated)
        case k.Not(_, operand):
            return operand
        case k.Compare(_, op, left, right):
            opposite = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
            return k.Compare(t.BOOL, opposite[op], left, right)  # type: ignore[arg-type]
        case _:
            return k.Not(t.BOOL, part)


def conjuncts(statements_: Iterable[k.Expr]) -> tuple[k.Conjunct, ...]:
    """The statements, numbered."""
    return tuple(k.Conjunct(f"c{number}", each) for number, each in enumerate(statements_, start=1))
