"""`assay validate` and `assay demo` on the recorded runs that come with assay."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import pytest

from assay.traces.samples import sample, unpack_sample


@pytest.fixture
def logs(assay: Any, tmp_path: Path) -> Path:
    """A recorded run, unpacked."""
    return unpack_sample("elections", tmp_path / "logs")


@pytest.mark.slow
def test_a_recorded_run_is_consistent(assay: Any) -> None:
    ran = assay("validate", str(sample("elections")), "--json", "--junit", "out.xml")
    assert ran.code == 0
    assert ran.json["verdict"] == "consistent"
    events = ran.json["events"]
    assert events["used"] > 0
    assert events["read"] == events["used"] + events["ignored"] + events["unmapped"]
    assert ran.json["slices"] == {"total": 13, "consistent": 13}
    assert Xml.parse("out.xml").getroot()[0].get("failures") == "0"


@pytest.mark.slow
def test_an_edited_epoch_is_inconsistent_at_its_line(assay: Any, logs: Path) -> None:
    (path, number), *_ = [
        (path, number)
        for path in sorted(logs.rglob("controller.log"))
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if re.search(r"elected as the controller. Epoch incremented to 3", line)
    ]
    lines = path.read_text().splitlines(keepends=True)
    lines[number - 1] = lines[number - 1].replace("incremented to 3", "incremented to 7")
    path.write_text("".join(lines))
    ran = assay("validate", str(logs))
    assert ran.code == 1
    assert ran.out.startswith("INCONSISTENT")
    assert f"1. {path.parent.name}/{path.name}:{number}\n" in ran.out


@pytest.mark.slow
def test_an_empty_directory_is_vacuous(assay: Any, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    ran = assay("validate", "empty", "--json")
    assert (ran.code, ran.json["verdict"]) == (4, "vacuous")


@pytest.mark.slow
def test_a_log_of_something_else_is_vacuous(assay: Any, tmp_path: Path) -> None:
    (tmp_path / "other.log").write_text("GET /index.html 200\n" * 50)
    assert assay("validate", "other.log").code == 4


@pytest.mark.slow
def test_a_trace_clause_that_is_not_there_is_named(assay: Any) -> None:
    ran = assay("validate", str(sample("elections")), "--clause", "nonesuch", "--json")
    assert ran.code == 2
    assert "nonesuch" in ran.json["diagnostics"][0]["message"]


@pytest.mark.slow
def test_the_demo_shows_what_it_promises(assay: Any) -> None:
    ran = assay("demo")
    assert ran.code == 0
    assert [mark for mark in ("   holds", "   VIOLATED: ", "   consistent") if mark not in ran.out] == []


@pytest.mark.slow
def test_logs_without_a_controller_have_one_exit_code_however_the_spec_is_named(assay: Any, tmp_path: Path) -> None:
    line = "[2026-11-21 01:45:00,000] INFO [BrokerLifecycleManager id=1] Incarnation xtzWWN4bTjitpL3efd9s5g of broker 1 in cluster c is now STARTING. (kafka.server.BrokerLifecycleManager)\n"
    (tmp_path / "server.log").write_text(line)
    codes = {
        assay(command, *rest, "server.log", *named).code
        for command, *rest in (("validate",), ("coverage", "logs"))
        for named in ((), ("--spec", "kafka.kraft.cluster"), ("--spec", "kafka/kraft/cluster"))
    }
    assert codes == {4}


def test_a_time_that_ends_before_it_begins_is_refused(assay: Any, tmp_path: Path) -> None:
    (tmp_path / "server.log").touch()
    ran = assay("validate", "server.log", "--since", "2026-11-22", "--until", "2026-11-21")
    assert ran.code == 2
    assert "--since lies after --until" in ran.err


def test_what_asks_of_one_process_is_refused_on_spark(assay: Any, tmp_path: Path) -> None:
    (tmp_path / "server.log").touch()
    ran = assay("validate", "server.log", "--spark", "local[1]", "--story", "orders-0", "--jobs", "2", "--json")
    assert ran.code == 2
    assert [(each["code"], each["message"].split("`")[1]) for each in ran.json["diagnostics"]] == [
        ("E842", "--story"),
        ("E842", "--jobs"),
    ]
