"""Of logs that grow it is known which events are new, and all others keep their names and their order."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from benchmarks.synthetic import generate

from assay.traces.incremental.log_diff import Grown, LogDiff
from assay.traces.log_reader import read_logs
from assay.traces.table.event_table import EventTable


def grown(growth: LogDiff, logs: Path) -> tuple[EventTable, Grown]:
    table = read_logs([logs]).events
    found = growth.take(table)
    assert found is not None
    assert len(found.names) == len(found.fresh) == len(table)
    return table, found


def written(source: Path, logs: Path, part: float) -> None:
    """The first lines of each file."""
    for path in sorted(source.rglob("*.log")):
        lines = path.read_bytes().splitlines(keepends=True)
        target = logs / path.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(b"".join(lines[: int(part * len(lines))]))


@pytest.fixture
def source(tmp_path: Path) -> Path:
    generate(tmp_path / "source", 30_000, brokers=3, partitions=3, violations=0, seed=2)
    return tmp_path / "source"


def test_events_keep_their_names_and_their_order(source: Path, tmp_path: Path) -> None:
    growth, logs, known = LogDiff(), tmp_path / "logs", dict[int, tuple[str, int]]()
    for part in (0.3, 0.31, 0.7, 1):
        written(source, logs, part)
        table, found = grown(growth, logs)
        places = [(event.record.place.file, event.record.place.offset) for event in table]
        now = dict(zip(found.names.tolist(), places, strict=True))
        old = found.names[~found.fresh].tolist()
        assert [now[name] for name in old] == [known[name] for name in old]
        assert known.keys().isdisjoint(found.names[found.fresh].tolist())
        assert (
            len(old) >= len(known) // 2
        )  # of some it was not known at first who had opened the session that they name
        orders = found.orders(np.arange(len(table)))
        assert orders == sorted(set(orders))
        known = now


def test_a_log_in_which_a_line_is_another_one_is_new(source: Path, tmp_path: Path) -> None:
    growth, logs = LogDiff(), tmp_path / "logs"
    written(source, logs, 1)
    grown(growth, logs)
    log = next(path for path in sorted(logs.rglob("*.log")) if b"leaderEpoch=1," in path.read_bytes())
    log.write_bytes(log.read_bytes().replace(b"leaderEpoch=1,", b"leaderEpoch=2,", 1))
    table, found = grown(growth, logs)
    changed = {event.record.place.file for event, fresh in zip(table, found.fresh.tolist(), strict=True) if fresh}
    assert changed == {str(log)}


def test_events_of_json_are_compared_one_by_one(source: Path, tmp_path: Path) -> None:
    written(source, tmp_path / "logs", 1)
    events = list(read_logs([tmp_path / "logs"]).events)[:40]
    growth = LogDiff()
    assert growth.take(EventTable([events[:10]])) is not None
    more = growth.take(EventTable([events[:20]]))
    other = growth.take(EventTable([[replace(events[0], kind="Other"), *events[1:20]]]))
    assert more is not None
    assert other is not None
    assert (int(more.fresh.sum()), int(other.fresh.sum())) == (10, 20)


def test_logs_in_another_order_begin_anew(source: Path, tmp_path: Path) -> None:
    written(source, tmp_path / "logs", 1)
    parts = read_logs([tmp_path / "logs"]).events.parts
    growth = LogDiff()
    assert growth.take(EventTable(parts)) is not None
    assert growth.take(EventTable(parts[::-1])) is None
