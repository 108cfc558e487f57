"""However many tasks share a search, and however what they find travels, the answer is that of one process: about random kernels.

The tasks run here, without Spark: what they do is the same, and packets come in any order.
"""

from __future__ import annotations

import json
import os
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from errno import ENOSPC
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.checker.engines.engine_selection import compile_kernel
from assay.checker.engines.native_engine import check as explicit
from assay.checker.explicit.expansion.compiled_interface import Compiled
from assay.checker.explicit.expansion.parallel_round import Rounds
from assay.checker.explicit.expansion.thread_buffer import ThreadBuffer
from assay.checker.explicit.shard import Kind, Shard
from assay.checker.explicit.store.levels import WHOLE, Levels
from assay.checker.interpreter.expressions.recursion_limit import deep_recursion
from assay.checker.layout.row import Rows
from assay.checker.lowering.llvm.unsupported import UnsupportedError
from assay.checker.options import SearchOptions
from assay.checker.report import ExitCode, Report
from assay.checker.report import Outcome as Verdict
from assay.grammar.kernel import Kernel
from assay.grammar.load import load_spec, load_text
from assay.spark.exchange.all_to_all import AllToAll
from assay.spark.exchange.direct import Direct
from assay.spark.exchange.shuffle import expand_task, keep_task
from assay.spark.exploration import publish, searched
from assay.spark.search.cluster_bfs import ClusterSearch, Exchange, SearchSite
from assay.spark.search.shared_levels import SharedLevels
from assay.spark.storage.filesystem import Storage, new_name
from assay.spark.storage.manifest import newest, prints_of, sweep, unpack
from assay.spark.tasks.job import JobFailedError, job_failure
from assay.spark.tasks.task import Job, TaskProblem, TaskReport, TaskWork, outcome_from_json

from .random_kernel import random_kernel

MEMORY = 64 << 20


class Shuffled:
    """The two stages of the shuffle, one task after the other, packets in any order; some tasks run twice."""

    name = "shuffle"
    dear = True

    def __init__(self, job: Job, random: Random) -> None:
        self._job, self._random = job, random

    def level(self, manifest: str, known: set[Kind], check_stop: Callable[[], None]) -> list[TaskReport]:
        check_stop()
        try:
            return self._level(manifest, known)
        except TaskProblem as problem:
            raise job_failure(problem) from None

    def _level(self, manifest: str, known: set[Kind]) -> list[TaskReport]:
        inbox = defaultdict[int, list[Any]](list)
        for part in range(self._job.parts):
            for cell in expand_task(self._job, manifest, known, part):
                inbox[cell.column(0)[0].as_py()].append(cell)
        for part in range(self._job.parts):  # an attempt that came second, or whose answer was lost
            if self._random.random() < 0.3:
                self._kept(manifest, known, inbox[part])
        return [self._kept(manifest, known, inbox[part]) for part in range(self._job.parts)]

    def _kept(self, manifest: str, known: set[Kind], cells: list[Any]) -> TaskReport:
        self._random.shuffle(cells)
        (answer,) = keep_task(self._job, manifest, known, iter(cells))
        return outcome_from_json(json.loads(answer.column(0)[0].as_py()))

    def close(self) -> None:
        """Nothing is held."""


class Session:
    """What the direct exchange asks of Spark: tasks that run at once, here as threads."""

    def __init__(self) -> None:
        self.sparkContext = self

    def getConf(self) -> dict[str, str]:  # noqa: N802 - the name of Spark
        return {"spark.driver.host": "127.0.0.1"}

    def range(self, _first: int, last: int, _step: int, _parts: int) -> Session:
        self._parts = last
        return self

    def mapInArrow(self, work: Callable[[Iterator[Any]], Iterator[Any]], _schema: str, *, barrier: bool) -> Session:  # noqa: N802 - the name of Spark
        assert barrier
        self._work = work
        return self

    def collect(self) -> list[Any]:
        problems: list[Exception] = []

        def run(part: int) -> None:
            try:
                list(self._work(iter([pa.RecordBatch.from_pydict({"id": [part]})])))
            except Exception as error:  # noqa: BLE001 - it belongs to the thread that waits
                problems.append(error)

        threads = [threading.Thread(target=run, args=(part,)) for part in range(self._parts)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if problems:
            raise problems[0]
        return []

    def setJobDescription(self, _text: str) -> None:  # noqa: N802 - the name of Spark
        """Nobody watches."""

    def addTag(self, _tag: str) -> None:  # noqa: N802 - the name of Spark
        """Nothing here is ended by its tag."""

    def interruptTag(self, _tag: str) -> None:  # noqa: N802 - the name of Spark
        """Likewise."""


def essence(report: Report) -> dict[str, object]:
    """What any two searches must agree on."""
    sizes = report.statistics
    violated = [p for p in report.properties if p.trace and p.name != "defined"]
    return {
        "sizes": (sizes.distinct, sizes.generated, sizes.depth),
        "results": [(p.name, p.outcome) for p in report.properties],
        "lengths": [(p.name, len(p.trace)) for p in violated if p.trace],
        "bounds": {label: hits for label, hits in report.bounds.items() if hits},
        "taken": [(each.action, each.taken) for each in report.coverage.actions],
        "new": sum(each.new_states for each in report.coverage.actions),
        "guards": report.coverage.guards,
        "quantifiers": report.coverage.empty_quantifiers,
        "stopped": report.stopped,
        "exit": report.exit_code,
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("objects")


@pytest.fixture(autouse=True)
def _threads_without_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pyspark.InheritableThread", threading.Thread)


def exchange(name: str, job: Job, random: Random) -> Exchange:
    return Shuffled(job, random) if name == "shuffle" else Direct(Session(), job)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Asked:
    """A search of a kernel, which tasks can be asked for more than once, each time going on where the one before ended."""

    kernel: Kernel
    options: SearchOptions
    compiled: Compiled
    storage: Storage
    program: str

    def answer(
        self, name: str, random: Random | None = None, out: int = 1, parts: int = 2, depth: int | None = None
    ) -> Report:
        """What tasks say that share the search."""
        job = Job(str(self.storage.folder), parts, MEMORY)
        tasks = exchange(name, job, random or Random(4))
        place = SearchSite(tasks, self.storage, self.program, newest(self.storage), out, job.name)
        options = replace(self.options, max_depth=depth)
        return searched(self.kernel, self.compiled, options, place).report

    def alone(self) -> Report:
        """What one process says."""
        return explicit(self.kernel, self.compiled, self.options)


def asked(kernel: Kernel, folder: Path, options: SearchOptions | None = None) -> Asked:
    """A search with a work directory of its own."""
    options = options or SearchOptions(threads=1, check_deadlock=False)
    compiled = compile_kernel(kernel, options, folder)
    workdir = folder / new_name()
    workdir.mkdir()
    storage = Storage(str(workdir))
    return Asked(kernel, options, compiled, storage, publish(storage, compiled))


def agree(
    kernel: Kernel, folder: Path, options: SearchOptions, random: Random, name: str, out: int = 1
) -> Report | None:
    """Assert that a shared search says what a single one says; None where the kernel does not compile."""
    try:
        with deep_recursion(kernel):
            search = asked(kernel, folder, options)
    except UnsupportedError:
        return None
    with deep_recursion(kernel):
        found = search.answer(name, random, out, random.choice([1, 2, 3, 7]))
    assert essence(found) == essence(search.alone())
    return found


@pytest.mark.everyday(1)
@pytest.mark.parametrize("name", ["shuffle", "direct"])
@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck), print_blob=True)
@given(
    seed=st.integers(0, 2**40),
    keep_going=st.booleans(),
    fingerprints=st.sampled_from(["auto", "exact", "64", "96", "128"]),
)
def test_a_shared_search_agrees_on_random_kernels(
    folder: Path, name: str, seed: int, keep_going: bool, fingerprints: Any
) -> None:
    options = SearchOptions(max_states=400, keep_going=keep_going, threads=1, fingerprints=fingerprints)
    agree(random_kernel(Random(seed)), folder, options, Random(seed), name, out=1 + seed % 3 * 10)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["shuffle", "direct"])
@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck), print_blob=True)
@given(seed=st.integers(0, 2**40))
def test_a_shared_search_agrees_under_symmetry(folder: Path, name: str, seed: int) -> None:
    options = SearchOptions(max_states=200, symmetry=True, threads=1)
    agree(random_kernel(Random(seed), symmetric=True), folder, options, Random(seed), name)


WALK = """\
module walk
type Count = 0 .. 40
state:
    x: Count = 0
    y: Count = 0
action right:
    bound width: x < {size}
    x := x + 1
action up:
    bound height: y < {size}
    y := y + 1
invariant near: x + y < {limit}
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["shuffle", "direct"])
def test_a_search_leaves_and_comes_home_when_levels_are_small(folder: Path, name: str) -> None:
    kernel = load_text(WALK.format(size=40, limit=90)).kernel
    options = SearchOptions(threads=1, check_deadlock=False)
    report = agree(kernel, folder, options, Random(1), name, out=20)
    assert report is not None
    assert report.statistics.distinct == 41 * 41


@pytest.mark.everyday(1)
@pytest.mark.parametrize("name", ["shuffle", "direct"])
def test_a_counterexample_is_followed_through_files_of_tasks_and_of_the_driver(folder: Path, name: str) -> None:
    kernel = load_text(WALK.format(size=40, limit=77)).kernel
    report = agree(kernel, folder, SearchOptions(threads=1, check_deadlock=False), Random(2), name, out=20)
    assert report is not None
    (found,) = (p for p in report.properties if p.name == "near")
    assert found.outcome is Verdict.VIOLATED
    assert found.trace is not None
    assert len(found.trace) == 78


@pytest.mark.slow
@pytest.mark.parametrize(("first", "second"), [("shuffle", "direct"), ("direct", "shuffle")])
def test_a_search_goes_on_where_another_one_ended_with_other_tasks(folder: Path, first: str, second: str) -> None:
    search = asked(load_text(WALK.format(size=40, limit=77)).kernel, folder)
    for depth in (10, 30, 60):
        assert search.answer(first, parts=3, depth=depth).up_to_depth == depth
    assert essence(search.answer(second, parts=5, out=20)) == essence(search.alone())


def unnamed(storage: Storage) -> list[str]:
    """The files of attempts that no manifest names."""
    manifests = [unpack(storage.read(name)) for name in storage.names() if name.startswith("manifest-")]
    named = {name for each in manifests for name in each.files}
    return [name for name in storage.attempts() if name not in named]


@pytest.mark.slow
def test_what_tasks_wrote_in_vain_is_removed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of attempts that came second during a search, and of a job whose driver ended, are removed. What counts
    stays, and so does everything where that is not known.
    """
    search = asked(load_text(WALK.format(size=20, limit=90)).kernel, folder)
    monkeypatch.setattr(ClusterSearch, "_sweep", lambda _: None)
    search.answer("shuffle", Random(3), depth=20)
    monkeypatch.undo()
    monkeypatch.setattr("pyspark.InheritableThread", threading.Thread)
    storage, before = search.storage, search.storage.attempts()
    assert len(unnamed(storage)) > 2
    storage.write("manifest-9.json", b"{")
    assert (sweep(storage), storage.attempts()) == (0, before)
    storage.remove("manifest-9.json")
    young = search.storage.writing(f"{new_name()}-{new_name()}") / "level-000001"
    young.write_bytes(b"")  # of a driver that still runs, though somebody thinks that it does not
    os.utime(young, (2**32, 2**32))
    assert essence(search.answer("shuffle", Random(5))) == essence(search.alone())
    assert unnamed(storage) == [f"{young.parent.name}/{young.name}"]
    assert len(storage.attempts()) > 20


@pytest.mark.slow
def test_what_a_failed_attempt_wrote_is_removed_before_the_next(folder: Path) -> None:
    search = asked(load_text(WALK.format(size=20, limit=90)).kernel, folder)
    seen: list[list[str]] = []

    class Failing(Shuffled):
        def level(self, manifest: str, known: set[Kind], check_stop: Callable[[], None]) -> list[TaskReport]:
            outcomes = super().level(manifest, known, check_stop)
            seen.append(unnamed(search.storage))
            if len(seen) == 5:
                raise JobFailedError("an executor is gone")
            return outcomes

    job = Job(str(search.storage.folder), 2, MEMORY)
    place = SearchSite(Failing(job, Random(0)), search.storage, search.program, None, 1, job.name)
    report = searched(search.kernel, search.compiled, search.options, place).report
    assert essence(report) == essence(search.alone())
    gone = seen[4]
    assert gone
    assert not set(gone).intersection(seen[5])


WIDE = """\
module wide
type Count = 0 .. 8
state:
    w: Count = 0
    x: Count = 0
    y: Count = 0
    z: Count = 0
action first:
    bound size: w < 8
    w := w + 1
action second:
    bound size: x < 8
    x := x + 1
action third:
    bound size: y < 8
    y := y + 1
action fourth:
    bound size: z < 8
    z := z + 1
"""


def test_predecessors_are_known_in_levels_that_take_many_rounds(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes from others after the first round has its own predecessors, and not what lies so many places behind them."""
    expand = Rounds.expand

    def few(rounds: Rounds, place: int, count: int) -> list[ThreadBuffer]:
        rounds._size = 20
        return expand(rounds, place, count)

    monkeypatch.setattr(Rounds, "expand", few)
    search = asked(load_text(WIDE).kernel, folder)
    assert essence(search.answer("direct")) == essence(search.alone())
    levels, found = SharedLevels(search.compiled, search.storage), newest(search.storage)
    assert found is not None
    levels.restart(found.levels)
    before: set[int] = set()
    for level in range(len(levels.counts)):
        chunks = list(levels.chunks(level))
        if level > 1:  # those of the driver count by places
            assert before.issuperset(mark for chunk in chunks for mark in chunk.parents.tolist())
        before = {mark for chunk in chunks for mark in prints_of(search.compiled, chunk.rows).tolist()}
    assert max(levels.counts) > 400


def test_tasks_call_each_other_once_all_have_their_states(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that takes long to load what it owns would not answer the others in time."""
    search = asked(load_text(WALK.format(size=20, limit=30)).kernel, folder)
    called, loaded, seen = threading.Event(), list[int](), list[int]()
    remember, connect = TaskWork.remember, AllToAll.connect

    def slow(work: TaskWork, shard: Shard) -> None:
        if work.at == 1:
            called.wait(0.5)
        remember(work, shard)
        loaded.append(work.at)

    def noted(exchange: AllToAll, *arguments: Any) -> None:
        seen.append(len(loaded))
        called.set()
        connect(exchange, *arguments)

    monkeypatch.setattr(TaskWork, "remember", slow)
    monkeypatch.setattr(AllToAll, "connect", noted)
    assert essence(search.answer("direct")) == essence(search.alone())
    assert seen == [2, 2]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["shuffle", "direct"])
def test_a_full_disk_is_told_and_the_search_can_go_on(folder: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    search = asked(load_text(WALK.format(size=20, limit=60)).kernel, folder)
    write = Levels._write

    def fill(levels: Levels, words: Rows, level: int) -> None:
        if levels.part.level + level == 15 and levels.part != WHOLE:
            raise OSError(ENOSPC, "No space left on device")
        write(levels, words, level)

    with monkeypatch.context() as patch:
        patch.setattr(Levels, "_write", fill)
        found = search.answer(name)
    assert found.stopped is not None
    assert "No space left on device" in found.stopped
    assert found.exit_code == ExitCode.INCONCLUSIVE
    assert essence(search.answer(name)) == essence(search.alone())


@pytest.mark.everyday(1)
@pytest.mark.parametrize("name", ["shuffle", "direct"])
def test_what_was_found_and_could_not_be_looked_up_is_found_again(
    folder: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A level whose findings are not known is not complete: a search that goes on expands it anew."""
    search = asked(load_text(WALK.format(size=20, limit=30)).kernel, folder)

    def unreadable(_levels: SharedLevels, _level: int, _wanted: int, _state: tuple[int, ...]) -> int:
        raise OSError(ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(SharedLevels, "place_of", unreadable)
        found = search.answer(name)
    assert found.stopped is not None
    assert found.exit_code == ExitCode.INCONCLUSIVE
    assert essence(search.answer(name)) == essence(search.alone())


COUNTER = """\
module counter
type Count = 0 .. 12
state:
    x: Count = 0
action up:
    when x < 12
    x := x + 1
"""
JUMPING = """\
module jumping
type Count = 0 .. 12
state:
    x: Count = 0
action up:
    when x < 12
    x := x + 1
action jump:
    when x == 9
    x := 12
refines counter with:
    x = x
    action up = up
    action jump = up
property ends: eventually x == 12
terminal: true
"""


@pytest.mark.parametrize("name", ["shuffle", "direct"])
@pytest.mark.parametrize(("out", "expected"), [(1, Verdict.UNKNOWN), (2, Verdict.VIOLATED)])
def test_what_tasks_do_not_follow_is_never_said_to_hold(
    folder: Path, name: str, out: int, expected: Verdict, tmp_path: Path
) -> None:
    """The step that no module allows is in a level of one state. Tasks do not see it; the driver does if it expands the
    level.
    """
    (tmp_path / "counter.assay").write_text(COUNTER)
    (tmp_path / "jumping.assay").write_text(JUMPING)
    kernel = load_spec(tmp_path / "jumping.assay").kernel
    report = asked(kernel, folder, SearchOptions(threads=1)).answer(name, out=out)
    found = {p.name: p for p in report.properties}
    assert found["refines counter"].outcome is expected
    assert found["ends"].outcome is Verdict.UNKNOWN
    assert "not decided in this way of searching" in (found["ends"].reason or "")
