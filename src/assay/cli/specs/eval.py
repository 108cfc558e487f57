"""``assay eval``: the values of expressions in an initial state, or along a saved trace."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from assay.checker.report import ExitCode
from assay.checker.saved_traces.json_values import to_json
from assay.checker.stepper.split_call import NoSuchStepError
from assay.checker.stepper.stepper import Stepper
from assay.checker.stepper.steps import EvaluatedExpression
from assay.cli.settings import load, model_options, parse_settings
from assay.cli.terminal.output import complain, complain_about, say, say_json
from assay.grammar.diagnostics.diagnostic import NOWHERE, Diagnostic, SpecError
from assay.report.lines import Line, Tone
from assay.report.specs.changes import step_name


@click.command("eval")
@click.argument("spec")
@click.argument("expressions", nargs=-1, required=True, metavar="EXPRESSION...")
@click.option("--trace", type=click.Path(path_type=Path), help="A trace that `assay check --trace-out` wrote.")
@click.option("--at", type=int, help="The step of the trace, counted from 0; negative ones from its end. Default: all.")
@click.option("--initial", type=click.IntRange(min=0), default=0, help="The number of the initial state. Default: 0.")
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object to standard output.")
@model_options
def eval(  # noqa: A001 - the name of the command
    spec: str,
    expressions: tuple[str, ...],
    trace: Path | None,
    at: int | None,
    initial: int,
    as_json: bool,
    model: str | None,
    settings: tuple[str, ...],
) -> int:
    """Print the values of expressions over SPEC: in an initial state, or in the states of a saved trace.

    An expression may use every name of the spec; `old(x)` is the value of x before the step.

    \b
    Exit code: 0 every expression has a value
               2 bad input
               3 some expression has no value in some state, or the trace
                 cannot be followed to its end
    """
    if at is not None and trace is None:
        raise click.UsageError("--at needs --trace: the steps that it counts")
    stepper = Stepper(load(spec, model, parse_settings(settings)), spec)
    complain_about(stepper.loaded.diagnostics, stepper.loaded.sources)
    stopped = _open(stepper, trace, initial)
    rows = [
        (place, [(text, stepper.evaluate(text, place)) for text in expressions])
        for place in _places(stepper, trace, at)
    ]
    if as_json:
        say_json({"assay": "1", "spec": spec, "stopped": stopped, "values": [_row(*row) for row in rows]})
    else:
        say(line for place, row in rows for line in _lines(stepper, place, row, headed=trace is not None))
        if stopped is not None:
            complain([Line(f"the trace ends here: {stopped}", Tone.WARN)])
    # A value that is missing must not pass for an answer in a script.
    undefined = any(value.undefined is not None for _, row in rows for _, value in row)
    return ExitCode.INCONCLUSIVE if undefined or stopped is not None else ExitCode.OK


def _open(stepper: Stepper, trace: Path | None, initial: int) -> str | None:
    try:
        if trace is not None:
            return stepper.load(trace)
        stepper.begin(initial)
    except NoSuchStepError as error:
        raise SpecError([Diagnostic("E901", NOWHERE, str(error))]) from None
    return None


def _places(stepper: Stepper, trace: Path | None, at: int | None) -> list[int]:
    """The places of the path in which to evaluate."""
    length = len(stepper.trace)
    if trace is None or at is None:
        places = list(range(length))
    elif -length <= at < length:
        places = [at % length]
    else:
        raise SpecError([Diagnostic("E901", NOWHERE, f"the trace has no step {at}: it has {length} states")])
    return places


def _row(place: int, row: list[tuple[str, EvaluatedExpression]]) -> dict[str, Any]:
    values = [
        {
            "expression": text,
            # Null is a value too, that of `none`. Only `undefined` says whether there is one.
            "value": None if value.undefined is not None else to_json(value.value, value.type),
            "shown": value.shown,
            "undefined": value.undefined,
        }
        for text, value in row
    ]
    return {"step": place, "expressions": values}


def _lines(stepper: Stepper, place: int, row: list[tuple[str, EvaluatedExpression]], *, headed: bool) -> list[Line]:
    values = [
        Line(f"{text} = {value.shown}", Tone.WARN if value.undefined is not None else Tone.PLAIN) for text, value in row
    ]
    if not headed:
        return values
    step = stepper.trace.steps[place]
    heading = Line(f"{place}  {step_name(stepper.kernel, step)}", Tone.HEADING)
    return [heading, *(Line(f"   {line.text}", line.tone) for line in values)]
