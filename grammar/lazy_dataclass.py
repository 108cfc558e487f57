"""``dataclass``, with methods that are made when they are first called.

The decorator of the standard library compiles up to seven methods for each class. That was half of the time that a
command takes to be imported, and it makes objects of a third of the classes only. Here fields, slots and
``__match_args__`` are made at once, by the standard decorator. Methods are made at the first call, from the fields, and
replace those that stood in for them. They do what those of the standard library do; its ``make_dataclass`` would take
four times as long, which is a seventh of a short command.
"""

from __future__ import annotations

from dataclasses import MISSING, FrozenInstanceError, fields
from dataclasses import dataclass as _standard
from functools import cache
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

ORDER = {"__lt__": "<", "__le__": "<=", "__gt__": ">", "__ge__": ">="}

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from dataclasses import dataclass as dataclass  # noqa: PLC0414 - type checkers know this one
else:

    def dataclass(
        *, frozen: bool = False, eq: bool = True, order: bool = False, **fields: Any
    ) -> Callable[[type], type]:
        """As the standard one, for the options that are used here: ``frozen``, ``eq``, ``order`` and
        those of the fields.

        A frozen class has bases without fields, or such as this decorator made.
        """
        return lambda cls: _decorated(cls, frozen, eq, order, fields)


def _decorated(cls: Any, is_frozen: bool, has_equality: bool, has_order: bool, shape: dict[str, Any]) -> Any:
    # Python sets `__hash__` to None in a class that defines `__eq__`. That is no method of the class's own.
    own = {name for name, value in vars(cls).items() if (name, value) != ("__hash__", None)}
    made: Any = _standard(init=False, repr=False, eq=False, **shape)(cls)
    _stand_in(made, {"__init__"} - own, _init_source, frozen=is_frozen)
    _stand_in(made, {"__repr__"} - own, _repr_source)
    if has_equality:
        _stand_in(made, ({"__eq__", "__hash__"} if is_frozen else {"__eq__"}) - own, _equality_source)
        # As in the standard library: what is equal by changing values must not be found by a hash.
        if not is_frozen and "__hash__" not in own:
            made.__hash__ = None
    if has_order:
        _stand_in(made, set(ORDER) - own, _order_source)
    if is_frozen:
        made.__setattr__, made.__delattr__ = _refuse_assignment, _refuse_deletion
        # Without these `pickle` would set attributes, which a frozen object refuses.
        if shape.get("slots") and "__getstate__" not in own:
            made.__getstate__ = _state
            _stand_in(made, {"__setstate__"}, _restoring_source)
    return made


def _stand_in(made: Any, names: set[str], source: Callable[[Any, bool], str], frozen: bool = False) -> None:
    def complete() -> None:
        scope: dict[str, Any] = {"_MISSING": MISSING, "_set": object.__setattr__}
        for each in fields(made):
            scope[f"_default_{each.name}"] = each.default
            scope[f"_make_{each.name}"] = each.default_factory
            scope[f"_slot_{each.name}"] = getattr(getattr(made, each.name, None), "__set__", None)
        exec(source(made, frozen), scope)
        for name in names:
            method = scope[name]
            method.__qualname__, method.__module__ = f"{made.__qualname__}.{name}", made.__module__
            setattr(made, name, recursive_repr()(method) if name == "__repr__" else method)

    for name in names:
        setattr(made, name, _first_call(made, name, complete))


def _first_call(made: Any, name: str, complete: Callable[[], None]) -> Callable[..., Any]:
    def first(self: object, *values: Any, **named: Any) -> Any:
        complete()
        # By name, not by a variable of `complete`: another thread may have made the methods meanwhile.
        return getattr(made, name)(self, *values, **named)

    return first


def _init_source(made: Any, is_frozen: bool) -> str:
    taken = [each for each in fields(made) if each.init]
    by_name = [each for each in taken if each.kw_only]
    parts = [_parameter(each) for each in taken if not each.kw_only]
    parts += (["*"] if by_name else []) + [_parameter(each) for each in by_name]
    body = [_assignment(each, is_frozen) for each in fields(made) if each.init or each.default_factory is not MISSING]
    if hasattr(made, "__post_init__"):
        body.append("self.__post_init__()")
    return f"def __init__({', '.join(['self', *parts])}):\n " + "\n ".join(body or ["pass"])


def _parameter(of: Any) -> str:
    if of.default_factory is not MISSING:
        return f"{of.name}=_MISSING"
    # The value itself, not its text: a default may be any object.
    return of.name if of.default is MISSING else f"{of.name}=_default_{of.name}"


def _assignment(of: Any, is_frozen: bool) -> str:
    value = of.name
    if of.default_factory is not MISSING:
        value = f"_make_{value}()" + (f" if {value} is _MISSING else {value}" if of.init else "")
    return f'_set(self, "{of.name}", {value})' if is_frozen else f"self.{of.name} = {value}"


def _restoring_source(made: Any, _is_frozen: bool) -> str:
    """Of an object of a kept spec, of which there are tens of thousands: its slots are set one by one."""
    names = [each.name for each in fields(made)]
    body = [f"({''.join(f'{name}, ' for name in names)}) = state"] + [f"_slot_{name}(self, {name})" for name in names]
    return "def __setstate__(self, state):\n " + "\n ".join(body)


def _tuple(of: str, names: Iterable[str]) -> str:
    return "(" + "".join(f"{of}.{name}, " for name in names) + ")"


def _comparison(made: Any, name: str, operator: str) -> str:
    compared = [each.name for each in fields(made) if each.compare]
    return (
        f"def {name}(self, other):\n if other.__class__ is self.__class__:\n"
        f"  return {_tuple('self', compared)} {operator} {_tuple('other', compared)}\n return NotImplemented\n"
    )


def _equality_source(made: Any, _is_frozen: bool) -> str:
    hashed = [each.name for each in fields(made) if (each.compare if each.hash is None else each.hash)]
    return _comparison(made, "__eq__", "==") + f"def __hash__(self):\n return hash({_tuple('self', hashed)})"


def _order_source(made: Any, _is_frozen: bool) -> str:
    return "".join(_comparison(made, name, operator) for name, operator in ORDER.items())


def _repr_source(made: Any, _is_frozen: bool) -> str:
    shown = ", ".join(f"{each.name}={{self.{each.name}!r}}" for each in fields(made) if each.repr)
    return f'def __repr__(self):\n return self.__class__.__qualname__ + f"({shown})"'


def _refuse_assignment(_self: object, name: str, _value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_deletion(_self: object, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


@cache
def _members(cls: Any) -> tuple[Any, ...]:
    """The descriptors of the slots."""
    return tuple(getattr(cls, each.name) for each in fields(cls))


def _state(self: Any) -> tuple[Any, ...]:
    """What is pickled and copied of a frozen object with slots, as in the standard library."""
    return tuple(each.__get__(self) for each in _members(self.__class__))
