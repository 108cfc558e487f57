"""Lines of one millisecond in any order, as in the export of a search index, are put into their usual order."""

from __future__ import annotations

from pathlib import Path
from random import Random

from assay.traces.input.tied_lines import UNORDERED_TIES
from assay.traces.log_reader import LogReading, read_logs

STEPS = (
    ("[KafkaServer id=1] starting (kafka.server.KafkaServer)", "[KafkaServer id=1] started (kafka.server.KafkaServer)"),
    (
        "[KafkaServer id=1] shutting down (kafka.server.KafkaServer)",
        "[KafkaServer id=1] shut down completed (kafka.server.KafkaServer)",
    ),
    (
        "Creating /brokers/ids/1 (is it secure? false) (kafka.zk.KafkaZkClient)",
        "Stat of the created znode at /brokers/ids/1 is: 7,7,1,1,1,0,0,7,250,0,209 (kafka.zk.KafkaZkClient)",
    ),
    (
        "Connecting to zookeeper on localhost:2181 (kafka.server.KafkaServer)",
        "Cluster ID = MkU3OEVBNTcwNTJENDM2Qg (kafka.server.KafkaServer)",
    ),
    (
        "[KafkaServer id=1] Starting controlled shutdown (kafka.server.KafkaServer)",
        "[KafkaServer id=1] Controlled shutdown succeeded (kafka.server.KafkaServer)",
    ),
    (
        "Session: 0x7 closed (org.apache.zookeeper.ZooKeeper)",
        "EventThread shut down for session: 0x7 (org.apache.zookeeper.ClientCnxn)",
    ),
)


def written(path: Path, *, tied: Random | None = None) -> LogReading:
    """A log in which six pairs of lines come at different times, and at one time, in any order if ``tied``."""
    lines = []
    for number in range(24):
        for at, pair in enumerate(STEPS):
            same = number % 2 == 0
            texts = list(pair)
            if same and tied is not None:
                tied.shuffle(texts)
            for second, text in enumerate(texts):
                millisecond = 5 if same else 5 + second * 20
                lines.append(f"[2021-03-04 09:{number:02}:{at * 10:02},{millisecond:03}] INFO {text}\n")
    path.write_text("".join(lines))
    return read_logs([path.parent])


def order_of(reading: LogReading) -> list[str]:
    return [each.record.message for each in reading.events]


def test_lines_in_any_order_are_put_into_the_usual_one(tmp_path: Path) -> None:
    (tmp_path / "natural").mkdir()
    (tmp_path / "export").mkdir()
    natural = written(tmp_path / "natural" / "server.log")
    export = written(tmp_path / "export" / "server.log", tied=Random(1))
    assert order_of(natural)
    assert order_of(export) == order_of(natural)
    assert [each.kind for each in natural.notices].count(UNORDERED_TIES) == 0
    assert [each.kind for each in export.notices].count(UNORDERED_TIES) == 1
