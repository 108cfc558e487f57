"""PostgreSQL under Patroni, started here: its leader is killed, and the next one paused. The logs are consistent, and a breach is found."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event

import pytest

import assay
from assay.traces.result import TraceVerdict

pytestmark = pytest.mark.cluster
SPEC = "systems/patroni"
MEMBERS = (0, 1, 2)
PATIENCE = 150
"""Seconds after which what does not happen is given up."""

USER = "postgres"
"""Who runs PostgreSQL where the tests are run by root, for whom it refuses to start."""

_SETTINGS = """scope: shop
name: pg{n}
restapi: {{listen: 127.0.0.1:{rest}, connect_address: 127.0.0.1:{rest}}}
raft: {{data_dir: {folder}/raft{n}, self_addr: 127.0.0.1:{raft}, partner_addrs: [{partners}]}}
bootstrap:
  dcs:
    {{ttl: 20, loop_wait: 2, retry_timeout: 3, postgresql: {{use_pg_rewind: true, parameters: {{shared_buffers: 16MB}}}}}}
  initdb: [{{encoding: UTF8}}, data-checksums]
postgresql:
  listen: 127.0.0.1:{port}
  connect_address: 127.0.0.1:{port}
  data_dir: {folder}/data{n}
  bin_dir: {programs}
  pgpass: {folder}/pgpass{n}
  pg_hba: ['local all all trust', 'host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust']
  authentication:
    superuser: {{username: postgres, password: x}}
    replication: {{username: replicator, password: x}}
    rewind: {{username: rewinder, password: x}}
  parameters: {{unix_socket_directories: '{folder}', log_line_prefix: '%m [%p] ', fsync: 'off'}}
"""


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        probes = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in probes:
            each.bind(("127.0.0.1", 0))
        return [int(each.getsockname()[1]) for each in probes]


def _as_user() -> list[str]:
    """What is put before a command so that root does not run it."""
    return [] if os.geteuid() else ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups"]


def _interpreter() -> str | None:
    """A Python that this user may run; root's own may lie where nobody else may read."""
    for python in ("/usr/bin/python{}.{}".format(*sys.version_info), sys.executable):
        try:
            done = subprocess.run([*_as_user(), python, "-c", ""], capture_output=True, check=False)
        except OSError:
            continue
        if done.returncode == 0:
            return python
    return None


def _programs() -> Path | None:
    found = [Path(each) for each in (shutil.which("initdb"), *Path("/usr/lib/postgresql").glob("*/bin/initdb")) if each]
    return found[0].resolve().parent if found else None


def _fetch(folder: Path) -> None:
    """Install Patroni from the package index, for this version of Python."""
    what = ["patroni[raft]==4.1.5", "psycopg2-binary"]
    command = [sys.executable, "-m", "pip", "install", "-q", "--target", str(folder), *what]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"Patroni cannot be had: {done.stderr.strip()[-200:]}")


@dataclass
class Members:
    """Three members, each with a log in a directory of its name."""

    folder: Path
    python: str
    programs: Path
    running: dict[int, subprocess.Popen[bytes]] = field(default_factory=dict)
    stack: ExitStack = field(default_factory=ExitStack)

    def prepare(self) -> None:
        rest, raft, ports = _free_ports(3), _free_ports(3), _free_ports(3)
        for n in MEMBERS:
            partners = ", ".join(f"'127.0.0.1:{raft[other]}'" for other in MEMBERS if other != n)
            places = {"rest": rest[n], "raft": raft[n], "port": ports[n], "partners": partners}
            text = _SETTINGS.format(n=n, folder=self.folder, programs=self.programs, **places)
            (self.folder / f"{n}.yml").write_text(text, encoding="utf-8")
            self.log(n).parent.mkdir(parents=True)
            self.stack.callback(self.stop_postgres, n)

    def start(self, n: int) -> None:
        settings = {
            **os.environ,
            "PYTHONPATH": str(self.folder / "site"),
            "HOME": str(self.folder),
            "PYTHONUNBUFFERED": "1",
        }
        command = [*_as_user(), self.python, "-m", "patroni", str(self.folder / f"{n}.yml")]
        with self.log(n).open("ab") as log:
            process = subprocess.Popen(command, cwd=self.folder, env=settings, stdout=log, stderr=log)
        self.stack.callback(process.wait)
        self.stack.callback(process.kill)
        self.running[n] = process

    def stop_postgres(self, n: int) -> None:
        file = self.folder / f"data{n}" / "postmaster.pid"
        if file.exists():
            os.kill(int(file.read_text().splitlines()[0]), signal.SIGQUIT)

    def log(self, n: int) -> Path:
        return self.folder / "logs" / f"pg{n}" / "patroni.log"

    def text(self, n: int) -> str:
        return self.log(n).read_text(encoding="utf-8", errors="replace") if self.log(n).exists() else ""

    def leader(self, *others: int) -> int | None:
        """Who says last that it has the key; none of ``others``."""
        last = {n: "\n".join(self.text(n).splitlines()[-4:]) for n in MEMBERS if n not in others}
        return next((n for n, text in last.items() if "the leader with the lock" in text), None)

    def until(self, what: str, holds: Callable[[], bool]) -> None:
        for _ in range(PATIENCE * 2):
            if holds():
                return
            Event().wait(0.5)
        ends = "\n".join(f"pg{n}: {self.text(n)[-300:]}" for n in MEMBERS)
        raise TimeoutError(f"not within {PATIENCE} s: {what}\n{ends}")


@contextmanager
def _started() -> Iterator[Members]:
    python, programs = _interpreter(), _programs()
    if programs is None or python is None:
        pytest.skip("PostgreSQL is not installed" if programs is None else "no Python that the user may run")
    with TemporaryDirectory(prefix="patroni-") as scratch:
        _fetch(Path(scratch) / "site")
        running = Members(Path(scratch), python, programs)
        with running.stack:
            running.prepare()
            if not os.geteuid():
                subprocess.run(["chown", "-R", USER, scratch], check=True)
            for n in MEMBERS:
                running.start(n)
            follows = "a secondary, and following a leader"
            running.until("a leader, whom two follow", lambda: sum(follows in running.text(n) for n in MEMBERS) == 2)
            yield running


def test_failovers_are_consistent_and_a_timeline_that_begins_twice_is_found(tmp_path: Path) -> None:
    with _started() as running:
        running.until("a leader", lambda: running.leader() is not None)
        first = running.leader()
        assert first is not None
        running.running[first].kill()
        running.stop_postgres(first)
        running.until("a second leader", lambda: running.leader(first) is not None)
        second = running.leader(first)
        assert second is not None
        running.start(first)
        running.until(
            "it knows its timeline", lambda: "Local timeline=" in running.text(first).rpartition("thread_pool")[2]
        )
        running.running[second].send_signal(signal.SIGSTOP)
        running.until("a third leader", lambda: running.leader(second) is not None)
        running.running[second].send_signal(signal.SIGCONT)
        running.until("the second one is demoted", lambda: "Demoting self" in running.text(second))
        shutil.copytree(running.folder / "logs", tmp_path / "logs")
    found = assay.validate(str(tmp_path / "logs"), SPEC)
    assert found.verdict is TraceVerdict.CONSISTENT, str(found)
    assert found.validation.counts.used > 30
    last = next(n for n in MEMBERS if "selected new timeline ID: 3" in running_text(tmp_path, n))
    broken = re.sub("new timeline ID: 3", "new timeline ID: 2", running_text(tmp_path, last))
    (tmp_path / "logs" / f"pg{last}" / "patroni.log").write_text(broken, encoding="utf-8")
    assert assay.validate(str(tmp_path / "logs"), SPEC).verdict is TraceVerdict.INCONSISTENT


def running_text(folder: Path, n: int) -> str:
    """The log of a member, as it was copied."""
    return (folder / "logs" / f"pg{n}" / "patroni.log").read_text(encoding="utf-8", errors="replace")
