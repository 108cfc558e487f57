"""``check`` and ``simulate``, and their answers as values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import Any

from assay.api.input_error import raises_input_error
from assay.api.spec import Spec, SpecLike, load
from assay.checker.engines import engine_selection
from assay.checker.engines.engine_selection import Engine
from assay.checker.options import SearchOptions
from assay.checker.report import ExitCode, Outcome, PropertyResult, Report
from assay.checker.simulate.random_walks import Walks
from assay.checker.simulate.simulate import Simulated
from assay.checker.simulate.simulate import simulate as walk
from assay.grammar.diagnostics.diagnostic import Diagnostic
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.spec_cache import declared_models
from assay.report.junit import junit_of_report
from assay.report.lines import Line
from assay.report.specs.check_object import report_object
from assay.report.specs.simulation import simulation_lines, simulation_object
from assay.report.specs.text import report_lines


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecAnswer:
    """An answer about a spec. Its text is what the command line prints.

    ``report`` is the whole answer: a result for each property, sizes, bounds that were hit, coverage. ``declined`` says
    why the fast engine was not used, if it was not.
    """

    spec: Spec
    report: Report = field(repr=False)
    declined: Diagnostic | None = field(default=None, repr=False)

    def lines(self) -> list[Line]:
        """The answer as lines of text, each with its tone."""
        return report_lines(self.report)

    def to_object(self) -> dict[str, Any]:
        """The answer as ``--json`` prints it (docs/cli.md)."""
        return report_object(self.report)

    def junit(self) -> str:
        """The answer as JUnit XML."""
        return junit_of_report(self.report)

    @property
    def exit_code(self) -> ExitCode:
        """The exit code of the command line."""
        return self.report.exit_code

    @property
    def outcome(self) -> Outcome:
        """The verdict about the whole."""
        return self.report.outcome

    @property
    def ok(self) -> bool:
        """Whether everything holds, at least up to the bounds that the answer names."""
        return self.outcome in (Outcome.HOLDS, Outcome.UP_TO_BOUND)

    @property
    def violated(self) -> tuple[PropertyResult, ...]:
        """The properties that are violated, each with its run."""
        return tuple(each for each in self.report.properties if each.outcome is Outcome.VIOLATED)

    @property
    def counterexample(self) -> PropertyResult | None:
        """The first violated property whose run can be replayed. Not that of a scenario: every check runs a scenario
        anew.
        """
        found = (each for each in self.violated if each.trace is not None and each.kind != "scenario")
        return next(found, None)

    def __getitem__(self, name: str) -> PropertyResult:
        found = next((each for each in self.report.properties if each.name == name), None)
        if found is None:
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[PropertyResult]:
        return iter(self.report.properties)

    def __str__(self) -> str:
        return "\n".join(line.text for line in self.lines())


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckAnswer(SpecAnswer):
    """What a search of the states found."""

    def lines(self) -> list[Line]:
        """The answer as lines of text, each with its tone; where no model was named, with the names of those that
        could be checked too.
        """
        loaded = self.spec.loaded
        # Who names a model knows that there are several.
        others = declared_models(loaded) if loaded.model is None else ()
        return report_lines(self.report, [name for name in others if name != loaded.kernel.model])


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationAnswer(SpecAnswer):
    """What random walks found: ``simulated`` counts them."""

    simulated: Simulated = field(repr=False)

    def lines(self) -> list[Line]:
        """The answer as lines of text, each with its tone."""
        return simulation_lines(self.simulated)

    def to_object(self) -> dict[str, Any]:
        """The answer as ``--json`` prints it (docs/cli.md)."""
        return simulation_object(self.simulated)


@raises_input_error
def check(spec: SpecLike, *, engine: Engine = "auto", options: SearchOptions | None = None) -> CheckAnswer:
    """Check all properties of a spec, or those that ``options`` names, by searching its states.

    Raises ``InputError`` for a spec with mistakes, and a property that it does not have. So it does for a construct
    that an engine asked for by name cannot search.
    """
    asked = load(spec)
    found = engine_selection.check(asked.kernel, options, asked.loaded.sources, engine)
    return CheckAnswer(spec=asked, report=found.report, declined=found.declined)


@raises_input_error
def simulate(
    spec: SpecLike, *, walks: Walks | None = None, engine: Engine = "auto", options: SearchOptions | None = None
) -> SimulationAnswer:
    """Walk through a spec at random, for models whose states are too many to be searched. It proves nothing.

    Raises ``InputError`` as ``check`` does.
    """
    asked = load(spec)
    found = walk(asked.kernel, walks or Walks(), options, asked.loaded.sources, engine)
    return SimulationAnswer(spec=asked, report=found.report, declined=found.declined, simulated=found)
