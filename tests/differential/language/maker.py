"""What all parts share that make random text: the names in scope, and the ways in which they call each other."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING, Any

from .meaning import Made, Meaning
from .sorts import Sort

if TYPE_CHECKING:
    from .functions import Function
    from .patterns import Matched, Pattern

Scope = list[tuple[str, Sort]]


class UnmadeError(Exception):
    """There is no expression of the wanted type here: something else is made then."""


class Maker(ABC):
    """Makes text over the names in ``scope``; what is ``symmetric`` names no node. ``wild`` is how often something may be undefined."""

    def __init__(self, random: Random, *, symmetric: bool = False) -> None:
        self.random = random
        self.symmetric = symmetric
        self.scope: Scope = []
        self.functions: list[Function] = []
        self.old: Scope = []
        self.next: Scope = []
        self.wild = random.choice([0.0, 0.02, 0.15])
        self._names = 0

    def name(self, stem: str) -> str:
        self._names += 1
        return f"{stem}{self._names}"

    def within(self, more: Scope, make: Callable[[], Any]) -> Any:
        """What is made where these names are known too."""
        kept = self.scope
        self.scope = [*kept, *more]
        try:
            return make()
        finally:
            self.scope = kept

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    # ----------------------------------------------------------------------------------- what the parts have to make

    @abstractmethod
    def expr(self, sort: Sort, depth: int) -> Made:
        """An expression of the type."""

    @abstractmethod
    def seen(self, sort: Sort, depth: int) -> Made:
        """An expression whose type is seen from its text."""

    @abstractmethod
    def leaf(self, sort: Sort) -> Made:
        """The simplest expression of the type."""

    @abstractmethod
    def literal(self, sort: Sort, depth: int) -> Made:
        """An expression that says how the value is made."""

    @abstractmethod
    def node(self) -> Made:
        """An expression of a node."""

    def key(self, sort: Sort, depth: int) -> Made:
        """A key or an argument: of integers one that the type has."""
        return self.expr(sort, depth)

    @abstractmethod
    def called(self, sort: Sort, depth: int) -> Made | None:
        """A call of a function with a result of the type, if there is one."""

    @abstractmethod
    def condition(self, depth: int) -> Made:
        """A condition, in parentheses unless it is a name, a call or a literal."""

    @abstractmethod
    def test(self, depth: int) -> tuple[Made, Matched]:
        """A condition, with the names that it gives values to where it is true."""

    @abstractmethod
    def number(self, depth: int) -> Made:
        """An integer of any size."""

    @abstractmethod
    def domain(self, sort: Sort, depth: int) -> Made:
        """A set of values of the type, to go through."""

    @abstractmethod
    def inhabited(self, sort: Sort, depth: int) -> Made:
        """A set with an element, unless it is wild."""

    @abstractmethod
    def generators(self, depth: int) -> tuple[list[tuple[str, Sort, Made]], str]:
        """What a comprehension goes through, and its text."""

    @abstractmethod
    def against(self, depth: int, *, names: bool = True) -> tuple[Made, Pattern]:
        """A value, and a pattern of its type that may not fit."""

    @abstractmethod
    def cases(self, depth: int, make: Callable[[], Any]) -> tuple[str, list[tuple[str, Any]], Meaning]:
        """A value with cases of a `match` that cover all of its values."""
