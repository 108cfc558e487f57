"""Whole recordings in the shapes that exports and searches give them: no healthy one is a false alarm."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pytest
from benchmarks.windows.cases import Case
from benchmarks.windows.exports import one_stream
from benchmarks.windows.parts import everything, where
from benchmarks.windows.recordings import Entry, Files, Recording, load_recordings

from assay.cli.settings import load
from assay.traces.diagnosis.cluster_division import divided_by_cluster
from assay.traces.diagnosis.missing_logs import gaps
from assay.traces.log_reader import read_logs
from assay.traces.result import TraceVerdict, Validation
from assay.traces.spec_selection import validate_with_selection

from .recorded import archive


def recording(run: str) -> Recording:
    (found,) = load_recordings(archive(run))
    return found


def written(files: Files, folder: Path) -> Path:
    Case("", "", 0, "", files).write(folder)
    return folder


def with_words(run: str, words: str, folder: Path) -> Path:
    wanted = re.compile(words)
    return written(where(recording(run), lambda _node, _file, entry: wanted.search(entry.text) is not None), folder)


def answers(logs: Path) -> list[Validation]:
    """The answers about the logs of each cluster."""
    parts = (each.reading for each in divided_by_cluster(read_logs([logs])))
    return [validate_with_selection(part, None, lambda name: load(name, None, {}))[1] for part in parts]


@pytest.mark.parametrize("run", ["zookeeper-2.6.3", pytest.param("kraft-3.7.2", marks=pytest.mark.slow)])
def test_what_each_node_wrote_merged_by_time_is_consistent(run: str, tmp_path: Path) -> None:
    """Lines of one time stand file by file then, and a ZooKeeper server's file names no broker."""
    _, files = one_stream(recording(run), Random(1), None)
    found = read_logs([written(files, tmp_path)])
    assert "node unknown" not in {each.kind for each in found.notices}
    assert {each.verdict for each in answers(tmp_path)} == {TraceVerdict.CONSISTENT}


@pytest.mark.parametrize(("run", "width"), [("zookeeper-2.6.3", 512), ("A0", 256)])
def test_lines_cut_off_at_a_width_are_known_by_how_they_begin(run: str, width: int, tmp_path: Path) -> None:
    """Those that may tell of a step are lost lines, and the answer says that nothing was compared with them."""
    _, whole = everything(recording(run))
    files = [(path, [Entry(each.time, each.text.partition("\n")[0][:width]) for each in of]) for path, of in whole]
    found = answers(written(files, tmp_path))
    assert {each.verdict for each in found} == {TraceVerdict.CONSISTENT}
    rests_on = [each for answer in found for each in answer.rests_on]
    assert any("the ends of lines are missing" in each for each in rests_on) is (run == "A0")


def test_whoever_acts_as_controller_was_elected_where_no_line_tells_of_an_election(tmp_path: Path) -> None:
    (answer,) = answers(with_words("A0", "KafkaServer|started", tmp_path))
    assert answer.verdict is TraceVerdict.CONSISTENT
    assert any("acted as controller, and the logs hold no election" in each for each in answer.rests_on)


def test_of_a_controller_that_comes_back_without_a_line_of_it_lines_are_missing(tmp_path: Path) -> None:
    found = gaps(read_logs([with_words("B3", "truncat|elect|elected", tmp_path)]))
    assert any("became controller again after another one" in each.text for each in found)
    whole = gaps(read_logs([with_words("B3", "", tmp_path / "whole")]))
    assert not any("became controller again" in each.text for each in whole)


@pytest.mark.slow
def test_a_topic_that_is_announced_twice_was_created_twice(tmp_path: Path) -> None:
    """`controller.log` alone announces creations; `state-change.log`, which is missing, reports them."""
    files = where(recording("zookeeper-3.0.2"), lambda _node, file, _entry: file.startswith("controller.log"))
    assert {each.verdict for each in answers(written(files, tmp_path))} == {TraceVerdict.CONSISTENT}


@pytest.mark.slow
def test_runs_of_searched_logs_may_be_of_two_clusters(tmp_path: Path) -> None:
    """No line that was found says that a process runs, or names the cluster: preludes tell runs apart."""
    logs = with_words("kraft-3.7.2", "registered|Created log|snapshot|Controller", tmp_path)
    assert TraceVerdict.INCONSISTENT not in {each.verdict for each in answers(logs)}
