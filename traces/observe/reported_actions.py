"""The actions that lines of a clause report, and those whose line may be lost."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from assay.grammar import kernel as k
from assay.traces.patterns.catalogue import load_catalogue
from assay.traces.patterns.rule_files import rule_file


def reported_actions(plan: k.TracePlan) -> dict[str, None]:
    """The actions that lines report; inferred events are no lines."""
    every = frozenset(each.event for each in plan.rules)
    return _actions_of(plan, every.intersection(load_catalogue().kinds) or every)  # of another system, all are lines


def known_actions(plan: k.TracePlan) -> dict[str, None]:
    """The actions that lines and inferred events report, without those that stand for lines that were not read."""
    return _actions_of(plan, frozenset(each.event for each in plan.rules) - _unread_kinds())


def _actions_of(plan: k.TracePlan, kinds: frozenset[str]) -> dict[str, None]:
    rules = [each for each in plan.rules if each.event in kinds]
    return dict.fromkeys(call.action for rule in rules for step in rule.steps for call in step)


@cache
def _unread_kinds() -> frozenset[str]:
    """The kinds of inferred events that name a node whose lines were not read."""
    facts = rule_file("inferred_events.toml").values()
    return frozenset(kind for each in facts for name, kind in each.items() if name.endswith("_unread"))


RARE = "risk"
"""The severity of what a clause reports as out of the common."""


def losable_actions(plan: k.TracePlan, *, lossy: bool) -> Iterator[str]:
    """The actions that one lost line may have reported. A line of a rare event, such as a disk that was emptied, would
    explain nearly anything. So it is supposed only where lines of nodes with logs were not read (``lossy``)."""
    rare = frozenset[str]() if lossy else rare_actions(plan)
    return (name for name in reported_actions(plan) if name not in rare)


def rare_actions(plan: k.TracePlan) -> frozenset[str]:
    """The actions that a clause reports as out of the common."""
    return frozenset(each.action for each in plan.reported if each.severity == RARE)
