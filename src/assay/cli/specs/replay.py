"""``assay replay``: follows a saved counterexample again, perhaps after an edit of the spec."""

from __future__ import annotations

import json
from pathlib import Path

import click

from assay.checker.report import ExitCode
from assay.checker.saved_traces.replay import Replay
from assay.checker.saved_traces.replay import replay as follow
from assay.checker.saved_traces.saved_trace import NOT_A_TRACE, SavedTrace, trace_from_json
from assay.cli.settings import load
from assay.cli.terminal.output import complain_about, say, say_json
from assay.grammar.diagnostics.diagnostic import Diagnostic, Diagnostics, Span, SpecError
from assay.grammar.parsing.read_file import read_text
from assay.report.specs.replay import replay_lines, replay_object


@click.command()
@click.argument("trace", type=click.Path(path_type=Path))
@click.argument("spec", required=False)
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object to standard output.")
def replay(trace: Path, spec: str | None, as_json: bool) -> int:
    """Follow the counterexample in TRACE again, in SPEC or else in the spec it was found in.

    \b
    Exit code: 1 the run is possible and still violates its property
               0 the run is no longer possible, or harmless now; whether the
                 property holds in every run is what `assay check` says
               2 bad input
               3 undecided: the model no longer has the property
    """
    saved = _read(trace)
    loaded = load(spec or saved.spec, saved.model, saved.settings)
    answer = follow(loaded.kernel, saved, loaded.sources)
    complain_about(loaded.diagnostics, loaded.sources)
    if as_json:
        say_json(replay_object(loaded.kernel, saved, answer))
    else:
        say(replay_lines(loaded.kernel, saved, answer))
    return _exit_code(answer)


def _exit_code(answer: Replay) -> ExitCode:
    if answer.violated:
        return ExitCode.VIOLATED
    return ExitCode.OK if answer.diverged is not None or answer.violated is False else ExitCode.INCONCLUSIVE


def _read(path: Path) -> SavedTrace:
    diagnostics = Diagnostics()
    text = read_text(path, diagnostics)
    if text is None:
        raise SpecError(diagnostics)
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:  # ValueError also for an integer with more digits than Python reads
        what = f"not a saved trace: it is no JSON ({error})"
        raise SpecError([Diagnostic(NOT_A_TRACE, Span(str(path), 1, 1, 1, 1), what)]) from error
    return trace_from_json(data, str(path))
