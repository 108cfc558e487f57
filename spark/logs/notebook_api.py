"""The interface for notebooks: validation through a session of the user's own, with DataFrames as the answer."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.load import Loaded, bundled_specs, load_spec
from assay.spark.logs.dataframe_input import contents_of, inputs_of
from assay.spark.logs.inputs import Inputs, list_inputs
from assay.spark.logs.spec_for_cluster import SpecSelection, select_by_lines
from assay.spark.logs.tables import LogTables, tables
from assay.spark.logs.tasks import EVERYTHING, ClusterQuestion
from assay.spark.logs.validate import WorkDivision, validating
from assay.spark.session.session import require_pyspark
from assay.traces.log_reader import ReadOptions
from assay.traces.observe.model_size import orders_by_thread, source_of
from assay.traces.options import DEFAULT_OPTIONS
from assay.traces.result import Validation
from assay.traces.scoped_validate import AnswerScope

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class Validated:
    """A ``Validation`` for each cluster (``""`` where there is only one), and tables about all of them.

    Spark caches what was read until ``close``, or until the end of a ``with`` block. The tables can be used afterwards
    too; they are then computed anew.
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
        """A row for each cluster (its ``slice`` is null) and a row for each slice."""
        return self.tables.verdicts

    @property
    def violations(self) -> DataFrame:
        """A row for each line that no execution of the model can explain."""
        return self.tables.violations

    @property
    def coverage(self) -> DataFrame:
        """How many events were used, ignored and unmapped, and which unobserved steps were assumed."""
        return self.tables.coverage

    def close(self) -> None:
        """Drop what Spark has cached."""
        self._kept.close()

    def __enter__(self) -> Validated:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def validate(  # noqa: PLR0913 - keyword arguments, each with a default
    spark: SparkSession,
    logs: str | Path | Sequence[str | Path] | DataFrame,
    spec: str | Path | Loaded | None = None,
    *,
    clause: str | None = None,
    clusters: str | None = None,
    skew: int | None = None,
    scope: AnswerScope = EVERYTHING,
    shapes: Sequence[Path] = (),
    how: WorkDivision | None = None,
) -> Validated:
    """Validate logs against a spec, with the tasks of a session.

    ``logs`` are files, directories, archives, patterns or URIs, or a table. Its columns are ``file``, ``line`` and
    ``text``, or ``path`` and ``content``, as ``spark.read.format("binaryFile")`` makes them. ``spec`` is a file, the
    name of a bundled spec, or a loaded spec. Without it, the lines of each cluster select a bundled one, as for the
    local command.

    ``clusters`` is a regular expression whose first group, matched in a file's name, names the cluster. ``skew`` is in
    milliseconds. ``shapes`` are files of further line patterns.

    The session's settings are restored when this returns. Only DataFrames are used, no ``SparkContext``, so that a
    session of Spark Connect is enough, if its workers have this package.

    Raises SpecError for logs or a spec that cannot be used, and if Spark fails.
    """
    require_pyspark()
    chosen = _spec_selection(spec)
    source, threads = source_of(chosen.loaded, clause), orders_by_thread(chosen.loaded)
    # Executors cannot open the pattern files of the user, so their contents travel with the options.
    read = ReadOptions(tuple(shapes), source=source, threads=threads).portable()
    options = replace(DEFAULT_OPTIONS, skew=skew)
    question = ClusterQuestion(spec=chosen, clause=clause, options=options, scope=scope, read=read, all_events=True)
    with ExitStack() as kept:
        contents, inputs = _inputs(spark, logs, clusters)
        work = kept.enter_context(validating(spark, inputs, question, how or WorkDivision(), contents=contents))
        answers = {each.cluster: each.validation for each in work.answers}
        # From here on the answer closes the cache. Where something above raises, the `with` block does.
        return Validated(answers, tables(spark, answers, work.rows), kept.pop_all())


def _inputs(
    spark: SparkSession, logs: str | Path | Sequence[str | Path] | DataFrame, clusters: str | None
) -> tuple[DataFrame | None, Inputs]:
    """The table of whole files, if the logs are one, and the files."""
    if isinstance(logs, str | Path | Sequence):
        paths = [logs] if isinstance(logs, str | Path) else logs
        return None, list_inputs(spark, [str(path) for path in paths], clusters)
    contents = contents_of(logs)
    return contents, inputs_of(contents, clusters)


def _spec_selection(spec: str | Path | Loaded | None) -> SpecSelection:
    if spec is None:
        return select_by_lines()
    if isinstance(spec, Loaded):
        return SpecSelection(spec)
    return SpecSelection(load_spec(_spec_path(spec)))


def _spec_path(spec: str | Path) -> Path:
    """The file of a spec; a name without a file is looked up among the bundled specs."""
    path = Path(spec)
    bundled = [folder / f"{spec}.assay" for folder in bundled_specs()]
    # A file of the user goes before a bundled spec of the same name.
    return path if path.exists() else next((each for each in bundled if each.exists()), path)
