"""Clusters of three brokers on the loopback interface, in ZooKeeper mode and in KRaft mode; every process is stopped in the end."""

from __future__ import annotations

import base64
import re
import socket
import subprocess
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

PATIENCE = 240
"""Seconds after which a cluster that does not do what it should is given up."""

BROKERS = (1, 2, 3)
_LOG4J = """log4j.rootLogger=INFO, server
log4j.logger.kafka.controller=DEBUG, controller
log4j.additivity.kafka.controller=false
log4j.logger.org.apache.kafka.controller=INFO, controller
log4j.additivity.org.apache.kafka.controller=false
log4j.logger.state.change.logger=INFO, state
log4j.additivity.state.change.logger=false
""" + "".join(
    f"log4j.appender.{name}=org.apache.log4j.FileAppender\n"
    f"log4j.appender.{name}.File=${{assay.logs}}/{file}.log\n"
    f"log4j.appender.{name}.layout=org.apache.log4j.PatternLayout\n"
    f"log4j.appender.{name}.layout.ConversionPattern=[%d] %p %m (%c)%n\n"
    for name, file in (("server", "server"), ("controller", "controller"), ("state", "state-change"))
)
_COMMON = {
    "offsets.topic.replication.factor": "3",
    "replica.lag.time.max.ms": "3000",
    "num.network.threads": "2",
    "num.io.threads": "2",
    "log.cleaner.enable": "false",
    "auto.create.topics.enable": "false",
}


class StuckError(Exception):
    """What a cluster did not do in time."""


@dataclass
class Cluster:
    """Processes by the names of their directories below ``folder / "logs"``."""

    folder: Path
    jars: Path
    kraft: bool
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    ports: dict[str, int] = field(default_factory=dict)
    starts: Counter[str] = field(default_factory=Counter)

    @property
    def logs(self) -> Path:
        return self.folder / "logs"

    def start(self, name: str) -> None:
        """Start a process, for the first time or again."""
        if name == "zookeeper":
            main, settings = "org.apache.zookeeper.server.quorum.QuorumPeerMain", self._of_zookeeper()
        else:
            main, settings = "kafka.Kafka", self._of_broker(int(name[-1]))
        file = self.folder / f"{name}.properties"
        file.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
        self.running[name] = self._java(name, main, str(file))
        self.starts[name] += 1

    def wait_started(self, name: str) -> None:
        """Wait until a broker has said that it has started as often as it was started."""
        pattern = "Kafka Server started" if self.kraft else r"\] started \(kafka.server.KafkaServer\)"
        self.until(f"{name} starts", lambda: len(self._found(name, pattern)) >= self.starts[name])

    def kill(self, name: str) -> None:
        """End a process without warning."""
        self.running[name].kill()
        self.running.pop(name).wait(PATIENCE)

    def stop(self) -> None:
        """End all processes: the brokers in order, as far as they do."""
        for name, process in sorted(self.running.items()):
            process.terminate()
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(PATIENCE)
            self.running.pop(name)

    def create_topic(self, name: str) -> None:
        """A topic of three partitions with three replicas."""
        server = f"127.0.0.1:{self.ports['broker-1']}"
        arguments = ["--create", "--topic", name, "--partitions", "3", "--replication-factor", "3"]
        command = self._java(
            "tools", "org.apache.kafka.tools.TopicCommand", "--bootstrap-server", server, *arguments, logs="tools"
        )
        if command.wait(PATIENCE) != 0:
            raise StuckError("the topic was not created")

    def controller(self) -> tuple[str, int]:
        """The process that became controller last, and in which epoch; none yet is epoch 0."""
        text = r"Becoming the active controller at epoch (\d+)" if self.kraft else r"Epoch incremented to (\d+)"
        found = [(int(epoch), name) for name in self._brokers() for epoch in self._found(name, text)]
        epoch, name = max(found, default=(0, ""))
        return name, epoch

    def leader(self, partition: str) -> tuple[str, int]:
        """The broker that led a partition last, and in which leader epoch; none yet is epoch -1."""
        text = rf"\] Leader {re.escape(partition)} .*?starts at leader epoch (\d+)"
        found = [(int(epoch), name) for name in self._brokers() for epoch in self._found(name, text)]
        epoch, name = max(found, default=(-1, ""))
        return name, epoch

    def in_sync(self, partition: str) -> int:
        """How many replicas are in sync by the newest version of a partition's state that a broker has logged; none yet is 0."""
        name = re.escape(partition)
        lines = (
            rf"\] Leader {name} .*?with partition epoch (?P<version>\d+),.*? ISR \[(?P<isr>[\d, ]*)\]",
            rf"\[Partition {name} broker=\d+\] ISR updated to (?P<isr>[\d,]*).*? version updated to (?P<version>\d+)",
            rf"state change for {name} .*?isr=\[(?P<isr>[\d, ]*)\], partitionEpoch=(?P<version>\d+)",
        )
        found = [match for broker in self._brokers() for text in lines for match in self._matches(broker, text)]
        return max(((int(match["version"]), match["isr"].count(",") + 1) for match in found), default=(-1, 0))[1]

    def until(self, what: str, holds: Callable[[], bool]) -> None:
        """Wait for something; raises StuckError if it does not come, or a process has ended by itself."""
        pause = Event()
        for _ in range(2 * PATIENCE):
            if holds():
                return
            ended = [name for name, process in self.running.items() if process.poll() is not None]
            if ended:
                raise StuckError(f"{', '.join(ended)} ended while waiting: {what}")
            pause.wait(0.5)
        raise StuckError(f"not in time: {what}")

    def _brokers(self) -> list[str]:
        return [f"broker-{number}" for number in BROKERS]

    def _found(self, name: str, pattern: str) -> list[str]:
        return [match[match.lastindex or 0] for match in self._matches(name, pattern)]

    def _matches(self, name: str, pattern: str) -> list[re.Match[str]]:
        files = sorted((self.logs / name).glob("*.log"))
        return [match for file in files for match in re.finditer(pattern, file.read_text(errors="replace"))]

    def _java(self, name: str, main: str, *arguments: str, logs: str = "logs") -> subprocess.Popen[bytes]:
        directory = self.folder / logs / name
        directory.mkdir(parents=True, exist_ok=True)
        layout = self.folder / "log4j.properties"
        layout.write_text(_LOG4J)
        options = ["-Xmx192m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dzookeeper.admin.enableServer=false"]
        settings = [f"-Dassay.logs={directory}", f"-Dlog4j.configuration=file:{layout}"]
        command = ["java", *options, *settings, "-cp", f"{self.jars}/*", main, *arguments]
        output = (self.folder / f"{name}.out").open("ab")
        with output:
            return subprocess.Popen(command, cwd=self.folder, stdout=output, stderr=subprocess.STDOUT)

    def _of_zookeeper(self) -> Mapping[str, object]:
        return {
            "dataDir": self.folder / "zookeeper",
            "clientPort": self.ports["zookeeper"],
            "clientPortAddress": "127.0.0.1",
            "tickTime": 2000,
        }

    def _of_broker(self, number: int) -> Mapping[str, object]:
        client = f"CLIENT://127.0.0.1:{self.ports[f'broker-{number}']}"
        common = {**_COMMON, "log.dirs": self.folder / f"data-{number}", "inter.broker.listener.name": "CLIENT"}
        protocols = "CLIENT:PLAINTEXT,CONTROLLER:PLAINTEXT"
        if not self.kraft:
            own = {"broker.id": number, "listeners": client, "listener.security.protocol.map": "CLIENT:PLAINTEXT"}
            zookeeper = {
                "zookeeper.connect": f"127.0.0.1:{self.ports['zookeeper']}",
                "zookeeper.session.timeout.ms": 6000,
            }
            return {**common, **own, **zookeeper}
        voters = ",".join(f"{each}@127.0.0.1:{self.ports[f'controller-{each}']}" for each in BROKERS)
        controller = f"CONTROLLER://127.0.0.1:{self.ports[f'controller-{number}']}"
        return {
            **common,
            "node.id": number,
            "process.roles": "broker,controller",
            "listeners": f"{client},{controller}",
            "advertised.listeners": client,
            "listener.security.protocol.map": protocols,
            "controller.listener.names": "CONTROLLER",
            "controller.quorum.voters": voters,
            "broker.session.timeout.ms": 6000,
        }


@contextmanager
def cluster(folder: Path, jars: Path, *, kraft: bool) -> Iterator[Cluster]:
    """A started cluster of three brokers; all its processes have ended afterwards."""
    folder.mkdir()
    names = ["zookeeper", *(f"broker-{number}" for number in BROKERS), *(f"controller-{number}" for number in BROKERS)]
    made = Cluster(folder, jars, kraft, ports=dict(zip(names, _free_ports(len(names)), strict=True)))
    if kraft:
        _format(made)
    started = [f"broker-{number}" for number in BROKERS] if kraft else names[:4]
    try:
        for name in started:
            made.start(name)
        for name in made._brokers():
            made.wait_started(name)
        yield made
    finally:
        made.stop()


def _format(made: Cluster) -> None:
    """What makes directories those of one KRaft cluster."""
    identity = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
    for number in BROKERS:
        directory = made.folder / f"data-{number}"
        directory.mkdir()
        (directory / "meta.properties").write_text(f"version=1\ncluster.id={identity}\nnode.id={number}\n")


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()
