"""From when on logs are checked whose files begin at different times."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.traces.diagnosis.late_start import TRIED, beginnings, later, left_out, since
from assay.traces.log_reader import LogReading, read_logs
from assay.traces.samples import unpack_sample
from assay.traces.table.event_table import EventTable


@pytest.fixture(scope="module")
def cut(tmp_path_factory: pytest.TempPathFactory) -> LogReading:
    """The second half of two files of a recorded cluster, and the others whole."""
    folder = tmp_path_factory.mktemp("cut")
    logs: Path = unpack_sample("elections", folder)
    for name in ("server.log", "controller.log"):
        file = logs / "broker-1" / name
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
        file.write_text("".join(lines[len(lines) // 2 :]), encoding="utf-8")
    return read_logs([logs])


def test_the_next_beginning_after_a_line_is_tried_and_the_last_one_at_last() -> None:
    assert [later([10, 20, 30], stuck, 0) for stuck in (5, 10, 25, 30)] == [10, 20, 30, None]
    assert later([10, 20, 30], 5, TRIED - 1) == 30
    assert later([10, 20, 30], 5, TRIED) is None


def test_only_logs_whose_start_is_missing_begin_late(cut: LogReading) -> None:
    found = beginnings(cut)
    first = {(stream.run.node, int(EventTable.of(stream.events).times[0])) for stream in cut.streams}
    assert found
    assert set(found) <= {time for node, time in first if node == "broker-1"}


def test_what_was_written_before_a_time_is_left_out_and_counted(cut: LogReading) -> None:
    time = beginnings(cut)[-1]
    kept = since(cut, time)
    assert 0 < len(kept.events) < len(cut.events)
    assert int(kept.events.times.min()) >= time
    unexplained = next(iter(kept.events))
    assert left_out(cut, kept, time, [unexplained]).place == unexplained.record.place
    notice = left_out(cut, kept, time, [])
    assert notice.place == next(iter(cut.events)).record.place
    assert notice.text.startswith(f"{len(cut.events) - len(kept.events):,} events before 20")
    assert since(cut, 0).events.times.tolist() == cut.events.times.tolist()
