"""A small cluster on this machine: Spark's own master and workers as processes that listen on loopback only.

It serves for trials, and for tests that kill processes: a worker that has died can be replaced.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import field
from pathlib import Path

import assay
from assay.grammar.lazy_dataclass import dataclass
from assay.spark.session.java import java_home

HOST = "127.0.0.1"
MASTER = re.compile(r"Starting Spark master at (spark://\S+)")
REGISTERED = re.compile(r"Successfully registered with master")
SECONDS = 120.0
"""Seconds within which a process must be ready."""
GRACE = 5.0
"""Seconds that a process has to end by itself."""
SMALL = {
    "spark.driver.host": HOST,
    "spark.driver.bindAddress": HOST,
    "spark.driver.memory": "512m",
    "spark.executor.memory": "512m",
    "spark.ui.enabled": "false",
    "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
    "spark.executor.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
}
"""Settings of a session with which Spark takes little memory and few threads."""


class NotStartedError(Exception):
    """A process of the cluster did not become ready; the message has the last lines that it wrote."""


@dataclass(slots=True)
class Process:
    """A process of the cluster, and the line by which it reported that it was ready."""

    popen: subprocess.Popen[str]
    ready: re.Match[str]
    reader: threading.Thread

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        return self.popen.poll() is None

    def end(self) -> None:
        """End it, and every process that it started."""
        end_group(self.popen)
        self.reader.join(GRACE)


def end_group(popen: subprocess.Popen[str]) -> None:
    """End a process that leads a process group, and what is left of the group."""
    # SIGKILL follows in any case: what the leader started may outlive it.
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(popen.pid, number)
        with suppress(subprocess.TimeoutExpired):
            popen.wait(GRACE)


@dataclass(slots=True)
class Standalone:
    """A running cluster, whose workers have ``cores`` cores each."""

    folder: Path
    cores: int
    master: Process
    workers: list[Process] = field(default_factory=list)

    @property
    def url(self) -> str:
        """The master's URL, as ``--spark`` takes it."""
        return str(self.master.ready[1])

    def add_worker(self) -> None:
        """Start a worker, and wait until it has registered with the master."""
        place = tempfile.mkdtemp(dir=self.folder, prefix="worker-")
        arguments = (
            "--host",
            HOST,
            "--webui-port",
            "0",
            "-c",
            str(self.cores),
            "-m",
            "2g",
            "--work-dir",
            place,
            self.url,
        )
        self.workers.append(_started("org.apache.spark.deploy.worker.Worker", arguments, REGISTERED))

    def heal(self, count: int) -> None:
        """Replace workers that have died, until so many run."""
        for worker in [each for each in self.workers if not each.alive]:
            # Its executors may have outlived it.
            worker.end()
            self.workers.remove(worker)
        while len(self.workers) < count:
            self.add_worker()

    def end(self) -> None:
        """End all processes."""
        for process in (*self.workers, self.master):
            process.end()


@contextmanager
def standalone(workers: int = 2, cores: int = 1) -> Iterator[Standalone]:
    """A running cluster, whose processes are ended with the context. Raises ``SpecError`` without Java, and
    ``NotStartedError``.
    """
    with tempfile.TemporaryDirectory(prefix="assay-cluster-", ignore_cleanup_errors=True) as folder:
        arguments = ("--host", HOST, "--port", "0", "--webui-port", "0")
        cluster = Standalone(Path(folder), cores, _started("org.apache.spark.deploy.master.Master", arguments, MASTER))
        try:
            cluster.heal(workers)
            yield cluster
        finally:
            cluster.end()


def _started(name: str, arguments: tuple[str, ...], ready: re.Pattern[str]) -> Process:
    from pyspark.find_spark_home import _find_spark_home  # noqa: PLC0415 - optional

    paths = [str(Path(assay.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "JAVA_HOME": str(java_home()), "SPARK_DAEMON_MEMORY": "256m", "SPARK_LOCAL_IP": HOST}
    environment["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
    command = [str(Path(_find_spark_home()) / "bin" / "spark-class"), name, *arguments]
    # A group of its own, so that `end_group` reaches whatever the process starts.
    popen = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )
    written: list[str] = []
    found: list[re.Match[str]] = []
    known = threading.Event()

    def read() -> None:
        assert popen.stdout is not None
        with popen.stdout as lines:
            for line in lines:
                # Lines are read even after that: a process whose pipe is full stops.
                match = None if found else ready.search(line)
                if match is not None:
                    found.append(match)
                    known.set()
                elif not found:
                    written.append(line)
        known.set()

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    known.wait(SECONDS)
    if not found:
        end_group(popen)
        reader.join(GRACE)
        raise NotStartedError(f"{name} did not start:\n{''.join(written[-20:])}")
    return Process(popen, found[0], reader)
