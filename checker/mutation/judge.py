"""Judging mutants: each is checked as the spec is; a property that the spec satisfies and the mutant does not has
killed it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from enum import Enum
from pathlib import Path

from assay.checker.engines import engine_selection
from assay.checker.mutation.equivalence import Change, changes
from assay.checker.mutation.mutants import Mutant, mutants, mutated
from assay.checker.mutation.scenario_runs import ScenarioRuns
from assay.checker.mutation.survivor_comments import explanation
from assay.checker.options import SearchOptions
from assay.checker.print_kernel import Sources
from assay.checker.report import ExitCode, Outcome, Report, worst
from assay.grammar import kernel as k
from assay.grammar.lazy_dataclass import dataclass

SMALL = 2_000
"""Up to about this many states, direct evaluation is faster than compiling the mutant first."""

COMPARABLE = 5_000
"""Models of at most this many states are compared with their mutants change by change."""


class Fate(Enum):
    """The fate of a mutant."""

    KILLED = "killed"
    EQUIVALENT = "equivalent"
    """The model has the same states and changes of state, so no property of states or steps can notice the mistake."""
    EXPLAINED = "explained"
    SURVIVED = "survived"
    UNDECIDED = "undecided"
    """A limit was reached before anything was violated."""


@dataclass(frozen=True, slots=True)
class MutantJudgement:
    """A mutant, its fate, the properties that killed it, and the reason why it survives or is undecided."""

    mutant: Mutant
    fate: Fate
    killers: tuple[str, ...] = ()
    remark: str | None = None

    @property
    def stale(self) -> bool:
        """Whether the spec explains why the mutant survives, but it does not survive."""
        return self.fate is Fate.KILLED and self.remark is not None


@dataclass(frozen=True, slots=True)
class Mutation:
    """The judgements of all mutants of a spec. ``interrupted``: some were not judged."""

    original: Report
    judged: tuple[MutantJudgement, ...]
    interrupted: bool = False

    def of(self, *fates: Fate) -> tuple[MutantJudgement, ...]:
        """The judgements with one of these fates."""
        return tuple(each for each in self.judged if each.fate in fates)

    @property
    def score(self) -> float | None:
        """The share of killed mutants among those that are not equivalent; None if there are none."""
        candidates = len(self.judged) - len(self.of(Fate.EQUIVALENT))
        return len(self.of(Fate.KILLED)) / candidates if candidates else None

    @property
    def exit_code(self) -> ExitCode:
        """1 if a mutant survived without explanation or an explanation is wrong, 3 if one is undecided, 4 if there were
        none."""
        return worst(self._codes())

    def _codes(self) -> Iterator[ExitCode]:
        if self.interrupted:
            yield ExitCode.INTERRUPTED
        if self.of(Fate.SURVIVED) or any(each.stale for each in self.judged):
            yield ExitCode.VIOLATED
        if self.of(Fate.UNDECIDED):
            yield ExitCode.INCONCLUSIVE
        if not self.judged:
            yield ExitCode.VACUOUS


def judge(
    kernel: k.Kernel,
    sources: Sources,
    original: Report,
    files: frozenset[str],
    options: SearchOptions,
    tell: Callable[[int, int], None],
    runs: ScenarioRuns | None = None,
) -> Mutation:
    """Judge every mutant of lines in ``files``. ``original`` is an exhaustive search of the kernel without violations.

    ``options`` limits each search; ``tell`` is called with the number of judged mutants and of all. Compiled mutants
    are not cached. Mutants that the ``runs`` of another model kill need no search.
    """
    found = mutants(kernel, sources, files)
    judged: list[MutantJudgement] = []
    with tempfile.TemporaryDirectory(prefix="assay-mutants-") as folder:
        # Changes of the original are kept while mutants are judged; those of a large model would fill the memory.
        comparable = original.statistics.distinct <= COMPARABLE
        bench = _Bench(
            kernel, sources, original, options, Path(folder), changes(kernel) if comparable and found else None, runs
        )
        for mutant in found:
            if options.interrupted():
                return Mutation(original, tuple(judged), interrupted=True)
            judged.append(bench.judge(mutant))
            tell(len(judged), len(found))
    return Mutation(original, tuple(judged))


@dataclass(frozen=True, slots=True)
class _Bench:
    """What every mutant of a kernel is compared with."""

    kernel: k.Kernel
    sources: Sources
    original: Report
    options: SearchOptions
    cache: Path
    changes: frozenset[Change] | None
    runs: ScenarioRuns | None

    def judge(self, mutant: Mutant) -> MutantJudgement:
        remark = explanation(mutant, self.sources)
        noticed = self.runs.killers(mutant) if self.runs else ()
        # Before the search, which is the expensive part: runs of scenarios cost nearly nothing.
        if noticed:
            return MutantJudgement(mutant, Fate.KILLED, noticed, remark)
        kernel = mutated(self.kernel, mutant)
        report = self._search(kernel)
        killers = self._killers(report)
        # A search that was stopped may have found a violation before: then the limit does not matter.
        if killers:
            return MutantJudgement(mutant, Fate.KILLED, killers, remark)
        if report.stopped is not None:
            return MutantJudgement(mutant, Fate.UNDECIDED, remark=report.stopped)
        if self._equivalent(mutant, kernel, report):
            return MutantJudgement(mutant, Fate.EQUIVALENT)
        return MutantJudgement(mutant, Fate.SURVIVED if remark is None else Fate.EXPLAINED, remark=remark)

    def _search(self, kernel: k.Kernel) -> Report:
        """Search by direct evaluation while the model is small, and by compiled code, from the start, where
        it is not."""
        most = self.options.max_states
        first = replace(self.options, max_states=SMALL if most is None else min(SMALL, most))
        report = engine_selection.check(kernel, first, self.sources, "reference").report
        # A violation ends a search, so that `stopped` alone does not say that more states would be needed.
        if report.stopped is None or report.interrupted or self._killers(report):
            return report
        return engine_selection.check(kernel, self.options, self.sources, "auto", self.cache).report

    def _killers(self, report: Report) -> tuple[str, ...]:
        """The properties that hold for the spec and not for the mutant. A reachable that is lost counts even where
        bounds cut."""
        held = {each.name for each in self.original.properties if each.outcome in (Outcome.HOLDS, Outcome.UP_TO_BOUND)}
        # A search that was cut short may only not have come to the state that a reachable asks for.
        whole = report.stopped is None
        return tuple(
            each.name
            for each in report.properties
            if each.name in held
            and (
                each.outcome is Outcome.VIOLATED
                or (whole and each.kind == "reachable" and each.outcome is Outcome.UNKNOWN)
            )
        )

    def _equivalent(self, mutant: Mutant, kernel: k.Kernel, report: Report) -> bool:
        """Whether the mutant makes the same changes of state, as far as is known.

        A mutant without a guard has every step of the original; with as many states and steps it has no others. A line
        of actions that never happen, in the original and in the mutant, changes nothing.
        """
        ours, theirs = self.original.statistics, report.statistics
        # Both are counts of whole searches: another number of states cannot be the same behaviour.
        if ours.distinct != theirs.distinct:
            return False
        if self.changes is not None:
            return self.changes == changes(kernel)
        never = not _taken(self.original, mutant) and not _taken(report, mutant)
        return ours.generated == theirs.generated and (never or mutant.grows)


def _taken(report: Report, mutant: Mutant) -> int:
    return sum(each.taken for each in report.coverage.actions if each.action in mutant.actions)
