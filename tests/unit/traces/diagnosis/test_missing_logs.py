"""Logs of which a part is missing are no proof that a rule was broken: the answer says what is missing."""

from __future__ import annotations

import re
import tarfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.kafka.recorded import archive

from assay.cli.settings import load
from assay.grammar.load import Loaded
from assay.traces.diagnosis.missing_logs import EXPLAINED, SILENCED, fallen_silent, gaps, with_gaps
from assay.traces.event import INFERRED, Event, Notice
from assay.traces.log_reader import read_logs
from assay.traces.options import Options
from assay.traces.result import TraceVerdict, Validation
from assay.traces.samples import NAMES, sample, unpack_sample
from assay.traces.scoped_validate import validate_in_scope
from assay.traces.spec_selection import validate_with_selection
from assay.traces.validate import INFERRED_BEFORE, validate

BANNER = re.compile(r"Log4jController|Starting SharedServer|Starting (broker|controller)")


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    return unpack_sample("elections", tmp_path)


def missing(*paths: Path) -> list[str]:
    return [notice.text for notice in gaps(read_logs(list(paths)))]


def answer(*paths: Path) -> Validation:
    # two mismatches are as good as fifty: what is asked is what they are taken for
    return validate_in_scope(load("kafka/controller", None, {}), read_logs(list(paths)), Options(mismatches=2))


def cut(name: str, lines: int) -> Callable[[Path], None]:
    """Take the first lines out of one file of each broker, as a rotation does."""

    def change(logs: Path) -> None:
        for path in logs.glob(f"broker-*/{name}.log"):
            path.write_text("".join(path.read_text().splitlines(keepends=True)[lines:]))

    return change


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_missing_from_a_whole_recording(name: str, tmp_path: Path) -> None:
    assert missing(sample(name)) == []
    nodes = unpack_sample(name, tmp_path).glob("broker-*")
    assert missing(*nodes) == []


def test_a_broker_that_others_speak_of_is_missed(logs: Path) -> None:
    assert missing(logs / "broker-1", logs / "broker-2") == ["broker 3 is spoken of, and none of its logs was read"]


def test_the_start_of_a_process_is_missed(logs: Path) -> None:
    cut("server", 60)(logs)
    starts = [text for text in missing(logs) if "begin after its start" in text]
    assert starts == [f"the logs of broker-{number} begin after its start" for number in (1, 2, 3)]


def test_what_a_search_for_a_word_left_of_registrations_is_missed(logs: Path) -> None:
    """``grep -i controller`` leaves elections, and no line of a registration."""
    for path in logs.glob("broker-*/*.log"):
        kept = [line for line in path.read_text().splitlines(keepends=True) if "controller" in line.lower()]
        path.write_text("".join(kept))
    assert any("broker-1 started and took part in the cluster" in text for text in missing(logs))
    assert answer(logs).verdict is not TraceVerdict.INCONSISTENT


def test_the_end_of_a_broker_s_main_log_is_missed(logs: Path) -> None:
    """It became leader and follower, as another file says, and wrote nothing of that any more."""
    path = logs / "broker-2" / "server.log"
    records = re.split(r"^(?=\[\d{4}-)", path.read_text(), flags=re.MULTILINE)
    path.write_text("".join(records[: len(records) // 2]))
    assert any("broker-2 became leader or follower" in text for text in missing(logs))


def test_an_election_whose_file_was_rotated_away_is_missed(logs: Path) -> None:
    cut("controller", 60)(logs)
    assert missing(logs) == [
        "broker 1 acted as controller in 1 epochs, and the logs hold 0 of its elections",
        "broker 2 acted as controller in 2 epochs, and the logs hold 1 of its elections",
        "broker 3 acted as controller in 2 epochs, and the logs hold 1 of its elections",
        "broker-2 was controller, and a part of what it wrote as kafka.controller is missing",
        "broker-3 was controller, and a part of what it wrote as kafka.controller is missing",
    ]


def test_who_holds_the_id_that_a_process_was_refused_is_missed(tmp_path: Path) -> None:
    logs = unpack_sample("duplicate-broker", tmp_path)
    (refused,) = logs.glob("broker-*-duplicate")
    (found,) = missing(refused)
    assert found.startswith(f"{refused.name} was refused as broker")
    assert [
        text for text in missing(refused, logs / refused.name.removesuffix("-duplicate")) if "refused" in text
    ] == []


def test_the_file_of_what_brokers_were_told_to_lead_is_missed(logs: Path) -> None:
    for path in logs.glob("broker-*/state-change.log"):
        path.unlink()
    silent = [text for text in missing(logs) if "hold nothing that it wrote as state.change.logger" in text]
    assert {text.split()[0] for text in silent} == {"broker-1", "broker-2", "broker-3"}


FETCHED = "[2026-11-21 18:00:55,560] INFO [ReplicaFetcherManager on broker 1] Added fetcher for partitions List([orders-0, initOffset 0 to broker BrokerEndPoint(2,localhost,9092)] ) (kafka.server.ReplicaFetcherManager)\n"


def test_the_file_of_what_a_broker_of_the_oldest_versions_was_told_to_follow_is_missed(tmp_path: Path) -> None:
    (tmp_path / "broker-1").mkdir()
    (tmp_path / "broker-1" / "server.log").write_text(FETCHED)
    text = "broker-1 led partitions or followed others, and the logs hold nothing that it wrote as state.change.logger"
    assert text in missing(tmp_path)


LED = "[2026-11-21 01:41:13,700] INFO [RaftManager id=101] Completed transition to Leader(localReplicaKey=ReplicaKey(id=101, directoryId=x), epoch=5, epochStartOffset=53, highWatermark=Optional.empty, voterStates={}) from CandidateState(localId=101) (org.apache.kafka.raft.QuorumState)\n"
ACTED = "[2026-11-21 01:41:13,741] INFO [QuorumController id=101] Becoming the active controller at epoch 5, next write offset 54. (org.apache.kafka.controller.QuorumController)\n"


def test_what_a_leader_of_the_metadata_quorum_wrote_as_controller_is_missed(tmp_path: Path) -> None:
    (tmp_path / "controller-101").mkdir()
    (tmp_path / "controller-101" / "server.log").write_text(LED)
    (found,) = [text for text in missing(tmp_path) if "led the metadata quorum" in text]
    assert found.startswith("controller-101 led")
    (tmp_path / "controller-101" / "controller.log").write_text(ACTED)
    assert [text for text in missing(tmp_path) if "led the metadata quorum" in text] == []


SIGNALLED = "[2026-11-21 01:42:00,000] INFO Terminating process due to signal SIGTERM (org.apache.kafka.common.utils.LoggingSignalHandler)\n"
RESIGNED = "[2026-11-21 01:42:00,100] INFO [RaftManager id=101] Completed transition to ResignedState(localId=101, epoch=5, voters=[101]) from Leader(localId=101) (org.apache.kafka.raft.QuorumState)\n"


@pytest.mark.parametrize(
    ("lines", "count"), [((LED, SIGNALLED), 1), ((LED, SIGNALLED, RESIGNED), 0), ((LED,), 0), ((SIGNALLED,), 0)]
)
def test_a_leader_that_falls_silent_when_it_is_told_to_stop_is_told(
    lines: tuple[str, ...], count: int, tmp_path: Path
) -> None:
    (tmp_path / "controller-101").mkdir()
    (tmp_path / "controller-101" / "server.log").write_text("".join(lines))
    assert len(list(fallen_silent(read_logs([tmp_path])))) == count


@pytest.mark.slow
def test_what_is_wrong_after_a_leader_fell_silent_is_inconclusive_and_before_it_is_not(logs: Path) -> None:
    path = logs / "broker-3" / "state-change.log"
    path.write_text(path.read_text().replace("from controller 3 epoch 3", "from controller 7 epoch 3", 1))
    found = answer(logs)
    times = [each.event.record.time or 0 for each in found.violations]
    assert found.verdict is TraceVerdict.INCONSISTENT
    open_ = tuple(replace(each, certain=False, contradiction=None) for each in found.violations)
    for since, verdict in ((min(times), TraceVerdict.INCONCLUSIVE), (min(times) + 5_000, TraceVerdict.INCONSISTENT)):
        silent = Notice(SILENCED, None, "broker-1 fell silent", since)
        assert with_gaps(replace(found, violations=open_, notices=(silent,)), []).verdict is verdict
        lines_alone = tuple(replace(each, certain=True) for each in found.violations)
        sure = with_gaps(replace(found, violations=lines_alone, notices=(silent,)), [])
        assert sure.verdict is TraceVerdict.INCONSISTENT, "lines alone contradict each other"


def test_one_line_that_speaks_of_an_unknown_broker_is_no_gap_but_a_mistake(logs: Path) -> None:
    path = logs / "broker-3" / "state-change.log"
    text = path.read_text()
    path.write_text(text.replace("from controller 3 epoch 3", "from controller 7 epoch 3", 1))
    assert missing(logs) == []


@pytest.mark.everyday(1)
@pytest.mark.parametrize("change", [cut("server", 60), cut("controller", 60)], ids=["server.log", "controller.log"])
def test_where_logs_were_rotated_away_the_answer_rests_on_what_came_before(
    logs: Path, change: Callable[[Path], None]
) -> None:
    change(logs)
    validation = answer(logs)
    assert validation.verdict is TraceVerdict.CONSISTENT
    assert INFERRED_BEFORE in validation.rests_on
    assert validation.held > 0
    assert "missing beginning" in {notice.kind for notice in validation.notices}


@pytest.mark.everyday(1)
@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_controller_log_that_is_missing_is_told_and_no_false_alarm(number: int, logs: Path) -> None:
    """Whoever registers takes part in elections, and writes of that; who was elected is supposed then."""
    (logs / f"broker-{number}" / "controller.log").unlink()
    validation = answer(logs)
    assert (validation.verdict, validation.violations) == (TraceVerdict.CONSISTENT, ())
    texts = [notice.text for notice in validation.notices if notice.kind == "missing log"]
    assert texts == [
        f"broker-{number} registered, and the logs hold nothing that it wrote as kafka.controller when it took part in elections"
    ]


@pytest.mark.slow
def test_the_logs_of_one_broker_alone_are_no_false_alarm(logs: Path) -> None:
    validation = answer(logs / "broker-3")
    assert (validation.verdict, validation.violations) == (TraceVerdict.CONSISTENT, ())
    assert any("broker 1 is spoken of" in notice.text for notice in validation.notices)


def test_what_came_before_is_supposed_where_something_is_missing(logs: Path) -> None:
    """The end of a broker whose beginning was rotated away: nothing contradicts the model, and the gap is still told."""
    tail = logs / "broker-2" / "server.log"
    tail.write_text("".join(tail.read_text().splitlines(keepends=True)[-5:]))
    validation = answer(logs / "broker-1" / "server.log", tail)
    assert (validation.verdict, validation.violations) == (TraceVerdict.CONSISTENT, ())
    assert [notice.text for notice in validation.notices if notice.kind != INFERRED] == [
        "the logs of broker-2 begin after its start",
        "broker-1 led partitions or followed others, and the logs hold nothing that it wrote as state.change.logger",
        "broker-1 registered, and the logs hold nothing that it wrote as kafka.controller when it took part in elections",
        "for how long what held is not measured, because logs are missing",
    ]
    assert validation.impact == ()


STALE = "[2026-11-21 01:45:59,000] INFO [Controller id={broker}] Ignoring AlterIsr due to stale broker epoch {epoch} and local broker epoch 900 for broker 2 (kafka.controller.KafkaController)\n"


def test_the_epoch_of_a_broker_is_no_epoch_in_which_a_controller_acted(logs: Path) -> None:
    path = logs / "broker-2" / "controller.log"
    text = path.read_text()
    path.write_text(text + "".join(STALE.format(broker=1, epoch=epoch) for epoch in (871, 871, 872, 872, 873, 873)))
    assert [found for found in missing(logs) if "acted as controller" in found] == []


@pytest.mark.slow
def test_logs_that_lack_the_start_of_a_process_alone_rest_on_what_was_supposed(tmp_path: Path) -> None:
    with tarfile.open(archive("kraft-3.7.2")) as content:
        content.extractall(tmp_path, filter="data")
    for path in tmp_path.rglob("broker-1/server.log"):
        kept = [line for line in path.read_text().splitlines(keepends=True) if not BANNER.search(line)]
        path.write_text("".join(kept))
    reading = read_logs([tmp_path])
    _, found = validate_with_selection(reading, None, lambda name: load(name, None, {}))
    assert (found.verdict, found.violations) == (TraceVerdict.CONSISTENT, ())
    assert INFERRED_BEFORE in found.rests_on
    assert "the logs of broker-1 begin after its start" in [notice.text for notice in found.notices]


def test_where_logs_are_missing_a_mismatch_is_no_proof_and_an_explanation_rests_on_it(
    election: Callable[..., Loaded], healthy: tuple[Event, ...]
) -> None:
    lost = [Notice("no log", None, "the logs of broker 3 were not read")]
    explained = validate(election(), healthy[:9])
    assert explained.verdict is TraceVerdict.CONSISTENT
    assert with_gaps(explained, lost).rests_on == (*explained.rests_on, f"{EXPLAINED}: {lost[0].text}")
    wrong = validate(election(), healthy[3:9])
    assert wrong.verdict is TraceVerdict.INCONSISTENT
    assert with_gaps(wrong, lost).verdict is TraceVerdict.INCONCLUSIVE


def test_what_was_not_read_may_say_more_than_lines_that_are_held_against_nothing(
    election: Callable[..., Loaded], healthy: tuple[Event, ...]
) -> None:
    unread = Notice("unsupported compression", None, "old.zip is not read: zip file version 8.4")
    found = replace(validate(election(), healthy[:9]), verdict=TraceVerdict.VACUOUS, rests_on=("a beginning",))
    assert with_gaps(replace(found, notices=(unread,)), []).verdict is TraceVerdict.INCONCLUSIVE
    nothing = replace(found, notices=(unread,), counts=replace(found.counts, used=0))
    assert with_gaps(nothing, []).verdict is TraceVerdict.VACUOUS


def test_the_second_half_of_a_file_is_missed_where_others_go_on(logs: Path) -> None:
    path = logs / "broker-1" / "state-change.log"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[: len(lines) // 3]))
    text = "broker-1 was told of leaders, and a part of what it wrote as state.change.logger is missing"
    assert text in missing(logs)


def test_the_second_half_of_a_controllers_log_is_missed_where_its_state_changes_go_on(logs: Path) -> None:
    path = logs / "broker-2" / "controller.log"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[: len(lines) // 2]))
    text = "broker-2 was controller, and a part of what it wrote as kafka.controller is missing"
    assert text in missing(logs)
