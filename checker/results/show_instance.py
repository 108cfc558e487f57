"""An instance of an action, an initial state, or the value of a parameter, in the notation of a spec."""

from __future__ import annotations

from collections.abc import Sequence

from assay.checker.interpreter.actions.outcome import Picks
from assay.checker.interpreter.values.show import show_value
from assay.grammar import kernel as k
from assay.grammar.kernel.types import Sort, Type
from assay.grammar.values import Value


def show_instance(action: k.Action, arguments: Sequence[Value], picks: Picks = ()) -> str:
    """``elect(b1)``, and ``elect(b1) with q = {b1}`` where something was picked."""
    shown = [show_value(x, p.binder.type) for x, p in zip(arguments, action.parameters, strict=True)]
    call = f"{action.name}({', '.join(shown)})" if shown else action.name
    return call + _with(picks, action.body)


def show_parameter(parameter: k.BoundParameter) -> str:
    """The value of a parameter as one would write it in a spec."""
    match parameter.value, parameter.type:
        case Sort(_, elements, _), _:
            return "{" + ", ".join(elements) + "}"
        case value, Type() as type_:
            return show_value(value, type_)
        case bool() as value, _:
            return "true" if value else "false"
        case value, _:
            return str(getattr(value, "name", value))


def show_initial(init: k.Init, picks: Picks) -> str:
    """``initial state with q = {b1}``, or without more where nothing is picked."""
    return "initial state" + _with(picks, init.body)


def _with(picks: Picks, body: Sequence[k.Statement]) -> str:
    """What was picked. Names are those of the text, without the numbers that tell the names of an action apart
    (``m'2``), where that leaves no two alike.
    """
    types = pick_types(body)
    stems = [name.partition("'")[0] for name, _ in picks]
    # Equal stems would show one name with two values.
    written = stems if len(set(stems)) == len(stems) else [name for name, _ in picks]
    chosen = [
        f"{label} = {show_value(value, types[name])}" for label, (name, value) in zip(written, picks, strict=True)
    ]
    return f" with {', '.join(chosen)}" if chosen else ""


def pick_types(body: Sequence[k.Statement]) -> dict[str, Type]:
    """The types of the picks of an action or of ``init``, by name."""
    return {each.binder.name: each.binder.type for each in body if isinstance(each, k.Pick)}
