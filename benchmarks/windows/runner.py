"""Asks `assay validate` about cases, each in a forked child: assay is imported and its specs are loaded only once.

Processor seconds therefore lack the start and the loading, some 2 s; the peak of memory includes what the parent has.
"""

from __future__ import annotations

import gc
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import replace
from io import BytesIO, TextIOWrapper
from pathlib import Path
from traceback import print_exc
from typing import Any, NamedTuple

from assay.api.spec import Setting, Spec, SpecLike, load
from assay.cli.logs import validate as command
from assay.cli.main import invoke
from assay.grammar import kernel as k
from assay.grammar.load import Loaded, log_kernel
from assay.traces.observe import model_size
from assay.traces.spec_selection import selectable_specs
from assay.traces.windows import numbers, window_model

from .cases import Case

ARGUMENTS = ("--json", "--jobs", "1")
OVER_TIME = "over time"
TRACEBACK = "Traceback (most recent call last)"
_NUMBERS = re.compile(r"\S*:\d+|\d+")

_ZOOKEEPER = """\
[2026-11-21 01:44:27,129] INFO [Controller id=2] 2 successfully elected as the controller. Epoch incremented to 2 and epoch zk version is now 2 (kafka.controller.KafkaController)
[2026-11-21 01:45:45,962] INFO [Broker id=2] Leader audit-1 starts at leader epoch 4 from offset 312 with high watermark 312 ISR [2] addingReplicas [] removingReplicas []. Previous leader epoch was 1. (state.change.logger)
"""
_KRAFT = """\
[2026-11-21 15:18:19,540] INFO [BrokerLifecycleManager id=3] The broker has been unfenced. Transitioning from RECOVERY to RUNNING. (kafka.server.BrokerLifecycleManager)
[2026-11-21 15:18:34,968] INFO [RaftManager nodeId=3] Completed transition to FollowerState(fetchTimeoutMs=2000, epoch=10, leaderId=3, voters=[1, 2, 3], highWatermark=Optional.empty, fetchingSnapshot=Optional.empty) (org.apache.kafka.raft.QuorumState)
"""

Result = dict[str, Any]
"""One line of JSON about a case."""


class Ended(NamedTuple):
    """How a child ended: status of `wait`, processor seconds, MB at its peak."""

    status: int
    seconds: float
    memory: int


def warm() -> None:
    """Load the specs once, and answer about two little logs, for whatever is imported or worked out at the first answer alone."""
    os.environ.setdefault("ASSAY_DEBUG", "1")  # an internal error ends in its traceback
    known: dict[tuple[SpecLike, str | None], Spec] = {}

    def remembered(spec: SpecLike, *, model: str | None = None, settings: Mapping[str, Setting] | None = None) -> Spec:
        if settings:
            return load(spec, model=model, settings=settings)
        if (spec, model) not in known:
            known[spec, model] = load(spec, model=model)
        return known[spec, model]

    vars(command)["load"] = remembered
    for name in selectable_specs():
        remembered(name)
    with tempfile.TemporaryDirectory(prefix="windows-") as folder:
        for name, lines in {"zookeeper": _ZOOKEEPER, "kraft": _KRAFT}.items():
            place = Path(folder) / name / "server.log"
            place.parent.mkdir()
            place.write_text(lines, encoding="utf-8")
            with redirect_stdout(TextIOWrapper(BytesIO())), redirect_stderr(TextIOWrapper(BytesIO())):
                invoke(["validate", str(place.parent), *ARGUMENTS])
    gc.collect()


WEAKENED = ("guards", "lemmas")
"""What a control run leaves out of the models that logs are held to."""


def weaken(what: str) -> None:
    """Leave guards or lemmas out of every model that a log is held to from now on."""

    def weakened(loaded: Loaded, sorts: Mapping[str, Sequence[str]], sizes: Mapping[str, int]) -> k.Kernel:
        made = log_kernel(loaded, sorts, sizes)
        if what == "lemmas":
            return replace(made, properties=tuple(each for each in made.properties if each.kind != "lemma"))
        return replace(made, actions=tuple(map(_without_guards, made.actions)))

    for module in (model_size, numbers, window_model):
        # Each of these modules has imported the function under a name of its own.
        vars(module)["log_kernel"] = weakened


def _without_guards(action: k.Action) -> k.Action:
    kept = (each for each in action.body if not (isinstance(each, k.Guard) and each.kind == "when"))
    return replace(action, body=tuple(kept))


class Runner:
    """Runs cases in forked children, so many at a time."""

    def __init__(self, seconds: int, jobs: int) -> None:
        self.seconds, self.jobs = seconds, jobs
        self._home = Path(tempfile.mkdtemp(prefix="windows-"))
        self._ended: dict[int, Ended] = {}
        self._alive: set[int] = set()
        self._number = 0

    def run(self, cases: Iterable[Case]) -> Iterator[tuple[Case, Result, Path]]:
        """Each case with its result and the folder with its input, which is removed afterwards."""
        running: dict[int, tuple[Case, Path, float]] = {}
        source = iter(cases)
        while True:
            while len(running) < self.jobs and (case := next(source, None)) is not None:
                self._number += 1
                place = self._home / str(self._number)
                case.write(place / "case")
                child = _fork(place, self.seconds)
                self._alive.add(child)
                running[child] = (case, place, time.monotonic())
            if not running:
                return
            child = self._next_of(running)
            case, place, begun = running.pop(child)
            yield case, _told(case, self._ended.pop(child), time.monotonic() - begun, place), place / "case"
            shutil.rmtree(place, ignore_errors=True)

    def one(self, case: Case) -> Result:
        """The result of one case."""
        return next(result for _, result, _ in self.run([case]))

    def close(self) -> None:
        """End what still runs, and remove what was written."""
        for child in self._alive:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        shutil.rmtree(self._home, ignore_errors=True)

    def _next_of(self, running: Mapping[int, object]) -> int:
        """A child of these that has ended; others that end meanwhile are remembered for who waits for them."""
        while not (done := running.keys() & self._ended.keys()):
            child, status, usage = os.wait4(-1, 0)
            self._ended[child] = Ended(status, usage.ru_utime + usage.ru_stime, usage.ru_maxrss // 1024)
            self._alive.discard(child)
        return done.pop()


def _fork(place: Path, seconds: int) -> int:
    """A child that answers as `assay validate case --json` does, with its outputs in files of this folder."""
    sys.stdout.flush()
    child = os.fork()
    if child:
        return child
    code = 99
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        # SIGXCPU at the first limit and SIGKILL at the second (setrlimit(2)). The alarm ends a child that sleeps.
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 2))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.setitimer(signal.ITIMER_REAL, seconds * 10)
        os.chdir(place)
        for stream, name in ((1, "out"), (2, "err")):
            os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
        code = invoke(["validate", "case", *ARGUMENTS])
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:  # noqa: BLE001 - it is what is measured
        print_exc()
        sys.stderr.flush()
    finally:
        # Never back into the loop of the parent, of which the child has a copy.
        os._exit(code)


def _told(case: Case, ended: Ended, wall: float, place: Path) -> Result:
    """What is kept of an answer."""
    answer = _object((place / "out").read_text(encoding="utf-8", errors="replace"))
    errors = (place / "err").read_text(encoding="utf-8", errors="replace")
    killed = os.WTERMSIG(ended.status) if os.WIFSIGNALED(ended.status) else 0
    over = killed in (signal.SIGXCPU, signal.SIGKILL, signal.SIGALRM)
    verdict = OVER_TIME if over else answer.get("verdict", f"signal {killed}" if killed else "no answer")
    violations = answer.get("violations", [])
    reason = answer.get("reason") or ""
    named = {(each.get("file"), each.get("line")) for each in violations}
    named |= {(blamed.get("file"), blamed.get("line")) for each in violations for blamed in each.get("blame", [])}
    return {
        "id": case.id,
        "recording": case.recording,
        "kind": case.kind,
        "detail": case.detail,
        "files": len(case.files),
        "lines": case.lines,
        "verdict": verdict,
        "exit": os.WEXITSTATUS(ended.status) if os.WIFEXITED(ended.status) else -killed,
        "findings": len(violations) if verdict == "inconsistent" else 0,
        "unexplained": len(violations) if verdict != "inconsistent" else 0,
        "used": answer.get("events", {}).get("used", 0),
        "reason": reason[:300],
        "reason_class": _NUMBERS.sub("#", reason)[:90],
        "rules": sorted({_rule(each) for each in violations}),
        "first": {key: violations[0].get(key) for key in ("file", "line", "event", "action")} if violations else None,
        "named": any((f"case/{path}", line) in named for path, line in case.evidence),
        "traceback": errors[-1500:] if TRACEBACK in errors or verdict == "internal error" else None,
        "cpu_s": round(ended.seconds, 2),
        "wall_s": round(wall, 2),
        "rss_mb": ended.memory,
    }


def _object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _rule(violation: Mapping[str, Any]) -> str:
    """What a finding says, without where."""
    labels = [part["label"] for blamed in violation["blame"][:1] for part in blamed["parts"]]
    return f"{violation['event'].split('(')[0]} / {violation['action']}: {', '.join(labels)}"


def agrees(result: Result, folder: Path) -> bool:
    """Whether the program itself says the same of this input."""
    environment = {name: value for name, value in os.environ.items() if name != "ASSAY_DEBUG"}
    line = [sys.executable, "-m", "assay", "validate", folder.name, *ARGUMENTS]
    done = subprocess.run(line, cwd=folder.parent, env=environment, capture_output=True, text=True, check=False)
    answer = _object(done.stdout)
    said = answer.get("verdict", "no answer"), done.returncode, len(answer.get("violations", []))
    return said == (result["verdict"], result["exit"], result["findings"] + result["unexplained"])
