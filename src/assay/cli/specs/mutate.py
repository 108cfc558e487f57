"""``assay mutate``: which mistakes in a spec its properties would notice."""

from __future__ import annotations

from dataclasses import replace

import click

from assay.checker.engines import engine_selection
from assay.checker.mutation.judge import Mutation, judge
from assay.checker.mutation.scenario_runs import ScenarioRuns, runs
from assay.checker.options import SearchOptions
from assay.checker.report import ExitCode, Report
from assay.cli.settings import load, model_options, parse_settings
from assay.cli.terminal.interrupt import stoppable
from assay.cli.terminal.output import complain_about, say, say_json
from assay.cli.terminal.parse_seconds import SECONDS
from assay.cli.terminal.progress import activity
from assay.grammar.diagnostics.diagnostic import NOWHERE, Diagnostic, SpecError
from assay.grammar.load import Loaded
from assay.report.specs.mutation import mutation_lines, mutation_object

GROWTH = 10
"""A mutant may have so many times the states of the spec, plus 10,000, before it is given up."""


@click.command()
@click.argument("spec")
@model_options
@click.option(
    "--scenarios", metavar="MODEL", help="Let the scenarios of this model of SPEC judge too; it is not searched."
)
@click.option("--used", is_flag=True, help="Also mutate the lines of the modules that the spec uses.")
@click.option(
    "--max-states",
    type=click.IntRange(min=1),
    metavar="N",
    help=f"Give a mutant up at N distinct states.  [default: {GROWTH} times those of the spec]",
)
@click.option(
    "--timeout",
    type=SECONDS,
    default=60.0,
    show_default=True,
    metavar="S",
    help="Give a mutant up after S seconds.",
)
@click.option("--threads", type=click.IntRange(min=1), metavar="N", help="Threads of the native engine.")
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object to standard output.")
def mutate(
    spec: str,
    model: str | None,
    settings: tuple[str, ...],
    scenarios: str | None,
    used: bool,
    max_states: int | None,
    timeout: float,
    threads: int | None,
    as_json: bool,
) -> int:
    """Make one mistake after the other in SPEC, check each, and say which properties notice.

    \b
    Exit code: 0 each mutant is killed, equivalent or explained in the spec    1 one is not
               2 bad input, or SPEC itself does not hold    3 one was given up    4 there is nothing to mutate
    """
    loaded = load(spec, model, parse_settings(settings))
    longer = None if scenarios is None else load(spec, scenarios, parse_settings(settings))
    # Without the view: mutants are compared with the spec by their whole states.
    limits = SearchOptions(max_states=max_states, timeout=timeout, threads=threads, view=False)
    mutation = run(loaded, limits, used, longer)
    complain_about(loaded.diagnostics, loaded.sources)
    if as_json:
        say_json(mutation_object(mutation))
    else:
        say(mutation_lines(mutation))
    return mutation.exit_code


def run(loaded: Loaded, limits: SearchOptions, used: bool = False, longer: Loaded | None = None) -> Mutation:
    """Check a spec and judge its mutants; with ``used``, mutants of the modules that it uses too. Raises ``SpecError``
    if the spec does not hold.

    The scenarios of ``longer``, another model of the spec, judge too.
    """
    with stoppable() as asked, activity("checking the spec") as show:
        # The limits are for mutants: without a complete answer about the spec there is nothing to judge them by.
        original = _checked(loaded, replace(limits, max_states=None, timeout=None, interrupted=asked))
        most = limits.max_states or GROWTH * original.statistics.distinct + 10_000
        options = replace(limits, max_states=most, interrupted=asked)
        files = frozenset(loaded.sources) if used else frozenset((loaded.tree.top.file,))
        return judge(
            loaded.kernel,
            loaded.sources,
            original,
            files,
            options,
            lambda done, total: show(f"{done} of {total} mutants judged"),
            None if longer is None else _runs(longer),
        )


def _runs(longer: Loaded) -> ScenarioRuns:
    found = runs(longer.kernel, longer.sources)
    asked = {each.name for each in longer.kernel.scenarios if each.inapplicable is None}
    if not asked or asked != found.names:
        names = ", ".join(sorted(asked - found.names)) or "it has none"
        message = f"the scenarios of {longer.kernel.name} cannot judge its mutants, for not all of them hold: {names}"
        raise SpecError([Diagnostic("E905", NOWHERE, message)])
    return found


def _checked(loaded: Loaded, options: SearchOptions) -> Report:
    original = engine_selection.check(loaded.kernel, options, loaded.sources).report
    if original.interrupted:
        raise KeyboardInterrupt
    if original.exit_code not in (ExitCode.OK, ExitCode.UP_TO_BOUND):
        message = f"{original.kernel.name} itself is {original.outcome.value}, so its mutants cannot be judged"
        raise SpecError([Diagnostic("E905", NOWHERE, message)])
    return original
