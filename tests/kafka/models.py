"""The models of spec/kafka whose sizes are pinned, by area: docs/kafka-models.md is made of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tests.kafka import kraft, test_kraft_logs, test_leadership, test_refinement, test_replication, test_specs

from assay.checker.engines import engine_selection
from assay.checker.options import SearchOptions
from assay.checker.results.show_instance import show_parameter
from assay.cli.settings import load

AREAS = {
    "Membership": ("membership", "broker_id", "chroot", "own_node", "broker_epoch"),
    "Controller": ("controller", "controller_cache", "claim"),
    "Topics": ("topics", "placement", "assignment"),
    "Leadership": ("leadership", "leadership_abstract", "stop_replica", "become_follower", "transaction_coordinator"),
    "ISR": ("isr", "isr_in_zookeeper", "alter_partition", "replication/async_isr"),
    "Log": (
        *(f"replication/{name}" for name in ("truncate_to_hw", "kip101", "kip279", "kip320_first_try", "kip320")),
        "replication/abstract_log",
        "replication/kip320_refinement",
        "log_start",
    ),
    "Requests": ("requests",),
    "Client metadata": ("client_metadata",),
    "KRaft": (
        *(f"kraft/{name}" for name in ("quorum", "pre_vote", "snapshots", "voters", "voting", "abstract_log")),
        *(f"kraft/{name}" for name in ("brokers", "registration", "partition", "leadership")),
        "kraft/quorum_refinement",
        "kraft/partition_refinement",
    ),
    "Whole clusters": ("cluster", "cluster_refinement", "kraft/cluster"),
}
"""The specs in the areas of docs/kafka-rules.md."""

LONG = 500_000
"""States from which on the search takes so long that the time for compiling is nothing beside it."""

LEAST = 0.1
"""Seconds below which the number says nothing."""

HEAD = """\
# The models of the Kafka specs, by area

Each row is a model that is searched whole, with its number of distinct states and of levels (the states of the longest
shortest run). They are pinned in `tests/kafka/`, which search each of them, and this page is made of those numbers by
`pytest --rewrite tests/kafka/test_models.py`. What is bounded: the parameters of the model that are no switches.
Seconds are those of a search by the native engine with its code in the cache, on two cores, once; no test checks them,
and where one is deleted, that command measures again. Which rules of Kafka the specs are about:
[kafka-rules.md](kafka-rules.md); how strong they are: [kafka-mutation.md](kafka-mutation.md).
"""

ROW = re.compile(r"^\| `(kafka/[\w/]+)` \| (\w*) \|(?: [^|]* \|){3} ([^|]*) \| ((?:< )?[\d.]+) \|$", re.MULTILINE)


@dataclass(frozen=True)
class Pinned:
    """A model with its sizes; ``lost`` says that a property is violated, in runs of so many states, and what would be searched without it."""

    spec: str
    model: str | None
    distinct: int
    levels: int
    lost: int | None = None

    @property
    def key(self) -> tuple[str, str]:
        """How a row of the page is known."""
        return self.spec, self.model or ""


def pinned() -> Iterator[Pinned]:
    """All models that tests of this folder search whole."""
    for old in test_specs.SIZES:
        yield Pinned(old.spec, None, old.distinct, old.depth)
    for spec, model, distinct, depth in test_specs.LARGER:
        yield Pinned(spec, model, distinct, depth)
    for new in (*kraft.SIZES, *kraft.LARGE):
        yield Pinned(new.spec, new.model, new.distinct, new.depth)
    for holds in (*test_replication.HOLDS, test_replication.LARGEST, test_replication.ONE_LOG):
        yield Pinned(f"kafka/replication/{holds.spec}", holds.model, holds.distinct, holds.depth)
    for loses in test_replication.LOSES:
        yield Pinned(f"kafka/replication/{loses.spec}", loses.model, loses.distinct, loses.depth, loses.length)
    for refines in (*test_refinement.QUICK, *test_refinement.LONG):
        yield Pinned(refines.spec, refines.model, refines.distinct, refines.depth)
    for joined, (distinct, _, depth) in test_leadership.JOINED.items():
        yield Pinned("kafka/cluster", joined, distinct, depth)
    for spec, distinct, _, depth in test_kraft_logs.DEFAULTS:
        yield Pinned(spec, None, distinct, depth)


def of_kafka() -> Iterator[Pinned]:
    """Those of spec/kafka."""
    return (row for row in pinned() if row.spec.startswith("kafka/"))


def bounds(row: Pinned) -> str:
    """The parameters that are no switches, with their values."""
    parameters = load(row.spec, row.model, {}).kernel.parameters
    return ", ".join(f"{each.name} = {show_parameter(each)}" for each in parameters if not isinstance(each.value, bool))


def measured(row: Pinned) -> str:
    """The seconds of a search for all states, whatever is violated; of a small model the second one, for the first compiles."""
    loaded = load(row.spec, row.model, {})
    options = SearchOptions(keep_going=row.lost is not None)
    times = 2 if row.distinct < LONG else 1
    taken = [engine_selection.check(loaded.kernel, options, loaded.sources, "native").report for _ in range(times)][-1]
    assert taken.statistics.distinct == row.distinct
    seconds = taken.statistics.seconds
    return f"{seconds:.1f}" if seconds >= LEAST else f"< {LEAST}"


def rows_of(page: str) -> dict[tuple[str, str], tuple[str, str]]:
    """What the page says now of the bounds of each model, and of how long it takes."""
    return {(spec, model): (bounded, taken) for spec, model, bounded, taken in ROW.findall(page)}


def looked_up(page: str) -> dict[tuple[str, str], tuple[str, str]]:
    """The bounds as they are; seconds that the page lacks are measured."""
    known = rows_of(page)
    return {row.key: (bounds(row), known[row.key][1] if row.key in known else measured(row)) for row in of_kafka()}


def line(row: Pinned, bounded: str, taken: str) -> str:
    """A row of the page."""
    answer = "holds" if row.lost is None else f"loses a record in {row.lost} states"
    cells = (f"`{row.spec}`", row.model or "", answer, f"{row.distinct:,}", str(row.levels), bounded, taken)
    return f"| {' | '.join(cells)} |"


def page_of(known: Mapping[tuple[str, str], tuple[str, str]]) -> str:
    """The page, with these bounds and seconds."""
    rows = list(of_kafka())
    parts = [HEAD]
    for area, specs in AREAS.items():
        names = [f"kafka/{name}" for name in specs]
        found = sorted((row for row in rows if row.spec in names), key=lambda r: (names.index(r.spec), r.distinct))
        head = ("| spec | model | answer | distinct states | levels | bounds | seconds |", f"|{' --- |' * 7}")
        table = "\n".join((*head, *(line(row, *known[row.key]) for row in found)))
        parts.append(f"\n## {area}\n\n{table}\n")
    return "".join(parts)
