"""Where the state of slices is kept while logs are followed: in Spark's state store (`transformWithState`), or in files of each micro-batch.

Both get the same batches, of some events for each slice, and give how many events each slice has by then.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from assay.spark.session.session import session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Line = dict[str, object]

BATCHES = 4
EACH = 20
"""Events of a slice in a batch."""
BYTES = 400
"""Bytes of an event."""
CORES = 2
ROWS = "slice string, content binary"
COUNTED = "slice string, events long"
STORE = {
    "spark.sql.streaming.stateStore.providerClass": "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
    "spark.sql.shuffle.partitions": str(CORES),
    "spark.driver.memory": "1g",
}


def _processor() -> Any:
    """What keeps the events of a slice in a list of the state store."""
    import pandas as pd  # noqa: PLC0415 - optional
    from pyspark.sql.streaming.stateful_processor import StatefulProcessor  # noqa: PLC0415 - optional

    class Keeper(StatefulProcessor):
        def init(self, handle: Any) -> None:
            self._events = handle.getListState("events", "content binary")
            self._count = handle.getValueState("count", "events long")

        def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Iterator[Any]:  # noqa: N802, N803, ARG002 - as Spark names them
            count = self._count.get()[0] if self._count.exists() else 0
            for frame in rows:
                self._events.appendList([(content,) for content in frame["content"]])
                count += len(frame)
            self._count.update((count,))
            yield pd.DataFrame({"slice": [key[0]], "events": [count]})

        def close(self) -> None:
            """Nothing is held."""

    return Keeper()


def _in_store(rows: DataFrame, place: Path, counted: Callable[[dict[str, int]], None]) -> Any:
    """A query that keeps events in the state store."""
    frame = rows.groupBy("slice").transformWithStateInPandas(_processor(), COUNTED, "Update", "None")

    def batch(found: DataFrame, _: int) -> None:
        counted({row.slice: row.events for row in found.collect()})

    return frame.writeStream.outputMode("update").foreachBatch(batch).option("checkpointLocation", str(place / "c"))


def _in_files(rows: DataFrame, place: Path, counted: Callable[[dict[str, int]], None]) -> Any:
    """A query that keeps events in files, and in memory what is in them."""
    import pyarrow.parquet as pq  # noqa: PLC0415 - optional

    known: dict[str, list[bytes]] = {}

    def batch(found: DataFrame, number: int) -> None:
        folder = place / f"batch={number}"
        found.write.mode("overwrite").parquet(str(folder))
        for file in folder.glob("*.parquet"):
            table = pq.read_table(file, partitioning=None).to_pydict()
            for slice_, content in zip(table["slice"], table["content"], strict=True):
                known.setdefault(slice_, []).append(content)
        counted({name: len(events) for name, events in known.items()})

    return rows.writeStream.foreachBatch(batch).option("checkpointLocation", str(place / "c"))


WAYS: dict[str, Callable[[DataFrame, Path, Callable[[dict[str, int]], None]], Any]] = {
    "transformWithState": _in_store,
    "files of each micro-batch": _in_files,
}


def state(size: str) -> Iterator[Line]:
    """A line for each way to keep the events of the slices: events a second, of all batches but the first. Raises
    ValueError without protobuf.
    """
    if find_spec("google") is None or find_spec("google.protobuf") is None:
        raise ValueError("Spark's `transformWithState` needs the package protobuf, which assay does not bring")
    slices = int(size)
    for what, keep in WAYS.items():
        with TemporaryDirectory() as temporary, session(f"local[{CORES}]", STORE) as spark:
            seen: dict[str, int] = {}
            source = Path(temporary) / "rows"
            _write(spark, source, slices)
            query = keep(spark.readStream.schema(ROWS).parquet(str(source)), Path(temporary), seen.update).start()
            query.processAllAvailable()
            seconds = []
            for _ in range(BATCHES):
                _write(spark, source, slices)
                begun = time.perf_counter()
                query.processAllAvailable()
                seconds.append(time.perf_counter() - begun)
            query.stop()
        yield {
            "benchmark": "spark_logs", "what": f"state in {what}", "value": round(slices * EACH * BATCHES / sum(seconds)),
            "unit": "events a second", "slices": slices, "batches": BATCHES, "longest_batch": round(max(seconds), 2),
            "complete": set(seen.values()) == {EACH * (BATCHES + 1)}, "load_after": round(os.getloadavg()[0], 2),
        }  # fmt: skip


def _write(spark: SparkSession, place: Path, slices: int) -> None:
    """Write some events of each slice into a file that a query takes up."""
    rows = [(f"t-{at % slices}", os.urandom(BYTES)) for at in range(slices * EACH)]
    spark.createDataFrame(rows, ROWS).coalesce(1).write.mode("append").parquet(str(place))
