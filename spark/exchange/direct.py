"""The direct exchange: one barrier stage of Spark, whose tasks keep their share of the states in memory from level to
level.

The driver has a connection with each task. It learns where the task listens, sends all of them the list of their peers,
and lets them begin each level. When a task or a connection is lost, the whole stage ends, and a new one begins with the
last level of the newest manifest.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from selectors import EVENT_READ, DefaultSelector
from typing import TYPE_CHECKING, Any

from assay.checker.explicit.shard import Kind, Shard, ShardFrontier
from assay.checker.explicit.store.level_file import CHUNK, ChunkLayout, DamagedError, Parent
from assay.spark.exchange.all_to_all import AllToAll
from assay.spark.exchange.authenticated_listener import AuthenticatedListener
from assay.spark.exchange.protocol import RefusedError, connect, listen, new_secret, receive, send
from assay.spark.tasks.job import BackgroundJob, JobFailedError, job_failure
from assay.spark.tasks.task import Job, TaskReport, TaskWork, errors_as_task_problems, outcome_from_json

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

POLL_SECONDS = 0.05
"""Pause between two calls of ``check_stop``."""
LEVEL_SECONDS = 86_400.0
"""Seconds within which a task must send its next message: a level may take hours."""
ENDING_SECONDS = 10.0
"""Seconds that tasks have to end by themselves."""


class Direct:
    """Levels by connections with the tasks of one stage. The stage starts with the first level, and again with the next
    one after a failure.
    """

    name = "direct"
    dear = False

    def __init__(self, spark: SparkSession, job: Job) -> None:
        self._spark = spark
        self._job = job
        self._stage: Stage | None = None

    def level(self, manifest: str, known: set[Kind], check_stop: Callable[[], None]) -> list[TaskReport]:
        """Search the level after those of a manifest, and return the report of each task. Kinds of findings in
        ``known`` are not reported again.

        ``check_stop`` is called while the driver waits; what it raises ends the stage and is raised. Raises
        ``JobFailedError`` too.
        """
        from py4j.protocol import Py4JError  # noqa: PLC0415 - optional

        try:
            if self._stage is None:
                self._stage = Stage(self._spark, self._job, manifest, known)
                self._stage.gather(check_stop)
            else:
                self._stage.go_on(known)
            return self._stage.outcomes(check_stop)
        except OSError as error:
            stage, self._stage = self._stage, None
            # A closed connection says nothing about the reason. Spark knows it a little later.
            why = str(error) if stage is None else stage.lost(str(error))
            raise JobFailedError(f"a task is gone: {why}") from None
        except Py4JError as error:
            self._end()
            raise job_failure(error) from None
        except BaseException:
            self._end()
            raise

    def _end(self) -> None:
        stage, self._stage = self._stage, None
        if stage is not None:
            stage.end()

    def close(self) -> None:
        """End the stage, and with it the tasks."""
        self._end()


class Stage:
    """One attempt: a barrier stage that runs, and the driver's connections with its tasks."""

    def __init__(self, spark: SparkSession, job: Job, manifest: str, known: set[Kind]) -> None:
        secret = new_secret()
        conf = spark.sparkContext.getConf()
        host = conf.get("spark.driver.host", "127.0.0.1")
        assert host is not None
        # A driver in a container listens at one address, and executors know it by another, `spark.driver.host`.
        listener = listen(conf.get("spark.driver.bindAddress", host) or host, job.parts)
        address = (host, listener.getsockname()[1])
        self._listener = AuthenticatedListener(listener, secret)
        self._parts = job.parts
        self._known = known
        self._tasks: dict[int, socket.socket] = {}

        # A function of its own: Spark pickles what it refers to, and the stage has sockets.
        def work(batches: Iterator[Any]) -> Iterator[Any]:
            import pyarrow as pa  # noqa: PLC0415 - optional

            for batch in batches:
                for part in batch.column(0).to_pylist():
                    task_main(job, manifest, part, address, secret)
            yield pa.RecordBatch.from_pydict({"report": ["ended"]})

        def run() -> list[Row]:
            # A barrier stage starts all tasks or none. Otherwise some would wait for others that never get a slot.
            return spark.range(0, job.parts, 1, job.parts).mapInArrow(work, "report string", barrier=True).collect()

        self._running = BackgroundJob(spark, run, f"assay: {job.parts} tasks from {manifest} on")

    def gather(self, check_stop: Callable[[], None]) -> None:
        """Wait until all tasks have called and have loaded their states, send them their peers, and begin the first
        level.
        """
        peers: dict[int, tuple[str, int]] = {}
        while len(peers) < self._parts:
            check_stop()
            self._require_alive()
            caller = self._listener.next(POLL_SECONDS)
            if caller is None:
                continue
            number, connection = caller
            connection.settimeout(LEVEL_SECONDS)
            self._tasks[number] = connection
            hello = receive(connection)
            peers[number] = (str(hello["host"]), int(hello["port"]))
        self._answers(check_stop)  # a task that is still loading its states would not accept its peers' calls in time
        for connection in self._tasks.values():
            # Tasks call each other only now that all of them listen.
            send(connection, {"peers": [peers[number] for number in range(self._parts)]})
        self.go_on(self._known)

    def _require_alive(self) -> None:
        if self._running.ended:
            self._running.check()
            raise JobFailedError("the tasks ended before their work was done")

    def go_on(self, known: set[Kind]) -> None:
        """Let all tasks begin the next level; kinds of findings in ``known`` are not reported again."""
        for connection in self._tasks.values():
            send(connection, {"known": sorted(known)})

    def outcomes(self, check_stop: Callable[[], None]) -> list[TaskReport]:
        """The reports of all tasks at the end of a level."""
        return [outcome_from_json(each) for each in self._answers(check_stop)]

    def _answers(self, check_stop: Callable[[], None]) -> list[dict[str, Any]]:
        """The next message of each task, in the order of the tasks."""
        found: dict[int, dict[str, Any]] = {}
        with DefaultSelector() as selector:
            for number, connection in self._tasks.items():
                selector.register(connection, EVENT_READ, number)
            while len(found) < self._parts:
                for key, _ in selector.select(POLL_SECONDS):
                    found[key.data] = receive(self._tasks[key.data])
                check_stop()
                self._require_alive()
        return [found[number] for number in range(self._parts)]

    def lost(self, otherwise: str) -> str:
        """End the stage after one of its tasks was lost, and return the reason: Spark's own error, if one comes within
        ``ENDING_SECONDS``, else ``otherwise``.

        Raises what ``end`` raises.
        """
        self._running.wait(ENDING_SECONDS)
        problem = self._running.problem
        self.end()
        return otherwise if problem is None else str(problem)

    def end(self) -> None:
        """Close all connections, whereupon the tasks end. Spark cancels what does not. Raises an error that has a code,
        such as lack of memory.
        """
        for connection in self._tasks.values():
            connection.close()
        self._listener.close()
        self._running.wait(ENDING_SECONDS)
        if not self._running.ended:
            self._running.cancel()
        self._running.check_code()


# ---------------------------------------------------------------------------------------------------------- task


def task_main(job: Job, manifest: str, part: int, driver: tuple[str, int], secret: bytes) -> None:
    """The body of one task of the stage: search levels from the manifest's on, until the driver hangs up."""
    with connect(driver, secret, part) as control, errors_as_task_problems():
        control.settimeout(LEVEL_SECONDS)
        own = control.getsockname()[0]
        listener = listen(own, job.parts)
        # The address by which the driver was reached is one by which other machines can reach this task.
        send(control, {"host": own, "port": listener.getsockname()[1]})
        server = Server(TaskWork(job, manifest, part), control)
        try:
            send(control, {"ready": part})
            peers = [(str(host), int(port)) for host, port in receive(control)["peers"]]
            server.exchange.connect(part, peers, listener, secret)
            server.serve()
        finally:
            server.close()


class Server:
    """A task that owns a share of the states: it expands those of the last level, and keeps the new ones that the
    others send.
    """

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
        self.exchange = AllToAll(control, longest, self._receive)

    def _receive(self, words: Any) -> None:
        try:
            self._shard.receive(words)
        except DamagedError as error:
            raise RefusedError(f"a packet was damaged on its way: {error}") from None

    def close(self) -> None:
        """Close files and connections."""
        self.exchange.close()
        self._levels.close()

    def serve(self) -> None:
        """Search level after level, until the driver hangs up."""
        level = self._work.level
        while True:
            try:
                message = receive(self._control)
            except ConnectionError:
                return
            outcome = self._level(level, {(str(kind), int(at)) for kind, at in message["known"]})
            send(self._control, outcome.to_json())
            level += 1
            self._frontier.go_on()

    def _level(self, level: int, known: set[Kind]) -> TaskReport:
        work, frontier, exchange = self._work, self._frontier, self.exchange
        disk = self._levels.disk
        exchange.begin(level)
        while frontier.left:
            expansion = frontier.expand()
            self._shard.keep(expansion)
            for owner, words in expansion.packets:
                exchange.send(owner, words)
            # Receive while expanding, or the buffers of the others fill up and all wait for each other.
            exchange.pump()
        for owner, words in frontier.packing.rest():
            exchange.send(owner, words)
        exchange.finish()
        sources = frontier.findings(
            known
        )  # after `finish`: this may take long, and the others would wait for what is sent
        # Only now: `frontier.findings` looks through the last finished level, which was the frontier until here.
        count = self._levels.seal()
        states = self._shard.findings(known) if count else []
        part = work.file(level + 1, count)
        return TaskReport(
            part, frontier.generated, frontier.packing.records, work.counts(), sources, states,
            work.cpu(), self._levels.disk - disk, self._shard.bytes,
        )  # fmt: skip
