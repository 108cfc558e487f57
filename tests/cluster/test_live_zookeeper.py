"""ZooKeeper, started here: its leader is killed, and the next one paused. The logs are consistent, and a second leader of an epoch is found."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

import pytest
from tests.cluster.jars import NoJarsError, resolve

import assay
from assay.traces.result import TraceVerdict

pytestmark = pytest.mark.cluster
SPEC = "systems/zookeeper"
SERVERS = (1, 2, 3)
PATIENCE = 120
"""Seconds after which what does not happen is given up."""

_LAYOUT = """log4j.rootLogger=INFO, file
log4j.appender.file=org.apache.log4j.FileAppender
log4j.appender.file.File=${assay.log}
log4j.appender.file.layout=org.apache.log4j.PatternLayout
log4j.appender.file.layout.ConversionPattern=%d{ISO8601} [myid:%X{myid}] - %-5p [%t:%C{1}@%L] - %m%n
"""
_ESTABLISHED = re.compile(r"Have quorum of supporters.*zxid: 0x([0-9a-f]+)0{8}")


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        probes = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in probes:
            each.bind(("127.0.0.1", 0))
        return [int(each.getsockname()[1]) for each in probes]


@dataclass
class Servers:
    """Three servers, each with a log of its own in ``folder / "logs"``."""

    folder: Path
    jars: Path
    running: dict[int, subprocess.Popen[bytes]] = field(default_factory=dict)
    stack: ExitStack = field(default_factory=ExitStack)

    def prepare(self) -> None:
        (self.folder / "logs").mkdir()
        (self.folder / "log4j.properties").write_text(_LAYOUT, encoding="utf-8")
        ports = _free_ports(3 * len(SERVERS))
        members = "".join(f"server.{n}=127.0.0.1:{ports[n - 1]}:{ports[n + 2]}\n" for n in SERVERS)
        for n in SERVERS:
            data = self.folder / f"data-{n}"
            data.mkdir()
            (data / "myid").write_text(str(n), encoding="utf-8")
            settings = f"dataDir={data}\nclientPort={ports[n + 5]}\ntickTime=500\ninitLimit=20\nsyncLimit=6\n"
            (self.folder / f"{n}.cfg").write_text(settings + members, encoding="utf-8")

    def start(self, n: int) -> None:
        options = ["-Xmx96m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dzookeeper.admin.enableServer=false"]
        logging = [f"-Dassay.log={self.log(n)}", f"-Dlog4j.configuration=file:{self.folder / 'log4j.properties'}"]
        main = ["-cp", f"{self.jars}/*", "org.apache.zookeeper.server.quorum.QuorumPeerMain"]
        command = ["java", *options, *logging, *main, str(self.folder / f"{n}.cfg")]
        process = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.stack.callback(process.wait)
        self.stack.callback(process.kill)
        self.running[n] = process

    def log(self, n: int) -> Path:
        return self.folder / "logs" / f"{n}.log"

    def text(self, n: int) -> str:
        return self.log(n).read_text(encoding="utf-8") if self.log(n).exists() else ""

    def leader(self) -> tuple[int, int]:
        """The last epoch of which a leader was established, and who leads; 0 and 0 if there was none."""
        found = [(int(epoch, 16), n) for n in SERVERS for epoch in _ESTABLISHED.findall(self.text(n))]
        return max(found, default=(0, 0))

    def follows(self, n: int, times: int) -> bool:
        return self.text(n).count("Learner received UPTODATE message") >= times

    def until(self, what: str, holds: Callable[[], bool]) -> None:
        for _ in range(PATIENCE * 5):
            if holds():
                return
            Event().wait(0.2)
        raise TimeoutError(f"not within {PATIENCE} s: {what}")


@contextmanager
def _started(folder: Path) -> Iterator[Servers]:
    try:
        jars = resolve(folder)
    except NoJarsError as error:
        pytest.skip(str(error))
    running = Servers(folder, jars)
    with running.stack:
        running.prepare()
        for n in SERVERS:
            running.start(n)
        running.until("a leader", lambda: running.leader()[0] >= 1)
        yield running


def test_elections_are_consistent_and_a_second_leader_of_an_epoch_is_found(tmp_path: Path) -> None:
    with _started(tmp_path) as running:
        begun, first = running.leader()
        running.until("followers", lambda: sum(running.follows(n, 1) for n in SERVERS) >= 2)
        running.running[first].kill()
        running.running[first].wait()
        running.until("a second leader", lambda: running.leader()[0] > begun)
        running.start(first)
        later, second = running.leader()
        running.until("the first one follows", lambda: running.follows(first, 1))
        running.running[second].send_signal(signal.SIGSTOP)
        running.until("a third leader", lambda: running.leader()[0] > later)
        running.running[second].send_signal(signal.SIGCONT)
        running.until("the second one follows", lambda: running.follows(second, 2) or running.leader()[1] == second)
    found = assay.validate(str(tmp_path / "logs"), SPEC)
    assert found.verdict is TraceVerdict.CONSISTENT, str(found)
    assert found.validation.counts.used > 40
    text = running.text(second)
    broken = re.sub(rf"(Have quorum of supporters.*zxid: 0x){later:x}(0{{8}})", rf"\g<1>{begun:x}\g<2>", text)
    assert broken != text
    running.log(second).write_text(broken, encoding="utf-8")
    answer = assay.validate(str(tmp_path / "logs"), SPEC)
    assert answer.verdict is TraceVerdict.INCONSISTENT
    assert answer.mismatches[0].action == "establish"
