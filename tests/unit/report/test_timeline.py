"""The timeline: outages with the controller that ends them, partitions together, restarts, and the end of the logs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.unit.report.test_first_screen import answer

from assay.report.logs.timeline import lasting, timeline
from assay.traces.diagnosis.incident_moments import Moment
from assay.traces.diagnosis.node_settings import Overview
from assay.traces.event import LogPosition
from assay.traces.result import Impact, Spell, Validation

PLACE = LogPosition("a/b", 1, 0)
MINUTE = 60_000
Of = Callable[..., Validation]


@pytest.fixture(scope="module")
def validation_of(tmp_path_factory: pytest.TempPathFactory) -> Of:
    """Makes the answer about a log with these outages."""
    validation, _ = answer(tmp_path_factory.mktemp("log"), [1, 2])
    return lambda *impact: replace(validation, impact=impact)


def moment(time: int, text: str, of: str = "", node: str = "", term: str | None = None) -> Moment:
    return Moment(time, text, 3, PLACE, False, term, of, node)


def spell(begin: int, end: int, *, lasts: bool = False, at_least: int | None = None) -> Spell:
    least = end - begin if at_least is None else at_least
    return Spell(begin, end, least, end - begin, None, None, lasts)


def offline(name: str, *spells: Spell) -> Impact:
    return Impact("offline", "it has no leader", name, spells)


def shown(validation: Validation, *moments: Moment, shut_down: int | None = None) -> list[str]:
    return [each.text for each in timeline(validation, Overview((), (), (), moments, shut_down), "part")]


def test_a_controller_says_how_long_there_was_none(validation_of: Of) -> None:
    gone = Impact("without_controller", "no process is controller", None, (spell(MINUTE, MINUTE + 9_000),))
    elected = moment(MINUTE + 9_100, "broker 2 becomes controller (epoch 4)", term="2, epoch 4")
    assert shown(validation_of(gone), elected) == [
        "broker 2 becomes controller (epoch 4), after 9 s without controller"
    ]
    assert shown(validation_of(gone)) == ["without controller for 9 s"]


def test_partitions_that_are_out_together_are_one_line_and_later_outages_another(validation_of: Of) -> None:
    out = [offline("x-0", spell(MINUTE, MINUTE + 5_000)), offline("x-1", spell(MINUTE + 1_000, MINUTE + 3_000))]
    again = offline("x-0", *out[0].spells, spell(9 * MINUTE, 9 * MINUTE + 2_000))
    assert shown(validation_of(again, out[1])) == [
        "offline: 2 parts, the longest for 5 s: x-0, x-1",
        "offline for 2 s: x-0",
    ]


def test_an_outage_that_may_have_been_short_says_up_to(validation_of: Of) -> None:
    assert shown(validation_of(offline("x-0", spell(0, 4_000, at_least=0)))) == ["offline for up to 4 s: x-0"]


def test_two_long_times_are_said_in_full_where_each_has_two_units(validation_of: Of) -> None:
    long = spell(0, 125 * MINUTE, at_least=65 * MINUTE)
    assert shown(validation_of(offline("x-0", long))) == ["offline for 1 h 5 min to 2 h 5 min: x-0"]
    short = spell(0, 15_000, at_least=12_000)
    assert shown(validation_of(offline("x-0", short))) == ["offline for 12 to 15 s: x-0"]


def test_an_outage_within_a_longer_one_does_not_end_what_struck_together(validation_of: Of) -> None:
    out = [offline("x-0", spell(0, 5 * MINUTE)), offline("x-1", spell(1_000, 2_000))]
    assert len(shown(validation_of(*out, offline("x-2", spell(4 * MINUTE, 5 * MINUTE))))) == 1


def test_the_end_of_a_process_says_when_it_starts_again(validation_of: Of) -> None:
    killed = moment(1_000, "b-1 stops without shutting down", "death", "b-1")
    back = moment(30_000, "b-1 restarts", "start", "b-1")
    assert shown(validation_of(), killed, back) == ["b-1 stops without shutting down; restarts at 00:00:30"]
    assert shown(validation_of(), killed) == ["b-1 stops without shutting down"]


def test_a_start_belongs_to_the_last_end_before_it(validation_of: Of) -> None:
    killed = moment(1_000, "b-1 stops without shutting down", "death", "b-1")
    again = moment(20_000, "b-1 shuts down", "shutdown", "b-1")
    other = moment(25_000, "b-2 restarts", "start", "b-2")
    back = moment(40_000, "b-1 restarts", "start", "b-1")
    assert shown(validation_of(), killed, again, other, back) == [
        "b-1 stops without shutting down",
        "b-1 shuts down; restarts at 00:00:40",
        "b-2 restarts",
    ]


def test_several_nodes_at_once_are_one_line_in_the_plural(validation_of: Of) -> None:
    lost = [moment(at, f"b-{at} lost its ZooKeeper session") for at in (1, 2)]
    assert shown(validation_of(), *lost) == ["b-1, b-2 lost their ZooKeeper session"]


def test_what_is_out_because_the_cluster_was_shut_down_is_no_outage(validation_of: Of) -> None:
    last = offline("x-0", spell(MINUTE, 2 * MINUTE, lasts=True))
    ends = moment(MINUTE, "broker 1 shuts down", "shutdown", "b-1")
    nothing = Overview((), (), (), (ends,), MINUTE)
    assert shown(validation_of(last), ends, shut_down=MINUTE) == ["the cluster is shut down: b-1"]
    assert lasting(validation_of(last), nothing) == []
    assert lasting(validation_of(last), replace(nothing, shut_down=None)) == ["x-0"]
    assert shown(validation_of(last), ends) == [
        "broker 1 shuts down",
        "offline for 60 s, until the log ends: x-0",
    ]
