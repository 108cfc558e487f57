"""Records whose end is missing, as shippers leave long ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.traces.diagnosis.missing_logs import STEPS_CUT_OFF, weighed
from assay.traces.input.file_reader import CUT_OFF, NO_LOGGER
from assay.traces.input.lines.cut_lines import CutLines
from assay.traces.input.lines.line_layout import split_logger
from assay.traces.log_reader import LogReading, read_logs
from assay.traces.patterns.catalogue import load_catalogue
from assay.traces.patterns.line_regex import MatchExtent
from assay.traces.patterns.match import PatternMatcher
from assay.traces.patterns.pattern import LinePattern

CATALOGUE = load_catalogue()
CUT_LINES = CutLines(PatternMatcher(CATALOGUE))
WHOLE = [each for each in CATALOGUE.patterns if each.reads is MatchExtent.WHOLE and each.example.startswith("[")]
WHOLE_LINE = "[2026-11-21 01:45:00,000] INFO [Controller id=1] Resigned (kafka.controller.KafkaController)\n"
SKIPPED = (
    "[2026-11-21 01:45:00,000] INFO [Broker id=3] Skipped the become-leader state change after marking its partition as"
    " leader with correlation id 5 from controller 2 epoch 4 for partition audit-0 (last update controller epoch 4) si"
)
STATE = (
    "[2026-11-21 01:45:00,000] INFO [Controller id=3 epoch=1] Changed partition audit-0 from NewPartition to"
    " OnlinePartition with state LeaderAndIsr(leader=1, leaderEp"
)
OTHER = (
    "[2026-11-21 01:45:00,000] INFO [GroupCoordinator 2]: Preparing to rebalance group billing in state"
    " PreparingRebalance with old generation 4 (__consumer_offsets-1) (reason: Adding new member rdkafka-1c4 with gr"
)


def read(folder: Path, *lines: str) -> LogReading:
    (folder / "server.log").write_text(WHOLE_LINE + "".join(f"{line}\n" for line in lines))
    return read_logs([folder])


def notices(reading: LogReading) -> dict[str, frozenset[str]]:
    return {each.kind: each.told for each in reading.notices if each.kind in (CUT_OFF, NO_LOGGER)}


@pytest.mark.parametrize("pattern", WHOLE[::12], ids=lambda each: each.name)
def test_each_beginning_of_a_known_line_may_be_that_line(pattern: LinePattern) -> None:
    message = split_logger(pattern.example.partition("] ")[2].partition(" ")[2].encode())[0].decode().partition("\n")[0]
    for end in (len(message) // 3, len(message) * 2 // 3, len(message) - 1):
        assert pattern.kind in CUT_LINES.find(message[:end]).kinds


def test_what_stands_before_the_end_is_read_and_no_word_that_may_go_on(tmp_path: Path) -> None:
    reading = read(tmp_path, SKIPPED, SKIPPED[: SKIPPED.index(" epoch 4") + len(" epoch 4")])
    found = [each.fields["epoch"] for each in reading.events if each.kind == "RequestFromController"]
    assert found == [4]
    told = [each.told for each in reading.notices if each.kind == CUT_OFF]
    assert sorted("RequestFromController" in each for each in told) == [False, True]


@pytest.mark.parametrize("mark", ["...", "…", "[TRUNCATED 123 chars]"])
def test_the_mark_of_a_cut_is_no_part_of_the_line(mark: str, tmp_path: Path) -> None:
    reading = read(tmp_path, STATE + mark, SKIPPED[: SKIPPED.index(" epoch 4") + len(" epoch 4")] + mark)
    assert notices(reading)[CUT_OFF] >= {"RequestFromController"}
    assert {"RequestFromController", "PartitionState"} <= {kind for each in reading.notices for kind in each.told}
    assert "RequestFromController" not in reading.kinds


def test_a_line_that_begins_like_none_that_is_known_is_none_of_them(tmp_path: Path) -> None:
    reading = read(tmp_path, OTHER)
    assert notices(reading) == {CUT_OFF: frozenset()}


def test_where_most_lines_are_not_understood_they_may_be_any(tmp_path: Path) -> None:
    reading = read(tmp_path, OTHER, OTHER)
    assert notices(reading) == {NO_LOGGER: frozenset()}


def test_a_line_matters_if_it_may_tell_of_a_step(tmp_path: Path) -> None:
    reading = read(tmp_path, STATE)
    assert notices(reading)[CUT_OFF] >= {"PartitionState"}
    assert STEPS_CUT_OFF in {each.kind for each in weighed(reading.notices, {"PartitionState"})}
    assert STEPS_CUT_OFF not in {each.kind for each in weighed(reading.notices, {"ControllerElected"})}


def test_a_message_that_ends_within_the_name_of_its_logger_is_whole(tmp_path: Path) -> None:
    line = CATALOGUE.pattern("controller-elected").example
    assert "ControllerElected" in read(tmp_path, line[: line.rindex(".") + 2]).kinds
