"""Logs that begin in mid-life: what the lines around an unexplained one tell of the time before them, and what no time before explains."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.cli.main import invoke
from assay.cli.settings import load
from assay.traces.log_reader import read_logs
from assay.traces.options import DEFAULT_OPTIONS
from assay.traces.windows.window_model import LogPart

SERVER = """\
[2021-03-04 09:15:{at},002] INFO Registered kafka:type=kafka.Log4jController MBean (kafka.utils.Log4jControllerRegistration$)
[2021-03-04 09:15:{at},550] INFO starting (kafka.server.KafkaServer)
[2021-03-04 09:15:{at},631] INFO Session establishment complete on server zk.example/10.1.2.3:2181, sessionid = 0x{session:x}, negotiated timeout = 18000 (org.apache.zookeeper.ClientCnxn)
[2021-03-04 09:15:{at},705] INFO Creating /brokers/ids/{id} (is it secure? false) (kafka.zk.KafkaZkClient)
[2021-03-04 09:15:{at},719] INFO Stat of the created znode at /brokers/ids/{id} is: {zxid},{zxid},{ms},{ms},1,0,0,{session},214,0,{zxid}
 (kafka.zk.KafkaZkClient)
[2021-03-04 09:15:{at},729] INFO Registered broker {id} at path /brokers/ids/{id} with addresses: PLAINTEXT://node-{id}.example:9092, czxid (broker epoch): {zxid} (kafka.zk.KafkaZkClient)
[2021-03-04 09:15:{at},839] INFO [Controller id={id}] {id} successfully elected as the controller. Epoch incremented to {epoch} and epoch zk version is now {epoch} (kafka.controller.KafkaController)
[2021-03-04 09:15:{at},896] INFO [Controller id={id}] Ready to serve as the new controller with epoch {epoch} (kafka.controller.KafkaController)
"""


def write(folder: Path, broker: int, at: int, zxid: int, epoch: int) -> None:
    (folder / f"broker-{broker}").mkdir()
    made = 1_614_849_300_000 + 1_000 * at + 708
    text = SERVER.format(id=broker, at=at, zxid=zxid, epoch=epoch, ms=made, session=216_245_112_447_565_820 + broker)
    (folder / f"broker-{broker}" / "server.log").write_text(text, encoding="utf-8")


@pytest.mark.slow
def test_a_restart_on_kept_data_is_explained_from_a_beginning_that_the_answer_states(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, broker=3, at=10, zxid=812, epoch=6)
    assert invoke(["validate", str(tmp_path), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["verdict"], answer["reason"], answer["violations"]) == ("consistent", None, [])
    assert answer["rests_on"] == ["before the log began: controller epoch 5"]
    assert answer["held"] > 0


def test_a_process_that_was_restarted_is_one_with_logs(tmp_path: Path) -> None:
    """Else it may do in a window what no line tells of, and hardly any line of it contradicts another."""
    write(tmp_path, broker=3, at=10, zxid=812, epoch=6)
    log = tmp_path / "broker-3" / "server.log"
    log.write_text(log.read_text() + SERVER.format(id=3, at=40, zxid=840, epoch=7, ms=1, session=2))
    spec, events = load("kafka/controller", None, {}), read_logs([tmp_path]).events
    writers = {str(event.fields["node"]) for event in events if event.kind == "ControllerElected"}
    assert writers == {"broker-3", "broker-3#2"}
    assert writers <= LogPart(spec, spec.kernel.traces[0], DEFAULT_OPTIONS, events).processes(0.0)


@pytest.mark.slow
def test_two_controllers_of_one_epoch_are_named_and_what_follows_is_no_second_finding(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, broker=3, at=10, zxid=812, epoch=6)
    write(tmp_path, broker=4, at=25, zxid=830, epoch=6)
    assert invoke(["validate", str(tmp_path), "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    (found,) = answer["violations"]
    places = [f"{tmp_path}/broker-{broker}/server.log:8" for broker in (3, 4)]
    assert found["contradiction"]["text"] == (
        f"Two controllers with epoch 6: broker 3 at 09:15:10 ({places[0]}), broker 4 at 09:15:25 ({places[1]})"
    )
    assert [f"{each['file']}:{each['line']}" for each in found["contradiction"]["lines"]] == places


ELECTED = (
    "[2024-05-14 03:12:{second:02},412] INFO [Controller id={broker}] {broker} successfully elected as the controller. "
    "Epoch incremented to {epoch} and epoch zk version is now {epoch} (kafka.controller.KafkaController)\n"
)


@pytest.mark.parametrize(
    ("epochs", "verdict"),
    [
        pytest.param((17, 17), "inconsistent", id="one epoch twice"),
        pytest.param((17, 1), "inconclusive", id="the first epoch, perhaps of another cluster"),
        pytest.param((17, 3), "inconsistent", id="a lower epoch that one line alone states"),
        pytest.param((17, 3, 4), "inconclusive", id="lower epochs from a line on"),
        pytest.param((17, 3, 18), "inconsistent", id="a lower epoch between higher ones"),
    ],
)
def test_a_lower_epoch_may_be_that_of_another_cluster(
    tmp_path: Path, epochs: tuple[int, ...], verdict: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Servers that were emptied count from one again; no line of a paste tells of it."""
    lines = [ELECTED.format(second=10 * n, broker=n + 2, epoch=epoch) for n, epoch in enumerate(epochs)]
    (tmp_path / "paste.log").write_text("".join(lines))
    invoke(["validate", str(tmp_path / "paste.log"), "--json"])
    assert json.loads(capsys.readouterr().out)["verdict"] == verdict


QUORUM = """\
[2026-11-21 01:40:42,{ms}] INFO Registered kafka:type=kafka.Log4jController MBean (kafka.utils.Log4jControllerRegistration$)
[2026-11-21 01:40:45,{ms}] INFO [ControllerServer id={id}] Starting controller (kafka.server.ControllerServer)
[2026-11-21 01:40:54,{ms}] INFO [RaftManager id={id}] Completed transition to Unattached(epoch=0, votedKey=null, voters=[101, 102, 103], \
electionTimeoutMs=1675, highWatermark=Optional.empty) from null (org.apache.kafka.raft.QuorumState)
"""
EPOCH = """\
[2026-11-21 01:40:58,{ms}] INFO [QuorumController id={id}] In the new epoch 3, the leader is (none). (org.apache.kafka.controller.QuorumController)
"""


@pytest.mark.parametrize(("telling", "code"), [((102,), 1), ((102, 103), 3)])
def test_an_epoch_that_several_nodes_tell_of_was_begun_by_a_line_that_is_missing(
    telling: tuple[int, ...], code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All of the log is there from the birth of the cluster on, but for the lines about elections. One line alone that
    names a later epoch is wrong."""
    for voter in (101, 102, 103):
        (tmp_path / f"controller-{voter}").mkdir()
        text = QUORUM + (EPOCH if voter in telling else "")
        (tmp_path / f"controller-{voter}" / "server.log").write_text(text.format(id=voter, ms=voter), encoding="utf-8")
    assert invoke(["validate", str(tmp_path), "--json"]) == code
    reason = json.loads(capsys.readouterr().out)["reason"] or ""
    assert ("`voting.find(101, 3)`, is missing" in reason) == (code != 1)
