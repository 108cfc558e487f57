"""Models whose counts other checkers have published: those of spec/classics, and examples of TLA+ written in the language."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.stages import everyday

from assay.checker.engines import engine_selection
from assay.checker.engines.reference_engine import check
from assay.checker.options import SearchOptions
from assay.checker.report import Outcome
from assay.grammar.load import load_spec

PUBLISHED = [
    ("die_hard", {}, 16, 8),
    ("transaction_commit", {}, 34, 7),
    ("two_phase", {}, 288, 11),
    ("two_phase", {"ResourceManager": "4"}, 1568, 14),
]


@pytest.mark.parametrize(("name", "settings", "distinct", "depth"), PUBLISHED)
def test_distinct_states_and_depth_are_those_published(
    checkout: Path, name: str, settings: dict[str, str], distinct: int, depth: int
) -> None:
    loaded = load_spec(checkout / "spec" / "classics" / f"{name}.assay", overrides=settings)
    report = check(loaded.kernel)
    assert (report.statistics.distinct, report.statistics.depth) == (distinct, depth)
    checked = [each for each in report.properties if each.kind != "scenario"]  # which are about three managers
    assert {each.outcome for each in checked} == {Outcome.HOLDS}


def test_four_gallons_take_seven_states(checkout: Path) -> None:
    report = check(load_spec(checkout / "spec" / "classics" / "die_hard.assay").kernel)
    witness = next(each for each in report.properties if each.name == "four_gallons")
    assert witness.trace is not None
    assert len(witness.trace) == 7


# Of https://github.com/tlaplus/Examples, whose manifests tell what TLC finds: the specs of tests/corpus/published are written after these.
# TLC with several workers may count too many levels. The manifests say 10 for EWD840, 37 for the elevator (36 for the same model in
# another place), and 11 for kvstore; TLC with one worker counts 9, 36 and 9, of the original modules too.
EXAMPLES = [
    ("alternating_bit", "SpecifyingSystems/TLC", 240, 10),
    ("atomic_commitment", "acp/ACP_NB", 4284, 19),
    ("binary_search", "LoopInvariance/MCBinarySearch", 27953, 6),
    ("byzantine_broadcast", "bcastByz", 14424, 7),
    ("hour_clock", "SpecifyingSystems/HourClock", 12, 1),
    ("channel", "SpecifyingSystems/AsynchronousInterface", 12, 2),
    ("cigarette_smokers", "CigaretteSmokers", 6, 2),
    ("echo", "echo", 75, 16),
    ("disruptor_spmc", "Disruptor/Disruptor_SPMC", 8496, 82),
    ("elevator", "MultiCarElevator/ElevatorSafetySmall", 4122, 36),
    ("ewd840", "ewd840", 302, 9),
    ("internal_memory", "SpecifyingSystems/CachingMemory/MCInternalMemory", 4408, 10),
    ("inner_fifo", "SpecifyingSystems/FIFO", 3864, 11),
    ("chandy_misra", "DiningPhilosophers", 67, 29),
    ("chang_roberts", "chang_roberts", 137, 10),
    ("coffee_can", "CoffeeCan", 5150, 1),
    ("majority_vote", "Majority", 2733, 6),
    ("nano", "NanoBlockchain/MCNanoSmall", 3003, 7),
    ("nbacc_ray97", "nbacc_ray97", 3016, 7),
    ("par_reach", "MisraReachability/MCParReach", 393, 18),
    ("quicksort", "LoopInvariance/MCQuicksort", 4548, 9),
    ("readers_writers", "ReadersWriters", 21527, 13),
    ("registers", "SpecifyingSystems/AdvancedExamples/MCInnerSequential", 3528, 9),
    ("replicated_log", "FiniteMonotonic/MCReplicatedLog", 1363, 13),
    ("scheduling_allocator", "allocator/SchedulingAllocator", 1690, 7),
    ("simple", "TeachingConcurrency", 723, 11),
    ("simple_allocator", "allocator", 400, 6),
    ("store_of_values", "btree/kvstore", 2641, 9),
    ("tcp", "tcp/MCtcp", 1182, 14),
    ("write_through_cache", "SpecifyingSystems/CachingMemory/MCWriteThroughCache", 5196, 18),
    ("yo_yo", "YoYo/MCYoYoNoPruning", 60, 19),
]

# Of the same collection and of textbooks, with other parameters than there: the counts are those of TLC on what is exported, see
# tests/differential/test_tlc.py.
COUNTED = [
    ("chameneos", 2856, 12),
    ("dijkstra_mutex", 15695, 58),
    ("gossip_counter", 123, 8),
    ("lamport_mutex", 401, 28),
    ("prisoners", 122, 9),
    ("single_lane_bridge", 1153, 21),
    ("token_ring_426", 256, 1),
    ("bakery", 48, 17),
    ("buffered_file", 6376, 10),  # of which 3,316 are left under the symmetry that the published model has
    ("barrier", 64, 7),
    ("cat_in_boxes", 28, 8),
    ("game_of_life", 512, 1),
    ("key_value_store", 28305, 17),
    ("missionaries_and_cannibals", 64, 13),
    ("multi_paxos", 3913, 19),
    ("peterson", 42, 11),
    ("queens", 17, 5),
    ("spanning_tree", 786, 5),
    ("tower_of_hanoi", 27, 8),
]


@pytest.mark.parametrize(
    ("name", "distinct", "depth"),
    [
        *everyday([(name, n, depth) for name, _, n, depth in EXAMPLES], 4),
        *(pytest.param(*each, marks=pytest.mark.slow) for each in COUNTED),
    ],
)
def test_a_spec_written_after_a_published_one_has_as_many_states(
    checkout: Path, name: str, distinct: int, depth: int
) -> None:
    loaded = load_spec(checkout / "tests" / "corpus" / "published" / f"{name}.assay")
    report = engine_selection.check(loaded.kernel, SearchOptions(), loaded.sources, "native").report
    assert (report.statistics.distinct, report.statistics.depth) == (distinct, depth)
    assert {each.outcome for each in report.properties} <= {Outcome.HOLDS, Outcome.UP_TO_BOUND}


def test_every_published_spec_is_checked(checkout: Path) -> None:
    written = {path.stem for path in (checkout / "tests" / "corpus" / "published").glob("*.assay")}
    assert written == {name for name, *_ in (*EXAMPLES, *COUNTED)}
