"""The texts into which the lines of a topic are sorted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from assay.spark.logs.tasks import STANDARD
from assay.spark.streaming.kafka_source import TopicText, _read
from assay.traces.pickling import to_bytes


def pieces_of(rows: Sequence[tuple[str, str, bytes]]) -> list[dict[str, Any]]:
    """What a task reads of lines, each of a node and a file."""
    columns = ("partition", "node", "file", "offset", "line")
    found = [dict(zip(columns, (0, node, file, at, line), strict=True)) for at, (node, file, line) in enumerate(rows)]
    read = _read(to_bytes(("topic", STANDARD, {})), iter([pa.RecordBatch.from_pylist(found)]))
    return [row for batch in read for row in batch.to_pylist()]


def test_no_two_texts_of_a_topic_are_taken_for_one() -> None:
    """A node's name may have a slash, and a file's name has some: where one ends and the other begins must show."""
    names = [("a", "b/c"), ("a/b", "c"), ("a%2Fb", "c"), ("", "a/b/c")]
    assert len({TopicText(0, *each).identity for each in names}) == len(names)
    assert TopicText(3, "broker-1", "/var/log/server.log").identity == "3/broker-1//var/log/server.log"


def test_lines_of_nodes_whose_names_have_slashes_are_all_kept() -> None:
    line = b"[2024-01-01 00:00:00,000] INFO started (kafka.server.KafkaServer)\n"
    found = pieces_of([("a", "b/c", line)] * 3 + [("a/b", "c", line)] * 5)
    assert {row["identity"]: row["size"] for row in found} == {"0/a/b/c": 3 * len(line), "0/a%2Fb/c": 5 * len(line)}
