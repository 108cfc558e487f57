"""``assay validate --spark``: the same answer, made by the tasks of a Spark session; for many clusters at once with
``--clusters``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from assay.checker.report import ExitCode, worst
from assay.cli.terminal.files import write_result
from assay.cli.terminal.output import complain_about, output_width, say, say_json
from assay.cli.terminal.progress import activity
from assay.grammar.diagnostics.diagnostic import NOWHERE, Diagnostic, Note, SpecError
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.load import Loaded
from assay.report.diagnostics import diagnostic_object
from assay.report.logs.clusters import (
    ClusterReport,
    clusters_exit_code,
    clusters_lines,
    clusters_object,
    junit_of_clusters,
)
from assay.report.logs.first_screen import answer_lines
from assay.report.logs.validation_object import junit_of_validation, validation_object
from assay.traces.log_reader import ReadOptions
from assay.traces.observe.model_size import orders_by_thread, source_of
from assay.traces.options import Options
from assay.traces.scoped_validate import AnswerScope

if TYPE_CHECKING:
    from assay.spark.logs.spec_for_cluster import SpecSelection
    from assay.spark.logs.validate import ClusterAnswer

F = TypeVar("F", bound=Callable[..., int])
NOT_ON_SPARK = "E842"


def validation_on_spark(command: F) -> F:
    """The options that need ``--spark``."""
    for option in (
        click.option("--tables", metavar="DIR", help="With --spark: also write the answer as Parquet tables to a directory or URI."),
        click.option("--clusters", metavar="REGEX", help="With --spark: whose first group names the cluster in each file's name; each is answered by itself."),
        click.option("--spark", metavar="MASTER", help="Validate on Spark: `local[*]`, `spark://HOST:PORT`, `yarn`, …"),
    ):  # fmt: skip
        command = option(command)
    return command


@dataclass(frozen=True, slots=True)
class SparkQuestion:
    """What is asked: the spec, and the options that determine the answer."""

    spec: SpecSelection
    clause: str | None
    options: Options
    scope: AnswerScope
    shapes: tuple[Path, ...]
    redact: bool


@dataclass(frozen=True, slots=True)
class SparkOutput:
    """How the answer is divided into clusters, and where it goes."""

    clusters: str | None
    tables: str | None
    as_json: bool
    junit: Path | None
    html: Path | None
    details: bool = False


def refuse_without_spark(clusters: str | None, tables: str | None) -> None:
    """Raise SpecError for options that only Spark supports."""
    for name, value in (("--clusters", clusters), ("--tables", tables)):
        if value is not None:
            notes = (Note("on this machine alone: `--spark 'local[*]'`"),)
            raise SpecError([Diagnostic(NOT_ON_SPARK, NOWHERE, f"`{name}` needs `--spark`", notes)])


def refuse_on_spark(options: Mapping[str, bool], output: SparkOutput) -> None:
    """Raise SpecError for options that Spark does not support, and for an HTML page about several clusters."""
    notes = (Note("take a part of the logs with `--since`, `--until` or `--topic`, and leave `--spark` out"),)
    problems = [
        Diagnostic(NOT_ON_SPARK, NOWHERE, f"`{name}` asks of one process alone", notes)
        for name, is_given in options.items()
        if is_given
    ]
    if output.html is not None and output.clusters is not None:
        message = "`--html` shows one cluster, and `--clusters` asks of several"
        problems.append(Diagnostic(NOT_ON_SPARK, NOWHERE, message))
    if problems:
        raise SpecError(problems)


def validate_on_spark(master: str, paths: Sequence[str], question: SparkQuestion, output: SparkOutput) -> int:
    """Validate the logs, write the answer, and return the exit code."""
    found, problems = _answers(master, paths, question, output)
    reports = [ClusterReport(each.cluster, each.validation, each.overview) for each in found]
    if output.junit is not None:
        xml = junit_of_validation(reports[0].validation) if output.clusters is None else junit_of_clusters(reports)
        problems += write_result(output.junit, xml)
    if output.html is not None:
        from assay.report.logs.html import html_report  # noqa: PLC0415 - most answers are no page

        title = "redacted logs" if question.redact else " ".join(paths)
        # One cluster alone: a page about several was refused before.
        page = html_report(reports[0].validation, list(found[0].events), title, reports[0].overview)
        problems += write_result(output.html, page)
    return _write_answer([each.spec for each in found], reports, problems, output)


def _answers(
    master: str, paths: Sequence[str], question: SparkQuestion, output: SparkOutput
) -> tuple[list[ClusterAnswer], list[Diagnostic]]:
    from assay.spark.logs.inputs import list_inputs  # noqa: PLC0415
    from assay.spark.logs.tables import tables  # noqa: PLC0415
    from assay.spark.logs.tasks import ClusterQuestion  # noqa: PLC0415 - only needed with Spark
    from assay.spark.logs.validate import validating  # noqa: PLC0415
    from assay.spark.session.session import local_settings, session  # noqa: PLC0415

    # Pattern files are read here: the tasks may be on machines that do not have them.
    asked = ClusterQuestion(
        question.spec,
        question.clause,
        question.options,
        question.scope,
        ReadOptions(
            question.shapes,
            source=source_of(question.spec.loaded, question.clause),
            threads=orders_by_thread(question.spec.loaded),
        ).portable(),
        question.redact,
        # Only a page and tables have lines that no rule uses: otherwise those need not leave the cluster.
        all_events=output.html is not None or output.tables is not None,
    )
    problems: list[Diagnostic] = []
    with activity("starting Spark") as show, session(master, local_settings(master)) as spark:
        show("listing logs")
        inputs = list_inputs(spark, paths, output.clusters)
        show(f"validating {len(inputs.files):,} files")
        with validating(spark, inputs, asked, keep_executions=output.html is not None) as work:
            if output.tables is not None:
                show("writing tables")
                answers = {each.cluster: each.validation for each in work.answers}
                problems += tables(spark, answers, work.rows).write(output.tables)
            return list(work.answers), problems


def _write_answer(
    specs: list[Loaded], reports: list[ClusterReport], problems: list[Diagnostic], output: SparkOutput
) -> int:
    remarks = [*dict.fromkeys(remark for spec in specs for remark in spec.diagnostics), *problems]
    complain_about(remarks, {name: text for spec in specs for name, text in spec.sources.items()})
    single = reports[0] if output.clusters is None else None
    if output.as_json:
        found = clusters_object(reports) if single is None else validation_object(single.validation, single.overview)
        shown = [diagnostic_object(each) for each in remarks]
        say_json(found | ({"diagnostics": shown} if shown else {}))
    else:
        width = output_width()
        say(
            clusters_lines(reports, details=output.details, width=width)
            if single is None
            else answer_lines(single.validation, single.overview, details=output.details, width=width)
        )
    return worst([clusters_exit_code(reports), *([ExitCode.BAD_INPUT] if problems else [])])
