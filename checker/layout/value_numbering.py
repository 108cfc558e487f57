"""The possible elements of a small type, numbered in canonical order."""

from __future__ import annotations

from dataclasses import field
from functools import lru_cache

from assay.checker.interpreter.values.domains import domain
from assay.grammar.kernel import types as t
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.values import Value


@dataclass(frozen=True, slots=True)
class Universe:
    """All values of a type in canonical order; the rank of a value is its position."""

    type: t.Type
    values: tuple[Value, ...]
    _ranks: dict[Value, int] = field(repr=False, compare=False, hash=False)

    @property
    def size(self) -> int:
        """How many values there are."""
        return len(self.values)

    def rank(self, value: Value) -> int:
        """The position of a value. Raises ``KeyError`` if it is not of the type."""
        return self._ranks[value]

    def value(self, rank: int) -> Value:
        """The value at a position."""
        return self.values[rank]


@lru_cache(maxsize=1024)
def universe(type_: t.Type) -> Universe:
    """The universe of a type, which must be small enough to list."""
    values = domain(type_)
    return Universe(type_, values, {value: rank for rank, value in enumerate(values)})
