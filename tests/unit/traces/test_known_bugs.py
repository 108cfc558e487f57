"""Known bugs are recognised by their lines, events and steps, in the versions that have them and in no other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from assay.traces.event import Event, LogPosition, LogRecord, ProcessRun, Remark
from assay.traces.log_reader import read_logs
from assay.traces.patterns.statement_catalogue import statement_catalogue
from assay.traces.trouble.assembly import trouble_of
from assay.traces.trouble.finding import Gravity, TroubleFinding
from assay.traces.trouble.known_bugs import bugs_of_execution, release, signatures

ROOT = Path(__file__).resolve().parents[3]
CORPUS = ROOT / "tests" / "corpus" / "recordings"
BELOW = "java.lang.IllegalStateException: Epoch 310 larger than current broker epoch 214\n\tat kafka.server.KafkaApis.isBrokerEpochStale(KafkaApis.scala:3013)\n"


def bugs_in(text: str, folder: Path, version: str | None = None) -> list[TroubleFinding]:
    banner = f"[2015-01-01 00:00:00,000] INFO Kafka version: {version} (org.apache.kafka.common.utils.AppInfoParser)\n"
    path = folder / "server.log"
    path.write_text((banner if version else "") + text, encoding="utf-8")
    return [each for each in trouble_of(read_logs([path])).findings if each.gravity is Gravity.BUG]


def lines_of(statement: str) -> str:
    """The example of a family, three times within two hours, each with the exception that one signature asks for."""
    example = statement_catalogue().named(statement).example
    lines = (re.sub(r" \d\d:\d\d:", f" 1{n}:00:", example, count=1) for n in range(3))
    return "".join(f"{line}\n{BELOW if statement == 'controller-request-failed' else ''}" for line in lines)


BY_LINES = [(bug, bug.lines["statement"]) for bug in signatures() if bug.lines is not None]


@pytest.mark.parametrize(("bug", "statement"), BY_LINES, ids=lambda each: getattr(each, "jira", each))
def test_a_bug_is_recognised_by_its_lines_in_its_versions(bug: object, statement: str, tmp_path: Path) -> None:
    signature = next(each for each in signatures() if each is bug)
    text = lines_of(statement)
    (found,) = bugs_in(text, tmp_path)
    assert (found.reference, found.count) == (signature.jira, 3)
    assert "?" not in found.heading + found.text + found.advice
    assert f"mended in Kafka {signature.fixed}" in found.advice
    within = signature.since if signature.since != "0.8" else "1.0.2"
    assert [each.reference for each in bugs_in(text, tmp_path, f"{within}.0")] == [signature.jira]
    assert bugs_in(text, tmp_path, signature.fixed) == []


def test_another_exception_below_a_failed_request_is_no_bug(tmp_path: Path) -> None:
    assert bugs_in(lines_of("controller-request-failed").replace("larger than", "is not"), tmp_path) == []


def test_an_empty_isr_is_one_bug_and_another_wrong_isr_is_none(tmp_path: Path) -> None:
    assert bugs_in(lines_of("empty-isr-asked-for").replace("ISR []", "ISR [7]"), tmp_path) == []


def refused(owner: str) -> str:
    established = "INFO Session establishment complete on server zk/10.0.0.1:2181, sessionid = {}, negotiated timeout = 18000 (org.apache.zookeeper.ClientCnxn)"
    lines = [
        "INFO Registered kafka:type=kafka.Log4jController MBean (kafka.utils.Log4jControllerRegistration$)",
        established.format("0x30041c8b7da0002"),
        established.format("0x30041c8b7da0009"),
        f"ERROR Error while creating ephemeral at /brokers/ids/4, node already exists and owner '{owner}' does not match current session '0x30041c8b7da0009' (kafka.zk.KafkaZkClient$CheckedEphemeral)",
    ]
    return "".join(f"[2019-02-03 10:00:0{n},100] {line}\n" for n, line in enumerate(lines))


def test_a_broker_that_its_own_earlier_session_keeps_out_is_recognised(tmp_path: Path) -> None:
    (found,) = bugs_in(refused("0x30041c8b7da0002"), tmp_path, "2.1.1")
    assert (found.reference, found.nodes) == ("KAFKA-7165", ("broker 4",))
    assert "(0x30041c8b7da0002)" in found.text
    assert bugs_in(refused("0x30041c8b7da0002"), tmp_path, "2.2.0") == []


def test_a_broker_that_another_process_keeps_out_is_no_bug(tmp_path: Path) -> None:
    assert bugs_in(refused("0x30041c8b7da0001"), tmp_path, "2.1.1") == []


def test_a_broker_that_registers_later_is_no_bug(tmp_path: Path) -> None:
    later = "[2019-02-03 10:05:00,100] INFO Registered broker 4 at path /brokers/ids/4 with addresses: PLAINTEXT://n:9092, czxid (broker epoch): 24 (kafka.zk.KafkaZkClient)\n"
    assert bugs_in(refused("0x30041c8b7da0002") + later, tmp_path, "2.1.1") == []


@pytest.mark.parametrize("bug", [each for each in signatures() if each.remark is not None], ids=lambda each: each.jira)
def test_a_step_of_the_execution_is_recognised(bug: object) -> None:
    signature = next(each for each in signatures() if each is bug)
    assert signature.remark is not None
    place = LogPosition("controller.log", 7, 0)
    event = Event("IsrUpdated", "", {}, LogRecord(place, 5, "INFO", "", None, "m"), ProcessRun("broker-3", 1))
    remarks = [Remark("known", signature.remark["text"] + ", because", event), Remark("known", "else", event)]
    (found,) = bugs_of_execution(remarks, ["2.8.2"])
    assert (found.reference, found.lines[0].place) == (signature.jira, place)
    assert not list(bugs_of_execution(remarks, ["3.3.0"]))


@pytest.mark.parametrize("bug", [each for each in signatures() if each.remark is not None], ids=lambda each: each.jira)
def test_the_text_of_a_step_is_one_that_a_spec_reports(bug: object) -> None:
    signature = next(each for each in signatures() if each is bug)
    assert signature.remark is not None
    specs = (ROOT / "spec" / "kafka").rglob("*.assay")
    assert any(f'"{signature.remark["text"]}' in path.read_text(encoding="utf-8") for path in specs)


def test_each_signature_names_a_row_of_the_page_of_bugs() -> None:
    rows = (ROOT / "docs" / "kafka-bugs.md").read_text(encoding="utf-8").splitlines()
    page = (ROOT / "docs" / "log-statements.md").read_text(encoding="utf-8")
    for bug in signatures():
        module, name = bug.switch.split()
        assert any(row.startswith("| ") and bug.jira in row and f"`{module}` `{name}`" in row for row in rows), bug.jira
        assert f"| {bug.jira} | {bug.since} | {bug.fixed} | " in page
        assert sum(each is not None for each in (bug.lines, bug.event, bug.remark)) == 1
        assert release(bug.since) < release(bug.fixed)


@pytest.mark.slow
@pytest.mark.parametrize("recording", sorted(path.name for path in CORPUS.glob("*.tar.xz")))
def test_no_recording_shows_a_bug_by_its_lines(recording: str) -> None:
    found = trouble_of(read_logs([CORPUS / recording])).findings
    assert [each.heading for each in found if each.gravity is Gravity.BUG] == []
