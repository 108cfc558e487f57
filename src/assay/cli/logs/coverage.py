"""``assay coverage``: which parts of a model logs have exercised, added up over many logs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from assay.checker.report import ExitCode, worst
from assay.cli.settings import load
from assay.cli.terminal.files import write_result
from assay.cli.terminal.output import complain_about, say, say_json
from assay.cli.terminal.progress import activity
from assay.grammar.diagnostics.diagnostic import Diagnostic, Span, SpecError
from assay.grammar.load import Loaded
from assay.report.logs.coverage import log_coverage_lines, log_coverage_object
from assay.report.logs.validation_object import exit_code
from assay.traces.coverage import LogCoverage, UnfitCoverageError, as_text, coverage_of, from_text, merge_coverage
from assay.traces.log_reader import ReadOptions, read_logs
from assay.traces.observe.model_size import orders_by_thread, source_of
from assay.traces.spec_selection import validate_with_selection

INTO = click.option(
    "--into",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Add to what the file holds, or write it.",
)
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Write one JSON object to standard output.")
SPEC = click.option("--spec", metavar="SPEC", help="The spec; if it is left out, as `assay validate` chooses.")


@click.group()
def coverage() -> None:
    """Which actions and guards of a model logs have exercised, and which they never did."""


@coverage.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH…")
@SPEC
@INTO
@AS_JSON
def logs(paths: tuple[str, ...], spec: str | None, into: Path | None, as_json: bool) -> int:
    """Validate the logs at PATH…, and count what their execution exercised. The exit code is that of `assay validate`."""
    # Before the logs, which may take minutes: the file may be none of coverage.
    before = [_read(into)] if into is not None and into.exists() else []
    with activity("reading logs") as show:
        named = None if spec is None else load(spec, None, {})
        reading = read_logs(paths, ReadOptions(source=source_of(named, None), threads=orders_by_thread(named)))
        show("validating")
        loaded, validation = validate_with_selection(reading, named, lambda name: load(name, None, {}))
    found = coverage_of(validation)
    return worst([exit_code(validation), _write(_sum([*before, found]), loaded, into, as_json=as_json)])


@coverage.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@SPEC
@INTO
@AS_JSON
def merge(files: tuple[Path, ...], spec: str | None, into: Path | None, as_json: bool) -> int:
    """Add up the coverage in FILES, and show it."""
    found = _sum([_read(file) for file in files])
    # Coverage has the name of the module, and bundled specs are found by it.
    loaded = load(spec or found.spec.replace(".", "/"), None, {})
    if loaded.kernel.name != found.spec:
        raise SpecError([_unfit("coverage", f"coverage of {found.spec} says nothing of {loaded.kernel.name}")])
    return _write(found, loaded, into, as_json=as_json)


def _write(found: LogCoverage, loaded: Loaded, into: Path | None, *, as_json: bool) -> ExitCode:
    problems = [] if into is None else write_result(into, as_text(found))
    complain_about(problems, loaded.sources)
    if as_json:
        say_json(log_coverage_object(found, loaded.kernel))
    else:
        say(log_coverage_lines(found, loaded.kernel))
    return ExitCode.BAD_INPUT if problems else ExitCode.OK


def _sum(parts: Sequence[LogCoverage]) -> LogCoverage:
    try:
        return merge_coverage(parts)
    except UnfitCoverageError as error:
        raise SpecError([_unfit("coverage", str(error))]) from error


def _read(file: Path) -> LogCoverage:
    try:
        return from_text(file.read_text(encoding="utf-8"))
    except (UnfitCoverageError, UnicodeDecodeError) as error:
        raise SpecError([_unfit(str(file), str(error))]) from error


def _unfit(what: str, why: str) -> Diagnostic:
    return Diagnostic("E907", Span(what, 0, 0, 0, 0), why)
