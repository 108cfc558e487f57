"""Invariants, lemmas, transitions, reachables, temporal properties, ``terminal``, ``show`` and ``accept bounds``.

Invariants, lemmas and transitions of every unit are properties of the system, under qualified names; those of an array
hold for every index. Reachables, temporal properties, ``terminal``, ``show`` and accepted bounds come from the top
module alone. They are about the system that a module makes when it is the top one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from assay.grammar import kernel, syntax
from assay.grammar.current_work import doing
from assay.grammar.diagnostics.diagnostic import Diagnostics, Note, Span
from assay.grammar.diagnostics.suggest import did_you_mean
from assay.grammar.elaborate.expressions.dispatch import context, elaborate_condition, elaborate_expression
from assay.grammar.elaborate.modules.module_instance import Unit
from assay.grammar.elaborate.modules.parameter_domains import whole_domain
from assay.grammar.elaborate.patterns.binding import bind
from assay.grammar.elaborate.scopes.fresh_names import Fresh
from assay.grammar.elaborate.scopes.labels import place_label
from assay.grammar.elaborate.scopes.rewrite import rewritten, uses, with_fresh_binders
from assay.grammar.elaborate.scopes.scope import present
from assay.grammar.elaborate.scopes.type_relations import ERROR
from assay.grammar.formatting.format import format_expression
from assay.grammar.kernel.types import BOOL
from assay.grammar.lazy_dataclass import dataclass

_KINDS: dict[syntax.PropertyKind, kernel.PropertyKind] = {
    "invariant": "invariant",
    "lemma": "lemma",
    "transition": "transition",
    "reachable": "reachable",
    "property": "temporal",
}
_OF_EVERY_UNIT = ("invariant", "lemma", "transition")


@dataclass(frozen=True, slots=True)
class PropertyElaborator:
    """Makes the kernel's properties of a unit's declarations."""

    diagnostics: Diagnostics

    def of_unit(self, unit: Unit) -> Iterator[kernel.Property]:
        """The properties that a unit contributes; the others are elaborated too, so that their mistakes are found."""
        self._check_names(unit)
        for declaration in unit.declared(syntax.Property):
            if declaration.kind == "terminal" or declaration.name is None:
                continue
            made = self._property(declaration, declaration.name, unit)
            if unit.is_top or declaration.kind in _OF_EVERY_UNIT:
                yield made

    def terminal(self, unit: Unit) -> Iterator[kernel.Conjunct]:
        """The states in which the system may stop: one condition for each ``terminal``, any of which suffices."""
        for declaration in unit.declared(syntax.Property):
            if declaration.kind == "terminal":
                parts = [each.condition for each in self._conjuncts(declaration, unit)]
                whole = parts[0] if len(parts) == 1 else kernel.Logic(BOOL, "and", tuple(parts), span=declaration.span)
                label = declaration.name.text if declaration.name else place_label(declaration.span)
                yield kernel.Conjunct(label, whole, span=declaration.span)

    def elaborate_one(self, unit: Unit, declaration: syntax.Property) -> None:
        """Find the mistakes in a declaration."""
        tuple(self._conjuncts(declaration, unit))

    def _check_names(self, unit: Unit) -> None:
        first: dict[str, syntax.Name] = {}
        # Of scenarios too: `--property NAME` chooses among both.
        for name in _names(unit):
            if name.text in first:
                note = Note("first used here", first[name.text].span)
                self.diagnostics.error(
                    "E501", name.span, f"there is already a property or scenario `{name.text}`", note
                )
            first.setdefault(name.text, name)

    def _property(self, declaration: syntax.Property, name: syntax.Name, unit: Unit) -> kernel.Property:
        kind = _KINDS[declaration.kind]
        doing(f"the {kind} `{name.text}` was translated")
        conjuncts = tuple(self._conjuncts(declaration, unit))
        return kernel.Property(unit.prefix + name.text, kind, conjuncts, declaration.doc, span=declaration.span)

    def _conjuncts(self, declaration: syntax.Property, unit: Unit) -> Iterator[kernel.Conjunct]:
        """The labelled lines; each sees what the lines before it establish, as with ``and``."""
        kind, fresh = declaration.kind, Fresh()
        steps = kind == "transition"
        scope = unit.scope.allowing(
            old=steps, new=present if steps else None, enabled=kind != "property", temporal=kind == "property"
        )
        if unit.index is not None:
            # The index's name is taken in advance, so that no local of a condition gets it (`_for_every_index`).
            fresh(unit.index.name)
        taken: dict[str, Span] = {}
        lets: list[tuple[kernel.Local, kernel.Expr]] = []
        read = 0  # so many of them stand above a line before
        for conjunct in declaration.conjuncts:
            if isinstance(conjunct, syntax.LetLine):
                value = elaborate_expression(conjunct.value, scope.allowing(temporal=False), self.diagnostics, fresh)
                local, scope = bind(conjunct.name, value.type, context(scope, self.diagnostics, fresh))
                lets.append((local, value))
                continue
            found = elaborate_condition(conjunct.condition, scope, self.diagnostics, fresh)
            # Lines are joined by `and`. So each may rely on those above, as a right side of `and` may.
            scope = found.when_true
            # Around a temporal line a `let` lists its values, which may be too many for one that is not used.
            condition = _with_lets(found.expr, lets, len(lets) if kind == "property" else read, fresh)
            read, label = len(lets), self._label(conjunct, taken)
            yield kernel.Conjunct(label, _for_every_index(condition, unit, fresh), span=conjunct.span)

    def _label(self, conjunct: syntax.Conjunct, taken: dict[str, Span]) -> str:
        if conjunct.label is None:
            label = place_label(conjunct.span)
            label = label if label not in taken else f"{label}:{conjunct.span.column}"
        else:
            label = conjunct.label.text
            if label in taken:
                note = Note("first given here", taken[label])
                self.diagnostics.error(
                    "E403", conjunct.label.span, f"there is already a line labelled `{label}` in this property", note
                )
        taken[label] = conjunct.span
        return label


def _with_lets(
    condition: kernel.Expr, lets: list[tuple[kernel.Local, kernel.Expr]], read: int, fresh: Fresh
) -> kernel.Expr:
    """The condition with the ``let`` lines above it that it uses. Each line binds names of its own.

    Those directly above it, after the first ``read``, are evaluated here also if it does not use them: what they say
    may be undefined.
    """
    for number, (local, value) in reversed(list(enumerate(lets))):
        if number >= read or uses(condition, local.name):
            condition = kernel.LetIn(condition.type, local, value, condition, span=condition.span)
    # A `let` is copied into each line that uses it, and no two lines bind one name.
    return with_fresh_binders(condition, fresh) if lets else condition


def _names(unit: Unit) -> Iterator[syntax.Name]:
    for declaration in unit.module.tree.declarations:
        match declaration:
            case syntax.Property(name=name) if name is not None:
                yield name
            case syntax.Scenario(name=name):
                yield name
            case _:
                pass


def _for_every_index(condition: kernel.Expr, unit: Unit, fresh: Fresh) -> kernel.Expr:
    """The condition for every index of an array. Each line binds an index of its own."""
    if unit.index is None or not isinstance(unit.index.expr, kernel.Local):
        return condition
    shared, own = unit.index.expr, replace(unit.index.expr, name=fresh(unit.index.name))
    body = rewritten(condition, lambda node: replace(own, span=node.span) if node == shared else node)
    domain = whole_domain(unit.index.type, condition.span).domain
    return kernel.Quantified(BOOL, "forall", own, domain, body, span=condition.span)


def elaborate_shows(unit: Unit, diagnostics: Diagnostics) -> tuple[kernel.Shown, ...]:
    """The expressions that are printed with each step of a trace."""
    fresh, scope = Fresh(), unit.scope.allowing(enabled=True)
    shown = (expr for declaration in unit.declared(syntax.Show) for expr in declaration.expressions)
    return tuple(
        kernel.Shown(format_expression(expr), elaborate_expression(expr, scope, diagnostics, fresh), span=expr.span)
        for expr in shown
    )


def elaborate_view(unit: Unit, diagnostics: Diagnostics) -> tuple[str, ...]:
    """The variables by which a check distinguishes states; none where there is no ``view``."""
    found: list[str] = []
    for expr in (expr for declaration in unit.declared(syntax.ViewDeclaration) for expr in declaration.variables):
        made = elaborate_expression(expr, unit.scope, diagnostics, Fresh())
        if isinstance(made, kernel.StateVar):
            found.append(made.name)
        elif made.type != ERROR:
            note = Note("an action computes such a value into a variable of its own", None)
            message = f"a view names state variables, and `{format_expression(expr)}` is none"
            diagnostics.error("E527", expr.span, message, note)
    return tuple(dict.fromkeys(found))


def accepted_bounds(
    lists: Iterable[syntax.AcceptBounds], bounds: Iterable[str], variables: Iterable[str], diagnostics: Diagnostics
) -> frozenset[str]:
    """The labels of accepted bounds; the name of a variable, with or without `capacity of`, stands for its capacity."""
    labels, capacities = set(bounds), set(variables)
    found: set[str] = set()
    for path in (path for accepted in lists for path in accepted.labels):
        name = str(path)
        if name in labels:
            found.add(name)
        elif name.removeprefix("capacity of ") in capacities:
            found.add(f"capacity of {name.removeprefix('capacity of ')}")
        else:
            guess = did_you_mean(name, labels | capacities)
            known = (
                f"the bounds are {', '.join(sorted(labels | capacities))}"
                if labels | capacities
                else "there are no bounds"
            )
            advice = f"did you mean `{guess}`?" if guess else known
            diagnostics.error("E502", path.span, f"there is no bound labelled `{name}`", advice)
    return frozenset(found)
