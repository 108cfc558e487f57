"""What the search of a spec's default model does not exercise; `test_coverage` asks that each of it is exercised elsewhere, or explained beside the guard."""

from __future__ import annotations

from functools import cache

from assay.checker.interpreter.actions.action import guards
from assay.checker.report import Coverage, Outcome, Report
from assay.cli.settings import load
from assay.grammar import kernel as k

LESSONS = {
    "kafka/cluster": ("two_processes", 10),
    "kafka/kraft/cluster": ("lessons", 28),
    "kafka/kraft/leadership": ("lessons", 28),
    "kafka/kraft/partition": ("lessons", 18),
    "kafka/leadership": ("lessons", 11),
}
"""The models for scenarios that take more than can be searched, and how many scenarios hold there: all of the spec."""

SMALLER = {"kafka/isr": "r2v4"}
"""Models that are searched, and have a scenario that the default model has no room for."""

UNFENCED = {
    "partition.leader_write.epoch_known",
    "unfenced.leader_advance_hw.written",
    "unfenced.leader_shrink_isr.another",
}

IDLE = {
    "classics/german": {"acknowledge.room", "grant_exclusive.room", "hear.asked"},
    "kafka/assignment": {"rebalance.automatic"},
    "kafka/broker_epoch": {"expire.running", "learn_epoch.running"},
    "kafka/broker_id": {
        "generate.free",
        "generate.stopped",
        "start_again.free",
        "start_again.known",
        "start_again.stopped",
        "start_configured.configured",
        "start_configured.stopped",
    },
    "kafka/client_metadata": {"grow_old.timer", "serve.asked", "serve.leads"},
    "kafka/cluster": {
        "change_isr.assigned",
        "change_isr.created",
        "change_isr.current",
        "change_isr.not_fenced",
        "change_isr_with_the_dead.created",
        "change_isr_with_the_dead.live",
        "change_isr_with_the_dead.not_fenced",
        "controller.elect.atomic",
        "controller.elect.connected",
        "controller.elect.vacant",
        "controller.obey.not_stale",
        "controller.register_next.free",
        "controller.register_next.later",
        "controller.register_next.not_yet",
        "controller.write.not_fenced",
        "create.not_fenced",
        "elect_leader.first_in_order",
        "elect_leader.in_sync",
        "elect_leader.not_fenced",
        "membership.connect.no_session",
        "membership.register.free",
        "membership.register.later",
        "membership.register.not_yet",
        "move.first_in_order",
        "move.in_sync",
        "move.not_fenced",
        "prefer.in_sync",
        "prefer.not_fenced",
        "raise_epoch.not_fenced",
        "remove.not_fenced",
        "write_isr.assigned",
        "write_isr.created",
        "write_isr.current",
        "write_isr.current_term",
        "write_isr_of_the_past.created",
        "write_isr_of_the_past.current_term",
        "write_isr_of_the_past.live",
    },
    "kafka/controller": {
        "elect.atomic",
        "elect.connected",
        "membership.register.later",
        "membership.register.not_yet",
        "refuse_registration.not_own",
        "refuse_registration.not_yet",
        "register_next.later",
        "register_next.not_yet",
    },
    "kafka/isr": {"acknowledge.leading", "produce.leading"},
    "kafka/isr_in_zookeeper": {"controller_removes.acting"},
    "kafka/kraft/cluster": {
        "begin_shutdown.not_deposed",
        "begin_shutdown.not_void",
        "create.distinct",
        "fence.not_deposed",
        "fence.not_void",
        "fence_again.not_deposed",
        "fence_again.not_void",
        "leadership.reassign.other",
        "leave.changes",
        "leave.member",
        "lose.was_eligible",
        "unfence.not_deposed",
        "unfence.not_void",
        "voting.follow.not_past",
        "voting.hear.one_leader",
        "voting.stand.not_leading",
        "win.elected",
        "win.first",
        "win.standing",
    },
    "kafka/kraft/leadership": {
        "elect_last_leader.created",
        "elect_unclean.other",
        "finish_move.created",
        "finish_move.led",
    },
    "kafka/kraft/partition": {
        "commit.leading",
        "finish_shutdown.leads_nothing",
        "finish_shutdown.unfenced",
        "take_proposal.has_leader",
    },
    "kafka/kraft/pre_vote": {"quorum.win.standing", "vote.other"},
    "kafka/kraft/quorum": {"vote.not_past", "vote.other", "win.standing"},
    "kafka/kraft/registration": {"stop.unfenced"},
    "kafka/kraft/snapshots": {"load.other"},
    "kafka/kraft/voters": {"add_voter.established", "add_voter.leading", "remove_voter.leading", "resign.leading"},
    "kafka/kraft/voting": {"vote.other", "win.standing"},
    "kafka/leadership": {
        "change_isr.created",
        "elect.first_in_order",
        "elect_unclean.first_in_order",
        "elect_unclean.leaderless",
        "hand_over.first_in_order",
        "write_isr.created",
    },
    "kafka/membership": {"refuse_registration.not_own", "register.later", "register.not_yet"},
    "kafka/own_node": {"retake.allowed"},
    "kafka/replication/async_isr": {"follower_replicate.not_leader"},
    "kafka/replication/kip320": {
        "become_follower.leading",
        "become_follower.other",
        "become_follower.sent",
        "leader_advance_hw.leading",
        "leader_advance_hw.written",
        "leader_shrink_isr.another",
        "partition.leader_write.epoch_known",
    },
    "kafka/replication/kip320_first_try": {
        "leader_advance_hw.leading",
        "leader_advance_hw.written",
        "leader_shrink_isr.another",
        "partition.leader_write.epoch_known",
    },
    "kafka/replication/kip101": UNFENCED,
    "kafka/replication/kip279": UNFENCED,
    "kafka/replication/truncate_to_hw": UNFENCED,
    "kafka/requests": {"commit.present", "serve.asked", "serve.min_bytes"},
}
"""Guards that are never the only obstacle in the default model, of replication in one of three replicas.

Bounds are left out, and the guards of actions that never happen.
"""

ELSEWHERE = {
    "kafka/cluster": {
        "begin_anew",
        "controller.claim_only",
        "controller.refuse_registration",
        "controller.take_epoch",
        "draw_session",
        "elect_unclean",
        "fail_replica",
        "hand_over",
    },
    "kafka/kraft/cluster": {
        "alter_isr",
        "begin_anew",
        "come_back",
        "elect_last_leader",
        "elect_unclean",
        "finish_move",
        "prefer",
        "voting.learn",
        "voting.vote",
        "voting.vote_late",
        "win_among",
    },
}
"""Actions that do not happen in the default model: the search of the module that they come from has them, or a scenario."""

SWITCHED_OFF = {
    "kafka/controller": {"claim_only": "AtomicElection", "take_epoch": "AtomicElection"},
    "kafka/kraft/partition": {"fence_batch": "FenceOneAtATime"},
    "kafka/log_start": {"raise_first": "CutBeforeRaising"},
}
"""Actions that happen only with a safeguard off."""

LOGGED = {
    "kafka/cluster": {
        "controller.close_first_session",
        "controller.elect_unregistered",
        "controller.look_unregistered",
        "controller.resign_meanwhile",
        "controller.resign_nothing",
        "elect_returned_unlisted",
        "lose_connection",
        "obey_known",
        "raise_epoch_untold",
        "remove_untold",
        "stop_unheard",
    }
}
"""Logged steps that happen in the search of the model `told`, and in no scenario."""

OFF_THERE_TOO = {"kafka/kraft/partition_refinement": {"fence_batch"}}
"""Such actions in specs that join others: those are asked about their own lines only."""


def never(coverage: Coverage) -> set[str]:
    """The actions that never happened."""
    return {each.action for each in coverage.actions if not each.taken}


def idle(kernel: k.Kernel, coverage: Coverage) -> set[str]:
    """The guards of actions that happened of which none was ever the only obstacle."""
    kinds = {(name, guard.label): guard.kind for name in kernel.next for guard in guards(kernel.action(name))}
    return {
        f"{each.action}.{each.label}"
        for each in coverage.guards
        if not each.decisive and each.action not in never(coverage) and kinds[each.action, each.label] == "when"
    }


def observed(kernel: k.Kernel) -> set[str]:
    """The actions of which logs tell: a bound that is always false, as `AllSteps` is by default, keeps searches from them."""
    return {
        name
        for name in kernel.next
        for each in guards(kernel.action(name))
        if each.kind == "bound" and isinstance(each.condition, k.Const) and each.condition.value is False
    }


def check_coverage(spec: str, kernel: k.Kernel, coverage: Coverage) -> None:
    """What the search of a default model did not exercise is what stands here."""
    assert never(coverage) == set(SWITCHED_OFF.get(spec, {})) | ELSEWHERE.get(spec, set()) | observed(kernel)
    assert idle(kernel, coverage) == IDLE.get(spec, set())


def check_coverage_of_own_lines(spec: str, kernel: k.Kernel, coverage: Coverage) -> None:
    """What a spec that joins others adds to their actions: each of its actions happens, each of its guards decides in some action."""
    file = f"{spec}.assay"
    own = {name for name in kernel.next if kernel.action(name).span.file.endswith(file)}
    assert never(coverage) & own == OFF_THERE_TOO.get(spec, set())
    places = {
        f"{name}.{each.label}": each.span
        for name in kernel.next
        for each in guards(kernel.action(name))
        if each.span.file.endswith(file)
    }
    nowhere = idle(kernel, coverage)
    decided = {place for name, place in places.items() if name not in nowhere}
    assert {name for name, place in places.items() if place not in decided} == set()


@cache
def kernels(spec: str) -> tuple[k.Kernel, ...]:
    """The spec in its default model, and in others that have its scenarios."""
    others = [SMALLER[spec]] if spec in SMALLER else [LESSONS[spec][0]] if spec in LESSONS else []
    return tuple(load(spec, model, {}).kernel for model in (None, *others))


def check_outcomes(spec: str, kernel: k.Kernel, report: Report) -> None:
    """All that this model can say holds; a scenario that names an element which it lacks can be run in another model."""
    lacking = {each.name for each in kernel.scenarios if each.inapplicable is not None}
    assert {
        each.name: each.outcome for each in report.properties if each.outcome is not Outcome.HOLDS
    } == dict.fromkeys(lacking, Outcome.VACUOUS)
    assert lacking <= {each.name for model in kernels(spec) for each in model.scenarios if each.inapplicable is None}
