"""Scenarios of another model of the spec as judges: they need no search, and may use more elements than can be
searched."""

from __future__ import annotations

from assay.checker.interpreter.compiled_model import Model
from assay.checker.interpreter.expressions.recursion_limit import deep_recursion
from assay.checker.mutation.mutants import Mutant, mutated
from assay.checker.print_kernel import Sources
from assay.checker.report import Outcome
from assay.checker.results.scenario import check_scenario
from assay.grammar import kernel as k
from assay.grammar.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class ScenarioRuns:
    """The scenarios that a kernel satisfies."""

    kernel: k.Kernel
    sources: Sources
    names: frozenset[str]

    def killers(self, mutant: Mutant) -> tuple[str, ...]:
        """Those that the mutant does not satisfy."""
        return _with_outcome(mutated(self.kernel, mutant), self.sources, self.names, Outcome.VIOLATED)


def runs(kernel: k.Kernel, sources: Sources) -> ScenarioRuns:
    """The scenarios of a kernel that hold; others say nothing about a mutant."""
    names = frozenset(each.name for each in kernel.scenarios)
    return ScenarioRuns(kernel, sources, frozenset(_with_outcome(kernel, sources, names, Outcome.HOLDS)))


def _with_outcome(kernel: k.Kernel, sources: Sources, names: frozenset[str], outcome: Outcome) -> tuple[str, ...]:
    with deep_recursion(kernel):
        model = Model(kernel)
        asked = [each for each in kernel.scenarios if each.name in names]
        return tuple(each.name for each in asked if check_scenario(model, each, sources).outcome is outcome)
