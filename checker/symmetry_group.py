"""Groups of permutations of the elements of several set parameters, and a walk through a whole group by exchanges of
neighbours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import permutations, product
from math import factorial, prod

from assay.grammar.kernel.types import Sort
from assay.grammar.lazy_dataclass import dataclass

Permutation = Mapping[str, tuple[int, ...]]
"""By the name of a set parameter the position to which each of its elements is sent; the elements of others stay."""


@dataclass(frozen=True, slots=True)
class Group:
    """All permutations within each of the sorts."""

    sorts: tuple[Sort, ...]

    @property
    def order(self) -> int:
        """How many permutations there are."""
        return prod(factorial(len(sort.elements)) for sort in self.sorts)

    @property
    def names(self) -> frozenset[str]:
        """The names of the sorts."""
        return frozenset(sort.name for sort in self.sorts)

    def __iter__(self) -> Iterator[Permutation]:
        ways = [list(permutations(range(len(sort.elements)))) for sort in self.sorts]
        for chosen in product(*ways):
            yield dict(zip((sort.name for sort in self.sorts), chosen, strict=True))

    @property
    def exchanges(self) -> tuple[tuple[Sort, int], ...]:
        """The exchanges of neighbours (a sort and the position of the first of the two), which generate the group."""
        return tuple((sort, at) for sort in self.sorts for at in range(len(sort.elements) - 1))

    def walk(self) -> list[int]:
        """Positions in ``exchanges``. Applied one after another, they visit all other arrangements from any
        arrangement, each once."""
        steps: list[int] = []
        first = 0
        for sort in self.sorts:
            inner, steps = steps, []
            for at in plain_changes(len(sort.elements)):
                steps += [*inner, first + at]
            steps += inner
            first += len(sort.elements) - 1
        return steps


def plain_changes(n: int) -> list[int]:
    """The exchanges of neighbours that visit all arrangements of ``n`` things (S. M. Johnson and H. F. Trotter,
    1962-63).

    The last thing moves through all positions, down and up in turn, between the changes of the others.
    """
    if n < 2:
        return []
    changes: list[int] = []
    down, up = list(range(n - 2, -1, -1)), list(range(n - 1))
    for number, change in enumerate(plain_changes(n - 1)):
        changes += down if number % 2 == 0 else up
        # The moved thing stands before the others after it went down: their places are one further.
        changes.append(change + 1 if number % 2 == 0 else change)
    return changes + (down if factorial(n - 1) % 2 else up)
