"""Kernels for a log that grows: whether its slices are, up to some time, what they were in the kernel before, whose sets had fewer elements.

docs/design/kernel-extension.md: A process that starts, or a session, is a new element of a set parameter, and a kernel with more elements is another one. Elements
that no expression can name, order or count are told apart by equality alone. Let slices have no variables that hold such elements, and no expression
that goes through all of them or looks at a map of them as a whole. Then a new element can make a difference to a slice only as the
argument of an action; and where a guard that reads nothing but that argument and what is shared is false for it, the action cannot be taken. So where that
is so at each position of the shared execution, slices can do up to there what they could before, and nothing else. Size parameters limit the types of what
lines state, which are as large as these ask for, and make no difference as long as nothing exceeds them.
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
from assay.grammar.kernel import types as t
from assay.grammar.values import Atom, FrozenMap, Value
from assay.traces.observe.decomposition import Split
from assay.traces.observe.model_size import is_sized
from assay.traces.slices.slice_validator import Joiner, Joint
from assay.traces.slices.timeline.shared_timeline import Chain, agree_before

LATEST = 1e300
"""Later than all lines: in another kernel no more is taken for the same than what slices look at."""

Added = Mapping[str, frozenset[str]]
"""The new elements of each set parameter that has some."""


def alike_before(old: Joiner, new: Joiner) -> float:
    """Before which time slices are the same on both, whose kernels differ; ``-inf`` if that cannot be told."""
    added = _added(old.joint.split.kernel, new.joint.split.kernel)
    if added is None or old.model.overflowed or not _are_alike(old.joint, new.joint, frozenset(added)):
        return -inf
    if _begin(old) != _begin(new) or not _tells_nothing(new, frozenset(added)):
        return -inf
    mine, its = (_without(each.joint.chain, each.joint, added) for each in (old, new))
    return min(agree_before(mine, its), _idle_before(new, added), LATEST)


def _added(old: k.Kernel, new: k.Kernel) -> Added | None:
    """What sets have more; None if one has lost an element, or if its elements can be named."""
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
    """The values of a slice before all lines."""
    state = joiner.model.states[joiner.model.initial[0]]
    return tuple(state[i] for i in joiner.joint.split.own)


# ------------------------------------------------------------------------------------------------------ what slices are made of


def _parts(joint: Joint) -> tuple[object, ...]:
    """All that the check of a slice reads of the kernel and the clause."""
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
        ),  # the limit of hidden ones is asked where a number is skipped
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


def _are_alike(old: Joint, new: Joint, grown: frozenset[str]) -> bool:
    """Whether both are the same but for the elements of some sets and for sizes, of which no value is ever chosen."""
    plan = new.split.plan_of_slices(new.plan)
    chosen = (action for action in _actions(new.split, plan) if action.name in plan.numbered)
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
    """Whether a partial map can have an entry for each number that its keys may be."""
    key = type_.key
    return type_.partial and isinstance(key, t.RangeType) and key.sized and type_.capacity == key.high - key.low + 1


def _names(kind: Any) -> tuple[str, ...]:
    """The fields of a class that count when its values are compared."""
    found = _known_names.get(kind)
    if found is None:
        found = _known_names[kind] = tuple(each.name for each in fields(kind) if each.compare)
    return found


_known_names: dict[Any, tuple[str, ...]] = {}


# ------------------------------------------------------------------------------------------------ what can tell of an element


def _tells_nothing(joiner: Joiner, grown: frozenset[str]) -> bool:
    """Whether nothing in a slice goes through the elements of some sets, or looks at a map of them as a whole."""
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
    """Whether a part of the kernel depends on which elements there are, beyond those that it is given."""
    match node:
        case k.Lookup(_, k.StateVar(), key):
            return _goes_through(key, grown)
        case k.TypeDomain(_, of) if mentions(of, grown):
            return True
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
    """Whether values of a type hold maps whose keys are such elements."""
    if isinstance(type_, t.MapType) and mentions(type_.key, grown):
        return True
    if isinstance(type_, tuple):
        return any(_is_keyed_by(each, grown) for each in type_)
    return is_dataclass(type_) and any(_is_keyed_by(getattr(type_, name), grown) for name in _names(type(type_)))


# ---------------------------------------------------------------------------------------------------------- over what is shared


def _without(chain: Chain, joint: Joint, added: Added) -> Chain:
    """The chain with elements by their names, without what maps say of new ones."""
    known = dict[int, object]()

    def named(value: object) -> object:
        found = known.get(id(value))
        if found is None:
            found = known[id(value)] = _named(value, added, named)
        return found

    return replace(chain, states=tuple(tuple(named(state[i]) for i in joint.seen) for state in chain.states))


def _named(value: object, added: Added, named: object) -> object:
    assert callable(named)
    match value:
        case Atom(sort, _, name):
            return sort, name
        case FrozenMap():
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


def _idle_before(joiner: Joiner, added: Added) -> float:
    """The time of the first position at which an action might be taken with a new element that no line names; ``inf`` if there is none."""
    chain = joiner.joint.chain
    open_ = [
        (*each, _read(joiner, each[0]))
        for action in _actions(joiner.joint.split, joiner.model.plan)
        for each in _open(joiner, action, added)
    ]
    idle: dict[object, bool] = {}
    for state, time in zip(chain.states, chain.earliest, strict=True):
        number: int | None = None
        for guards, binder, atoms, read in open_:
            key = id(binder), *(id(state[i]) for i in read)
            if key not in idle:
                number = joiner.model.number(state) if number is None else number
                idle[key] = all(_is_refused(joiner, guards, binder.name, atom, number) for atom in atoms)
            if not idle[key]:
                return time
    return inf


Open = tuple[tuple[k.Guard, ...], k.Local, Sequence[Atom]]
"""A parameter that may be any element, the guards that read nothing else but what is shared, and the new elements."""


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
    """Whether one of the guards is false."""
    for guard in guards:
        try:
            if joiner.model.value(guard.condition, {name: atom}, state) is False:
                return True
        except Undefined:
            continue
    return False
