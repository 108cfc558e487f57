"""Whether a cluster suits: how many tasks it runs at once, whether its executors have the same assay, and the same work directory."""

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
from assay.checker.native.functions.program import GENERATOR_VERSION
from assay.grammar.diagnostics.diagnostic import NOWHERE, Diagnostic, Note, SpecError
from assay.spark.session.ship_package import SHIP, ship
from assay.spark.storage.filesystem import Storage, new_name
from assay.spark.tasks.job import JobFailedError, is_remote, waited
from assay.spark.tasks.task import NO_FILES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

UNFIT = "E833"
MANY = 1_024
"""Numbers of which each task gets some."""
LACKING = re.compile(r"No module named 'assay\b")


def _never() -> bool:
    return False


def slots(spark: SparkSession) -> int:
    """How many tasks run at once, as far as a session tells."""
    if is_remote(spark):  # a session that does not tell divides a range all the same
        return len({row[0] for row in spark.range(MANY).selectExpr("spark_partition_id()").collect()})
    return spark.sparkContext.defaultParallelism


def no_direct(spark: SparkSession, parts: int) -> str | None:
    """What stands against tasks that run all at once and talk to each other; None if nothing does."""
    if is_remote(spark):
        return "Spark Connect does not say where its driver is"
    if spark.conf.get("spark.dynamicAllocation.enabled", "false") == "true":
        return "Spark has no barrier stages under dynamic allocation"
    if parts > slots(spark):
        return f"the cluster runs {slots(spark)} tasks at once, and there are {parts}"
    return None


def versions() -> dict[str, Any]:
    """What must be the same wherever tasks run."""
    python = ".".join(platform.python_version_tuple()[:2])
    formats = [FORMAT, LAYOUT_VERSION, GENERATOR_VERSION]
    return {"assay": __version__, "python": python, "formats": formats}


def require_fit(
    spark: SparkSession, parts: int, interrupted: Callable[[], bool] = _never, storage: Storage | None = None
) -> None:
    """Raise ``SpecError`` if an executor has another assay, or the work directory cannot be used; ``KeyboardInterrupt`` if nobody wants to wait.

    Executors that have none get this one, if the session is to do that (``ship_package.SHIP``).
    """
    if storage is None:
        _judge(_found(spark, parts, interrupted, None), "")
        return
    token = f"token-{new_name()}"
    with as_unusable(storage.uri):
        storage.write(token, token.encode())
    try:
        _judge(_found(spark, parts, interrupted, (storage.uri, token)), storage.uri)
    finally:
        with as_unusable(storage.uri):
            storage.remove(token)


@contextmanager
def as_unusable(uri: str) -> Iterator[None]:
    """What files of a work directory raise inside, as a ``SpecError``."""
    try:
        yield
    except OSError as error:
        text = f"the work directory `{uri}` cannot be used: {error.strerror or error}"
        raise SpecError([Diagnostic(NO_FILES, NOWHERE, text)]) from None


def _found(
    spark: SparkSession, parts: int, interrupted: Callable[[], bool], seen: tuple[str, str] | None
) -> list[dict[str, Any]]:
    try:
        return _looked_at(spark, parts, interrupted, seen)
    except JobFailedError as problem:
        if not LACKING.search(str(problem)) or spark.conf.get(SHIP, "false") != "true":
            raise SpecError([_lacking(problem)]) from None
    ship(spark)
    try:
        return _looked_at(spark, parts, interrupted, seen)
    except JobFailedError as problem:
        raise SpecError([_lacking(problem)]) from None


def _lacking(problem: JobFailedError) -> Diagnostic:
    notes = (
        Note(f"every executor needs Python {versions()['python']} with what assay {__version__} depends on, with its extra `spark`"),
        Note(f"assay itself is sent to executors that lack it where `{SHIP}` is `true`, or by `assay.spark.ship(spark)`"),
    )  # fmt: skip
    return Diagnostic(UNFIT, NOWHERE, f"tasks cannot run assay: {problem}", notes)


def _looked_at(
    spark: SparkSession, parts: int, interrupted: Callable[[], bool], seen: tuple[str, str] | None
) -> list[dict[str, Any]]:
    def look(batches: Iterator[Any]) -> Iterator[Any]:
        return looked(seen, batches)

    def check_stop() -> None:
        if interrupted():
            raise KeyboardInterrupt

    frame = spark.range(0, parts, 1, parts).mapInArrow(look, "found string")
    rows = waited(spark, frame.collect, check_stop, "assay: do the executors suit?")
    return [json.loads(row.found) for row in rows]


def looked(seen: tuple[str, str] | None, batches: Iterator[Any]) -> Iterator[Any]:
    """Which versions a task has, and what it sees of a work directory."""
    import pyarrow as pa  # noqa: PLC0415 - optional

    for _ in batches:
        problem = "" if seen is None else _problem(*seen)
        found = json.dumps({"versions": versions(), "host": platform.node(), "problem": problem})
        yield pa.RecordBatch.from_pydict({"found": [found]})


def _problem(uri: str, token: str) -> str:
    try:
        return "" if Storage(uri).read(token) == token.encode() else "it holds another file"
    except OSError as error:
        return error.strerror or str(error)


def _judge(found: list[dict[str, Any]], uri: str) -> None:
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
