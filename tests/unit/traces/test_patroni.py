"""Logs of three members of Patroni 4.1 (`tests/corpus/patroni`: the leader is killed and started again, the next one paused)."""

from __future__ import annotations

from pathlib import Path

import pytest

import assay
from assay.checker.report import ExitCode
from assay.cli.main import invoke
from assay.traces.result import TraceVerdict

SPEC = "systems/patroni"
LOGS = Path(__file__).parents[2] / "corpus" / "patroni"
FOLLOWS = "no action. I am (pg2), a secondary, and following a leader (pg0)"
ACQUIRES = "promoted self to leader by acquiring session lock"
READY = "21.591 UTC [28441] LOG:  database system is ready to accept connections"
CHECK = ["check", SPEC, "--model", "two_members"]


def answer(folder: Path, *edits: tuple[str, str, str], members: str = "012", first: int = 0) -> assay.LogAnswer:
    """The answer about the logs of some members, from a line on; an edit replaces a text in one log."""
    for name in (f"pg{each}" for each in members):
        text = "".join((LOGS / name / "patroni.log").read_text().splitlines(keepends=True)[first:])
        for _, old, new in (each for each in edits if each[0] == name):
            assert old in text
            text = text.replace(old, new)
        (folder / name).mkdir()
        (folder / name / "patroni.log").write_text(text)
    return assay.validate([folder], spec=SPEC)


def test_every_line_about_the_leader_key_and_timelines_is_explained(tmp_path: Path) -> None:
    found = answer(tmp_path)
    counts = found.validation.counts
    assert (found.verdict, counts.used, counts.unmapped) == (TraceVerdict.CONSISTENT, 98, 0)


def test_patroni_may_write_behind_postgresql_what_it_did_before(tmp_path: Path) -> None:
    acquires = f"INFO: {ACQUIRES}"
    found = answer(tmp_path, ("pg2", f"21,522 {acquires}", "21,522 INFO: -"), ("pg2", READY, f"21,591 {acquires}"))
    assert found.verdict is TraceVerdict.CONSISTENT


@pytest.mark.parametrize(
    ("member", "old", "new", "line"),
    [
        pytest.param("pg2", "new timeline ID: 3", "new timeline ID: 2", 55, id="a timeline begins twice"),
        pytest.param(
            "pg2",
            f"55,483 INFO: {FOLLOWS}",
            f"55,483 INFO: {ACQUIRES}",
            35,
            id="the key of a leader is taken",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_what_a_member_may_not_do_is_found(tmp_path: Path, member: str, old: str, new: str, line: int) -> None:
    found = answer(tmp_path, (member, old, new))
    assert found.verdict is TraceVerdict.INCONSISTENT
    blamed = found.mismatches[0].event.record.place
    assert (blamed.file, blamed.line) == (f"{tmp_path}/{'pg0' if line == 35 else member}/patroni.log", line)


@pytest.mark.slow
@pytest.mark.parametrize(("members", "first"), [("12", 0), ("012", 30), ("0", 0)])
def test_a_part_of_a_healthy_log_is_no_false_alarm(tmp_path: Path, members: str, first: int) -> None:
    found = answer(tmp_path, members=members, first=first)
    assert found.verdict in {TraceVerdict.CONSISTENT, TraceVerdict.INCONCLUSIVE}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("setting", "broken"),
    [("Exclusive=false", "one_primary"), ("Watchdog=false", "one_primary"), ("Newest=false", "one_promotion")],
)
def test_each_safeguard_is_needed(setting: str, broken: str) -> None:
    assert invoke([*CHECK, "--property", broken, "--set", setting]) == ExitCode.VIOLATED


@pytest.mark.slow
def test_the_spec_keeps_its_properties() -> None:
    assert invoke(CHECK) == ExitCode.OK
