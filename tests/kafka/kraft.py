"""What is pinned of the specs of KRaft, the ISR, requests and client metadata: their sizes, and what each safeguard is for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Size:
    """A model that holds: None is the default model. ``bounds`` are those that were hit."""

    spec: str
    model: str | None
    distinct: int
    generated: int
    depth: int
    bounds: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.spec} {self.model or 'default'}"


@dataclass(frozen=True)
class Safeguard:
    """A parameter that is switched off, a property that is then violated, and the shortest run to it; ``length`` counts states."""

    spec: str
    parameter: str
    violated: str
    length: int
    last: str
    model: str | None = None

    def __str__(self) -> str:
        return f"{self.spec} {self.parameter} {self.violated}"


PARTITION_BOUNDS = ("broker_epochs", "partition_epochs", "records", "unclean_shutdowns")

SIZES = [
    Size("kafka/assignment", None, 128, 589, 7),
    Size("kafka/assignment", "five_brokers", 1_632, 15_521, 9),
    Size("kafka/client_metadata", None, 15_109, 85_389, 14, ("epochs", "topics")),
    Size("kafka/isr", None, 678_661, 3_105_343, 29, ("records", "versions")),
    Size("kafka/isr", "r2v4", 6_754, 19_365, 22, ("records", "versions")),
    Size("kafka/kraft/brokers", None, 64, 257, 9, ("broker_epochs",)),
    Size("kafka/kraft/brokers", "one_broker", 8, 17, 5, ("broker_epochs",)),
    Size("kafka/kraft/partition", None, 687_062, 4_215_442, 25, PARTITION_BOUNDS),
    Size("kafka/kraft/pre_vote", None, 429_478, 1_926_646, 28, ("epochs", "log_size")),
    Size("kafka/kraft/quorum", None, 1_346_858, 7_750_750, 26, ("epochs", "log_size")),
    Size("kafka/kraft/quorum", "n3e2l2", 66_564, 332_434, 21, ("epochs", "log_size")),
    Size("kafka/kraft/registration", None, 65_500, 480_449, 23, ("broker_epochs",)),
    Size("kafka/kraft/registration", "one_id", 5_214, 29_977, 20, ("broker_epochs",)),
    Size("kafka/kraft/snapshots", None, 1_110_136, 6_422_458, 19, ("epochs", "log_size")),
    Size("kafka/kraft/snapshots", "n3e3l2", 59_542, 252_217, 16, ("epochs", "log_size")),
    Size("kafka/kraft/voters", None, 23_602, 57_268, 19, ("epochs", "log_size")),
    Size("kafka/kraft/voters", "m4e3l3", 112_601, 369_205, 18, ("epochs", "log_size")),
    Size("kafka/kraft/voting", None, 4_340, 32_869, 12, ("epochs",)),
    Size("kafka/requests", None, 319_276, 2_110_198, 18, ("log_end", "requests")),
]

LARGE = [
    Size("kafka/client_metadata", "three_brokers", 1_038_127, 7_591_107, 17, ("epochs", "topics")),
    Size("kafka/client_metadata", "longer", 964_065, 6_176_907, 24, ("epochs", "topics")),
    Size("kafka/isr", "r3v3", 210_850, 859_127, 27, ("records", "versions")),
    Size("kafka/isr", "r3v3m2", 1_122_050, 4_618_511, 32, ("records", "versions")),
    Size("kafka/kraft/partition", "r2m2e4", 950_899, 5_876_443, 27, PARTITION_BOUNDS),
    Size("kafka/kraft/partition", "r3e2", 566_554, 3_393_294, 21, PARTITION_BOUNDS),
    Size("kafka/kraft/partition", "r3e3", 9_186_478, 63_227_122, 26, PARTITION_BOUNDS),
    Size("kafka/kraft/pre_vote", "n3e3l2", 1_993_264, 9_333_280, 31, ("epochs", "log_size")),
    Size("kafka/kraft/quorum", "n3e3l2", 356_623, 1_944_499, 23, ("epochs", "log_size")),
    Size("kafka/kraft/quorum", "n3e3l3", 1_790_951, 9_635_626, 28, ("epochs", "log_size")),
    Size("kafka/kraft/registration", "four_processes", 100_401, 693_022, 26, ("broker_epochs",)),
    Size("kafka/kraft/voters", "n3e4l5", 200_056, 520_186, 24, ("epochs", "log_size")),
    Size("kafka/kraft/voters", "m4e3l4", 645_549, 2_153_485, 25, ("epochs", "log_size")),
    Size("kafka/requests", "one_partition_three_requests", 941_928, 4_289_861, 28, ("log_end", "requests")),
    Size("kafka/requests", "min_bytes", 319_276, 2_110_198, 18, ("log_end", "requests")),
    Size("kafka/requests", "two_records", 2_999_820, 21_950_726, 28, ("log_end", "requests")),
]

SAFEGUARDS = [
    Safeguard("kafka/assignment", "RefuseDuplicates", "replication_factor_is_kept", 3, "fail(b1)"),
    Safeguard("kafka/client_metadata", "IgnoreOlderEpoch", "client_never_goes_back", 7, "ask(b2)"),
    Safeguard("kafka/client_metadata", "CompareTopicIds", "who_asked_knows", 9, "ask(b2)"),
    Safeguard("kafka/client_metadata", "RefreshOnRefusal", "who_was_refused_asks", 4, "refuse_request(b1)"),
    Safeguard("kafka/client_metadata", "RefreshAtMaxAge", "will_ask_again", 2, "change_leader(b2)"),
    Safeguard("kafka/isr", "CleanElections", "acknowledged_survives", 11, "notice_failure(r2)"),
    Safeguard("kafka/isr", "AcksAll", "acknowledged_survives", 5, "produce(r1)"),
    Safeguard("kafka/isr", "DeadLeaveIsr", "dead_are_out", 3, "notice_failure(r2)"),
    Safeguard("kafka/isr", "OfflineStayOut", "dead_are_out", 6, "expand(r1, r2)"),
    Safeguard("kafka/isr", "ConditionalWrites", "acknowledged_survives", 10, "shrink(r1, r2)"),
    Safeguard("kafka/isr", "ConditionalWrites", "leader_changes_with_epoch", 6, "shrink(r1, r2)"),
    Safeguard("kafka/isr", "RequireMinIsr", "acknowledged_is_on_enough", 6, "acknowledge(r1, 0)"),
    Safeguard("kafka/isr", "CatchUpToJoin", "members_have_what_was_acknowledged", 9, "expand(r1, r3)"),
    Safeguard("kafka/kraft/partition", "FencedStayOut", "members_are_active", 6, "take_proposal()"),
    Safeguard(
        "kafka/kraft/partition", "CheckReplicaEpoch", "members_have_what_is_committed", 14, "take_proposal()", "r3e2"
    ),
    Safeguard("kafka/kraft/partition", "FenceOneAtATime", "leader_is_active", 2, "fence_batch(b1, b2)"),
    Safeguard("kafka/kraft/partition", "RetryIsIdempotent", "request_has_its_leader", 4, "resend()"),
    Safeguard("kafka/kraft/partition", "WaitForAnswer", "members_have_what_is_committed", 12, "commit(r2)", "r3e2"),
    Safeguard("kafka/kraft/partition", "Elr", "committed_survives", 11, "unfence(b1)"),
    Safeguard("kafka/kraft/partition", "HoldCommitBelowMinIsr", "committed_survives", 7, "commit(b2)"),
    Safeguard("kafka/kraft/partition", "UncleanLeavesElr", "committed_survives", 11, "unfence(b1)"),
    Safeguard("kafka/kraft/partition", "CleanElections", "committed_survives", 11, "unfence(b1)"),
    Safeguard("kafka/kraft/partition", "LastKnownLeaderIsActive", "leader_is_active", 7, "restart(b2)"),
    Safeguard("kafka/kraft/pre_vote", "PreVote", "live_leader_stays", 10, "hear_of(n1, n2)"),
    Safeguard("kafka/kraft/pre_vote", "PreVote", "no_needless_epoch", 8, "stand(n2)"),
    Safeguard("kafka/kraft/pre_vote", "FollowersRefuse", "no_needless_epoch", 8, "stand(n2)"),
    Safeguard("kafka/kraft/quorum", "PersistVote", "one_leader_per_epoch", 8, "win(n2)"),
    Safeguard("kafka/kraft/quorum", "CompareLogs", "committed_is_kept", 10, "win(n2)"),
    Safeguard("kafka/kraft/quorum", "CommitInOwnEpoch", "committed_is_kept", 18, "win(n2)"),
    Safeguard("kafka/kraft/quorum", "CheckLastEpoch", "logs_match", 10, "fetch(n1, n2)"),
    Safeguard("kafka/kraft/registration", "RefuseDuplicateId", "id_is_not_taken_over", 5, "register(p2, b1)"),
    Safeguard("kafka/kraft/registration", "CheckBrokerEpoch", "active_has_caught_up", 8, "unfence(p1, b1)"),
    Safeguard("kafka/kraft/snapshots", "CommittedOnly", "one_state", 5, "load(n2, n1)"),
    Safeguard("kafka/kraft/snapshots", "CommittedOnly", "snapshots_are_of_what_is_committed", 3, "freeze(n1)"),
    Safeguard("kafka/kraft/snapshots", "DeleteBehindSnapshot", "deleted_is_in_a_snapshot", 5, "clean(n1)"),
    Safeguard("kafka/kraft/snapshots", "CompareAtStart", "one_state", 9, "fetch(n1, n2)"),
    Safeguard("kafka/kraft/snapshots", "EpochOfSnapshot", "committed_is_kept", 8, "win(n1, 3, {n1, n2})"),
    Safeguard("kafka/kraft/voters", "OneChangeAtATime", "committed_is_kept", 8, "win(n2, 2, {n2, n3})"),
    Safeguard("kafka/kraft/voters", "OneChangeAtATime", "one_leader_per_epoch", 8, "win(n2, 2, {n2, n3})"),
    Safeguard("kafka/kraft/voters", "CommitInOwnEpoch", "committed_is_kept", 8, "commit(m2)", "m4e3l3"),
    Safeguard("kafka/kraft/voters", "CommitInOwnEpoch", "one_leader_per_epoch", 7, "win(m1, 3, {m1, m3})", "m4e3l3"),
    Safeguard("kafka/kraft/voting", "OneVote", "elected_once", 7, "win(n2)"),
    Safeguard("kafka/kraft/registration", "CatchUpFirst", "active_has_caught_up", 4, "unfence(p1, b1)"),
    Safeguard("kafka/requests", "MuteConnection", "answers_in_order", 7, "give_up()"),
    Safeguard("kafka/requests", "OnlyLeaderAppends", "only_a_leader_appends", 4, "append()"),
    Safeguard("kafka/requests", "WaitForHighWatermark", "written_under_acks_all_is_committed", 3, "append()"),
    Safeguard("kafka/requests", "LeaderToAnswer", "written_under_acks_all_is_committed", 7, "complete()"),
    Safeguard("kafka/requests", "BelowHighWatermark", "consumer_sees_what_is_committed", 5, "serve({t1})"),
    Safeguard("kafka/requests", "CheckSize", "nothing_too_large", 3, "append()"),
    Safeguard("kafka/requests", "FirstRecordAnyway", "consumer_gets_on", 6, "serve({})"),
]

QUICK = [
    each for each in SAFEGUARDS if each.spec != "kafka/kraft/partition" or each.parameter in {"FencedStayOut", "Elr"}
]
"""Compiling the partition takes seconds: all but two of its safeguards belong to the second stage."""

CONFIGURATIONS = {
    "kafka/assignment": {"AutoRebalance"},
    "kafka/kraft/partition": {"ProposalHasLeader", "LastKnownLeader"},
    "kafka/kraft/brokers": {"Started"},
}
"""Parameters that are true and no safeguards by themselves: switched off alone they break nothing, or only what happens some time (`test_liveness`)."""

SPECS = sorted({size.spec for size in SIZES})
