"""A broker's process may hold sessions of several ZooKeeper clients; its own is the one that it registers in."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.traces.attribution.zookeeper_lines import START, begins, closes, expires, registers, silent, written

from assay.api.log_answers import validate
from assay.checker.report import ExitCode
from assay.traces.log_reader import read_logs

REGISTERED = "Registered broker 1 at path /brokers/ids/1 with addresses: PLAINTEXT://h:9092 (kafka.zk.KafkaZkClient)"


def client(name: str, text: str) -> str:
    return f"[ZooKeeperClient{name}] {text} (kafka.zookeeper.ZooKeeperClient)"


def opens(name: str) -> str:
    return client(name, "Initializing a new session to localhost:2181.")


SERVER, AUTHORIZER = " Kafka server", " ACL authorizer"


def log(tmp_path: Path, texts: list[str]) -> Path:
    return written(tmp_path / "server.log", texts)


def sessions(path: Path) -> list[tuple[str, int]]:
    """The kinds and sessions of the lines that name one, in order."""
    events = read_logs([path]).events
    named = (each for each in events if each.kind.startswith("Session") and each.fields.get("session"))
    return [(each.kind.removeprefix("Session"), int(str(each.fields["session"]), 16)) for each in named]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        pytest.param(
            [START, begins(1), begins(2), REGISTERED, silent(2), expires(2), begins(3), silent(1)],
            [("Established", 1), ("Disconnected", 1)],
            id="an authorizer's, in a version that names no client",
        ),
        pytest.param(
            [START, begins(1), closes(1), begins(2), REGISTERED],
            [("Established", 1), ("Closed", 1), ("Established", 2)],
            id="that of a chroot, and then the broker's",
        ),
        pytest.param(
            [START, begins(1), REGISTERED, begins(2), REGISTERED],
            [("Established", 1), ("Established", 2)],
            id="the end of the first was not logged",
        ),
        pytest.param(
            [START, begins(1), REGISTERED, *60 * ["Nothing happens"], begins(2)],
            [("Established", 1), ("Established", 2)],
            id="the end of the first was not logged, nor what followed the second",
        ),
        pytest.param(
            [START, begins(1), REGISTERED, expires(1), begins(2), REGISTERED],
            [("Established", 1), ("Expired", 1), ("Established", 2)],
            id="one after another",
        ),
        pytest.param(
            [expires(1), expires(2), opens(SERVER), opens(AUTHORIZER), begins(3), begins(4), registers(1, 4)],
            [("Expired", 1), ("Expired", 2), ("Established", 4)],
            id="both expire, and the broker registers in the second",
        ),
        pytest.param(
            [opens(AUTHORIZER), begins(2), silent(2), silent(1), begins(1)],
            [("Disconnected", 1), ("Established", 1)],
            id="the log begins with an authorizer's",
        ),
        pytest.param(
            [begins(2), begins(1), client(AUTHORIZER, "Closing."), closes(2), client(SERVER, "Closing."), closes(1)],
            [("Established", 1), ("Closed", 1)],
            id="who closes it says whose it was",
        ),
    ],
)
def test_the_broker_has_the_session_that_it_registers_in(
    tmp_path: Path, texts: list[str], expected: list[tuple[str, int]]
) -> None:
    assert sessions(log(tmp_path, texts)) == expected


def test_another_clients_expiry_does_not_end_the_brokers_session(tmp_path: Path) -> None:
    texts = [START, begins(1), opens(AUTHORIZER), begins(2), client(AUTHORIZER, "Session expired."), REGISTERED]
    found = read_logs([log(tmp_path, texts)])
    [registered] = [each for each in found.events if each.kind == "BrokerRegisteredUnnumbered"]
    assert registered.fields["session"] == "0x1"
    [notice] = [each for each in found.notices if each.kind == "other sessions"]
    assert notice.text.endswith(": 3")


def test_sessions_of_two_brokers_in_one_file_do_not_contradict_each_other(tmp_path: Path) -> None:
    answer = validate(log(tmp_path, [START, START, begins(1), begins(2)]))
    assert answer.exit_code != ExitCode.VIOLATED, str(answer)
