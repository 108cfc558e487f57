"""Lines of a Kafka topic, as Spark's Kafka connector delivers them: one text for each log of a node in each partition.

A value is a line, or several. The header ``node`` names the node that wrote it, else the record's key does. The header
``file`` names its log. Lines keep their order only within a partition, so that each partition's lines are a text of
their own, as if in another file.

Records expire, so that their content is stored with the pieces.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import groupby
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

from assay.grammar.diagnostics.diagnostic import NOWHERE, Diagnostic, Note, SpecError
from assay.grammar.lazy_dataclass import dataclass
from assay.spark.logs.inputs import NOT_ON_SPARK
from assay.spark.logs.read_tasks import PART_BYTES, read_file, reader_of
from assay.spark.logs.tasks import Texts, batches_of, join_file_parts
from assay.spark.streaming.state_store import PIECES, PieceStore, StoredPiece, before_gap, end_of, gap_notice
from assay.spark.tasks.preflight import slots
from assay.traces.input.sources import ListedFile
from assay.traces.input.split_files import read_piece
from assay.traces.log_reader import ReadOptions
from assay.traces.pickling import from_bytes, to_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

URI_OF_TOPIC = re.compile(r"kafka://([^/]+)/([\w.-]+)")
FORMAT = "kafka"
FILE = "server.log"
"""The log of lines whose record does not name one."""
LINES = (
    "coalesce({node}, CAST(key AS STRING), topic) AS node",
    f"coalesce({{file}}, '{FILE}') AS file",
    "partition",
    "offset",
    "value AS line",
)


def is_topic(logs: str) -> bool:
    """Whether logs are named by the URI of a topic."""
    return URI_OF_TOPIC.fullmatch(logs) is not None


def lines_of(records: DataFrame) -> DataFrame:
    """The lines of the connector's records, which must have been read with their headers."""
    # A record may have several headers of one name, of which the first counts, or none, which gives null.
    header = "CAST(get(filter(headers, h -> h.key = '{}'), 0).value AS STRING)"
    headers = {name: header.format(name) for name in ("node", "file")}
    # A record without a value is a tombstone of a compacted topic, and no line.
    return records.where("value IS NOT NULL").selectExpr(*(each.format(**headers) for each in LINES))


class TopicText(NamedTuple):
    """The text to which a line belongs."""

    partition: int
    node: str
    file: str

    def path(self, topic: str) -> str:
        """The name of the text, in the form of a path: the folder names the node."""
        file = PurePosixPath(PurePosixPath(self.file).name or FILE)
        return f"{topic}/{self.node.replace('/', '_')}/{file.stem}-{self.partition}{file.suffix}"

    @property
    def identity(self) -> str:
        """The text's identity, unique in the topic: a slash in the name of a node is escaped, as files have some too."""
        node = self.node.replace("%", "%25").replace("/", "%2F")
        return f"{self.partition}/{node}/{self.file}"


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic on some bootstrap servers, with options for the connector."""

    servers: str
    name: str
    options: Mapping[str, str]

    @staticmethod
    def of(uri: str, options: Mapping[str, str]) -> Topic:
        """The topic that a URI names."""
        found = URI_OF_TOPIC.fullmatch(uri)
        assert found is not None, "it is asked before whether it is one"
        return Topic(found[1], found[2], options)

    def stream(self, spark: SparkSession) -> DataFrame:
        """The lines, from the oldest record on; raises SpecError without the connector."""
        from pyspark.errors import PySparkException  # noqa: PLC0415 - optional

        reader = spark.readStream.format(FORMAT).option("kafka.bootstrap.servers", self.servers)
        reader = reader.option("subscribe", self.name).option("startingOffsets", "earliest")
        try:
            return lines_of(reader.options(**self.options).option("includeHeaders", "true").load())
        except PySparkException as error:
            reason = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
            text = f"the topic `{self.name}` of {self.servers} cannot be followed: {reason}"
            jar = f"org.apache.spark:spark-sql-kafka-0-10_2.13:{spark.version}"
            note = Note(
                f"Spark reads topics with a connector that the session must have: `spark.jars.packages` = `{jar}`"
            )
            raise SpecError([Diagnostic(NOT_ON_SPARK, NOWHERE, text, (note,))]) from None

    def pieces(self, grown: DataFrame, known: Mapping[str, Sequence[StoredPiece]], options: ReadOptions) -> DataFrame:
        """A row for the new lines of each text, or for each part of them, after what was read of the text before."""
        sizes = {identity: end_of(own) for identity, own in known.items()}
        # All lines of a text come to one task: where a line begins in the text depends on all lines before it.
        rows = grown.repartition(slots(grown.sparkSession), "partition", "node", "file")
        ordered = rows.sortWithinPartitions("partition", "node", "file", "offset")
        return ordered.mapInArrow(partial(_read, to_bytes((self.name, options, sizes))), PIECES)

    def texts(self, known: Mapping[str, Sequence[StoredPiece]], store: PieceStore, options: ReadOptions) -> Texts:
        """All texts, sorted by name."""
        found = Texts()
        for identity, own in sorted(known.items(), key=lambda each: each[1][-1].path):
            path, row = own[-1].path, before_gap(own)
            found.on_the_way += filter(None, [gap_notice(path, own)])
            listed = ListedFile(path, path, named=False, size=end_of(row))
            read = join_file_parts(options, listed, [each.piece for each in row])
            if read is None:
                read = read_file(listed, store.content(identity, row) or b"", options)
            found.take(read)
        return found

    def has_more(self, known: Mapping[str, Sequence[StoredPiece]]) -> bool:  # noqa: ARG002 - only the connector knows
        """False: only the connector knows."""
        return False


def _read(job: bytes, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The pieces of lines, which are sorted by text and offset."""
    topic, options, sizes = from_bytes(job)
    rows = (row for batch in batches for row in batch.to_pylist())
    for place, own in groupby(rows, key=lambda row: TopicText(row["partition"], row["node"], row["file"])):
        # No file has this text. Its positions count the bytes of its lines in the order of their offsets.
        begin, path = sizes.get(place.identity, 0), place.path(topic)
        origin = ListedFile(path, path, named=False, size=0).origin()
        for content in _contents(own):
            piece = read_piece(reader_of(options), content, origin, options.scan, begin)
            row = {"identity": place.identity, "path": path, "part": begin, "size": len(content)}
            yield from batches_of(PIECES, [{**row, "found": to_bytes(piece), "content": content}])
            begin += len(content)


def _contents(rows: Iterable[Mapping[str, Any]]) -> Iterator[bytes]:
    """The lines, joined to texts of about ``PART_BYTES`` at most."""
    lines: list[bytes] = []
    size = 0
    for row in rows:
        # Producers send the line feed or leave it out; a piece has whole lines.
        line = row["line"].removesuffix(b"\n") + b"\n"
        if size + len(line) > PART_BYTES and lines:
            yield b"".join(lines)
            lines, size = [], 0
        lines.append(line)
        size += len(line)
    if lines:
        yield b"".join(lines)
