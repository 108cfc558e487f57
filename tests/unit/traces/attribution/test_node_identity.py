"""Which node wrote a line of a file that holds the lines of several brokers."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.traces.log_reader import read_logs

Line = tuple[str, int]
"""The minute and second at which a broker says that it has started."""


@pytest.mark.parametrize(
    ("lines", "kind"),
    [
        ([("00:10", 1), ("00:30", 1), ("00:11", 2), ("00:20", 2)], "joined files"),
        ([("00:10", 1), ("00:11", 2), ("00:30", 1), ("00:20", 2)], "merged nodes"),
        ([("00:10", 1), ("00:30", 1), ("00:20", 2), ("00:21", 1)], "merged nodes"),
        ([("00:10", 1), ("00:11", 2), ("00:30", 1), ("00:29", 2)], "merged nodes"),
    ],
    ids=["file behind file", "in turns, then a clock is set back", "in turns behind it", "in turns"],
)
def test_each_line_is_of_the_broker_that_it_names(tmp_path: Path, lines: list[Line], kind: str) -> None:
    """A file of which one part alone names one broker was written in turns, though its times go back."""
    text = "INFO [KafkaServer id={}] started (kafka.server.KafkaServer)"
    (tmp_path / "server.log").write_text(
        "".join(f"[2025-02-03 10:{time},100] {text.format(broker)}\n" for time, broker in lines)
    )
    reading = read_logs([tmp_path])
    assert [notice.kind for notice in reading.notices] == [kind]
    assert sorted(event.run.node.rpartition("/")[2] for event in reading.events) == sorted(str(b) for _, b in lines)
    assert all(event.run.node.endswith(f"/{event.fields['broker']}") for event in reading.events)
