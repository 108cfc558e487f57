"""Logs are divided by cluster: by ids in lines, sessions, folders and time. Each part is validated by itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.cli.main import invoke
from assay.traces.diagnosis.cluster_division import NAMELESS, divided_by_cluster
from assay.traces.diagnosis.incident_moments import moments
from assay.traces.log_reader import read_logs

ONE, OTHER = "Qm3vT8pWQ0Kc5dLrYhZ1xA", "Zk9fB2nXS5Gh7jUeWvC4yQ"


def life(hour: int, cluster: str, broker: int, session: int, *, epoch: int = 1, ends: bool = True) -> str:
    """The lines of a broker that founds a cluster, is its controller, and perhaps stops."""
    made = 1_659_398_402_508 + 3_600_000 * hour + 7 * session
    lines = [
        "00:01,002 INFO Registered kafka:type=kafka.Log4jController MBean (kafka.utils.Log4jControllerRegistration$)",
        "00:01,550 INFO starting (kafka.server.KafkaServer)",
        f"00:01,631 INFO Session establishment complete on server zk-1/10.0.0.1:2181, sessionid = 0x3004{session:04x}7da0002, negotiated timeout = 18000 (org.apache.zookeeper.ClientCnxn)",
        f"00:01,705 INFO Cluster ID = {cluster} (kafka.server.KafkaServer)",
        f"00:02,505 INFO Creating /brokers/ids/{broker} (is it secure? false) (kafka.zk.KafkaZkClient)",
        f"00:02,519 INFO Stat of the created znode at /brokers/ids/{broker} is: 24,24,{made},{made},1,0,0,{int(f'3004{session:04x}7da0002', 16)},214,0,24\n (kafka.zk.KafkaZkClient)",
        f"00:02,529 INFO Registered broker {broker} at path /brokers/ids/{broker} with addresses: PLAINTEXT://n:9092, czxid (broker epoch): 24 (kafka.zk.KafkaZkClient)",
        f"00:02,639 INFO [Controller id={broker}] {broker} successfully elected as the controller. Epoch incremented to {epoch} and epoch zk version is now {epoch} (kafka.controller.KafkaController)",
        f"00:02,896 INFO [Controller id={broker}] Ready to serve as the new controller with epoch {epoch} (kafka.controller.KafkaController)",
        f"00:02,944 INFO [KafkaServer id={broker}] started (kafka.server.KafkaServer)",
        f"00:03,000 WARN [ReplicaManager broker={broker}] Broker {broker} stopped fetcher for partitions a-0 (kafka.server.ReplicaManager)",
    ]
    if ends:
        lines += [
            f"05:03,044 INFO [KafkaServer id={broker}] shutting down (kafka.server.KafkaServer)",
            f"05:03,944 INFO [KafkaServer id={broker}] shut down completed (kafka.server.KafkaServer)",
        ]
    # No two processes write their lines in the same milliseconds: equal lines are taken for copies.
    stamps = [(line[:6], int(line[6:9]) + 7 * session, line[10:]) for line in lines]
    return "".join(f"[2022-08-02 {hour:02}:{time}{ms:03}] {text}\n" for time, ms, text in stamps)


def written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def parts(folder: Path) -> dict[str, list[str]]:
    """The files and hours of the lines of each cluster."""
    return {
        each.cluster: sorted(
            {
                f"{Path(event.record.place.file).relative_to(folder)} {event.record.time // 3_600_000 % 24}"
                for event in each.reading.events
                if event.record.time is not None
            }
        )
        for each in divided_by_cluster(read_logs([folder]))
    }


def test_clusters_at_one_time_are_told_apart_by_their_ids(tmp_path: Path) -> None:
    logs = written(tmp_path, {"a/server.log": life(3, ONE, 1, 1), "b/server.log": life(3, OTHER, 1, 2)})
    assert parts(logs) == {ONE: ["a/server.log 3"], OTHER: ["b/server.log 3"]}


def test_clusters_one_after_another_in_one_file_are_told_apart_by_the_runs_of_the_process(tmp_path: Path) -> None:
    logs = written(tmp_path, {"a/server.log": life(3, ONE, 1, 1) + life(5, OTHER, 1, 2)})
    assert parts(logs) == {ONE: ["a/server.log 3"], OTHER: ["a/server.log 5"]}
    found = divided_by_cluster(read_logs([logs]))
    assert [[each.group.count for each in part.reading.trouble] for part in found] == [[1], [1]]
    assert [part.reading.kinds["ClusterId"] for part in found] == [1, 1]


def test_a_run_is_of_two_clusters_if_the_start_of_the_second_process_was_lost(tmp_path: Path) -> None:
    first, second = life(3, ONE, 1, 1, ends=False), life(5, OTHER, 1, 2)
    named = life(3, ONE, 2, 3, ends=False).splitlines(keepends=True)
    nameless = "".join(line for line in named if "Cluster ID" not in line)
    other = life(5, OTHER, 2, 4)
    logs = written(
        tmp_path,
        {
            "a/server.log": life(3, ONE, 3, 5) + life(5, OTHER, 3, 6),
            "b/server.log": first + second[second.index("[2022-08-02 05:00:01,645]") :],
            "c/server.log": nameless + other[other.index("[2022-08-02 05:00:01,659]") :],
        },
    )
    assert parts(logs) == {
        ONE: ["a/server.log 3", "b/server.log 3", "c/server.log 3"],
        OTHER: ["a/server.log 5", "b/server.log 5", "c/server.log 5"],
    }


def test_a_run_that_names_the_first_cluster_alone_is_of_the_second_after_the_part_of_its_log_that_is_missing(
    tmp_path: Path,
) -> None:
    other = life(5, OTHER, 2, 4)
    nameless = life(3, ONE, 2, 3, ends=False) + other[other.index("[2022-08-02 05:00:02,533]") :]
    moved = {"a/server.log": life(3, ONE, 3, 5) + life(5, OTHER, 3, 6), "c/server.log": nameless}
    assert parts(written(tmp_path / "moved", moved))[OTHER] == ["a/server.log 5", "c/server.log 5"]
    apart = {"a/server.log": life(3, ONE, 3, 5), "b/server.log": life(5, OTHER, 3, 6), "c/server.log": nameless}
    assert parts(written(tmp_path / "apart", apart))[OTHER] == ["b/server.log 5"]


def test_a_run_that_names_no_cluster_is_of_the_one_that_alone_was_there_then(tmp_path: Path) -> None:
    """The run before was in a cluster that had ended by then: its servers were emptied."""
    second = "".join(line for line in life(5, OTHER, 2, 4).splitlines(keepends=True) if "Cluster ID" not in line)
    files = {"a/server.log": life(3, ONE, 1, 1) + life(5, OTHER, 1, 2), "c/server.log": life(3, ONE, 2, 3) + second}
    assert parts(written(tmp_path, files))[OTHER] == ["a/server.log 5", "c/server.log 5"]


def test_a_file_without_an_id_belongs_to_the_cluster_of_its_folder(tmp_path: Path) -> None:
    nameless = "".join(line for line in life(3, ONE, 2, 3).splitlines(keepends=True) if "Cluster ID" not in line)
    logs = written(
        tmp_path,
        {
            "east/a/server.log": life(3, ONE, 1, 1),
            "west/b/server.log": life(3, OTHER, 1, 2),
            "west/c/server.log": nameless,
        },
    )
    assert parts(logs)[OTHER] == ["west/b/server.log 3", "west/c/server.log 3"]


def test_a_server_of_zookeeper_belongs_to_the_clusters_whose_sessions_it_served(tmp_path: Path) -> None:
    served = "[2022-08-02 {}:00:01,600] INFO Established session 0x3004{}7da0002 with negotiated timeout 18000 for client /10.0.0.1:4 (org.apache.zookeeper.server.ZooKeeperServer)\n"
    logs = written(
        tmp_path,
        {
            "a/server.log": life(3, ONE, 1, 1),
            "b/server.log": life(5, OTHER, 1, 2),
            "z/zookeeper.log": served.format("03", "0001") + served.format("05", "0002"),
        },
    )
    assert parts(logs) == {
        ONE: ["a/server.log 3", "z/zookeeper.log 3"],
        OTHER: ["b/server.log 5", "z/zookeeper.log 5"],
    }


def test_what_can_be_put_nowhere_is_a_part_of_its_own(tmp_path: Path) -> None:
    nameless = "".join(line for line in life(3, ONE, 2, 3).splitlines(keepends=True) if "Cluster ID" not in line)
    files = {"a/server.log": life(3, ONE, 1, 1), "b/server.log": life(3, OTHER, 1, 2), "c/server.log": nameless}
    assert parts(written(tmp_path, files))[NAMELESS] == ["c/server.log 3"]


def test_one_cluster_is_not_divided(tmp_path: Path) -> None:
    reading = read_logs([written(tmp_path, {"a/server.log": life(3, ONE, 1, 1)})])
    (only,) = divided_by_cluster(reading)
    assert (only.cluster, only.reading) == (ONE, reading)


@pytest.fixture
def two_clusters(tmp_path: Path) -> Path:
    """One cluster that is consistent, and one in which a controller serves in an epoch that it was not elected in."""
    wrong = life(3, OTHER, 1, 2).replace("new controller with epoch 1", "new controller with epoch 4")
    return written(tmp_path / "logs", {"a/server.log": life(3, ONE, 1, 1), "b/server.log": wrong})


@pytest.mark.slow
def test_the_gravest_answer_is_the_exit_code_and_each_cluster_has_its_own(
    two_clusters: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.html"
    code = invoke(["validate", str(two_clusters), "--json", "--html", str(page)])
    found = json.loads(capsys.readouterr().out)
    verdicts = {each["cluster"]: each["verdict"] for each in found["clusters"]}
    assert verdicts[ONE] == "consistent"
    assert verdicts[OTHER] != "consistent"
    assert (code, found["verdict"]) == ({"inconsistent": 1, "inconclusive": 3}[verdicts[OTHER]], verdicts[OTHER])
    assert found["events"]["read"] == sum(each["events"]["read"] for each in found["clusters"])
    assert {each["name"] for each in found["input"]["nodes"]} == {"a", "b"}
    assert page.exists()
    assert (tmp_path / f"page-{ONE}.html").exists()
    assert invoke(["validate", str(two_clusters)]) == code
    shown = capsys.readouterr().out.splitlines()
    assert shown[0].startswith("2 clusters, each checked by itself: ")
    assert len(shown) <= 25
    assert any(line.startswith("what happened") for line in shown)


def test_a_run_that_names_no_cluster_is_of_the_cluster_of_the_run_before(tmp_path: Path) -> None:
    unnamed = "".join(line for line in life(4, ONE, 1, 2).splitlines(keepends=True) if "Cluster ID" not in line)
    logs = written(tmp_path, {"a/server.log": life(3, ONE, 1, 1) + unnamed + life(5, OTHER, 1, 3)})
    assert parts(logs) == {ONE: ["a/server.log 3", "a/server.log 4"], OTHER: ["a/server.log 5"]}


def test_lines_that_were_not_read_are_missing_to_each_cluster_of_their_file(tmp_path: Path) -> None:
    """They are counted by file, and named by the first, which is in the first cluster's lines."""
    nameless = "[2022-08-02 {hour:02}:02:00,{ms:03}] INFO a line whose layout names no logger\n"
    text = "".join(
        life(hour, cluster, 1, hour) + "".join(nameless.format(hour=hour, ms=ms) for ms in range(40))
        for hour, cluster in ((8, ONE), (10, OTHER))
    )
    found = divided_by_cluster(read_logs([written(tmp_path, {"n1/server.log": text})]))
    unread = {each.cluster: [n.text for n in each.reading.notices if n.kind == "no logger"] for each in found}
    assert set(unread) == {ONE, OTHER}
    assert unread[ONE] == unread[OTHER] != []


def test_a_killed_run_is_told_in_a_part_that_does_not_begin_with_the_first_run_of_its_node(tmp_path: Path) -> None:
    lives = [life(8, ONE, 1, 1), life(9, ONE, 1, 2, epoch=2), life(10, OTHER, 1, 3, ends=False), life(11, OTHER, 1, 4)]
    folder = written(tmp_path, {"kafka-1/server.log": "".join(lives)})
    dead = {
        each.cluster: [moment.time // 3_600_000 % 24 for moment in moments(each.reading) if moment.of == "death"]
        for each in divided_by_cluster(read_logs([folder]))
    }
    assert dead == {ONE: [], OTHER: [10]}
