"""The domains of action parameters and of the indices of arrays."""

from __future__ import annotations

from assay.grammar import kernel, syntax
from assay.grammar.diagnostics.diagnostic import Diagnostics, Span
from assay.grammar.elaborate.expressions.dispatch import elaborate_domain, elaborate_type
from assay.grammar.elaborate.modules.module_instance import Unit
from assay.grammar.elaborate.scopes.erroneous import failed
from assay.grammar.elaborate.scopes.rewrite import nodes
from assay.grammar.elaborate.scopes.type_relations import ERROR, ErrorType, is_sized, mentions, type_text
from assay.grammar.elaborate.types.domains import check_enumerable_type
from assay.grammar.kernel.types import AtomType, BoolType, EnumType, IntType, RangeType, SetType, Type
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.values import Atom, Value, VariantValue


@dataclass(frozen=True, slots=True)
class ParameterDomain:
    """The set of a parameter's values. ``within`` is set if the set depends on the index of an array; it then becomes a
    guard."""

    item: Type
    domain: kernel.Expr
    within: kernel.Expr | None = None


def parameter_domain(parameter: syntax.ActionParameter, unit: Unit, diagnostics: Diagnostics) -> ParameterDomain:
    """The domain of ``p: T`` or ``p in S``; S reads no state."""
    if isinstance(parameter.domain, syntax.TypeExpr):
        return _of_type(parameter.domain, unit, diagnostics)
    place = parameter.domain.span
    expr, item = elaborate_domain(parameter.domain, unit.scope, diagnostics, unit.fresh())
    if failed(expr) or _reads_state(expr, parameter, diagnostics):
        return whole_domain(ERROR, place)
    # It reads no index of an array, so it is one set for all instances.
    if not free_locals(expr):
        return ParameterDomain(item, expr)
    if mentions(item, IntType):
        what = "the set depends on the index of the instance, so the parameter needs a type: write `p: T` and a guard"
        diagnostics.error("E402", place, what)
        return whole_domain(ERROR, place)
    return ParameterDomain(item, whole_domain(item, place).domain, expr)


def _reads_state(expr: kernel.Expr, parameter: syntax.ActionParameter, diagnostics: Diagnostics) -> bool:
    """Whether a set depends on the state. Reports it: such a choice belongs into the action, as a pick."""
    read = next((node.name for node in nodes(expr) if isinstance(node, kernel.StateVar)), None)
    if read is None:
        return False
    name = parameter.name.text
    message = f"a parameter ranges over the same set in every state, and this set reads the state variable `{read}`"
    diagnostics.error("E108", parameter.domain.span, message, f"choose in the action instead: `pick {name} in …`")
    return True


def _of_type(expr: syntax.TypeExpr, unit: Unit, diagnostics: Diagnostics) -> ParameterDomain:
    type_ = elaborate_type(expr, unit.scope, diagnostics)
    if mentions(type_, ErrorType):
        return whole_domain(ERROR, expr.span)
    whole = whole_domain(type_, expr.span)
    if mentions(type_, IntType):
        what = f"a parameter ranges over a finite type, and {type_text(type_)} has infinitely many values"
        diagnostics.error("E401", expr.span, what, "give a range instead of `int`, such as `0 .. 3`")
        return whole_domain(ERROR, expr.span)
    # A log states the arguments of actions, and a size may be as large as it needs: no such domain is gone through.
    listed = not is_sized(type_) and not unit.scope.for_log
    if listed and not check_enumerable_type(type_, whole.domain, diagnostics):
        return whole_domain(ERROR, expr.span)
    return whole


def whole_domain(type_: Type, span: Span) -> ParameterDomain:
    """All values of a type."""
    return ParameterDomain(type_, kernel.TypeDomain(SetType(type_), type_, span=span))


def free_locals(expr: kernel.Expr) -> list[kernel.Local]:
    """The locals that the expression reads and does not bind itself."""
    # Names of locals are unique, so it does not matter where in the expression each is bound.
    binders = (getattr(node, "binder", None) for node in nodes(expr))
    bound = {binder.name for binder in binders if isinstance(binder, kernel.Local)}
    return [node for node in nodes(expr) if isinstance(node, kernel.Local) and node.name not in bound]


LARGEST_INDEX = 10_000
"""More instances than this in an array are a mistake."""


def index_values(type_: Type) -> list[Value] | None:
    """The values of a type that may index an array of instances, in order; None if it may not."""
    match type_:
        case BoolType():
            return [False, True]
        case RangeType(low, high, sized) if not sized and high - low < LARGEST_INDEX:
            return list(range(low, high + 1))
        case AtomType(sort):
            return [Atom(sort.name, position, name) for position, name in enumerate(sort.elements)]
        case EnumType(_, variants) if not any(variant.fields for variant in variants):
            return [VariantValue(variant.name, ()) for variant in variants]
        case _:
            return None
