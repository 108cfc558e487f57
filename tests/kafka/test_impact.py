"""What an incident meant, against the recorder's own list of what it did: the true times lie between the bounds."""

from __future__ import annotations

import pytest

from assay.cli.settings import load
from assay.traces.log_reader import read_logs
from assay.traces.options import DEFAULT_OPTIONS
from assay.traces.result import Impact, Spell, Validation
from assay.traces.scoped_validate import validate_in_scope

from .recorded import archive

KILLED_THIRD = 1795225403536  # `kill -9` of broker 3, then controller, in B1
KILLED_FIRST = 1795225494829  # of broker 1, the last replica in sync of ledger-0
NEXT_CONTROLLER = 1795225409121
UNCLEAN_ELECTION = 1795225527448


@pytest.fixture(scope="module")
def validation() -> Validation:
    reading = read_logs([archive("B1")])
    return validate_in_scope(load("kafka/cluster", None, {}), reading, DEFAULT_OPTIONS)


def measured(validation: Validation, measure: str, slice_: str | None) -> Impact:
    return next(each for each in validation.impact if (each.measure, each.slice) == (measure, slice_))


def spell_over(impact: Impact, time: int) -> Spell:
    return next(each for each in impact.spells if each.begin <= time <= each.end)


@pytest.mark.parametrize(
    ("measure", "slice_", "killed", "over"),
    [
        ("offline", "ledger-0", KILLED_FIRST, UNCLEAN_ELECTION),
        ("offline", "orders-0", KILLED_THIRD, None),
        ("without_controller", None, KILLED_THIRD, NEXT_CONTROLLER),
    ],
)
def test_the_time_from_a_kill_to_the_next_election_lies_between_the_bounds(
    validation: Validation, measure: str, slice_: str | None, killed: int, over: int | None
) -> None:
    spell = spell_over(measured(validation, measure, slice_), killed)
    lasted = (spell.end if over is None else over) - killed
    assert spell.at_most is not None
    assert spell.at_least <= lasted <= spell.at_most


def test_what_the_unclean_election_cost_is_told_by_the_truncation(validation: Validation) -> None:
    ledger = next(each for each in validation.slices if each.name == "ledger-0")
    cut = [each for each in ledger.remarks if each.event.kind == "Truncating"]
    assert [(each.severity, each.event.fields["broker"], each.event.fields["offset"]) for each in cut] == [
        ("risk", 1, 0)
    ]
    others = [each for result in validation.slices if result.name != "ledger-0" for each in result.remarks]
    assert [each for each in others if each.event.kind == "Truncating"] == []


def test_the_minimum_of_in_sync_replicas_is_that_of_the_topic_and_else_of_the_broker(validation: Validation) -> None:
    below = {each.slice for each in validation.impact if each.measure == "under_min_isr"}
    assert below == {"orders-0", "orders-1", "orders-2"}  # min.insync.replicas=2; 1 for all others
