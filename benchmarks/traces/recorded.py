"""The recorded runs, and what ZooKeeper's transaction logs and the metadata logs say of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from assay.cli.settings import load
from assay.grammar.load import Loaded
from assay.traces.event import Event
from assay.traces.incremental.incremental_recheck import Retrial
from assay.traces.log_reader import LogReading, read_logs
from assay.traces.options import Options
from assay.traces.samples import sample
from assay.traces.shared_search import check
from assay.traces.spec_selection import select_spec

CORPUS = Path(__file__).resolve().parents[2] / "tests" / "corpus"
SAMPLES = {"A1": "elections", "A2": "duplicate-broker"}
RUNS = ("A0", "A1", "A2", "A3", "A4", "A6", "A9", "B1", "B3")
KRAFT_RUNS = ("C1", "C2")
SPEC = "kafka/cluster"


class StateWrite(NamedTuple):
    """A write of a partition's state, as ZooKeeper or the metadata log holds it; ``leader`` is -1 for none."""

    partition: str
    version: int
    leader: int
    isr: frozenset[int]
    leader_epoch: int


def archive(run: str) -> Path:
    """The archive of a run: the logs of its nodes, and nothing else."""
    return sample(SAMPLES[run]) if run in SAMPLES else CORPUS / "recordings" / f"{run}.tar.xz"


@cache
def reading(run: str) -> LogReading:
    """The logs of a run."""
    return read_logs([archive(run)])


@cache
def spec() -> Loaded:
    """The spec that logs in ZooKeeper mode are validated against."""
    return load(SPEC, None, {})


def asked(events: Iterable[Event]) -> tuple[Loaded, str | None]:
    """The spec that these events are validated against if nobody names one, and its trace clause."""
    choice = select_spec(Counter(event.kind for event in events))
    return spec() if choice.spec == SPEC else load(choice.spec, None, {}), choice.clause


def events_of(run: str, *, brokers_alone: bool = False) -> list[Event]:
    """The events of a run, with or without those of ZooKeeper's own log or of KRaft's controllers."""
    return [event for event in reading(run).events if not brokers_alone or event.run.node.startswith("broker")]


def of_version(run: str) -> Options:
    """How a run is validated: what other versions of the product are known to do explains nothing in it."""
    return Options(versions=reading(run).versions)


@cache
def retrial(run: str) -> Retrial:
    """A run that was validated, to be asked about with changes."""
    loaded, clause = asked(events_of(run))
    options = of_version(run)
    found = check(loaded, events_of(run), clause=clause, options=options).retrial(options)
    if found is None:
        raise ValueError(f"{run} has no execution under {loaded.kernel.name}: {options}")
    return found


@cache
def state_writes() -> dict[str, frozenset[StateWrite]]:
    """Every write of each run."""
    found: dict[str, set[StateWrite]] = defaultdict(set)
    texts = [(CORPUS / f"{mode}_writes.tsv").read_text(encoding="utf-8") for mode in ("state", "kraft")]
    for line in (line for text in texts for line in text.splitlines()[1:]):
        run, partition, version, leader, isr, epoch = line.split("\t")
        members = frozenset(map(int, filter(None, isr.split(","))))
        found[run].add(StateWrite(partition, int(version), int(leader), members, int(epoch)))
    return {run: frozenset(writes) for run, writes in found.items()}
