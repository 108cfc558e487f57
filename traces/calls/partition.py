"""Divides a history by a set parameter, such as the keys of a store, where its elements do not depend on each other.

A history is linearizable if that of each key is (Herlihy and Wing, 1990, theorem 1). That keys are objects of their own
is proved of the spec, as it is of slices (``observe/decomposition.py``). Beyond that no part of the spec may compare or
count the keys. So all of them can be checked as one and the same.
"""

from __future__ import annotations

from dataclasses import replace

from assay.checker.interpreter.actions.outcome import Successor
from assay.checker.interpreter.compiled_model import Model as Meanings
from assay.checker.interpreter.expressions.traverse import children
from assay.checker.interpreter.values.sort_occurrence import mentions
from assay.grammar import kernel as k
from assay.grammar.diagnostics.diagnostic import SpecError
from assay.grammar.kernel import types as t
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.values import FrozenMap
from assay.traces.observe.decomposition import split

ANY_KEY = "any"
"""The one element of the set in the model of a single key."""

CHECKED = frozenset({"invariant", "transition"})


@dataclass(frozen=True, slots=True)
class KeyOfCalls:
    """The set by whose elements a history is divided, and for each event the field that names the element."""

    sort: str
    fields: dict[str, str]


def key_of_calls(kernel: k.Kernel, plan: k.TracePlan) -> KeyOfCalls | None:
    """The set parameter by which calls can be divided; None if there is none."""
    for sort in kernel.sorts:
        fields = _fields(plan, sort.name)
        if fields is not None and _are_apart(kernel, plan, sort, fields):
            return KeyOfCalls(sort.name, fields)
    return None


def _fields(plan: k.TracePlan, sort: str) -> dict[str, str] | None:
    """The field of each rule's event that names the element; None if a rule has none, or several."""
    found: dict[str, str] = {}
    for rule in plan.rules:
        # With two keys in one line a call would be of two objects, and each by itself says less than both.
        own = [each for each in rule.fields if _is_key(each.binder.type, sort)]
        if len(own) != 1 or found.setdefault(rule.event, own[0].field) != own[0].field:
            return None
        # A key that is known only at the return does not say to which object an open call belongs.
        if rule.call is not None and own[0].field in rule.call.returned:
            return None
    return found or None


def _are_apart(kernel: k.Kernel, plan: k.TracePlan, sort: t.Sort, fields: dict[str, str]) -> bool:
    """Whether no key depends on another one."""
    try:
        divided = split(with_rules(kernel, plan, sort.name), k.Slicing(sort, tuple(set(fields.values())), None))
    except SpecError:
        return False
    # Of slices only rejections have to be sound. Here an acceptance counts, too, so no guard may be dropped.
    if divided.relaxed or divided.shared:
        return False
    return (
        all(_names_own_key(kernel, rule, sort.name) for rule in plan.rules)
        and _says_nothing_of_keys(kernel, plan, sort.name)
        and _begins_alike(kernel)
    )


def with_rules(kernel: k.Kernel, plan: k.TracePlan, sort: str) -> k.Kernel:
    """The kernel with what the rules say of the state as actions, so that they are examined, too."""
    more: list[k.Action] = []
    for at, rule in enumerate(plan.rules):
        said = [each for each in (rule.then, rule.observe) if each is not None]
        own = [each.binder for each in rule.fields if mentions(each.binder.type, [sort])]
        parameters = tuple(k.Parameter(each, k.TypeDomain(t.SetType(each.type), each.type)) for each in own)
        body = tuple(k.Guard("when", f"rule {at}", each) for each in said)
        more.append(k.Action(f"rule {at}", parameters, body, None, None))
    names = tuple(each.name for each in more)
    return replace(kernel, actions=(*kernel.actions, *more), next=(*kernel.next, *names))


def _names_own_key(kernel: k.Kernel, rule: k.TraceRule, sort: str) -> bool:
    """Whether each step of a rule is about the key of the event."""
    for call in (call for step in rule.steps for call in step):
        for parameter, given in zip(kernel.action(call.action).parameters, call.arguments, strict=True):
            if mentions(parameter.binder.type, [sort]) and not isinstance(given, k.Local):
                return False
    return True


def _says_nothing_of_keys(kernel: k.Kernel, plan: k.TracePlan, sort: str) -> bool:
    """Whether nothing in the spec compares, counts or names keys: a key only says which entry of a map is meant."""
    said = [each for rule in plan.rules for each in (rule.condition, rule.then, rule.observe) if each is not None]
    said += [
        _of_one_key(each.condition, sort)
        for prop in kernel.properties
        if prop.kind in CHECKED
        for each in prop.conjuncts
    ]
    statements = [statement for action in kernel.actions for statement in action.body]
    return all(_is_blind(each, sort) for each in said) and all(_is_blind_to(each, sort) for each in statements)


def _of_one_key(condition: k.Expr, sort: str) -> k.Expr:
    """The body of ``forall key in Key: …``."""
    match condition:
        case k.Quantified(_, "forall", binder, k.TypeDomain(), body) if _is_key(binder.type, sort):
            return body
        case _:
            return condition


def _is_blind_to(statement: k.Statement, sort: str) -> bool:
    match statement:
        case k.Assign(_, _, (k.AtKey(k.Local()), *rest), value):
            return _is_blind(value, sort) and all(_is_blind(part, sort) for step in rest for part in children(step))
        case k.If(condition, then, otherwise):
            return _is_blind(condition, sort) and all(_is_blind_to(each, sort) for each in (*then, *otherwise))
        case k.For(_, domain, body):
            return _is_blind(domain, sort) and all(_is_blind_to(each, sort) for each in body)
        case _:
            return all(_is_blind(each, sort) for each in children(statement))


def _is_blind(expr: k.Expr, sort: str) -> bool:
    match expr:
        case k.Lookup(_, k.StateVar(), k.Local()):
            return True
        # A function with the key as its parameter is inlined as such a `let`.
        case k.LetIn(_, _, k.Local(), body):
            return _is_blind(body, sort)
        case _:
            return not mentions(expr.type, [sort]) and all(_is_blind(each, sort) for each in children(expr))


def _is_key(type_: t.Type, sort: str) -> bool:
    return isinstance(type_, t.AtomType) and type_.sort.name == sort


def _begins_alike(kernel: k.Kernel) -> bool:
    """Whether there is one initial state, in which all keys are alike."""
    found = list(Meanings(kernel, bounded=False).init.outcomes())
    # Keys that begin differently could not all be checked as the same one.
    return len(found) == 1 and all(
        isinstance(each, Successor)
        and all(isinstance(value, FrozenMap) and len(set(value.values())) == 1 for value in each.state)
        for each in found
    )
