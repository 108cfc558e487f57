"""How strong the specs of kafka/ are: of every mistake that `assay mutate` makes, a property notices, or the spec says why none does."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from assay.api.bundled import bundled_specs
from assay.checker.mutation.judge import Fate
from assay.checker.mutation.mutants import mutants
from assay.checker.options import SearchOptions
from assay.checker.report import ExitCode
from assay.cli.settings import load
from assay.cli.specs.mutate import run


@dataclass(frozen=True)
class Strength:
    """A spec with its numbers of mutants: all, killed, equivalent, and those that survive for a reason given in the spec.

    ``model`` is the one that is searched (None: the default), ``scenarios`` the one whose scenarios judge too.
    ``used`` says that the lines of the modules that it uses are mutated as well.
    """

    spec: str
    mutants: int
    killed: int
    equivalent: int
    explained: int
    model: str | None = None
    scenarios: str | None = None
    used: bool = False

    def __str__(self) -> str:
        return self.spec

    @property
    def row(self) -> str:
        """The row of docs/kafka-mutation.md."""
        numbers = (self.mutants, self.killed, self.equivalent, self.explained)
        return f"| `{self.spec}` | {' | '.join(map(str, numbers))} | {self.model or ''} | {self.scenarios or ''} |"


QUICK = [
    Strength("kafka/assignment", 50, 50, 0, 0),
    Strength("kafka/become_follower", 21, 16, 5, 0),
    Strength("kafka/broker_epoch", 49, 45, 4, 0),
    Strength("kafka/broker_id", 37, 28, 9, 0),
    Strength("kafka/chroot", 21, 21, 0, 0),
    Strength("kafka/claim", 32, 29, 3, 0),
    Strength("kafka/controller_cache", 32, 31, 1, 0),
    Strength("kafka/kraft/abstract_log", 10, 10, 0, 0),
    Strength("kafka/kraft/brokers", 17, 17, 0, 0),
    Strength("kafka/leadership_abstract", 47, 46, 1, 0),
    Strength("kafka/log_start", 70, 64, 6, 0),
    Strength("kafka/placement", 22, 21, 1, 0),
    Strength("kafka/replication/abstract_log", 7, 7, 0, 0),
    Strength("kafka/stop_replica", 39, 35, 4, 0),
    Strength("kafka/topics", 54, 52, 2, 0),
    Strength("kafka/transaction_coordinator", 30, 29, 1, 0),
]
LONG = [
    Strength("kafka/alter_partition", 37, 34, 0, 3),
    Strength("kafka/cluster", 44, 32, 11, 1, model="small", scenarios="two_processes"),
    Strength("kafka/client_metadata", 40, 35, 3, 2),
    Strength("kafka/isr_in_zookeeper", 29, 26, 3, 0),
    Strength("kafka/kraft/partition_refinement", 4, 4, 0, 0, model="r2e3"),
    Strength("kafka/kraft/quorum_refinement", 1, 1, 0, 0, model="n3e2l2"),
    Strength("kafka/kraft/voting", 51, 48, 3, 0),
    Strength("kafka/replication/async_isr", 42, 40, 1, 1),
    Strength("kafka/replication/kip101", 7, 7, 0, 0, model="r2l2m2e1", scenarios="r3l2m2e2"),
    Strength("kafka/replication/kip320_refinement", 2, 2, 0, 0, model="r2l2m2e2"),
]
"""From a few seconds to half a minute each."""
MINUTES = [
    Strength("kafka/kraft/pre_vote", 46, 44, 0, 2, model="n3e2l1", scenarios="default"),
    Strength("kafka/kraft/registration", 62, 62, 0, 0),
    Strength("kafka/own_node", 92, 86, 6, 0),
    Strength("kafka/controller", 77, 53, 24, 0),
    Strength("kafka/membership", 89, 81, 4, 4),
    Strength("kafka/requests", 118, 106, 5, 7),
    Strength("kafka/isr", 115, 101, 10, 4, model="r2v4", scenarios="default"),
    Strength("kafka/leadership", 124, 120, 3, 1, scenarios="lessons"),
    Strength("kafka/replication/kip279", 74, 67, 7, 0, model="r2l2m2e2", scenarios="r3l2m2e2", used=True),
    Strength("kafka/replication/kip320", 84, 68, 16, 0, model="r2l2m2e1", scenarios="r3l2m2e2", used=True),
    Strength("kafka/replication/kip320_first_try", 86, 76, 10, 0, model="r2l2m2e2", scenarios="r3l2m2e2", used=True),
    Strength("kafka/kraft/quorum", 81, 75, 3, 3, model="n3e2l2"),
    Strength("kafka/kraft/voters", 74, 69, 4, 1),
    Strength("kafka/kraft/snapshots", 104, 91, 4, 9, model="n3e3l2", scenarios="default"),
    Strength("kafka/kraft/cluster", 121, 120, 1, 0, scenarios="lessons"),
    Strength("kafka/kraft/leadership", 188, 184, 3, 1, scenarios="lessons"),
    Strength("kafka/kraft/partition", 139, 123, 13, 3, model="r2e3", scenarios="lessons"),
]
"""Judged by hand: from half a minute to several minutes each."""

NOTHING_OF_THEIR_OWN = ("kafka/cluster_refinement", "kafka/replication/truncate_to_hw")
"""They join actions of other modules, and add no line to them."""


def check_strength(strength: Strength) -> None:
    longer = None if strength.scenarios is None else load(strength.spec, strength.scenarios, {})
    mutation = run(load(strength.spec, strength.model, {}), SearchOptions(), strength.used, longer)
    assert [each.mutant.text for each in mutation.of(Fate.SURVIVED, Fate.UNDECIDED)] == []
    numbers = [len(mutation.of(fate)) for fate in (Fate.KILLED, Fate.EQUIVALENT, Fate.EXPLAINED)]
    assert (len(mutation.judged), *numbers) == (
        strength.mutants,
        strength.killed,
        strength.equivalent,
        strength.explained,
    )
    assert mutation.exit_code is ExitCode.OK


def test_the_smallest_spec_notices_every_mistake() -> None:
    check_strength(next(each for each in QUICK if each.spec == "kafka/transaction_coordinator"))


@pytest.mark.slow
@pytest.mark.parametrize("strength", [*QUICK, *LONG], ids=str)
def test_a_spec_notices_every_mistake_or_says_why_not(strength: Strength) -> None:
    check_strength(strength)


@pytest.mark.everyday(6)
@pytest.mark.parametrize("strength", MINUTES, ids=str)
def test_what_is_judged_by_hand_has_the_mutants_that_were_judged(strength: Strength) -> None:
    """A line that was added or taken away since has to be judged."""
    loaded = load(strength.spec, strength.model, {})
    files = frozenset(loaded.sources) if strength.used else frozenset((loaded.tree.top.file,))
    assert len(mutants(loaded.kernel, loaded.sources, files)) == strength.mutants


def test_the_page_shows_how_strong_the_specs_are(checkout: Path) -> None:
    lines = (checkout / "docs" / "kafka-mutation.md").read_text(encoding="utf-8").splitlines()
    for strength in (*QUICK, *LONG, *MINUTES):
        assert strength.row in lines


@pytest.mark.slow
def test_every_line_of_every_spec_is_judged() -> None:
    """By a row of its own, or as a line of a module that a judged spec uses."""
    judged = {strength.spec for strength in (*QUICK, *LONG, *MINUTES)}
    used = {file for each in (*QUICK, *LONG, *MINUTES) if each.used for file in load(each.spec, None, {}).sources}
    others = [each for each in bundled_specs() if each.startswith("kafka/") and each not in judged]
    left = [each for each in others if not any(file.endswith(f"{each}.assay") for file in used)]
    assert left == list(NOTHING_OF_THEIR_OWN)
    for spec in NOTHING_OF_THEIR_OWN:
        loaded = load(spec, None, {})
        assert mutants(loaded.kernel, loaded.sources, frozenset((loaded.tree.top.file,))) == []
