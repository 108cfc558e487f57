"""Validation for people who live in notebooks: through a session of their own, with tables as the answer."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from assay.grammar.load import Loaded, bundled_specs, load_spec
from assay.spark.logs.dataframe_input import contents_of, inputs_of
from assay.spark.logs.inputs import list_inputs
from assay.spark.logs.spec_for_cluster import Wanted, wanted_by_lines
from assay.spark.logs.tables import LogTables, tables
from assay.spark.logs.tasks import EVERYTHING, ClusterQuestion
from assay.spark.logs.validate import How, validating
from assay.spark.session.session import require_pyspark
from assay.traces.log_reader import ReadOptions
from assay.traces.options import DEFAULT_OPTIONS
from assay.traces.patterns.catalogue import ShapeText
from assay.traces.result import Validation
from assay.traces.scoped_validate import AnswerScope

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class Validated:
    """The answer: a ``Validation`` for each cluster (``""`` where there is but one), and tables of all of them.

    Spark keeps what was read until ``close``, or until the end of a ``with`` block; the tables can be used afterwards too, and are then made again.
    """

    answers: dict[str, Validation]
    tables: LogTables
    _kept: ExitStack

    @property
    def events(self) -> DataFrame:
        """Every event of every log."""
        return self.tables.events

    @property
    def verdicts(self) -> DataFrame:
        """A row for each cluster (its ``slice`` is null) and one for each slice."""
        return self.tables.verdicts

    @property
    def violations(self) -> DataFrame:
        """A row for each line at which no execution of the model goes on."""
        return self.tables.violations

    @property
    def coverage(self) -> DataFrame:
        """How many events were used, ignored and unmapped, and which steps were assumed."""
        return self.tables.coverage

    def close(self) -> None:
        """Let Spark forget what was read."""
        self._kept.close()

    def __enter__(self) -> Validated:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def validate(  # noqa: PLR0913 - a notebook names what it wants, and each has a default
    spark: SparkSession,
    logs: str | Path | Sequence[str | Path] | DataFrame,
    spec: str | Path | Loaded | None = None,
    *,
    clause: str | None = None,
    clusters: str | None = None,
    skew: int | None = None,
    scope: AnswerScope = EVERYTHING,
    shapes: Sequence[Path] = (),
    how: How | None = None,
) -> Validated:
    """Validate logs against a spec, with the tasks of a session.

    ``logs`` are files, directories, archives, patterns of paths or URIs, or a table with the columns ``path`` and ``content`` (as
    ``spark.read.format("binaryFile")`` makes it) or ``file``, ``line`` and ``text``. ``spec`` is a file, the name of a bundled spec,
    or one that was loaded; without it each cluster's lines decide, as they do for the local command.
    ``clusters`` is a regular expression whose first group names the cluster in a file's name; ``skew`` is in milliseconds; ``shapes`` are files of
    further line shapes. The session's settings are as before when this returns. Plain Spark tables do all the work, so that
    a session of Spark Connect will do, if its workers have this package.

    Raises SpecError for logs or a spec that cannot be used, and if Spark fails.
    """
    require_pyspark()
    question = ClusterQuestion(
        spec=_wanted(spec),
        clause=clause,
        options=replace(DEFAULT_OPTIONS, skew=skew),
        scope=scope,
        read=ReadOptions(tuple(ShapeText(str(path), path.read_bytes()) for path in shapes)),
        all_events=True,
    )
    with ExitStack() as kept:
        contents = None
        if isinstance(logs, str | Path):
            inputs = list_inputs(spark, [str(logs)], clusters)
        elif isinstance(logs, Sequence):
            inputs = list_inputs(spark, [str(path) for path in logs], clusters)
        else:
            contents = contents_of(logs)
            inputs = inputs_of(contents, clusters)
        work = kept.enter_context(validating(spark, inputs, question, how or How(), contents=contents))
        answers = {each.cluster: each.validation for each in work.answers}
        return Validated(answers, tables(spark, answers, work.rows), kept.pop_all())


def _wanted(spec: str | Path | Loaded | None) -> Wanted:
    if spec is None:
        return wanted_by_lines()
    if isinstance(spec, Loaded):
        return Wanted(spec)
    return Wanted(load_spec(_located(spec)))


def _located(spec: str | Path) -> Path:
    """The file of a spec, which may be named as one of those that come with assay."""
    path = Path(spec)
    bundled = [folder / f"{spec}.assay" for folder in bundled_specs()]
    return path if path.exists() else next((each for each in bundled if each.exists()), path)
