"""Which bounds no run hits. What is proved then holds without them, and they need not be assumed.

A bound that random walks hit is skipped at once. For the others IC3 searches a reason why no reachable state is cut by
it. That reason is confirmed like that of a property, as statements over the gates and in the second encoding. Or a
search of all states confirms it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from assay.checker.report import Report, State
from assay.checker.symbolic.certificate.bits_to_places import InexpressibleError
from assay.checker.symbolic.certificate.from_cubes import statements
from assay.checker.symbolic.encode.transition_system import System
from assay.checker.symbolic.encode.verdict import Cube, Unsafe
from assay.checker.symbolic.induction.ic3 import Ic3
from assay.checker.symbolic.induction.inductive_check import Induction
from assay.checker.symbolic.induction.mined_invariants import hit_by_walks
from assay.checker.symbolic.sat.incremental import OutOfBudgetError
from assay.checker.symbolic.smt.recheck import SecondOpinion

FEW = 40
"""With more statements the second encoding is not asked: a search of all states takes less time."""

Expired = Callable[[], bool]


class ExhaustiveAnswer(Protocol):
    """The answer of an exhaustive search: one that was made, or with ``made`` one made on demand; None if there can be
    none."""

    def __call__(self, *, made: bool) -> Report | None:
        """The answer."""


class UnreachedBounds:
    """Asks about the bounds of a system; ``known`` is an inductive set of cubes."""

    def __init__(
        self, system: System, initial: Sequence[State], known: Sequence[Cube], searched: ExhaustiveAnswer
    ) -> None:
        self.system = system
        self.kernel = system.kernel
        self._initial = initial
        self._rows = [system.row(state) for state in initial]
        self._known = list(known)
        self._searched = searched

    def of(self, labels: Iterable[str], budget: Callable[[], Expired]) -> set[str]:
        """The labels whose bounds cut no step of a reachable state; ``budget`` makes the time limit of each
        question."""
        asked = sorted(labels)
        known = self._searched(made=False)
        # A search of all states that was made anyway has counted every cut.
        if known is not None and known.stopped is None:
            return {label for label in asked if not known.bounds.get(label)}
        if not asked:
            return set()
        hit = hit_by_walks(self.system, self._rows, [self.system.cuts[label] for label in asked])
        left = [label for label, cut in zip(asked, hit, strict=True) if not cut]
        found = set()
        for label in left:
            try:
                if self._is_unhit(label, budget()):
                    found.add(label)
            except OutOfBudgetError:
                continue
        return found

    def _is_unhit(self, label: str, expired: Expired) -> bool:
        answer = Ic3(self.system, self._rows, self.system.cuts[label], self._known, expired).run()
        if isinstance(answer, Unsafe):
            return False
        # Inductive over the gates, so they help with the next bound. What is concluded is confirmed with all of them.
        self._known += answer.cubes
        return self._is_confirmed(label, expired) or self._is_searched(label)

    def _is_confirmed(self, label: str, expired: Expired) -> bool:
        """Whether the statements are inductive and exclude the cut, over the gates and in the second encoding."""
        try:
            said = statements(self.system, self._known)
        except InexpressibleError:
            return False
        induction = Induction(self.kernel, said, self._initial, expired)
        try:
            everything, cut = range(len(said)), induction.system.cuts[label]
            if induction.failure(everything) or not induction.excludes(everything, cut):
                return False
            needed = [said[at] for at in induction.excluding(cut)]
        finally:
            induction.close()
        opinion = SecondOpinion(self.kernel, expired=expired)
        return len(needed) <= FEW and (opinion.inductive(needed) or opinion.never_cut(needed, label)) is None

    def _is_searched(self, label: str) -> bool:
        report = self._searched(made=True)
        return report is not None and report.stopped is None and not report.bounds.get(label)
