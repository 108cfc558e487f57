"""Initial states and actions as TLA+ definitions, and which instances only a bound keeps from happening."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from assay.checker.interpreter.expressions.traverse import assignments, locals_of
from assay.checker.interpreter.values.domains import cardinality
from assay.checker.interpreter.values.type_check import capacity_check
from assay.checker.tla.expressions.dispatch import let_in
from assay.checker.tla.expressions.formula import Formula, compare, conjunction, implication, quantified
from assay.checker.tla.expressions.known_types import elements_fit, fits, keeps_within
from assay.checker.tla.expressions.range_checks import in_range, within_capacity
from assay.checker.tla.expressions.scope import TlaScope
from assay.checker.tla.expressions.temporal import unchanging
from assay.checker.tla.nondeterminism import asked
from assay.checker.tla.update_conflicts import apart
from assay.checker.tla.updates import Current, nothing, part_type, value_after
from assay.grammar import kernel as k
from assay.grammar.kernel.types import MapType, Type

Rest = Callable[[TlaScope], list[Formula]]


def initial(kernel: k.Kernel, scope: TlaScope) -> Formula:
    """The initial states. A ``bound`` among their conditions, or a capacity, excludes a state."""
    return conjunction(_initial(kernel, list(kernel.init.body), [], scope))


def _initial(kernel: k.Kernel, body: list[k.Statement], updates: list[k.Statement], scope: TlaScope) -> list[Formula]:
    """Picks come first, then the values of the variables, which read no state, then the conditions."""
    for at, each in enumerate(body):
        rest = body[at + 1 :]
        if isinstance(each, k.Let):
            return [let_in(each.binder, each.value, scope, partial(_all, partial(_initial, kernel, rest, updates)))]
        if isinstance(each, k.Pick):
            # `x \in S` reads better than a bound name, and TLC makes no copies of the rest.
            if _is_free(each, rest):
                return [*_choice(kernel, each, rest[0], scope), *_initial(kernel, rest[1:], updates, scope)]
            return [_pick(each, scope, partial(_initial, kernel, rest, updates))]
        # Kept until all picks are bound: right-hand sides may mention any of them.
        updates = [*updates, each]
    found = _apart(kernel.variables, updates, scope)
    for variable in kernel.variables:
        if any(assign.variable == variable.name for assign in assignments(updates)):
            value = value_after(variable, updates, nothing(scope), scope).formula
            found.append(compare(scope.variable(variable.name), "=", value))
    capacities = _capacities(kernel.variables, updates, scope)
    conditions = [asked(guard.condition, scope).noted(_note(guard)) for guard in kernel.init.conditions]
    return [*found, *capacities, *conditions]


def _all(items: Rest, scope: TlaScope) -> Formula:
    return conjunction(items(scope))


def _is_free(pick: k.Pick, rest: Sequence[k.Statement]) -> bool:
    """Whether a pick is used for nothing but the initial value of a variable."""
    match rest:
        case [k.Assign(_, _, (), k.Local(_, name)), *others] if name == pick.binder.name:
            return all(name not in locals_of(each) for each in others)
        case _:
            return False


def _choice(kernel: k.Kernel, pick: k.Pick, assign: k.Statement, scope: TlaScope) -> list[Formula]:
    assert isinstance(assign, k.Assign)
    chosen = compare(scope.variable(assign.variable), "\\in", scope.formula(pick.domain))
    if _elements_are(pick.domain, assign.type):
        return [chosen]
    return [chosen, *_within([each for each in kernel.variables if each.name == assign.variable], scope)]


def _elements_are(domain: k.Expr, of: Type) -> bool:
    """Whether the elements of a set are values of the type, capacities included."""
    match domain:
        case k.TypeDomain(_, known):
            return known == of
        case k.Filter(_, _, inner):
            return _elements_are(inner, of)
        case _:
            return False


def _pick(pick: k.Pick, scope: TlaScope, rest: Rest) -> Formula:
    name, inner = scope.bind(pick.binder, fits=elements_fit(pick.domain, scope.fitting))
    return quantified("\\E", name, scope.formula(pick.domain), conjunction(rest(inner)))


def _note(guard: k.Guard) -> str:
    return f"bound {guard.label}" if guard.kind == "bound" else guard.label


def _apart(variables: Sequence[k.Variable], body: Sequence[k.Statement], scope: TlaScope) -> list[Formula]:
    return [each for variable in variables if (each := apart(variable, body, scope)) is not None]


def _capacities(variables: Sequence[k.Variable], body: Sequence[k.Statement], scope: TlaScope) -> list[Formula]:
    """The variables respect their capacities, as far as the updates could exceed them."""
    kept = {
        variable.name: [_keeps_within(variable, each) for each in assignments(body) if each.variable == variable.name]
        for variable in variables
    }
    return _within([variable for variable in variables if not all(kept[variable.name])], scope)


def _within(variables: Sequence[k.Variable], scope: TlaScope) -> list[Formula]:
    asked = [(each.name, within_capacity(scope.variable(each.name), each.type, scope)) for each in variables]
    return [within.noted(f"capacity of {name}") for name, within in asked if within is not None]


def _keeps_within(variable: k.Variable, assign: k.Assign) -> bool:
    of = variable.type
    for step in assign.path:
        # The map itself may gain the key, whatever the value is.
        if isinstance(of, MapType) and of.partial:
            return capacity_check(variable.type) is None
        of = part_type(of, step)
    return keeps_within(assign.value, assign.type)


def can_be_cut(kernel: k.Kernel, action: k.Action, scope: TlaScope) -> bool:
    """Whether a bound or a capacity can keep an instance of the action from happening."""
    if any(isinstance(each, k.Guard) and each.kind == "bound" for each in action.body):
        return True
    return bool(_capacities(kernel.variables, action.body, scope))


def _touched(kernel: k.Kernel, action: k.Action) -> list[k.Variable]:
    names = {assign.variable for assign in assignments(action.body)}
    return [variable for variable in kernel.variables if variable.name in names]


def parameters(action: k.Action, scope: TlaScope) -> tuple[list[str], TlaScope]:
    """The names of an action's parameters, and the scope of its body."""
    names = []
    for parameter in action.parameters:
        name, scope = scope.bind(parameter.binder, fits=True)
        names.append(name)
    return names, scope


def step(kernel: k.Kernel, action: k.Action, scope: TlaScope) -> Formula:
    """What the action does."""
    return conjunction(_steps(kernel, action, list(action.body), scope))


def _steps(kernel: k.Kernel, action: k.Action, body: list[k.Statement], scope: TlaScope) -> list[Formula]:
    made: list[Formula] = []
    for at, each in enumerate(body):
        rest = partial(_steps, kernel, action, body[at + 1 :])
        if isinstance(each, k.Guard):
            made.append(asked(each.condition, scope).noted(_note(each)))
        elif isinstance(each, k.Let) and _holds_guards(body[at + 1 :]):
            return [*made, let_in(each.binder, each.value, scope, partial(_all, rest))]
        elif isinstance(each, k.Pick):
            return [*made, _pick(each, scope, rest)]
        else:
            # A name that only updates need is written there.
            return [*made, *_update(kernel, action, body[at:], scope)]
    return [*made, *_update(kernel, action, [], scope)]


def _update(kernel: k.Kernel, action: k.Action, body: list[k.Statement], scope: TlaScope) -> list[Formula]:
    """The values after the step, then the capacities that they must respect, then what is unchanged."""
    if body and isinstance(body[0], k.Let):
        let, rest = body[0], body[1:]
        return [let_in(let.binder, let.value, scope, partial(_all, partial(_update, kernel, action, rest)))]
    after = scope.after()
    touched = _touched(kernel, action)
    made = _apart(touched, body, scope)
    for variable in touched:
        value = value_after(variable, body, Current(scope.variable(variable.name)), scope).formula
        made.append(compare(after.variable(variable.name), "=", value))
    # After the values: TLC has to know a primed variable before it can be read.
    made += _capacities(touched, body, after)
    kept = [variable for variable in kernel.variables if variable not in touched]
    return [*made, unchanging(kept, scope)] if kept else made


def _holds_guards(body: Sequence[k.Statement]) -> bool:
    return any(isinstance(each, k.Guard | k.Pick) for each in body)


def possible(action: k.Action, scope: TlaScope) -> Formula | None:
    """An instance of the action could happen without bounds and capacities; None if one always could."""
    names, inner = parameters(action, scope)
    made = _possible(list(action.body), inner)
    for parameter, name in reversed(list(zip(action.parameters, names, strict=True))):
        domain = scope.formula(parameter.domain)
        if made is not None:
            made = quantified("\\E", name, domain, made)
        # With nothing to ask of an instance, one exists if there is a value for each parameter.
        elif not (isinstance(parameter.domain, k.TypeDomain) and cardinality(parameter.domain.of) > 0):
            made = compare(domain, "#", Formula("{}"))
    return made


def _possibly(body: list[k.Statement], scope: TlaScope, *, bounded: bool = False) -> Formula:
    return _possible(body, scope, bounded=bounded) or Formula("TRUE")


def _possible(body: list[k.Statement], scope: TlaScope, *, bounded: bool = False) -> Formula | None:
    """The guards without bounds. What is undefined after a bound (``bounded``) counts as cut off by it."""
    made: list[Formula] = []
    for at, each in enumerate(body):
        rest = body[at + 1 :]
        if isinstance(each, k.Guard):
            bounded = bounded or each.kind == "bound"
            made += [scope.formula(each.condition)] if each.kind == "when" else []
        elif isinstance(each, k.Let) and _holds_guards(rest):
            named = _possible_within if bounded and isinstance(each.value, k.Checked) else _possible_with
            return conjunction([*made, named(each, rest, scope, bounded=bounded)])
        elif isinstance(each, k.Pick):
            name, inside = scope.bind(each.binder, fits=elements_fit(each.domain, scope.fitting))
            domain = scope.formula(each.domain)
            later = _possible(rest, inside, bounded=bounded)
            some = compare(domain, "#", Formula("{}")) if later is None else quantified("\\E", name, domain, later)
            return conjunction([*made, some])
    return conjunction(made) if made else None


def _possible_with(let: k.Let, rest: list[k.Statement], scope: TlaScope, *, bounded: bool) -> Formula:
    return let_in(let.binder, let.value, scope, partial(_possibly, rest, bounded=bounded))


def _possible_within(let: k.Let, rest: list[k.Statement], scope: TlaScope, *, bounded: bool) -> Formula:
    """What follows a checked value after a bound: if the value is out of range, the bound has cut the instance off."""
    assert isinstance(let.value, k.Checked)
    if fits(let.value.operand, let.value.type, scope.fitting):
        return _possible_with(let, rest, scope, bounded=bounded)
    operand = let.value.operand
    within = in_range(scope.formula(operand), let.value.type, scope)
    found = let_in(let.binder, operand, scope, partial(_possibly, rest, bounded=bounded))
    return implication(within, found)
