"""Who acts in a step, and which messages it sends and receives, read off what the step changes and what its guards ask.

A step is drawn in the lane of the element whose own entries it writes: of several, of its first argument. A step that
writes shared variables alone is of the first argument whose own entries its guards ask for. The reason is that who
sends a message must be in some state. Without one it has the lane ``shared``. A step that changes nothing has that of
its first argument. Messages are elements of sets, bags and sequences of records or enums. A step sends what it adds,
and receives what it takes away, what it picks, and what a true guard finds there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from assay.checker.interpreter.compiled_model import Model
from assay.checker.interpreter.expressions.frame import Frame
from assay.checker.interpreter.expressions.traverse import descendants
from assay.checker.interpreter.values.show import show_value
from assay.checker.interpreter.values.undefined import Undefined
from assay.checker.report import State, Step
from assay.checker.results.show_instance import pick_types
from assay.grammar import kernel as k
from assay.grammar.kernel import types as t
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.values import Atom, Value
from assay.report.specs.picture.cells import is_message

SHARED = "shared"


@dataclass(frozen=True, slots=True)
class MessageCopy:
    """A message with the place that holds it, both as printed."""

    place: str
    text: str


@dataclass(frozen=True, slots=True)
class StepRole:
    """Who acts in a step: the lane, the set parameter that its element belongs to, and what is sent and received.
    ``others`` are elements of the same set that the step names.
    """

    lane: str = SHARED
    group: str = ""
    sent: tuple[MessageCopy, ...] = ()
    received: tuple[MessageCopy, ...] = ()
    others: tuple[str, ...] = ()


INITIAL = StepRole()


def lane_groups(kernel: k.Kernel) -> dict[str, tuple[str, ...]]:
    """The sets whose elements can have lanes, with their elements: those that some variable has an entry for."""
    types = [variable.type for variable in kernel.variables]
    sorts = [each.key.sort for each in types if isinstance(each, t.MapType) and isinstance(each.key, t.AtomType)]
    return {sort.name: sort.elements for sort in sorts}


def role_of(model: Model, before: State, step: Step) -> StepRole:
    """Who acts in a step from the state ``before``, and what is sent and received."""
    if step.action is None:
        return INITIAL
    kernel = model.kernel
    held = _contents(kernel, before), _contents(kernel, step.state)
    sent, taken = _copies(held[1] - held[0]), _copies(held[0] - held[1])
    asked = _asked(model, before, step, kernel.action(step.action))
    arguments = [value for _, value in step.arguments if isinstance(value, Atom)]
    actor = _actor(kernel, before, step.state, arguments)
    if actor is None:
        read = set(_read_entries(model, before, step, kernel.action(step.action)))
        actor = next((each for each in arguments if each in read), None)
    # What a guard asks for in vain, as `not (m in messages)` does, is not there and was not received.
    received = tuple(dict.fromkeys([*taken, *(copy for copy in asked if held[0][copy])]))
    if actor is None:
        return StepRole(sent=sent, received=received)
    others = [each.name for each in arguments if each.sort == actor.sort and each != actor]
    return StepRole(actor.name, actor.sort, sent, received, tuple(dict.fromkeys(others)))


def _actor(kernel: k.Kernel, before: State, after: State, arguments: Sequence[Atom]) -> Atom | None:
    if before == after:
        return arguments[0] if arguments else None
    # Of several elements whose entries are written, the one that the action names first is who acts.
    written = list(dict.fromkeys(_own_entries(kernel, before, after)))
    return next((each for each in arguments if each in written), written[0] if written else None)


def _own_entries(kernel: k.Kernel, before: State, after: State) -> Iterator[Atom]:
    """The elements whose entries of some variable differ."""
    for variable, old, new in zip(kernel.variables, before, after, strict=True):
        if isinstance(variable.type, t.MapType) and isinstance(variable.type.key, t.AtomType) and old != new:
            tables: tuple[Any, Any] = old, new
            # In the order of the model: that of a set of keys, and with it who acts, would differ from run to run.
            keys = sorted(tables[0].keys() | tables[1].keys())
            yield from (key for key in keys if tables[0].get(key) != tables[1].get(key))


def _read_entries(model: Model, before: State, step: Step, action: k.Action) -> Iterator[Value]:
    """The keys at which guards look into variables: ``p`` of ``role[p] == Active``."""
    # Guards are read in the state before the step, with what the step has chosen.
    frame = Frame(before, (), dict(step.arguments) | dict(step.picks))
    for line in action.body:
        for each in (line.condition, *descendants(line.condition)) if isinstance(line, k.Guard) else ():
            if isinstance(each, k.Lookup) and isinstance(each.collection, k.StateVar):
                yield from _value(model, each.key, frame)


def _copies(counted: Counter[MessageCopy]) -> tuple[MessageCopy, ...]:
    return tuple(sorted(counted, key=lambda copy: (copy.place, copy.text)))


def _contents(kernel: k.Kernel, state: State) -> Counter[MessageCopy]:
    """All messages of a state."""
    found: Counter[MessageCopy] = Counter()
    for variable, value in zip(kernel.variables, state, strict=True):
        found.update(_messages(variable.name, variable.type, value))
    return found


def _messages(place: str, of: t.Type, value: Any) -> Iterator[MessageCopy]:
    match of:
        case t.SetType(item) | t.SeqType(item) if is_message(item):
            yield from (MessageCopy(place, show_value(each, item)) for each in value)
        case t.BagType(item) if is_message(item):
            for each in value:
                yield from (MessageCopy(place, show_value(each, item)) for _ in range(value[each]))
        case t.MapType(key, image) if _may_hold_messages(image):
            for entry in value:
                yield from _messages(f"{place}[{show_value(entry, key)}]", image, value[entry])
        case _:
            return


def _may_hold_messages(of: t.Type) -> bool:
    match of:
        case t.SetType(item) | t.SeqType(item) | t.BagType(item):
            return is_message(item)
        case t.MapType(_, image):
            return _may_hold_messages(image)
        case _:
            return False


# ------------------------------------------------------------------------------------------- what a step looks at


def _asked(model: Model, before: State, step: Step, action: k.Action) -> list[MessageCopy]:
    """The messages that a step picks, or that its guards ask for."""
    frame = Frame(before, (), dict(step.arguments) | dict(step.picks))
    found: list[MessageCopy] = []
    types = pick_types(action.body)
    picked = dict(step.picks)
    for line in action.body:
        match line:
            # Later lines use the name. Without a value it stays unbound, and what needs it has no value either.
            case k.Let(binder, value):
                frame.locals.update((binder.name, known) for known in _value(model, value, frame))
            case k.Pick(binder, domain) if binder.name in picked:
                text = show_value(picked[binder.name], types[binder.name])
                found += [MessageCopy(place, text) for place in _place(model, domain, frame)]
            case k.Guard():
                found += _members(model, line.condition, frame)
            case _:
                continue
    return found


def _members(model: Model, condition: k.Expr, frame: Frame) -> Iterator[MessageCopy]:
    """``m in messages`` anywhere in a guard, where ``m`` has a value outside of quantifiers."""
    for each in (condition, *descendants(condition)):
        if isinstance(each, k.Member) and not each.negated and is_message(each.item.type):
            for place in _place(model, each.collection, frame):
                yield from (
                    MessageCopy(place, show_value(item, each.item.type)) for item in _value(model, each.item, frame)
                )


def _place(model: Model, collection: k.Expr, frame: Frame) -> list[str]:
    """``inbox[b1]``: the place in the state that an expression names; empty if it names none."""
    match collection:
        case k.StateVar():
            return [collection.name]
        case k.Lookup():
            keys = [show_value(key, collection.key.type) for key in _value(model, collection.key, frame)]
            return [f"{place}[{key}]" for place in _place(model, collection.collection, frame) for key in keys]
        case k.Filter():
            return _place(model, collection.domain, frame)
        case _:
            return []


def _value(model: Model, expr: k.Expr, frame: Frame) -> list[Value]:
    """The value of an expression; empty where it has none, or depends on a binder that is not bound here."""
    try:
        return [model.meaning(expr)(frame)]
    except (Undefined, KeyError):
        return []
