"""What an answer is about: a span of time, topics, findings that are not accepted yet; and logs under other names."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from assay.cli.main import invoke
from assay.traces.diagnosis.redact import Redaction, redacted
from assay.traces.log_reader import read_logs
from assay.traces.samples import unpack_sample
from assay.traces.scope import known_ids, parse_time


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack_sample("elections", tmp_path_factory.mktemp("healthy"))


@pytest.fixture(scope="module")
def broken(healthy: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The controller that became ready at 01:45:53 names a wrong epoch."""
    logs = shutil.copytree(healthy, tmp_path_factory.mktemp("broken") / "logs")
    path = logs / "broker-1" / "controller.log"
    lines = path.read_text().splitlines(keepends=True)
    assert "01:45:53" in lines[31]
    path.write_text("".join([*lines[:31], lines[31].replace("with epoch 2", "with epoch 4"), *lines[32:]]))
    return logs


def validate(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, Any]:
    code = invoke(["validate", *map(str, arguments), "--spec", "kafka/controller", "--json"])
    return code, json.loads(capsys.readouterr().out)


def said(answer: Any, kind: str) -> list[str]:
    return [notice["text"] for notice in answer["notices"] if notice["kind"] == kind]


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("2026-11-21 01:45:22", 1795225522000),
        ("2026-11-21T01:45:22.705Z", 1795225522705),
        ("2026-11-21", 1795219200000),
        ("01:45:22.705", None),
        ("yesterday", None),
        ("2026-13-21 01:45:22", None),
    ],
)
def test_a_time_is_written_as_in_logs(text: str, milliseconds: int | None) -> None:
    assert parse_time(text) == milliseconds


@pytest.mark.slow
def test_what_was_logged_after_the_end_is_left_out_and_counted(
    capsys: pytest.CaptureFixture[str], broken: Path
) -> None:
    code, answer = validate(capsys, broken, "--until", "2026-11-21 01:45:50")
    assert (code, answer["verdict"]) == (0, "consistent")
    (text,) = said(answer, "left out")
    assert re.fullmatch(r"\d,\d{3} events after the end that was asked for were left out", text)
    code, answer = validate(capsys, broken, "--until", "2026-11-21 01:46:00")
    assert (code, len(answer["violations"])) == (1, 1)


@pytest.mark.slow
def test_what_was_found_before_the_beginning_is_counted_and_decides_nothing(
    capsys: pytest.CaptureFixture[str], broken: Path
) -> None:
    code, answer = validate(capsys, broken, "--since", "2026-11-21 01:46:00")
    assert (code, answer["verdict"], answer["violations"]) == (0, "consistent", [])
    assert said(answer, "before the beginning") == ["1 findings before the beginning that was asked for are not listed"]
    code, answer = validate(capsys, broken, "--since", "2026-11-21 01:45:00")
    assert (code, len(answer["violations"])) == (1, 1)


def test_a_time_that_is_none_is_refused(capsys: pytest.CaptureFixture[str], healthy: Path) -> None:
    assert invoke(["validate", str(healthy), "--since", "noon"]) == 2
    assert "'noon' is no time such as" in capsys.readouterr().err


@pytest.mark.slow
def test_lines_of_other_topics_are_left_out_and_counted(capsys: pytest.CaptureFixture[str], healthy: Path) -> None:
    _, everything = validate(capsys, healthy)
    code, answer = validate(capsys, healthy, "--topic", "orders", "--topic", "audit")
    assert code == 0
    (text,) = said(answer, "left out")
    count = int(text.split()[0].replace(",", ""))
    assert count > 0
    assert answer["events"]["read"] == everything["events"]["read"] - count
    _, redacted_answer = validate(capsys, healthy, "--topic", "orders", "--topic", "audit", "--redact")
    assert redacted_answer["events"] == answer["events"]


@pytest.mark.slow
def test_a_known_finding_is_accepted_by_its_id_and_counted(
    capsys: pytest.CaptureFixture[str], broken: Path, tmp_path: Path
) -> None:
    _, answer = validate(capsys, broken)
    (violation,) = answer["violations"]
    known = tmp_path / "known"
    known.write_text(f"# accepted on Monday\n{violation['id']} the wrong epoch\n\n0000000000\n")
    code, accepted = validate(capsys, broken, "--known", known)
    assert (code, accepted["verdict"], accepted["violations"]) == (0, "consistent", [])
    first, second = said(accepted, "known finding")
    assert first.startswith(f"1 findings {violation['id']} are known and accepted, such as `[Controller id=1] Ready")
    assert second == "the known finding 0000000000 did not occur"


@pytest.mark.slow
def test_the_id_of_a_finding_does_not_depend_on_numbers_or_on_where_the_logs_are(
    capsys: pytest.CaptureFixture[str], broken: Path, tmp_path: Path
) -> None:
    _, answer = validate(capsys, broken)
    path = shutil.copytree(broken, tmp_path / "elsewhere") / "broker-1" / "controller.log"
    path.write_text(path.read_text().replace("with epoch 4", "with epoch 3"))
    _, moved = validate(capsys, tmp_path / "elsewhere")
    assert [each["id"] for each in moved["violations"]] == [each["id"] for each in answer["violations"]]


def test_files_of_known_findings_may_have_comments() -> None:
    assert known_ids("a1 text\n  # nothing\n\nb2# text\n") == ["a1", "b2"]


def secrets(logs: Path) -> set[str]:
    """Names that a company would not like to show: its topics, addresses, the cluster's id, and the place of the logs."""
    text = "".join(path.read_text() for path in logs.rglob("*.log"))
    found = set(re.findall(r"Cluster ID = (\S+)", text)) | {"127.0.0.1", "orders-0", "audit-0", "/var/lib"}
    assert all(secret in text for secret in found)
    return found | {str(logs.parent)}


@pytest.mark.slow
@pytest.mark.parametrize("edited", [False, True])
def test_redacted_logs_have_the_same_verdict_and_tell_no_names(
    edited: bool, healthy: Path, broken: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    logs = broken if edited else healthy
    code, plain = validate(capsys, logs)
    page, junit = tmp_path / "report.html", tmp_path / "junit.xml"
    redacted_code, answer = validate(capsys, logs, "--redact", "--html", page, "--junit", junit)
    assert (redacted_code, answer["verdict"], answer["events"]) == (code, plain["verdict"], plain["events"])
    assert [each["line"] for each in answer["violations"]] == [each["line"] for each in plain["violations"]]
    for output in (json.dumps(answer), page.read_text(), junit.read_text()):
        for secret in secrets(logs):
            assert secret not in output


@pytest.mark.slow
def test_a_redacted_name_is_the_same_everywhere(healthy: Path) -> None:
    reading = read_logs([healthy])
    other = redacted(reading, Redaction(reading))
    pairs: dict[tuple[str, object], set[object]] = {}
    for event, new in zip(reading.events, other.events, strict=True):
        assert (event.kind, event.record.time, event.fields.keys()) == (new.kind, new.record.time, new.fields.keys())
        for name in ("topic", "node", "owner", "cluster"):
            if name in event.fields:
                pairs.setdefault((name, event.fields[name]), set()).add(new.fields[name])
    assert all(len(names) == 1 for names in pairs.values())
    assert len({tuple(names) for names in pairs.values()}) == len({key[1] for key in pairs})
