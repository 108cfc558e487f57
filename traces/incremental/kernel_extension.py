"""Kernels for a growing log: up to which time slices are the same in a kernel whose sets gained elements.

A new process or session is a new element of a set parameter, which makes another kernel. Why slices may ignore new
elements, and under which conditions, is shown in docs/design/kernel-extension.md.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from math import inf
from typing import Any

from assay.checker.interpreter.expressions.traverse import free_locals, variables_of
from assay.checker.interpreter.values.sort_occurrence import mentions
from assay.checker.interpreter.values.undefined import Undefined
from assay.grammar import kernel as k
from assay.grammar.identity_memo import IdentityMemo, IdentityTupleMemo
from assay.grammar.kernel import types as t
from assay.grammar.values import Atom, FrozenMap, Value
from assay.traces.observe.decomposition import Split
from assay.traces.observe.model_size import is_sized
from assay.traces.slices.slice_context import Joint
from assay.traces.slices.slice_validator import Joiner
from assay.traces.slices.timeline.shared_timeline import Chain, agree_before

LATEST = 1e300
"""Later than all lines. In another kernel nothing counts as the same but what slices read, so the answer is never
``inf``.
"""

Added = Mapping[str, frozenset[str]]
"""The new elements of each set parameter that has some."""


def slices_equal_before(old: Joiner, new: Joiner) -> float:
    """Before which time slices are the same in both kernels; ``-inf`` if that cannot be shown."""
    added = _added(old.joint.split.kernel, new.joint.split.kernel)
    # Where the old model was too small, its answers rest on that, and a larger one may have others.
    if added is None or old.model.overflowed or not _are_equal_for_slices(old.joint, new.joint, frozenset(added)):
        return -inf
    if _begin(old) != _begin(new) or not _cannot_distinguish(new, frozenset(added)):
        return -inf
    mine, its = (_without(each.joint.chain, each.joint, added) for each in (old, new))
    return min(agree_before(mine, its), _disabled_before(new, added), LATEST)


def _added(old: k.Kernel, new: k.Kernel) -> Added | None:
    """The elements that sets gained; None if a set lost an element, changed its order, or its elements can be named."""
    sorts = {sort.name: sort for sort in new.sorts}
    found: dict[str, frozenset[str]] = {}
    for sort in old.sorts:
        now = sorts.get(sort.name)
        if now is None or now.elements == sort.elements:
            continue
        if not now.symmetric or tuple(each for each in now.elements if each in sort.elements) != sort.elements:
            return None
        found[sort.name] = frozenset(now.elements) - frozenset(sort.elements)
    return found if [sort.name for sort in old.sorts] == [sort.name for sort in new.sorts] else None


def _begin(joiner: Joiner) -> tuple[Value, ...]:
    """The initial values of a slice."""
    state = joiner.model.states[joiner.model.initial[0]]
    return tuple(state[i] for i in joiner.joint.split.own)


# ------------------------------------------------------------------------------------ equality of kernels for slices


def _parts(joint: Joint) -> tuple[object, ...]:
    """Everything in kernel and clause that the check of a slice reads."""
    divided, plan = joint.split, joint.split.plan_of_slices(joint.plan)
    own = {divided.kernel.variables[i].name for i in divided.own}
    asked = [p for p in divided.kernel.properties if any(variables_of(c.condition) & own for c in p.conjuncts)]
    return (
        _variables(joint),
        _actions(divided, plan),
        tuple(asked),
        (
            plan.rules,
            plan.ignored,
            plan.hidden,
            plan.ordering,
            plan.slicing,
        ),  # not hidden_limit: it is read only where a version is skipped, and such slices are checked whole
        (plan.numbered, plan.threads, plan.reported, plan.ends),
        (divided.shared, divided.own, joint.partial, joint.begun, joint.late, joint.supposes),
    )


def _variables(joint: Joint) -> tuple[k.Variable, ...]:
    return tuple(joint.split.kernel.variables[i] for i in (*joint.split.own, *joint.seen))


def _actions(divided: Split, plan: k.TracePlan) -> tuple[k.Action, ...]:
    """The actions that a slice may take, without their bounds, which do not limit a log."""
    called = {call.action for rule in plan.rules for steps in rule.steps for call in steps}
    names = called | {*plan.hidden, *(name for name in plan.numbered if name in divided.actions)}
    return tuple(
        replace(
            action, body=tuple(each for each in action.body if not isinstance(each, k.Guard) or each.kind != "bound")
        )
        for action in divided.kernel.actions
        if action.name in names
    )


def _are_equal_for_slices(old: Joint, new: Joint, grown: frozenset[str]) -> bool:
    """Whether kernels and clauses are equal for slices except for the elements of some sets, and for sizes that no
    choice ranges over.
    """
    plan = new.split.plan_of_slices(new.plan)
    chosen = (action for action in _actions(new.split, plan) if action.name in plan.numbered)
    # An update without a line may take any argument. With a larger range it may take a larger one, so that more updates
    # become possible.
    if any(is_sized(p.binder.type) for action in chosen for p in action.parameters):
        return False
    return _equal(_parts(old), _parts(new), grown)


def _equal(one: object, other: object, grown: frozenset[str]) -> bool:
    if one is other:
        return True
    if one.__class__ is not other.__class__:
        return False
    if isinstance(one, t.Sort) and isinstance(other, t.Sort) and one.name in grown:
        return (one.name, one.symmetric) == (other.name, other.symmetric)
    # The upper end of a sized range grows with the log and is never chosen as a value, so it is not compared.
    if isinstance(one, t.RangeType) and isinstance(other, t.RangeType) and one.sized:
        return (one.low, one.sized, one.sized_below) == (other.low, other.sized, other.sized_below)
    if isinstance(one, t.MapType) and isinstance(other, t.MapType) and _holds_all(one) and _holds_all(other):
        return _equal((one.key, one.value), (other.key, other.value), grown)
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(lambda a, b: _equal(a, b, grown), one, other))
    if is_dataclass(one):
        return all(_equal(getattr(one, name), getattr(other, name), grown) for name in _names(type(one)))
    return one == other


def _holds_all(type_: t.MapType) -> bool:
    """Whether a partial map can hold an entry for each of its possible keys."""
    key = type_.key
    return type_.partial and isinstance(key, t.RangeType) and key.sized and type_.capacity == key.high - key.low + 1


def _names(kind: Any) -> tuple[str, ...]:
    """The fields of a class that take part in comparisons."""
    found = _known_names.get(kind)
    if found is None:
        found = _known_names[kind] = tuple(each.name for each in fields(kind) if each.compare)
    return found


_known_names: dict[Any, tuple[str, ...]] = {}


# --------------------------------------------------------------------------------------- dependence on single elements


def _cannot_distinguish(joiner: Joiner, grown: frozenset[str]) -> bool:
    """Whether nothing in a slice enumerates the elements of these sets, or looks at a map of them as a whole."""
    divided = joiner.joint.split
    plan = joiner.model.plan
    if any(mentions(divided.kernel.variables[i].type, grown) for i in divided.own):
        return False
    actions = _actions(divided, plan)
    parameters = [p for action in actions for p in action.parameters if mentions(p.binder.type, grown)]
    if not all(isinstance(p.binder.type, t.AtomType) and isinstance(p.domain, k.TypeDomain) for p in parameters):
        return False
    asked = [(rule.condition, rule.then, rule.observe, rule.at) for rule in plan.rules]
    bodies = [action.body for action in actions]
    names = {divided.kernel.variables[i].name for i in divided.own}
    properties = [p.conjuncts for p in divided.kernel.properties if _reads(p, names)]
    return not any(_goes_through(each, grown) for each in (*asked, *bodies, *properties))


def _reads(prop: k.Property, names: Collection[str]) -> bool:
    return any(not variables_of(part.condition).isdisjoint(names) for part in prop.conjuncts)


def _goes_through(node: object, grown: frozenset[str]) -> bool:
    """Whether a part of the kernel depends on which elements exist, beyond those that it is given."""
    match node:
        case k.Lookup(_, k.StateVar(), key):
            return _goes_through(key, grown)
        # All elements are looked at, so one more of them may change the value.
        case k.TypeDomain(_, of) if mentions(of, grown):
            return True
        # A constant holds elements by their index, which a new element before them changes.
        case k.Const(type_, value) if value is not None and mentions(type_, grown):
            return True
        case k.Expr() if _is_keyed_by(node.type, grown):
            return True
        case tuple():
            return any(_goes_through(each, grown) for each in node)
        case k.Node():
            return any(_goes_through(getattr(node, name), grown) for name in _names(type(node)))
        case _:
            return False


def _is_keyed_by(type_: object, grown: frozenset[str]) -> bool:
    """Whether values of a type contain maps with such elements as keys."""
    if isinstance(type_, t.MapType) and mentions(type_.key, grown):
        return True
    if isinstance(type_, tuple):
        return any(_is_keyed_by(each, grown) for each in type_)
    return is_dataclass(type_) and any(_is_keyed_by(getattr(type_, name), grown) for name in _names(type(type_)))


# --------------------------------------------------------------------------------------------- over the shared timeline


def _without(chain: Chain, joint: Joint, added: Added) -> Chain:
    """The shared timeline with elements replaced by their names, without the map entries of new ones."""
    known = IdentityMemo[object, object]()

    def named(value: object) -> object:
        return known.get_or_make(value, lambda each: _named(each, added, named))

    return replace(chain, states=tuple(tuple(named(state[i]) for i in joint.seen) for state in chain.states))


def _named(value: object, added: Added, named: object) -> object:
    assert callable(named)
    match value:
        case Atom(sort, _, name):
            return sort, name
        case FrozenMap():
            # Entries of new elements are left out, because the old timeline could not have had them.
            kept = ((key, each) for key, each in value.items() if not _is_new(key, added))
            return frozenset((named(key), named(each)) for key, each in kept)
        case frozenset():
            return frozenset(map(named, value))
        case tuple():
            return value.__class__, *map(named, value)
        case _:
            return value


def _is_new(key: object, added: Added) -> bool:
    return isinstance(key, Atom) and key.name in added.get(key.sort, ())


def _disabled_before(joiner: Joiner, added: Added) -> float:
    """The time of the first shared state in which an action might take a new element that no line names; ``inf`` if
    there is none.
    """
    chain = joiner.joint.chain
    open_ = [
        (*each, _read(joiner, each[0]))
        for action in _actions(joiner.joint.split, joiner.model.plan)
        for each in _open(joiner, action, added)
    ]
    disabled = IdentityTupleMemo[bool]()
    for state, time in zip(chain.states, chain.earliest, strict=True):
        number: int | None = None
        for guards, binder, atoms, read in open_:
            key = binder, *(state[i] for i in read)
            is_idle = disabled.get(key)
            # The state is numbered only if it is needed: most states of a long log differ in nothing that these guards
            # read.
            if is_idle is None:
                number = joiner.model.number(state) if number is None else number
                refused = all(_is_refused(joiner, guards, binder.name, atom, number) for atom in atoms)
                is_idle = disabled.put(key, None, refused)
            if not is_idle:
                return time
    return inf


Open = tuple[tuple[k.Guard, ...], k.Local, Sequence[Atom]]
"""The guards that read only this parameter and shared state; a parameter that may be any element; and the new elements.
"""


def _open(joiner: Joiner, action: k.Action, added: Added) -> Iterator[Open]:
    """The parameters of an action that may be a new element without a line that names it."""
    plan, divided = joiner.model.plan, joiner.joint.split
    own = {divided.kernel.variables[i].name for i in divided.own}
    calls = [c for rule in plan.rules for steps in rule.steps for c in steps if c.action == action.name]
    free = action.name in plan.hidden or action.name in plan.numbered
    for at, parameter in enumerate(action.parameters):
        sort = parameter.binder.type
        if (
            isinstance(sort, t.AtomType)
            and sort.sort.name in added
            and (free or any(c.arguments[at] is None for c in calls))
        ):
            names = sort.sort.elements
            atoms = [Atom(sort.sort.name, names.index(name), name) for name in sorted(added[sort.sort.name])]
            guards = (
                s for s in action.body
                if isinstance(s, k.Guard) and s.kind == "when" and variables_of(s.condition).isdisjoint(own)
                and free_locals(s.condition) <= {parameter.binder.name}
            )  # fmt: skip
            yield tuple(guards), parameter.binder, atoms


def _read(joiner: Joiner, guards: Sequence[k.Guard]) -> list[int]:
    names = {name for guard in guards for name in variables_of(guard.condition)}
    return [i for i, variable in enumerate(joiner.model.kernel.variables) if variable.name in names]


def _is_refused(joiner: Joiner, guards: Sequence[k.Guard], name: str, atom: Atom, state: int) -> bool:
    """Whether one of the guards is certainly false."""
    for guard in guards:
        try:
            if joiner.model.value(guard.condition, {name: atom}, state) is False:
                return True
        # A guard without a value refuses nothing for certain.
        except Undefined:
            continue
    return False
