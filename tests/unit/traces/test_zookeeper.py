"""Logs of three ZooKeeper 3.8 servers (`tests/corpus/zookeeper`: the leader is killed and started again, the next one paused)."""

from __future__ import annotations

from pathlib import Path

import pytest

import assay
from assay.checker.report import ExitCode
from assay.cli.main import invoke
from assay.traces.result import TraceVerdict

SPEC = "systems/zookeeper"
LOGS = Path(__file__).parents[2] / "corpus" / "zookeeper"
ESTABLISHED = "sids: [[1, 2]]; starting up and setting last processed zxid: 0x200000000"


def answer(folder: Path, first_lines: dict[int, int], *edits: tuple[int, str, str]) -> assay.LogAnswer:
    """The answer about the logs of some servers, each from one of its lines on; an edit replaces a text in one log."""
    for server, first in first_lines.items():
        text = "".join((LOGS / f"{server}.log").read_text().splitlines(keepends=True)[first:])
        for _, old, new in (each for each in edits if each[0] == server):
            assert old in text
            text = text.replace(old, new)
        (folder / f"{server}.log").write_text(text)
    return assay.validate([folder], spec=SPEC)


WHOLE = {1: 0, 2: 0, 3: 0}


def test_every_line_about_elections_and_epochs_is_explained(tmp_path: Path) -> None:
    found = answer(tmp_path, WHOLE)
    counts = found.validation.counts
    assert (found.verdict, counts.used, counts.unmapped) == (TraceVerdict.CONSISTENT, 90, 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("server", "old", "new"),
    [
        pytest.param(2, ESTABLISHED, ESTABLISHED.replace("0x2", "0x1"), id="two leaders of one epoch"),
        pytest.param(2, "[[1, 2]]", "[[2]]", id="a leader without a majority"),
    ],
)
def test_what_a_leader_may_not_do_is_found(tmp_path: Path, server: int, old: str, new: str) -> None:
    found = answer(tmp_path, WHOLE, (server, old, new))
    assert found.verdict is TraceVerdict.INCONSISTENT
    assert [str(each.event.record.place) for each in found.mismatches] == [f"{tmp_path}/2.log:31"]


@pytest.mark.slow
@pytest.mark.parametrize(("server", "line"), [(3, 6), (2, 6)], ids=["a leader", "a follower"])
def test_a_server_that_heard_no_votes_since_it_started_is_found_out(tmp_path: Path, server: int, line: int) -> None:
    kept = (LOGS / f"{server}.log").read_text().splitlines(keepends=True)
    for each in WHOLE:
        (tmp_path / f"{each}.log").write_text((LOGS / f"{each}.log").read_text())
    (tmp_path / f"{server}.log").write_text("".join(each for each in kept if "Notification" not in each))
    found = assay.validate([tmp_path], spec=SPEC)
    assert found.verdict is TraceVerdict.INCONSISTENT
    assert str(found.mismatches[0].event.record.place) == f"{tmp_path}/{server}.log:{line}"


@pytest.mark.slow
@pytest.mark.parametrize(
    "first_lines",
    [{1: 0, 2: 0}, {1: 20, 2: 20, 3: 20}, {1: 35, 2: 10, 3: 0}, {3: 0}],
    ids=["a server's log is missing", "all begin in mid-life", "two begin in mid-life", "one log alone"],
)
def test_a_part_of_a_healthy_log_is_no_false_alarm(tmp_path: Path, first_lines: dict[int, int]) -> None:
    assert answer(tmp_path, first_lines).verdict in {TraceVerdict.CONSISTENT, TraceVerdict.INCONCLUSIVE}


@pytest.mark.slow
@pytest.mark.parametrize("setting", ["Majority=false", "NewEpoch=false"])
def test_each_safeguard_is_needed(setting: str) -> None:
    asked = ["check", SPEC, "--model", "two_servers", "--property", "one_leader", "--set", setting]
    assert invoke(asked) == ExitCode.VIOLATED


@pytest.mark.slow
def test_the_spec_keeps_its_properties() -> None:
    assert invoke(["check", SPEC, "--model", "two_servers"]) == ExitCode.OK
    assert invoke(["check", SPEC, "--depth", "3", "--property", "a_leader_is_replaced"]) == ExitCode.UP_TO_BOUND
