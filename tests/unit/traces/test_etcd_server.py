"""Logs of three etcd 3.4 servers (`tests/corpus/etcd`: the leader is killed, one server is paused) against `systems/etcd_server`."""

from __future__ import annotations

from pathlib import Path

import pytest

import assay
from assay.traces.result import TraceVerdict

LOGS = Path(__file__).parents[2] / "corpus" / "etcd"
WHOLE = {"a": 0, "b": 0, "c": 0}
A, B = "4bd9c21fe59ce035", "7f5f3e4a6b8e3d5d"


def answer(folder: Path, first_lines: dict[str, int], edit: tuple[str, str] = ("", "")) -> assay.LogAnswer:
    """The answer about the logs of some servers, each from one of its lines on; ``edit`` replaces a text in them."""
    for name, first in first_lines.items():
        lines = (LOGS / f"{name}.log").read_text().splitlines(keepends=True)[first:]
        (folder / f"{name}.log").write_text("".join(lines).replace(*edit))
    return assay.validate([folder], spec="systems/etcd_server")


def test_every_line_about_elections_is_explained(tmp_path: Path) -> None:
    found = answer(tmp_path, WHOLE)
    counts = found.validation.counts
    assert (found.verdict, counts.used, counts.unmapped) == (TraceVerdict.CONSISTENT, 72, 0)


def test_a_second_vote_in_a_term_is_the_finding(tmp_path: Path) -> None:
    found = answer(tmp_path, WHOLE, (f"rejected MsgVote from {A}", f"cast MsgVote for {A}"))
    assert found.verdict is TraceVerdict.INCONSISTENT
    assert [str(each.event.record.place) for each in found.mismatches] == [f"{tmp_path}/b.log:34"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "first_lines",
    [{"a": 0, "b": 0}, {"a": 20, "b": 20, "c": 20}, {"a": 45, "b": 30, "c": 0}, {"c": 0}],
    ids=["a server's log is missing", "all begin in mid-life", "two begin in mid-life", "one log alone"],
)
def test_a_part_of_a_healthy_log_is_no_false_alarm(tmp_path: Path, first_lines: dict[str, int]) -> None:
    assert answer(tmp_path, first_lines).verdict in {TraceVerdict.CONSISTENT, TraceVerdict.INCONCLUSIVE}


@pytest.mark.slow
def test_a_leader_without_votes_shows_in_a_part_of_the_logs(tmp_path: Path) -> None:
    found = answer(tmp_path, {"a": 0, "b": 0}, (f"{B} became follower at term 4", f"{B} became leader at term 4"))
    assert found.verdict is TraceVerdict.INCONSISTENT
