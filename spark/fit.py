"""Whether a cluster suits: how many tasks it runs at once, whether its executors have the same assay, and the same work directory."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from assay import __version__
from assay.checker.explicit.level_file import FORMAT
from assay.checker.layout.row import LAYOUT_VERSION
from assay.checker.native.module import GENERATOR_VERSION
from assay.grammar.diagnostics import NOWHERE, Diagnostic, Note, SpecError
from assay.spark.job import JobFailedError, is_remote, waited
from assay.spark.storage import Storage, new_name
from assay.spark.task import NO_FILES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

UNFIT = "E833"


def slots(spark: SparkSession) -> int:
    """How many tasks run at once, as far as a session tells."""
    if is_remote(spark):
        return int(spark.conf.get("spark.sql.shuffle.partitions", "2") or 2)
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


def require_fit(spark: SparkSession, storage: Storage, parts: int, interrupted: Callable[[], bool]) -> None:
    """Raise ``SpecError`` if an executor has another assay, or does not see the work directory; ``KeyboardInterrupt`` if nobody wants to wait."""
    token, uri = f"token-{new_name()}", storage.uri
    storage.write(token, token.encode())

    def look(batches: Iterator[Any]) -> Iterator[Any]:
        return looked(uri, token, batches)

    def heed() -> None:
        if interrupted():
            raise KeyboardInterrupt

    try:
        frame = spark.range(0, parts, 1, parts).mapInArrow(look, "found string")
        rows = waited(spark, frame.collect, heed, "assay: do the executors suit?")
    except JobFailedError as problem:
        note = Note(f"install assay {__version__} on every executor, with what it depends on")
        raise SpecError([Diagnostic(UNFIT, NOWHERE, f"tasks cannot run assay: {problem}", (note,))]) from None
    finally:
        storage.remove(token)
    _judge([json.loads(row.found) for row in rows], uri)


def looked(uri: str, token: str, batches: Iterator[Any]) -> Iterator[Any]:
    """What a task sees of the work directory, and which versions it has."""
    import pyarrow as pa  # noqa: PLC0415 - optional

    for _ in batches:
        try:
            problem = "" if Storage(uri).read(token) == token.encode() else "it holds another file"
        except OSError as error:
            problem = error.strerror or str(error)
        found = json.dumps({"versions": versions(), "host": platform.node(), "problem": problem})
        yield pa.RecordBatch.from_pydict({"found": [found]})


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
