"""Lines of trouble: each family's example is read, findings say what happened, and no healthy log is called lossy."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from benchmarks.log_statements import of_source

from assay.traces.log_reader import LogReading, read_logs
from assay.traces.patterns.statement_catalogue import LogStatement, statement_catalogue
from assay.traces.trouble.assembly import trouble_of
from assay.traces.trouble.finding import Gravity, LostRange, Trouble

RECORDINGS = Path(__file__).resolve().parents[2] / "corpus" / "recordings"


def reading_of(text: str, folder: Path) -> LogReading:
    path = folder / "server.log"
    path.write_text(text, encoding="utf-8")
    return read_logs([path])


def trouble_in(text: str, folder: Path) -> Trouble:
    return trouble_of(reading_of(text, folder))


@pytest.mark.parametrize("statement", statement_catalogue().statements, ids=lambda each: each.name)
def test_the_example_of_each_family_is_read_as_one_of_it(statement: LogStatement, tmp_path: Path) -> None:
    found = reading_of(statement.example + "\n", tmp_path).trouble
    assert [each.group.statement for each in found] == [statement.name]
    assert "?" not in re.sub(r"\?(?= |$)", "", statement.explain(found[0].group.first.message))
    assert not statement.gravity or (statement.gravity in Gravity.__members__ and statement.heading)


def test_names_of_families_are_unique() -> None:
    names = [each.name for each in statement_catalogue().statements]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("recording", "lost"),
    [
        ("A9", [("ledger-0", 30, 60), ("ledger-0", 70, 100)]),
        ("B1", [("ledger-0", 0, 60)]),
        ("B3", [("ledger-0", 30, 60)]),
        ("A0", []),
        ("A4", []),
        ("C1", []),
        ("C2", []),
    ],
)
def test_records_that_unclean_elections_lost_are_told_as_they_were(
    recording: str, lost: list[tuple[str, int, int]]
) -> None:
    found = trouble_of(read_logs([RECORDINGS / f"{recording}.tar.xz"])).findings
    losses = [each for finding in found if finding.gravity <= Gravity.RISK for each in finding.lost]
    assert [(each.partition, each.begin, each.end) for each in losses] == lost


def test_lines_that_nothing_explains_are_counted(tmp_path: Path) -> None:
    lines = [f"[2025-02-03 10:00:0{n},100] WARN The moon is {n} days old (kafka.server.MoonPhase)" for n in range(4)]
    found = trouble_in("\n".join(lines) + "\n", tmp_path)
    assert [(each.logger, each.count) for each in found.unexplained] == [("kafka.server.MoonPhase", 4)]
    assert (found.lines, found.not_understood) == (4, 4)


def test_warnings_of_other_programs_are_not_those_of_kafka(tmp_path: Path) -> None:
    text = "[2025-02-03 10:00:00,100] WARN late (com.example.Orders)\n[2025-02-03 10:00:00,200] INFO started (kafka.server.KafkaServer)\n"
    assert trouble_in(text, tmp_path).lines == 0


def test_a_tail_below_no_high_watermark_is_cut_without_a_finding(tmp_path: Path) -> None:
    follows = (
        "Follower pay-3 starts at leader epoch 3 from offset 60 with high watermark {}. Previous leader epoch was 1."
    )
    cut = "[2021-06-03 10:00:02,700] INFO [Log partition=pay-3, dir=/data/a] Truncating to offset 40 (kafka.log.Log)"
    for mark, findings in ((40, 0), (60, 1)):
        start = f"[2021-06-03 10:00:02,300] INFO [Broker id=4] {follows.format(mark)} (state.change.logger)"
        assert len(trouble_in(f"{start}\n{cut}\n", tmp_path).findings) == findings


@pytest.mark.parametrize(("minutes", "findings"), [(0, 0), (1, 1), (20, 1)])
def test_a_leader_is_stale_if_its_writes_are_refused_for_long(minutes: int, findings: int, tmp_path: Path) -> None:
    text = "INFO Partition [pay,3] on broker 4: Cached zkVersion [7] not equal to that in zookeeper, skip updating ISR"
    times = [f"10:{minutes * n:02}:0{n},100" for n in range(3)]
    found = trouble_in("".join(f"[2016-02-03 {time}] {text} (kafka.cluster.Partition)\n" for time in times), tmp_path)
    assert [each.reference for each in found.findings] == ["KAFKA-2729"] * findings


@pytest.mark.parametrize(
    ("logger", "mode"),
    [
        ("org.apache.kafka.controller.QuorumController", "kraft"),
        ("kafka.server.BrokerLifecycleManager", "kraft"),
        ("kafka.controller.KafkaController", "zookeeper"),
        ("org.apache.kafka.metadata.migration.KRaftMigrationDriver", "migration"),
        ("kafka.utils.VerifiableProperties", "unsupported"),
    ],
)
def test_the_logger_of_a_line_tells_the_mode(logger: str, mode: str, tmp_path: Path) -> None:
    found = trouble_in(f"[2025-02-03 10:00:00,100] INFO one line ({logger})\n", tmp_path)
    assert found.identity.modes == (mode,)


def test_statements_are_found_in_sources_of_both_languages() -> None:
    scala = 'class A { def error(x: String) = 1; warn(s"Log for $topic in ${dir.path} is gone", e); throw new X("no") }'
    java = 'log.error("Error {} at " + offset + " of {}", a, b); // log.warn("not this one")'
    assert list(of_source(scala)) == [("WARN", "Log for {} in {} is gone")]
    assert list(of_source(java)) == [("ERROR", "Error {} at {} of {}")]


def starts(second: int, role: str, epoch: int, offset: int, mark: int) -> str:
    lines = {
        "Leader": f"Leader pay-3 starts at leader epoch {epoch} from offset {offset} with high watermark {mark} ISR [4] addingReplicas [] removingReplicas []. Previous leader epoch was {epoch - 1}.",
        "Follower": f"Follower pay-3 starts at leader epoch {epoch} from offset {offset} with high watermark {mark}. Previous leader epoch was {epoch - 1}.",
    }
    return f"[2021-06-03 10:00:0{second},700] INFO [Broker id=4] {lines[role]} (state.change.logger)\n"


def test_a_leader_whose_log_ends_before_what_was_committed_has_lost_records(tmp_path: Path) -> None:
    text = starts(1, "Leader", 3, 60, 58) + starts(3, "Leader", 4, 0, 0)
    (found,) = trouble_in(text, tmp_path).findings
    assert (found.gravity, found.lost) == (Gravity.LOST, (LostRange("pay-3", 0, 58, certain=True),))
    assert "58 records" in found.text
    # What is lost is reported once, and a tail that was not committed may go.
    assert len(trouble_in(text + starts(5, "Leader", 5, 10, 0), tmp_path).findings) == 1
    assert trouble_in(starts(1, "Leader", 3, 60, 58) + starts(3, "Leader", 4, 58, 58), tmp_path).findings == ()


def test_a_follower_that_comes_back_in_the_first_epoch_does_not_make_a_new_topic(tmp_path: Path) -> None:
    begun, back = starts(1, "Leader", 0, 60, 58), starts(3, "Follower", 0, 60, 40)
    (found,) = trouble_in(begun + back + starts(5, "Leader", 1, 45, 45), tmp_path).findings
    assert found.lost == (LostRange("pay-3", 45, 58, certain=True),)
    again = starts(3, "Follower", 0, 0, 0)
    assert trouble_in(begun + again + starts(5, "Leader", 1, 45, 45), tmp_path).findings == ()


def test_a_topic_that_was_created_again_has_lost_nothing(tmp_path: Path) -> None:
    text = starts(1, "Leader", 0, 60, 58) + starts(3, "Leader", 0, 0, 0) + starts(5, "Leader", 1, 20, 20)
    assert trouble_in(text, tmp_path).findings == ()


def test_a_damaged_segment_says_of_which_partition_and_from_where_on_records_may_be_gone(tmp_path: Path) -> None:
    (found,) = trouble_in(statement_catalogue().named("corrupt-segment").example + "\n", tmp_path).findings
    assert found.lost == (LostRange("pay-3", 30, None, certain=False),)


def test_who_was_eligible_is_elected_without_a_loss(tmp_path: Path) -> None:
    """Of 4.4, which calls each election from outside the in-sync replicas unclean."""
    for before, findings in (("[1] -> []", 0), ("[2] -> []", 1)):
        change = f"isr: [] -> [1], leader: -1 -> 1, leaderEpoch: 7 -> 8, elr: {before}, lastKnownElr: [1] -> [], partitionEpoch: 11 -> 12"
        line = f"[2026-11-27 23:46:35,949] INFO [QuorumController id=103] UNCLEAN partition change for audit-1 with topic ID PyovnnLUQ9ePIQOppRkqbg: {change} (org.apache.kafka.controller.ReplicationControlManager)"
        assert len(trouble_in(f"{line}\n", tmp_path).findings) == findings


def test_a_log_says_since_4_2_that_it_is_cut_below_its_high_watermark(tmp_path: Path) -> None:
    line = "[2026-11-27 23:46:35,949] WARN [UnifiedLog partition=pay-3, dir=/data/a] Truncating pay-3 to offset 30 below high watermark 60 (org.apache.kafka.storage.internals.log.UnifiedLog)"
    (found,) = trouble_in(f"{line}\n", tmp_path).findings
    assert found.lost == (LostRange("pay-3", 30, 60, certain=True),)
