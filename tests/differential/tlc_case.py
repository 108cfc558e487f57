"""A kernel with what the reference engine says of it, to be compared with what TLC says."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from assay.checker.engines.reference_engine import check
from assay.checker.interpreter.compiled_model import Model
from assay.checker.options import SearchOptions
from assay.checker.reference.bfs import Search
from assay.checker.report import Outcome, PropertyResult, State
from assay.grammar import kernel as k

from .joined import Seen, survey


@dataclass(frozen=True)
class Case:
    """A kernel with what the reference engine says: states by level, cuts by label, and what it found violated (or reached)."""

    name: str
    kernel: k.Kernel
    states: list[State]
    levels: Counter[int]
    bounds: Counter[str]
    false: set[str]
    dead: bool

    def differs(self, seen: Seen) -> str | None:
        """How TLC's answer differs, if it does. What cuts off initial states TLC is not asked: where none is left it looks at nothing."""
        at_first = {guard.label for guard in self.kernel.init.conditions if guard.kind == "bound"}
        bounds = Counter({label: hits for label, hits in self.bounds.items() if label not in at_first})
        mine = (self.levels, bounds, self.false, self.dead)
        other = (seen.levels, seen.bounds, seen.false, seen.dead)
        return None if mine == other else f"{self.name}: the reference engine says {mine}, TLC {other}"


def case_about(name: str, kernel: k.Kernel, options: SearchOptions) -> Case | None:
    """The case of a kernel, unless its search ends early or finds something undefined. Raises ``SpecError`` as the engine does."""
    results = {result.name: result for result in check(kernel, options).properties}
    search = Search(Model(kernel), options)
    search.run()
    if search.stopped or results["defined"].outcome is Outcome.VIOLATED:
        return None
    levels = Counter(len(search.store.trace(number)) for number in range(len(search.store)))
    false = {name for name, result in results.items() if is_false(result)}
    dead = results["deadlock"].outcome is Outcome.VIOLATED
    return Case(name, kernel, search.store.states, levels, search.bounds, false, dead)


def is_false(result: PropertyResult) -> bool:
    """Whether what the module says of the property is false somewhere: of a reachable, that it is never reached."""
    if result.kind in {"deadlock", "scenario"}:
        return False
    return result.outcome is (Outcome.HOLDS if result.kind == "reachable" else Outcome.VIOLATED)


def agree(found: list[Case], folder: Path) -> None:
    """Assert that TLC says of all cases what the reference engine says."""
    seen, answer = survey([case.kernel for case in found], folder)
    assert answer.is_complete, f"{[case.name for case in found]}\n{answer.error}"
    assert not [difference for case, each in zip(found, seen, strict=True) if (difference := case.differs(each))]
