"""etcd, started here: its leader is killed, and the next one paused. The logs are consistent, and a second vote in them is found."""

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
SPEC = "systems/etcd_server"
NAMES = "a", "b", "c"
PATIENCE = 120
"""Seconds after which what does not happen is given up."""


def _program(folder: Path) -> str:
    """The path of etcd: the installed one, or that of Debian's package, which is unpacked and not installed."""
    found = shutil.which("etcd")
    if found is not None:
        return found
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        pytest.skip("etcd is not installed, and there is no apt-get with which to get Debian's package etcd-server")
    folder.mkdir()
    got = subprocess.run(
        ["apt-get", "download", "etcd-server"], cwd=folder, capture_output=True, text=True, check=False
    )
    packages = sorted(folder.glob("*.deb"))
    if got.returncode or not packages:
        pytest.skip(f"Debian's package etcd-server cannot be had: {got.stderr.strip()[-200:]}")
    subprocess.run(["dpkg-deb", "-x", str(packages[0]), str(folder)], check=True)
    return str(folder / "usr" / "bin" / "etcd")


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
    program: str
    peers: dict[str, int]
    clients: dict[str, int]
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    stack: ExitStack = field(default_factory=ExitStack)

    @property
    def logs(self) -> dict[str, Path]:
        return {name: self.folder / "logs" / f"{name}.log" for name in NAMES}

    def start(self, name: str) -> None:
        """Start a server, for the first time or again."""
        peer, client = (f"http://127.0.0.1:{ports[name]}" for ports in (self.peers, self.clients))
        all_peers = ",".join(f"{each}=http://127.0.0.1:{port}" for each, port in self.peers.items())
        settings = {
            "name": name, "data-dir": self.folder / f"data-{name}", "logger": "zap", "log-outputs": "stderr",
            "listen-peer-urls": peer, "initial-advertise-peer-urls": peer, "listen-client-urls": client,
            "advertise-client-urls": client, "initial-cluster": all_peers, "initial-cluster-state": "new",
        }  # fmt: skip
        self.logs[name].parent.mkdir(exist_ok=True)
        with self.logs[name].open("ab") as log:
            process = subprocess.Popen(
                [self.program, *(f"--{key}={value}" for key, value in settings.items())],
                cwd=self.folder,
                stdout=subprocess.DEVNULL,
                stderr=log,
            )
        self.stack.callback(process.wait)
        self.stack.callback(process.kill)
        self.running[name] = process

    def leader(self) -> tuple[int, str]:
        """The highest term in which a server became leader, and the server."""
        texts = {name: log.read_text(encoding="utf-8") for name, log in self.logs.items()}
        found = [
            (int(t), name) for name, text in texts.items() for t in re.findall(r"became leader at term (\d+)", text)
        ]
        return max(found, default=(0, ""))

    def until(self, what: str, holds: Callable[[], bool]) -> None:
        """Wait for something."""
        for _ in range(PATIENCE * 5):
            if holds():
                return
            Event().wait(0.2)
        raise TimeoutError(f"not within {PATIENCE} s: {what}")

    def next_leader(self, than: int) -> str:
        """The server that leads in a later term, when there is one."""
        self.until(f"a leader after term {than}", lambda: self.leader()[0] > than)
        return self.leader()[1]


@contextmanager
def _started(folder: Path) -> Iterator[Servers]:
    program = _program(folder / "package")
    ports = _free_ports(6)
    running = Servers(
        folder, program, dict(zip(NAMES, ports[:3], strict=True)), dict(zip(NAMES, ports[3:], strict=True))
    )
    with running.stack:
        for name in NAMES:
            running.start(name)
        yield running


def test_elections_are_consistent_and_a_second_vote_is_found(tmp_path: Path) -> None:
    with _started(tmp_path) as running:
        first = running.next_leader(than=0)
        term, _ = running.leader()
        running.running[first].kill()
        second = running.next_leader(than=term)
        running.start(first)
        again = f"became follower at term {running.leader()[0]}"
        running.until("it follows", lambda: again in running.logs[first].read_text(encoding="utf-8"))
        term, _ = running.leader()
        running.running[second].send_signal(signal.SIGSTOP)
        running.next_leader(than=term)
        running.running[second].send_signal(signal.SIGCONT)
        deposed = f"became follower at term {running.leader()[0]}"
        running.until("it is deposed", lambda: deposed in running.logs[second].read_text(encoding="utf-8"))
        logs = running.logs
    found = assay.validate([str(each) for each in logs.values()], SPEC)
    assert found.verdict is TraceVerdict.CONSISTENT, str(found)
    assert found.validation.counts.used > 20
    texts = {name: log.read_text(encoding="utf-8") for name, log in logs.items()}
    vote = r"^.*cast MsgVote for (\w+) .*\n"
    name, line = next((name, hit) for name, text in texts.items() if (hit := re.search(vote, text, re.MULTILINE)))
    ids = {match[1] for text in texts.values() if (match := re.search(r'"local-member-id":"(\w+)"', text))}
    own = re.search(r'"local-member-id":"(\w+)"', texts[name])
    assert own is not None
    other = min(ids - {line[1], own[1]})
    logs[name].write_text(
        texts[name].replace(line[0], line[0] + line[0].replace(f"for {line[1]}", f"for {other}"), 1), encoding="utf-8"
    )
    broken = assay.validate([str(each) for each in logs.values()], SPEC)
    assert broken.verdict is TraceVerdict.INCONSISTENT, str(broken)
    assert broken.mismatches[0].event.record.place.file == str(logs[name])
