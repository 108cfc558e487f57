"""The answer as DataFrames: events, verdicts, violations, and coverage. docs/spark-logs.md describes each column."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from assay.grammar.diagnostics.diagnostic import Diagnostic, SpecError
from assay.grammar.identity_memo import IdentityMemo
from assay.grammar.lazy_dataclass import dataclass
from assay.spark.logs import tasks
from assay.spark.logs.errors import as_diagnostic
from assay.traces.durations import moment
from assay.traces.event import Event, LogPosition
from assay.traces.observe.binding_tally import Unread
from assay.traces.pickling import from_bytes
from assay.traces.result import FailedPart, LogViolation, Validation
from assay.traces.scope import finding_id

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

NOT_WRITTEN = "E844"
PLACE = "file string, line long, offset long"
EVENTS = (
    "cluster string, event string, shape string, node string, run int, time timestamp, level string, logger string, thread string, "
    f"message string, fields map<string,string>, {PLACE}"
)
VERDICTS = (
    "cluster string, slice string, verdict string, reason string, used long, violations long, properties long, "
    "hidden map<string,long>"
)
VIOLATIONS = (
    f"cluster string, slice string, id string, event string, action string, time timestamp, {PLACE}, fields map<string,string>, "
    "parts array<struct<kind:string,label:string,text:string,spec:string,spec_line:int,log:map<string,string>,model:map<string,string>>>, "
    "repair string, repair_text string"
)
COVERAGE = f"cluster string, what string, name string, reason string, count long, {PLACE}"

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class LogTables:
    """The four tables."""

    events: DataFrame
    verdicts: DataFrame
    violations: DataFrame
    coverage: DataFrame

    def write(self, target: str) -> list[Diagnostic]:
        """Write each table as Parquet below a directory or URI, replacing what is there. Returns diagnostics (E844)
        if that fails.
        """
        try:
            with as_diagnostic(NOT_WRITTEN, f"`{target}` cannot be written"):
                for name in ("events", "verdicts", "violations", "coverage"):
                    table: DataFrame = getattr(self, name)
                    table.write.mode("overwrite").parquet(f"{target.rstrip('/')}/{name}")
        except SpecError as error:
            return list(error.diagnostics)
        return []


def tables(spark: SparkSession, answers: Mapping[str, Validation], rows: DataFrame) -> LogTables:
    """The tables of the answers, by cluster. ``rows`` are ``tasks.CLUSTER_ROWS`` with all events."""
    of_events = rows.filter(rows.kind == tasks.EVENTS).select("cluster", "content")
    return LogTables(
        # Events stay in Spark: their table is computed when somebody reads it. The others are made of the answers
        # here.
        of_events.mapInArrow(_event_rows, EVENTS),
        spark.createDataFrame([row for name, each in answers.items() for row in _verdicts(name, each)], VERDICTS),
        spark.createDataFrame([row for name, each in answers.items() for row in _violations(name, each)], VIOLATIONS),
        spark.createDataFrame([row for name, each in answers.items() for row in _coverage(name, each)], COVERAGE),
    )


def _event_rows(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa  # noqa: PLC0415 - optional

    text, count, stamp = pa.string(), pa.int64(), pa.timestamp("us", tz="UTC")
    # The types are those of the schema above, as Arrow names them; all others are texts.
    kinds = {"run": pa.int32(), "time": stamp, "fields": pa.map_(text, text), "line": count, "offset": count}
    schema = pa.schema([(name, kinds.get(name, text)) for name in _names(EVENTS)])
    for batch in batches:
        for row in batch.to_pylist():
            found = [
                dict(zip(schema.names, _event(row["cluster"], e), strict=True)) for e in from_bytes(row["content"])
            ]
            yield pa.RecordBatch.from_pylist(found, schema=schema)


def _names(schema: str) -> list[str]:
    return [part.split()[0] for part in schema.split(", ")]


def _event(cluster: str, event: Event) -> Row:
    record = event.record
    return (
        *(cluster, event.kind, event.pattern, event.run.node, event.run.number, _moment(record.time)),
        *(record.level, record.logger, record.thread, record.message, _texts(event.fields), *_place(record.place)),
    )


def _moment(time: int | None) -> datetime | None:
    return None if time is None else moment(time)


def _texts(fields: Mapping[str, object]) -> dict[str, str | None]:
    return {name: None if value is None else str(value) for name, value in fields.items()}


def _place(place: LogPosition | None) -> tuple[str | None, int | None, int | None]:
    return (None, None, None) if place is None else (place.file, place.line, place.offset)


def _verdicts(cluster: str, validation: Validation) -> Iterator[Row]:
    """A row for the cluster, whose slice is null, and one for each slice."""
    hidden = dict(validation.hidden)
    counts = validation.counts.used, len(validation.violations), len(validation.properties)
    yield (cluster, None, validation.verdict.value, validation.reason, *counts, hidden)
    for each in validation.slices:
        counts = each.used, len(each.violations), len(each.properties)
        yield (cluster, each.name, each.verdict.value, each.reason, *counts, dict(each.hidden))


def _violations(cluster: str, validation: Validation) -> Iterator[Row]:
    # By identity: slices may have violations that are equal, and each has a row of its own.
    owners = IdentityMemo((violation, each.name) for each in validation.slices for violation in each.violations)
    for violation in validation.violations:
        event = violation.event
        yield (
            *(cluster, owners.get(violation), finding_id(violation), event.kind, violation.action),
            *(_moment(event.record.time), *_place(violation.place), _texts(event.fields)),
            [_part(part) for part in _parts(violation)],
            *(violation.repair.kind, violation.repair.text),
        )


def _parts(violation: LogViolation) -> Sequence[FailedPart]:
    """The failed conditions of the line that is most likely to blame."""
    return violation.blame[0].parts if violation.blame else ()


def _part(part: FailedPart) -> Row:
    return part.kind, part.label, part.text, part.spec.file, part.spec.line, dict(part.log), dict(part.model)


def _coverage(cluster: str, validation: Validation) -> Iterator[Row]:
    """How many events were used, what became of the others, and which steps were assumed."""
    nowhere = _place(None)
    yield (cluster, "used", None, None, validation.counts.used, *nowhere)
    yield (cluster, "fields", None, None, validation.counts.fields, *nowhere)
    yield from _unread(cluster, "ignored", validation.ignored)
    yield from _unread(cluster, "unmapped", validation.unmapped)
    for action, count in validation.hidden.items():
        yield (cluster, "assumed", action, None, count, *nowhere)


def _unread(cluster: str, what: str, unread: Iterable[Unread]) -> Iterator[Row]:
    for each in unread:
        yield (cluster, what, each.kind, each.reason, each.count, *_place(each.example))
