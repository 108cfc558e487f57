"""Redis Sentinel, started here: its master is killed and the next one paused. The logs are consistent, and a second vote in them is found."""

from __future__ import annotations

import re
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

import pytest

import assay
from assay.traces.result import TraceVerdict

pytestmark = pytest.mark.cluster
SPEC = "systems/redis_sentinel"
PATIENCE = 90
"""Seconds after which what does not happen is given up."""

_CONFIGURATION = """port {port}
bind 127.0.0.1
logfile sentinel.log
sentinel monitor shop 127.0.0.1 {master} 2
sentinel down-after-milliseconds shop 1000
sentinel failover-timeout shop 4000
"""


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Sentinels:
    """A master, two replicas and three sentinels, each in a directory of its own."""

    folder: Path
    program: str
    servers: dict[int, subprocess.Popen[bytes]] = field(default_factory=dict)
    stack: ExitStack = field(default_factory=ExitStack)

    @property
    def logs(self) -> list[Path]:
        return sorted(self.folder.glob("sentinel-*/sentinel.log"))

    def start(self) -> None:
        master, *replicas = (_free_port() for _ in range(3))
        for port in (master, *replicas):
            follows = [] if port == master else ["--replicaof", "127.0.0.1", str(master)]
            settings = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--logfile", "redis.log", *follows]
            self.servers[port] = self._run(f"redis-{port}", settings)
        for number in range(3):
            folder = self.folder / f"sentinel-{number}"
            folder.mkdir()
            text = _CONFIGURATION.format(port=_free_port(), master=master)
            (folder / "sentinel.conf").write_text(text, encoding="utf-8")
            self._run(folder.name, ["sentinel.conf", "--sentinel"])
        self.until("all know each other", lambda text: text.count("+sentinel ") >= 2 and text.count("+slave ") >= 2)

    def _run(self, name: str, arguments: list[str]) -> subprocess.Popen[bytes]:
        (self.folder / name).mkdir(exist_ok=True)
        process = subprocess.Popen([self.program, *arguments], cwd=self.folder / name, stdout=subprocess.DEVNULL)
        self.stack.callback(process.wait)
        self.stack.callback(process.kill)
        return process

    def until(self, what: str, holds: Callable[[str], bool]) -> None:
        for _ in range(PATIENCE * 5):
            texts = [each.read_text(encoding="utf-8") for each in self.logs]
            if len(texts) == 3 and all(map(holds, texts)):
                return
            Event().wait(0.2)
        raise TimeoutError(f"not within {PATIENCE} s: {what}")

    def master(self) -> int:
        """The port of the master, by what the first sentinel wrote last."""
        text = self.logs[0].read_text(encoding="utf-8")
        found = re.findall(r"\+switch-master .* (\d+)$|\+monitor master shop \S+ (\d+)", text, re.MULTILINE)
        return int(found[-1][0] or found[-1][1])


@contextmanager
def _started(folder: Path) -> Iterator[Sentinels]:
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("redis-server is not installed (Debian's package redis-server has it)")
    running = Sentinels(folder, program)
    with running.stack:
        running.start()
        yield running


def test_failovers_are_consistent_and_a_second_vote_is_found(tmp_path: Path) -> None:
    with _started(tmp_path) as running:
        first = running.master()
        running.servers[first].kill()
        running.until("a failover", lambda text: text.count("+switch-master") >= 1)
        running.servers[running.master()].send_signal(signal.SIGSTOP)
        running.until("a second failover", lambda text: text.count("+switch-master") >= 2)
        logs = running.logs
    found = assay.validate([str(each) for each in logs], SPEC)
    assert found.verdict is TraceVerdict.CONSISTENT, str(found)
    assert found.validation.counts.used > 20
    texts = [each.read_text(encoding="utf-8") for each in logs]
    ids = [match[1] for text in texts if (match := re.search(r"Sentinel ID is (\w+)", text))]
    vote = re.search(r"^.*\+vote-for-leader (\w+) \d+\n", texts[0], re.MULTILINE)
    assert vote is not None
    other = next(each for each in ids if each != vote[1])
    logs[0].write_text(texts[0].replace(vote[0], vote[0] + vote[0].replace(vote[1], other)), encoding="utf-8")
    broken = assay.validate([str(each) for each in logs], SPEC)
    assert broken.verdict is TraceVerdict.INCONSISTENT
    assert broken.mismatches[0].action == "vote"
