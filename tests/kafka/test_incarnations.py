"""A cluster whose ZooKeeper was emptied goes on under another id, with epochs from the beginning: that is no violation, and it is said."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from assay.cli.settings import load
from assay.traces.diagnosis.missing_logs import gaps
from assay.traces.diagnosis.node_settings import overview
from assay.traces.event import Notice
from assay.traces.log_reader import read_logs
from assay.traces.options import DEFAULT_OPTIONS
from assay.traces.result import TraceVerdict
from assay.traces.scoped_validate import validate_in_scope

from .recorded import unpack

ALL_KILLED = "01:46:50"
"""When all brokers run; whoever logs no further was killed then."""
STAMP = re.compile(r"^\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d),", re.MULTILINE)
SESSIONS, OTHERS = "1000016b4ea", "100002c5f10"
ID = "tlDr1Mr1TQaRFAFqEZitQg"
OTHER = "f3QmXc0bR2uJ0Gx8y9Zk1A"


def later(minutes: int) -> Callable[[re.Match[str]], str]:
    return lambda found: f"[{datetime.fromisoformat(found[1]) + timedelta(minutes=minutes)},"


def as_another(text: str, minutes: int) -> str:
    """The same, so many minutes later, of another cluster: other sessions, and another id."""
    moved = STAMP.sub(later(minutes), text).replace(ID, OTHER).replace(SESSIONS, OTHERS)
    own, shift = str(int(SESSIONS + "0000", 16))[:12], int(OTHERS, 16) - int(SESSIONS, 16) << 16
    return re.sub(rf"\b{own}\d{{5}}\b", lambda number: str(int(number[0]) + shift), moved)


def doubled(folder: Path, minutes: int, until: str = "9") -> Path:
    """The recording, its lines before a time of the day, and after them the whole recording once more as another cluster's."""
    logs = unpack("A1", folder)
    for path in logs.rglob("*.log"):
        lines = path.read_text().splitlines(keepends=True)
        kept = next((n for n, line in enumerate(lines) if STAMP.match(line) and line[12:20] >= until), len(lines))
        path.write_text("".join(lines[:kept]) + as_another("".join(lines), minutes))
    return logs


def notices(logs: Path) -> tuple[list[Notice], list[Notice]]:
    reading = read_logs([logs])
    said = [notice for notice in overview(reading).lacking if notice.kind == "new cluster incarnation"]
    return said, [notice for notice in gaps(reading) if notice.kind == "several clusters"]


def test_a_new_incarnation_of_a_cluster_is_said_with_the_line_that_shows_it(tmp_path: Path) -> None:
    ((said,), apart) = notices(doubled(tmp_path, 60))
    assert said.text == f"from here on this is another cluster, {OTHER} after {ID}: its metadata begins anew"
    assert said.place is not None
    assert OTHER in Path(said.place.file).read_text().splitlines()[said.place.line - 1]
    assert apart == []


def test_two_clusters_at_one_time_are_no_incarnations_of_one(tmp_path: Path) -> None:
    (said, (apart,)) = notices(doubled(tmp_path, 1))
    assert said == []
    assert apart.text.startswith(f"logs of two clusters at one time, {ID} and {OTHER}")


@pytest.mark.slow
def test_epochs_that_begin_anew_in_another_cluster_are_no_violation(tmp_path: Path) -> None:
    reading = read_logs([doubled(tmp_path, 60, ALL_KILLED)])
    found = validate_in_scope(load("kafka/cluster", None, {}), reading, DEFAULT_OPTIONS)
    assert (found.verdict, found.reason, found.counts.unmapped) == (TraceVerdict.CONSISTENT, None, 0)
    assert found.hidden["begin_anew"] == 1
    assert {result.name for result in found.slices} >= {"orders-0", "orders-0#2"}
    offline = {each.slice: each.spells for each in found.impact if each.measure == "offline"}
    twice = [name for name in offline if name is not None and f"{name}#2" in offline]
    assert len(twice) >= 5
    for name in twice:
        assert max(spell.end for spell in offline[name]) < min(spell.begin for spell in offline[f"{name}#2"])
