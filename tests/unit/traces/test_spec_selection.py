"""What lines are decides which model they are validated against, and what that leaves open is said."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from assay.cli.settings import load
from assay.grammar import kernel as k
from assay.grammar.load import bundled_specs, load_spec
from assay.traces.log_reader import read_logs
from assay.traces.result import TraceVerdict
from assay.traces.spec_selection import select_spec, validate_with_selection


@pytest.fixture(scope="module")
def kraft() -> k.Kernel:
    (folder,) = bundled_specs()
    return load_spec(folder / "kafka/kraft/cluster.assay").kernel


@pytest.mark.parametrize(
    ("kinds", "spec", "clause"),
    [
        (["ControllerElected", "BrokerNodeCreated"], "kafka/cluster", None),
        ([], "kafka/cluster", None),
        (["QuorumLeader", "IncarnationStarting", "RaftServerStarting"], "kafka/kraft/cluster", "kraft_logs"),
        (["IncarnationStarting", "QuorumFollower"], "kafka/kraft/cluster", "broker_logs"),
        (["PartitionRecord", "RegisterBrokerRecord"], "kafka/kraft/cluster", "metadata_log"),
    ],
)
def test_the_model_is_the_one_for_these_lines(kinds: list[str], spec: str, clause: str | None) -> None:
    choice = select_spec(dict.fromkeys(kinds, 1))
    assert (choice.spec, choice.clause, choice.unsupported) == (spec, clause, None)


def test_brokers_alone_and_controllers_alone_leave_something_to_suppose() -> None:
    assert select_spec({"IncarnationStarting": 1}).assumed is not None
    assert select_spec({"QuorumLeader": 1}).assumed is not None
    assert select_spec({"QuorumLeader": 1, "BecameLeader": 1}).assumed is None


@pytest.mark.parametrize("kinds", [["MigrationState"], ["SessionEstablished", "QuorumFollower"]])
def test_a_migration_is_named_as_unsupported(kinds: list[str]) -> None:
    choice = select_spec(dict.fromkeys(kinds, 1))
    assert choice.unsupported is not None
    assert "no model" in choice.unsupported


def test_of_a_spec_that_is_named_the_clause_is_chosen(kraft: k.Kernel) -> None:
    choice = select_spec({"IncarnationStarting": 1}, kraft)
    assert (choice.clause, choice.by_user) == ("broker_logs", True)
    assert select_spec({"IncarnationStarting": 1}, replace(kraft, name="my")).clause is None
    assert select_spec({"IncarnationStarting": 1}, replace(kraft, traces=())).clause is None


def test_of_a_spec_that_is_named_a_clause_is_chosen_even_if_no_line_fits(kraft: k.Kernel) -> None:
    choice = select_spec({}, kraft)
    assert (choice.clause, choice.unsupported) == ("kraft_logs", None)


def test_a_directory_without_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (folder,) = bundled_specs()
    reading = read_logs([tmp_path / "logs"])
    _, found = validate_with_selection(reading, None, lambda name: load_spec(folder / f"{name}.assay"))
    assert (found.verdict, found.reason) == (TraceVerdict.VACUOUS, f"no file was found in `{tmp_path / 'logs'}`")


def test_a_dump_beside_server_logs_is_said_to_be_left_out() -> None:
    """Nothing else would tell that its records are not compared."""
    beside = select_spec({"QuorumLeader": 1, "BecameLeader": 1, "PartitionRecord": 1}).beside
    assert beside is not None
    assert "dump of the metadata log" in beside
    assert select_spec({"PartitionRecord": 1}).beside is None
    assert select_spec({"QuorumLeader": 1, "BecameLeader": 1}).beside is None


def test_what_was_left_out_is_a_notice(tmp_path: Path) -> None:
    (tmp_path / "server.log").write_text(
        "[2022-02-03 10:00:00,100] INFO [QuorumController id=4] Becoming the active controller at epoch 3, next write "
        "offset 1. (org.apache.kafka.controller.QuorumController)\n"
    )
    (tmp_path / "dump.txt").write_text(
        "baseOffset: 0 lastOffset: 0 count: 1 partitionLeaderEpoch: 1 position: 0 CreateTime: 1643882400100 isvalid: true\n"
        '| offset: 0 CreateTime: 1643882400100 keySize: -1 payload: {"type":"REGISTER_BROKER_RECORD","version":0,'
        '"data":{"brokerId":4,"incarnationId":"a","brokerEpoch":1,"fenced":true}}\n'
    )
    _, validation = validate_with_selection(read_logs([tmp_path]), None, lambda name: load(name, None, {}))
    assert "not compared" in {each.kind for each in validation.notices}
