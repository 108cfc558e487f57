"""A cluster in ZooKeeper mode, simulated by the rules of `kafka/cluster`, that prints what Kafka 2.4 would: files of each broker, and ZooKeeper's.

Brokers start, one becomes controller, it creates all partitions; then brokers are killed, one after another, and come back. Every write of a partition's
state is logged by the controller and sent to all live brokers, each of which logs it again. So the log is mostly restatements, as real ones are.

Some partitions break a rule, once each: ``Break`` says which. Everything else that is printed about them agrees.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from pathlib import Path
from random import Random
from time import gmtime, strftime

BEGIN = 1_795_226_000_000
"""When the cluster starts, in milliseconds since the epoch."""

_FLUSHED = 1 << 16


class Break(Enum):
    """A rule, and how it is broken."""

    ORDER = "the second live replica in sync is elected, not the first"
    EPOCH = "an election raises the leader epoch by two"
    RESTATED = "one broker states another ISR for a version than all others"
    STALE = "a replica obeys a leader epoch that is lower than one it has obeyed"


@dataclass(slots=True)
class Partition:
    """A partition: its replicas in order, and the stored state."""

    name: str
    replicas: list[int]
    leader: int = -1
    isr: list[int] = field(default_factory=list)
    epoch: int = 0
    version: int = 0
    by: int = 0
    breaks: Break | None = None
    broken: bool = False

    @property
    def topic(self) -> str:
        """The name of its topic."""
        return self.name.rpartition("-")[0]

    @property
    def number(self) -> str:
        """Its number in the topic."""
        return self.name.rpartition("-")[2]


class Files:
    """The log files of a cluster, written in pieces; in each, times never go back."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._waiting: dict[str, list[str]] = {}
        self._last: dict[str, int] = {}
        self.bytes = 0

    def write(self, file: str, time: int, level: str, message: str, logger: str) -> None:
        """One record."""
        time = self._last[file] = max(time, self._last.get(file, 0))
        line = f"[{_second(time // 1000)},{time % 1000:03d}] {level} {message} ({logger})\n"
        self.bytes += len(line)
        lines = self._waiting.setdefault(file, [])
        lines.append(line)
        if len(lines) > _FLUSHED // 100:
            self._flush(file)

    def _flush(self, file: str) -> None:
        path = self._folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="ascii") as stream:
            stream.writelines(self._waiting.pop(file, ()))

    def close(self) -> None:
        """Write what is left."""
        for file in tuple(self._waiting):
            self._flush(file)


@lru_cache(maxsize=1 << 12)
def _second(second: int) -> str:
    return strftime("%Y-%m-%d %H:%M:%S", gmtime(second))


CONTROLLER = "kafka.controller.KafkaController"
STATE_CHANGE = "state.change.logger"


class Cluster:
    """The simulation. Times are milliseconds since the epoch; ``now`` only grows."""

    def __init__(self, folder: Path, brokers: int, partitions: int, breaks: Mapping[int, Break], seed: int) -> None:
        self.files = Files(folder)
        self.random = Random(seed)
        self.now = BEGIN
        self.live: dict[int, int] = {}
        self.sessions: dict[int, int] = {}
        self.controller, self.epoch = 0, 0
        self._zxid, self._session, self._correlation = 50, 0x1000016B4EA0000, 0
        self.brokers = list(range(1, brokers + 1))
        self.partitions = [
            Partition(f"topic{i // 10}-{i % 10}", self.random.sample(self.brokers, 3), breaks=breaks.get(i))
            for i in range(partitions)
        ]

    def start(self) -> None:
        """All brokers start, the first becomes controller and creates all partitions."""
        self._join(self.brokers[0])
        self._elect(self.brokers[0])
        for broker in self.brokers[1:]:
            self._join(broker)
            self._lose(broker)
        self._learn_brokers(self.brokers[1:], [])
        self._passes(3000)
        for partition in self.partitions:
            self._create(partition)

    def fail(self, broker: int) -> None:
        """A broker is killed, and what it led is led by others; later it comes back."""
        session = self.sessions.pop(broker)
        self._passes(6000)
        text = f"Expiring session {session:#x}, timeout of 6000ms exceeded"
        self.files.write("zookeeper/server.log", self.now, "INFO", text, "org.apache.zookeeper.server.ZooKeeperServer")
        del self.live[broker]
        self._passes(50)
        if broker == self.controller:
            self._elect(self.random.choice(sorted(self.live)))
            for other in self.live:
                self._lose(other)
            self._restate_all()
        else:
            self._learn_brokers([], [broker])
        self._passes(2000)
        for partition in self.partitions:
            if broker in partition.isr and len(partition.isr) > 1:
                self._take_out(partition, broker)
        self._passes(2000)
        self._come_back(broker)

    def _come_back(self, broker: int) -> None:
        self._join(broker)
        self._lose(broker)
        self._learn_brokers([broker], [])
        self._passes(2000)
        for partition in self.partitions:
            if broker in partition.replicas:
                self._follow(partition, broker)
        self._passes(2000)
        for partition in self.partitions:
            if broker in partition.replicas and broker not in partition.isr:
                self._expand(partition, broker)

    # ------------------------------------------------------------------------------------------ what all slices share

    def _passes(self, milliseconds: int) -> None:
        self.now += milliseconds + self.random.randrange(20)

    def _server(self, broker: int, message: str, logger: str) -> None:
        self.files.write(f"broker-{broker}/server.log", self.now, "INFO", message, logger)

    def _control(self, broker: int, message: str, level: str = "INFO") -> None:
        text = f"[Controller id={broker}] {message}"
        self.files.write(f"broker-{broker}/controller.log", self.now, level, text, CONTROLLER)

    def _join(self, broker: int) -> None:
        self._passes(3000)
        self._session += 1
        self._zxid += 3
        self.sessions[broker], self.live[broker] = self._session, self._zxid
        self._server(broker, "starting", "kafka.server.KafkaServer")
        self._passes(10)
        established = f"Session establishment complete on server localhost/127.0.0.1:2181, sessionid = {self._session:#x}, negotiated timeout = 6000"
        self._server(broker, established, "org.apache.zookeeper.ClientCnxn")
        self._passes(20)
        zxid = self._zxid
        node = f"{zxid},{zxid},{self.now},{self.now},1,0,0,{self._session},250,0,{zxid}\n"
        self._server(broker, f"Stat of the created znode at /brokers/ids/{broker} is: {node}", "kafka.zk.KafkaZkClient")
        registered = f"Registered broker {broker} at path /brokers/ids/{broker} with addresses: PLAINTEXT://h{broker}:9092, czxid (broker epoch): {zxid}"
        self._server(broker, registered, "kafka.zk.KafkaZkClient")
        self._passes(20)

    def _elect(self, broker: int) -> None:
        self.controller, self.epoch = broker, self.epoch + 1
        elected = f"{broker} successfully elected as the controller. Epoch incremented to {self.epoch} and epoch zk version is now {self.epoch}"
        self._control(broker, elected)
        self._passes(20)
        self._control(broker, f"Initialized broker epochs cache: {self._epochs()}")
        self._passes(20)
        self._control(broker, f"Ready to serve as the new controller with epoch {self.epoch}")
        self._passes(20)

    def _lose(self, broker: int) -> None:
        if broker != self.controller:
            text = f"Broker {self.controller} has been elected as the controller, so stopping the election process."
            self._control(broker, text, "DEBUG")

    def _epochs(self) -> str:
        return f"Map({', '.join(f'{broker} -> {self.live[broker]}' for broker in sorted(self.live))})"

    def _learn_brokers(self, added: Iterable[int], deleted: Iterable[int]) -> None:
        self._passes(20)
        new, gone = ",".join(map(str, added)), ",".join(map(str, deleted))
        live = ",".join(map(str, sorted(self.live)))
        self._control(
            self.controller,
            f"Newly added brokers: {new}, deleted brokers: {gone}, bounced brokers: , all live brokers: {live}",
        )
        self._passes(20)
        self._control(self.controller, f"Updated broker epochs cache: {self._epochs()}")

    # ---------------------------------------------------------------------------------------------- single partitions

    def _say(self, message: str, level: str = "INFO") -> None:
        text = f"[Controller id={self.controller} epoch={self.epoch}] {message}"
        self.files.write(f"broker-{self.controller}/state-change.log", self.now, level, text, STATE_CHANGE)

    def _hear(self, broker: int, message: str, level: str = "INFO") -> None:
        self.files.write(
            f"broker-{broker}/state-change.log", self.now, level, f"[Broker id={broker}] {message}", STATE_CHANGE
        )

    def _breaks(self, p: Partition, how: Break) -> bool:
        """Whether the partition breaks the rule now; it does so once."""
        if p.breaks is not how or p.broken:
            return False
        p.broken = True
        return True

    def _create(self, p: Partition) -> None:
        self._passes(2)
        order = ",".join(map(str, p.replicas))
        self._say(
            f"Changed partition {p.name} state from NonExistentPartition to NewPartition with assigned replicas {order}"
        )
        p.leader, p.isr, p.by = p.replicas[0], list(p.replicas), self.epoch
        self._passes(2)
        self._state_leader(p, "New")
        self._obeyed(p)

    def _state_leader(self, p: Partition, before: str) -> None:
        isr = ", ".join(map(str, p.isr))
        state = f"LeaderAndIsr(leader={p.leader}, leaderEpoch={p.epoch}, isr=List({isr}), zkVersion={p.version})"
        self._say(f"Changed partition {p.name} from {before}Partition to OnlinePartition with state {state}")

    def _take_out(self, p: Partition, broker: int) -> None:
        self._passes(2)
        p.isr.remove(broker)
        # Kafka's controller raises the leader epoch also when it only takes a replica out of the ISR. A leader that
        # expands the ISR (`_expand`) raises the version alone.
        p.epoch, p.version, p.by = p.epoch + 1, p.version + 1, self.epoch
        if p.leader != broker:
            state = f"(Leader:{p.leader},ISR:{','.join(map(str, p.isr))},LeaderEpoch:{p.epoch},ZkVersion:{p.version},ControllerEpoch:{p.by})"
            self._say(
                f"Partition {p.name} state changed to {state} after removing replica {broker} from the ISR as part of transition to OfflineReplica"
            )
        else:
            self._say(f"Changed partition {p.name} state from OnlinePartition to OfflinePartition")
            able = [b for b in p.replicas if b in p.isr]
            p.leader = able[1] if len(able) > 1 and self._breaks(p, Break.ORDER) else able[0]
            p.epoch += self._breaks(p, Break.EPOCH)
            self._state_leader(p, "Offline")
        self._obeyed(p)

    def _expand(self, p: Partition, broker: int) -> None:
        self._passes(2)
        p.isr.append(broker)
        p.version += 1
        text = f"[Partition {p.name} broker={p.leader}] ISR updated to [{','.join(map(str, p.isr))}] and zkVersion updated to [{p.version}]"
        self._server(p.leader, text, "kafka.cluster.Partition")
        self._passes(2)
        self._tell(p)

    def _obeyed(self, p: Partition) -> None:
        """The replicas obey the request with the new state, and it is sent to all brokers."""
        self._passes(2)
        for broker in p.replicas:
            if broker in self.live:
                self._follow(p, broker)
        self._tell(p)

    def _follow(self, p: Partition, broker: int) -> None:
        previous = p.epoch - 1
        if broker == p.leader:
            isr = ",".join(map(str, p.isr))
            self._hear(
                broker,
                f"Leader {p.name} starts at leader epoch {p.epoch} from offset 0 with high watermark 0 ISR [{isr}] addingReplicas [] removingReplicas []. Previous leader epoch was {previous}.",
            )
            return
        stale = p.epoch > 0 and broker in p.isr and self._breaks(p, Break.STALE)
        self._followed(p, broker, p.epoch)
        if stale:
            self._passes(5)
            self._followed(p, broker, p.epoch - 1)

    def _followed(self, p: Partition, broker: int, epoch: int) -> None:
        self._hear(
            broker,
            f"Follower {p.name} starts at leader epoch {epoch} from offset 0 with high watermark 0. Previous leader epoch was {epoch - 1}.",
        )

    def _tell(self, p: Partition) -> None:
        """The state is sent to all live brokers, and each logs it."""
        self._passes(2)
        self._correlation += 1
        isr, replicas = (", ".join(map(str, brokers)) for brokers in (p.isr, p.replicas))
        head = f"topicName='{p.topic}', partitionIndex={p.number}, controllerEpoch={p.by}, leader={p.leader}, leaderEpoch={p.epoch}"
        end = (
            f"zkVersion={p.version}, replicas=[{replicas}], offlineReplicas=[]) for partition {p.name} in response to "
            f"UpdateMetadata request sent by controller {self.controller} epoch {self.epoch} with correlation id {self._correlation}"
        )
        wrong = self.random.choice(sorted(self.live)) if p.version > 0 and self._breaks(p, Break.RESTATED) else None
        for broker in self.live:
            said = isr if broker != wrong else ", ".join(str(b) for b in self.brokers if b not in p.replicas)[:1]
            self._hear(broker, f"Cached leader info UpdateMetadataPartitionState({head}, isr=[{said}], {end}", "TRACE")

    def _restate_all(self) -> None:
        """A new controller tells all brokers of all partitions."""
        for partition in self.partitions:
            self._tell(partition)
