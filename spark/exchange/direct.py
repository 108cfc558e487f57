"""The exchange by connections between tasks: one barrier stage whose tasks keep their part of the states in memory from level to level.

The driver talks with each task: it hears where the task listens, tells all of them who the others are, and lets them begin each level. When a
task or a connection is lost, the whole stage ends, and begins again with the last level that a manifest names.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from selectors import EVENT_READ, DefaultSelector
from typing import TYPE_CHECKING, Any

from assay.checker.explicit.shard import Kind, Shard, ShardFrontier
from assay.checker.explicit.store.level_file import CHUNK, ChunkLayout, DamagedError, Parent
from assay.spark.exchange.all_to_all import Mesh
from assay.spark.exchange.authenticated_listener import Door
from assay.spark.exchange.protocol import RefusedError, dial, hear, listen, new_secret, say
from assay.spark.tasks.job import JobFailedError, Running, failure
from assay.spark.tasks.task import Job, TaskReport, TaskWork, outcome_from_json, told

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

SECONDS = 0.05
"""Between two looks at what else there is to heed."""
WHOLE_LEVEL = 86_400.0
"""Seconds in which a task must have something to say."""
ENDING = 10.0
"""Seconds in which tasks may end by themselves."""
NOBODY = 0xFFFFFFFF


class Direct:
    """Levels by conversation with the tasks of one stage, which is started when a level is asked for and none runs."""

    name = "direct"
    dear = False

    def __init__(self, spark: SparkSession, job: Job) -> None:
        self._spark = spark
        self._job = job
        self._stage: Stage | None = None

    def level(self, manifest: str, known: set[Kind], heed: Callable[[], None]) -> list[TaskReport]:
        """The level after those that a manifest names: what each task says of it; such kinds of findings are ``known``.

        ``heed`` is called while it is waited for. Raises what that raises, and ``JobFailedError``.
        """
        from py4j.protocol import Py4JError  # noqa: PLC0415 - optional

        try:
            if self._stage is None:
                self._stage = Stage(self._spark, self._job, manifest, known)
                self._stage.gather(heed)
            else:
                self._stage.go_on(known)
            return self._stage.outcomes(heed)
        except OSError as error:
            stage, self._stage = self._stage, None
            why = str(error) if stage is None else stage.lost(str(error))
            raise JobFailedError(f"a task is gone: {why}") from None
        except Py4JError as error:
            self._end()
            raise failure(error) from None
        except BaseException:
            self._end()
            raise

    def _end(self) -> None:
        stage, self._stage = self._stage, None
        if stage is not None:
            stage.end()

    def close(self) -> None:
        """Let the tasks go."""
        self._end()


class Stage:
    """One attempt: a barrier stage that runs, and the driver's connections with its tasks."""

    def __init__(self, spark: SparkSession, job: Job, manifest: str, known: set[Kind]) -> None:
        secret = new_secret()
        conf = spark.sparkContext.getConf()
        host = conf.get("spark.driver.host", "127.0.0.1")
        assert host is not None
        listener = listen(conf.get("spark.driver.bindAddress", host) or host, job.parts)
        address = (host, listener.getsockname()[1])
        self._door = Door(listener, secret)
        self._parts = job.parts
        self._known = known
        self._tasks: dict[int, socket.socket] = {}

        def work(batches: Iterator[Any]) -> Iterator[Any]:
            import pyarrow as pa  # noqa: PLC0415 - optional

            for batch in batches:
                for part in batch.column(0).to_pylist():
                    served(job, manifest, part, address, secret)
            yield pa.RecordBatch.from_pydict({"report": ["ended"]})

        def run() -> list[Row]:
            return spark.range(0, job.parts, 1, job.parts).mapInArrow(work, "report string", barrier=True).collect()

        self._running = Running(spark, run, f"assay: {job.parts} tasks from {manifest} on")

    def gather(self, heed: Callable[[], None]) -> None:
        """Wait until all tasks have called and have their states, and tell them who the others are."""
        peers: dict[int, tuple[str, int]] = {}
        while len(peers) < self._parts:
            heed()
            self._require_alive()
            caller = self._door.next(SECONDS)
            if caller is None:
                continue
            number, connection = caller
            connection.settimeout(WHOLE_LEVEL)
            self._tasks[number] = connection
            told_here = hear(connection)
            peers[number] = (str(told_here["host"]), int(told_here["port"]))
        self._answers(heed)  # before all have their states, who is called might not answer in time
        for connection in self._tasks.values():
            say(connection, {"peers": [peers[number] for number in range(self._parts)]})
        self.go_on(self._known)

    def _require_alive(self) -> None:
        if self._running.ended:
            self._running.check()
            raise JobFailedError("the tasks ended before their work was done")

    def go_on(self, known: set[Kind]) -> None:
        """Let all tasks begin the next level; such kinds of findings are known."""
        for connection in self._tasks.values():
            say(connection, {"known": sorted(known)})

    def outcomes(self, heed: Callable[[], None]) -> list[TaskReport]:
        """What each task says at the end of a level."""
        return [outcome_from_json(each) for each in self._answers(heed)]

    def _answers(self, heed: Callable[[], None]) -> list[dict[str, Any]]:
        """The next message of each task."""
        found: dict[int, dict[str, Any]] = {}
        with DefaultSelector() as selector:
            for number, connection in self._tasks.items():
                selector.register(connection, EVENT_READ, number)
            while len(found) < self._parts:
                for key, _ in selector.select(SECONDS):
                    found[key.data] = hear(self._tasks[key.data])
                heed()
                self._require_alive()
        return [found[number] for number in range(self._parts)]

    def lost(self, otherwise: str) -> str:
        """End the stage, one of whose tasks is gone, and say why: what Spark says of the first that failed, if it says so soon. Raises as ``end`` does."""
        self._running.wait(ENDING)
        problem = self._running.problem
        self.end()
        return otherwise if problem is None else str(problem)

    def end(self) -> None:
        """Close all connections, whereupon the tasks end; what does not is ended by Spark. Raises a problem that has a code."""
        for connection in self._tasks.values():
            connection.close()
        self._door.close()
        self._running.wait(ENDING)
        if not self._running.ended:
            self._running.cancel()
        self._running.check_code()


# ---------------------------------------------------------------------------------------------------------- task


def served(job: Job, manifest: str, part: int, driver: tuple[str, int], secret: bytes) -> None:
    """One task: levels from the manifest's on, as long as the driver asks for more."""
    with dial(driver, secret, part) as control, told():
        control.settimeout(WHOLE_LEVEL)
        own = control.getsockname()[0]
        listener = listen(own, job.parts)
        say(control, {"host": own, "port": listener.getsockname()[1]})
        server = Server(TaskWork(job, manifest, part), control)
        try:
            say(control, {"ready": part})
            peers = [(str(host), int(port)) for host, port in hear(control)["peers"]]
            server.mesh.connect(part, peers, listener, secret)
            server.serve()
        finally:
            server.close()


class Server:
    """A task that keeps the states of its owners."""

    def __init__(self, work: TaskWork, control: socket.socket) -> None:
        self._work = work
        self._control = control
        self._levels = work.levels(work.level)
        work.begin(self._levels)
        rounds = work.rounds(self._levels)
        self._shard = Shard(work.compiled, rounds, work.tally, work.keys, work.job.budget)
        work.remember(self._shard)
        self._frontier = ShardFrontier(work.compiled, rounds, work.packing(work.at), work.tally)
        longest = ChunkLayout(work.compiled.layout.words, Parent.PRINT).size(CHUNK)
        self.mesh = Mesh(control, longest, self._receive)

    def _receive(self, words: Any) -> None:
        try:
            self._shard.receive(words)
        except DamagedError as error:
            raise RefusedError(f"a packet was damaged on its way: {error}") from None

    def close(self) -> None:
        """Let go of files and connections."""
        self.mesh.close()
        self._levels.close()

    def serve(self) -> None:
        """Level after level, until the driver hangs up."""
        level = self._work.level
        while True:
            try:
                message = hear(self._control)
            except ConnectionError:
                return
            outcome = self._level(level, {(str(kind), int(at)) for kind, at in message["known"]})
            say(self._control, outcome.to_json())
            level += 1
            self._frontier.go_on()

    def _level(self, level: int, known: set[Kind]) -> TaskReport:
        work, frontier, mesh = self._work, self._frontier, self.mesh
        disk = self._levels.disk
        mesh.begin(level)
        while frontier.left:
            expansion = frontier.expand()
            self._shard.keep(expansion)
            for owner, words in expansion.packets:
                mesh.send(owner, words)
            mesh.pump()
        for owner, words in frontier.packing.rest():
            mesh.send(owner, words)
        mesh.finish()
        sources = frontier.findings(known)  # only now: this may take long, and others may wait for what is sent
        count = self._levels.seal()
        states = self._shard.findings(known) if count else []
        part = work.file(level + 1, count)
        return TaskReport(
            part, frontier.generated, frontier.packing.records, work.counts(), sources, states,
            work.cpu(), self._levels.disk - disk, self._shard.bytes,
        )  # fmt: skip
