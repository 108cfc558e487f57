"""``assay generate tests``: runs that together cover a model, as tests of real code."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import partial
from keyword import iskeyword
from pathlib import Path
from time import monotonic

import click

from assay.checker.covering.cover import covering_runs
from assay.checker.covering.runs import KINDS, CoveringRuns
from assay.checker.covering.uncoverable_items import never_covered
from assay.checker.report import ExitCode
from assay.cli.settings import load, model_options, parse_settings
from assay.cli.terminal.files import write_result
from assay.cli.terminal.interrupt import stoppable
from assay.cli.terminal.output import complain, complain_about, say
from assay.cli.terminal.parse_seconds import SECONDS
from assay.report.lines import Line, Tone
from assay.report.specs.test_runs import coverage_lines, exit_code_of, pytest_text, runs_object

NAME = r"[A-Za-z_]\w*"
DRIVER = re.compile(rf"({NAME}(?:\.{NAME})*):({NAME})")


@click.group(no_args_is_help=False)
def generate() -> None:
    """Write tests of real code that a model is made into."""


@generate.command()
@click.argument("spec")
@model_options
@click.option(
    "--cover", default=",".join(KINDS), show_default=True, metavar="KINDS",
    help="Each action; each guard that alone refuses one; each pair of actions in a row.",
)  # fmt: skip
@click.option("--to", type=click.Choice(["pytest", "json"]), default="pytest", show_default=True, help="What to write.")
@click.option(
    "--driver", default="driver:Driver", show_default=True, metavar="MODULE:CLASS",
    help="For pytest: what calls the code, as `assay.testing` has it.",
)  # fmt: skip
@click.option(
    "--max-states", type=click.IntRange(min=1), default=10_000, show_default=True, metavar="N",
    help="Look at N states at most.",
)  # fmt: skip
@click.option(
    "--timeout", type=SECONDS, default=60, show_default=True, metavar="S",
    help="Search for S seconds at most.",
)  # fmt: skip
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write to a file.  [default: standard output]",
)
def tests(
    spec: str,
    model: str | None,
    settings: tuple[str, ...],
    cover: str,
    to: str,
    driver: str,
    max_states: int,
    timeout: float,
    out: Path | None,
) -> int:
    """Write few short runs of SPEC that cover its actions, its guards, and its pairs of actions.

    For pytest all runs begin in the first initial state, in which `assay.testing` begins.

    \b
    Exit code: 0 everything is covered that any run can cover
               2 bad input
               3 something was not reached within the limits
               4 there is nothing to cover
    """
    kinds = _kinds(cover)
    named = _module_and_class(driver)
    loaded = load(spec, model, parse_settings(settings))
    complain_about(loaded.diagnostics, loaded.sources)
    with stoppable() as asked:
        over = _limit(asked, timeout)
        # A third of the time at most goes into a search of all states for what no run covers.
        never = partial(never_covered, loaded.kernel, kinds, timeout / 3, over)
        found = covering_runs(loaded.kernel, kinds, max_states, over, first_alone=to == "pytest", never=never)
    text = _text(found, to, spec, loaded.overrides, named, out)
    problems = [] if out is None else write_result(out, text + "\n")
    complain_about(problems)
    if out is None:
        # Standard output is the file then. What is said about it must not get into it.
        say([Line(text)])
        complain(coverage_lines(found))
    elif not problems:
        say([*coverage_lines(found), Line(f"{out}: written", Tone.GOOD)])
    return ExitCode.BAD_INPUT if problems else exit_code_of(found)


def _limit(asked: Callable[[], bool], timeout: float) -> Callable[[], str | None]:
    """Gives why the search has to end, if it has to: at Ctrl-C, or after so many seconds from now on."""
    due = monotonic() + timeout

    def over() -> str | None:
        if asked():
            return "interrupted"
        return f"the limit of {timeout:g} s was reached" if monotonic() > due else None

    return over


def _module_and_class(driver: str) -> tuple[str, str]:
    named = DRIVER.fullmatch(driver)
    # A keyword of Python has the form of a name, and would make a file that cannot be imported.
    if named is None or any(map(iskeyword, (*named[1].split("."), named[2]))):
        raise click.UsageError(f"--driver: `{driver}` does not have the form `module:Class`")
    return named[1], named[2]


def _kinds(cover: str) -> list[str]:
    kinds = [each.strip() for each in cover.split(",")]
    strange = next((each for each in kinds if each not in KINDS), None)
    if strange is not None:
        raise click.UsageError(f"--cover: `{strange}` is none of {', '.join(KINDS)}")
    return kinds


def _text(
    found: CoveringRuns, to: str, spec: str, settings: Mapping[str, str], driver: tuple[str, str], out: Path | None
) -> str:
    if to == "json":
        return json.dumps(runs_object(found, spec, settings), ensure_ascii=False, indent=1)
    # On standard output the file has no place yet: one in the working directory is assumed.
    return pytest_text(found, spec, settings, driver, out or Path("test_runs.py")).rstrip("\n")
