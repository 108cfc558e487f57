"""Temporal properties at the end of a search, decided on the graph of its states."""

from __future__ import annotations

import time
from collections.abc import Callable

from assay.checker.liveness.confirm import Decision, Decisions, WithoutValue
from assay.checker.liveness.plan import Claim, Plan
from assay.checker.search_interface.finding import DEFINED, PropertyFinding
from assay.checker.search_interface.protocols import EndedSearch, Stopped

Decide = Callable[[Claim], Decision]


def decisions(search: EndedSearch, plan: Plan, make: Callable[[], Decide]) -> Decisions:
    """The decisions about the properties of a plan on the states of a search; ``make`` makes the function that decides
    each.

    No decision is made where something is undefined, after an interruption, or once a time limit is reached. A property
    that is undefined in some state is noted with the search. A search that ended early knows part of the graph: a
    violation there is a violation.
    """
    made: dict[str, Decision] = {}
    if search.interrupted or not search.initial or DEFINED in search.watch.found or _late(search):
        return made
    try:
        decide = make()
        for claim in plan.claims:
            if search.options.interrupted():
                search.interrupted = True
            if search.interrupted or _late(search):
                break
            made[claim.node.name] = decision = decide(claim)
            if isinstance(decision, WithoutValue):
                note_no_value(search, claim.node.name, decision)
    except KeyboardInterrupt:
        search.interrupted = True
    except Stopped:
        pass  # a limit was reached while tasks were waited for: what was not decided is answered so
    return made


def is_whole(search: EndedSearch) -> bool:
    """Whether the states of a search and the steps between them are all that the system has."""
    return not (search.bounds or search.stopped or search.up_to_depth)


def _late(search: EndedSearch) -> bool:
    now = time.monotonic()
    over = search.options.over_at(now - search.seconds)
    return over is not None and now >= over


def note_no_value(search: EndedSearch, name: str, decision: WithoutValue) -> None:
    """Note with a search that a property is undefined in one of its states."""
    subject = f"property `{name}`"
    finding = PropertyFinding(decision.state, undefined=decision.message, span=decision.span, subject=subject)
    search.watch.undefined.setdefault(name, finding)
    search.watch.note_undefined(finding)
