"""Clusters that are started here, broken, and stopped: what they have just logged is consistent, and what was done to them is in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cluster.jars import NoJarsError, resolve
from tests.cluster.processes import BROKERS, Cluster, cluster

from assay.cli.settings import load
from assay.traces.log_reader import read_logs
from assay.traces.result import TraceVerdict, Validation
from assay.traces.spec_selection import validate_with_selection

pytestmark = pytest.mark.cluster
PARTITIONS = ("orders-0", "orders-1", "orders-2")
PARTITION = PARTITIONS[0]


@pytest.fixture(scope="module")
def jars(tmp_path_factory: pytest.TempPathFactory) -> Path:
    try:
        return resolve(tmp_path_factory.mktemp("maven"))
    except NoJarsError as error:
        pytest.skip(str(error))


def break_it(running: Cluster) -> None:
    """The controller is killed and started again, and then the leader of a partition.

    Before each fault all nodes have logged what they know. A node that is killed between its write and its line leaves
    a gap, and the logs are inconclusive about it.
    """

    def all_in_sync() -> bool:
        return all(running.in_sync(each) == len(BROKERS) for each in PARTITIONS)

    running.create_topic(PARTITION.rpartition("-")[0])
    running.until("the topic has leaders", all_in_sync)
    controller, epoch = running.controller()
    running.kill(controller)
    running.until("there is another controller", lambda: running.controller()[1] > epoch)
    running.start(controller)
    running.wait_started(controller)
    running.until("its replicas are in sync again", all_in_sync)
    leader, leader_epoch = running.leader(PARTITION)
    running.kill(leader)
    running.until("there is another leader", lambda: running.leader(PARTITION)[1] > leader_epoch)


def answer(logs: Path) -> Validation:
    return validate_with_selection(read_logs([logs]), None, lambda spec: load(spec, None, {}))[1]


@pytest.mark.parametrize(("kraft", "spec"), [(False, "kafka.cluster"), (True, "kafka.kraft.cluster")])
def test_what_a_cluster_has_just_logged_is_consistent(kraft: bool, spec: str, jars: Path, tmp_path: Path) -> None:
    with cluster(tmp_path / "cluster", jars, kraft=kraft) as running:
        break_it(running)
    assert running.running == {}
    validation = answer(running.logs)
    assert validation.kernel.name == spec
    assert [(str(each.place), each.action) for each in validation.violations] == []
    assert (validation.verdict, validation.reason) == (TraceVerdict.CONSISTENT, None)
    assert validation.counts.unmapped == 0
    assert {result.name for result in validation.slices} >= set(PARTITIONS)
    assert sum(result.used for result in validation.slices) > 0
