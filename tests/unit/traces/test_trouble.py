"""Lines of trouble: each family's example is read, findings tell what happened, and no healthy log is told lossy."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from assay.traces.log_reader import LogReading, read_logs
from assay.traces.patterns.statement_catalogue import LogStatement, statement_catalogue
from assay.traces.trouble.assembly import trouble_of
from assay.traces.trouble.finding import Gravity, Trouble

RECORDINGS = Path(__file__).resolve().parents[2] / "corpus" / "recordings"


def reading_of(text: str, folder: Path) -> LogReading:
    path = folder / "server.log"
    path.write_text(text, encoding="utf-8")
    return read_logs([path])


def trouble_in(text: str, folder: Path) -> Trouble:
    return trouble_of(reading_of(text, folder))


@pytest.mark.parametrize("statement", statement_catalogue().statements, ids=lambda each: each.name)
def test_the_example_of_each_family_is_read_as_one_of_it(statement: LogStatement, tmp_path: Path) -> None:
    found = reading_of(statement.example + "\n", tmp_path).trouble
    assert [each.group.statement for each in found] == [statement.name]
    assert "?" not in re.sub(r"\?(?= |$)", "", statement.explain(found[0].group.first.message))
    assert not statement.gravity or (statement.gravity in Gravity.__members__ and statement.heading)


def test_names_of_families_are_unique() -> None:
    names = [each.name for each in statement_catalogue().statements]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("recording", "lost"),
    [
        ("A9", [("ledger-0", 30, 60), ("ledger-0", 70, 100)]),
        ("B1", [("ledger-0", 0, 60)]),
        ("B3", [("ledger-0", 30, 60)]),
        ("A0", []),
        ("A4", []),
        ("C1", []),
        ("C2", []),
    ],
)
def test_records_that_unclean_elections_lost_are_told_as_they_were(
    recording: str, lost: list[tuple[str, int, int]]
) -> None:
    found = trouble_of(read_logs([RECORDINGS / f"{recording}.tar.xz"])).findings
    told = [each for finding in found if finding.gravity <= Gravity.RISK for each in finding.lost]
    assert [(each.partition, each.begin, each.end) for each in told] == lost
