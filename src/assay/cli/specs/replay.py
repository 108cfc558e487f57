"""``assay replay``: follows a saved counterexample again, perhaps after an edit of the spec."""

from __future__ import annotations

from pathlib import Path

import click

from assay.checker.report import ExitCode, worst
from assay.checker.saved_traces.replay import Replay
from assay.checker.saved_traces.replay import replay as follow
from assay.checker.saved_traces.trace_file import read_trace
from assay.checker.stepper.split_call import NoSuchStepError
from assay.checker.stepper.stepper import Stepper
from assay.cli.answer import save_diagram, with_pictures
from assay.cli.settings import load
from assay.cli.terminal.files import write_result
from assay.cli.terminal.output import complain_about, say, say_json
from assay.explorer.scenario_text import scenario_text
from assay.grammar.diagnostics.diagnostic import Diagnostic
from assay.grammar.load import Loaded
from assay.report.lines import Line
from assay.report.specs.picture.counterexample import replay_page
from assay.report.specs.replay import replay_lines, replay_object


@click.command()
@click.argument("trace", type=click.Path(path_type=Path))
@click.argument("spec", required=False)
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object to standard output.")
@click.option(
    "--scenario", metavar="NAME", help="Print the run, as far as it is possible, as a scenario to be put into the spec."
)
@with_pictures("run")
def replay(
    trace: Path, spec: str | None, as_json: bool, scenario: str | None, html: Path | None, diagram: Path | None
) -> int:
    """Follow the counterexample in TRACE again, in SPEC or else in the spec it was found in.

    \b
    Exit code: 1 the run is possible and still violates its property
               0 the run is no longer possible, or harmless now; whether the
                 property holds in every run is what `assay check` says
               2 bad input
               3 undecided: the model no longer has the property
    """
    if as_json and scenario is not None:
        raise click.UsageError("--scenario prints text of a spec, and --json an object: one of them")
    saved = read_trace(trace)
    loaded = load(spec or saved.spec, saved.model, saved.settings)
    answer = follow(loaded.kernel, saved, loaded.sources)
    problems: list[Diagnostic] = []
    if html is not None:
        problems += write_result(html, replay_page(loaded.kernel, loaded.sources, saved, answer))
    if diagram is not None:
        followed = answer.trace if answer.trace.steps else None
        problems += save_diagram(loaded.kernel, followed, diagram, saved.property)
    complain_about([*loaded.diagnostics, *problems], loaded.sources)
    if scenario is not None:
        say([Line(line) for line in _scenario(loaded, answer, scenario)])
    elif as_json:
        say_json(replay_object(loaded.kernel, saved, answer))
    else:
        say(replay_lines(loaded.kernel, saved, answer))
    return worst([_exit_code(answer), *([ExitCode.BAD_INPUT] if problems else [])])


def _scenario(loaded: Loaded, answer: Replay, name: str) -> list[str]:
    if not answer.trace.steps:
        raise click.UsageError(f"--scenario: the run has no beginning in this spec: {answer.diverged}")
    try:
        return scenario_text(Stepper(loaded), answer.trace, name).splitlines()
    except NoSuchStepError as error:
        raise click.UsageError(f"--scenario: {error}") from error


def _exit_code(answer: Replay) -> ExitCode:
    if answer.violated:
        return ExitCode.VIOLATED
    # A run that is no longer possible violates nothing, whatever became of its property.
    return ExitCode.OK if answer.diverged is not None or answer.violated is False else ExitCode.INCONCLUSIVE
