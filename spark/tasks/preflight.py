"""Checks before the first job: how many tasks run at once, and whether executors have the same assay and see the
work directory.
"""

from __future__ import annotations

import json
import platform
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from assay import __version__
from assay.checker.explicit.store.level_file import FORMAT
from assay.checker.layout.row import LAYOUT_VERSION
from assay.checker.native.program import GENERATOR_VERSION
from assay.grammar.diagnostics.diagnostic import NOWHERE, Diagnostic, Note, SpecError
from assay.spark.session.ship_package import SHIP, ship
from assay.spark.storage.filesystem import Storage, new_name
from assay.spark.tasks.job import JobFailedError, is_remote, run_and_wait
from assay.spark.tasks.task import NO_FILES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

UNFIT = "E833"
MANY = 1_024
"""How many rows are spread over tasks, to count the tasks."""
LACKING = re.compile(r"No module named 'assay\b")


def _never() -> bool:
    return False


def slots(spark: SparkSession) -> int:
    """How many tasks run at once, as far as the session says."""
    if is_remote(spark):  # a session of Connect does not say it, but it splits a range into as many parts
        return len({row[0] for row in spark.range(MANY).selectExpr("spark_partition_id()").collect()})
    return spark.sparkContext.defaultParallelism


def why_not_direct(spark: SparkSession, parts: int) -> str | None:
    """Why tasks cannot run all at once and connect with each other; None if they can."""
    if is_remote(spark):
        return "Spark Connect does not say where its driver is"
    if spark.conf.get("spark.dynamicAllocation.enabled", "false") == "true":
        return "Spark has no barrier stages under dynamic allocation"
    if parts > slots(spark):
        return f"the cluster runs {slots(spark)} tasks at once, and there are {parts}"
    return None


def versions() -> dict[str, Any]:
    """What must be equal on all executors: versions of assay, Python and file formats."""
    python = ".".join(platform.python_version_tuple()[:2])
    # The version of the package alone would not tell a checkout with changed formats.
    formats = [FORMAT, LAYOUT_VERSION, GENERATOR_VERSION]
    return {"assay": __version__, "python": python, "formats": formats}


def require_suitable_cluster(
    spark: SparkSession, parts: int, interrupted: Callable[[], bool] = _never, storage: Storage | None = None
) -> None:
    """Run one small job, and raise ``SpecError`` if an executor has another assay (E833) or does not see the work
    directory (E834).

    Executors without assay get this one, if the session has the setting ``ship_package.SHIP``. Raises
    ``KeyboardInterrupt`` when ``interrupted`` says so.
    """
    if storage is None:
        _require_equal(_shipped_if_lacking(spark, parts, interrupted, None), "")
        return
    # A new name each time: the file of an earlier job would prove nothing.
    token = f"token-{new_name()}"
    with as_unusable(storage.uri):
        storage.write(token, token.encode())
    try:
        _require_equal(_shipped_if_lacking(spark, parts, interrupted, (storage.uri, token)), storage.uri)
    finally:
        with as_unusable(storage.uri):
            storage.remove(token)


@contextmanager
def as_unusable(uri: str) -> Iterator[None]:
    """Turn an ``OSError`` about the work directory, raised inside, into a ``SpecError``."""
    try:
        yield
    except OSError as error:
        text = f"the work directory `{uri}` cannot be used: {error.strerror or error}"
        raise SpecError([Diagnostic(NO_FILES, NOWHERE, text)]) from None


def _shipped_if_lacking(
    spark: SparkSession, parts: int, interrupted: Callable[[], bool], seen: tuple[str, str] | None
) -> list[dict[str, Any]]:
    try:
        return _versions_of_executors(spark, parts, interrupted, seen)
    except JobFailedError as problem:
        # Only a lack of this package can be helped by sending it.
        if not LACKING.search(str(problem)) or spark.conf.get(SHIP, "false") != "true":
            raise SpecError([_lacking(problem)]) from None
    ship(spark)
    try:
        return _versions_of_executors(spark, parts, interrupted, seen)
    except JobFailedError as problem:
        raise SpecError([_lacking(problem)]) from None


def _lacking(problem: JobFailedError) -> Diagnostic:
    notes = (
        Note(f"every executor needs Python {versions()['python']} with what assay {__version__} depends on, with its extra `spark`"),
        Note(f"assay itself is sent to executors that lack it where `{SHIP}` is `true`, or by `assay.spark.ship(spark)`"),
    )  # fmt: skip
    return Diagnostic(UNFIT, NOWHERE, f"tasks cannot run assay: {problem}", notes)


def _versions_of_executors(
    spark: SparkSession, parts: int, interrupted: Callable[[], bool], seen: tuple[str, str] | None
) -> list[dict[str, Any]]:
    def look(batches: Iterator[Any]) -> Iterator[Any]:
        return look_at_executor(seen, batches)

    def check_stop() -> None:
        if interrupted():
            raise KeyboardInterrupt

    # As many tasks as the search will have: where all run at once, each executor is asked that will run one.
    frame = spark.range(0, parts, 1, parts).mapInArrow(look, "found string")
    rows = run_and_wait(spark, frame.collect, check_stop, "assay: do the executors suit?")
    return [json.loads(row.found) for row in rows]


def look_at_executor(seen: tuple[str, str] | None, batches: Iterator[Any]) -> Iterator[Any]:
    """The versions of the task's executor, and whether it sees the token file in the work directory."""
    import pyarrow as pa  # noqa: PLC0415 - optional

    # A row for each task, whatever its number: what is asked is the same.
    for _ in batches:
        problem = "" if seen is None else _problem(*seen)
        found = json.dumps({"versions": versions(), "host": platform.node(), "problem": problem})
        yield pa.RecordBatch.from_pydict({"found": [found]})


def _problem(uri: str, token: str) -> str:
    try:
        # A folder of the same path on another machine would not have it, or would have another.
        return "" if Storage(uri).read(token) == token.encode() else "it holds another file"
    except OSError as error:
        return error.strerror or str(error)


def _require_equal(found: list[dict[str, Any]], uri: str) -> None:
    for each in found:
        if each["versions"] != versions():
            text = f"the executor on {each['host']} has {_shown(each['versions'])}, and the driver has {_shown(versions())}"
            raise SpecError([Diagnostic(UNFIT, NOWHERE, text)])
        if each["problem"]:
            text = f"the executor on {each['host']} does not see the work directory `{uri}`: {each['problem']}"
            note = Note("name one by `--workdir` that the driver and all executors reach")
            raise SpecError([Diagnostic(NO_FILES, NOWHERE, text, (note,))])


def _shown(found: dict[str, Any]) -> str:
    return f"assay {found['assay']} (formats {found['formats']}) on Python {found['python']}"
