"""One search after another: is there an execution, would a larger budget allow one, and where does it stop if not?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf

from assay.traces.search.explore import Finding, Limits, Search
from assay.traces.search.path import Path


@dataclass(frozen=True, slots=True)
class Options:
    """``nodes`` is the most nodes that one search may visit; ``mismatches`` the most that are reported; ``mutants`` how many are tried.

    ``skew`` (milliseconds) goes before the clause's own. Where ``strict``, what the clause reports as known behaviour is not allowed for;
    otherwise what it reports of one of ``versions``, or all of it if none is known.
    ``jobs`` is by how many processes slices are answered; 0 as many as there are cores.
    """

    nodes: int = 200_000
    mismatches: int = 50
    mutants: int = 0
    seed: int = 0
    skew: int | None = None
    strict: bool = False
    versions: tuple[str, ...] = ()
    jobs: int = 1


NEAR = (100.0, 1_000.0)
"""How far from the order of time, in milliseconds, an execution is sought first: nearly every log has one that is near, and a search that
stays near it finds it without going astray."""

REACH = 10_000.0
"""How far it is sought at last where the clause sets no bound (``commit before line within``). That there is none is said for this reach."""

DEFAULT_OPTIONS = Options()


@dataclass(frozen=True, slots=True)
class Accepted:
    """An execution explains all that was asked."""

    path: Path


@dataclass(frozen=True, slots=True)
class Rejected:
    """No execution does; ``deepest`` are the points that explain most."""

    deepest: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Undecided:
    """A cap or a budget ended the search."""

    reason: str
    deepest: tuple[Path, ...]


Conclusion = Accepted | Rejected | Undecided


def conclude(search: Search, beginnings: list[Path], options: Options, enough: int | None = None) -> Conclusion:
    """Search within the clause's budget of hidden steps, and beyond it only to tell why there is nothing within."""
    limits = Limits(search.model.plan.hidden_limit, options.nodes)
    bound = search.model.plan.ordering.commit_before_line
    for window in (each for each in NEAR if bound is None or each < bound):
        near = search.run(beginnings, replace(limits, window=window), enough)
        if near.path is not None:
            return Accepted(near.path)
        if near.why_stopped is not None:
            break
    limits = replace(limits, window=REACH if bound is None else inf)
    first = search.run(beginnings, limits, enough)
    if first.path is not None:
        return Accepted(first.path)
    if first.why_stopped is not None:
        return Undecided(first.why_stopped, tuple(first.deepest))
    if first.budget_reached:
        return _beyond_budget(search, beginnings, limits, first, enough)
    return _nothing(search, first)


def _beyond_budget(
    search: Search, beginnings: list[Path], limits: Limits, first: Finding, enough: int | None
) -> Conclusion:
    wide = search.run(beginnings, replace(limits, hidden=4 * limits.hidden + 8), enough)
    if wide.path is None:
        return Undecided(wide.why_stopped, tuple(first.deepest)) if wide.why_stopped else _nothing(search, first)
    exact = search.run(beginnings, replace(limits, reduced=False), enough)
    if exact.path is not None:
        return Accepted(exact.path)
    if exact.why_stopped is not None:
        return Undecided(exact.why_stopped, tuple(first.deepest))
    return Undecided(_too_few(search, wide.path), tuple(first.deepest))


def _too_few(search: Search, path: Path) -> str:
    """Where an execution needs more hidden steps than the clause allows."""
    most, place, count = 0, "", 0
    for move in path.moves():
        count += len(move.hidden)
        if count > most and move.item is not None:
            most, place = count, str(move.item.observation.event.record.place)
        if move.item is not None and move.item.observation.pinned:
            count = 0
    budget = search.model.plan.hidden_limit
    return f"the log can be explained only with {most} hidden steps before {place}; the clause allows {budget} between two pinned events"


def _nothing(search: Search, finding: Finding) -> Conclusion:
    overflowed = sorted(search.model.overflowed)
    if overflowed:
        return Undecided(f"the model is too small for the log: {', '.join(overflowed)} ran out", tuple(finding.deepest))
    return Rejected(tuple(finding.deepest))
