"""``dataclass``, with methods that are made when they are first called.

The decorator of the standard library compiles up to seven methods for each class. That was half of the time that a
command takes to be imported, and it makes objects of a third of the classes only. Here fields, slots and
``__match_args__`` are made at once. Methods are made by the standard decorator too, but at the first call: of a twin
with the same fields, whose methods then replace those that stood in for them.
"""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields, make_dataclass
from dataclasses import dataclass as _standard
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
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
    own = {name for name, value in vars(cls).items() if (name, value) != ("__hash__", None)}
    made: Any = _standard(init=False, repr=False, eq=False, **shape)(cls)
    _stand_in(made, {"__init__"} - own, init=True, frozen=is_frozen)
    _stand_in(made, {"__repr__"} - own, repr=True)
    if has_equality:
        _stand_in(made, ({"__eq__", "__hash__"} if is_frozen else {"__eq__"}) - own, eq=True, unsafe_hash=is_frozen)
        if not is_frozen and "__hash__" not in own:
            made.__hash__ = None
    if has_order:
        _stand_in(made, {"__lt__", "__le__", "__gt__", "__ge__"} - own, eq=True, order=True)
    if is_frozen:
        made.__setattr__, made.__delattr__ = _refuse_assignment, _refuse_deletion
        if shape.get("slots") and "__getstate__" not in own:
            made.__getstate__, made.__setstate__ = _state, _set_state
    return made


def _stand_in(made: Any, names: set[str], **methods: bool) -> None:
    def complete() -> None:
        twin = _twin(made, **methods)
        for name in names:
            setattr(made, name, getattr(twin, name))

    for name in names:
        setattr(made, name, _first_call(made, name, complete))


def _first_call(made: Any, name: str, complete: Callable[[], None]) -> Callable[..., Any]:
    def first(self: object, *values: Any, **named: Any) -> Any:
        complete()
        return getattr(made, name)(self, *values, **named)

    return first


def _twin(made: Any, **methods: bool) -> Any:
    """A class with the same fields. Its methods suit the other one too: they ask the object for its class."""
    same = [(each.name, each.type, each) for each in fields(made)]
    hook = {"__post_init__": made.__post_init__} if hasattr(made, "__post_init__") else {}
    options: dict[str, Any] = {"init": False, "repr": False, "eq": False, **methods}
    return make_dataclass(made.__name__, same, namespace=hook, **options)


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


def _set_state(self: Any, state: tuple[Any, ...]) -> None:
    for each, value in zip(_members(self.__class__), state, strict=True):
        each.__set__(self, value)
