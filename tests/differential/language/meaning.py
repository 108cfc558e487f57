"""What a piece of text means: functions of an environment, in plain Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import chain, combinations
from typing import Any, NamedTuple

from assay.grammar.values import FrozenMap, Value

from .sorts import Sort, UnclearError, UndefinedError, is_in_range


@dataclass(frozen=True)
class Environment:
    """The values of names: of variables now, before and after the step, of bound names."""

    state: dict[str, Any]
    before: dict[str, Any] = field(default_factory=dict)
    after: dict[str, Any] = field(default_factory=dict)
    local: dict[str, Any] = field(default_factory=dict)
    enabled: Callable[[dict[str, Any], str, tuple[Value | None, ...]], bool] | None = None

    def read(self, name: str) -> Any:
        return self.local[name] if name in self.local else self.state[name]

    def bind(self, **more: Any) -> Environment:
        return replace(self, local={**self.local, **more})

    def only(self, **local: Any) -> Environment:
        """The inside of a function: no name of its caller is known there."""
        return replace(self, local=local)


Meaning = Callable[[Environment], Any]


class Made(NamedTuple):
    """A text, and what it means."""

    text: str
    mean: Meaning


def decided(env: Environment, parts: Iterable[Callable[[], bool]], by: bool) -> bool:
    """Whether one of the parts has the value that decides; without a value if none has, and one has no value."""
    found, undefined = False, False
    for part in parts:
        try:
            found |= part() == by
        except UndefinedError:
            undefined = True
    if found and undefined:
        raise UnclearError
    if undefined:
        raise UndefinedError
    return found


def divided(left: int, right: int, op: str) -> int:
    if right == 0:
        raise UndefinedError
    return left // right if op == "//" else left % right


def read(name: str) -> Made:
    return Made(name, lambda env: env.read(name))


def made_of(parts: list[Made], opening: str, make: Callable[[tuple[Any, ...]], Any], name: str = "") -> Made:
    """A literal: all parts between brackets."""
    closing = {"(": ")", "[": "]", "{": "}"}[opening[-1]]
    text = f"{name}{opening}{', '.join(part.text for part in parts)}{closing}"
    return Made(text, lambda env: make(tuple(part.mean(env) for part in parts)))


def bag_of(found: tuple[Any, ...]) -> FrozenMap:
    return FrozenMap((each, found.count(each)) for each in found)


def in_range(sort: Sort, value: Any) -> Any:
    if not is_in_range(sort, value):
        raise UndefinedError
    return value


def of_numbers(which: str, numbers: Any) -> int:
    if which == "sum":
        return int(sum(numbers))
    if not numbers:
        raise UndefinedError
    return int(min(numbers) if which == "min" else max(numbers))


def subsets(some: frozenset[Any]) -> frozenset[Any]:
    return frozenset(map(frozenset, chain.from_iterable(combinations(some, size) for size in range(len(some) + 1))))


def each_way(env: Environment, generators: list[tuple[str, Sort, Made]]) -> list[Environment]:
    """The environments in which the names have each combination of values."""
    found = [env]
    for name, _, domain in generators:
        found = [inner.bind(**{name: each}) for inner in found for each in domain.mean(inner)]
    return found
